"""What nodes of the ledger say, read without trusting that only pcneo has written them."""

from __future__ import annotations

from datetime import UTC
from fractions import Fraction
from typing import Any

import pytest
from neo4j.time import DateTime

from pcneo.store.ledger_records import LedgerRecords, budget_records, note_records, release_records

AT = DateTime(2026, 11, 25, 12, 0, 0, tzinfo=UTC)
LATER = DateTime(2026, 11, 26, 12, 0, 0, tzinfo=UTC)
RELEASE = {"id": "1f", "graph": "a", "mechanism": "edge", "epsilon": "1/3", "delta": "1/1000000", "at": AT}
TOTAL = {"graph": "a", "epsilon": "2/1", "delta": "0/1", "at": AT, "number": 1, "who": "me"}
NOTE = {"kind": "apart", "graph": "a", "other": "b", "what": "said so", "who": "me", "at": AT}


def rows(*properties: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"properties": each, "element": f"4:{i}"} for i, each in enumerate(properties)]


def test_what_pcneo_writes_is_read_back_oldest_first_and_nothing_of_it_is_damaged() -> None:
    critical = {**RELEASE, "id": "2f", "run": "a@3/10", "runVersion": 7, "membershipHash": "m", "at": LATER, "k": 3}
    (first, second), damaged = release_records(rows(critical, RELEASE))
    assert not damaged
    assert (first.id, first.epsilon, first.run, second.id, second.run_version) == ("1f", "1/3", None, "2f", 7)
    with_texts = {**RELEASE, "nodeLabels": ["Person"], "meanCount": 3, "meanDegree": 4.5}
    ((read,), _) = release_records(rows(with_texts))
    assert (read.node_labels, read.mean_count, read.mean_degree) == (("Person",), 3, 4.5)


def test_the_total_that_counts_is_the_last_by_its_number_and_of_old_ones_without_by_their_time() -> None:
    unnumbered = [
        {**TOTAL, "number": None, "at": at, "epsilon": epsilon} for at, epsilon in ((LATER, "4/1"), (AT, "3/1"))
    ]
    totals, damaged = budget_records(
        rows({**TOTAL, "number": 10, "at": AT}, {**TOTAL, "number": 9, "at": LATER}, *unnumbered)
    )
    assert not damaged
    assert [(total.number, total.epsilon) for total in totals] == [(0, "3/1"), (0, "4/1"), (9, "2/1"), (10, "2/1")]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"graph": None}, "has no graph"),
        ({"graph": ""}, "has a graph of another kind"),
        ({"mechanism": 3}, "has a mechanism of another kind"),
        ({"epsilon": None}, "has no number for ε or δ"),
        ({"delta": 0.5}, "has no number for ε or δ"),
        ({"epsilon": "much"}, "has no number for ε or δ"),
        ({"epsilon": "1e999999999"}, "has no number for ε or δ"),
        ({"epsilon": "9" * 301}, "has no number for ε or δ"),
        ({"epsilonOne": "much"}, "has no number for ε or δ"),
        ({"epsilon": "-1/2"}, "has ε = -1/2 and δ = 1/1000000"),
        ({"delta": "1/1"}, "has ε = 1/3 and δ = 1"),
        ({"k": True}, "has a k of another kind"),
        ({"k": 3.0}, "has a k of another kind"),
        ({"who": 7}, "has a who of another kind"),
        ({"nodeLabels": ["Person", 7]}, "has a nodeLabels of another kind"),
        ({"meanCount": "3"}, "has a meanCount of another kind"),
        ({"at": "yesterday"}, "has a at of another kind"),
        ({"at": DateTime(2026, 11, 25)}, "has a at of another kind"),
        ({"run": "a@3/10"}, "does not say which groups it rests on"),
    ],
)
def test_a_release_that_says_something_else_is_damaged_and_named(changed: dict[str, Any], why: str) -> None:
    records, (damaged,) = release_records(rows({**RELEASE, **changed}))
    assert not records
    assert (damaged.record, damaged.is_release, damaged.why, damaged.element) == ("1f", True, why, "4:0")
    assert damaged.graph == (changed.get("graph", "a") or None)
    assert str(damaged) == f"Release 1f {why}."


@pytest.mark.parametrize("number", [-1, 2**53])
def test_a_total_with_a_number_that_none_gets_is_damaged(number: int) -> None:
    _, (damaged,) = budget_records(rows({**TOTAL, "number": number}))
    assert damaged.why == "has a number that no total can have"
    assert not budget_records(rows({**TOTAL, "number": 2**53 - 1}))[1]


def test_numbers_up_to_three_hundred_digits_are_read_and_zero_is_one() -> None:
    sound = [{"epsilon": "9" * 300}, {"epsilon": "0/1", "delta": "0/1"}, {"epsilonOne": None}]
    assert not release_records(rows(*({**RELEASE, **changed} for changed in sound)))[1]


def test_what_is_damaged_is_named_by_a_hash_where_it_has_no_name_and_keeps_what_is_sound() -> None:
    nameless = [{**RELEASE, "id": None, "epsilon": epsilon} for epsilon in ("much", "more")]
    _, (one, other) = release_records(rows(*nameless))
    assert one.record != other.record
    assert one.record == release_records(rows(nameless[0]))[1][0].record
    assert one.sound() == {"graph": "a", "mechanism": "edge", "epsilon": "much", "delta": "1/1000000", "at": AT}
    _, (total,) = budget_records(rows({**TOTAL, "epsilon": 7, "id": "odd"}))
    assert total.record != "odd"
    assert total.sound() == {name: value for name, value in TOTAL.items() if name != "epsilon"}


@pytest.mark.parametrize(
    ("written", "delta"),
    [("1/1000000", Fraction(1, 10**6)), ("0/1", 0), (0.5, Fraction(1, 2)), ("1/1", None), ("-1/2", None)]
    + [(unread, None) for unread in (None, "much", "1e999999999", [1], AT)],
)
def test_the_delta_of_a_damaged_record_is_read_where_it_can_be(written: object, delta: Fraction | None) -> None:
    _, (damaged,) = release_records(rows({**RELEASE, "epsilon": "much", "delta": written}))
    assert damaged.delta == delta


def test_a_ledger_is_followed_to_the_name_that_holds_it_whatever_notes_there_are() -> None:
    """pcneo does not write the last of these, which takes over a ledger that has been moved away already."""
    says = [("a", "g"), ("b", "a"), ("g", "a")]
    notes = note_records(rows(*({**NOTE, "kind": "same", "graph": graph, "other": other} for graph, other in says)))
    ledgers = [LedgerRecords((), (), (), notes=tuple(notes[:last])) for last in range(4)]
    held = [[ledger.holder(name) for name in "abg"] for ledger in ledgers]
    assert held[:3] == [["a", "b", "g"], ["a", "b", "a"], ["b", "b", "b"]]
    assert set(held[3]) <= set("abg")


def test_of_format_2_the_search_was_called_score() -> None:
    of_old = [{**RELEASE, "score": score} for score in ("density", 7)]
    assert [release.search for release in release_records(rows(*of_old))[0]] == ["density", None]


def test_notes_are_read_oldest_first_and_what_others_wrote_under_their_label_says_nothing() -> None:
    read = note_records(rows({**NOTE, "at": LATER, "records": ["{}"]}, NOTE, {**NOTE, "who": 3}, {**NOTE, "at": None}))
    assert [(note.at < LATER.to_native(), note.records, note.other) for note in read] == [
        (True, (), "b"),
        (False, ("{}",), "b"),
    ]
