"""The losses of all pairs inside groups and of all connections, for one release that is audited."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo import cliques
from pcneo.audit.results import Losses, PairLoss
from pcneo.losses import ORDER_SEED, PairLosses, pair_losses
from pcneo.model import Graph, Run
from pcneo.privacy.audit import Scales, quantiles, worst_places
from pcneo.privacy.mechanisms import Critical
from pcneo.release.prepared import Prepared

__all__ = ["float_scales", "losses_inside", "losses_of_connections"]

_WORST = 10  # pairs that are named

Ends = NDArray[np.int64]


def float_scales(scales: Sequence[Fraction] | None) -> NDArray[np.float64]:
    """Return scales in doubles; equal ones stay equal, and 0 stays 0."""
    return np.array([float(scale) for scale in scales or ()], np.float64)


def losses_inside(one: Prepared, groups: Run, scales: Scales | None) -> Losses:
    """Return the losses of all pairs inside the groups of a run, adjacent or not."""
    mechanism, (u, v) = one.mechanism, one.source.protected(groups).ends()
    promised = mechanism.epsilon if isinstance(mechanism, Critical) else mechanism.epsilon_2
    return _losses(one, u, v, _found(one, u, v), scales, promised)


def losses_of_connections(one: Prepared, scales: Scales | None) -> Losses:
    """Return the losses of all connections; for those outside groups `critical` promises nothing."""
    mechanism, graph = one.mechanism, one.source.graph
    u, v = cliques.edge_ends(graph)
    if isinstance(mechanism, Critical):
        return _losses(one, u, v, _found(one, u, v), scales, None)
    changes = mechanism.k * cliques.clique_supports(graph, mechanism.k).astype(np.float64)
    return _losses(one, u, v, PairLosses(np.arange(len(u)), changes, True), scales, mechanism.epsilon_2)


def _found(one: Prepared, u: Ends, v: Ends) -> PairLosses:
    """The losses at the scales of `critical`; for another mechanism k·support_k(e), to be divided by λ."""
    graph, k = one.source.graph, one.mechanism.k
    if not isinstance(one.mechanism, Critical):
        return pair_losses(graph, u, v, k, np.ones(graph.vertex_count))
    with np.errstate(divide="ignore"):
        return pair_losses(graph, u, v, k, 1 / float_scales(one.scales))


def _losses(
    one: Prepared, u: Ends, v: Ends, found: PairLosses, scales: Scales | None, promised: Fraction | None
) -> Losses:
    losses, largest = found.losses, None
    if scales is not None:
        most = float(losses.max(initial=0))
        largest = (most / float(scales.high), most / float(scales.median), most / float(scales.low))
        losses = losses / float(scales.median)
    worst = [(int(found.places[i]), float(losses[i])) for i in worst_places(losses, _WORST)]
    return Losses(
        pairs=len(u),
        counted=len(losses),
        seed=None if found.whole else ORDER_SEED,
        promised=None if promised is None else float(promised),
        quantiles=quantiles(losses),
        infinite=int(np.isinf(losses).sum()),
        largest=largest,
        worst=tuple(_named(one.source.graph, int(u[i]), int(v[i]), loss) for i, loss in worst),
    )


def _named(graph: Graph, u: int, v: int, loss: float) -> PairLoss:
    row = graph.neighbours[graph.offsets[u] : graph.offsets[u + 1]]
    first, second = graph.keys[[u, v]].tolist()
    return PairLoss((first, second), bool(np.isin(v, row)), loss)
