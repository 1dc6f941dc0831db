"""Vertices whose exact counts have digits that nothing else has: no such count shows up anywhere after a release.

A clique of 61 gives each of its vertices C(60, 9), a clique of 47 C(46, 9) 10-cliques: numbers of ten digits and more,
which no identifier or hash has by chance. Every noise value is 424,243 here, injected below the check of the source's
type, so no count is exact by chance either. The vertices of a path are in no clique, and `critical` publishes their 0
exactly.
"""

from __future__ import annotations

import itertools
import logging
import math
import sys
from pathlib import Path

import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.cli.main import main
from pcneo.privacy.noise import ReleaseNoise

NOISE = 424_243
K = 10
LARGE, SMALL, PATH = range(1, 62), range(101, 148), range(201, 204)
MANY, FEW = math.comb(60, K - 1), math.comb(46, K - 1)
TOTAL = (61 * MANY + 47 * FEW) // K
FORBIDDEN = {text for x in (MANY, FEW, TOTAL, K * TOTAL) for text in (str(x), f"{x:,}", f"{x:_}", hex(x), f"{x:e}")}


@pytest.mark.parametrize("mechanism", ["edge", "elv", "published"])
def test_no_digits_of_an_exact_count_are_in_any_file_log_error_property_or_progress_line(
    db: Database,
    server_in_environment: None,
    mechanism: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    db.put([*itertools.combinations(LARGE, 2), *itertools.combinations(SMALL, 2), (1, 101), (201, 202), (202, 203)])
    annotate.write(db.store, p=0.3, search="density", selection=Selection("Person", "KNOWS", "id"))
    monkeypatch.setattr(ReleaseNoise, "_sample", lambda _self, _scale, size: [NOISE] * size)
    said: list[str] = []
    monkeypatch.setattr("pcneo.cli.console.Bars.__call__", lambda _self, *step: said.append(str(step)))
    caplog.set_level(logging.DEBUG)
    arguments = ["release", "-k", str(K), "-e", "1", "--mechanism", mechanism, "--to", str(tmp_path / "out.csv")]
    budget = ["--no-promise"] if mechanism == "published" else ["--budget-epsilon", "1"]
    monkeypatch.setattr(sys, "argv", ["pcneo", "-v", *arguments, *budget, "--anyway", "--write-property", "noisy"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    captured = capfd.readouterr()
    files = {path.name: path.read_text() for path in tmp_path.rglob("*.*")}
    assert set(files) == {"out.csv", "out.owner.md", "out.owner.json", ".gitignore"}
    everything = {
        **files,
        "output": captured.out,
        "errors": captured.err,
        "log": caplog.text,
        "progress": "\n".join(said),
        "database": str(db.everything()),
    }
    assert said
    for place, text in everything.items():
        for digits in FORBIDDEN:
            assert digits not in text, (place, digits)
    noisy = dict(db.run("MATCH (v:Person) RETURN v.id, v.noisy"))
    expected = {LARGE: NOISE + MANY, SMALL: NOISE + FEW, PATH: NOISE}
    assert noisy == {v: count for vertices, count in expected.items() for v in vertices}
    assert f"\n1,{NOISE + MANY}\n" in files["out.csv"]


def test_a_write_that_fails_after_the_spend_names_no_count(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pcneo.errors import PcneoError
    from pcneo.release import Terms, release, releasing

    db.put([*itertools.combinations(LARGE, 2)])
    annotate.write(db.store, p=0.3, search="density", selection=Selection("Person", "KNOWS", "id"))
    texts: list[str] = []

    def full(path: Path, text: str) -> None:
        texts.append(text)
        raise PcneoError(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr(releasing, "write_public", full)
    answers = iter([True, True, False])
    with pytest.raises(PcneoError, match="stays recorded, and its numbers are lost") as failed:
        release(
            db.store,
            requests=[requested(to=tmp_path / "out.csv", mechanism="edge", k=K, epsilon=1)],
            terms=Terms(budget_epsilon=1, anyway=True),
            retry=lambda _error: next(answers),
        )
    assert len(texts) == 3
    assert len(set(texts)) == 1, "a retried write repeats the same numbers"
    assert not any(digits in str(failed.value) + str(failed.value.data) for digits in FORBIDDEN)
    assert db.run("MATCH (r:PCohesionRelease) RETURN r.epsilon") == [["1/1"]]
