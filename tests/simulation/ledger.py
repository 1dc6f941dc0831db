"""The ledger under simulation: owners set totals and make releases side by side, and are killed on the way.

What decides is `spend`, `set_total`, `same` and `forget` as shipped, with the locks, watches and repeats under them.
Only the spend of a release is real; it is published once `spend` has returned, as `pcneo.release.releasing` does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from pcneo.basics.run_record import RunRecord
from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, PcneoError
from pcneo.graph import secret_mark
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import Edge
from pcneo.release import budget, ledger_mending, spending
from pcneo.release.prepared import Prepared
from pcneo.store.database import Database, GraphRecord
from pcneo.store.lock import GraphLock
from simulation.database import Change, Node, Props
from simulation.processes import LARGE, Stage

__all__ = ["Ledger", "known_as", "made_up_release"]

NAMES = ("friends", "friends", "friends", "pals", "old", "old")
"""Two names over the same data, of which one alone may have a ledger, and a third over other data."""
DATA = {"friends": ("KNOWS", (1, 2, 3)), "pals": ("KNOWS", (1, 2, 3)), "old": ("LIKES", (4, 5))}
"""The relationship type and the keys of each."""
RECORDS = ("PCohesionBudget", "PCohesionRelease")
BY_HAND = ("same", "same", "forget", "discard")
"""What owners do seldom: count one name on as another, forget a ledger, free a name that is not used."""


def known_as(name: str) -> dict[str, Any]:
    """What the database knows of a graph."""
    there = {"nodeLabels": ["Person"], "relationshipTypes": [DATA[name][0]], "key": "id"}
    return {"name": name, **there, "fingerprintKey": name.encode().hex().ljust(64, "0"), "format": 3}


def made_up_release(id: str, graph: str, epsilon: Fraction, run: RunRecord | None = None) -> Prepared:
    """A release of a graph, and of a run where it is one of groups."""
    types, keys = DATA[graph]
    record = GraphRecord(graph, Selection("Person", types, "id"), known_as(graph)["fingerprintKey"])
    arrays = SimpleNamespace(keys=np.array(keys), vertex_count=len(keys))
    on_groups = run and SimpleNamespace(
        id=run.id, version=run.version, search=run.search, membership_hash=f"{run.id} {run.version}"
    )
    return cast(
        "Prepared",
        SimpleNamespace(
            id=id,
            graph=record,
            run=on_groups,
            spend=Spend("edge", epsilon, Fraction(0)),
            source=SimpleNamespace(record=record, graph=arrays, fingerprint=None),
            mechanism=Edge(epsilon=1),
            draws_answers=False,
            kept=False,
            answer_set=None,
            given=None,
            file="counts.json",
        ),
    )


class Ledger(Stage):
    """Two to four owners' processes, each with some work; whoever is killed begins anew with the rest."""

    def __init__(self, seed: str, *, traced: bool = False) -> None:
        super().__init__(seed, traced=traced)
        rng = self.world.rng
        self.published: list[tuple[str, Fraction]] = []
        self._recorded: dict[str, Fraction] = {}
        self._forgotten: set[str] = set()
        self._made: dict[Node, str] = {}
        self._there: dict[Node, Props] = {}
        self.db.on_commit.append(self._look)
        for name in DATA:
            if rng.random() < 0.8:  # others are entered by their first release
                self.put("PCohesionGraph", **known_as(name))
        for key in range(1, 6):
            self.put("Person", id=key)
        most = 4 if rng.random() < LARGE else 3
        for number in range(rng.randint(2, most)):
            self.begin(f"owner{number}", [self._draw() for _ in range(rng.randint(2, most))])
        if rng.random() < 0.3:
            self.begin("user", ["hold"])

    def _draw(self) -> tuple[str, str, Fraction]:
        rng = self.world.rng
        name = rng.choice(NAMES)
        if rng.random() < 0.15:
            return rng.choice(BY_HAND), name, Fraction(0)
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
            elif kind in BY_HAND:
                getattr(self, f"_{kind}")(db, name)
            else:
                self._release(db, name, epsilon, 2 * epsilon if kind == "release with a total" else None)
            self.seen[kind] += 1
        except BudgetError:
            self.seen["refused"] += 1
        except PcneoError as error:
            self.seen[type(error).__name__] += 1

    def _release(self, db: Database, name: str, epsilon: Fraction, total: Fraction | None) -> None:
        self.world.counter += 1
        prepared = made_up_release(f"release {self.world.counter}", name, epsilon)
        terms = spending.Terms(budget_epsilon=total)
        spending.enter(db, [prepared])
        spending.spend(db, [prepared], terms)
        self.world.pause()
        while self.db.is_half_done:
            self.world.pause()
        self.published.append((prepared.id, epsilon))
        if self._recorded.get(prepared.id) != epsilon:
            self.world.fail(f"{prepared.id} is published, and the ledger has {self._recorded.get(prepared.id)}")

    def _same(self, db: Database, name: str) -> None:
        """Count one name on as another that has other data: of two over the same data one has no ledger."""
        ledger_mending.same(db, graph=name, known_as="old" if name != "old" else "friends")

    def _forget(self, db: Database, name: str) -> None:
        budget.forget(db, graph=name, again=name)

    def _discard(self, db: Database, name: str) -> None:
        """As an update of a new graph does that fails."""
        with GraphLock(db, name) as held, held.last_writes() as transaction:
            transaction.run("delete_unused_graph", name=name)

    # --- What must hold

    def _look(self, changes: list[Change], _metadata: Mapping[str, Any]) -> None:
        """Look at what a commit has recorded, and at what an owner has changed by hand.

        Several commits are looked at together where one was visible by half, each as if those after it were not there.
        """
        for node, _, new in changes:
            if node.label in RECORDS and new is not None:
                self._there[node] = new
            else:
                self._there.pop(node, None)
        notes = [new for node, _, new in changes if node.label == "PCohesionNote" and new is not None]
        records = [change for change in changes if change[0].label in RECORDS]
        for node, old, new in records:
            if old is not None:
                self._look_at_change(old, new, {note["kind"] for note in notes})
            elif new is not None:
                self._look_at_record(node, new)
        gone = [old["id"] if node.label == "PCohesionRelease" else "" for node, old, new in records if old and not new]
        self._forgotten.update(gone)
        if len(gone) != sum(len(note["records"]) for note in notes):
            self.world.fail(f"{len(gone)} records were forgotten, and the note says {notes}")
        for name in DATA:
            numbers = [props["number"] for props in self._records("PCohesionBudget", name)]
            if len(set(numbers)) < len(numbers):
                self.world.fail(f"the totals of {name} have the numbers {numbers}")

    def _look_at_change(self, old: Props, new: Props | None, kinds: set[str]) -> None:
        """A record stays as it is, unless all of its graph's are forgotten, or counted under another name."""
        name = old["graph"]
        if not kinds & ({"forgotten"} if new is None else {"same"}):
            self.world.fail(f"a record of the ledger was changed: {old} became {new}")
        if new is None or new["graph"] != name:
            left = [props for label in RECORDS for props in self._records(label, name)]
            if left:
                self.world.fail(f"of {name} there is left {left}")

    def _look_at_record(self, node: Node, new: Props) -> None:
        """No total is passed, none is hidden by an earlier one, and one name over the same data has all of it."""
        fail, name = self.world.fail, new["graph"]
        totals = sorted((props["number"], props["epsilon"]) for props in self._records("PCohesionBudget", name))
        if node.label == "PCohesionBudget":
            if new["number"] < totals[-1][0]:
                fail(f"the total {new['number']} of {name} comes after {totals}")
        else:
            self._recorded[new["id"]] = Fraction(new["epsilon"])
            spent = sum(Fraction(props["epsilon"]) for props in self._records("PCohesionRelease", name))
            if not totals or spent > Fraction(totals[-1][1]):
                fail(f"{name} has spent {spent} of {totals}")
            marks = [secret_mark(props["secret"].encode()) for props in self.db.all("PCohesionLedger")]
            if not any(map(new["keysFingerprint"].startswith, marks)):
                fail(f"the keys of {name} are recorded under a secret that is not kept")
        # What was moved to a name that pcneo does not know is compared once that is entered.
        self._made[node] = name
        others = {made for other, made in self._made.items() if self._there.get(other, {}).get("graph") == made}
        if beside := [other for other in others - {name} if DATA[other] == DATA[name]]:
            fail(f"{name} has a ledger beside {beside}, which have the same data")

    def _records(self, label: str, name: str) -> list[Props]:
        return [props for node, props in self._there.items() if node.label == label and props["graph"] == name]

    def at_the_end(self) -> None:
        """After the last step, on the ledger as it lies there."""
        there = {props["id"]: Fraction(props["epsilon"]) for props in self.db.all("PCohesionRelease")}
        for release, epsilon in self.published:
            is_there = there.get(release) == epsilon or release in self._forgotten
            assert is_there, f"{release} is published, and not in the ledger"
