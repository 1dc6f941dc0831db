"""`GraphHandle.ask` and that of `pcneo.aio`: an application asks, waits, and loads no compiled code for it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import neo4j
import pytest
from graphs import Database
from neo4j_servers import Server
from services import look, serving

import pcneo
from pcneo.errors import ConnectionFailedError, ParameterError, RequestError
from pcneo.service import placing
from pcneo.service.placing import ask

FRIENDS = [(0, 1), (1, 2), (0, 2), (2, 3)]


@pytest.fixture(name="db")
def known_friends(db: Database) -> Database:
    db.put(FRIENDS)
    db.name_graph("friends")
    return db


@pytest.fixture
def service(server: Server, db: Database) -> Iterator[Any]:
    with serving(server, db.name, allow_clean=True) as running:
        yield running


@pytest.mark.parametrize("p", ["1/2", 0.5, Fraction(1, 2), Decimal("0.5"), ["1/2", 0.5]])
def test_an_application_asks_and_gets_the_runs(db, service, p):
    seen: list[tuple[str, int, int | None]] = []
    answered = ask(db.store, graph="friends", p=p, vertices=[1], progress=lambda *at: seen.append(at))
    assert answered.runs == (("friends@1/2:vertices", 1),)
    assert db.members("friends@1/2:vertices") == {1: {0, 1}} or set(db.members("friends@1/2:vertices")) == {1}
    assert look(db, answered.id)["status"] == "complete"
    assert all(stage == "waiting" and 0 <= done <= 100 and total == 100 for stage, done, total in seen)


def test_an_own_identifier_asks_once(db, service):
    first = ask(db.store, graph="friends", p=0.5, request="nightly", by="cron")
    again = ask(db.store, graph="friends", p=0.5, request="nightly", by="cron")
    assert first == again
    assert db.run("MATCH (q:PCohesionRequest) RETURN q.id, q.attempts, q.by") == [["nightly", 1, "cron"]]


def test_what_fails_raises_with_the_services_message(db, service):
    with pytest.raises(RequestError, match="no vertex 99") as raised:
        ask(db.store, graph="friends", p=0.5, vertices=[99])
    assert raised.value.data["status"] == "failed"
    assert look(db, raised.value.data["id"])["status"] == "failed"


def test_an_empty_list_and_a_p_out_of_range_are_refused_before_anything_is_asked(db):
    with pytest.raises(ParameterError, match="vertices is an empty list"):
        ask(db.store, graph="friends", vertices=[])
    with pytest.raises(ParameterError, match="p must be a number between 0 and 1"):
        ask(db.store, graph="friends", p=2)
    for vertices, request, says in (
        ([2**63], None, "9223372036854775808 is not a key"),
        ([1, "a"], None, "both integers and text"),
        (["\ud800"], None, "is not a key"),
        ([1], 2**63, "is not a key"),
    ):
        with pytest.raises(ParameterError, match=says):
            ask(db.store, graph="friends", vertices=vertices, request=request)
    assert db.run("MATCH (q:PCohesionRequest) RETURN q") == []


def test_nobody_answers_in_time_which_is_said_once_and_the_request_is_cancelled(db, monkeypatch, caplog):
    monkeypatch.setattr(placing, "TAKEN_SECONDS", 0.2)
    with pytest.raises(RequestError, match=r"not answered within 1 seconds") as raised:
        ask(db.store, graph="friends", p=0.5, timeout=1)
    assert look(db, raised.value.data["id"])["cancel"] is True
    (said,) = [record for record in caplog.records if "No service has taken request" in record.message]
    assert (said.name, said.levelname) == ("pcneo", "WARNING")


def test_a_request_that_a_service_has_taken_may_wait(caplog):
    for row in ({"status": "running", "message": None}, {"status": "requested", "message": "Another is writing."}):
        assert placing.Patience("ann-1", None, 0.0).pause(1_000.0, row) > 0
    assert caplog.text == ""


def test_an_interrupted_wait_cancels_the_request(db):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(db.store, graph="friends", p=0.5, request=7, progress=interrupt)
    assert look(db, 7)["cancel"] is True


def test_check_and_clean_are_asked_the_same_way(db, service):
    ask(db.store, graph="friends", p=0.5)
    checked = ask(db.store, command="check", run="friends@1/2")
    assert checked.message == "friends@1/2: graph as read, memberships as written."
    with pytest.raises(RequestError, match="There is no run 'friends@1/3'"):
        pcneo.Db(db.store).ask("check", run="friends@1/3")
    assert pcneo.Db(db.store).ask("clean", run="friends@1/2", by="ann").runs == ()
    assert db.versions() in ({}, {"friends@1/2": 0})


def test_a_database_that_is_reached_by_its_address_is_asked_without_blocking_too(db, server, service, monkeypatch):
    async def check() -> str:
        auth = (server.username, server.password)
        async with await pcneo.aio.connect(server.uri, auth=auth, database=db.name) as adb:
            assert (repr(adb), repr(adb.graph("friends"))) == (f"<AsyncDb {db.name}>", "<AsyncGraph 'friends'>")
            answered = await adb.ask("annotate", graph="friends", p="0.5")
            checked = await adb.ask("check", run=answered.runs[0][0])
            return checked.message

    async def connect(**where: Any) -> None:
        await pcneo.aio.connect(**where)

    assert asyncio.run(check()) == "friends@1/2: graph as read, memberships as written."
    with pytest.raises(ConnectionFailedError, match=r"No Neo4j answered at bolt://127\.0\.0\.1:9\."):
        asyncio.run(connect(uri="bolt://127.0.0.1:9", auth=("neo4j", "x")))
    monkeypatch.delenv("NEO4J_URI", raising=False)
    with pytest.raises(ConnectionFailedError, match="NEO4J_URI is not set"):
        asyncio.run(connect())


def test_several_tasks_ask_at_once_without_blocking_the_loop(db, server, service):
    async def ask_all() -> list[Any]:
        auth = (server.username, server.password)
        async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth) as driver:
            adb = await pcneo.aio.connect(driver=driver, database=db.name)
            tasks = [adb.graph("friends").ask(p=0.5, vertices=v) for v in range(3)]
            wrong = adb.graph("foes").ask()
            return await asyncio.gather(*tasks, wrong, return_exceptions=True)

    *answers, wrong = asyncio.run(ask_all())
    assert {run for answered in answers for run, _ in answered.runs} == {"friends@1/2:vertices"}
    assert isinstance(wrong, RequestError)
    assert set(db.members("friends@1/2:vertices")) == {0, 1, 2}


def cancel_once_it_is_there(db, server):
    async def give_up() -> None:
        auth = (server.username, server.password)
        async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth) as driver:
            adb = await pcneo.aio.connect(driver=driver, database=db.name)
            task = asyncio.create_task(adb.graph("friends").ask(p=0.5, request="given up"))
            while not db.run("MATCH (q:PCohesionRequest {id: 'given up'}) RETURN 1"):
                await asyncio.sleep(0.05)
            task.cancel()
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(give_up())


def test_a_cancelled_task_cancels_its_request(db, server):
    cancel_once_it_is_there(db, server)
    assert look(db, "given up")["cancel"] is True


def test_a_task_that_is_cancelled_before_it_knows_its_request_is_there_cancels_it_too(db, server, monkeypatch):
    send = pcneo.aio.AsyncDb._rows

    async def answered_late(adb: Any, step: Any) -> Any:
        rows = await send(adb, step)
        if step.name == "place_request":
            await asyncio.sleep(60)
        return rows

    monkeypatch.setattr(pcneo.aio.AsyncDb, "_rows", answered_late)
    cancel_once_it_is_there(db, server)
    assert look(db, "given up")["cancel"] is True


def test_an_interruption_while_a_request_is_placed_cancels_it(db, monkeypatch):
    send = db.store.write

    def interrupted(statement: str, **parameters: Any) -> Any:
        rows = send(statement, **parameters)
        if statement == "place_request":
            raise KeyboardInterrupt
        return rows

    monkeypatch.setattr(db.store, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(db.store, graph="friends", p=0.5, request="given up")
    assert look(db, "given up")["cancel"] is True


ASK = """
import sys, pcneo
from pcneo import aio
uri, user, password, database = sys.argv[1:]
with pcneo.connect(uri, auth=(user, password), database=database) as db:
    print(db.graph("friends").ask(p=0.5).runs)
heavy = {"numba", "llvmlite", "networkx", "opendp", "matplotlib", "pcneo.kernels"} & set(sys.modules)
assert not heavy, heavy
"""


def test_asking_loads_no_compiled_code(db, server, service):
    done = subprocess.run(
        [sys.executable, "-c", ASK, server.uri, server.username, server.password, db.name],
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(('friends@1/2', 1),)\n"
