"""The paper's Algorithms 1 and 2, written plainly with sets of neighbours; degrees inside are updated, not recounted.

The pseudo-code updates the score of every vertex of the graph; only the scores that are used are computed here, with
the same result. Choices that the paper leaves open are made as in pcneo, so the answers must agree.
"""

from __future__ import annotations

from fractions import Fraction

Rows = list[set[int]]


def needs(rows: Rows, p: str) -> list[int]:
    """Return ⌈p·deg(v)⌉ of each vertex."""
    a, b = Fraction(p).as_integer_ratio()
    return [-(-a * len(neighbours) // b) for neighbours in rows]


def expand(rows: Rows, need: list[int], q: int) -> tuple[list[int], int]:
    """Algorithm 1: the vertices in join order, and how many were taken from the queue."""
    group, order, steps = {q}, [q], 0
    inside = dict.fromkeys(rows[q], 1)  # degrees inside; vertices not listed have none
    inside[q] = 0
    fringe = set(rows[q])  # outside, with a neighbour inside
    near: set[int] = set()  # neighbours of q inside
    queue = {q} if need[q] > 0 else set()
    while queue:
        most = max(inside[v] for v in queue)
        u = min(v for v in queue if inside[v] == most)
        scores = {}
        for w in rows[u] & fringe:
            degree, lacks = len(rows[w]), need[w] - inside[w]
            score = inside[w] * len(rows[w] & near) * len(rows[w] & queue) / degree**3
            if lacks > 0:
                helpers = sorted((inside[o] for o in rows[w] & fringe), reverse=True)[:lacks]
                score -= lacks / max(1, sum(helpers))
            scores[w] = score
        for w in sorted(scores, key=lambda w: (-scores[w], w))[: need[u] - inside[u]]:
            group.add(w)
            order.append(w)
            fringe.discard(w)
            for o in rows[w]:
                inside[o] = inside.get(o, 0) + 1
            fringe |= rows[w] - group
            queue -= {o for o in rows[w] & queue if inside[o] >= need[o]}
            if w in rows[q]:
                near.add(w)
            if inside[w] < need[w]:
                queue.add(w)
        steps += 1
    return order, steps


def shrink(rows: Rows, need: list[int], order: list[int]) -> set[int]:
    """Algorithm 2: vertices that joined last are tried first; the very first is the queried vertex."""
    group, must = set(order), {order[0]}
    inside = {v: len(rows[v] & group) for v in order}
    for v in reversed(order[1:]):
        if v not in group:
            continue
        group.remove(v)
        gone, lowered, waiting = [v], [], [v]
        while waiting:
            for w in rows[waiting.pop()] & group:
                inside[w] -= 1
                lowered.append(w)
                if inside[w] < need[w]:
                    group.remove(w)
                    gone.append(w)
                    waiting.append(w)
            if not must.isdisjoint(gone):
                must.add(v)
                group.update(gone)
                for w in lowered:
                    inside[w] += 1
                break
    return group


def minimal_p_cohesion(rows: Rows, need: list[int], q: int) -> set[int]:
    """MC(q)."""
    order, _ = expand(rows, need, q)
    return shrink(rows, need, order)
