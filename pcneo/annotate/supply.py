"""Where cohesions come from: the whole graph in memory, or single vertices whose frontiers are fetched.

The modes need not know which of the two they have. A supply is made without reading anything; a writer reads it while
it holds the graph's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Self, TypeAlias, TypedDict

from pcneo.annotate.plan import Plan
from pcneo.annotate.sampling import Interval, draw_sample
from pcneo.annotate.stored_hubs import HubsOfGraph, HubsOfVertices
from pcneo.basics.model import CohesionBatch, Graph, Key
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.graph import fingerprint
from pcneo.search import search_batches, search_frontier
from pcneo.store.chosen_graph import noting_kind, read_graph
from pcneo.store.reading import FRONTIER
from pcneo.store.run_reader import HubColumns

if TYPE_CHECKING:
    from pcneo.search.cluster import ClusterGraph


log = logging.getLogger("pcneo")

KEPT_ARCS = 2_000_000
"""Neighbours that a frontier keeps between searches: tens of megabytes."""
LEAST_HALVED = 16
"""From this many vertices on, they are fetched in two halves: the server reads both at once, and one half is worked on
while the other is on its way."""


class WholeGraph:
    """Every vertex of the graph, or some, searched in memory or on a cluster.

    Attributes:
        scope: that of a run that stores the cohesions: `graph`, `vertices` or `answers`.
        answers: the beginning of the hash of the answers that they belong to; empty for those of the graph itself.
        from_files: whether they were read from files rather than searched.
        graph: the graph's arrays.
        counts: the count store's nodes and relationships when the graph was read.
    """

    scope = "graph"
    answers = ""
    from_files = False
    graph: Graph
    counts: tuple[int, int]

    def __init__(self, plan: Plan) -> None:
        """Begin with nothing read."""
        self._plan = plan
        self._on_cluster: ClusterGraph | None = None

    def read(self) -> Self:
        """Read the graph."""
        plan = self._plan
        stored = read_graph(plan.db, plan.selection, plan.progress)
        self.graph = stored.graph
        self.counts = (stored.node_count, stored.relationship_count)
        if plan.scheduler is not None:
            from pcneo.search.cluster import ClusterGraph

            self._on_cluster = ClusterGraph(self.graph, plan.scheduler)
        return self

    @property
    def vertices(self) -> int:
        """Vertices of the graph."""
        return self.graph.vertex_count

    @property
    def edges(self) -> int:
        """Edges of the graph."""
        return self.graph.edge_count

    def batches(self, search: Search, positions: Iterable[int] | None = None) -> Iterator[CohesionBatch]:
        """Search every vertex, or those at some positions."""
        plan = self._plan
        report = plan.searching(search)
        if self._on_cluster is not None:
            return self._on_cluster.search_batches(search, vertices=positions, check=plan.check, progress=report)
        return search_batches(
            self.graph,
            search,
            vertices=positions,
            concurrency=plan.concurrency,
            check=plan.check,
            progress=report,
        )

    def fingerprint(self, key: bytes) -> str:
        """Return the hash of the graph under `key`."""
        return fingerprint(self.graph, key)

    def estimate(self, search: Search, beyond: int, *, most: int, seconds: float) -> Interval | None:
        """Estimate from a sample how many memberships there will be; None where there cannot be more than `beyond`.

        At most `most` vertices are searched, and none is begun after so many seconds.
        """
        if self.vertices**2 <= beyond:
            return None
        threads = self._plan.concurrency
        sample = draw_sample(self.graph, search, most=most, seconds=seconds, concurrency=threads, timed=False)
        return sample.memberships()

    def current_hubs(
        self, selection: Selection, run: str, version: int, key: bytes, pages: Iterable[HubColumns] | None = None
    ) -> HubsOfGraph:
        """Read the hubs that a run has at its current version, to compare them.

        `key` is the one that owners are hashed with; `pages` are hubs that were read ahead.
        """
        return HubsOfGraph.read(self._plan.db, selection, self.graph, run, version, key, pages)


class Frontier:
    """Single vertices, whose neighbourhoods are fetched as the searches need them, and kept for several p to share.

    It has what `WholeGraph` has, except the graph.
    """

    scope = "vertices"
    answers = ""
    from_files = False

    def __init__(self, plan: Plan, vertices: Sequence[Key]) -> None:
        """Begin with nothing read."""
        self._plan = plan
        self._vertices = vertices
        self._kept: dict[Key, list[Key]] = {}
        self._arcs = 0
        self._counts: tuple[int, int] | None = None
        self._begin()

    def _begin(self) -> None:
        """Reset the counts of what a search looks at and reads."""
        self._seen: set[Key] = set()
        self._edges = self._round_trips = self._rows = 0
        self._uncounted: dict[Key, list[Key]] = {}

    @property
    def counts(self) -> tuple[int, int]:
        """The count store's nodes and relationships when this was first asked for."""
        if self._counts is None:
            self._counts = self._plan.db.count_store(self._plan.selection)
        return self._counts

    @property
    def vertices(self) -> int:
        """Vertices that the latest search looked at."""
        self._count()
        return len(self._seen)

    @property
    def edges(self) -> int:
        """Edges at the vertices that the latest search looked at."""
        self._count()
        return self._edges

    def _count(self) -> None:
        """Count the vertices and edges that were fetched. A stream does not need the counts, and never asks."""
        for key, neighbours in self._uncounted.items():
            if key not in self._seen:
                self._edges += len(neighbours) - len(self._seen.intersection(neighbours))
                self._seen.add(key)
        self._uncounted.clear()

    def batches(self, search: Search) -> Iterator[CohesionBatch]:
        """Search the vertices, reading from the database only what their searches look at."""
        self._begin()
        report = self._plan.searching(search)
        with ThreadPoolExecutor(1, thread_name_prefix="pcneo-frontier") as beside:
            fetch = partial(self._fetch, beside)
            batches = search_frontier(fetch, self._vertices, search, check=self._plan.check)
            with noting_kind(self._plan.db, self._plan.selection):
                for done, batch in enumerate(batches, 1):
                    report(done, len(self._vertices))
                    yield batch
        log.debug(
            "p=%s: %d vertices took %d round trips, which read %d neighbourhoods",
            search.p,
            len(self._vertices),
            self._round_trips,
            self._rows,
        )

    def read(self) -> Self:
        """Read nothing yet."""
        return self

    def fingerprint(self, key: bytes) -> None:
        """Return None: the graph was not read."""

    def estimate(self, search: Search, beyond: int, *, most: int, seconds: float) -> None:
        """Return None: vertices that someone names are searched and written, however large their cohesions are."""

    def current_hubs(
        self, selection: Selection, run: str, version: int, key: bytes, pages: Iterable[HubColumns] | None = None
    ) -> HubsOfVertices:
        """Read the hubs of the named vertices."""
        return HubsOfVertices.read(self._plan.db, selection, self._vertices, run, version)

    def _fetch(self, beside: ThreadPoolExecutor, keys: list[Key]) -> Iterator[tuple[Key, list[Key]]]:
        """Yield whole neighbourhoods, as `search_frontier` needs them; kept ones are not read again."""
        if self._arcs > KEPT_ARCS:
            self._count()
            self._kept, self._arcs = {}, 0
        missing = [key for key in keys if key not in self._kept]
        rows = [(key, self._kept[key]) for key in keys if key in self._kept]
        self._uncounted.update(rows)  # never more than are kept, however often a stream asks
        read = partial(self._plan.db.get_neighbours, self._plan.selection)
        self._round_trips += -(-len(missing) // FRONTIER)
        half = len(missing) // 2 if len(missing) >= LEAST_HALVED else 0
        later = beside.submit(copy_context().run, read, missing[:half]) if half else None
        yield from rows
        if missing:
            yield from self._noted(read(missing[half:]))
        if later is not None:
            yield from self._noted(later.result())

    def _noted(self, rows: list[tuple[Key, list[Key]]]) -> list[tuple[Key, list[Key]]]:
        """Keep and count the neighbourhoods that were read."""
        self._kept.update(rows)
        self._uncounted.update(rows)
        self._arcs += sum(len(neighbours) for _, neighbours in rows)
        self._rows += len(rows)
        return rows


Supply: TypeAlias = WholeGraph | Frontier
"""The minimal p-cohesions that a plan asks for."""


class Size(TypedDict):
    """What each result says of the graph."""

    node_count: int
    relationship_count: int
    vertices: int
    edges: int


def size_of(supply: Supply) -> Size:
    """Return the size of what was read, for a result."""
    nodes, relationships = supply.counts
    return Size(node_count=nodes, relationship_count=relationships, vertices=supply.vertices, edges=supply.edges)


def supply_of(plan: Plan) -> Supply:
    """Return the supply for a plan: every vertex, or the vertices that it names."""
    return WholeGraph(plan) if plan.vertices is None else Frontier(plan, plan.vertices)
