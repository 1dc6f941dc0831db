"""What the mechanism `critical` protects, and by how much it can change the counts (privacy.md, section of that name).

P̂ is the set of all pairs of vertices inside some group, adjacent or not; Ĝ is the graph with all of them added. Both,
and everything computed here from them, stay the same when a pair of P̂ is connected or disconnected in the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.cliques import check_clique_size, edge_ends, largest_common, supports_within
from pcneo.errors import AnswerError, GraphError, ParameterError
from pcneo.kernels import pairs as kernels
from pcneo.model import CohesionBatch, Graph
from pcneo.running import compilation_announced, run_ranges, thread_count

__all__ = [
    "AFFORDABLE",
    "Groups",
    "LargestSupports",
    "Protected",
    "ProtectedSize",
    "common_bounds",
    "largest_supports",
    "protect",
    "protected_size",
]

AFFORDABLE = 20_000_000_000
"""Pairs that exact supports may look at before the bound is taken: about a minute of one core."""

_PAIRS = "the protected pairs"


class Groups(NamedTuple):
    """Sets of vertices, by position; a `CohesionBatch` serves as well.

    Attributes:
        offsets: int64; the i-th group is `members[offsets[i]:offsets[i + 1]]`.
        members: uint32, distinct within each group.
    """

    offsets: NDArray[np.int64]
    members: NDArray[np.uint32]


@dataclass(frozen=True)
class ProtectedSize:
    """How large P̂ and Ĝ are, known before they are built.

    Attributes:
        pairs: pairs in P̂.
        edges: edges of Ĝ.
        bytes: memory that `protect` and `largest_supports` need beside the graph and the groups, estimated from above.
    """

    pairs: int
    edges: int
    bytes: int


@dataclass(frozen=True, eq=False)
class Protected:
    """P̂ and Ĝ.

    Attributes:
        pairs: int64, ascending; u·n + v for each pair of positions u < v.
        graph: Ĝ, with the keys of the graph.
    """

    pairs: NDArray[np.int64]
    graph: Graph

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends u and v of every pair: int64, in the order of `pairs`."""
        u, v = np.divmod(self.pairs, max(1, self.graph.vertex_count))
        return u, v


@dataclass(frozen=True, eq=False)
class LargestSupports:
    """S(e) for the pairs of P̂, and what each vertex meets of it; divided by ε they are the scales.

    Attributes:
        k: vertices of a clique.
        per_pair: int64; S(e) for each pair of P̂, in order.
        per_vertex: int64, shape (n,); the largest S(e) over the pairs e of P̂ that count for v, 0 where none does.
        exact: whether S(e) is k·support_k(e, Ĝ), and the pairs that count for v are those in some k-clique of Ĝ with v.
            If not, S(e) is the bound k·C(cn(e, Ĝ), k-2), and e counts for its ends and all their common neighbours.
        looked: pairs looked at for exact supports; whether they are used follows from it alone.
    """

    k: int
    per_pair: NDArray[np.int64]
    per_vertex: NDArray[np.int64]
    exact: bool
    looked: int


# --- P̂ and Ĝ


