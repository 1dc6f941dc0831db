"""What pairs cost at a release's scales, summed up for the owner (GUARANTEE.md#loss-of-one-connection).

The scales count as fixed here; `pcneo audit` looks further, and at how they are found. There may be so many pairs
inside groups that they are computed block by block, and never lie in memory together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.cliques import edge_ends
from pcneo.counting.counted import CountedGraph
from pcneo.counting.losses import ORDER_SEED, PairLosses, pair_losses
from pcneo.counting.protected import Protected, pair_blocks
from pcneo.errors import GraphError
from pcneo.privacy.mechanisms import Scaling
from pcneo.privacy.quantiles import StreamedQuantiles, quantiles, worst_places

__all__ = [
    "CONNECTIONS",
    "INSIDE",
    "LossSummary",
    "find_losses",
    "losses_inside",
    "rates_of",
    "summary",
]

AFFORDABLE = 2_000_000_000
"""Steps for k >= 4, some seconds; where all pairs take more, a sample of them stands for all."""

HELD = 2**21
"""Pairs inside groups that lie in memory together, in about 0.2 GB. Of more, all are computed in blocks for k = 3; for
k >= 4 a sample of this many is drawn, and a pair that is drawn twice counts once."""

INSIDE, CONNECTIONS = "pairsInsideGroups", "connections"

_WORST = 10  # pairs that are kept one by one

Ends = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LossSummary:
    """What the pairs of one kind cost.

    Attributes:
        pairs: how many there are.
        counted: how many losses were computed; where fewer, the pairs are a sample drawn with `ORDER_SEED`.
        quantiles: for each share in `QUANTILES` the loss, in ε, that this share of the counted pairs does not exceed;
            inf where an exact count changes.
        infinite: how many cost infinitely much.
        worst: ends by position, and loss, of those that cost most; at most ten, the costliest first.
    """

    pairs: int
    counted: int
    quantiles: tuple[float, ...]
    infinite: int
    worst: tuple[tuple[int, int, float], ...]

    @property
    def seed(self) -> int | None:
        """What the sample was drawn with; None where every pair was counted."""
        return None if self.counted == self.pairs else ORDER_SEED

    def divided(self, divisor: float) -> LossSummary:
        """Return the summary with every loss divided by the same number."""
        return replace(
            self,
            quantiles=tuple(loss / divisor for loss in self.quantiles),
            worst=tuple((u, v, loss / divisor) for u, v, loss in self.worst),
        )


def rates_of(scales: Sequence[Fraction] | None, n: int) -> Floats:
    """Return 1/t_v, inf for an exact count: float64, shape (n,); 1 everywhere without scales."""
    if scales is None:
        return np.ones(n)
    return np.array([1 / float(scale) if scale else math.inf for scale in scales])


def find_losses(facts: CountedGraph, k: int, scaling: Scaling) -> dict[str, LossSummary]:
    """Return the losses over all pairs inside groups, adjacent or not, and over all connections.

    Args:
        facts: the graph, and its groups if there are any. Groups too large for memory are left out.
        k: vertices of a clique.
        scaling: where one scale is found by noise, losses are those at scale 1, which that scale is to divide.
    """
    graph = facts.graph
    rates = rates_of(scaling.fixed, graph.vertex_count)
    summaries: dict[str, LossSummary] = {}
    if facts.groups is not None:
        with suppress(GraphError):
            summaries[INSIDE] = losses_inside(graph, facts.protected(), k, rates, AFFORDABLE)
    u, v = edge_ends(graph)
    summaries[CONNECTIONS] = summary(u, v, pair_losses(graph, u, v, k, rates, affordable=AFFORDABLE), len(u))
    return summaries


def summary(u: Ends, v: Ends, computed: PairLosses, pairs: int) -> LossSummary:
    """Return the summary of losses that lie in memory.

    Args:
        u, v: int64; the ends of the pairs that were given, by position.
        computed: the losses of all of them, or of a sample.
        pairs: how many pairs there are in all.
    """
    losses = computed.losses
    return LossSummary(
        pairs=pairs,
        counted=len(losses),
        quantiles=quantiles(losses),
        infinite=int(np.isinf(losses).sum()),
        worst=_worst(u[computed.places], v[computed.places], losses),
    )


def _worst(u: Ends, v: Ends, losses: Floats) -> tuple[tuple[int, int, float], ...]:
    return tuple((int(u[i]), int(v[i]), float(losses[i])) for i in worst_places(losses, _WORST))


def losses_inside(
    graph: Graph, protected: Protected, k: int, rates: Floats, affordable: int, *, held: int = HELD
) -> LossSummary:
    """Return the losses over all pairs inside groups, or for k >= 4 over a sample where they are too many.

    Args:
        graph: the graph.
        protected: its pairs inside groups.
        k: vertices of a clique.
        rates: float64, shape (n,); 1/t_v.
        affordable: steps for k >= 4.
        held: pairs that may lie in memory together.
    """
    pairs = protected.pair_count
    if k == 3 and pairs > held:
        return _in_blocks(graph, protected, rates, held)
    u, v = _sample(protected, held) if pairs > held else next(pair_blocks(protected, most=held))
    return summary(u, v, pair_losses(graph, u, v, k, rates, affordable=affordable), pairs)


def _in_blocks(graph: Graph, protected: Protected, rates: Floats, held: int) -> LossSummary:
    """The losses for k = 3, block by block."""
    pairs = protected.pair_count
    streamed, infinite = StreamedQuantiles(pairs), 0
    a, b, kept = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)  # the worst of the blocks before
    for number in range(streamed.PASSES):
        for u, v in pair_blocks(protected, most=held):
            losses = pair_losses(graph, u, v, 3, rates).losses
            streamed.add(losses)
            if number == 0:
                infinite += int(np.isinf(losses).sum())
                here = worst_places(losses, _WORST)
                a, b = np.concatenate((a, u[here])), np.concatenate((b, v[here]))
                kept = np.concatenate((kept, losses[here]))
                best = worst_places(kept, _WORST)
                a, b, kept = a[best], b[best], kept[best]
        streamed.end_pass()
    return LossSummary(pairs, pairs, streamed.quantiles(), infinite, _worst(a, b, kept))


def _sample(protected: Protected, size: int) -> tuple[Ends, Ends]:
    """The ends of up to `size` different pairs, drawn with `ORDER_SEED`."""
    drawn = np.unique(np.random.default_rng(ORDER_SEED).integers(protected.pair_count, size=size))
    before, parts = 0, list[tuple[Ends, Ends]]()
    for u, v in pair_blocks(protected, most=size):
        first, last = np.searchsorted(drawn, (before, before + len(u)))
        here = drawn[first:last] - before
        parts.append((u[here], v[here]))
        before += len(u)
    u, v = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return u, v
