"""Keeping the ledger true: totals as they are read back, damaged records, renamed graphs, records that are let go."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from graphs import KITE, Database, own_text, quoted
from lengths import examples
from requested import requested
from services import wait_until

from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, NotFoundError, PcneoError
from pcneo.privacy.composition import Cost
from pcneo.release import Terms, budget, ledger_mending, release
from pcneo.release.checking import check
from pcneo.release.ledger_mending import apart, mend, same
from pcneo.store.ledger import create_budget, list_ledger, read_ledger
from pcneo.store.lock import GraphLock
from pcneo.store.transaction import Transaction

PERSONS = Selection(("Person",), ("KNOWS",), "id")
NAME = "Person/KNOWS/id"
LEDGER = "MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget RETURN labels(n), properties(n) ORDER BY elementId(n)"


@pytest.fixture(name="db")
def kite(db: Database) -> Database:
    db.put(KITE)
    return db


def publish(
    db: Database,
    folder: Path,
    name: str,
    selection: Selection = PERSONS,
    *,
    epsilon: str = "1",
    delta: str | None = None,
    **terms: Any,
) -> None:
    request = requested(to=folder / f"{name}.csv", mechanism="edge", epsilon=epsilon, delta=delta)
    release(db.store, requests=[request], selection=selection, terms=Terms(**{"anyway": True, **terms}))


def shown(db: Database, graph: str = NAME) -> budget.GraphBudget:
    return budget.show(db.store, graph=graph)[0]


# --- Totals


FORGED = [
    *("number: $n", "number: $n, epsilon: '1e999999999'", "number: 'x'", "number: 1.5", "epsilon: 7", "epsilon: null"),
    *("delta: '1'", "epsilon: '-1/2'", "graph: null", "graph: 3", "at: 'yesterday'", "at: localdatetime()"),
    *("at: datetime('+999999999-12-31T23:59:59Z')", "who: datetime({year: 12000, timezone: 'Pacific/Kiritimati'})"),
    *("number: 9223372036854775807", "number: -1", "who: [1]", "epsilon: '1/0'", "number: 9007199254740991"),
]


def test_what_is_set_is_what_is_read_back_over_sequences_of_setting_deleting_and_forging(
    db: Database, tmp_path: Path
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=9)
    rng = random.Random(5)
    set_, refused = 0, 0
    for _ in range(examples(40)):
        match rng.choice(["set", "set", "set", "delete", "forge", "mend"]):
            case "set":
                before, epsilon = db.run(LEDGER), rng.randint(1, 30)
                account, error = _tried(lambda total=epsilon: budget.set_total(db.store, graph=NAME, epsilon=total))
                if error is None:
                    assert account.total.epsilon == epsilon
                    assert shown(db).account == account
                    set_ += 1
                else:
                    assert "No version of pcneo" in error
                    assert db.run(LEDGER) == before
                    refused += 1
            case "delete":
                db.run("MATCH (b:PCohesionBudget) WITH b ORDER BY rand() LIMIT 1 DELETE b")
            case "forge":
                db.run(
                    "CREATE (b:PCohesionBudget {graph: $g, epsilon: '5', delta: '0', who: 'x', at: datetime()}) "
                    f"SET b += {{{rng.choice(FORGED)}}} RETURN $n",
                    g=NAME,
                    n=rng.choice([0, 1, 3, 8, 1000]),
                )
            case _:
                db.run("MATCH (b:PCohesionBudget) WHERE b.number > 1000000 DELETE b")
                _mend_all(db)
    assert set_ > 3
    assert refused > 3


def _tried(act: Callable[[], Any]) -> tuple[Any, str | None]:
    """What it returns, or what it says against it; anything else than an error of ours is raised."""
    try:
        return act(), None
    except PcneoError as error:
        return None, str(error)


def _mend_all(db: Database) -> None:
    damaged = []
    for _ in range(50):
        damaged = [f for f in check(db.store).findings if "pcneo budget mend" in f.what]
        if not damaged:
            return
        mend(db.store, record=damaged[0].about.split()[1], graph=NAME, epsilon="1/3", delta="1e-9")
    raise AssertionError(damaged)


# --- Damaged records


MUTATIONS = [
    f"{name} = {value}"
    for name in (
        *("id", "graph", "mechanism", "epsilon", "delta", "at", "who", "k", "run", "membershipHash", "nodeLabels"),
        *("epsilonOne", "answers", "version", "keysFingerprint", "file", "property", "number"),
    )
    for value in (
        *("null", "7", "'x'", "''", "'1e999999999'", "'1/0'", "[1, 2]", "0.5", "true", "date()", "'-1'"),
        *("datetime('+999999999-12-31T23:59:59Z')", "[datetime('-999999999-01-01T00:00:00Z')]", "duration('P1D')"),
    )
]


def test_whatever_becomes_of_a_record_nothing_falls_over_it_and_mending_admits_releases_again(
    db: Database, tmp_path: Path
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=50)
    rng = random.Random(6)
    kept = db.run("MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget RETURN labels(n)[0], properties(n)")
    faults = 0
    for change in rng.sample(MUTATIONS, min(examples(30), len(MUTATIONS))):
        db.run("MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget OR n:PCohesionNote DELETE n")
        for label, properties in kept:
            db.run(f"CREATE (n:{label}) SET n = $properties", properties=properties)
        label = rng.choice([label for label, _ in kept])
        db.run(f"MATCH (n:{label}) SET n.{change}")
        findings = [finding for finding in check(db.store).findings if finding.is_fault]
        damaged = any("budget mend" in finding.what for finding in findings)
        assert bool(shown(db).damaged) == damaged, change
        for act in (
            lambda: budget.set_total(db.store, graph=NAME, epsilon=40),
            lambda: publish(db, tmp_path, "again", dry_run=True),
        ):
            _, error = _tried(act)
            assert error is not None or not damaged, change
        if damaged:
            faults += 1
            _mend_all(db)
            spent = shown(db).account
            unbounded = not spent.spent.is_bounded
            assert unbounded or spent.spent.epsilon in (1, pytest.approx(1 / 3)), change
            assert shown(db).notes, change
    assert faults > 5


@pytest.mark.parametrize("number", [-1, 2**53, 2**53 + 2])
def test_a_total_with_a_number_that_none_gets_is_mended_to_one_that_the_next_can_follow(
    db: Database, tmp_path: Path, number: int
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("MATCH (b:PCohesionBudget) SET b.number = $number", number=number)
    _mend_all(db)
    budget.set_total(db.store, graph=NAME, epsilon=4)
    assert [total.number for total in shown(db).totals] == [1, 2]


@pytest.mark.parametrize(
    ("written", "stated", "recorded", "says"),
    [
        ("1/1000", None, "1/1000", "keeps its δ, 0.001"),
        ("much", None, "0/1", "cannot be read; since none was stated, it counts as 0"),
        ("1/1000", 0, "0/1", ""),
    ],
)
def test_a_record_keeps_a_delta_that_can_be_read_unless_its_owner_states_another(
    db: Database,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    written: str,
    stated: int | None,
    recorded: str,
    says: str,
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    change = "MATCH (r:PCohesionRelease) SET r.epsilon = '-1/2', r.delta = $written RETURN r.id"
    ((record,),) = db.run(change, written=written)
    caplog.clear()
    with caplog.at_level("INFO", "pcneo"):
        mend(db.store, record=record, graph=NAME, epsilon=1, delta=stated)
    assert db.run("MATCH (r:PCohesionRelease) RETURN r.epsilon, r.delta") == [["1/1", recorded]]
    assert ("δ" in caplog.text) == bool(says)
    assert says in caplog.text


def test_the_command_that_mends_a_record_carries_its_delta_and_keeps_it_without(
    db: Database, tmp_path: Path, pcneo: Callable[..., Any]
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    ((record,),) = db.run("MATCH (r:PCohesionRelease) SET r.epsilon = '-1/2', r.delta = '1/1000' RETURN r.id")
    with pytest.raises(BudgetError, match=f"`pcneo budget mend {record} {NAME} --epsilon E --delta 0.001`"):
        publish(db, tmp_path, "second")
    assert pcneo("budget", "mend", record, NAME, "--epsilon", "1")[0] == 0
    assert db.run("MATCH (r:PCohesionRelease) RETURN r.delta") == [["1/1000"]]


def test_a_release_that_has_lost_its_graph_is_named_and_nothing_is_released_until_its_owner_has_said_whose_it_is(
    db: Database, tmp_path: Path, pcneo: Callable[..., Any]
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    ((record,),) = db.run("MATCH (r:PCohesionRelease) SET r.graph = null RETURN r.id")
    code, out, _ = pcneo("check")
    assert code == 4
    assert record in out
    with pytest.raises(BudgetError, match=f"Release {record} has no graph.*`pcneo budget mend {record}"):
        publish(db, tmp_path, "second")
    code, out, error = pcneo("budget", "show")
    assert code == 9
    assert re.search(rf"{NAME}: total ε = 3.*spent .* and what is in records that cannot be read \(1\)", out)
    assert ", left " not in out
    assert json.loads(pcneo("budget", "show", "--json")[1])[0]["left"] is None
    assert f"Release {record} has no graph" in error
    assert record in json.loads(pcneo("budget", "show", "--json")[1])[0]["damaged"][0]["record"]
    assert pcneo("budget", "mend", "nothing", NAME, "--epsilon", "1")[0] == 4
    assert pcneo("budget", "mend", record, NAME, "--epsilon", "1", "--delta", "1e-6")[0] == 0
    assert shown(db).account.spent.epsilon == 1
    assert "which has no graph, now says ε = 1, δ = 1e-6, as its owner stated" in pcneo("budget", "show")[1]
    assert pcneo("check")[0] == 0
    assert record in pcneo("budget", "show")[1]
    publish(db, tmp_path, "second")
    assert len(shown(db).releases) == 2


# --- Renamed graphs


@pytest.mark.parametrize(
    ("rename", "names"),
    [
        ("MATCH (n:Person) SET n:Customer REMOVE n:Person", Selection(("Customer",), ("KNOWS",), "id")),
        (
            "MATCH (a)-[e:KNOWS]->(b) CREATE (a)-[:LIKES]->(b) DELETE e",
            Selection(("Person",), ("LIKES",), "id"),
        ),
    ],
    ids=["a label", "a type"],
)
@pytest.mark.parametrize("moved", [False, True], ids=["as it was", "and changed"])
def test_a_renamed_graph_does_not_begin_at_nothing_spent(
    db: Database, tmp_path: Path, rename: str, names: Selection, moved: bool
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run(rename)
    name = "/".join((*names.node_labels, *names.relationship_types, "id"))
    db.run("CREATE INDEX FOR (n:Customer) ON (n.id)")
    db.run("CALL db.awaitIndexes()")
    if moved:
        db.run(f"CREATE (:{names.node_labels[0]} {{id: 99}})")
    before = db.run(LEDGER)
    for dry_run in (False, True):
        with pytest.raises(BudgetError, match=f"pcneo budget same {name} {NAME}"):
            publish(db, tmp_path, "second", names, budget_epsilon=3, dry_run=dry_run)
    assert db.run(LEDGER) == before
    account = same(db.store, graph=name, known_as=NAME)
    assert (account.spent.epsilon, account.total and account.total.epsilon) == (1, 3)
    publish(db, tmp_path, "second", names)
    assert shown(db, name).account.spent.epsilon == 2
    assert shown(db, name).notes[0].kind == "same"
    with pytest.raises(BudgetError, match="left"):
        publish(db, tmp_path, "third", names, epsilon="2")


def test_another_graph_over_the_same_vertices_is_asked_about_once(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("MATCH (a:Person {id: 1}), (b:Person {id: 7}) CREATE (a)-[:LIKES]->(b)")
    likes = Selection(("Person",), ("LIKES",), "id")
    with pytest.raises(BudgetError, match=f"has the vertices of graph '{NAME}'.* budget apart Person/LIKES/id"):
        publish(db, tmp_path, "second", likes, budget_epsilon=3)
    apart(db.store, graph="Person/LIKES/id", other=NAME)
    publish(db, tmp_path, "second", likes, budget_epsilon=3)
    publish(db, tmp_path, "third")
    assert [shown(db, name).account.spent.epsilon for name in (NAME, "Person/LIKES/id")] == [2, 1]
    with pytest.raises(NotFoundError, match="nothing of graph 'other'"):
        same(db.store, graph=NAME, known_as="other")


def test_a_graph_that_is_counted_as_another_does_not_begin_anew(db: Database, tmp_path: Path) -> None:
    """Not by saying the opposite, and not with one vertex more, which no fingerprint recognises."""
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("MATCH (p:Person) CREATE (:Copy {id: p.id})")
    db.run("MATCH (a:Person)-[:KNOWS]->(b:Person), (c:Copy {id: a.id}), (d:Copy {id: b.id}) CREATE (c)-[:LIKES]->(d)")
    db.run("CREATE INDEX FOR (n:Copy) ON (n.id)")
    db.run("CALL db.awaitIndexes()")
    copied = Selection(("Copy",), ("LIKES",), "id")
    name = db.store.merge_graph("copy", copied, "0" * 64).name
    with pytest.raises(BudgetError, match=f"pcneo budget same {name} {NAME}"):
        publish(db, tmp_path, "second", copied, budget_epsilon=3)
    assert same(db.store, graph=name, known_as=NAME).spent.epsilon == 1
    for names in ((NAME, name), (name, NAME)):
        with pytest.raises(BudgetError, match="were said to be the same"):
            apart(db.store, graph=names[0], other=names[1])
    db.run("CREATE (:Person {id: 99})")
    terms: list[dict[str, Any]] = [{}, {"budget_epsilon": 3}, {"dry_run": True}]
    for options in terms:
        with pytest.raises(BudgetError, match=rf"counted as graph '{name}'.*`pcneo budget same {NAME} {name}`"):
            publish(db, tmp_path, "third", **options)
    assert same(db.store, graph=NAME, known_as=name).spent.epsilon == 1
    publish(db, tmp_path, "third")
    assert shown(db).account.spent.epsilon == 2
    with pytest.raises(BudgetError, match=f"counted as graph '{NAME}'"):
        publish(db, tmp_path, "fourth", copied)


def test_no_sequence_of_statements_leaves_a_spent_graph_at_nothing(db: Database, tmp_path: Path) -> None:
    """Counted as another that is counted as a third; a total or another's ledger under the name that was moved."""
    publish(db, tmp_path, "first", budget_epsilon=3)
    for number, name in enumerate(("second", "third", "other")):
        db.run(f"CREATE (:Copy{number} {{id: 1}})-[:LIKES]->(:Copy{number} {{id: 2}})")
        db.store.merge_graph(name, Selection((f"Copy{number}",), ("LIKES",), "id"), str(number) * 64)
    budget.set_total(db.store, graph="other", epsilon=1)
    same(db.store, graph="second", known_as=NAME)
    same(db.store, graph="third", known_as="second")
    refusals = [
        partial(budget.set_total, db.store, graph=NAME, epsilon=9),
        partial(same, db.store, graph=NAME, known_as="other"),
        partial(publish, db, tmp_path, "second", budget_epsilon=3),
    ]
    for refused in refusals:
        with pytest.raises(BudgetError, match=f"'{NAME}' is counted as graph 'third'"):
            refused()
    for other in ("second", "third"):
        with pytest.raises(BudgetError, match="only `pcneo budget forget third`"):
            apart(db.store, graph=NAME, other=other)
    assert same(db.store, graph=NAME, known_as="third").spent.epsilon == 1
    with pytest.raises(BudgetError, match=f"'second' is counted as graph '{NAME}'"):
        budget.set_total(db.store, graph="second", epsilon=9)


