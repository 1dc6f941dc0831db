"""Several services, killed, stopped and ended: each request is answered once, and nothing half done is visible."""

from __future__ import annotations

import random
import signal
import threading
import time
from typing import Any

import naive
import pytest
from graphs import Database, cycle
from lengths import usual_or_thorough
from services import answer, ask, configured, look, service_processes, serving, wait_until

from pcneo.graph import graph_from_rows
from pcneo.release.checking import check
from pcneo.search import search_all

pytestmark = [pytest.mark.long, pytest.mark.schema("rings")]


@pytest.fixture(name="db")
def three_graphs(db: Database) -> Database:
    """A database that knows three graphs: `ring`, whose cohesions at 2/3 are all of it, `friends` and `others`."""
    for name, label, edges in GRAPHS:
        db.put(edges, label=label)
        db.name_graph(name, label)
    return db


def some_edges(seed: int) -> list[tuple[int, int]]:
    chance = random.Random(seed)
    return [(a, b) for a in range(40) for b in range(a) if chance.random() < 0.15]


RING = 260
"""Its cohesions are four transactions, so that something is written while something is not."""
GRAPHS = [("ring", "Ring", cycle(RING)), ("friends", "Person", some_edges(1)), ("others", "Other", some_edges(2))]


def nothing_half_done(db: Database) -> None:
    """Whatever was killed, all that is seen is whole."""
    checked = check(db.store)
    assert checked.all_well, checked
    assert checked.findings == ()


def produced(db: Database, request: Any) -> int:
    return db.run("MATCH (:PCohesionRequest {id: $id})-[e:PRODUCED]->() RETURN count(e)", id=request)[0][0]


def let_lapse(db: Database, request: Any) -> None:
    """Let a lease run out now, as it would after half a minute."""
    db.run("MATCH (q:PCohesionRequest {id: $id}) SET q.leaseUntil = datetime() - duration('PT1S')", id=request)


def test_a_service_that_is_stopped_beyond_its_lease_publishes_nothing(db, server):
    """SIGSTOP in the middle of writing; another answers; continued, the first finds that it has lost the request."""
    with service_processes(server) as (stopped,):
        request = ask(db, command="annotate", graph="ring", p="2/3", search="degree")
        wait_until(lambda: db.all_hubs() > 0, "the first hubs")
        stopped.send(signal.SIGSTOP)
        claimed = look(db, request)
        if claimed["status"] == "complete":
            stopped.send(signal.SIGCONT)
            pytest.skip("it was complete before it could be stopped")
        assert claimed["status"] == "running"
        lease = "duration.inSeconds(datetime(), q.leaseUntil).seconds"  # by the clock that others go by
        assert db.run(f"MATCH (q:PCohesionRequest {{id: $id}}) RETURN {lease} <= 30", id=request) == [[True]]
        if usual_or_thorough(True, False):
            let_lapse(db, request)
        with serving(server, db.name):
            answered = answer(db, request, 300)
        stopped.send(signal.SIGCONT)
        stopped.wait_for("lost")
    assert (answered["status"], answered["attempts"]) == ("complete", 2)
    assert answered["token" if "token" in answered else "status"] in (None, "complete")
    assert answered["worker"] != claimed["worker"]
    assert look(db, request)["runs"] == answered["runs"] == {"ring@2/3:degree": 1}
    assert set(map(len, db.members("ring@2/3:degree").values())) == {RING}
    nothing_half_done(db)


