"""The model under the simulation against a real server: the same statements in the same order, rows and what is left.

Two transactions take turns. After each statement both sides report what it returned, or that it waits for the
other transaction, or how it failed. If the two deadlock, the schedule ends: the server chooses which has to give way.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from graphs import Database
from lengths import examples
from neo4j.exceptions import Neo4jError
from simulation.database import DEADLOCK, FailureError
from simulation.database import Database as Model
from simulation.menus import MENUS, Known, Menu, Moment
from simulation.standins import new_world
from simulation.statements import NAMES, STATEMENTS
from simulation.statements.requests import PRODUCED
from simulation.statements.runs import MEMBERS, OWNER, RETIRED
from simulation.world import Process, Task

from pcneo.store.statements import load_statement

SCHEDULES = 40
BLOCKED = "waits"


class ModelSide:
    """Two transactions of the model."""

    def __init__(self, known: Known) -> None:
        self.world = new_world("one order")
        self.db = Model(self.world)
        self.db.breath = 0.0
        for label, values in known:
            node = self.db.new_node(label)
            node.props = {
                name: self.world.now + value.seconds if isinstance(value, Moment) else value
                for name, value in values.items()
            }
            self.db.nodes[label].append(node)
        process = Process("model")
        self._transactions = [self.db.begin(process) for _ in range(2)]
        self._process = process
        self._outcome: list[Any] = [None, None]
        self._tasks: list[Task | None] = [None, None]

    def send(self, which: int, name: str, parameters: dict[str, Any]) -> None:
        transaction = self._transactions[which]

        def work() -> Any:
            if name == "commit":
                transaction.commit()
                return []
            return STATEMENTS[name](transaction, **parameters)

        def run() -> None:
            try:
                self._outcome[which] = transaction.executing(work)
            except FailureError as error:
                self._outcome[which] = error.code

        self._outcome[which] = BLOCKED
        self._tasks[which] = self.world.spawn(self._process, run, str(which))

    def outcome(self, which: int) -> Any:
        self.world.settle()
        return plain(self._outcome[which])

    def left(self) -> list[Any]:
        labels = sorted(label for label, nodes in self.db.nodes.items() if nodes)
        return sorted(((label, plain(dict(props))) for label in labels for props in self.db.all(label)), key=repr)


class ServerSide:
    """Two transactions of a server."""

    def __init__(self, db: Database, known: Known, pool: ThreadPoolExecutor) -> None:
        self._db = db
        db.run("MATCH (n) DETACH DELETE n")
        db.run(PUT, nodes=[_as_parameters(label, values) for label, values in known])
        self._pool = pool
        self._sessions = [db.driver.session(database=db.name) for _ in range(2)]
        self._transactions = [
            session.begin_transaction(metadata={"side": str(number)}, timeout=60)
            for number, session in enumerate(self._sessions)
        ]
        self._futures: list[Future[Any] | None] = [None, None]

    def send(self, which: int, name: str, parameters: dict[str, Any]) -> None:
        transaction = self._transactions[which]

        def run() -> Any:
            try:
                if name == "commit":
                    transaction.commit()
                    return []
                statement = load_statement(name)
                names: dict[str, Any] = {declared.name: NAMES[declared.name] for declared in statement.names}
                return [dict(record.items()) for record in transaction.run(statement.render(names), parameters)]
            except Neo4jError as error:
                transaction.close()
                return error.code

        self._futures[which] = self._pool.submit(run)

    def outcome(self, which: int) -> Any:
        future = self._futures[which]
        assert future is not None
        until = time.monotonic() + 20
        pause = 0.01
        while not future.done():
            time.sleep(pause)
            pause = min(0.1, 2 * pause)
            if not future.done() and pause > 0.05 and self._is_blocked(which):
                return BLOCKED
            assert time.monotonic() < until, "it neither returns nor waits"
        return plain(future.result())

    def _is_blocked(self, which: int) -> bool:
        text = "SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.side = $side RETURN status"
        rows = self._db.run(text, side=str(which))
        return bool(rows) and str(rows[0][0]).startswith("Blocked")

    def left(self) -> list[Any]:
        rows = self._db.run(LEFT)
        nodes = []
        for labels, props, owners, members, produced in rows:
            label = next(label for label in labels if label != "PCohesionRetired")
            more = {RETIRED: True} if "PCohesionRetired" in labels else {}
            if label == "PCohesion":
                more |= {OWNER: owners[0] if owners else 9, MEMBERS: sorted(members)}
            elif produced:
                more |= {PRODUCED: sorted(produced)}
            nodes.append((label, plain({**props, **more})))
        return sorted(nodes, key=repr)

    def close(self) -> None:
        for transaction in self._transactions:
            transaction.close()
        for session in self._sessions:
            session.close()


PUT = """
UNWIND $nodes AS node
CREATE (n:$(node.labels))
SET n = node.values
WITH n, node
CALL (n, node) {
  UNWIND node.owners AS key
  MATCH (v:Person {id: key})
  CREATE (v)-[:HAS_COHESION]->(n)
}
CALL (n, node) {
  UNWIND node.members AS key
  MATCH (v:Person {id: key})
  CREATE (v)-[:IN_COHESION]->(n)
}
CALL (n, node) {
  UNWIND node.produced AS entry
  MATCH (r:PCohesionRun {id: entry[0]})
  CREATE (n)-[:PRODUCED {version: entry[1]}]->(r)
}
"""
LEFT = """
MATCH (n)
RETURN labels(n), properties(n), COLLECT { MATCH (v)-[:HAS_COHESION]->(n) RETURN v.id },
       COLLECT { MATCH (v)-[:IN_COHESION]->(n) RETURN v.id },
       COLLECT { MATCH (n)-[e:PRODUCED]->(r) RETURN [r.id, e.version] }
