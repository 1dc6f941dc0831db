"""Common neighbours on arrays: the most that a vertex shares with any other (ALGORITHM.md#common-neighbours)."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def largest_common(offsets, neighbours, first, last, largest):
    """Raise `largest`, at both ends of each pair {v, u}, u > v, v in first..last-1, to its number of common neighbours.

    Args:
        offsets: int64, n + 1.
        neighbours: uint32, ascending within each vertex.
        first, last: the vertices v.
        largest: int64, n.
    """
    common = np.zeros(len(largest), np.int64)
    met = np.empty(len(largest), np.uint32)
    for v in range(first, last):
        count = 0
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            for i in range(offsets[w + 1] - 1, offsets[w] - 1, -1):
                u = neighbours[i]
                if u <= v:
                    break
                if common[u] == 0:
                    met[count] = u
                    count += 1
                common[u] += 1
        for u in met[:count]:
            largest[u] = max(largest[u], common[u])
            largest[v] = max(largest[v], common[u])
            common[u] = 0


@njit(nogil=True, cache=True)
def largest_common_inside(dag, offsets, neighbours, queries, starts, members, largest):
    """Fill `largest` with the most neighbours that each queried vertex shares with another member inside its cohesion.

    Args:
        dag: the graph, every edge once.
        offsets, neighbours: the graph's rows.
        queries: int64, b; the queried vertices.
        starts, members: the i-th cohesion is `members[starts[i]:starts[i + 1]]`.
        largest: int64, b; zeros.
    """
    rank = dag.rank
    inside = np.zeros(len(rank), np.uint8)  # by rank: 1 for a member, 2 for a member that is a neighbour of q
    common = np.zeros(len(rank), np.int64)
    for i, q in enumerate(queries):
        group = members[starts[i] : starts[i + 1]]
        for v in group:
            inside[rank[v]] = 1
        for v in neighbours[offsets[q] : offsets[q + 1]]:
            inside[rank[v]] *= 2
        for v in group:
            a = rank[v]
            for b in dag.heads[dag.offsets[a] : dag.offsets[a + 1]]:
                common[a] += inside[b] == 2
                common[b] += inside[a] == 2
        for v in group:
            if v != q:
                largest[i] = max(largest[i], common[rank[v]])
        for v in group:
            a = rank[v]
            inside[a], common[a] = 0, 0
            for b in dag.heads[dag.offsets[a] : dag.offsets[a + 1]]:
                common[b] = 0


@njit(nogil=True, cache=True)
def degrees_inside(offsets, neighbours, queries, starts, members, degrees):
    """Add to `degrees`, for each queried vertex, how many neighbours it has in its cohesion.

    Args:
        offsets, neighbours, queries, starts, members: as in `largest_common_inside`, the members of each ascending.
        degrees: int64, b; zeros.
    """
    for i, q in enumerate(queries):
        at, end = offsets[q], offsets[q + 1]
        for v in members[starts[i] : starts[i + 1]]:
            while at < end and neighbours[at] < v:
                at += 1
            degrees[i] += at < end and neighbours[at] == v
