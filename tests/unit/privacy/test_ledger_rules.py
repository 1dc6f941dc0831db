"""The ledger's rules without a database: sums, sets of memberships, releases that promise nothing, names, hashes."""

from __future__ import annotations

import dataclasses
import math
import random
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, DatabaseError, ParameterError
from pcneo.privacy.account import Account, Spend, _one_digit, check_spends, delta_to_allow
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.outlook import Earlier
from pcneo.release import published_means
from pcneo.release.budget import account_of, check_not_renamed, check_sole_names, next_number, parse_total
from pcneo.release.published_means import earlier_of
from pcneo.store.count_property import values_hash
from pcneo.store.database import GraphRecord
from pcneo.store.ledger_records import (
    LARGEST_NUMBER,
    BudgetRecord,
    DamagedRecord,
    LedgerRecords,
    NoteRecord,
    ReleaseRecord,
)

F = Fraction
TENTH = Spend("critical", F(1, 10), F(0), "a")
EDGE = Spend("edge", F(1, 10), F(1, 10**7))
NOTHING_PROMISED = Spend("published", F(1), F(0), "a")


def account(*spends: Spend, epsilon: object = 1, delta: object = "1e-6") -> Account:
    return Account("g", Cost(F(str(epsilon)), F(str(delta))), spends)


def test_ten_tenths_pass_and_an_eleventh_does_not() -> None:
    check_spends(account(), [TENTH] * 10)
    check_spends(account(*[TENTH] * 9), [TENTH])
    with pytest.raises(BudgetError, match=r"has ε = 0, δ = 1e-6 left"):
        check_spends(account(*[TENTH] * 10), [Spend("critical", F(1, 10**40), F(0), "a")])


def test_a_batch_is_admitted_as_a_whole_or_not_at_all() -> None:
    with pytest.raises(BudgetError, match=r"would spend ε = 1.1"):
        check_spends(account(), [TENTH] * 11)


def test_a_delta_is_advised_in_one_digit_unless_that_would_be_1() -> None:
    for delta, advised in (("1/58125376", "2e-8"), ("2e-7", "2e-7"), ("0.95", "0.95"), ("1/3", "0.4")):
        assert _one_digit(Fraction(delta)) == Fraction(advised)


@pytest.mark.parametrize("wanted", ["1/58125376", "1e-7", "1e-6", "1e-3"])
def test_a_delta_is_advised_for_ten_releases_unless_that_is_much(wanted: str) -> None:
    releases = 1 if wanted == "1e-3" else 10
    advised, each = delta_to_allow(Fraction(0), Fraction(wanted)), Spend("edge", Fraction(1), Fraction(wanted))
    check_spends(account(epsilon=100, delta=advised), [each] * releases)
    assert advised <= 2 * releases * each.delta


def test_delta_adds_up_too_and_either_part_refuses() -> None:
    check_spends(account(*[EDGE] * 9), [EDGE])
    with pytest.raises(BudgetError, match="left"):
        check_spends(account(epsilon=100), [EDGE] * 11)
    command = r"`pcneo budget set \S+ --epsilon \S+ --delta 1e-6`"
    with pytest.raises(BudgetError, match=rf"Its ε is enough, but it has no δ: {command} raises it\."):
        check_spends(account(delta=0), [EDGE])
    with pytest.raises(BudgetError, match=r"δ is too small: `.+ --delta 2e-6` raises it\."):
        check_spends(account(EDGE, epsilon=100, delta="1e-7"), [EDGE])
    both = r"Nothing was spent\. Raise the total: `pcneo budget set \S+ --epsilon 0\.2 --delta 2e-6`\.$"
    with pytest.raises(BudgetError, match=both):  # more δ alone would not help
        check_spends(account(EDGE, epsilon="0.1", delta="1e-7"), [EDGE])


@pytest.mark.parametrize("epsilon", [100, "0.1"])
def test_no_command_is_advised_where_no_delta_would_do(epsilon: object) -> None:
    spends = [Spend("edge", Fraction(1, 10), Fraction(999_999, 10**6))] * 2
    with pytest.raises(BudgetError, match=r"Nothing was spent\. No total δ is large enough: it must be below 1\.$"):
        check_spends(account(spends[0], epsilon=epsilon, delta="0.9999999"), spends[1:])


