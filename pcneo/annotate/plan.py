"""What was asked, checked before anything is read, and the two ways to search: the whole graph, or by frontier."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from pcneo.errors import ParameterError
from pcneo.kernels.running import thread_count
from pcneo.model import Cohesion, CohesionBatch, Graph, Key, Progress, Selection
from pcneo.search import check_score, p_text, parse_fraction, search_batches, search_streamed
from pcneo.store.chosen_graph import StoredGraph, choose_selection, find_keys, read_graph, require_key_index
from pcneo.store.gateway import Gateway
from pcneo.store.reading import FRONTIER

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Frontier", "Options", "P", "Plan", "Stopwatch", "batches_of", "cohesions_of", "make_plan"]

log = logging.getLogger("pcneo")

P = str | float | Fraction
"""One p: as text, as a fraction, or as a float that is read through its `repr`."""
T = TypeVar("T")

KEPT_ARCS = 2_000_000
"""Neighbours that a frontier keeps between searches: tens of megabytes."""


class Options(TypedDict, total=False):
    """What every mode of `annotate` takes by keyword.

    Attributes:
        node_labels, relationship_types, key: which part of the database; may be left out where there is one choice.
        score: `density` (the default) or `degree`.
        vertices: one key or several; only these are searched, read by frontier. None for every vertex.
        concurrency: threads that search; None for all cores.
        create_index: `write` only: create the index on the key where it is missing.
        check: also check that every answer is minimal.
        progress: called with stage, done and total.
    """

    node_labels: Sequence[str]
    relationship_types: Sequence[str]
    key: str | None
    score: str
    vertices: Key | Sequence[Key] | None
    concurrency: int | None
    create_index: bool
    check: bool
    progress: Progress | None


@dataclass
class Plan:
    """A question that has been checked: which graph, which p, which score.

    Attributes:
        configuration: what was asked for with the defaults filled in; `chosen` holds what the database left no
            choice about.
    """

    gateway: Gateway
    selection: Selection
    ps: list[Fraction]
    score: str
    vertices: list[Key] | None
    concurrency: int
    check: bool
    progress: Progress | None
    configuration: dict[str, Any]
    started: float = field(default_factory=time.perf_counter)

    def millis(self) -> int:
        """Milliseconds since the plan was made."""
        return round(1000 * (time.perf_counter() - self.started))

    def read(self) -> StoredGraph:
        """Read the whole graph."""
        return read_graph(self.gateway, self.selection, self.progress)


def make_plan(driver: Driver, database: str | None, mode: str, p: P | Sequence[P], options: Options) -> Plan:
    """Check everything that can be checked before the graph is read.

    Raises:
        ParameterError: p, score or concurrency is out of range, or there is more than one choice of a name.
        SchemaError: the key has no index.
        DatabaseError: the database cannot be asked.
    """
    asked = list(p) if isinstance(p, Sequence) and not isinstance(p, str) else [p]
    ps = list(dict.fromkeys(map(parse_fraction, asked)))
    if not ps:
        raise ParameterError("Name at least one p between 0 and 1.", name="p", value=p)
    score = options.get("score", "density")
    check_score(score)
    concurrency = thread_count(options.get("concurrency"))
    create_index = options.get("create_index", False)
    if create_index and mode != "write":
        raise ParameterError(f"{mode} writes nothing, no index either.", name="create_index", value=True)
    asked_for = options.get("vertices")
    vertices = [asked_for] if isinstance(asked_for, Key) else asked_for
    if vertices is not None and not vertices:
        raise ParameterError(
            "Name at least one vertex, or leave vertices out for all.", name="vertices", value=vertices
        )
    gateway = Gateway(driver, database)
    selection, filled = choose_selection(
        gateway, options.get("node_labels", ()), options.get("relationship_types", ()), options.get("key")
    )
    if filled:
        names = " ".join(f"{option} {value}" for option, value in filled.items())
        log.info("Using %s: the only choice in this database.", names)
    require_key_index(gateway, selection, mode=mode, create=create_index)
    return Plan(
        gateway=gateway,
        selection=selection,
        ps=ps,
        score=score,
        vertices=None if vertices is None else find_keys(gateway, selection, vertices),
        concurrency=concurrency,
        check=options.get("check", False),
        progress=options.get("progress"),
        configuration={
            "mode": mode,
            "database": gateway.database,
            "nodeLabels": list(selection.node_labels),
            "relationshipTypes": list(selection.relationship_types),
            "key": selection.key,
            "p": [p_text(each) for each in ps],
            "score": score,
            "vertices": vertices and list(vertices),
            "concurrency": concurrency,
            "check": options.get("check", False),
            "createIndex": create_index,
            "chosen": filled,
        },
    )


def batches_of(plan: Plan, graph: Graph, p: Fraction, vertices: Iterable[int] | None = None) -> Iterator[CohesionBatch]:
    """Search arrays with the plan's settings; `vertices` are positions in them. Its progress says which p."""
    said = plan.progress
    tell = None if said is None else (lambda done, total: said(f"searching p={p_text(p)}", done, total))
    return search_batches(
        graph, p, plan.score, vertices=vertices, concurrency=plan.concurrency, check=plan.check, progress=tell
    )


