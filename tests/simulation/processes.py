"""A stage: a world, its database, and processes that are started again after a kill."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, LiteralString, cast

import neo4j

from pcneo.errors import PcneoError
from pcneo.store.database import Database
from pcneo.store.failures import translated
from pcneo.store.transaction import in_one_trip
from simulation import database, driver
from simulation.standins import new_world
from simulation.world import Process

__all__ = ["LARGE", "MOST_STEPS", "Stage"]

LARGE = 0.1
"""The share of large schedules: most of what goes wrong needs few of everything."""
MOST_STEPS = 20_000
"""Beyond which a schedule has no end."""


class Stage:
    """What a schedule happens on; a subclass says what its processes do, and what must hold.

    Attributes:
        world: clock and chance.
        db: the database.
        seen: what happened, for whoever wants to know that something does.
    """

    replaced: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """By module, names that stand for something made up on this stage."""

    def __init__(self, seed: str, *, traced: bool = False) -> None:
        self.world = new_world(seed, traced=traced)
        self.db = database.Database(self.world)
        self.faults = driver.Faults.drawn(self.world)
        self.seen: Counter[str] = Counter()
        self._busy = 0
        self.world.stage = self

    def put(self, label: str, **values: Any) -> database.Node:
        """Have something in the database from the beginning."""
        node = self.db.new_node(label)
        node.props = values
        self.db.nodes[label].append(node)
        return node

    def connected(self, process: Process) -> Database:
        """The database as a process sees it: the shipped one, on the simulated driver."""
        return Database(cast("neo4j.Driver", driver.Driver(self.db, process, self.faults)), "neo4j")

    @staticmethod
    def read(db: Database, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement that is the simulation's own."""
        with translated(), db.session("READ") as session:
            return in_one_trip(session, cast("LiteralString", statement), parameters)

    def begin(self, name: str, work: Sequence[Any]) -> None:
        """Begin a process that does one piece of work after another."""
        process, left = Process(name), list(work)
        self._busy += 1

        def live() -> None:
            db = self.connected(process)
            while left and not process.is_dead:
                self.work(db, left.pop(0))
            if process.is_dead:  # in its last piece of work, and it is begun anew already
                return
            process.on_kill.clear()
            self._busy -= 1

        def again() -> None:
            self.seen["killed"] += 1
            self._busy -= 1
            self.begin(f"{name}'", left)

        process.on_kill.append(again)
        self.world.spawn(process, live, "main")

    def hold(self, db: Database, label: str) -> None:
        """Hold somebody's lock on a node of a label, in a transaction that is left open for a while."""
        nodes = self.db.nodes[label]
        if not nodes:
            return
        held = self.world.rng.choice(nodes)
        with contextlib.suppress(PcneoError), translated(), db.session("WRITE") as session:
            opened = cast("Any", session.begin_transaction())
            opened.lock(held)
            self.world.sleep(self.world.rng.choice((0.5, 4.0, 15.0)))
            opened.close()

    def work(self, db: Database, item: Any) -> None:
        """Do one piece of work."""
        raise NotImplementedError

    def at_the_end(self) -> None:
        """Look at what is left."""
        raise NotImplementedError

    def is_over(self) -> bool:
        """Whether nobody has work left."""
        return self._busy == 0

    def run(self) -> int:
        """Run to the end, look, and return how many steps it took."""
        self.world.run(self.is_over, MOST_STEPS)
        self.at_the_end()
        return self.world.steps
