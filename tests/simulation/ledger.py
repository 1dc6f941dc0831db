"""The ledger under simulation: owners set totals and make releases side by side, and are killed on the way.

What decides is `spend` and `set_total` as shipped, with the locks, watches and repeats under them. A release is made up
but for its spend; it is published once `spend` has returned, as `pcneo.release.releasing` does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, PcneoError
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import Edge
from pcneo.release import budget, spending
from pcneo.release.prepared import Prepared
from pcneo.store.database import Database, GraphRecord
from simulation.database import Change
from simulation.processes import LARGE, Stage

__all__ = ["Ledger"]

SELECTION = Selection("Person", "KNOWS", "id")
NAMES = ("friends", "friends", "friends", "pals")
"""Two names over the same data, of which one alone may have a ledger."""
KEYS = np.array([1, 2, 3])


class Ledger(Stage):
    """Two to four owners' processes, each with some work; whoever is killed begins anew with the rest."""

    def __init__(self, seed: str, *, traced: bool = False) -> None:
        super().__init__(seed, traced=traced)
        rng = self.world.rng
        self.published: list[tuple[str, str, Fraction]] = []
        self._spent: dict[str, Fraction] = {}
        self._total: dict[str, tuple[int, Fraction]] = {}
        self._ids: dict[str, tuple[str, Fraction]] = {}
        self.db.on_commit.append(self._look)
        for name in ("friends", "pals"):
            self.put("PCohesionGraph", name=name, **self.record(name), format=3)
        for key in KEYS.tolist():
            self.put("Person", id=key)
        most = 4 if rng.random() < LARGE else 3
        for number in range(rng.randint(2, most)):
            self.begin(f"owner{number}", [self._draw() for _ in range(rng.randint(2, most))])
        if rng.random() < 0.3:
            self.begin("user", ["hold"])

    @staticmethod
    def record(name: str) -> dict[str, Any]:
        """What the database knows of a graph."""
        there = {"nodeLabels": ["Person"], "relationshipTypes": ["KNOWS"], "key": "id"}
        return {**there, "fingerprintKey": name.encode().hex().ljust(64, "0")}

    def _draw(self) -> tuple[str, str, Fraction]:
        rng = self.world.rng
        name = rng.choice(NAMES)
        if rng.random() < 0.3:
            return "total", name, Fraction(rng.randint(1, 4), 2)
        return rng.choice(("release", "release", "release with a total")), name, Fraction(rng.randint(1, 4), 4)

    def work(self, db: Database, item: Any) -> None:
        """Do one piece of an owner's work."""
        if item == "hold":
            self.hold(db, "PCohesionGraph")
            return
        kind, name, epsilon = item
        try:
            if kind == "total":
                account = budget.set_total(db, graph=name, epsilon=epsilon)
                assert account.total is not None
                assert account.total.epsilon == epsilon
            else:
                self._release(db, name, epsilon, 2 * epsilon if kind == "release with a total" else None)
            self.seen[kind] += 1
        except BudgetError:
            self.seen["refused"] += 1
        except PcneoError as error:
            self.seen[type(error).__name__] += 1

    def _release(self, db: Database, name: str, epsilon: Fraction, total: Fraction | None) -> None:
        graph = GraphRecord(name, SELECTION, self.record(name)["fingerprintKey"])
        self.world.counter += 1
        prepared = cast(
            "Prepared",
            SimpleNamespace(
                id=f"release {self.world.counter}",
                graph=graph,
                run=None,
                spend=Spend("edge", epsilon, Fraction(0)),
                source=SimpleNamespace(
                    record=graph, graph=SimpleNamespace(keys=KEYS, vertex_count=3), fingerprint=None
                ),
                mechanism=Edge(epsilon=1),
                draws_answers=False,
                kept=False,
                answer_set=None,
                file="counts.json",
            ),
        )
        terms = spending.Terms(budget_epsilon=total)
        spending.enter(db, [prepared])
        spending.spend(db, [prepared], terms)
        self.world.pause()
        self.published.append((prepared.id, name, epsilon))
        if self._ids.get(prepared.id) != (name, epsilon):
            self.world.fail(f"{prepared.id} is published, and the ledger has {self._ids.get(prepared.id)}")

    # --- What must hold

    def _look(self, changes: list[Change], _metadata: Mapping[str, Any]) -> None:
        """After each commit: no total is passed, none is hidden by an earlier one, and one name has all of it."""
        fail = self.world.fail
        for node, old, new in changes:
            if node.label not in ("PCohesionRelease", "PCohesionBudget"):
                continue
            if old is not None or new is None:
                fail(f"a record of the ledger was changed: {old} became {new}")
                return
            name, epsilon = new["graph"], Fraction(new["epsilon"])
            if node.label == "PCohesionBudget":
                if new["number"] <= self._total.get(name, (0, 0))[0]:
                    fail(f"the total {new['number']} comes after {self._total[name]}")
                self._total[name] = (new["number"], epsilon)
            else:
                self._ids[new["id"]] = (name, epsilon)
                self._spent[name] = self._spent.get(name, Fraction(0)) + epsilon
        for node, *_ in changes:
            if node.label == "PCohesionRelease":
                for name, spent in self._spent.items():
                    if node.props is not None and node.props["graph"] == name and spent > self._total[name][1]:
                        fail(f"{name} has spent {spent} of {self._total[name][1]}")
        if len({*self._spent, *self._total}) > 1:
            fail(f"two names over one graph have a ledger: {self._spent}, {self._total}")

    def at_the_end(self) -> None:
        """After the last step, on the ledger as it lies there."""
        there = Counter({props["id"]: Fraction(props["epsilon"]) for props in self.db.all("PCohesionRelease")})
        for release, _, epsilon in self.published:
            assert there[release] == epsilon, f"{release} is published, and not in the ledger"