def cohesions_of(plan: Plan, frontier: Frontier, vertices: Sequence[Key], p: Fraction) -> Iterator[Cohesion]:
    """Search the vertices named, reading from the database only what their expansions look at."""
    frontier.begin()
    found = search_streamed(frontier.fetch, vertices, p, plan.score, check=plan.check)
    for done, cohesion in enumerate(frontier.waited.around(found), 1):
        if plan.progress:
            plan.progress(f"searching p={p_text(p)}", done, len(vertices))
        yield cohesion
    log.debug(
        "p=%s: %d vertices took %d round trips, which read %d neighbourhoods",
        p_text(p),
        len(vertices),
        frontier.round_trips,
        frontier.rows,
    )


class Frontier:
    """Neighbourhoods fetched as a search asks for them, kept so that several p share them.

    Attributes:
        waited: the time spent searching and fetching.
        round_trips: statements run since `begin`.
        rows: neighbourhoods that they returned.
    """

    def __init__(self, plan: Plan) -> None:
        """Begin with nothing read."""
        self.waited = Stopwatch()
        self._plan = plan
        self._kept: dict[Key, list[Key]] = {}
        self._arcs = 0
        self.begin()

    @property
    def vertices(self) -> int:
        """Vertices looked at since `begin`."""
        return len(self._asked)

    @property
    def edges(self) -> int:
        """Edges at the vertices looked at since `begin`."""
        return self._edges

    def begin(self) -> None:
        """Count afresh what a search looks at and reads."""
        self._asked: set[Key] = set()
        self._edges = self.round_trips = self.rows = 0

    def fetch(self, keys: list[Key]) -> list[tuple[Key, list[Key]]]:
        """Return whole neighbourhoods, as `search_streamed` wants them; those kept are not read again."""
        if self._arcs > KEPT_ARCS:
            self._kept, self._arcs = {}, 0
        missing = [key for key in keys if key not in self._kept]
        self.round_trips += -(-len(missing) // FRONTIER)
        for key, neighbours in self._plan.gateway.get_neighbours(self._plan.selection, missing) if missing else ():
            self._kept[key] = neighbours
            self._arcs += len(neighbours)
            self.rows += 1
        rows = [(key, self._kept[key]) for key in keys if key in self._kept]
        for key, neighbours in rows:
            if key not in self._asked:
                self._edges += len(neighbours) - len(self._asked.intersection(neighbours))
                self._asked.add(key)
        return rows


class Stopwatch:
    """The time spent waiting for the items of an iterable."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._seconds = 0.0

    @property
    def millis(self) -> int:
        """Milliseconds so far."""
        return round(1000 * self._seconds)

    def around(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; the clock runs only while the next one is awaited."""
        iterator = iter(items)
        while True:
            started = time.perf_counter()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self._seconds += time.perf_counter() - started
            yield item
