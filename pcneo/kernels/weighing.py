"""Cliques of Ĝ with weights: sums over triangles and 4-cliques, and their variances (GUARANTEE.md#critical).

Each edge of Ĝ has a *kind*: `NO` and `YES` are the answers for pairs of P̂, `OUTSIDE` is a connection outside P̂. A
`table` has the weight of each kind, and a clique weighs the product of its edges' weights.

The variance of the sum over a vertex's triangles has two parts. One adds up over the triangles. The other adds up over
the vertex's edges in P̂, from two sums over the triangles with that edge: `products` of the other two weights, and
`squares` of these products.
"""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import fetch, lowest, ones

NO, YES, OUTSIDE = 0, 1, 2

ONE = np.uint64(1)


@njit(nogil=True, cache=True, forceinline=True)
def _successors(dag, v):
    return dag.heads[dag.offsets[v] : dag.offsets[v + 1]]


@njit(nogil=True, cache=True)
def connected_pairs(offsets, neighbours, sources, targets, connected):
    """Fill `connected`, bool, with whether the graph connects the pairs, which ascend by source, then target."""
    at, before = 0, -1
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != before:
            at, before = offsets[u], u
        while at < offsets[u + 1] and neighbours[at] < v:
            at += 1
        connected[i] = at < offsets[u + 1] and neighbours[at] == v


# --- Ĝ as lists


@njit(nogil=True, cache=True)
def weigh_triangles(dag, kinds, table, v, first, last, sums, products, squares):
    """Add the triangles whose root is one of first..last-1, and what they add to variances.

    Args:
        dag: Ĝ.
        kinds: uint8, m; in the order of `dag.heads`.
        table: float64, 3; the weight of each kind.
        v: the variance that one answer adds.
        first, last: the roots, by rank.
        sums: float64, (3, n); by rank: products, what triangles add to each vertex's variance, and, only at
            their root, what they add to the variance of the total of all triangles.
        products, squares: float64, m; in the order of `dag.heads`.
    """
    near = np.zeros(len(dag.order), np.int64)
    most = 0
    for root in range(len(dag.order)):
        most = max(most, dag.offsets[root + 1] - dag.offsets[root])
    arcs = np.empty(most + 1, np.int64)
    inner = np.array([1.0, 1.0, 0.0])
    for root in range(first, last):
        begin, end = dag.offsets[root], dag.offsets[root + 1]
        for b in range(begin, end):
            near[dag.heads[b]] = b + 1
            fetch(dag.heads, dag.offsets[dag.heads[b]])
        for a in range(begin, end):
            middle = dag.heads[a]
            count = 0
            for c in range(dag.offsets[middle], dag.offsets[middle + 1]):
                arcs[count] = c
                count += near[dag.heads[c]] > 0
            ga, pa = table[kinds[a]], inner[kinds[a]]
            of_root = of_middle = of_all = change = s = q = 0.0
            for i in range(count):
                c = arcs[i]
                w = dag.heads[c]
                b = near[w] - 1
                gb, pb, gc, pc = table[kinds[b]], inner[kinds[b]], table[kinds[c]], inner[kinds[c]]
                ab, ac, bc = ga * gb, ga * gc, gb * gc
                both = v * v * (pa * (pb * gc + pc * gb) + pb * pc * ga) + v * v * v * pa * pb * pc
                s += bc
                q += bc * bc
                products[b] += ac
                squares[b] += ac * ac
                products[c] += ab
                squares[c] += ab * ab
                of_all += ab * gc
                change += both
                of_root += v * pc * ab
                of_middle += v * pb * ac
                sums[0, w] += ab * gc
                sums[1, w] += both + v * pa * bc
            products[a] += s
            squares[a] += q
            sums[0, root] += of_all
            sums[0, middle] += of_all
            sums[1, root] += change + of_root
            sums[1, middle] += change + of_middle
            sums[2, root] += change
        for b in range(begin, end):
            near[dag.heads[b]] = 0


@njit(nogil=True, cache=True)
def steps_of_fours(dag, first, last, place, taken):
    """Fill `taken`, int64, n, with the steps that `weigh_fours` takes for each root; `place` is int64, n, zeros."""
    into = np.zeros(len(dag.order), np.int64)
    for root in range(first, last):
        local = _successors(dag, root)
        for i, v in enumerate(local):
            place[v] = i + 1
            into[i] = 0
        steps = 0
        for v in local:
            for w in _successors(dag, v):
                if place[w]:
                    into[place[w] - 1] += 1
        for i, v in enumerate(local):
            out = 0
            for w in _successors(dag, v):
                out += place[w] > 0
            steps += out * (into[i] + 1)
        taken[root] = steps
        for v in local:
            place[v] = 0