def test_a_delta_that_is_nowhere_is_not_named_and_one_that_is_left_of_is() -> None:
    three = Spend("respond", F(3), F(0))
    said = r"has ε = 1 left of ε = 1; this would spend ε = 3\. Nothing was spent\. Release with -e 1 or less, or raise"
    with pytest.raises(BudgetError, match=rf"{said} the total: `pcneo budget set \S+ --epsilon 3`\.$"):
        check_spends(account(delta=0), [three])
    with pytest.raises(
        BudgetError, match=r"Nothing was spent\. Raise the total: `pcneo budget set \S+ --epsilon 6`\.$"
    ):
        check_spends(account(delta=0), [three, three])
    with pytest.raises(BudgetError, match=r"has ε = 0\.9, δ = 0 left of ε = 1, δ = 1e-7; this would spend ε = 3\."):
        check_spends(account(EDGE, delta="1e-7"), [three])


def test_the_sum_is_exact_in_any_order() -> None:
    spends = [Spend("edge", F(1, i), F(1, i**5)) for i in range(2, 60)]
    random.Random(3).shuffle(spends)
    exact = Cost(sum((F(1, i) for i in range(2, 60)), F(0)), sum((F(1, i**5) for i in range(2, 60)), F(0)))
    assert account(*spends).spent == exact
    check_spends(Account("g", exact), spends)
    with pytest.raises(BudgetError):
        check_spends(Account("g", Cost(exact.epsilon, exact.delta - F(1, 10**60))), spends)


def test_what_is_left_is_the_total_without_what_is_spent_and_nothing_where_no_number_says_it() -> None:
    assert account(TENTH, EDGE).left == Cost(F(8, 10), F(9, 10**7))
    assert account(*[TENTH] * 12).left == Cost(F(0), F(1, 10**6))
    assert Account("g", None, (TENTH,)).left is None
    assert account(TENTH, NOTHING_PROMISED).left is None


def test_without_a_total_a_release_asks_for_one() -> None:
    with pytest.raises(BudgetError, match=r"has no budget yet.*budget set g"):
        check_spends(Account("g", None), [TENTH])


def test_the_command_that_sets_a_total_can_be_pasted_and_admits_the_release_that_asked_for_it() -> None:
    named = Account("my graph", None)
    with pytest.raises(BudgetError, match=r"`pcneo budget set 'my graph' --epsilon E`"):
        check_spends(named, [TENTH])
    with pytest.raises(BudgetError, match=r"--epsilon E --delta D`"):
        check_spends(named, [TENTH, EDGE])


def test_a_graph_that_is_not_known_yet_is_sent_to_the_option_that_can_set_its_total() -> None:
    with pytest.raises(BudgetError, match=r"Set it to E with --budget-epsilon E .* in this call; this") as refused:
        check_spends(Account("g", None, is_known=False), [EDGE])
    assert "budget set" not in str(refused.value)


def test_another_set_of_memberships_is_refused_unless_asked_for_and_then_bounds_no_pair_of_one_alone() -> None:
    other = Spend("critical", F(1, 5), F(0), "b")
    with pytest.raises(BudgetError, match=r"another set of memberships.* --groups VERSION to keep"):
        check_spends(account(TENTH), [other])
    with pytest.raises(BudgetError, match="another set of memberships"):
        check_spends(account(), [TENTH, other])
    check_spends(account(TENTH), [other], other_groups=True)
    check_spends(account(TENTH, other), [TENTH, other])  # both were admitted before
    both = account(TENTH, other, TENTH)
    assert {name: str(cost) for name, cost in both.sets.items()} == {"a": "not bounded", "b": "not bounded"}
    assert both.spent == Cost(F(2, 5))


