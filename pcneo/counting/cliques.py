"""k-cliques per vertex, per edge and inside minimal p-cohesions (ALGORITHM.md#clique-counts).

Every count is exact, and is checked against an identity that the counting itself does not use.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import comb

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.errors import GraphError, ParameterError, fault
from pcneo.kernels import cliques as kernels
from pcneo.kernels import triangles as triangle_kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.degeneracy import Dag, by_core, by_degree, edge_places
from pcneo.kernels.threads import run_ranges

_COUNTS = "the clique counts"


def check_clique_size(k: object) -> int:
    """Return k as an int."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not k >= 3:
        raise ParameterError(f"k must be a whole number of 3 or more, not {k!r}.", name="k", value=k)
    return operator.index(k)


def edge_ends(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends u and v of every edge, u < v, ascending by u, then v: int64 arrays, shape (m,).

    Everything that has a value per edge comes in this order.
    """
    u = np.repeat(np.arange(graph.vertex_count), graph.degrees)
    upper = u < graph.neighbours
    return u[upper], graph.neighbours[upper].astype(np.int64)


# --- Counts for each vertex and each edge


_Memory = tuple[kernels.Workspace, NDArray[np.int64]]
"""One thread's workspace and counts."""


def clique_counts(graph: Graph, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return Γ(v), the number of k-cliques that contain v, for each vertex: int64, shape (n,)."""
    return clique_counts_of_sizes(graph, (k,), concurrency=concurrency)[k]


def clique_counts_of_sizes(
    graph: Graph, sizes: Iterable[int], *, concurrency: int | None = None
) -> dict[int, NDArray[np.int64]]:
    """Return for each k in `sizes` what `clique_counts` returns; all at once takes less time than one by one."""
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

        parts = run_ranges(root_costs(dag), lambda: np.zeros((1, n), np.int64), count, concurrency)
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
            return kernels.workspace(n, largest, most), np.zeros((len(sizes), n), np.int64)

        def count(memory: _Memory, start: int, end: int) -> None:
            if k := kernels.count_cliques(dag, sizes, start, end, chosen, *memory, at_root):
                raise _too_many(k)

        memories = run_ranges(root_costs(dag), memory, count, concurrency)
    counts = np.empty_like(at_root)
    for m, k in enumerate(sizes.tolist()):
        counts[m] = _added((of_thread[m] for _, of_thread in memories), k)[dag.rank]
    return counts, at_root


def root_costs(dag: Dag) -> NDArray[np.int64]:
    """Return the approximate cost of counting the cliques of each root."""
    return np.diff(dag.offsets) ** 2 + 1


def clique_supports(graph: Graph, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return support_k(e), the number of k-cliques that contain both ends of e, for each edge: int64, shape (m,).

    Edges come in the order of `edge_ends`.
    """
    size = _capped(k, graph)
    supports, at_root = _triangle_supports(graph, concurrency) if size == 3 else _supports(graph, size, concurrency)
    _check_total(supports, size * (size - 1) // 2, at_root, f"support for k={k}")
    return supports


def _triangle_supports(graph: Graph, concurrency: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the triangles at each edge and at each root."""
    at_root = np.zeros(graph.vertex_count, np.int64)
    with compilation_announced(_COUNTS):
        dag = by_degree(graph.offsets, graph.neighbours)

        def count(supports: NDArray[np.int64], start: int, end: int) -> None:
            triangle_kernels.triangle_supports(dag, start, end, supports, at_root)

        parts = run_ranges(root_costs(dag), lambda: np.zeros(graph.edge_count, np.int64), count, concurrency)
        return _in_order(graph, dag, _added(parts, 3)), at_root


def _supports(graph: Graph, k: int, concurrency: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the k-cliques at each edge and at each root."""
    at_root = np.zeros(graph.vertex_count, np.int64)
    with compilation_announced(_COUNTS):
        dag = by_core(graph.offsets, graph.neighbours)
        largest = int(np.diff(dag.offsets).max(initial=0))
        chosen = kernels.binomials(largest, k)

        def memory() -> _Memory:
            work = kernels.workspace(graph.vertex_count, largest, k, pairs=True)
            return work, np.zeros(graph.edge_count, np.int64)

        def count(memory: _Memory, start: int, end: int) -> None:
            if not kernels.count_supports(dag, k, start, end, chosen, *memory, at_root):
                raise _too_many(k)

        memories = run_ranges(root_costs(dag), memory, count, concurrency)
        return _in_order(graph, dag, _added((of_thread for _, of_thread in memories), k)), at_root


def _in_order(graph: Graph, dag: Dag, supports: NDArray[np.int64]) -> NDArray[np.int64]:
    """Reorder supports from the order of `dag.heads` to that of `edge_ends`."""
    ordered = np.empty(graph.edge_count, np.int64)
    ordered[edge_places(dag, graph.offsets, graph.neighbours)] = supports
    return ordered


def _capped(k: int, graph: Graph) -> int:
    """Check k, and cap it at a size that no clique of this graph can have."""
    return min(check_clique_size(k), max(3, graph.vertex_count + 1))


def _too_many(k: int) -> GraphError:
    return GraphError(
        f"Some vertices are in more than {2**63 - 1:,} {k}-cliques, which is more than can be counted here; "
        "choose a smaller k.",
        k=k,
    )


def _added(parts: Iterable[NDArray[np.int64]], k: int) -> NDArray[np.int64]:
    """Add up the threads' counts; a sum of two that does not fit 64 bits comes out negative."""
    first, *others = parts
    for part in others:
        first += part
        if first.min(initial=0) < 0:
            raise _too_many(k)
    return first


def _check_total(counts: NDArray[np.int64], times: int, at_root: NDArray[np.int64], what: str) -> None:
    """Refuse counts unless each clique was counted `times` times: once for each of its vertices, or edges."""
    if _sum(counts) != times * _sum(at_root):
        raise fault(f"The values of {what} do not add up")


def _sum(numbers: NDArray[np.int64]) -> int:
    """Return the exact sum of non-negative numbers; the halves of their bits are summed separately, to fit 64 bits."""
    return (int((numbers >> 32).sum(dtype=np.uint64)) << 32) + int((numbers & 0xFFFFFFFF).sum(dtype=np.uint64))


# --- Inside cohesions


def check_batch(graph: Graph, batch: CohesionBatch) -> None:
    """Refuse cohesions that cannot belong to this graph."""
    offsets, members = batch.offsets, batch.members.astype(np.int64)
    whole = len(offsets) == len(batch) + 1 and offsets[0] == 0 and offsets[-1] == len(members)
    if not (whole and (batch.sizes > 0).all() and _are_positions(graph, batch.vertices, members, offsets)):
        raise ParameterError(
            f"The cohesions do not belong to this graph of {graph.vertex_count:,} vertices: members must be positions "
            "in it, ascending within each cohesion. Use cohesions that were computed on it.",
            name="batch",
            value=len(batch),
        )


def _are_positions(
    graph: Graph, vertices: NDArray[np.int64], members: NDArray[np.int64], offsets: NDArray[np.int64]
) -> bool:
    """Return whether all of these are positions in the graph, and members ascend within each cohesion."""
    both = np.concatenate((vertices, members))
    same = np.ones(max(0, len(members) - 1), np.bool_)
    same[offsets[1:-1] - 1] = False
    ascending = bool((np.diff(members)[same] > 0).all())
    return ascending and both.min(initial=0) >= 0 and both.max(initial=-1) < graph.vertex_count


def cliques_inside(graph: Graph, batch: CohesionBatch, k: int, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return Γ_in(v), the number of k-cliques that contain v with all vertices in MC(v): int64, shape (b,)."""
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
    most = np.zeros(int(batch.sizes.max(initial=0)) + 1, np.int64)
    for members in np.unique(batch.sizes).tolist():
        most[members] = min(comb(members - 1, size - 1), 2**63 - 1)
    if ((counts < 0) | (counts > most[batch.sizes])).any():
        raise fault(f"Γ_in for k={k} is larger than its cohesion allows")
    return counts
