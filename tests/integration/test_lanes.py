"""Small requests beside a large one: neither waits for the other, order is kept, and cancels are heeded."""

from __future__ import annotations

import itertools
import random
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import lengths
import naive
import pytest
from graphs import Database, cycle
from lengths import usual_or_thorough
from services import answer, ask, look, serving, wait_until

from pcneo import annotate
from pcneo.annotate.plan import Plan, make_plan
from pcneo.annotate.writing import update_runs
from pcneo.errors import BusyError
from pcneo.service import work
from pcneo.service.worker import Worker
from pcneo.store.database import Database as Stored
from pcneo.store.hub_writer import HubWriter
from pcneo.store.lending import BesideGraph, Lending
from pcneo.store.requests import Claim
from pcneo.store.standing import Keeping, OpenGraph
from pcneo.store.statements import KEPT_PLANS, load_statement
from pcneo.store.transaction import Transaction, in_one_trip
from pcneo.stored.cleaning import clean

FRIENDS = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6)]
SMALL = {"command": "annotate", "p": "1/2"}
WHOLE = {"command": "annotate", "p": "1/2", "search": "degree"}
CANCELLED_SECONDS = 2.0


@pytest.fixture(name="db")
def friends_and_others(db: Database) -> Database:
    """A database that knows the graphs `friends` and `others`, and has no run of them."""
    db.put(FRIENDS)
    db.name_graph("friends")
    db.put(cycle(60), label="Other")
    db.name_graph("others", "Other")
    return db


class Gate:
    """Holds requests for whole graphs in the middle, where the graph is open and has been read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        admit = work.Work._admit

        def wait(self_: work.Work, plan: Any, supply: Any, *more: Any) -> None:
            admit(self_, plan, supply, *more)
            if supply.scope == "graph":
                self.reached.set()
                while not self.opened.wait(0.05):
                    self_.lease.check()

        monkeypatch.setattr(work.Work, "_admit", wait)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(monkeypatch)
    yield gate
    gate.opened.set()


def expected(vertices: Any) -> dict[int, set[int]]:
    graph = naive.graph_of(FRIENDS, range(7))
    return {vertex: naive.smallest_p_cohesion(graph, Fraction(1, 2), vertex)[0] for vertex in vertices}


def finished_after(db: Database, request: Any) -> float:
    """Seconds from the creation of a request to its answer, by the server's clock."""
    ((seconds,),) = db.run(
        "MATCH (q:PCohesionRequest {id: $id}) "
        "RETURN duration.inSeconds(q.requestedAt, q.finishedAt).milliseconds / 1000.0",
        id=request,
    )
    return seconds


def p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def test_single_vertices_are_published_beside_a_whole_graph_that_is_under_way(db, server, gate):
    with serving(server, db.name):
        whole = ask(db, graph="friends", **WHOLE)
        wait_until(gate.reached.is_set, "the middle")
        first = [ask(db, graph="friends", vertices=[i], **SMALL) for i in range(6)]
        other = [ask(db, graph="others", vertices=[i], **SMALL) for i in range(6)]
        answers = [answer(db, request) for request in (*first, *other)]
        assert {answered["status"] for answered in answers} == {"complete"}
        assert look(db, whole)["status"] == "running"
        assert db.members("friends@1/2:vertices") == expected(range(6))
        numbers = [answered["version"] for answered in answers[:6]]
        assert numbers == sorted(set(numbers))
        gate.opened.set()
        done = answer(db, whole)
        assert done["version"] not in numbers
        again = answer(db, ask(db, graph="friends", vertices=[6], **SMALL))
        assert again["version"] > max(*numbers, done["version"])
    assert db.members("friends@1/2:vertices") == expected(range(7))
    assert len(db.members("friends@1/2:degree")) == 7
    assert db.run("MATCH (g:PCohesionGraph {name: 'friends'}) RETURN g.lastVersion") == [[again["version"]]]


def test_what_waits_is_served_in_the_order_of_its_creation_whatever_its_name(db, server, gate):
    """All are created in one transaction, at one time; their names would put them in another order."""
    names = [f"l{i}" for i in range(12)]
    with serving(server, db.name):
        ask(db, graph="others", **WHOLE)
        wait_until(gate.reached.is_set, "the middle")
        db.run(
            "UNWIND $names AS name CREATE (:PCohesionRequest {id: name, command: 'annotate', graph: 'friends', "
            "p: '1/2', vertices: [1]})",
            names=names,
        )
        earlier = ask(db, id="asked before", graph="friends", vertices=[2], **SMALL, requestedAt=_hour_ago(db))
        for name in (*names, earlier):
            answer(db, name)
        rows = db.run("MATCH (q:PCohesionRequest) WHERE q.vertices IS NOT NULL RETURN q.id ORDER BY q.startedAt")
    order = [name for (name,) in rows]
    assert [name for name in order if name != earlier] == names
    assert order.index(earlier) <= 2  # at most what had been claimed when it came


