"""The frozen values that cross rooms: a graph as arrays, cohesions as arrays, one cohesion for a person to look at."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import Table, counted, html_table
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import P, Search

__all__ = [
    "AnyPath",
    "CohesionAround",
    "CohesionBatch",
    "FoundCohesion",
    "Graph",
    "Key",
    "KeyArray",
    "LocalView",
    "Memberships",
    "Progress",
    "RunRecord",
    "ShownCohesion",
    "StoredCohesions",
    "densities",
]

Key = int | str

AnyPath = str | os.PathLike[str]
"""A file or folder, as text or as a path."""
Progress = Callable[[str, int, int | None], None]
"""Called as `progress(stage, done, total)`; `total` is None where it is not known."""
KeyArray = NDArray[np.int64] | NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected simple graph in compressed rows (ALGORITHM.md#the-graph).

    A vertex is its position in `keys`, so "smaller identifier" is "smaller position". `pcneo.as_graph` makes one.

    >>> import pcneo
    >>> pcneo.as_graph([("Ann", "Bob"), ("Bob", "Cem")]).degrees.tolist()
    [1, 2, 1]

    Attributes:
        keys: n keys, ascending and distinct; int64, or str in an object array (ordered by code point).
        offsets: int64, n + 1 entries; the neighbours of v are `neighbours[offsets[v]:offsets[v + 1]]`.
        neighbours: uint32, two entries for each edge, ascending within each vertex.
    """

    keys: KeyArray
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.uint32]

    @property
    def vertex_count(self) -> int:
        """Number of vertices n, isolated ones included."""
        return len(self.keys)

    @property
    def edge_count(self) -> int:
        """Number of undirected edges m."""
        return len(self.neighbours) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of each vertex, int64, shape (n,)."""
        return np.diff(self.offsets)

    def neighbours_of(self, v: int) -> NDArray[np.uint32]:
        """Return the neighbours of a vertex, ascending.

        Args:
            v: the vertex by its position in `keys`; so are the neighbours.
        """
        return self.neighbours[self.offsets[v] : self.offsets[v + 1]]


@dataclass(frozen=True)
class FoundCohesion:
    """One minimal p-cohesion, by key.

    Attributes:
        vertex: the queried vertex q.
        search: what was searched for, and how.
        members: keys of MC(q), ascending, q included.
        edges: number of the graph's edges with both ends inside.
        proven: whether no smaller p-cohesion that contains q exists; only the search `smallest` knows.
        best: whether no p-cohesion of a better rank that contains q exists (ALGORITHM.md#the-rank).
    """

    vertex: Key
    search: Search
    members: tuple[Key, ...]
    edges: int
    proven: bool = False
    best: bool = False

    @property
    def p(self) -> P:
        """The p of the search."""
        return self.search.p

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)

    @property
    def density(self) -> float:
        """2·edges / (size·(size-1)); 0.0 for size 1, where density has no meaning and is left out of averages."""
        return _density(self.size, self.edges)

    def how_small(self) -> str:
        """Return what is known about other p-cohesions around the vertex, as a sentence without its full stop."""
        if not self.proven:
            return "A smaller one may exist"
        return f"No smaller one exists{'' if self.best else ', but one of this size may rank higher'}"

    def as_row(self) -> dict[str, Any]:
        """Return everything but the members, by name."""
        return {
            "vertex": self.vertex,
            "p": str(self.p),
            "search": self.search.name,
            "size": self.size,
            "edges": self.edges,
            "density": self.density,
            "proven": self.proven,
            "best": self.best,
        }

    def _repr_html_(self) -> str:
        row = {**self.as_row(), "members": self.members}
        return html_table(list(row), [list(row.values())])


@dataclass(frozen=True, eq=False)
class CohesionBatch(Table):
    """Minimal p-cohesions of several vertices, by position in `keys`.

    Attributes:
        search: what was searched for, and how.
        vertices: int64, the b queried vertices.
        offsets: int64, b + 1 entries; the members of the i-th are `members[offsets[i]:offsets[i + 1]]`.
        members: uint32, ascending within each cohesion.
        edges: int64, edges inside each of the b cohesions.
        keys: those of the graph that was searched, as in `Graph`.
        proven, best: bool, for each of the b cohesions; as in `FoundCohesion`.
    """

    search: Search
    vertices: NDArray[np.int64]
    offsets: NDArray[np.int64]
    members: NDArray[np.uint32]
    edges: NDArray[np.int64]
    keys: KeyArray
    proven: NDArray[np.bool_]
    best: NDArray[np.bool_]

    @property
    def p(self) -> P:
        """The p of the search."""
        return self.search.p

    def __len__(self) -> int:
        """Number of cohesions."""
        return len(self.vertices)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each cohesion, int64, shape (b,)."""
        return np.diff(self.offsets)

    @property
    def densities(self) -> NDArray[np.float64]:
        """Density of each cohesion, float64, shape (b,); 0.0 for size 1."""
        return densities(self.sizes, self.edges)

    def members_of(self, i: int) -> NDArray[np.uint32]:
        """Return the members of a cohesion, ascending.

        Args:
            i: the cohesion by its position in the batch; the members are by position in `keys`.
        """
        return self.members[self.offsets[i] : self.offsets[i + 1]]

    def part(self, start: int, stop: int) -> CohesionBatch:
        """Return some of the cohesions.

        Args:
            start, stop: the first one and the one after the last, by position in the batch.
        """
        bounds = self.offsets[start : stop + 1]
        return replace(
            self,
            vertices=self.vertices[start:stop],
            offsets=bounds - bounds[0],
            members=self.members[bounds[0] : bounds[-1]],
            edges=self.edges[start:stop],
            proven=self.proven[start:stop],
            best=self.best[start:stop],
        )

    def as_columns(self) -> dict[str, Any]:
        """Return a row for each cohesion: its vertex, size, edges, density, `proven`, `best`, and members as a list."""
        members = self.keys[self.members].tolist()
        ends = self.offsets.tolist()
        return {
            "vertex": self.keys[self.vertices].tolist(),
            "size": self.sizes,
            "edges": self.edges,
            "density": self.densities,
            "proven": self.proven,
            "best": self.best,
            "members": [members[start:end] for start, end in itertools.pairwise(ends)],
        }

    def memberships(self) -> Memberships:
        """Return the memberships as a table, one row each."""
        return Memberships(self.keys, np.repeat(self.vertices, self.sizes), self.members)

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        found = f"{counted(len(self), 'minimal p-cohesion')}, p={self.p}, search {self.search.name}"
        return f"{found}: {counted(len(self.members), 'membership')}"

    def cohesions(self) -> Iterator[FoundCohesion]:
        """Yield each cohesion by key."""
        for i, vertex in enumerate(self.vertices):
            yield FoundCohesion(
                vertex=self.keys[vertex : vertex + 1].tolist()[0],
                search=self.search,
                members=tuple(self.keys[self.members_of(i)].tolist()),
                edges=int(self.edges[i]),
                proven=bool(self.proven[i]),
                best=bool(self.best[i]),
            )


@dataclass(frozen=True, eq=False)
class Memberships(Table):
    """The memberships of cohesions, one row each: the vertex whose cohesion it is, and the member.

    Attributes:
        keys: those of the graph, as in `Graph`.
        vertices, members: positions in `keys`; both arrays have the same length.
    """

    keys: KeyArray
    vertices: NDArray[np.int64]
    members: NDArray[np.uint32]

    def as_columns(self) -> dict[str, Any]:
        """Return the columns `vertex` and `member`, both of keys."""
        return {"vertex": self.keys[self.vertices], "member": self.keys[self.members]}

    def __repr__(self) -> str:
        """Return a line that sums it up."""
        return counted(len(self.members), "membership")


def densities(sizes: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 2·edges / (size·(size-1)) of each cohesion, float64; 0.0 for size 1, where density has no meaning.

    Args:
        sizes, edges: members and edges inside, shape (b,).
    """
    pairs = sizes * (sizes - 1)
    return np.divide(2.0 * edges, pairs, out=np.zeros(len(sizes)), where=pairs > 0)


def _density(size: int, edges: int) -> float:
    return 2 * edges / (size * (size - 1)) if size > 1 else 0.0


@dataclass(frozen=True)
class LocalView:
    """The extended local view of a vertex, in figures (ALGORITHM.md#extended-local-view).

    Attributes:
        size: number of vertices within two hops, the vertex itself included.
        edges: number of edges that touch the vertex or one of its neighbours.
    """

    size: int
    edges: int

    @property
    def density(self) -> float:
        """2·edges / (size·(size-1)); 0.0 for size 1, where density has no meaning."""
        return _density(self.size, self.edges)


@dataclass(frozen=True, kw_only=True)
class CohesionAround(Table):
    """One cohesion in the graph around it.

    Attributes:
        cohesion: its members, and the edges inside.
        connections: the critical connections, each once with the smaller key first, ascending.
        others: the vertex's neighbours outside the cohesion, ascending: the ends of its connections that are not
            critical.
        hops: each member's distance from the vertex; 3 stands for three and more.
        local_view: the extended local view of the vertex.
        holds: whether its members are a p-cohesion in this graph, which may have changed since it was found.
    """

    cohesion: FoundCohesion
    connections: tuple[tuple[Key, Key], ...]
    others: tuple[Key, ...]
    hops: dict[Key, int]
    local_view: LocalView
    holds: bool

    @property
    def note(self) -> str:
        """A remark on the graph, as a sentence without its full stop; empty if it needs none."""
        return "" if self.holds else "The graph has changed since it was found, and it is no longer a p-cohesion"

    @property
    def further(self) -> list[Key]:
        """The other members, those with the most critical connections first."""
        ends = Counter(key for pair in self.connections for key in pair)
        others = set(self.cohesion.members) - {self.cohesion.vertex}
        return sorted(others, key=lambda key: (-ends[key], key))

    def as_columns(self) -> dict[str, Any]:
        """Return a row for each member: its key, its distance, and the other ends of its critical connections."""
        beside: dict[Key, list[Key]] = {key: [] for key in self.cohesion.members}
        for a, b in self.connections:
            beside[a].append(b)
            beside[b].append(a)
        order = sorted(self.cohesion.members, key=lambda key: self.hops[key])  # stable: keeps the order of keys
        return {
            "member": order,
            "hops": [self.hops[key] for key in order],
            "connections": [len(beside[key]) for key in order],
            "to": [beside[key] for key in order],
        }

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        cohesion, view = self.cohesion, self.local_view
        return (
            f"Minimal p-cohesion of {cohesion.vertex}, p={cohesion.p}: {counted(cohesion.size, 'member')}, "
            f"{counted(cohesion.edges, 'critical connection')}, density {cohesion.density:.3f}; "
            f"{counted(len(self.others), 'other connection')}. Within two hops: "
            f"{counted(view.size, 'vertex', 'vertices')}, {counted(view.edges, 'connection')}."
            f"{self.note and f' {self.note}.'}"
        )


@dataclass(frozen=True, kw_only=True)
class ShownCohesion(CohesionAround):
    """One stored cohesion in the graph around it, as the graph is now.

    Attributes:
        run: the run that stored it.
        moved: whether the graph is known to have changed since the run.
    """

    run: RunRecord
    moved: bool

    @property
    def note(self) -> str:
        """A remark on the graph; empty if the run does not follow a graph, or no change is known."""
        return self.run.note(lost=not self.holds) if self.moved else ""


@dataclass(frozen=True, eq=False)
class StoredCohesions:
    """Every cohesion of one run, and the graph they are of.

    Attributes:
        run: the record.
        graph: the graph's arrays.
        cohesions: by position in these arrays.
        critical: int64, shape (m,): how many cohesions each edge lies in, in the order of `cliques.edge_ends`.
    """

    run: RunRecord
    graph: Graph
    cohesions: CohesionBatch
    critical: NDArray[np.int64]
