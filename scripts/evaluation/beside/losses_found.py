"""What one connection really loses in the worst case, by brute force over all graphs of few vertices.

A loss is the logarithm of a ratio: how much likelier the same published numbers are with the connection than without
it, or the other way round. Everything here follows from formulas, written down anew and not taken from the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from evaluation.beside.oriented import added_bound, worth
from evaluation.beside.simulated_runs import ORIENTED, made
from pcneo.privacy.mechanisms import Edge, Modelled

LARGEST = 5
"""Vertices of the largest graphs that are gone through."""

_Neighbours = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Loss:
    """The worst loss found.

    Attributes:
        value: the logarithm of the ratio.
        how: how it was found.
        graph: connections of a graph where it is lost, and the one that is added; empty where all graphs lose it.
        vertices: of that graph.
        added: the connection.
    """

    value: float
    how: str
    graph: tuple[tuple[int, int], ...] = ()
    vertices: int = 0
    added: tuple[int, int] | None = None


def worst_loss(mechanism: str, epsilon: str) -> Loss:
    """Return the worst loss of one connection, of those that the mechanism means to protect."""
    if mechanism == ORIENTED:
        return _of_oriented(float(epsilon))
    if mechanism in ("respond", "critical"):
        below = math.ceil(Fraction(2**24) / (1 + Fraction(math.exp(float(epsilon)))))  # 40 bits more than it needs
        f = Fraction(below, 2**24)
        return Loss(math.log((1 - f) / f), "exact, every pair that is answered, any graph")
    return _of_bound(mechanism, epsilon)


def _graphs(n: int) -> Iterator[tuple[tuple[int, int], ...]]:
    pairs = list(combinations(range(n), 2))
    for chosen in range(2 ** len(pairs)):
        yield tuple(pair for i, pair in enumerate(pairs) if chosen >> i & 1)


def _neighbours(n: int, edges: tuple[tuple[int, int], ...]) -> _Neighbours:
    return tuple(frozenset(a + b - v for a, b in edges if v in (a, b)) for v in range(n))


def _cases() -> Iterator[tuple[int, tuple[tuple[int, int], ...], tuple[int, int]]]:
    """Every graph of 3 to 5 vertices with every connection that can be added to it."""
    for n in range(3, LARGEST + 1):
        for edges in _graphs(n):
            for pair in combinations(range(n), 2):
                if pair not in edges:
                    yield n, edges, pair


# --- edge, total, modelled: a bound C* found by noise, then noise in proportion to it


def _of_bound(mechanism: str, epsilon: str) -> Loss:
    """The worst over all graphs, pairs and C*, but where C* < cn(a, b): that has probability δ at most."""
    best = Loss(0.0, "")
    for n, edges, (a, b) in _cases():
        value = _loss_by_bound(mechanism, epsilon, n, edges, (a, b))
        if value > best.value + 1e-12:
            best = Loss(value, "exact on graphs of 3 to 5 vertices, but for a failure of probability δ")
    return best


def _loss_by_bound(
    mechanism: str, epsilon: str, n: int, edges: tuple[tuple[int, int], ...], pair: tuple[int, int]
) -> float:
    parts = made(mechanism, epsilon, n)
    if not isinstance(parts, Edge):  # which total and modelled are, too
        raise TypeError(f"{mechanism} does not go by a bound on common neighbours")
    degrees = float(parts.epsilon_0) if isinstance(parts, Modelled) else 0.0  # two degrees change by 1, at scale 2/ε0
    epsilon_1, epsilon_2 = float(parts.epsilon_1), float(parts.epsilon_2)
    without, with_it = _neighbours(n, edges), _neighbours(n, (*edges, pair))
    pad = _pad(epsilon_1, float(parts.delta))
    shared = len(without[pair[0]] & without[pair[1]])
    worst = 0.0
    for bound in range(shared, n - 1):
        found = [_log_chance(bound, n - 2, _largest_common(graph) + pad, epsilon_1) for graph in (without, with_it)]
        worst = max(worst, degrees + abs(found[0] - found[1]) + epsilon_2 * shared / max(bound, 1))
    return worst


def _pad(epsilon_1: float, delta: float) -> int:
    """The smallest a with P[X < -a] <= δ."""
    return max(0, math.ceil(-math.log(delta * (1 + math.exp(-epsilon_1))) / epsilon_1 - 1))


def _log_chance(bound: int, largest: int, middle: int, epsilon_1: float) -> float:
    """ln P[C* = bound], C* the smaller of `largest` and middle + X, P[X=x] in proportion to exp(-ε1·|x|)."""
    away, alpha = bound - middle, math.exp(-epsilon_1)
    if bound < largest:
        return math.log((1 - alpha) / (1 + alpha)) - epsilon_1 * abs(away)
    if away > 0:
        return -epsilon_1 * away - math.log1p(alpha)
    return math.log1p(-math.exp(-epsilon_1 * (1 - away)) / (1 + alpha))


def _largest_common(neighbours: _Neighbours) -> int:
    return max(len(neighbours[u] & neighbours[v]) for u, v in combinations(range(len(neighbours)), 2))


# --- oriented: given the order of positions, which comes out where no vertex moves up


def _of_oriented(epsilon: float) -> Loss:
    """The worst over all graphs, added connections, bounds and answers, given that the order is that of positions.

    That order comes out where every noisy degree is small, which is likelier without the connection. So what the order
    itself tells is left out here, and could only add.
    """
    best = Loss(0.0, "")
    for n, edges, pair in _cases():
        value = _oriented_loss(n, edges, pair, epsilon)
        if value > best.value + 1e-12:
            best = Loss(value, "brute force on graphs of 3 to 5 vertices, a lower bound", edges, n, pair)
    return best


def _oriented_loss(n: int, edges: tuple[tuple[int, int], ...], pair: tuple[int, int], epsilon: float) -> float:
    """The answer for the pair is no, the out-degree reported is low, the count reported is far out: all say no."""
    quarter = epsilon / 4
    no, yes = worth(quarter)
    out = sorted(b for a, b in edges if a == pair[0])
    added, most = sorted([*out, pair[1]]), 0.0
    begin = added_bound(n, epsilon)
    for noisy in range(-math.floor(begin), 1):  # the largest noisy out-degree; d̃max > 0 is what is counted with
        bound = noisy + begin
        before, after = (set(combinations(row[: math.floor(bound)], 2)) for row in (out, added))
        gone, come = len(before - after), len(after - before)
        change = max(come * yes - gone * no, gone * yes - come * no)
        most = max(most, change / (2 * bound))
    return quarter * (2 + most)


def as_degrees_grow(epsilon: float) -> float:
    """Return what the worst loss of the oriented mechanism tends to as out-degrees grow, given the order."""
    no, yes = worth(epsilon / 4)
    return epsilon / 4 * (2 + (yes - no) / 2)