def _hour_ago(db: Database) -> Any:
    return db.run("RETURN datetime() - duration('PT1H')")[0][0]


@contextmanager
def held(db: Database, text: Any) -> Iterator[None]:
    with db.driver.session(database=db.name) as session, session.begin_transaction() as transaction:
        transaction.run(text).consume()
        yield


def test_a_graph_that_somebody_else_writes_keeps_no_other_waiting(db, server):
    """Each request for it would wait for its lock; one of them finds out, and the others are left alone meanwhile."""
    with held(db, "MATCH (g:PCohesionGraph {name: 'friends'}) SET g.held = true"), serving(server, db.name):
        blocked = [ask(db, graph="friends", vertices=[i], **SMALL) for i in range(7)]
        free = [ask(db, graph="others", vertices=[i], **SMALL) for i in range(10)]
        for request in free:
            assert answer(db, request)["status"] == "complete"
        assert all(look(db, request).get("status") in ("requested", "running") for request in blocked)
        assert sum(1 for request in blocked if look(db, request).get("busySince")) < len(blocked)


def test_numbers_that_were_lent_are_used_up_though_the_holder_fails_and_the_run_is_removed(db):
    lending = Lending()
    store, (graph, *_) = db.store, db.store.list_graphs()

    def lend() -> int:
        with lending.holding(store, graph) as opened:
            assert opened.next_version() > 0
            return update_runs(small(store), Keeping(), opens=lending.beside).run.version

    def fail() -> None:
        with lending.holding(store, graph):
            update_runs(small(store), Keeping(), opens=lending.beside)
            raise BusyError("The holder fails.")

    lent = lend()
    assert db.run("MATCH (g:PCohesionGraph {name: 'friends'}) RETURN g.lastVersion") in ([[None]], [[0]])
    clean(store, run="friends@1/2:vertices")
    db.run("MATCH (:Person {id: 0})-[r]-(:Person {id: 1}) DELETE r")
    assert annotate.write(store, graph="friends", p="1/2", vertices=[1]).run.version > lent
    db.run("MATCH (v:Person {id: 4})-[r]-() DELETE r")
    with pytest.raises(BusyError, match="The holder fails"):
        fail()
    assert annotate.write(store, graph="friends", p="1/2").run.version > max(db.versions().values()) - 1


def test_single_vertices_go_on_while_what_a_whole_graph_has_left_is_removed(db, server, monkeypatch):
    run = "friends@1/3:degree"
    db.run(
        "CREATE (:PCohesionRun {id: $run, graph: 'friends', scope: 'graph', p: 1/3.0, pText: '1/3', search: 'degree', "
        "version: 0}) WITH 1 AS one UNWIND range(1, 9) AS i CREATE (:PCohesion {run: $run, from: 1, until: 2^53 - 1})",
        run=run,
    )
    removing, goes_on = threading.Event(), threading.Event()
    undo = HubWriter.undo

    def held_up(self: HubWriter, swept: str, *more: Any) -> int:
        if swept == run:
            removing.set()
            assert goes_on.wait(60)
        return undo(self, swept, *more)

    monkeypatch.setattr(HubWriter, "undo", held_up)
    with serving(server, db.name):
        whole = ask(db, graph="friends", **WHOLE)
        wait_until(removing.is_set, "a removal")
        small = answer(db, ask(db, graph="friends", vertices=[1], **SMALL))
        assert (small["status"], look(db, whole)["status"]) == ("complete", "running")
        goes_on.set()
        assert answer(db, whole)["status"] == "complete"
    assert db.run("MATCH (c:PCohesion {run: $run}) RETURN c", run=run) == []
    assert set(db.versions()) == {"friends@1/2:degree", "friends@1/2:vertices"}


def test_who_borrows_a_graph_that_its_holder_has_lost_publishes_nothing(db):
    lending = Lending()
    store, (graph, *_) = db.store, db.store.list_graphs()
    with lending.holding(store, graph) as opened:
        opened.fence.__class__(store, graph.name).take()  # as the next writer does
        with pytest.raises(BusyError, match="Another writer has begun to write"):
            update_runs(small(store), Keeping(), opens=lending.beside)
    assert (db.versions(), db.all_hubs()) == ({}, 0)


