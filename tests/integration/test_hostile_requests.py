"""Whatever someone has written into a request, it is answered or set aside, and the next one is answered soon."""

from __future__ import annotations

import urllib.request
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from campaign.ground import at_pace
from campaign.request_nodes import EXPRESSIONS, FINAL, WRITTEN
from graphs import Database, own_text
from lengths import usual_or_thorough
from neo4j_servers import Server
from services import answer, ask, look, serving, wait_until

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import ParameterError
from pcneo.service.monitoring import monitored
from pcneo.store.requests import RequestQueue

SOON = 5.0
"""Seconds within which a plain request is answered, on an idle machine."""


@pytest.fixture(name="db")
def annotated_friends(db: Database) -> Database:
    """A database with a run of the graph `friends`."""
    db.put([(0, 1), (1, 2), (0, 2), (2, 3)])
    names: Any = {"selection": Selection("Person", "KNOWS", "id")}
    annotate.write(db.store, graph="friends", p="0.5", **names)
    return db


STATUSES = ["requested", "running"]


def place_all(db: Database, names: Sequence[str], apart: int = 0) -> int:
    """Create a request for each value, for each status; return how many.

    Args:
        db: the database.
        names: the properties of a request that get a hostile value.
        apart: of how many places in the list of values those of two properties are apart.
    """
    return db.run(
        "MATCH (w:Values) UNWIND range(0, $values - 1) AS value UNWIND $statuses AS status "
        "CREATE (q:PCohesionRequest {command: 'annotate', graph: 'friends', p: '1/2', vertices: [3], status: status, "
        "requestedAt: datetime(), by: $names[0]}) "
        "FOREACH (i IN range(0, size($names) - 1) | SET q[$names[i]] = w['v' + (value + i * $apart) % $values]) "
        "RETURN count(q)",
        names=list(names),
        values=len(EXPRESSIONS),
        statuses=STATUSES,
        apart=apart,
    )[0][0]


@pytest.fixture
def values(db: Database) -> None:
    """Each value of the grammar as a property of one node: as a text of its own each would be planned anew."""
    db.run(own_text("CREATE (w:Values) SET " + ", ".join(f"w.v{i} = {v}" for i, v in enumerate(EXPRESSIONS))))


def plain_is_answered(db: Database) -> None:
    answered = answer(db, ask(db, command="check", graph="friends"), at_pace(SOON))
    assert answered["status"] == "complete", answered


def metrics(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answered:
        lines = answered.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_a_number_of_attempts_that_overflows_stops_no_service(db: Database, server: Server) -> None:
    with serving(server, db.name):
        db.run(
            "CREATE (:PCohesionRequest {id: 'x', command: 'annotate', graph: 'friends', p: '1/2', vertices: [3], "
            "attempts: 9223372036854775807})"
        )
        plain_is_answered(db)
        assert answer(db, "x")["message"].startswith("Given up: 3 attempts ended")


def test_a_time_that_is_none_makes_no_database_unreachable(db: Database, server: Server) -> None:
    pytest.importorskip("prometheus_client")
    db.run("CREATE (:PCohesionRequest {id: 'x', command: 'drop', status: 'failed', requestedAt: 'yesterday'})")
    with serving(server, db.name, keep_days=10_000) as service, monitored(service, "0") as port:
        there = metrics(port)
        assert there["pcneo_database_reachable"] == 1
        assert 'pcneo_requests{status="failed"}' in there


def test_after_each_hostile_request_the_next_one_is_answered(db: Database, server: Server, values: None) -> None:
    """Each property has each value; one property alone in a request under --thorough only."""
    pytest.importorskip("prometheus_client")
    together = [name for name in WRITTEN if name != "status"]
    placed = 0
    with serving(server, db.name) as service, monitored(service, "0") as port:
        for names in usual_or_thorough([together, together[::-1], ["status"]], [[name] for name in WRITTEN]):
            placed += place_all(db, names, apart=1)
            wait_until(lambda: not unanswered(db), "an answer to all of them")
            plain_is_answered(db)
            there = metrics(port)
            assert there["pcneo_database_reachable"] == 1
            assert there["pcneo_oldest_request_seconds"] < 3_600
    answered = [
        at for (at,) in db.run("MATCH (q:PCohesionRequest) RETURN q.finishedAt.epochMillis / 1000.0 AS at ORDER BY at")
    ]
    assert len(answered) >= placed
    assert max(later - earlier for earlier, later in pairwise(answered)) < at_pace(SOON)


def unanswered(db: Database) -> list[list[Any]]:
    return db.run(
        "MATCH (q:PCohesionRequest) WHERE NOT coalesce(q.status IN $final, false) RETURN q.by LIMIT 1", final=FINAL
    )


def test_lists_of_what_cannot_be_read_are_refused_in_a_sentence(db: Database, server: Server, values: None) -> None:
    """The driver cannot make a time of the year 999,999,999, and would fail where the request is claimed."""
    with serving(server, db.name):
        db.run(
            "MATCH (w:Values) UNWIND range(0, $values - 1) AS value "
            "CREATE (:PCohesionRequest {id: value, command: 'annotate', graph: 'friends', vertices: w['v' + value]})",
            values=len(EXPRESSIONS),
        )
        for number in range(len(EXPRESSIONS)):
            answered = answer(db, number)
            assert answered["status"] in ("failed", "complete"), answered
            assert "could not be taken" not in answered["message"], answered


def test_what_a_claim_raises_sets_the_request_aside_with_its_reason(
    db: Database, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = RequestQueue.claim

    def fails(self: RequestQueue, request: Any, worker: str) -> Any:
        if request == "bad":
            raise OverflowError("Integer out of range")
        if request == "worse":
            raise ParameterError("p is a number")
        return claim(self, request, worker)

    monkeypatch.setattr(RequestQueue, "claim", fails)
    with serving(server, db.name):
        for request in ("bad", "worse"):
            ask(db, id=request, command="check", graph="friends")
        plain_is_answered(db)
        bad, worse = (answer(db, request, at_pace(SOON)) for request in ("bad", "worse"))
    assert (bad["status"], worse["status"]) == ("failed", "failed")
    assert (
        bad["message"]
        == "This request could not be taken. The service failed with OverflowError. Its log has the details."
    )
    assert worse["message"] == "This request could not be taken. p is a number"


def test_a_token_that_was_copied_ends_nobody_elses_work(db: Database) -> None:
    queue = RequestQueue(db.store)
    first = ask(db, command="check", graph="friends")
    queue.enter()
    claim = queue.claim(first, "first")
    assert claim is not None
    copy = ask(db, command="check", graph="friends", status="running", token=claim.token)
    with queue.db.marked({"pcneoRequest": claim.token}).transaction({}) as work:
        assert work.touch_graph("friends") is not None
        assert queue.claim(copy, "second") is not None
        work.commit()
    assert look(db, first)["token"] == claim.token


def test_a_lease_and_a_pause_beyond_what_services_write_do_not_count(db: Database) -> None:
    queue = RequestQueue(db.store)
    held = ask(db, command="check", graph="friends", status="running")
    waits = ask(db, command="check", graph="friends", status="requested")
    db.run(
        "MATCH (q:PCohesionRequest) SET q.leaseUntil = datetime() + duration('P1Y'), q.requestedAt = datetime(), "
        "q.notBefore = datetime() + duration('P1Y')"
    )
    assert {id for id, _ in queue.poll().large} == {held, waits}
    assert queue.claim(held, "worker")
    assert queue.claim(waits, "worker")
    assert queue.poll().large == []