def test_what_the_only_set_has_spent_counts_the_releases_that_know_no_sets() -> None:
    assert account(TENTH, EDGE, TENTH).sets == {"a": TENTH.cost + TENTH.cost + EDGE.cost}
    assert [str(cost) for cost in account(TENTH, NOTHING_PROMISED).sets.values()] == ["not bounded"]


def test_edge_and_elv_know_no_sets() -> None:
    check_spends(account(TENTH), [EDGE, Spend("elv", F(1, 10), F(1, 10**7))])
    assert account(EDGE).sets == {}


def test_a_release_that_promises_nothing_makes_no_set_that_a_later_one_would_leave() -> None:
    assert account(NOTHING_PROMISED).sets == {}
    check_spends(account(NOTHING_PROMISED), [Spend("critical", F(1, 10), F(0), "b")], no_promise=True)


def test_published_needs_to_be_forced_and_makes_the_total_unbounded() -> None:
    with pytest.raises(BudgetError, match="--no-promise"):
        check_spends(account(), [NOTHING_PROMISED])
    check_spends(account(), [NOTHING_PROMISED], no_promise=True)
    check_spends(Account("g", None), [NOTHING_PROMISED], no_promise=True)
    after = account(TENTH, NOTHING_PROMISED)
    assert str(after.spent) == "not bounded"
    with pytest.raises(BudgetError, match="not bounded"):
        check_spends(after, [TENTH])
    check_spends(after, [TENTH], no_promise=True)


def test_a_release_that_promises_nothing_is_not_admitted_unseen_among_others_nor_frees_them_of_a_total() -> None:
    for spends in ([TENTH, NOTHING_PROMISED], [NOTHING_PROMISED, EDGE]):
        with pytest.raises(BudgetError, match="--no-promise"):
            check_spends(account(), spends)
        check_spends(account(), spends, no_promise=True)
        with pytest.raises(BudgetError, match="has no budget yet"):
            check_spends(Account("g", None), spends, no_promise=True)


UNKNOWN = Spend("of another version", F(1, 10), F(0), "a")


def test_a_release_that_only_another_version_knows_is_never_counted_as_bounded() -> None:
    after = account(TENTH, UNKNOWN)
    assert not after.spent.is_bounded
    assert after.bounded == TENTH.cost
    assert [str(cost) for cost in after.sets.values()] == ["not bounded"]
    with pytest.raises(BudgetError, match="of another version, which only another version knows") as refused:
        check_spends(after, [TENTH])
    assert "--no-promise" in str(refused.value)
    check_spends(after, [TENTH], no_promise=True)


def test_the_name_in_a_record_decides_what_the_release_is_worth() -> None:
    worth = {name: Spend(name, F(1), F(1, 2), "a").cost for name in [*MECHANISMS, "row", "later", "", "Critical"]}
    protected = {name for name, cost in worth.items() if cost == Cost(F(1), F(1, 2))}
    assert protected == {"critical", "edge", "elv", "modelled", "respond", "row", "total"}
    assert all(not cost.is_bounded for name, cost in worth.items() if name not in protected)


def test_forcing_does_not_lift_the_total_for_what_is_bounded() -> None:
    with pytest.raises(BudgetError, match="left"):
        check_spends(account(NOTHING_PROMISED), [TENTH] * 11, no_promise=True)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "", "x"])
def test_a_total_must_be_positive_and_finite(epsilon: str) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        parse_total(epsilon, None)


@pytest.mark.parametrize("delta", ["-1", "nan", "1", "2"])
def test_a_total_delta_must_be_below_one(delta: str) -> None:
    with pytest.raises(ParameterError, match="delta"):
        parse_total("1", delta)


def test_a_total_without_delta_admits_critical_alone() -> None:
    for zero in (None, 0, "0", "0.00", "0/1", "0e-7", 0.0):
        assert parse_total("1/3", zero) == Cost(F(1, 3), F(0))


# --- Names over the same data


def graph(name: str, labels: tuple[str, ...] = ("Person",), types: tuple[str, ...] = ("KNOWS",)) -> GraphRecord:
    return GraphRecord(name, Selection(labels, types, "id"), "")