def test_what_a_borrower_has_left_is_gone_before_the_next_one_publishes(db, monkeypatch):
    lending = Lending()
    store, (graph, *_) = db.store, db.store.list_graphs()

    def fail(*_: object) -> None:
        raise BusyError("The borrower fails.")

    with lending.holding(store, graph):
        with monkeypatch.context() as patch:
            patch.setattr(OpenGraph, "complete", fail)
            patch.setattr(BesideGraph, "undo", lambda _: None)
            with pytest.raises(BusyError, match="The borrower fails"):
                update_runs(small(store), Keeping(), opens=lending.beside)
        assert db.all_hubs() == 1
        update_runs(small(store), Keeping(), opens=lending.beside)
        assert db.all_hubs() == 1
    assert db.members("friends@1/2:vertices") == expected([1])


def test_a_borrower_that_cannot_know_whether_its_version_is_there_removes_nothing_of_it(db, monkeypatch):
    lending = Lending()
    store, (graph, *_) = db.store, db.store.list_graphs()
    complete, commit = OpenGraph.complete, Transaction.commit

    def lose_the_answer(self: Transaction) -> None:
        commit(self)
        raise BusyError("The answer was lost.")

    def complete_last(self: OpenGraph, *arguments: Any) -> None:
        complete(self, *arguments)
        monkeypatch.setattr(Transaction, "commit", lose_the_answer)

    monkeypatch.setattr(OpenGraph, "complete", complete_last)
    with lending.holding(store, graph):
        with pytest.raises(BusyError, match="The answer was lost"):
            update_runs(small(store), Keeping(), opens=lending.beside)
        monkeypatch.undo()
    assert db.members("friends@1/2:vertices") == expected([1])


def small(store: Stored) -> Plan:
    return make_plan(store, "write", p="1/2", vertices=[1], graph="friends")


def test_a_service_that_ends_waits_until_a_whole_graph_is_given_back(db, server, gate):
    with serving(server, db.name):
        whole = ask(db, graph="friends", **WHOLE)
        wait_until(gate.reached.is_set, "the middle")
    assert look(db, whole)["status"] == "requested"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pcneo-large")]


def test_plans_are_kept_for_single_vertices_alone(db, server, monkeypatch):
    kept: dict[Any, bool] = {}
    work_on = Worker.work_on

    def note(self: Worker, claim: Claim) -> None:
        kept[claim.id] = load_statement("get_request").render({}).startswith(KEPT_PLANS)
        work_on(self, claim)

    monkeypatch.setattr(Worker, "work_on", note)
    with serving(server, db.name):
        one = ask(db, graph="friends", vertices=[1], **SMALL)
        whole = ask(db, graph="friends", **WHOLE)
        answer(db, whole)
        answer(db, one)
        check = ask(db, command="check", run="friends@1/2:vertices")
        answer(db, check)
    assert kept == {one: True, whole: False, check: False}


def cancelled_within(db: Database, request: Any) -> float:
    """Cancel a request; return the seconds until it is answered, which it must be by that."""
    began = time.monotonic()
    db.run("MATCH (q:PCohesionRequest {id: $id}) SET q.cancel = true", id=request)
    answered = answer(db, request)
    seconds = time.monotonic() - began
    assert answered["status"] == "cancelled"
    return seconds


def test_a_request_that_waits_behind_a_large_one_is_cancelled_at_once(db, server, gate):
    with serving(server, db.name):
        ask(db, graph="friends", **WHOLE)
        wait_until(gate.reached.is_set, "the middle")
        waits = ask(db, graph="others", **WHOLE)
        wait_until(lambda: look(db, waits).get("status") == "requested", "a wait")
        assert cancelled_within(db, waits) < CANCELLED_SECONDS


SLOW = "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 3 RETURN max(i) AS most"


@pytest.mark.parametrize("vertices", [None, [1, 2]])
def test_a_statement_that_the_database_works_on_is_ended_by_a_cancel(db, server, monkeypatch, vertices):
    runs = threading.Event()

    def count_store(self: Stored, selection: Any) -> Any:
        runs.set()
        with self.session("READ") as session:
            in_one_trip(session, SLOW, {}, self.marks)

    with serving(server, db.name):
        monkeypatch.setattr(Stored, "count_store", count_store)
        asked = {**WHOLE, "graph": "friends", **({} if vertices is None else {"vertices": vertices})}
        request = ask(db, **asked)
        wait_until(runs.is_set, "the statement")
        time.sleep(0.2)
        assert cancelled_within(db, request) < CANCELLED_SECONDS
    rows = db.run("SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS '1000000000 AS' RETURN 1")
    assert len(rows) <= 1  # this one
    assert (db.versions(), db.all_hubs()) == ({}, 0)


