"""What an audit computes from losses and scales: quantiles, and λ in simulations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pcneo.cli import audit as command
from pcneo.privacy.mechanisms import MECHANISMS, Edge
from pcneo.privacy.quantiles import quantiles
from pcneo.release.audit import MEANING, NOTICE, AuditResult, AuditRow
from pcneo.release.audit.auditing import simulated_scales


def test_quantiles_are_losses_that_occur() -> None:
    losses = np.arange(1, 201, dtype=float)
    assert quantiles(losses) == (100, 180, 198, 200)
    assert quantiles(np.array([3.0])) == (3, 3, 3, 3)
    assert quantiles(np.array([])) == (0, 0, 0, 0)


def test_an_infinite_loss_shows_in_the_quantiles_it_reaches_and_in_no_other() -> None:
    losses = np.array([1.0] * 98 + [math.inf] * 2)
    assert quantiles(losses) == (1, 1, math.inf, math.inf)


def test_simulated_scales_repeat_and_are_quantiles() -> None:
    mechanism = Edge(k=3, epsilon=1, n=5_000)
    low, median, high = simulated_scales(lambda noise: mechanism.covering(mechanism.bound(10, noise)), 400)
    again = simulated_scales(lambda noise: mechanism.covering(mechanism.bound(10, noise)), 400)
    assert (low, median, high) == again
    assert low < median < high
    assert median == pytest.approx(mechanism.expected_scale(10), rel=0.05)

    values = iter(map(Fraction, [5, 1, 4, 2, 3, *range(6, 21)]))
    assert simulated_scales(lambda noise: next(values), 20) == (Fraction(1), Fraction(10), Fraction(19))


def test_in_80_columns_an_audit_is_one_table_with_a_line_for_each_row_and_a_legend(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ["zeros", "exact degrees", "exact counts", *MECHANISMS, "critical, answers published"]
    figures: Any = {"found": 0.15, "found_with_groups": 0.47, "found_of_protected": 0.56}
    rows = [AuditRow(name, "", 406.71, 13_570.4, **figures, costliest=(0.33, 0.35, 0.3805)) for name in names]
    rows[-2] = AuditRow("published", refused="no such run")
    command._print(
        AuditResult(
            NOTICE, MEANING, "friends", "friends@3/10", "3/10", "smallest", 3, 1.0, 800, 6418, 13698, 0.69, 3.9, 20, 3,
            tuple(rows),
        )
    )  # fmt: skip
    out = capsys.readouterr().out
    lines = out.splitlines()
    table = [line for line in lines if line.startswith(("┏", "┃", "┡", "│", "└"))]
    assert {len(line) for line in table} == {80}
    assert len([line for line in table if line.startswith("│")]) == len(names) - 1
    assert "│ total     │ any, δ  │" in out
    assert "│ + answers │ inside  │" in out
    assert "0.38 │" in out
    assert "published is not in the table: no such run" in out
    legend = {line.split()[0] for line in lines[lines.index(table[-1]) + 1 :]}
    assert {"promise", "error", "found", "groups", "worst"} <= legend
