"""The loss of one connection at a release's scales, for the owner's report (GUARANTEE.md#loss-of-one-connection).

The scales count as fixed here; `pcneo audit` looks further, and at how they are found. Pairs inside groups may be so
many that they are passed over block by block, and never held together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.counting.cliques import edge_ends
from pcneo.counting.losses import ORDER_SEED, PairLosses, pair_losses
from pcneo.counting.protected import Protected, pair_blocks
from pcneo.errors import GraphError
from pcneo.model import Graph, Run
from pcneo.privacy.quantiles import QUANTILES, PassedQuantiles, quantiles, worst_places
from pcneo.release.read_graph import Source

__all__ = [
    "CONNECTIONS",
    "INSIDE",
    "LossSummary",
    "describe_losses",
    "find_losses",
    "losses_inside",
    "rates_of",
    "summary",
]

AFFORDABLE = 2_000_000_000
"""Steps for k >= 4, some seconds; beyond, a sample of the pairs is looked at."""

HELD = 2**21
"""Pairs inside groups that are looked at together, in about 0.2 GB. More are passed over in blocks for k = 3, and for
k >= 4 so many are drawn, some of them twice, of which each counts once."""

INSIDE, CONNECTIONS = "pairsInsideGroups", "connections"

_WORST = 10  # pairs that are kept one by one

Ends = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LossSummary:
    """What the pairs of one kind cost.

    Attributes:
        pairs: how many there are.
        counted: how many were looked at; where fewer, they are a sample drawn with `ORDER_SEED`.
        quantiles: the losses that each share in `QUANTILES` of those counted does not pass; inf where an exact count
            changes.
        infinite: how many cost infinitely much.
        worst: ends by position and loss of those that cost most, at most ten, the costliest first.
    """

    pairs: int
    counted: int
    quantiles: tuple[float, ...]
    infinite: int
    worst: tuple[tuple[int, int, float], ...]

    @property
    def seed(self) -> int | None:
        """What the sample was drawn with; None where all were looked at."""
        return None if self.counted == self.pairs else ORDER_SEED

    def divided(self, divisor: float) -> LossSummary:
        """Return the same for losses that are all divided."""
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


def find_losses(source: Source, k: int, scales: Sequence[Fraction] | None, run: Run | None) -> dict[str, LossSummary]:
    """Return the losses over all pairs inside groups, adjacent or not, and over all connections.

    Args:
        source: the graph and its groups.
        k: vertices of a clique.
        scales: t_v by vertex; None for 1 everywhere, which a common scale is to divide.
        run: whose groups; None for none. Groups too large for memory are left out.
    """
    graph = source.graph
    rates = rates_of(scales, graph.vertex_count)
    found: dict[str, LossSummary] = {}
    if run is not None:
        with suppress(GraphError):
            found[INSIDE] = losses_inside(graph, source.protected(run), k, rates, AFFORDABLE)
    u, v = edge_ends(graph)
    found[CONNECTIONS] = summary(u, v, pair_losses(graph, u, v, k, rates, affordable=AFFORDABLE), len(u))
    return found


def summary(u: Ends, v: Ends, found: PairLosses, pairs: int) -> LossSummary:
    """Return what is kept of losses that are held.

    Args:
        u, v: the ends of the pairs that were looked at.
        found: their losses.
        pairs: how many pairs there are in all.
    """
    losses = found.losses
    return LossSummary(
        pairs=pairs,
        counted=len(losses),
        quantiles=quantiles(losses),
        infinite=int(np.isinf(losses).sum()),
        worst=_worst(u[found.places], v[found.places], losses),
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
        held: pairs that may be held together.
    """
    pairs = protected.pair_count
    if k == 3 and pairs > held:
        return _passed(graph, protected, rates, held)
    u, v = _sample(protected, held) if pairs > held else next(pair_blocks(protected, most=held))
    return summary(u, v, pair_losses(graph, u, v, k, rates, affordable=affordable), pairs)


def _passed(graph: Graph, protected: Protected, rates: Floats, held: int) -> LossSummary:
    """The losses for k = 3, block by block."""
    pairs = protected.pair_count
    asked, infinite = PassedQuantiles(pairs), 0
    a, b, kept = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)  # the worst of the blocks before
    for each in range(asked.PASSES):
        for u, v in pair_blocks(protected, most=held):
            losses = pair_losses(graph, u, v, 3, rates).losses
            asked.add(losses)
            if each == 0:
                infinite += int(np.isinf(losses).sum())
                here = worst_places(losses, _WORST)
                a, b = np.concatenate((a, u[here])), np.concatenate((b, v[here]))
                kept = np.concatenate((kept, losses[here]))
                best = worst_places(kept, _WORST)
                a, b, kept = a[best], b[best], kept[best]
        asked.end_pass()
    return LossSummary(pairs, pairs, asked.found(), infinite, _worst(a, b, kept))


def _sample(protected: Protected, size: int) -> tuple[Ends, Ends]:
    """The ends of so many pairs, drawn with `ORDER_SEED`, each of them once."""
    drawn = np.unique(np.random.default_rng(ORDER_SEED).integers(protected.pair_count, size=size))
    before, parts = 0, list[tuple[Ends, Ends]]()
    for u, v in pair_blocks(protected, most=size):
        first, last = np.searchsorted(drawn, (before, before + len(u)))
        here = drawn[first:last] - before
        parts.append((u[here], v[here]))
        before += len(u)
    u, v = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return u, v


def describe_losses(found: Mapping[str, LossSummary], scale: Fraction | None) -> dict[str, Any]:
    """Return the largest loss and the quantiles as plain values; an infinite one as text.

    Args:
        found: as `find_losses` returned it.
        scale: what the losses are to be divided by; None where they are at their scales already.
    """
    divisor = 1.0 if scale is None else float(scale)
    described: dict[str, Any] = {}
    for name, each in found.items():
        values = [loss if math.isfinite(loss) else "infinite" for loss in each.divided(divisor).quantiles]
        described[name] = {
            **{f"quantile{share * 100:g}": value for share, value in zip(QUANTILES[:-1], values[:-1], strict=True)},
            "largest": values[-1],
            "pairs": each.counted,
            "sampledWithSeed": each.seed,
        }
    return described
