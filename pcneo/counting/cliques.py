"""k-cliques per vertex, per edge and inside minimal p-cohesions (ALGORITHM.md#clique-counts).

Everything is counted exactly. Each answer is checked against an identity that the code which counts does not use.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from pcneo.counting.batch_check import check_batch
from pcneo.errors import AnswerError, GraphError, ParameterError
from pcneo.kernels import cliques as kernels
from pcneo.kernels import triangles as triangle_kernels
from pcneo.kernels.degeneracy import Dag, by_core, by_degree, edge_places
from pcneo.kernels.running import compilation_announced, run_ranges
from pcneo.model import CohesionBatch, Graph

__all__ = [
    "check_clique_size",
    "clique_counts",
    "clique_counts_of_sizes",
    "clique_supports",
    "cliques_inside",
    "edge_ends",
    "supports_within",
]

_COUNTS = "the clique counts"


def check_clique_size(k: object) -> int:
    """Return k as an int.

    Raises:
        ParameterError: k is not a whole number of 3 or more.
    """
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not k >= 3:
        raise ParameterError(f"k must be a whole number of 3 or more, not {k!r}.", name="k", value=k)
    return operator.index(k)


def edge_ends(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends u and v of every edge, u < v, ascending by u, then v: int64 arrays, shape (m,).

    This is the order of everything that is given per edge: the upper entries of the graph's rows.
    """
    u = np.repeat(np.arange(graph.vertex_count), graph.degrees)
    upper = u < graph.neighbours
    return u[upper], graph.neighbours[upper].astype(np.int64)


# --- Counts for each vertex and each edge


@dataclass(frozen=True, eq=False)
class _Memory:
    """What one thread counts in, and what it has counted."""

    work: kernels.Workspace
    counts: NDArray[np.int64]