"""


def _as_parameters(label: str, values: dict[str, Any]) -> dict[str, Any]:
    """A node as the server takes it: relationships and second labels apart, and times as times."""
    now = datetime.now(UTC)
    plain_ones = {name: value for name, value in values.items() if not name.startswith("(")}
    return {
        "labels": [label, "PCohesionRetired"] if RETIRED in values else [label],
        "values": {
            name: now + timedelta(seconds=value.seconds) if isinstance(value, Moment) else value
            for name, value in plain_ones.items()
        },
        "owners": [values[OWNER]] if OWNER in values else [],
        "members": list(values.get(MEMBERS, ())),
        "produced": [list(entry) for entry in values.get(PRODUCED, ())],
    }


TIMES = {
    "lockedAt",
    "heldAt",
    "at",
    "requestedAt",
    "startedAt",
    "finishedAt",
    "leaseUntil",
    "notBefore",
    "busySince",
    "replacedAt",
}


def plain(value: Any) -> Any:
    """A value without what cannot be the same on both sides: times and the server's own names."""
    if isinstance(value, dict):
        kept = {name: plain(item) for name, item in value.items() if name != "element" and item is not None}
        if "labels" in kept:  # a row of the ledger: pairs of name and value, in no order
            kept["properties"] = plain(dict(kept["properties"]))
        if "names" in kept:  # a server lists them in no order
            kept["names"] = sorted(kept["names"])
        return {name: "a time" if name in TIMES else kept[name] for name in sorted(kept)}
    if isinstance(value, list | tuple):
        items = [plain(item) for item in value]
        return sorted(items, key=repr) if items and isinstance(items[0], dict) else items
    return value


@contextmanager
def both_sides(db: Database, known: Known, pool: ThreadPoolExecutor) -> Iterator[tuple[ModelSide, ServerSide]]:
    model, server = ModelSide(known), ServerSide(db, known, pool)
    try:
        with model.world.entered():
            yield model, server
    finally:
        server.close()


@pytest.fixture(name="db")
def without_plans(db: Database) -> Database:
    forget_plans(db)
    return db


def forget_plans(db: Database) -> None:
    """Have statements planned anew: a plan of another time finds the same rows and may take other locks."""
    db.run("CALL db.clearQueryCaches()")


@pytest.mark.parametrize("menu", MENUS)
def test_the_model_and_a_server_return_the_same_and_leave_the_same(db: Database, menu: str) -> None:
    statements, _ = MENUS[menu]
    seen: Counter[str] = Counter()
    with ThreadPoolExecutor(2) as pool:
        for number in range(examples(SCHEDULES)):
            try:
                _compare(db, menu, number, pool, seen)
            except AssertionError:  # a difference that is not the plan's comes again
                forget_plans(db)
                _compare(db, menu, number, pool, seen)
    print(dict(seen))
    assert seen[BLOCKED] > 0
    assert {statement(random.Random(0))[0] for statement in statements} <= set(seen)


def _compare(db: Database, menu: str, number: int, pool: ThreadPoolExecutor, seen: Counter[str]) -> None:
    statements, known = MENUS[menu]
    with both_sides(db, known, pool) as (model, server):
        _play(random.Random(f"{menu} {number}"), statements, model, server, seen)
        assert model.left() == server.left(), f"schedule {number}"


def _play(rng: random.Random, statements: list[Menu], model: ModelSide, server: ServerSide, seen: Counter[str]) -> None:
    open_ones, blocked, said = [0, 1], set[int](), list[str]()
    left = {which: rng.randint(1, 4) for which in open_ones}
    while ready := [which for which in open_ones if which not in blocked]:
        which = rng.choice(ready)
        left[which] -= 1
        name, parameters = rng.choice(statements)(rng) if left[which] >= 0 else ("commit", {})
        said.append(f"{which}: {name} {parameters}")
        model.send(which, name, parameters)
        server.send(which, name, parameters)
        for asked in (which, *blocked):
            ours, theirs = model.outcome(asked), server.outcome(asked)
            for _ in range(3):  # what a commit lets go is taken a moment later
                if ours == theirs:
                    break
                time.sleep(0.1)
                theirs = server.outcome(asked)
            if DEADLOCK in (ours, theirs):
                seen[DEADLOCK] += 1
                return
            assert ours == theirs, "\n".join([*said, f"transaction {asked}: model {ours}, server {theirs}"])
            seen[name] += asked == which
            seen[str(ours) if isinstance(ours, str) else "rows"] += 1
            if ours == BLOCKED:
                blocked.add(asked)
                continue
            blocked.discard(asked)
            if asked in open_ones and (isinstance(ours, str) or (asked == which and name == "commit")):
                open_ones.remove(asked)