@njit(nogil=True, cache=True)
def weigh_fours(dag, kinds, table, first, last, place, sums):
    """Add the 4-cliques whose root is one of first..last-1.

    Args:
        dag, kinds, table: as in `weigh_triangles`.
        first, last: the roots, by rank.
        place: int64, n; zeros, this thread's.
        sums: float64, (2, n); by rank: products at each vertex, and at each root once.
    """
    most, room = 0, 0
    for root in range(first, last):
        size, edges = dag.offsets[root + 1] - dag.offsets[root], 0
        for v in _successors(dag, root):
            edges += dag.offsets[v + 1] - dag.offsets[v]
        most, room = max(most, size), max(room, min(edges, size * size))
    starts, heads = np.empty(most + 1, np.int64), np.empty(room + 1, np.uint32)
    weights, of_root = np.empty(room + 1), np.empty(most)
    with_second, counts = np.zeros(most), np.zeros(most)
    for root in range(first, last):
        local = _successors(dag, root)
        size, begin = len(local), dag.offsets[root]
        for i, v in enumerate(local):
            place[v] = i + 1
            fetch(dag.heads, dag.offsets[v])
            of_root[i] = table[kinds[begin + i]]
            counts[i] = 0.0
        count = 0
        for i, v in enumerate(local):
            starts[i] = count
            for c in range(dag.offsets[v], dag.offsets[v + 1]):
                at = place[dag.heads[c]]
                if at > 0:
                    heads[count], weights[count] = at - 1, table[kinds[c]]
                    count += 1
        starts[size] = count
        total = 0.0
        for i in range(size):
            row = range(starts[i], starts[i + 1])
            for j in row:
                # What j's edges with root and i weigh; `above` also has the edge between root and i.
                with_second[heads[j]] = of_root[heads[j]] * weights[j]
            of_second = 0.0
            for j in row:
                third = heads[j]
                above = of_root[i] * with_second[third]
                of_third = 0.0
                for e in range(starts[third], starts[third + 1]):
                    x = with_second[heads[e]] * weights[e]
                    of_third += x
                    counts[heads[e]] += above * x
                counts[third] += above * of_third
                of_second += above * of_third
            counts[i] += of_second
            total += of_second
            for j in row:
                with_second[heads[j]] = 0.0
        for i, v in enumerate(local):
            sums[0, v] += counts[i]
            place[v] = 0
        sums[0, root] += total
        sums[1, root] += total


# --- Ĝ in bits, where it is dense


@njit(nogil=True, cache=True)
def set_pairs(rows, sources, targets, chosen):
    """Set the bits of the chosen pairs in a symmetric matrix: uint64, (n, words)."""
    for i in range(len(sources)):
        if chosen[i]:
            u, v = sources[i], targets[i]
            rows[u, v >> 6] |= ONE << np.uint64(v & 63)
            rows[v, u >> 6] |= ONE << np.uint64(u & 63)


@njit(nogil=True, cache=True, forceinline=True)
def _meet(a, b):
    count = 0
    for i in range(len(a)):
        count += np.int64(ones(a[i] & b[i]))
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _meet_kinds(no, yes, outside, u, x, met):
    """Fill `met`, (3, 3): how many vertices have an edge of one kind with u and of another with x."""
    met[NO, NO], met[NO, YES], met[NO, OUTSIDE] = _meet(no[u], no[x]), _meet(no[u], yes[x]), _meet(no[u], outside[x])
    met[YES, NO], met[YES, YES], met[YES, OUTSIDE] = (
        _meet(yes[u], no[x]),
        _meet(yes[u], yes[x]),
        _meet(yes[u], outside[x]),
    )
    met[OUTSIDE, NO], met[OUTSIDE, YES], met[OUTSIDE, OUTSIDE] = (
        _meet(outside[u], no[x]),
        _meet(outside[u], yes[x]),
        _meet(outside[u], outside[x]),
    )


@njit(nogil=True, cache=True)
def weigh_rows(no, yes, outside, tables, v, first, last, sums):
    """Do what `weigh_triangles` does from rows of bits, for the edges whose smaller end is one of first..last-1.

    Args:
        no, yes, outside: uint64, (n, words); the edges of each kind, as symmetric matrices.
        tables: float64, (t, 3); each as in `weigh_triangles`.
        v: as there.
        first, last: the vertices.
        sums: float64, (t, 3, n); this thread's: over all edges, products, variances, and what adds up to the variance
            of the total.
    """
    met = np.empty((3, 3), np.int64)
    for u in range(first, last):
        for kind in range(3):
            row = no[u] if kind == NO else yes[u] if kind == YES else outside[u]
            p = 0.0 if kind == OUTSIDE else 1.0
            for i in range(u >> 6, len(row)):
                word = row[i]
                if i == u >> 6:
                    word &= ~((ONE << np.uint64(u & 63)) | ((ONE << np.uint64(u & 63)) - ONE))
                while word:
                    x = (i << 6) + np.int64(lowest(word))
                    word &= word - ONE
                    _meet_kinds(no, yes, outside, u, x, met)
                    for t in range(len(tables)):
                        g = tables[t, kind]
                        s = q = pp = pg = gp = 0.0
                        for a in range(3):
                            for b in range(3):
                                weight = tables[t, a] * tables[t, b]
                                s += weight * met[a, b]
                                q += weight * weight * met[a, b]
                                pp += met[a, b] if a != OUTSIDE and b != OUTSIDE else 0
                                pg += tables[t, b] * met[a, b] if a != OUTSIDE else 0
                                gp += tables[t, a] * met[a, b] if b != OUTSIDE else 0
                        both = v * v * (p * (pg + gp) + g * pp) + v * v * v * p * pp
                        alone = v * p * (s * s - q + s)
                        sums[t, 0, u] += g * s / 2
                        sums[t, 0, x] += g * s / 2
                        sums[t, 1, u] += (both + v * g * gp) / 2 + alone
                        sums[t, 1, x] += (both + v * g * pg) / 2 + alone
                        sums[t, 2, u] += both / 3 + alone
