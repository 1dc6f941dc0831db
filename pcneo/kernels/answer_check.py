"""The independent check of an answer; it shares no code with the search.

ALGORITHM.md#the-independent-check explains why these conditions are enough.
"""

import numpy as np
from numba import njit

SOUND = 0
HOLDS_QUERIED = 1
NEEDS_MET = 2
CONNECTED = 3
MINIMAL = 4


@njit(nogil=True, cache=True)
def _loses(offsets, neighbours, need, members, place, q, removed):
    """Whether q is lost when `removed` leaves and then, one after another, every member that falls below its need."""
    degree = np.zeros(len(members), np.int64)
    for i in range(len(members)):
        for k in range(offsets[members[i]], offsets[members[i] + 1]):
            degree[i] += place[neighbours[k]] > 0
    gone, leaving = np.zeros(len(members), np.bool_), np.empty(len(members), np.int64)
    gone[place[removed] - 1] = True
    leaving[0] = removed
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v = leaving[waiting]
        if v == q:
            return True
        for k in range(offsets[v], offsets[v + 1]):
            w = neighbours[k]
            i = place[w] - 1
            if i >= 0 and not gone[i]:
                degree[i] -= 1
                if degree[i] < need[w]:
                    gone[i] = True
                    leaving[waiting] = w
                    waiting += 1
    return False


@njit(nogil=True, cache=True)
def _check_one(offsets, neighbours, need, members, place, q, minimal):
    """Return the number of edges inside, the condition that fails (or SOUND), and the vertex at which it fails."""
    if place[q] == 0:
        return 0, HOLDS_QUERIED, q
    seen, queue = np.zeros(len(members), np.bool_), np.empty(len(members), np.int64)
    seen[place[q] - 1] = True
    queue[0] = q
    reached, visited, ends_inside = 1, 0, 0
    while visited < reached:
        v = queue[visited]
        visited += 1
        inside = 0
        for k in range(offsets[v], offsets[v + 1]):
            w = neighbours[k]
            i = place[w] - 1
            if i >= 0:
                inside += 1
                if not seen[i]:
                    seen[i] = True
                    queue[reached] = w
                    reached += 1
        if inside < need[v]:
            return 0, NEEDS_MET, v
        ends_inside += inside
    for v in members:
        if not seen[place[v] - 1]:
            return 0, CONNECTED, np.int64(v)
        if minimal and v != q and not _loses(offsets, neighbours, need, members, place, q, np.int64(v)):
            return 0, MINIMAL, np.int64(v)
    return ends_inside // 2, SOUND, q


@njit(nogil=True, cache=True)
def check_cohesions(offsets, neighbours, need, queries, bounds, members, edges, minimal, place):
    """Count the edges of each cohesion and check it, from the graph alone.

    Args:
        offsets, neighbours, need: the graph, as the search takes it.
        queries: int64, the queried vertices.
        bounds: int64; the i-th cohesion is `members[bounds[i]:bounds[i + 1]]`.
        members: uint32.
        edges: int64, one per cohesion; filled with its number of edges.
        minimal: whether to prove also, at a much higher cost, that no vertex can be left out.
        place: int64, n zeros; zeros again on return.

    Returns:
        (index, condition, vertex) of the first fault; condition is SOUND if there is none.
    """
    for i in range(len(queries)):
        cohesion = members[bounds[i] : bounds[i + 1]]
        for k in range(len(cohesion)):
            place[cohesion[k]] = k + 1
        edges[i], condition, vertex = _check_one(offsets, neighbours, need, cohesion, place, queries[i], minimal)
        for v in cohesion:
            place[v] = 0
        if condition != SOUND:
            return i, condition, vertex
    return -1, SOUND, -1