@pytest.mark.parametrize("state", ["requested", "running", "writing", "complete"])
def test_killed_with_a_request_in_each_state_there_is_one_answer(db, server, state):
    with service_processes(server) as (killed,):
        graph = "ring" if state in ("running", "writing") else "friends"  # a ring takes long enough to be caught at it
        if state == "requested":
            killed.process.kill()
            request = ask(db, command="annotate", graph=graph, p="2/3", search="degree")
        else:
            request = ask(db, command="annotate", graph=graph, p="2/3", search="degree")
            wait_until(lambda: look(db, request).get("status") in ("running", "complete"), "a start")
            if state == "writing":
                wait_until(lambda: db.all_hubs() > 0, "the first hubs")
            if state == "complete":
                answer(db, request, 300)
            killed.process.kill()
        killed.process.wait()
    before = look(db, request)
    if state in ("running", "writing") and before["status"] == "complete":
        pytest.skip("it was complete before it could be killed")
    if before.get("status") == "running":
        let_lapse(db, request)
    with serving(server, db.name):
        answered = answer(db, request, 300)
    assert answered["status"] == "complete"
    assert answered["attempts"] == (1 if state in ("requested", "complete") else 2)
    assert answered["runs"] == {f"{graph}@2/3:degree": 1}
    assert produced(db, request) == 1
    nothing_half_done(db)


def test_a_request_that_ends_every_service_fails_after_three(db, server):
    """Poison: what kills three workers, or looks so, is not given to a fourth."""
    request = ask(db, command="annotate", graph="friends", p="1/2", status="running", attempts=3)
    with serving(server, db.name):
        answered = answer(db, request)
    assert answered["status"] == "failed"
    assert answered["message"].startswith("Given up: 3 attempts ended")


def test_sigterm_finishes_the_request_under_way_and_takes_no_other(db, server):
    with service_processes(server) as (ended,):
        request = ask(db, command="annotate", graph="ring", p="2/3", search="degree")
        wait_until(lambda: look(db, request).get("status") == "running", "a start")
        ended.send(signal.SIGTERM)
        later = ask(db, command="annotate", graph="friends", p="1/2")
        assert ended.process.wait(300) == 0
    assert look(db, request)["status"] in ("complete", "requested")
    assert look(db, later).get("status") in (None, "requested")


def test_sigterm_gives_back_what_takes_longer_than_the_grace(db, server):
    with service_processes(server, 1, *configured(grace=0)) as (ended,):
        request = ask(db, command="annotate", graph="ring", p="2/3", search="degree")
        wait_until(lambda: db.all_hubs() > 0, "the first hubs")
        ended.send(signal.SIGTERM)
        assert ended.process.wait(300) == 0
        said = ended.text()
    back = look(db, request)
    if back["status"] == "complete":
        pytest.skip("it was complete before it could be given back")
    assert (back["status"], back["attempts"], back["runs"]) == ("requested", 0, {})
    assert db.all_hubs() == 0
    assert said.index("ending, once the request") < said.index("removing what the request wrote request=")
    assert "Interrupt" not in said  # nobody is there
    with serving(server, db.name):
        assert answer(db, request, 300)["attempts"] == 1


def mixed(db: Database, number: int) -> dict[Any, str]:
    """Ask for many things; return the status that each must end with."""
    chance = random.Random(20261122)
    wanted: dict[Any, str] = {}
    for i in range(number):
        graph = chance.choice(["friends", "others"])
        vertices = chance.sample(range(40), chance.choice([1, 1, 2, 5]))
        properties, status = chance.choices(
            [
                (
                    {"command": "annotate", "graph": graph, "p": chance.choice([0.3, "1/2"]), "vertices": vertices},
                    "complete",
                ),
                ({"command": "annotate", "graph": graph, "p": "2/5"}, "complete"),
                ({"command": "annotate", "graph": graph, "p": 2}, "failed"),
                ({"command": "annotate", "graph": graph, "vertices": [999]}, "failed"),
                ({"command": "annotate", "graph": graph, "p": 0.3, "cancel": True}, "cancelled"),
                ({"command": "check", "run": "none@1/2"}, "failed"),
            ],
            [10, 2, 1, 1, 1, 1],
        )[0]
        wanted[ask(db, id=i, **properties)] = status
    return wanted