def ledger(graphs: list[GraphRecord], *with_total: str) -> LedgerRecords:
    budgets = [BudgetRecord(name, "1/1", "0/1", "me", datetime.now(UTC)) for name in with_total]
    return LedgerRecords(tuple(graphs), tuple(budgets), ())


def test_a_second_name_over_the_same_data_gets_no_ledger() -> None:
    first, second = graph("a"), GraphRecord("b", Selection(("Person", "Robot"), ("KNOWS", "LIKES"), "name"), "")
    check_sole_names(ledger([first, second], "a"), [first])
    with pytest.raises(BudgetError, match=r"Use the name a\."):
        check_sole_names(ledger([first, second], "a"), [second])


def recorded(graph: str, **values: Any) -> ReleaseRecord:
    return ReleaseRecord(
        **{**dict.fromkeys(field.name for field in dataclasses.fields(ReleaseRecord)), **values, "graph": graph}
    )


def test_a_name_that_has_releases_and_no_total_keeps_the_ledger_to_itself() -> None:
    """`published` needs none."""
    first, second = graph("a"), graph("b")
    records = LedgerRecords((first, second), (), (recorded("a"),))
    check_sole_names(records, [first])
    with pytest.raises(BudgetError, match=r"Use the name a\."):
        check_sole_names(records, [second])


def test_two_labels_on_the_same_nodes_are_two_names_for_the_same_data() -> None:
    first, second = graph("a"), graph("b", labels=("Robot",))
    pairs_asked: list[tuple[Selection, Selection]] = []

    def share_nodes(selection: Selection, other: Selection) -> bool:
        pairs_asked.append((selection, other))
        return True

    records = dataclasses.replace(ledger([first, second], "a"), share_nodes=share_nodes)
    with pytest.raises(BudgetError, match=r"Use the name a\."):
        check_sole_names(records, [second])
    assert pairs_asked == [(second.selection, first.selection)]
    check_sole_names(records, [graph("c", labels=("Robot",), types=("LIKES",))])
    assert len(pairs_asked) == 1


def test_a_graph_whose_node_was_deleted_stands_against_every_name_over_its_data() -> None:
    lost = recorded("gone", id="1f", node_labels=("Person",), relationship_types=("KNOWS",))
    records = LedgerRecords((graph("a"),), (), (lost,))
    assert records.lost == (lost,)
    check_sole_names(records, [graph("gone")])
    check_sole_names(records, [graph("b", types=("LIKES",))])
    for name in ("a", "new"):
        with pytest.raises(
            BudgetError,
            match=f"Graph 'gone', from which release 1f.*had data in common with graph '{name}'.*under its name, gone",
        ):
            check_sole_names(records, [graph(name)])


def test_a_release_that_does_not_say_its_labels_stands_against_every_other_name() -> None:
    records = LedgerRecords((), (), (recorded("gone", id="1f"),))
    check_sole_names(records, [graph("gone")])
    with pytest.raises(BudgetError, match="may have had data in common with graph 'b'"):
        check_sole_names(records, [graph("b", types=("LIKES",))])


def test_two_new_names_over_the_same_data_get_none_in_one_go() -> None:
    with pytest.raises(BudgetError, match="shares data"):
        check_sole_names(ledger([]), [graph("a"), graph("b")])


@pytest.mark.parametrize("other", [graph("b", labels=("Robot",)), graph("b", types=("LIKES",))])
def test_names_that_share_no_label_or_no_type_are_apart(other: GraphRecord) -> None:
    check_sole_names(ledger([graph("a"), other], "a"), [other])


def test_the_newest_total_counts() -> None:
    records = ledger([graph("a")], "a", "a")
    newest = BudgetRecord(**{**vars(records.budgets[0]), "epsilon": "7/2"})
    assert account_of(LedgerRecords((), (*records.budgets, newest), ()), "a").total == Cost(F(7, 2))


