"""What connections cost, in summary: for the owner's report and the audit (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

import numpy as np

from pcneo.basics.model import Graph
from pcneo.counting.cliques import clique_supports
from pcneo.privacy.quantiles import quantiles


def find_losses(graph: Graph, k: int) -> tuple[float, ...]:
    """Return, for each share in `QUANTILES`, the loss at scale 1 that so many of the connections do not exceed.

    That loss is k·support_k(e), to be divided by the scale.
    """
    return quantiles(k * clique_supports(graph, k).astype(np.float64))