def protected_size(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> ProtectedSize:
    """Return how large P̂ and Ĝ would be, counted exactly without building either, and the memory that they need.

    The memory is, in bytes, with M members in all groups, n vertices, P pairs, E edges, t threads and at most
    d = min(largest degree, √(2E)) successors of a vertex in Ĝ: 8M + 48P + 28E + 64n + t(8E + 16(d+1)² + 24n).

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: the groups do not fit the graph, or concurrency is out of range.
    """
    threads = thread_count(concurrency)
    pairs, degrees = _count(graph, groups, _of_vertices(graph, groups), concurrency)
    n, inside, edges = graph.vertex_count, int(pairs.sum()), int(degrees.sum()) // 2
    d = min(int(degrees.max(initial=0)), isqrt(2 * edges))
    each = 8 * edges + 16 * (d + 1) ** 2 + 24 * n
    memory = 8 * len(groups.members) + 48 * inside + 28 * edges + 64 * n + threads * each
    return ProtectedSize(inside, edges, memory)


def protect(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> Protected:
    """Build P̂ and Ĝ. Ask `protected_size` first whether they fit.

    Arguments and errors are those of `protected_size`.

    Raises:
        AnswerError: Ĝ is not what P̂ and the graph make.
    """
    of_vertices = _of_vertices(graph, groups)
    pairs, degrees = _count(graph, groups, of_vertices, concurrency)
    pairs_at, rows_at = (np.concatenate((np.zeros(1, np.int64), counts)).cumsum() for counts in (pairs, degrees))
    codes, rows = np.empty(pairs_at[-1], np.int64), np.empty(rows_at[-1], np.uint32)

    def fill(_: None, start: int, end: int) -> None:
        kernels.fill_pairs(groups.offsets, groups.members, *of_vertices, start, end, pairs_at, codes)
        kernels.fill_rows(
            graph.offsets, graph.neighbours, groups.offsets, groups.members, *of_vertices, start, end, rows_at, rows
        )

    with compilation_announced(_PAIRS):
        run_ranges(degrees + 1, lambda: None, fill, concurrency)
    protected = Protected(codes, Graph(graph.keys, rows_at, rows))
    _check(graph, protected)
    return protected


_OfVertices = tuple[NDArray[np.int64], NDArray[np.int64]]


def _of_vertices(graph: Graph, groups: CohesionBatch | Groups) -> _OfVertices:
    """Check the groups, and return for each vertex those it is in, as rows."""
    offsets, members, n = groups.offsets, groups.members, graph.vertex_count
    whole = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(members) and (np.diff(offsets) >= 0).all()
    if not whole or (members < 0).any() or (members >= n).any():
        raise ParameterError(
            f"The groups are not of this graph: members must be positions from 0 to {n - 1}. "
            "Use cohesions that were computed on it.",
            name="groups",
            value=len(offsets) - 1,
        )
    with compilation_announced(_PAIRS):
        return kernels.groups_of_vertices(offsets, members, n)


def _count(
    graph: Graph, groups: CohesionBatch | Groups, of_vertices: _OfVertices, concurrency: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each vertex its pairs with larger vertices in P̂, and its degree in Ĝ."""
    pairs, degrees = np.zeros(graph.vertex_count, np.int64), np.zeros(graph.vertex_count, np.int64)

    def count(_: None, start: int, end: int) -> None:
        kernels.count_pairs(
            graph.offsets,
            graph.neighbours,
            groups.offsets,
            groups.members,
            *of_vertices,
            start,
            end,
            pairs,
            degrees,
        )

    with compilation_announced(_PAIRS):
        run_ranges(np.diff(of_vertices[0]) + graph.degrees, lambda: None, count, concurrency)
    return pairs, degrees


def _check(graph: Graph, protected: Protected) -> None:
    """Refuse unless Ĝ has every pair of P̂, and as many other edges as the graph has outside P̂."""
    of_graph, of_closed = _codes(graph), _codes(protected.graph)
    outside = np.count_nonzero(~_among(of_graph, protected.pairs))
    sound = (
        (np.diff(protected.pairs) > 0).all()
        and (np.diff(of_closed) > 0).all()
        and _among(protected.pairs, of_closed).all()
        and _among(of_graph, of_closed).all()
        and len(of_closed) == len(protected.pairs) + outside
        and 2 * len(of_closed) == len(protected.graph.neighbours)
    )
    if not sound:
        raise AnswerError("The graph with all protected pairs is not sound: a fault in pcneo; please report it.")


def _codes(graph: Graph) -> NDArray[np.int64]:
    """Return u·n + v for every edge u < v, ascending."""
    u, v = edge_ends(graph)
    return u * graph.vertex_count + v


def _among(codes: NDArray[np.int64], all_codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which codes are among others; both ascending."""
    if not len(all_codes):
        return np.zeros(len(codes), np.bool_)
    place = np.searchsorted(all_codes, codes)
    return all_codes[np.minimum(place, len(all_codes) - 1)] == codes


# --- Common neighbours


def common_bounds(graph: Graph, protected: Protected) -> tuple[int, int]:
    """Return the least and the most that C, the largest |N(u) ∩ N(v)|, can be whichever pairs of P̂ are connected.

    The connections outside P̂ alone have the least, Ĝ has the most.

    Args:
        graph: the graph; of its connections only those outside P̂ matter.
        protected: P̂ and Ĝ.
    """
    n = graph.vertex_count
    u, v = np.repeat(np.arange(n), graph.degrees), graph.neighbours.astype(np.int64)
    outside = ~_among(np.minimum(u, v) * n + np.maximum(u, v), protected.pairs)
    offsets = np.concatenate((np.zeros(1, np.int64), np.bincount(u[outside], minlength=n))).cumsum()
    _, least = largest_common(Graph(graph.keys, offsets, graph.neighbours[outside]))
    return least, _most_common(protected.graph, least)


def _most_common(graph: Graph, known: int) -> int:
    """Return C, at least `known`, of a graph that may have so many edges that `largest_common` would take long."""
    most, degrees = known, graph.degrees
    for v in np.argsort(-degrees, kind="stable").tolist():
        if degrees[v] <= most:  # neither this vertex nor one that follows shares more neighbours than it has
            break
        around = graph.neighbours[graph.offsets[v] : graph.offsets[v + 1]]
        rows = [graph.neighbours[graph.offsets[w] : graph.offsets[w + 1]] for w in around.tolist()]
        common = np.bincount(np.concatenate(rows))
        common[v] = 0
        most = max(most, int(common.max()))
    return most


# --- S(e), and the largest for each vertex


def largest_supports(
    protected: Protected, k: int, *, affordable: int = AFFORDABLE, concurrency: int | None = None
) -> LargestSupports:
    """Return S(e) for every e in P̂ and, for each vertex, the largest that counts for it.

    Supports are exact unless counting them would look at more than `affordable` pairs of vertices. That number is a
    property of Ĝ and k, not of the graph, so that the choice gives nothing away.

    Args:
        protected: P̂ and Ĝ.
        k: vertices of a clique, 3 or more.
        affordable: pairs of vertices that may be looked at; for k=3 there is no limit.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: k or concurrency is out of range.
        GraphError: an S(e) is 2^63 or more.
        AnswerError: the supports do not add up.
    """
    k = check_clique_size(k)
    supports, looked = supports_within(protected.graph, k, None if k == 3 else affordable, concurrency=concurrency)
    exact = k == 3 or looked <= affordable
    if not exact:
        supports, _ = supports_within(protected.graph, 3, None, concurrency=concurrency)
    of_pairs = supports[np.searchsorted(_codes(protected.graph), protected.pairs)]
    per_pair = _sensitivities(of_pairs, k, exact)
    per_vertex = _per_vertex(protected, k if exact else 3, per_pair)
    if per_vertex.max(initial=0) != per_pair.max(initial=0):
        raise AnswerError("The largest support is at no vertex. This is a fault in pcneo; please report it.")
    return LargestSupports(k, per_pair, per_vertex, exact, looked)


def _sensitivities(supports: NDArray[np.int64], k: int, exact: bool) -> NDArray[np.int64]:
    """Return k·support, or k·C(cn, k-2) where the supports are cn, for each pair."""
    values, places = np.unique(supports, return_inverse=True)
    sensitivities = [k * s if exact else k * comb(s, k - 2) for s in values.tolist()]
    if sensitivities and sensitivities[-1] >= 2**63:
        raise GraphError(
            f"A connection inside a group may be in so many {k}-cliques that its effect on the counts does not fit "
            "64 bits; choose a smaller k, or the mechanism `edge`.",
            k=k,
        )
    return np.array(sensitivities, np.int64)[places]


def _per_vertex(protected: Protected, k: int, per_pair: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest S(e) that lies with each vertex in some k-clique of Ĝ."""
    falling = np.argsort(-per_pair, kind="stable")
    u, v = protected.ends()
    with compilation_announced(_PAIRS):
        return kernels.largest_of_vertices(
            protected.graph.offsets, protected.graph.neighbours, k, u[falling], v[falling], per_pair[falling]
        )
