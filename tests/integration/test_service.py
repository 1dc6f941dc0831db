"""Requests as nodes: what can be asked, and how one service in its own thread answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

import naive
import neo4j
import pytest
from graphs import Database, cycle, own_text
from neo4j_servers import Server
from services import Gate, answer, ask, look, serving, wait_until

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BusyError
from pcneo.service import desk
from pcneo.service.service_settings import ServiceSettings
from pcneo.store import lock, transaction
from pcneo.store.requests import Claim, RequestQueue
from pcneo.stored import verifying

FRIENDS = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6)]
FINAL = {"complete", "failed", "cancelled"}


@pytest.fixture(name="db")
def known_friends(db: Database) -> Database:
    """A database that knows the graph `friends`, and has no run of it."""
    db.put(FRIENDS)
    db.name_graph("friends")
    return db


@pytest.fixture
def service(server: Server, db: Database) -> Iterator[Any]:
    with serving(server, db.name, max_vertices=1_000) as running:
        yield running


def expected(p: Any, vertices: Any = range(7)) -> dict[int, set[int]]:
    graph = naive.graph_of(FRIENDS, range(7))
    return {vertex: naive.smallest_p_cohesion(graph, p, vertex)[0] for vertex in vertices}


def test_a_request_typed_in_browser_is_answered_in_the_same_place(db, service):
    db.run(
        "CREATE (:PCohesionRequest {command: 'annotate', graph: 'friends', p: '0.3', search: 'smallest', "
        "vertices: [2, 5], by: 'ann'})"
    )
    text = "MATCH (q:PCohesionRequest) OPTIONAL MATCH (q)-[:PRODUCED]->(r:PCohesionRun) "
    wait_until(lambda: db.run(text + "WITH q WHERE q.status IN ['complete', 'failed'] RETURN q"))
    ((status, progress, message, run, version),) = db.run(
        text + "RETURN q.status, q.progress, q.message, r.id, q.version"
    )
    assert (status, progress, run, version) == ("complete", 1.0, "friends@3/10:vertices", 1)
    assert message == "friends@3/10:vertices: 2 new, 0 gone."
    assert db.members(run) == expected(Fraction(3, 10), [2, 5])
    ((identifier,),) = db.run("MATCH (q:PCohesionRequest) RETURN q.id")
    assert isinstance(identifier, str)


def test_the_whole_graph_for_several_p_and_then_up_to_date(db, service):
    first = answer(db, ask(db, command="annotate", graph="friends", p=["0.3", "1/2"]))
    assert (first["status"], first["runs"]) == ("complete", {"friends@3/10": 1, "friends@1/2": 1})
    again = answer(db, ask(db, command="annotate", graph="friends"))
    assert again["status"] == "complete"
    assert again["message"] == "Up to date: nothing has changed, and nothing was written."
    assert again["runs"] == {"friends@3/10": 1, "friends@1/2": 1}
    assert (again["version"], again["attempts"]) == (1, 1)


@pytest.mark.parametrize("p", [0.5, "0.5", "1/2", [0.5], ["1/2"]])
def test_p_may_be_a_number_or_a_text_or_a_list(db, service, p):
    assert answer(db, ask(db, command="annotate", graph="friends", p=p, vertices=0))["runs"] == {
        "friends@1/2:vertices": 1
    }


BAD = {
    "nothing at all": ({}, "command is missing; set command: 'annotate'."),
    "no graph": ({"command": "annotate"}, "graph is missing; set graph: 'friends'."),
    "an unknown command": ({"command": "drop"}, "command must be one of annotate, check, clean"),
    "a release": ({"command": "release", "graph": "friends"}, "Only the owner can make releases and set budgets"),
    "a budget": ({"command": "budget", "graph": "friends", "epsilon": 5}, "no property 'epsilon'"),
    "a command of another type": ({"command": 7}, "command must be text"),
    "a list of commands": ({"command": ["annotate"]}, "command must be text"),
    "an unknown graph": ({"command": "annotate", "graph": "foes"}, "There is no graph 'foes' in the database"),
    "a graph of another type": ({"command": "annotate", "graph": 3.5}, "graph must be text"),
    "an empty graph": ({"command": "annotate", "graph": ""}, "graph must be text"),
    "p of two": ({"command": "annotate", "graph": "friends", "p": 2}, "p must be a number between 0 and 1"),
    "p of nan": ({"command": "annotate", "graph": "friends", "p": float("nan")}, "p must be a number"),
    "p of no number": ({"command": "annotate", "graph": "friends", "p": "a third"}, "p must be a number"),
    "p true": ({"command": "annotate", "graph": "friends", "p": True}, "p must be a number"),
    "no p in a list": (
        {"command": "annotate", "graph": "friends", "p": []},
        "list; leave it out for every standing run",
    ),
    "many p": ({"command": "annotate", "graph": "friends", "p": [i / 100 for i in range(1, 50)]}, "49 values"),
    "an unknown search": ({"command": "annotate", "graph": "friends", "search": "size"}, "size"),
    "a search of another type": ({"command": "annotate", "graph": "friends", "search": 1}, "search must be text"),
    "vertices of another type": (
        {"command": "annotate", "graph": "friends", "vertices": [1.5]},
        "vertices must be a list of keys",
    ),
    "vertices that are a truth": ({"command": "annotate", "graph": "friends", "vertices": True}, "vertices must be"),
    "no vertices": (
        {"command": "annotate", "graph": "friends", "vertices": []},
        "list; leave it out for the whole graph.",
    ),
    "ten thousand vertices": (
        {"command": "annotate", "graph": "friends", "vertices": list(range(10_000))},
        "10,000 keys; this service takes 1,000",
    ),
    "a million vertices": ({"command": "annotate", "graph": "friends", "vertices": list(range(10**6))}, "too long"),
    "a vertex that is not there": ({"command": "annotate", "graph": "friends", "vertices": [99]}, "no vertex 99"),
    "a vertex of the wrong kind": ({"command": "annotate", "graph": "friends", "vertices": ["ann"]}, "'ann'"),
    "a misspelt property": (
        {"command": "annotate", "graph": "friends", "vertexes": [1]},
        "no property 'vertexes'; it can have by, cancel, command",
    ),
    "a megabyte of graph": ({"command": "annotate", "graph": "x" * 10**6}, "graph must be text of 1 to 1,000"),
    "a megabyte of vertices": (
        {"command": "annotate", "graph": "friends", "vertices": ["x" * 10**6]},
        "vertices must be a list",
    ),
    "a megabyte beside": ({"command": "annotate", "graph": "friends", "note": "x" * 10**6}, "no property 'note'"),
    "a megabyte of p": ({"command": "annotate", "graph": "friends", "p": "0." + "3" * 10**6}, "too long"),
    "a status of its own": ({"command": "annotate", "graph": "friends", "status": "soon"}, "A new request has no"),
    "check of nothing": ({"command": "check"}, "either a graph or a run"),
    "check of an unknown run": ({"command": "check", "run": "friends@1/9"}, "no run 'friends@1/9'"),
    "check with p": ({"command": "check", "graph": "friends", "p": 0.3}, "p does not go with"),
    "clean not allowed": ({"command": "clean", "run": "friends@1/2"}, "does not let requests remove"),
    "clean of nothing": ({"command": "clean"}, "run is missing"),
    "annotate a run": ({"command": "annotate", "graph": "friends", "run": "friends@1/2"}, "run does not go with"),
    "by another type": ({"command": "annotate", "graph": "friends", "by": 5}, "by must be text"),
}


def test_whatever_is_wrong_fails_with_a_sentence_and_the_service_lives(db, service):
    requests = {what: ask(db, **properties) for what, (properties, _) in BAD.items()}
    for what, (_, says) in BAD.items():
        answered = answer(db, requests[what])
        assert answered["status"] == "failed", (what, answered)
        assert says in answered["message"], (what, answered["message"])
        assert len(answered["message"]) <= 501
    assert answer(db, ask(db, command="annotate", graph="friends", p=0.5, vertices=[1]))["status"] == "complete"
    assert db.versions().keys() <= {"friends@1/2:vertices", "friends@3/10:vertices"}


def test_identifiers_that_cannot_be_one_are_replaced(db, service):
    for value in ("point({x: 1, y: 2})", "[1, 2]", "0.0 / 0.0", "true"):
        db.run(f"CREATE (:PCohesionRequest {{id: {value}, command: 'annotate', graph: 'nothing'}})")
    wait_until(lambda: db.run("MATCH (q:PCohesionRequest) WHERE q.status = 'failed' RETURN count(q) = 4")[0][0])
    rows = db.run("MATCH (q:PCohesionRequest) RETURN q.id")
    assert all(isinstance(identifier, str) for (identifier,) in rows)


def test_an_identifier_that_becomes_none_while_it_waits_stops_nobody(db, service):
    db.run(
        "CREATE (:PCohesionRequest {id: [1, 2], status: 'requested', requestedAt: datetime(), command: 'no'}), "
        "(:PCohesionRequest {id: [3, 4], status: 'running', requestedAt: datetime(), command: 'no'})"
    )
    wait_until(lambda: db.run("MATCH (q:PCohesionRequest {status: 'failed'}) RETURN count(q)") == [[2]])
    db.run("MATCH (q:PCohesionRequest) SET q.status = 'requested', q.id = [q.attempts, rand()]")
    wait_until(lambda: db.run("MATCH (q:PCohesionRequest {status: 'failed'}) RETURN count(q)") == [[2]])
    assert service.figures.reachable


def test_a_claim_that_a_user_wrote_by_hand_does_not_stay_for_ever(db, service):
    for until in ("null", "'later'", "datetime() - duration('PT1S')"):
        db.run(
            f"CREATE (:PCohesionRequest {{id: {until!r}, command: 'annotate', graph: 'friends', p: 0.5, vertices: [1], "
            f"status: 'running', leaseUntil: {until}, attempts: 'many', requestedAt: 5}})"
        )
        assert answer(db, until)["status"] == "complete"


def test_the_author_can_stop_it_before_it_is_begun(db, service):
    request = ask(db, command="annotate", graph="friends", p=0.5, cancel=True)
    answered = answer(db, request)
    assert answered["status"] == "cancelled"
    assert db.versions() == {}


def test_a_graph_that_is_not_there_yet_is_named_by_its_health_until_it_is(db, server, caplog, monkeypatch):
    monkeypatch.setattr("pcneo.service.serving.GRAPHS_SECONDS", 0.0)
    caplog.set_level("INFO", "pcneo.service")
    with serving(server, db.name, graphs=("friends", "späte")) as service:
        wait_until(lambda: service.figures.waiting_for, "the graph that is missing")
        well, line = service.figures.health()
        assert well  # a restart would not help
        assert line.endswith(r" s ago; no graph is named 'sp\xe4te' yet, so nothing can be done for it")
        annotate.write(db.store, graph="späte", p="0.5", selection=Selection("Person", "KNOWS", "id"))
        wait_until(lambda: not service.figures.waiting_for, "that it is found")
        assert service.figures.health()[1].endswith(" s ago")
        wait_until(lambda: "the graph is there now" in caplog.text, "a line in the log")


def test_only_graphs_that_the_owner_names_are_answered_for(db, server, caplog):
    with serving(server, db.name, graphs=("fiends",)):

        def warnings() -> list[Any]:
            return [record for record in caplog.records if "no graph of that name yet" in record.getMessage()]

        (warned,) = wait_until(warnings, "a warning of the unknown graph")  # the service runs in a thread of its own
        assert warned.levelname == "WARNING"
        assert warned.values["graph"] == "fiends"
        assert "friends" in warned.values["known"]
        assert warned.values["hint"] == "Did you mean friends?"
        left = [ask(db, command="annotate", graph="friends"), ask(db, command="clean", run="friends@1/2")]
        answered = answer(db, ask(db, command="annotate", graph="feinds"))
        assert answered["status"] == "failed"
        assert "for graph 'feinds', only for 'fiends'. Did you mean fiends?" in answered["message"]
        assert {look(db, request)["status"] for request in left} == {"requested"}  # for a service that answers for it


def test_two_services_of_different_graphs_leave_each_others_requests_alone(db, server):
    annotate.write(db.store, graph="others", p="0.5", selection=Selection("Person", "KNOWS", "id"))
    with serving(server, db.name, graphs=("friends",)), serving(server, db.name, graphs=("others",)):
        asked = [ask(db, command="annotate", graph=name, p="0.5", vertices=[1]) for name in ["friends", "others"] * 4]
        asked += [ask(db, command="check", run="others@1/2")]
        lost = ask(db, command="check", graph="friends", run="others@1/2")  # of neither, and of both
        assert answer(db, lost)["status"] == "failed"
        assert {answer(db, request)["status"] for request in asked} == {"complete"}


def test_runs_stay_within_the_owners_limits(db, server):
    with serving(server, db.name, max_run_vertices=3, max_memberships=10):
        assert answer(db, ask(db, command="annotate", graph="friends", p=0.5, vertices=[1, 2]))["status"] == "complete"
        too_many = answer(db, ask(db, command="annotate", graph="friends", p=0.5, vertices=[3, 4]))
        assert "about 4 cohesions; this service keeps runs of up to 3" in too_many["message"]
        for vertices in ([1, 2, 3, 3], [2, 3], [3, 2, 1, 1]):  # repeated, or there already
            allowed = answer(db, ask(db, command="annotate", graph="friends", p=0.5, vertices=vertices))
            assert allowed["status"] == "complete", allowed["message"]
        whole = answer(db, ask(db, command="annotate", graph="friends", p="0.9"))
        assert whole["status"] == "failed"
        assert "memberships; this service keeps runs of up to 10" in whole["message"]
    assert db.versions() == {"friends@1/2:vertices": 2}


def test_one_more_than_may_wait_fails_and_answers_are_forgotten(db, server):
    db.run("UNWIND range(1, 12000) AS i CREATE (:PCohesionRequest {id: i, command: 'annotate', graph: 'nothing'})")
    with serving(server, db.name, max_waiting=5, keep_answers=7):
        wait_until(
            lambda: (
                db.run("MATCH (q:PCohesionRequest) RETURN count(q), count(q.finishedAt)") == [[12, 12]]
                or db.run("MATCH (q:PCohesionRequest) RETURN count(q) <= 12 AND count(q.finishedAt) = count(q)")[0][0]
            ),
            "an end of all of them",
        )
        messages = {message for (message,) in db.run("MATCH (q:PCohesionRequest) RETURN q.message")}
        assert any("There is no graph" in message for message in messages) or any("More than 5" in m for m in messages)
        assert answer(db, ask(db, command="annotate", graph="friends", p=0.5, vertices=[1]))["status"] == "complete"


def test_new_requests_without_end_keep_none_from_being_answered(db, server, monkeypatch):
    monkeypatch.setattr(desk, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(desk, "BATCH", 10)
    db.run("UNWIND range(1, 3000) AS i CREATE (:PCohesionRequest {command: 'annotate', graph: 'nothing'})")
    with serving(server, db.name):
        wait_until(lambda: db.run("MATCH (q:PCohesionRequest) RETURN count(q.finishedAt) > 0")[0][0], "an answer")
        assert db.run("MATCH (q:PCohesionRequest) WHERE q.status IS NULL RETURN count(q) > 0")[0][0]
        db.run("MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NULL DETACH DELETE q")


def test_old_answers_are_forgotten(db, server):
    db.run("CREATE (:PCohesionRequest {id: 1, status: 'complete', finishedAt: datetime() - duration('P8D')})")
    db.run("CREATE (:PCohesionRequest {id: 2, status: 'complete', finishedAt: datetime() - duration('P6D')})")
    with serving(server, db.name):
        wait_until(lambda: db.run("MATCH (q:PCohesionRequest) RETURN q.id") == [[2]])


def test_check_says_whether_graph_and_memberships_are_as_they_were(db, service):
    assert answer(db, ask(db, command="annotate", graph="friends", p="0.5"))["status"] == "complete"
    same = answer(db, ask(db, command="check", graph="friends"))
    assert same["message"] == "friends@1/2: graph as read, memberships as written."
    db.run("MATCH (:Person {id: 5})-[r:KNOWS]->(:Person {id: 6}) DELETE r")
    changed = answer(db, ask(db, command="check", run="friends@1/2"))
    assert (changed["status"], "the graph has CHANGED" in changed["message"]) == ("complete", True)


def test_check_of_a_graph_with_several_runs_reads_it_once(db, service, monkeypatch):
    read, times = verifying.read_graph, []
    monkeypatch.setattr(verifying, "read_graph", lambda *arguments: times.append(1) or read(*arguments))
    assert answer(db, ask(db, command="annotate", graph="friends", p=["0.5", "0.6"]))["status"] == "complete"
    message = answer(db, ask(db, command="check", graph="friends"))["message"]
    assert message.count("graph as read, memberships as written.") == 2
    assert times == [1]


def test_clean_where_the_owner_allows_it_once_and_twice(db, server):
    with serving(server, db.name, allow_clean=True):
        assert answer(db, ask(db, command="annotate", graph="friends", p="0.5"))["status"] == "complete"
        removed = answer(db, ask(db, command="clean", run="friends@1/2"))
        assert removed["message"] == "Run friends@1/2 was removed; it had 7 cohesions."
        wait_until(lambda: db.versions() == {} and db.all_hubs() == 0)
        again = answer(db, ask(db, command="clean", run="friends@1/2"))
        assert (again["status"], "nothing to remove" in again["message"]) == ("complete", True)


def test_clean_leaves_a_run_that_a_release_rests_on(db, server):
    with serving(server, db.name, allow_clean=True):
        assert answer(db, ask(db, command="annotate", graph="friends", p="0.5"))["status"] == "complete"
        db.run(
            "CREATE (:PCohesionRelease {id: 'x', graph: 'friends', run: 'friends@1/2', runVersion: 1, "
            "mechanism: 'critical', k: 3, epsilon: '1/1', delta: '0/1', who: 'o', version: '0', at: datetime()})"
        )
        refused = answer(db, ask(db, command="clean", run="friends@1/2"))
        assert (refused["status"], "Releases rest on run" in refused["message"]) == ("failed", True)
        assert db.versions() == {"friends@1/2": 1}


def test_no_key_that_was_not_asked_for_is_in_a_message(db, service):
    db.run("CREATE (:Person), (:Person {id: 'a secret'})")
    answered = answer(db, ask(db, command="annotate", graph="friends", p=0.5))
    assert answered["status"] == "failed"
    assert "secret" not in answered["message"]
    assert "Some keys of this graph are missing" in answered["message"]


@contextmanager
def held(db: Database, text: str) -> Iterator[Callable[[], None]]:
    """What a statement writes stays locked, uncommitted, until the block ends or what it yields is called."""
    with db.driver.session(database=db.name) as session, session.begin_transaction() as transaction:
        transaction.run(own_text(text)).consume()
        yield transaction.rollback


HELD_GRAPH = "MATCH (g:PCohesionGraph {name: 'friends'}) SET g.held = true"


def test_a_service_outlives_a_database_that_is_gone_for_a_while(db, server, monkeypatch):
    """Connections end, nobody answers, somebody does again: so a restart looks; a real one is in `test_servers.py`."""
    if urlsplit(server.uri).scheme != "bolt":
        pytest.skip("a database of somebody else's, by another protocol")
    open_driver = neo4j.GraphDatabase.driver
    monkeypatch.setattr(
        neo4j.GraphDatabase, "driver", lambda *a, **named: open_driver(*a, **named, max_transaction_retry_time=1)
    )
    monkeypatch.setattr(transaction, "PATIENCE_SECONDS", 3.0)
    with Gate(server.uri) as gate, serving(replace(server, uri=gate.uri), db.name) as service:
        gate.shut()
        wait_until(lambda: not service.figures.reachable, "an end of all connections")
        request = ask(db, command="annotate", graph="friends", p=0.5, vertices=[1])
        gate.open()
        assert answer(db, request)["status"] == "complete"


def test_a_busy_graph_is_tried_again_and_counts_no_attempt(db, service, monkeypatch):
    monkeypatch.setattr(lock, "WAIT_SECONDS", 1.0)
    with held(db, HELD_GRAPH):
        request = ask(db, command="annotate", graph="friends", p=0.5, vertices=[1])

        def waits() -> dict[str, Any] | None:
            seen = look(db, request)
            return seen if seen.get("busySince") and seen["status"] == "requested" else None

        waiting = wait_until(waits, "a wait")
        assert waiting["attempts"] == 0
        assert "An open transaction holds graph 'friends' (user 'neo4j' at" in waiting["message"]
    answered = answer(db, request)
    assert (answered["status"], answered["attempts"]) == ("complete", 1)


def test_a_day_of_waiting_fails(db, service, monkeypatch):
    monkeypatch.setattr(lock, "WAIT_SECONDS", 1.0)
    with held(db, HELD_GRAPH):
        request = ask(db, command="annotate", graph="friends", p=0.5, vertices=[1])
        wait_until(lambda: look(db, request).get("busySince"), "a wait")
        db.run("MATCH (q:PCohesionRequest) SET q.busySince = datetime() - duration('P2D'), q.notBefore = null")
        answered = answer(db, request)
    assert answered["status"] == "failed"
    assert answered["message"].startswith("Given up after a day.")


@pytest.mark.parametrize("status", ["requested", None])
def test_somebodys_open_lock_on_a_request_stops_no_other(db, server, status, monkeypatch):
    monkeypatch.setattr(desk, "LONGEST_WAIT", 1.0)  # how long a request is left alone that somebody holds
    wanted = {"command": "annotate", "graph": "friends", "p": 0.5, "vertices": [1], "status": status}
    db.run(
        "CREATE (q:PCohesionRequest {id: 'held', requestedAt: datetime() - duration('P1D')}) SET q += $wanted",
        wanted=wanted,
    )
    with (
        held(db, "MATCH (q:PCohesionRequest {id: 'held'}) SET q.by = 'me'") as release,
        serving(server, db.name),
    ):
        request = ask(db, command="annotate", graph="friends", p=0.5, vertices=[2])
        assert answer(db, request)["status"] == "complete"
        assert look(db, "held").get("status") == status
        release()
        assert answer(db, "held")["status"] == "complete"


@pytest.mark.parametrize("stopped", [None, True])
def test_eleven_requests_that_somebody_holds_hide_no_later_one(db, monkeypatch, stopped):
    waiting = {"command": "annotate", "graph": "friends", "p": 0.5, "vertices": [1], "cancel": stopped}
    held = [ask(db, **waiting) for _ in range(11)]
    free = ask(db, **waiting)
    queue, claim = RequestQueue(db.store), RequestQueue.claim

    def claim_unless_held(self: RequestQueue, request: Any, worker: str) -> Claim | None:
        if request in held:
            raise BusyError("Held.")
        return claim(self, request, worker)

    monkeypatch.setattr(RequestQueue, "claim", claim_unless_held)
    at_desk = desk.Desk(queue, ServiceSettings(), "me", lambda: None)

    def claimed() -> Claim | None:
        seen = at_desk.look()
        return at_desk.claim_first([(id, None) for id, _ in seen.cancelled] if stopped else seen.small)

    assert claimed() is None
    assert (last := claimed()) is not None
    assert last.id == free


def test_eleven_requests_for_a_busy_graph_hide_none_for_another(db):
    busy = [ask(db, command="annotate", graph="friends", p=0.5, vertices=[1]) for _ in range(11)]
    other = ask(db, command="annotate", graph="others", p=0.5, vertices=[1])
    stopped = ask(db, command="annotate", graph="friends", p=0.5, vertices=[1], cancel=True)
    at_desk = desk.Desk(RequestQueue(db.store), ServiceSettings(), "me", lambda: None)
    assert [id for id, _ in at_desk.look().small] == busy[:10]
    at_desk.note("friends", True)
    seen = at_desk.look()
    assert (seen.small, seen.cancelled, seen.open) == ([(other, "others")], [(stopped, "friends")], True)


@pytest.mark.long
def test_a_long_request_tells_its_progress_and_stops_when_it_is_told_to(db, service):
    db.put(cycle(30_000), label="Other")
    db.name_graph("ring", "Other")
    request = ask(db, command="annotate", graph="ring", p=0.4, search="degree")
    wait_until(lambda: look(db, request).get("status") == "running", "a start")
    db.run("MATCH (q:PCohesionRequest {id: $id}) SET q.cancel = true", id=request)
    answered = answer(db, request)
    if answered["status"] == "complete":
        pytest.skip("it was complete before it could be stopped")
    assert answered["status"] == "cancelled"
    assert db.versions() == {}
    wait_until(lambda: db.all_hubs() == 0, "a removal")


def test_what_annotate_writes_beside_a_service_is_the_same(db, service):
    answered = answer(db, ask(db, command="annotate", graph="friends", p=0.5))
    assert answered["status"] == "complete"
    result = annotate.write(db.store, graph="friends", p=0.5)
    assert not result.runs[0].changed
