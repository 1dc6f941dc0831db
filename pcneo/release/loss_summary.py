"""What connections cost, in summary: for the owner's report and the audit (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pcneo.basics.model import Graph
from pcneo.counting.cliques import clique_supports
from pcneo.privacy.quantiles import quantiles


@dataclass(frozen=True)
class LossSummary:
    """What the connections of a graph cost where all noise has one scale.

    Attributes:
        pairs: how many connections there are.
        quantiles: for each share in `QUANTILES` the loss, in ε, that this share of the connections does not exceed.
    """

    pairs: int
    quantiles: tuple[float, ...]

    def divided(self, divisor: float) -> LossSummary:
        """Return the summary with every loss divided by the same number."""
        return replace(self, quantiles=tuple(loss / divisor for loss in self.quantiles))


def find_losses(graph: Graph, k: int) -> LossSummary:
    """Return the losses at scale 1, k·support_k(e), to be divided by the scale."""
    losses = k * clique_supports(graph, k).astype(np.float64)
    return LossSummary(len(losses), quantiles(losses))
