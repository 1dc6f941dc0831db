"""The loss of one connection at a release's scales, for the owner's report (privacy.md, "Loss of one edge").

The scales count as fixed here; `pcneo audit` looks further, and at how they are found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from pcneo.cliques import edge_ends
from pcneo.errors import GraphError
from pcneo.losses import ORDER_SEED, PairLosses, pair_losses
from pcneo.model import Run
from pcneo.privacy.audit import QUANTILES, quantiles
from pcneo.release.source import Source

__all__ = ["describe_losses", "find_losses"]

AFFORDABLE = 2_000_000_000
"""Steps for k >= 4, some seconds; beyond, a sample of the pairs is looked at."""


def find_losses(source: Source, k: int, scales: Sequence[Fraction] | None, run: Run | None) -> dict[str, PairLosses]:
    """Return the losses over all pairs inside groups, adjacent or not, and over all connections.

    Args:
        source: the graph and its groups.
        k: vertices of a clique.
        scales: t_v by vertex; None for 1 everywhere, which a common scale is to divide.
        run: whose groups; None for none. Groups too large for their pairs to be listed are left out.
    """
    graph = source.graph
    rates = np.ones(graph.vertex_count)
    if scales is not None:
        rates = np.array([1 / float(scale) if scale else math.inf for scale in scales])
    ends = {"connections": edge_ends(graph)}
    if run is not None:
        with suppress(GraphError):
            ends = {"pairsInsideGroups": source.protected(run).ends(), **ends}
    return {name: pair_losses(graph, u, v, k, rates, affordable=AFFORDABLE) for name, (u, v) in ends.items()}


def describe_losses(found: Mapping[str, PairLosses], scale: Fraction | None) -> dict[str, Any]:
    """Return the largest loss and the quantiles as plain values; an infinite one as text.

    Args:
        found: as `find_losses` returned it.
        scale: what the losses are to be divided by; None where they are at their scales already.
    """
    divisor = 1.0 if scale is None else float(scale)
    described: dict[str, Any] = {}
    for name, each in found.items():
        values = [loss if math.isfinite(loss) else "infinite" for loss in quantiles(each.losses / divisor)]
        described[name] = {
            **{f"quantile{share * 100:g}": value for share, value in zip(QUANTILES[:-1], values[:-1], strict=True)},
            "largest": values[-1],
            "pairs": len(each.losses),
            "sampledWithSeed": None if each.whole else ORDER_SEED,
        }
    return described
