"""One class and its name in the registry are a new mechanism: requests, ledger, outputs and audit take it as it is."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from graphs import KITE, Database
from made_up import Shrug, Worst
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, ParameterError
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism
from pcneo.release import Prepared, Terms, budget, release
from pcneo.release.audit import audit

NAME = "Person/KNOWS/id"
N = 7


@pytest.fixture(name="db")
def annotated_kite(db: Database) -> Database:
    db.put(KITE)
    annotate.write(db.store, p=0.5, selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph=NAME, epsilon=3)
    return db


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for mechanism in (Worst, Shrug):
        monkeypatch.setitem(MECHANISMS, mechanism.name, mechanism)


def make(db: Database, to: Path, kind: type[Mechanism], epsilon: str = "1", **terms: Any) -> Prepared:
    request = requested(to=to, mechanism=kind.name, epsilon=epsilon)
    (prepared,), (released,) = release(db.store, requests=[request], terms=Terms(**terms))
    assert released.promise == kind.promise
    return prepared


def test_a_mechanism_with_a_promise_is_charged_published_and_reported(db: Database, tmp_path: Path) -> None:
    prepared = make(db, tmp_path / "a.json", Worst, "3/2")
    assert (prepared.mechanism, prepared.run) == (Worst(epsilon="3/2", n=N), None)
    account = budget.show(db.store, graph=NAME)[0].account
    assert account.spent == Cost(Fraction(3, 2))
    assert account.sets == {}

    public, report = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "owner/a.owner.json"))
    assert {name: public.get(name) for name in ("mechanism", "promise", "epsilon", "delta", "h", "p")} == {
        "mechanism": "worst", "promise": Worst.promise, "epsilon": "1.5", "delta": "0", "h": None, "p": None,
    }  # fmt: skip
    assert public["scale"] == 3 * 5 / 1.5
    assert (report["runBy"], report["epsilon1"]) == (Worst.run_by, None)
    assert report["loss"]["connections"]["largest"] <= 1.5
    ((entry,),) = db.run("MATCH (r:PCohesionRelease) RETURN properties(r)")
    assert [entry.get(name) for name in ("mechanism", "epsilon", "delta", "epsilonOne", "h", "run")] == [
        "worst", "3/2", "0/1", None, None, None,
    ]  # fmt: skip

    make(db, tmp_path / "b.json", Worst, "3/2")
    with pytest.raises(BudgetError, match="has ε = 0"):
        make(db, tmp_path / "c.json", Worst, "1/1000")


def test_a_mechanism_is_checked_once_for_the_graph_as_it_is_read(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    check = Worst.check_drawable

    def counted(self: Worst) -> None:
        made.append(self.n)
        check(self)

    monkeypatch.setattr(Worst, "check_drawable", counted)
    make(db, tmp_path / "a.json", Worst)
    assert made == [N]


def test_a_mechanism_without_a_promise_is_never_charged_as_bounded(db: Database, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="shrug promises nothing"):
        make(db, tmp_path / "a.json", Shrug)
    prepared = make(db, tmp_path / "a.json", Shrug, no_promise=True)
    assert prepared.run is not None
    account = budget.show(db.store, graph=NAME)[0].account
    assert not account.spent.is_bounded
    assert "scale" not in json.loads((tmp_path / "a.json").read_text())
    report = json.loads((tmp_path / "owner" / "a.owner.json").read_text())
    assert (report["delta"], report["left"], report["run"]) == ("1/7", None, prepared.run.id)
    with pytest.raises(BudgetError, match="not bounded"):
        make(db, tmp_path / "b.json", Worst)


def test_an_older_version_that_does_not_know_it_does_not_count_it_as_bounded(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(db, tmp_path / "a.json", Worst)
    monkeypatch.delitem(MECHANISMS, Worst.name)
    account = budget.show(db.store, graph=NAME)[0].account
    assert not account.spent.is_bounded
    request = requested(to=tmp_path / "b.json", mechanism="critical", epsilon=1)
    with pytest.raises(BudgetError, match="mechanism worst, which only another version knows"):
        release(db.store, requests=[request])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mechanism": "worst", "k": 5}, "up to k = 4"),
        ({"mechanism": "worst", "delta": "0.1"}, "worst has no delta"),
        ({"mechanism": "worst", "p": "0.5"}, "does not rest on a run; leave p out"),
        ({"mechanism": "shrug", "h": 3}, "shrug has no h"),
        ({"mechanism": "shrug", "delta": "2"}, "delta must be"),
    ],
)
def test_what_it_refuses_is_refused_before_anything_is_read(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], says: str
) -> None:
    monkeypatch.setattr("pcneo.release.releasing.prepare", lambda *_: pytest.fail("the graph was read"))
    before = db.everything()
    with pytest.raises(ParameterError, match=says):
        release(
            db.store,
            requests=[requested(to=tmp_path / "a.json", epsilon=1, **given)],
        )
    assert db.everything() == before


def test_the_audits_table_has_it(db: Database) -> None:
    rows = {row.name: row for row in audit(db.store, epsilon=1).rows}
    assert (rows["worst"].promise, rows["shrug"].promise) == ("ε=1: any one connection", "nothing")
    assert (rows["worst"].costliest or (0, 0, 2))[2] <= 1
    refused = {row.name: row for row in audit(db.store, epsilon=1, k=5).rows}["worst"]
    assert (refused.refused, refused.error) == ("worst counts up to k = 4.", None)