def test_a_graphs_own_releases_are_charged_with_all_that_they_cost() -> None:
    releases = [
        recorded(name, mechanism="edge", epsilon=f"1/{i}", delta=f"1/{i}00", membership_hash=None)
        for name, i in (("a", 3), ("b", 5), ("a", 7))
    ]
    critical = recorded("a", mechanism="critical", epsilon="1/11", delta="0/1", membership_hash="the set")
    account = account_of(LedgerRecords((), (), (*releases, critical)), "a")
    assert account.spends == (
        Spend("edge", F(1, 3), F(1, 300)),
        Spend("edge", F(1, 7), F(1, 700)),
        Spend("critical", F(1, 11), F(0), "the set"),
    )


def test_what_is_computed_from_paid_answers_costs_nothing_more() -> None:
    drawn, computed = (recorded("a", mechanism="respond", epsilon=epsilon, delta="0/1") for epsilon in ("3/1", "0/1"))
    assert account_of(LedgerRecords((), (), (drawn, computed)), "a").spent == Cost(F(3))


@pytest.mark.parametrize("named", ["a", None])
def test_while_a_record_is_damaged_its_graph_has_no_account(named: str | None) -> None:
    records = LedgerRecords((), (), (), (DamagedRecord("1f", True, named, "has no number for ε or δ"),))
    with pytest.raises(BudgetError, match=r"nothing is released until .*`pcneo budget mend 1f a --epsilon E`"):
        account_of(records, "a")
    if named is not None:
        assert account_of(records, "b").spent == Cost(F(0))


def test_a_new_total_is_numbered_after_the_highest_while_there_is_a_number_left() -> None:
    (one,) = ledger([graph("a")], "a").budgets

    def numbered(*numbers: int) -> LedgerRecords:
        return LedgerRecords((), tuple(dataclasses.replace(one, number=number) for number in numbers), ())

    assert [next_number(numbered(*numbers), "a") for numbers in ((), (0,), (7, 2))] == [1, 1, 8]
    assert next_number(numbered(LARGEST_NUMBER - 2), "a") == LARGEST_NUMBER - 1
    with pytest.raises(BudgetError, match=f"has the number {LARGEST_NUMBER - 1}, and no number can follow"):
        next_number(numbered(LARGEST_NUMBER - 1), "a")


# --- What public files say in the mean


def said_by(graph: str, epsilon: str, count: float | None = None, degree: float | None = None, **more: Any) -> Any:
    named = {"id": f"{graph}{epsilon}", "mechanism": "edge", **more}
    return recorded(graph, epsilon=epsilon, mean_count=count, mean_degree=degree, **named)


def promised(count: float, degree: float | None = None) -> Earlier:
    return Earlier(count, degree, count_is_promised=True)


def earlier(*said: Any) -> Earlier:
    return earlier_of(LedgerRecords((), (), said), "a")


def test_of_usable_releases_with_one_epsilon_the_last_tells_the_means_before_the_next() -> None:
    unusable = [said_by("a", "1/1", mean, mean) for mean in (0.0, -1.0, math.inf, math.nan, None)]
    releases = said_by("a", "1/1", 7.0), said_by("a", "1/1", 5.0, 4.0), *unusable, said_by("b", "1/1", 3.0)
    records = LedgerRecords((), (), releases)
    assert [earlier_of(records, name) for name in "abc"] == [promised(5.0, 4.0), promised(3.0), Earlier()]


def test_means_are_those_of_the_release_with_the_largest_epsilon() -> None:
    most, less, least = said_by("a", "3/1", 46.0), said_by("a", "1/1", 53.6, 8.0), said_by("a", "1/2", 900.0, 2.0)
    assert earlier(most, less, least) == earlier(least, less, most) == promised(46.0, 8.0)


def test_a_release_that_promises_nothing_tells_the_means_where_no_other_does() -> None:
    nothing = said_by("a", "9/1", 46.0, mechanism="published")
    assert earlier(said_by("a", "1/1", 53.6), nothing) == promised(53.6)
    assert earlier(nothing) == Earlier(46.0)


