"""What the nodes of the ledger say, read without trusting that only pcneo has written them.

A node whose properties are of other kinds than pcneo writes is a `DamagedRecord`: nothing is computed from it, and
nothing is released until its owner has said what it is (DATA-MODEL.md#the-ledger).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeVar

from pcneo.basics.exact_numbers import exact_number
from pcneo.basics.selection import Selection
from pcneo.store.database import GraphRecord
from pcneo.store.transaction import Row
from pcneo.store.typed_rows import Properties, Property, fits, misfits, properties_of, values_of, what_is_wrong

ShareNodes = Callable[[Selection, Selection], bool]
IsEmpty = Callable[[Selection], bool]

_MOST_DIGITS = 300
LARGEST_NUMBER = 2**53
"""The bound on a total's number: later totals count on from there, and a forged larger number would leave no room."""


@dataclass(frozen=True)
class BudgetRecord:
    """A total of a graph: ε and δ as canonical fractions `a/b`, and who set it when."""

    graph: str
    epsilon: str
    delta: str
    who: str | None
    at: datetime
    number: int = 0


@dataclass(frozen=True)
class ReleaseRecord:
    """A release that was made; ε, ε1 and δ as canonical fractions `a/b`, None where a mechanism has none.

    Labels and types are those of its graph, None in entries that an earlier pcneo wrote. `answers` is the release whose
    answers it is computed from, itself if it drew them; `threshold`, `vertices`, `keys_hash`, `fingerprint` and
    `answers_hash` describe the answers that it drew (DATA-MODEL.md#the-ledger).
    """

    id: str
    graph: str
    run: str | None
    run_version: int | None
    mechanism: str
    k: int | None
    p: str | None
    search: str | None
    epsilon: str
    epsilon_1: str | None
    delta: str
    h: int | None
    membership_hash: str | None
    property: str | None
    property_hash: str | None
    who: str | None
    version: str | None
    at: datetime
    node_labels: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    answers: str | None = None
    threshold: int | None = None
    vertices: int | None = None
    keys_hash: str | None = None
    fingerprint: str | None = None
    answers_hash: str | None = None
    keys_fingerprint: str | None = None
    file: str | None = None
    mean_count: float | None = None
    mean_degree: float | None = None


@dataclass(frozen=True)
class DamagedRecord:
    """A node of the ledger that is not as pcneo writes it.

    Attributes:
        record: how its owner names it: the release's id if it has one, else a hash of all its properties.
        is_release: whether it is a release; else it is a total.
        graph: the graph that it names; None if it names none.
        why: what is wrong, as the end of a sentence that begins with what it is.
        element: identifies the node within the transaction that read it.
        properties: all its properties.
    """

    record: str
    is_release: bool
    graph: str | None
    why: str
    element: str = field(default="", compare=False)
    properties: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Say what is wrong, and with what."""
        return f"{'Release' if self.is_release else 'Total'} {self.record} {self.why}."

    @property
    def delta(self) -> Fraction | None:
        """Its δ; None if that cannot be read, or cannot be a δ."""
        try:
            delta = exact_number(self.properties.get("delta"), _MOST_DIGITS)
        except ValueError:
            return None
        return delta if 0 <= delta < 1 else None

    def sound(self) -> dict[str, Any]:
        """Return its properties that are of the kinds that pcneo writes, except ε1, which nothing rests on."""
        fields = _RELEASE if self.is_release else _BUDGET
        return {
            name: self.properties[name]
            for name, wanted in fields.items()
            if name in self.properties and fits(self.properties[name], wanted.kind) and name != "epsilonOne"
        }


@dataclass(frozen=True)
class NoteRecord:
    """What an owner did to the ledger by hand.

    Attributes:
        kind: `forgotten`, `mended`, `same` or `apart`; `cleaned` for runs.
        graph, other: names of graphs.
        what: a sentence.
        records: what was let go or changed, as JSON.
        who, at: by whom and when.
    """

    kind: str
    graph: str
    other: str | None
    what: str
    records: tuple[str, ...]
    who: str
    at: datetime


@dataclass(frozen=True)
class LedgerRecords:
    """The whole ledger: each graph's totals and all releases, oldest first, and the graphs that pcneo knows.

    Attributes:
        graphs, budgets, releases: those that are sound.
        damaged: the records that are not.
        notes: what owners did by hand, oldest first.
        share_nodes: asks the ledger's database whether two nodes or more carry labels of both selections.
        is_empty: asks it whether a selection has lost all its nodes or all its relationships.
    """

    graphs: tuple[GraphRecord, ...]
    budgets: tuple[BudgetRecord, ...]
    releases: tuple[ReleaseRecord, ...]
    damaged: tuple[DamagedRecord, ...] = ()
    notes: tuple[NoteRecord, ...] = ()
    share_nodes: ShareNodes = field(default=lambda _selection, _other: False, repr=False, compare=False)
    is_empty: IsEmpty = field(default=lambda _selection: False, repr=False, compare=False)

    @property
    def names(self) -> set[str]:
        """The names of the graphs that the database knows."""
        return {graph.name for graph in self.graphs}

    @property
    def lost(self) -> tuple[ReleaseRecord, ...]:
        """The releases whose graph's node is gone from the database."""
        known = self.names
        return tuple(release for release in self.releases if release.graph not in known)

    @property
    def used(self) -> set[str]:
        """The names of graphs that have a total or a release."""
        return {record.graph for record in (*self.budgets, *self.releases)}

    def damaged_of(self, graph: str) -> tuple[DamagedRecord, ...]:
        """Return the damaged records of a graph, and those that may belong to any graph."""
        return tuple(record for record in self.damaged if record.graph in (None, graph))

    def are_apart(self, graph: str, other: str) -> bool:
        """Whether the owner's last word on two names is that they stand for different graphs."""
        said = [note.kind for note in self.notes if {note.graph, note.other} == {graph, other}]
        return said[-1:] == ["apart"]

    def holder(self, graph: str) -> str:
        """Return the name whose ledger holds what a graph has spent: its own, unless its owner has moved that.

        A move ends where it is taken back, and where the ledger that it led to is forgotten.
        """
        holders: dict[str, str] = {}
        for note in self.notes:
            if note.kind == "same" and note.other is not None:
                held_by = holders.get(note.graph, note.other)
                to = note.graph if held_by == note.other else held_by
                holders = {name: to if of == note.other else of for name, of in holders.items()} | {note.other: to}
                holders.pop(to, None)
            elif note.kind == "forgotten":
                holders = {name: of for name, of in holders.items() if of != note.graph}
        return holders.get(graph, graph)

    def last_number(self, graph: str) -> int:
        """Return the highest number of a total of a graph, 0 where it has none."""
        return max((budget.number for budget in self.budgets if budget.graph == graph), default=0)