def test_once_the_ledger_that_took_it_over_is_forgotten_a_graph_has_its_own_again(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("CREATE (:Copy {id: 1})-[:LIKES]->(:Copy {id: 2})")
    db.store.merge_graph("second", Selection(("Copy",), ("LIKES",), "id"), "0" * 64)
    same(db.store, graph="second", known_as=NAME)
    budget.forget(db.store, graph="second", again="second")
    publish(db, tmp_path, "again", budget_epsilon=3)
    budget.set_total(db.store, graph="second", epsilon=1)
    publish(db, tmp_path, "once more")
    assert shown(db).account.spent.epsilon == 2


def test_a_name_that_nothing_has_is_refused_while_the_other_graph_has_its_data(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    before = db.run(LEDGER)
    says = [partial(same, graph="typo", known_as=NAME), partial(apart, graph="typo", other=NAME)]
    for say in (*says, partial(apart, graph=NAME, other="typo")):
        with pytest.raises(NotFoundError, match="There is no graph 'typo'; there is"):
            say(db.store)
    assert db.run(LEDGER) == before


def test_of_two_names_that_no_graph_has_nothing_can_be_said(db: Database) -> None:
    with pytest.raises(NotFoundError, match="no graph 'a' and no graph 'b'"):
        same(db.store, graph="a", known_as="b")
    with pytest.raises(NotFoundError, match="no graph 'a' and no graph 'b'"):
        apart(db.store, graph="a", other="b")


def test_two_ledgers_that_become_one_keep_every_spend_and_the_total_of_the_name_that_stays(
    db: Database, tmp_path: Path
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("MATCH (a:Person {id: 1}), (b:Person {id: 7}) CREATE (a)-[:LIKES]->(b)")
    likes = Selection(("Person",), ("LIKES",), "id")
    db.store.merge_graph("Person/LIKES/id", likes, "0" * 64)
    apart(db.store, graph="Person/LIKES/id", other=NAME)
    publish(db, tmp_path, "second", likes, budget_epsilon=5)
    for epsilon in (6, 7, 8):
        budget.set_total(db.store, graph=NAME, epsilon=epsilon)
    account = same(db.store, graph="Person/LIKES/id", known_as=NAME)
    assert (account.spent.epsilon, account.total and account.total.epsilon) == (2, 5)
    assert (
        budget.set_total(db.store, graph="Person/LIKES/id", epsilon=4).total
        == shown(db, "Person/LIKES/id").account.total
    )


def entered_while_read(db: Database, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], threading.Thread]:
    """Have the graph `new` entered by another thread once the ledger is read; return the order of events."""
    order: list[str] = []

    def enter() -> None:
        db.store.merge_graph("new", Selection(("Person",), ("LIKES",), "id"), "0" * 64)
        order.append("entered")

    entering = threading.Thread(target=enter)

    def read(*arguments: Any) -> Any:
        if not entering.ident:
            entering.start()
            entering.join(0.5)
            order.append("read")
        return read_ledger(*arguments)

    monkeypatch.setattr(ledger_mending, "read_ledger", read)
    return order, entering


def test_a_name_that_a_ledger_is_moved_to_is_entered_by_nobody_before_that_is_over(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run("MATCH (p:Person) REMOVE p:Person")
    order, entering = entered_while_read(db, monkeypatch)
    same(db.store, graph="new", known_as=NAME)
    entering.join(20)
    assert order == ["read", "entered"]
    assert shown(db, "new").account.spent.epsilon == 1


def test_a_name_that_is_deleted_while_it_is_waited_for_is_entered_by_nobody_before_the_ledger_has_moved(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.store.merge_graph("new", Selection(("Person",), ("LIKES",), "id"), "0" * 64)
    db.run("MATCH (p:Person) REMOVE p:Person")
    order, entering = entered_while_read(db, monkeypatch)
    moving = threading.Thread(target=lambda: same(db.store, graph="new", known_as=NAME))
    with db.driver.session(database=db.name) as session, session.begin_transaction() as deleting:
        deleting.run("MATCH (g:PCohesionGraph {name: 'new'}) DELETE g").consume()
        moving.start()
        moving.join(0.5)
        assert order == []
        deleting.commit()
    moving.join(20)
    entering.join(20)
    assert order == ["read", "entered"]
    assert shown(db, "new").account.spent.epsilon == 1


def test_whoever_has_waited_for_a_name_that_was_deleted_has_its_place_alone(db: Database) -> None:
    """Another one who waited as long, who comes later or who would enter it waits on: `same` and `apart` rely on it."""
    person = Selection(("Person",), ("LIKES",), "id")
    db.store.merge_graph("new", person, "0" * 64)
    order: list[str] = []
    go_on = threading.Event()

    def hold(name: str) -> None:
        with db.store.transaction({}, limit=60) as transaction:
            transaction.touch_graph("new")
            order.append(name)
            assert go_on.wait(60)
            transaction.commit()

    def begin(target: Callable[..., object], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=arguments)
        thread.start()
        return thread

    def blocked(number: int) -> bool:
        waiting = db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN 1")
        return len(waiting) == number

    with db.driver.session(database=db.name) as session, session.begin_transaction() as deleting:
        deleting.run("MATCH (g:PCohesionGraph {name: 'new'}) DELETE g").consume()
        threads = [begin(hold, "first")]
        wait_until(lambda: blocked(1))
        threads.append(begin(hold, "second"))
        wait_until(lambda: blocked(2))
        deleting.commit()
    wait_until(lambda: order)
    threads.append(begin(hold, "late"))
    wait_until(lambda: blocked(2))
    entering = begin(db.store.merge_graph, "new", person, "1" * 64)
    entering.join(1.5)
    assert entering.is_alive()
    assert len(order) == 1
    go_on.set()
    for thread in (*threads, entering):
        thread.join(60)
    assert sorted(order) == ["first", "late", "second"]


def test_whoever_waits_for_a_name_that_a_ledger_is_moved_to_sees_all_of_it(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.store.merge_graph("new", Selection(("Person",), ("LIKES",), "id"), "0" * 64)
    commit, seen = Transaction.commit, list[list[str]]()

    def look() -> None:
        with GraphLock(db.store, "new"):
            seen.append([release.graph for release in list_ledger(db.store).releases])

    looking = threading.Thread(target=look)

    def commit_late(transaction: Transaction) -> None:
        if not looking.ident:
            looking.start()
        time.sleep(0.5)
        commit(transaction)

    monkeypatch.setattr(Transaction, "commit", commit_late)
    same(db.store, graph="new", known_as=NAME)
    looking.join(20)
    assert seen == [["new"]]


def test_a_name_that_is_entered_while_a_lock_is_waited_for_is_held_too(db: Database) -> None:
    """Two names over the same data have one ledger, though one of them was not known when the other was asked for."""
    db.store.merge_graph("friends", PERSONS, "0" * 64)
    errors: list[Exception] = []

    def set_total() -> None:
        try:
            budget.set_total(db.store, graph="friends", epsilon=1)
        except BudgetError as error:
            errors.append(error)

    setting = threading.Thread(target=set_total)
    with GraphLock(db.store, "friends") as first:
        setting.start()
        wait_until(lambda: db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN 1"))
        db.store.merge_graph("pals", PERSONS, "1" * 64)
        with GraphLock(db.store, "pals") as second:
            with first.last_writes():
                pass  # whoever waits for this name has it from here on
            setting.join(1.5)
            assert setting.is_alive()
            with second.last_writes() as transaction:
                create_budget(transaction, "pals", 1, ("3/1", "0/1"), "somebody")
    setting.join(30)
    assert len(errors) == 1
    assert [total.graph for total in list_ledger(db.store).budgets] == ["pals"]


FAR = "datetime('+999999999-12-31T23:59:59Z')"


@pytest.mark.parametrize("name", ["at", "who"])
def test_a_time_that_no_driver_can_hold_makes_a_damaged_record_of_its_own_alone(
    db: Database, tmp_path: Path, name: str
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    db.run(own_text(f"MATCH (r:PCohesionRelease) SET r.{name} = {FAR}"))
    db.run(own_text(f"CREATE (:PCohesionNote {{kind: 'apart', graph: 'g', what: 'x', who: 'x', at: {FAR}}})"))
    (damaged,) = shown(db).damaged
    assert damaged.why == f"has a {name} of another kind"
    _mend_all(db)
    publish(db, tmp_path, "second")


@pytest.mark.parametrize(
    "change", ["SET n.secret = 'x'", "SET n.secret = 7", f"SET n.secret = {FAR}", "REMOVE n.secret", "DELETE n"]
)
def test_a_ledger_whose_secret_is_gone_says_that_it_would_not_know_a_renamed_graph(
    db: Database, tmp_path: Path, pcneo: Callable[..., Any], change: str
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    assert pcneo("check")[0] == 0
    db.run(f"MATCH (n:PCohesionLedger) {change}")
    code, out, _ = pcneo("check")
    assert code == 4
    assert f"graph {NAME}" in out
    assert "secret was deleted or changed" in " ".join(out.split())
    if change != "DELETE n":
        publish(db, tmp_path, "second")
    else:
        assert pcneo("budget", "mend", "secret", NAME, "--epsilon", "1")[0] == 2
        code, out, _ = pcneo("budget", "mend", "secret", NAME)
        assert (code, out) == (0, f"stored the keys of {NAME} with 1 release\n")
        assert f"stored the keys of {NAME} anew with its releases (1)" in pcneo("budget", "show")[1]
        db.run("MATCH (a:Person {id: 1}), (b:Person {id: 7}) CREATE (a)-[:LIKES]->(b)")
        with pytest.raises(BudgetError, match=f"has the vertices of graph '{NAME}'"):
            publish(db, tmp_path, "second", Selection(("Person",), ("LIKES",), "id"), budget_epsilon=3)
    assert pcneo("check")[0] == 0


def test_a_secret_is_stored_anew_under_its_constraint_though_somebody_has_dropped_that(
    db: Database, tmp_path: Path
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    constraint = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes = ['PCohesionLedger'] RETURN name"
    ((name,),) = db.run(constraint)
    db.run(f"DROP CONSTRAINT {quoted(name)}")
    db.run("MATCH (n:PCohesionLedger) DELETE n")
    assert ledger_mending.mend_secret(db.store, graph=NAME) == 1
    assert db.run(constraint) == [[name]]


# --- Letting go, setting by the way, showing


def test_what_is_forgotten_leaves_a_record_of_it(
    db: Database, tmp_path: Path, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db, tmp_path, "first", budget_epsilon=3)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{NAME}\n"))
    code, _, err = pcneo("budget", "forget", NAME)
    assert code == 0
    assert "The ledger will forget 1 release, which had spent ε = 1" in (asked := " ".join(err.split()))
    assert asked.index("will forget") < asked.index("Type the graph's name again")
    out = pcneo("budget", "show")[1]
    assert "forgot 1 release, which had spent ε = 1" in out
    (note,) = shown(db).notes
    assert any('"first.csv"' in record for record in note.records)
    assert shown(db).account.spent == Cost(budget.Fraction(0))


def test_a_total_set_by_the_way_has_delta_for_as_many_releases_as_it_has_epsilon(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "1", budget_epsilon="2.5")
    publish(db, tmp_path, "2")
    publish(db, tmp_path, "3", epsilon="0.5")
    with pytest.raises(BudgetError, match="left"):
        publish(db, tmp_path, "4", epsilon="0.1")


def test_a_new_epsilon_keeps_the_delta_of_the_total_and_a_delta_that_is_named_takes_its_place(
    db: Database, tmp_path: Path
) -> None:
    publish(db, tmp_path, "1", budget_epsilon="2", delta="1/10000")
    texts = [
        str(budget.set_total(db.store, graph=NAME, epsilon=epsilon, delta=delta).total)
        for epsilon, delta in ((5, None), (6, "1e-7"), (4, None))
    ]
    assert texts == ["ε = 5, δ = 2e-4", "ε = 6, δ = 1e-7", "ε = 4, δ = 1e-7"]


@pytest.mark.parametrize(("delta", "total"), [("1/10000", "3/10000"), ("4/10000", "1/1000"), ("2/1000", "2/1000")])
def test_a_total_set_by_the_way_has_no_more_delta_than_a_thousandth_unless_one_release_takes_more(
    db: Database, tmp_path: Path, delta: str, total: str
) -> None:
    publish(db, tmp_path, "1", budget_epsilon="2.5", delta=delta)
    assert shown(db).account.total == Cost(budget.Fraction("2.5"), budget.Fraction(total))


def test_a_total_set_by_the_way_for_one_release_has_the_delta_of_that_one(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "1", budget_epsilon="1", delta="1/10000")
    assert shown(db).account.total == Cost(budget.Fraction(1), budget.Fraction("1/10000"))


def test_a_dry_run_is_admitted_and_refused_as_the_release_is(db: Database, tmp_path: Path) -> None:
    publish(db, tmp_path, "first", budget_epsilon=2)
    before = db.run(LEDGER)
    publish(db, tmp_path, "dry", dry_run=True)
    for dry_run in (True, False):
        with pytest.raises(BudgetError, match="left"):
            publish(db, tmp_path, "second", epsilon="1.5", dry_run=dry_run)
    assert db.run(LEDGER) == before
    assert not (tmp_path / "dry.csv").exists()


def test_the_ledger_is_evidence_in_lines_that_fit_and_as_csv(
    db: Database, tmp_path: Path, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db, tmp_path, "counts-of-friends-in-november", budget_epsilon=3)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = pcneo("budget", "show")
    assert code == 0
    assert max(len(line) for line in out.splitlines() if line[0] in "┏┃│") <= 80
    ((who, date),) = db.run("MATCH (r:PCohesionRelease) RETURN r.who, toString(date(r.at))")
    (line,) = [line for line in out.splitlines() if "edge" in line]
    assert all(word in line for word in (date, "edge", "3", "1", who[-9:], "november.csv"))
    pcneo("budget", "set", NAME, "--epsilon", "20")
    pcneo("budget", "set", NAME, "--epsilon", "5")
    lines = [line.split(": total set to ") for line in pcneo("budget", "show")[1].splitlines() if "total set" in line]
    assert [first for first, _ in lines] == [f"  {date}, {who}"] * 3
    assert [total.split(",")[0] for _, total in lines] == ["ε = 3", "ε = 20", "ε = 5"]
    *totals, row = csv.DictReader(io.StringIO(pcneo("budget", "show", "--csv")[1]))
    assert [(total["record"], total["epsilonExact"], total["who"]) for total in totals] == [
        ("total", epsilon, who) for epsilon in ("3", "20", "5")
    ]
    assert all(total["at"].startswith(date) and not total["mechanism"] for total in totals)
    assert row["record"] == "release"
    assert row["file"] == "counts-of-friends-in-november.csv"
    assert (row["mechanism"], row["k"], row["epsilonExact"], row["who"]) == ("edge", "3", "1", who)