def test_a_release_from_the_answers_of_another_is_as_exact_as_that() -> None:
    drew, later = said_by("a", "3/1", id="1f", answers="1f"), said_by("a", "1/1", 53.6)
    computed = said_by("a", "0/1", 46.0, id="2f", answers="1f")
    assert earlier(drew, computed, later) == promised(46.0)
    assert earlier(computed, later) == promised(53.6)  # whose record is gone


def test_means_are_noted_of_what_a_file_says_and_a_failure_loses_nothing_but_a_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    noted = list[tuple[Any, ...]]()
    monkeypatch.setattr(published_means, "note_published", lambda _, *said: noted.append(said))
    nowhere: Any = None
    for triangles, degrees in ((20.0, None), (None, [1.0, 2.0, 5.0, 0.0]), (None, None)):
        published_means.note_means(nowhere, "1f", 4, triangles, degrees)
    assert noted == [("1f", 15.0, None), ("1f", None, 2.0)]

    def fails(*_: object) -> None:
        raise DatabaseError("Down.")

    monkeypatch.setattr(published_means, "note_published", fails)
    published_means.note_means(nowhere, "1f", 4, 20.0, None)
    assert "The means that release 1f has published are not in the ledger: Down." in caplog.text


# --- The same graph under another name


def of_keys(name: str, fingerprint: str | None) -> LedgerRecords:
    return LedgerRecords((graph("a"), graph("b")), (), (recorded(name, keys_fingerprint=fingerprint),))


def are_apart(records: LedgerRecords, *names: str) -> LedgerRecords:
    note = NoteRecord("apart", names[0], names[1], "", (), "me", datetime.now(UTC))
    return dataclasses.replace(records, notes=(note,))


def test_a_graph_with_the_keys_of_another_ones_release_is_asked_about() -> None:
    with pytest.raises(BudgetError, match=r"has the vertices of graph 'a'.*`pcneo budget same b a`.*apart b a`"):
        check_not_renamed(of_keys("a", "keys"), graph("b"), "keys")
    check_not_renamed(of_keys("b", "keys"), graph("b"), "keys")
    check_not_renamed(of_keys("a", "keys"), graph("b"), "others")
    check_not_renamed(of_keys("a", None), graph("b"))  # of an earlier version, and before the graph is read
    check_not_renamed(are_apart(of_keys("a", "keys"), "a", "b"), graph("b"), "keys")
    with pytest.raises(BudgetError, match="has the vertices of graph 'a'"):
        check_not_renamed(are_apart(of_keys("a", "keys"), "a", "c"), graph("b"), "keys")


def test_while_a_graph_that_has_spent_stands_empty_any_other_may_be_it() -> None:
    emptied = dataclasses.replace(of_keys("a", None), is_empty=lambda selection: selection == graph("a").selection)
    with pytest.raises(BudgetError, match=r"may be graph 'a', which has lost all its nodes.*`pcneo budget same b a`"):
        check_not_renamed(emptied, graph("b"))
    check_not_renamed(emptied, graph("a"))
    check_not_renamed(are_apart(emptied, "b", "a"), graph("b"))
    check_not_renamed(dataclasses.replace(emptied, releases=()), graph("b"))  # it has spent nothing
    check_not_renamed(dataclasses.replace(emptied, is_empty=lambda _: False), graph("b"))


# --- Values of a property


def test_the_hash_of_values_knows_no_order_but_every_key_and_count() -> None:
    assert values_hash([(1, 5), (2, -7)]) == values_hash([(2, -7), (1, 5)])
    different = [[(1, 5), (2, 7)], [(1, 5)], [(1, 5), (2, -7), (2, -7)], [("1", 5), (2, -7)]]
    assert len({values_hash(values) for values in different} | {values_hash([(1, 5), (2, -7)])}) == 5


@pytest.mark.parametrize("value", [5.0, "5", True, None, [5]])
def test_a_value_that_is_no_whole_number_is_not_ours(value: object) -> None:
    assert values_hash([(1, 5), (2, value)]) is None


def test_values_under_keys_of_no_kind_are_not_ours() -> None:
    without_keys: Any = [(None, 5), (None, 6)]
    assert values_hash(without_keys) is None
