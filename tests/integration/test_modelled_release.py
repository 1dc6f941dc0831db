"""A release of modelled counts, from the command line to its files (GUARANTEE.md#modelled)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graphs import KITE, Database

import pcneo as package
from pcneo.release import budget


def test_modelled_counts_are_released_with_degrees_a_total_and_what_they_are(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    db.put(KITE)
    options = ["--mechanism", "modelled", "-e", "3", "--budget-epsilon", "4"]
    code, out, err = pcneo("release", *options, "--to", tmp_path / "a.csv")
    assert code == 0, err
    assert "modelled from them" in out
    read = package.read_release(tmp_path / "a.csv")
    assert read.record["note"].startswith("The counts are modelled from the noisy degrees")
    assert read.record["totalIs"].endswith("modelled counts need not add up to it")
    assert read.columns.keys() == {"key", "degree", "count"}
    assert (read.record["classes"], read.standard_errors, read.intervals) == (0, None, None)
    for degree, count in zip(read.columns["degree"], read.columns["count"], strict=True):
        assert 0 <= count <= math.comb(max(degree, 0) + 1, 2)
    assert read.record["standardErrorOfTotal"] > 0
    report = json.loads((tmp_path / "owner" / "a.owner.json").read_text())
    assert report["promise"] == read.promise
    exact = {1: 1, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1, 7: 0}
    off = [count - exact[key] for key, count in zip(read.columns["key"], read.columns["count"], strict=True)]
    error = math.sqrt(sum(x * x for x in off) / 7)
    assert report["rootMeanSquareErrorOfCounts"] == pytest.approx(error)
    markdown = (tmp_path / "owner" / "a.owner.md").read_text()
    assert f"- Exact root mean square error of the counts as released: {error:.4g}\n" in markdown
    # The loss at the total's scale leaves out what the degrees cost, which is more.
    assert ("loss" in report, "Loss of one connection" in markdown) == (False, False)
    assert [row["numbers"] for row in report["scales"]] == [1]
    assert "| scale | numbers |\n|---|---|\n" in markdown
    assert "rror" not in " ".join(name for name in read.record if "OfCounts" in name or "OfACount" in name)
    (shown,) = budget.show(db.store)
    assert str(shown.account.spent) == "ε = 3, δ = 1e-6"
    before = db.everything()
    for options, code, says in (
        (["-k", "4", "-e", "1"], 2, "1,000 vertices and more"),
        (["-k", "5", "-e", "1"], 2, "from 3 to 4"),
        (["-e", "2"], 9, "left"),
    ):
        ended, _, err = pcneo("release", "--mechanism", "modelled", "--to", tmp_path / "b.csv", *options)
        assert (ended, says in err) == (code, True), err
        assert db.everything() == before