def test_a_search_in_a_kernel_is_ended_by_a_cancel(db, server):
    """One vertex at an end of a long path at p=0.9 has all others in its cohesion, found one by one."""
    length = usual_or_thorough(60_000, 200_000)
    db.put([(i, i + 1) for i in range(length)], label="Chain")
    db.name_graph("chain", "Chain")
    with serving(server, db.name):
        for asked in ({"vertices": [0]}, {}):
            request = ask(db, command="annotate", graph="chain", p="0.9", search="degree", **asked)
            wait_until(lambda request=request: look(db, request).get("status") == "running", "a start")
            time.sleep(usual_or_thorough(1.0, 8.0))
            assert look(db, request)["status"] == "running", "it was over before it could be stopped"
            assert cancelled_within(db, request) < CANCELLED_SECONDS
            wait_until(lambda: db.all_hubs() == 0, "a removal")
    assert db.versions() == {}


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_500_requests_beside_two_for_whole_graphs_on_the_same_graph_and_on_another(db, server):
    """None is lost, each is answered once, and in order; at length, two a second, 19 of 20 within two seconds.

    At length a whole graph is under way all the time: its two runs are removed and annotated again, in turns.
    """
    number = usual_or_thorough(40, 500)
    rng = random.Random(20261125)
    db.put(random_graph(rng, 20_000, 8), label="Large")
    db.name_graph("large", "Large")
    made = [{"command": "annotate", "graph": "large", "p": p, "search": "density"} for p in ("0.2", "0.3")]
    removed = [{"command": "clean", "run": f"large@{p}:density"} for p in ("1/5", "3/10")]
    turns = itertools.cycle(made + removed)
    with serving(server, db.name, max_memberships=50_000_000, allow_clean=True):
        answer(db, ask(db, graph="others", vertices=[0], **SMALL))  # what is loaded once
        wholes = [ask(db, **next(turns)), ask(db, **next(turns))]
        wait_until(lambda: look(db, wholes[0]).get("status") == "running", "a start")
        wanted: dict[Any, str] = {}
        for i in range(number):
            graph, most = rng.choice([("large", 20_000), ("others", 60)])
            kind = rng.random()
            asked = {"command": "annotate", "graph": graph, "p": "0.2", "vertices": [rng.randrange(most)]}
            status = "complete"
            if kind < 0.1:
                asked, status = {**asked, "p": 2}, "failed"
            elif kind < 0.2:
                asked, status = {**asked, "cancel": True}, "cancelled"
            elif kind < 0.25:
                asked, status = {"command": "check", "run": "none@1/2"}, "failed"
            wanted[ask(db, id=f"r{i}", **asked)] = status
            if lengths.length() == "thorough" and "finishedAt" in look(db, wholes[-2]):
                wholes.append(ask(db, **next(turns)))
            time.sleep(usual_or_thorough(0.2, 0.5))
        answers = {request: answer(db, request) for request in wanted}
        under_way = [look(db, whole).get("status") for whole in wholes[-2:]]
        done = [answer(db, whole, 3_000) for whole in wholes]
    seconds = [finished_after(db, request) for request in wanted]
    print(f"p50 {statistics.median(seconds):.2f} s, p95 {p95(seconds):.2f} s, most {max(seconds):.2f} s;", end=" ")
    print(f"{len(done)} of whole graphs, when the last small one was answered {under_way}")
    assert {request: answered["status"] for request, answered in answers.items()} == wanted
    assert {answered["status"] for answered in done} == {"complete"}
    if lengths.length() == "thorough":
        assert p95(seconds) < 2.0
    rows = db.run(
        "MATCH (q:PCohesionRequest {graph: 'others'}) WHERE q.id STARTS WITH 'r' AND q.cancel IS NULL "
        "RETURN q.requestedAt ORDER BY q.startedAt"
    )
    asked_at = [at for (at,) in rows]
    assert all(earlier <= later for earlier, later in itertools.pairwise(asked_at))
    versions = [answered["version"] for answered in answers.values() if answered["status"] == "complete"]
    assert versions
    assert db.run("MATCH (q:PCohesionRequest)-[e:PRODUCED]->() WITH q, count(e) AS n WHERE n > 1 RETURN q") == []


def random_graph(rng: random.Random, vertices: int, degree: int) -> list[tuple[int, int]]:
    """Edges of a graph with triangles: each vertex is joined to some that are near."""
    near = [1, 2, 3, 5]
    edges = [(i, (i + step) % vertices) for i in range(vertices) for step in near[: degree // 2]]
    return [edge for edge in edges if rng.random() > 0.02]
