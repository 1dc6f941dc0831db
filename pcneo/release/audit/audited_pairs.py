"""The losses of all pairs inside groups and of all connections, for one release that is audited."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.counting import cliques
from pcneo.counting.losses import AFFORDABLE, PairLosses, pair_losses
from pcneo.model import Graph, Run
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.quantiles import Scales
from pcneo.release.audit.findings import Losses, PairLoss
from pcneo.release.loss_report import CONNECTIONS, INSIDE, LossSummary, losses_inside, rates_of, summary
from pcneo.release.prepared import Prepared

__all__ = ["float_scales", "losses_of_connections", "losses_of_groups"]


def float_scales(scales: Sequence[Fraction] | None) -> NDArray[np.float64]:
    """Return scales in doubles; equal ones stay equal, and 0 stays 0."""
    return np.array([float(scale) for scale in scales or ()], np.float64)


def losses_of_groups(one: Prepared, groups: Run, scales: Scales | None) -> Losses:
    """Return the losses of all pairs inside the groups of a run, adjacent or not."""
    mechanism, graph = one.mechanism, one.source.graph
    promised = mechanism.epsilon if isinstance(mechanism, Critical) else mechanism.epsilon_2
    found = _known(one, INSIDE)
    if found is None:
        rates, protected = rates_of(one.scales, graph.vertex_count), one.source.protected(groups)
        found = losses_inside(graph, protected, mechanism.k, rates, AFFORDABLE)
    return _losses(graph, found, scales, promised)


def losses_of_connections(one: Prepared, scales: Scales | None) -> Losses:
    """Return the losses of all connections; for those outside groups `critical` promises nothing."""
    mechanism, graph = one.mechanism, one.source.graph
    promised = None if isinstance(mechanism, Critical) else mechanism.epsilon_2
    found = _known(one, CONNECTIONS)
    if found is None:
        u, v = cliques.edge_ends(graph)
        if isinstance(mechanism, Critical):
            losses = pair_losses(graph, u, v, mechanism.k, rates_of(one.scales, graph.vertex_count))
        else:
            changes = mechanism.k * cliques.clique_supports(graph, mechanism.k).astype(np.float64)
            losses = PairLosses(np.arange(len(u)), changes, True)
        found = summary(u, v, losses, len(u))
    return _losses(graph, found, scales, promised)


def _known(one: Prepared, kind: str) -> LossSummary | None:
    """What was found for the release already, unless it is a sample: more time is taken here."""
    found = one.losses.get(kind)
    return found if found is not None and found.seed is None else None


def _losses(graph: Graph, found: LossSummary, scales: Scales | None, promised: Fraction | None) -> Losses:
    largest = None
    if scales is not None:
        most = found.quantiles[-1]
        largest = (most / float(scales.high), most / float(scales.median), most / float(scales.low))
        found = found.divided(float(scales.median))
    return Losses(
        pairs=found.pairs,
        counted=found.counted,
        seed=found.seed,
        promised=None if promised is None else float(promised),
        quantiles=found.quantiles,
        infinite=found.infinite,
        largest=largest,
        worst=tuple(_named(graph, *each) for each in found.worst),
    )


def _named(graph: Graph, u: int, v: int, loss: float) -> PairLoss:
    row = graph.neighbours[graph.offsets[u] : graph.offsets[u + 1]]
    first, second = graph.keys[[u, v]].tolist()
    return PairLoss((first, second), bool(np.isin(v, row)), loss)
