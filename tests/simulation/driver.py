"""What stands in for Neo4j's driver: sessions and transactions of the model, over a connection where things go wrong.

Tests of behaviour run on a real Neo4j. This is the one exception to that rule: it exists to try orders of events that
no server can be made to go through, and decides nothing about what a statement means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from neo4j import Query
from neo4j.exceptions import IncompleteCommit, Neo4jError, ServiceUnavailable

from simulation.database import Database, FailureError, Node, Transaction
from simulation.statements import STATEMENTS, name_of
from simulation.world import Killed, Process, World

__all__ = ["Driver", "Faults"]

NOTICED = (0.0, 0.03, 0.03, 4.0)
"""Seconds until the server sees that a connection is gone."""
STOPPED = (0.5, 3.0, 12.0, 35.0, 70.0)
"""Seconds for which a process is stopped."""
DOWN = (0.0, 2.0, 20.0)
"""Seconds for which a server is down that was killed."""


@dataclass
class Faults:
    """How often something goes wrong, as shares of all steps.

    Attributes:
        kill, stop: the process that makes the step is killed, or stopped.
        cut: its connection breaks.
        lost_commit: the connection breaks around a commit: before, after, or so that it comes late.
        restart: the server is killed, and comes back.
        late: the time passes.
        sleep: a process is stopped, and some of its connections are gone when it wakes, as of a laptop.
        at_a_step: any of those that come at any step.
    """

    kill: float = 0.0
    stop: float = 0.0
    cut: float = 0.0
    lost_commit: float = 0.0
    restart: float = 0.0
    late: float = 0.0
    sleep: float = 0.0

    def __post_init__(self) -> None:
        self.at_a_step = self.kill + self.stop + self.sleep + self.late + self.restart

    @classmethod
    def drawn(cls, world: World) -> Faults:
        """Much of some, nothing of others."""
        rng = world.rng
        rates = {name: rng.choice((0.0, 0.0, 0.01, 0.04)) for name in ("kill", "stop", "cut", "late", "sleep")}
        return cls(**rates, lost_commit=rng.choice((0.0, 0.0, 0.05, 0.2)), restart=rng.choice((0.0, 0.0, 0.0, 0.004)))


class Rows(list[dict[str, Any]]):
    """What a statement returns."""

    def single(self, *, strict: bool) -> dict[str, Any]:
        assert strict
        (row,) = self
        return row

    def consume(self) -> object:
        return SimpleNamespace(database="neo4j")


class Driver:
    """As `neo4j.Driver`, for one process."""

    execute_query_bookmark_manager = None

    def __init__(self, database: Database, process: Process, faults: Faults) -> None:
        self.database = database
        self.process = process
        self.faults = faults

    def session(self, **_: object) -> Session:
        return Session(self)

    def close(self) -> None:
        """Nothing is kept."""

    def call(self, what: str, transaction: Transaction, work: Callable[[], Any], *, commits: bool = False) -> Any:
        """Have the server do something in a transaction: it is on its way, it is done, and so the client hears."""
        db, world, faults = self.database, self.database.world, self.faults
        task = world.current
        assert task is not None
        if self.process.is_dead:
            raise Killed
        world.say(what)
        if faults.at_a_step and world.rng.random() < faults.at_a_step:
            self._strike()
        world.pause()
        breaks = faults.cut + faults.lost_commit if commits else faults.cut
        if db.is_down or (breaks and world.rng.random() < breaks):
            return self._lose(transaction, work, commits=commits)
        task.at_server = True
        try:
            result = transaction.executing(work)
        except FailureError as error:
            raise self._translated(error, commits) from None
        finally:
            task.at_server = False
        world.pause()
        return result

    def _strike(self) -> None:
        faults, world = self.faults, self.database.world
        strikes = (self._kill, self._stop, self._sleep, self._pass_time, self._restart)
        shares = (faults.kill, faults.stop, faults.sleep, faults.late, faults.restart)
        world.rng.choices(strikes, shares)[0]()

    def _kill(self) -> None:
        world = self.database.world
        world.say(f"KILL {self.process.name}")
        world.kill(self.process)
        self.database.lose(self.process, self._noticed)
        raise Killed

    def _stop(self) -> None:
        world = self.database.world
        world.say(f"STOP {self.process.name}")
        world.stop(self.process, world.rng.choice(STOPPED))

    def _sleep(self) -> None:
        world = self.database.world
        world.say(f"SLEEP {self.process.name}")
        world.stop(self.process, world.rng.choice(STOPPED))
        for transaction in [other for other in self.database.open if other.process is self.process]:
            if world.rng.random() < 0.5:
                transaction.lose()

    def _pass_time(self) -> None:
        world = self.database.world
        world.say("time passes")
        world.now += world.rng.choice(STOPPED)

    def _restart(self) -> None:
        world = self.database.world
        world.say("RESTART of the server")
        self.database.restart(world.rng.choice(DOWN))

    def _noticed(self) -> float:
        return self.database.world.rng.choice(NOTICED)

    def _lose(self, transaction: Transaction, work: Callable[[], Any], *, commits: bool) -> Any:
        """The connection breaks: nothing has arrived, or a commit has, now or later."""
        db, world = self.database, self.database.world
        how = world.rng.choice(("not", "done", "late")) if commits and not db.is_down else "not"
        world.say(f"the connection breaks ({how} arrived)")
        transaction.is_lost = True

        def arrive() -> None:
            world.sleep(world.rng.choice(NOTICED) if how == "late" else 0.0)
            try:
                transaction.executing(work)
            except FailureError:
                return

        if how == "not":
            transaction.drop(self._noticed())
        elif how == "done":
            arrival = world.spawn(db.server, arrive, "arrival")
            world.join(arrival)
        else:
            world.spawn(db.server, arrive, "arrival")
        raise IncompleteCommit("lost") if commits else ServiceUnavailable("lost")

    def _translated(self, error: FailureError, commits: bool) -> Exception:
        if error.code == "restart":
            return IncompleteCommit("restart") if commits else ServiceUnavailable("restart")
        return Neo4jError._hydrate_neo4j(code=error.code, message="as the server says")  # type: ignore[attr-defined]


class Session:
    """As `neo4j.Session`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._opened: list[DriverTransaction] = []

    def begin_transaction(
        self, metadata: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> DriverTransaction:
        if self._driver.process.is_dead:
            raise Killed
        opened = DriverTransaction(self._driver, self._driver.database.begin(self._driver.process, metadata, timeout))
        self._opened.append(opened)
        return opened

    def run(self, query: str | Query, parameters: Mapping[str, Any]) -> Rows:
        """Run a statement that reads in a transaction that the server ends itself."""
        if self._driver.process.is_dead:
            raise Killed
        text, metadata = (query, None) if isinstance(query, str) else (query.text, query.metadata)
        opened = DriverTransaction(self._driver, self._driver.database.begin(self._driver.process, metadata))
        try:
            return opened.run(text, parameters)
        finally:
            opened.transaction.rollback()

    def close(self) -> None:
        """Roll back what has not been committed."""
        for opened in self._opened:
            opened.close()

    def __exit__(self, *_: object) -> None:
        """Cut the connection."""
        for opened in self._opened:
            opened.transaction.drop(0.0)


class DriverTransaction:
    """As `neo4j.Transaction`."""

    def __init__(self, driver: Driver, transaction: Transaction) -> None:
        self._driver = driver
        self.transaction = transaction

    def run(self, text: str, parameters: Mapping[str, Any] | None = None) -> Rows:
        name, values = name_of(text), parameters or {}
        if name == "lock_requests":
            self._driver.database.note_tried(values["ids"])

        def work() -> Rows:
            return Rows(STATEMENTS[name](self.transaction, **values))

        return self._driver.call(name, self.transaction, work)

    def lock(self, node: Node) -> None:
        """Hold a node as somebody does who writes to it in a browser."""
        self._driver.call("somebody's lock", self.transaction, lambda: self.transaction.lock(node))

    def do(self, what: str, work: Callable[[], Any]) -> None:
        """Write as somebody does in a browser."""
        self._driver.call(what, self.transaction, work)

    def commit(self) -> None:
        self._driver.call("commit", self.transaction, self.transaction.commit, commits=True)

    def close(self) -> None:
        """Roll back what has not been committed; over a broken connection nothing is sent."""
        if not (self._driver.process.is_dead or self.transaction.is_lost):
            self.transaction.rollback()
