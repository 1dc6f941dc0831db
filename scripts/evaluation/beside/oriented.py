"""EdgeOrient, oriented triangle counting by Mundra, Papamanthou, Shun and Liu (arXiv 2506.20828), from its description.

Read in the authors' repository, mundrapranay/DistributedLEDPGraphAlgos, `ldp_graph_algorithms__full_paper.pdf` of
31 May 2025: Algorithms 3.1 to 3.3 and 4.1 to 4.4. What the text leaves open is chosen so:

- ψ is 0.5, from the authors' settings; the bias term is 8 and the split fraction 0.8, as in Section 5.
- A vertex stays where it is from the first round that is not below its threshold: equality, as printed, cannot hold
  for thresholds that are no whole numbers.
- A vertex moves up where its noisy number exceeds (1+ψ)^F(r), as in Invariants 1 and 2; Algorithm 3.3 prints a product.
- 12 log(n)/ε has the natural logarithm; log is to the base 1+ψ in Section 3 alone.
- Each vertex is its own worker, as in the local model.

Only the sum over all vertices is needed here, so answers of randomised response are not drawn pair by pair: pairs that
are asked for equally often are drawn together, with the same distribution.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.beside.pairs_of_neighbours import Asked, asked_pairs
from pcneo.basics.model import Graph

PSI, SPLIT, BIAS = 0.5, 0.8, 8.0

Integers = NDArray[np.int64]


class Worth(NamedTuple):
    """What an answer of randomised response counts: unbiased, and so neither 0 nor 1."""

    no: float
    yes: float


def worth(quarter: float) -> Worth:
    """Return what a no and a yes count, where an answer is flipped with probability 1/(1+e^quarter)."""
    return Worth(-1 / math.expm1(quarter), math.exp(quarter) / math.expm1(quarter))


def symmetric_geometric(rng: np.random.Generator, epsilon: NDArray[np.float64] | float, size: int) -> Integers:
    """Draw integers x with probability in proportion to exp(-epsilon·|x|)."""
    success = -np.expm1(-np.asarray(epsilon))
    return rng.geometric(success, size) - rng.geometric(success, size)


def draw_order(graph: Graph, epsilon: float, rng: np.random.Generator) -> Integers:
    """Draw the low out-degree order, Algorithms 3.1 to 3.3: the place of each vertex, by its level and its position."""
    n, degrees = graph.vertex_count, graph.degrees.astype(np.int64)
    of_degrees, of_levels = SPLIT * epsilon, (1 - SPLIT) * epsilon
    per_group = math.ceil(math.log(n, 1 + PSI)) / 4
    noisy = degrees + symmetric_geometric(rng, of_degrees / 2, n)
    noisy = np.maximum(noisy - BIAS * 2 * math.exp(of_degrees) / math.expm1(2 * of_degrees), 0) + 1
    thresholds = np.ceil(np.log2(noisy)) * per_group
    rounds = min(4 * math.log(n, 1 + PSI) * math.log(noisy.max(), 1 + PSI) - 1, thresholds.max())
    levels, stays = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    sources = np.repeat(np.arange(n), degrees)
    for r in range(math.floor(rounds) + 1):
        stays |= thresholds <= r
        trying = np.flatnonzero((levels == r) & ~stays)
        beside = np.bincount(sources[levels[graph.neighbours] == r], minlength=n)[trying]
        scale = of_levels / (2 * thresholds[trying])
        bias = 6 * np.exp(scale) / np.expm1(2 * scale) ** 3
        moves = beside + symmetric_geometric(rng, scale, len(trying)) + bias > (1 + PSI) ** math.floor(r / per_group)
        levels[trying[moves]] += 1
        stays[trying[~moves]] = True
    place = np.empty(n, np.int64)
    place[np.argsort(levels, kind="stable")] = np.arange(n)
    return place


def added_bound(n: int, epsilon: float) -> float:
    """Return what Algorithm 4.1 adds to the largest noisy out-degree."""
    return 12 * math.log(n) / epsilon


def draw_total(graph: Graph, epsilon: float, rng: np.random.Generator, added: float | None = None) -> float:
    """Draw one estimate of the number of triangles, Algorithm 4.1; each of its four steps has a quarter of ε.

    `added` replaces what Algorithm 4.1 adds to the largest noisy out-degree. The authors' program adds 0.
    """
    n, quarter = graph.vertex_count, epsilon / 4
    place = draw_order(graph, quarter, rng)
    sources = np.repeat(np.arange(n), graph.degrees)
    out = place[graph.neighbours] > place[sources]
    lengths = np.bincount(sources[out], minlength=n)
    bound = float((lengths + symmetric_geometric(rng, quarter, n)).max())
    bound += added_bound(n, epsilon) if added is None else added
    bound = max(bound, 1.0)  # the paper has no rule for less, which n vertices never draw together
    asked = asked_pairs(graph, graph.neighbours[out], lengths, math.floor(bound))
    return _answered(asked, quarter, rng) + float(rng.laplace(0, 2 * bound / quarter, n).sum())


def _answered(asked: Asked, quarter: float, rng: np.random.Generator) -> float:
    no, yes = worth(quarter)
    truth = 1 / (1 + math.exp(-quarter))
    total = 0.0
    for pairs, chance in ((asked.connected, truth), (asked.others, 1 - truth)):
        times = np.arange(len(pairs))
        said_yes = rng.binomial(pairs, chance)
        total += float(yes * (times * said_yes).sum() + no * (times * (pairs - said_yes)).sum())
    return total