@pytest.mark.timeout(3_600)
def test_several_services_answer_each_request_once_though_two_are_killed(db, server):
    number = usual_or_thorough(16, 500)
    with service_processes(server, usual_or_thorough(3, 4)) as services:
        wanted = mixed(db, number)
        ended = "MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NOT NULL RETURN count(q)"
        for part, killed in ((4, services[0]), (2, services[1])):
            wait_until(lambda part=part: db.run(ended)[0][0] >= number // part, "a part of the answers", 900)
            killed.process.kill()
            killed.process.wait()
            if usual_or_thorough(True, False):
                db.run(
                    "MATCH (q:PCohesionRequest) WHERE q.worker ENDS WITH $process AND q.leaseUntil IS NOT NULL "
                    "SET q.leaseUntil = datetime() - duration('PT1S')",
                    process=f":{killed.process.pid}",
                )
        wait_until(lambda: db.run(ended)[0][0] == number, "all answers", 1800)
        logs = [service.text() for service in services]
    answers = {request: look(db, request) for request in wanted}
    assert {request: answered["status"] for request, answered in answers.items()} == wanted
    for request, answered in answers.items():
        said = sum(log.count(f" {answered['status']} request={request} ") for log in logs)
        assert said <= 1, (request, said)  # none where its service was killed before it could say so
        assert produced(db, request) == len(answered["runs"])
    nothing_half_done(db)
    for run in db.versions():
        graph, _, rest = run.partition("@")
        edges = next(edges for name, _, edges in GRAPHS if name == graph)
        plain = naive.graph_of(edges, range(40))
        fresh = search_all(graph_from_rows((v, list(plain[v])) for v in plain), rest.partition(":")[0])
        found = {c.vertex: set(c.members) for c in fresh.cohesions()}
        assert db.members(run).items() <= found.items()


def test_two_services_never_claim_the_same_request(db, server):
    """Claims of several workers at once, of many requests: each is had by one."""
    from pcneo.store.requests import RequestQueue

    for i in range(40):
        ask(db, id=i, command="annotate", graph="friends", p=2)
    RequestQueue(db.store).enter()
    had: list[Any] = []

    def work(name: str) -> None:
        queue = RequestQueue(db.store)
        while waiting := queue.poll(3).large:
            had.extend(id for id, _ in waiting if queue.claim(id, name))

    workers = [threading.Thread(target=work, args=(f"worker {i}",)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
    assert sorted(had) == list(range(40))


def test_a_lost_claim_can_neither_answer_nor_renew_nor_give_back(db):
    from pcneo.store.requests import Answer, LostClaimError, RequestQueue

    queue = RequestQueue(db.store)
    request = ask(db, command="annotate", graph="friends", p=2)
    queue.enter()
    first = queue.claim(request, "first")
    assert first is not None
    assert queue.claim(request, "too early") is None
    let_lapse(db, request)
    second = queue.claim(request, "second")
    assert second is not None
    for attempt in (
        lambda: queue.finish(first, Answer("complete", "late")),
        lambda: queue.renew(first, 0.5),
        lambda: queue.give_back(first, "late", attempts=0),
        lambda: queue.watch(first),
    ):
        with pytest.raises(LostClaimError):
            attempt()
    queue.renew(second, 0.5)
    assert (look(db, request)["worker"], look(db, request)["progress"]) == ("second", 0.5)
    db.run("MATCH (q:PCohesionRequest) DETACH DELETE q")
    with pytest.raises(LostClaimError):
        queue.watch(second)


def test_the_service_outlives_a_deleted_request(db, server):
    with serving(server, db.name):
        request = ask(db, command="annotate", graph="ring", p="2/3", search="degree")
        wait_until(lambda: db.all_hubs() > 0, "the first hubs")
        db.run("MATCH (q:PCohesionRequest {id: $id}) DETACH DELETE q", id=request)
        time.sleep(2)
        assert answer(db, ask(db, command="annotate", graph="friends", p="1/2"), 300)["status"] == "complete"
    nothing_half_done(db)