# --- Reading: what each property becomes

_BUDGET: Properties = {**properties_of(BudgetRecord), "number": Property("number", "int | None")}
_RELEASE: Properties = {
    **properties_of(ReleaseRecord, without=("epsilon_1",)),
    "epsilonOne": Property("epsilon_1", "str | None"),
}
_NOTE: Properties = {**properties_of(NoteRecord), "records": Property("records", "tuple[str, ...] | None")}


def _damage(properties: Mapping[str, Any], fields: Properties) -> str | None:
    if wrong := misfits(properties, fields):
        return (
            what_is_wrong(properties, wrong[0]) if not {"epsilon", "delta"} & {*wrong} else "has no number for ε or δ"
        )
    try:
        epsilon, delta = (exact_number(properties[name], _MOST_DIGITS) for name in ("epsilon", "delta"))
        if "epsilonOne" in fields and properties.get("epsilonOne") is not None:
            exact_number(properties["epsilonOne"], _MOST_DIGITS)
    except ValueError:
        return "has no number for ε or δ"
    if epsilon < 0 or not 0 <= delta < 1:
        return f"has ε = {epsilon} and δ = {delta}"
    if "run" in fields and properties.get("run") is not None and properties.get("membershipHash") is None:
        return "does not say which groups it rests on"
    if "number" in fields and not 0 <= (properties.get("number") or 0) < LARGEST_NUMBER:
        return "has a number that no total can have"
    return None


Record = TypeVar("Record", BudgetRecord, ReleaseRecord)


def _sorted_out(
    rows: Sequence[Row], fields: Properties, made: Callable[..., Record], is_release: bool
) -> tuple[list[Record], list[DamagedRecord]]:
    records, damaged = [], []
    for row in rows:
        properties = row["properties"]
        why = _damage(properties, fields)
        if why is None:
            values = values_of(properties, fields)
            if is_release and values["search"] is None:  # up to format 2 it was called score
                score = properties.get("score")
                values["search"] = score if isinstance(score, str) else None
            records.append(made(**values))
        else:
            name = properties.get("id") if is_release else None
            graph = properties.get("graph")
            damaged.append(
                DamagedRecord(
                    name if isinstance(name, str) and name else _digest(properties),
                    is_release,
                    graph if isinstance(graph, str) and graph else None,
                    why,
                    row["element"],
                    properties,
                )
            )
    return records, damaged


def _digest(properties: Mapping[str, Any]) -> str:
    said = sorted((name, repr(value)) for name, value in properties.items())
    return hashlib.sha256(repr(said).encode()).hexdigest()[:12]


def budget_records(rows: Sequence[Row]) -> tuple[list[BudgetRecord], list[DamagedRecord]]:
    """Return totals by graph and number, the one that counts last in each graph, and damaged totals."""

    def made(number: int | None, **values: Any) -> BudgetRecord:
        return BudgetRecord(number=number or 0, **values)

    records, damaged = _sorted_out(rows, _BUDGET, made, False)
    return sorted(records, key=lambda record: (record.graph, record.number, record.at)), damaged


def release_records(rows: Sequence[Row]) -> tuple[list[ReleaseRecord], list[DamagedRecord]]:
    """Return releases, oldest first, and damaged ones."""
    records, damaged = _sorted_out(rows, _RELEASE, ReleaseRecord, True)
    return sorted(records, key=lambda record: (record.at, record.id)), damaged


def note_records(rows: Sequence[Row]) -> list[NoteRecord]:
    """Return notes, oldest first; what someone else has written under their label is ignored."""
    noted = [values_of(row["properties"], _NOTE) for row in rows if not misfits(row["properties"], _NOTE)]
    notes = [NoteRecord(**{**values, "records": values["records"] or ()}) for values in noted]
    return sorted(notes, key=lambda note: (note.at, note.graph))