def clique_counts(graph: Graph, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return Γ(v), the number of k-cliques that contain v, for each vertex: int64, shape (n,).

    Args:
        graph: the graph.
        k: vertices of a clique, 3 or more.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: k or concurrency is out of range.
        GraphError: a count is 2^63 or more.
        AnswerError: the counts do not add up.
    """
    return clique_counts_of_sizes(graph, (k,), concurrency=concurrency)[k]


def clique_counts_of_sizes(
    graph: Graph, sizes: Iterable[int], *, concurrency: int | None = None
) -> dict[int, NDArray[np.int64]]:
    """Return for each k among `sizes` what `clique_counts` returns; several take less time together than one by one.

    Arguments and errors are otherwise those of `clique_counts`.
    """
    capped = {check_clique_size(k): _capped(k, graph) for k in sizes}
    distinct = sorted(set(capped.values()))
    if not distinct:
        return {}
    if distinct == [3]:
        counts, at_root = _triangles(graph, concurrency)
    else:
        counts, at_root = _cliques(graph, np.array(distinct, np.int64), concurrency)
    for m, k in enumerate(distinct):
        _check_total(counts[m], k, at_root[m], f"Γ for k={k}")
    return {k: counts[distinct.index(size)] for k, size in capped.items()}


def _triangles(graph: Graph, concurrency: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the triangles at each vertex and at each root: int64, shape (1, n)."""
    n = graph.vertex_count
    at_root = np.zeros((1, n), np.int64)
    with compilation_announced(_COUNTS):
        dag = by_degree(graph.offsets, graph.neighbours)

        def count(counts: NDArray[np.int64], start: int, end: int) -> None:
            triangle_kernels.count_triangles(dag, start, end, counts[0], at_root[0])

        parts = run_ranges(_costs(dag), lambda: np.zeros((1, n), np.int64), count, concurrency)
    return _added(parts, 3)[:, dag.rank], at_root


def _cliques(
    graph: Graph, sizes: NDArray[np.int64], concurrency: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cliques of each size at each vertex and at each root: int64, shape (len(sizes), n)."""
    n, most = graph.vertex_count, int(sizes.max(initial=3))
    at_root = np.zeros((len(sizes), n), np.int64)
    with compilation_announced(_COUNTS):
        dag = by_core(graph.offsets, graph.neighbours)
        largest = int(np.diff(dag.offsets).max(initial=0))
        chosen = kernels.binomials(largest, most)

        def memory() -> _Memory:
            return _Memory(kernels.workspace(n, largest, most), np.zeros((len(sizes), n), np.int64))

        def count(memory: _Memory, start: int, end: int) -> None:
            if k := kernels.count_cliques(dag, sizes, start, end, chosen, memory.work, memory.counts, at_root):
                raise _too_many(k)

        memories = run_ranges(_costs(dag), memory, count, concurrency)
    counts = np.empty_like(at_root)
    for m, k in enumerate(sizes.tolist()):
        counts[m] = _added((memory.counts[m] for memory in memories), k)[dag.rank]
    return counts, at_root


def _costs(dag: Dag) -> NDArray[np.int64]:
    """Return about what the cliques of each root cost to count."""
    return np.diff(dag.offsets) ** 2 + 1


def clique_supports(graph: Graph, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return support_k(e), the number of k-cliques that contain both ends of e, for each edge: int64, shape (m,).

    Edges u < v come ascending by u, then v, as in `edge_ends`. Arguments and errors are those of `clique_counts`.
    """
    supports, _ = supports_within(graph, k, None, concurrency=concurrency)
    return supports


def supports_within(
    graph: Graph, k: int, limit: int | None, *, concurrency: int | None = None
) -> tuple[NDArray[np.int64], int]:
    """As `clique_supports`, but give up where too much is to be done.

    Args:
        graph, k, concurrency: as in `clique_counts`.
        limit: how many pairs of vertices, and words of 64 vertices, may be looked at while cliques are counted; the
            number follows from the graph and k alone, whatever the number of threads. None for no limit. For k = 3
            nothing of the kind is looked at.

    Returns:
        The supports, of no use if it was given up; and how much was looked at, more than `limit` if it was given up.
    """
    size = _capped(k, graph)
    if size == 3:
        supports, at_root = _triangle_supports(graph, concurrency)
        looked = 0
    else:
        supports, at_root, looked = _supports(
            graph, size, np.iinfo(np.int64).max if limit is None else limit, concurrency
        )
    if limit is None or looked <= limit:
        _check_total(supports, size * (size - 1) // 2, at_root, f"support for k={k}")
    return supports, looked


def _triangle_supports(graph: Graph, concurrency: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the triangles at each edge and at each root."""
    at_root = np.zeros(graph.vertex_count, np.int64)
    with compilation_announced(_COUNTS):
        dag = by_degree(graph.offsets, graph.neighbours)

        def count(supports: NDArray[np.int64], start: int, end: int) -> None:
            triangle_kernels.triangle_supports(dag, start, end, supports, at_root)

        parts = run_ranges(_costs(dag), lambda: np.zeros(graph.edge_count, np.int64), count, concurrency)
        return _in_order(graph, dag, _added(parts, 3)), at_root


def _supports(
    graph: Graph, k: int, limit: int, concurrency: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the k-cliques at each edge and at each root, and how much was looked at."""
    at_root = np.zeros(graph.vertex_count, np.int64)
    looked: list[int] = []
    with compilation_announced(_COUNTS):
        dag = by_core(graph.offsets, graph.neighbours)
        largest = int(np.diff(dag.offsets).max(initial=0))
        chosen = kernels.binomials(largest, k)

        def memory() -> _Memory:
            work = kernels.workspace(graph.vertex_count, largest, k, pairs=True)
            return _Memory(work, np.zeros(graph.edge_count, np.int64))

        def count(memory: _Memory, start: int, end: int) -> None:
            left = limit - sum(looked)
            if left >= 0:
                fits, more = kernels.count_supports(
                    dag, k, start, end, chosen, left, memory.work, memory.counts, at_root
                )
                looked.append(more)
                if not fits:
                    raise _too_many(k)

        memories = run_ranges(_costs(dag), memory, count, concurrency)
        if sum(looked) > limit:
            return memories[0].counts, at_root, sum(looked)
        return _in_order(graph, dag, _added((memory.counts for memory in memories), k)), at_root, sum(looked)


def _in_order(graph: Graph, dag: Dag, supports: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what comes as `dag.heads` in the order of `edge_ends`."""
    ordered = np.empty(graph.edge_count, np.int64)
    ordered[edge_places(dag, graph.offsets, graph.neighbours)] = supports
    return ordered


def _capped(k: int, graph: Graph) -> int:
    """Check k, and return it or something smaller that no clique of this graph has either."""
    return min(check_clique_size(k), max(3, graph.vertex_count + 1))


def _too_many(k: int) -> GraphError:
    return GraphError(
        f"There are vertices in more than {2**63 - 1:,} {k}-cliques, which is more than can be counted here; "
        "choose a smaller k.",
        k=k,
    )


def _added(parts: Iterable[NDArray[np.int64]], k: int) -> NDArray[np.int64]:
    """Add up the threads' counts; a sum of two that does not fit comes out negative."""
    first, *others = parts
    for part in others:
        first += part
        if first.min(initial=0) < 0:
            raise _too_many(k)
    return first


def _check_total(counts: NDArray[np.int64], times: int, at_root: NDArray[np.int64], what: str) -> None:
    """Refuse counts unless each clique was counted as many `times` as it has vertices, or edges."""
    if _sum(counts) != times * _sum(at_root):
        raise AnswerError(f"The values of {what} do not add up. This is a fault in pcneo; please report it.")


def _sum(numbers: NDArray[np.int64]) -> int:
    """Return the exact sum of numbers of 0 or more, each half of their bits by itself so that it fits 64 bits."""
    return (int((numbers >> 32).sum(dtype=np.uint64)) << 32) + int((numbers & 0xFFFFFFFF).sum(dtype=np.uint64))


# --- Inside cohesions


def cliques_inside(graph: Graph, batch: CohesionBatch, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return Γ_in(v), the number of k-cliques that contain v with all vertices in MC(v): int64, shape (b,).

    Args:
        graph: the graph.
        batch: cohesions of this graph, one for each v, in the order of the answer.
        k: vertices of a clique, 3 or more.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: k or concurrency is out of range, or the batch does not fit the graph.
        GraphError: a count is 2^63 or more.
        AnswerError: a count is larger than the set allows.
    """
    size = _capped(k, graph)
    check_batch(graph, batch)
    largest = int(np.minimum(graph.degrees[batch.vertices], batch.sizes).max(initial=0))
    counts = np.zeros(len(batch), np.int64)
    with compilation_announced(_COUNTS):
        dag = by_core(graph.offsets, graph.neighbours)
        chosen = kernels.binomials(largest, size)

        def count(work: kernels.Workspace, start: int, end: int) -> None:
            if not kernels.cliques_inside(
                dag,
                size,
                graph.offsets,
                graph.neighbours,
                batch.vertices[start:end],
                batch.offsets[start : end + 1],
                batch.members,
                chosen,
                work,
                counts[start:end],
            ):
                raise _too_many(k)

        run_ranges(batch.sizes**2, lambda: kernels.workspace(graph.vertex_count, largest, size), count, concurrency)
    most = {int(s): comb(int(s) - 1, size - 1) for s in np.unique(batch.sizes)}
    for inside, members in zip(counts.tolist(), batch.sizes.tolist(), strict=True):
        if not 0 <= inside <= most[members]:
            raise AnswerError(f"Γ_in for k={k} is larger than its set allows: a fault in pcneo; please report it.")
    return counts
