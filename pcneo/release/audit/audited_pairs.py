"""The losses of all pairs inside groups and of all connections, for one release that is audited."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pcneo.basics.model import Graph, Run
from pcneo.counting import cliques
from pcneo.counting.losses import AFFORDABLE, PairLosses, pair_losses
from pcneo.privacy.simulated_scales import SimulatedScales
from pcneo.release.audit.findings import Losses, PairLoss
from pcneo.release.loss_summary import CONNECTIONS, INSIDE, LossSummary, losses_inside, rates_of, summary
from pcneo.release.prepared import Prepared

__all__ = ["losses_of_connections", "losses_of_groups"]


def losses_of_groups(release: Prepared, groups: Run, scales: SimulatedScales | None) -> Losses:
    """Return the losses of all pairs inside the groups of a run, adjacent or not."""
    mechanism, graph = release.mechanism, release.source.graph
    losses = _computed(release, INSIDE)
    if losses is None:
        rates, protected = rates_of(release.scaling.fixed, graph.vertex_count), release.source.facts(groups).protected()
        losses = losses_inside(graph, protected, mechanism.k, rates, AFFORDABLE)
    return _losses(release, losses, scales, mechanism.promised_loss(inside=True))


def losses_of_connections(release: Prepared, scales: SimulatedScales | None) -> Losses:
    """Return the losses of all connections, wherever they lie."""
    mechanism, graph = release.mechanism, release.source.graph
    losses = _computed(release, CONNECTIONS)
    if losses is None:
        u, v = cliques.edge_ends(graph)
        if release.scaling.fixed is not None:
            of_pairs = pair_losses(graph, u, v, mechanism.k, rates_of(release.scaling.fixed, graph.vertex_count))
        else:
            changes = mechanism.k * cliques.clique_supports(graph, mechanism.k).astype(np.float64)
            of_pairs = PairLosses(np.arange(len(u)), changes, True)
        losses = summary(u, v, of_pairs, len(u))
    return _losses(release, losses, scales, mechanism.promised_loss(inside=False))


def _computed(release: Prepared, kind: str) -> LossSummary | None:
    """What was computed for the release already, unless it is a sample: more time is taken here."""
    losses = release.losses.get(kind)
    return losses if losses is not None and losses.seed is None else None


def _losses(
    release: Prepared, losses: LossSummary, scales: SimulatedScales | None, promised: Fraction | None
) -> Losses:
    largest, graph = None, release.source.graph
    if scales is not None:
        most = losses.quantiles[-1]
        low, median, high = (
            float(release.mechanism.divides_loss(scale)) for scale in (scales.low, scales.median, scales.high)
        )
        largest = (most / high, most / median, most / low)
        losses = losses.divided(median)
    return Losses(
        pairs=losses.pairs,
        counted=losses.counted,
        seed=losses.seed,
        promised=None if promised is None else float(promised),
        quantiles=losses.quantiles,
        infinite=losses.infinite,
        largest=largest,
        worst=tuple(_named(graph, u, v, loss) for u, v, loss in losses.worst),
    )


def _named(graph: Graph, u: int, v: int, loss: float) -> PairLoss:
    row = graph.neighbours[graph.offsets[u] : graph.offsets[u + 1]]
    first, second = graph.keys[[u, v]].tolist()
    return PairLoss((first, second), bool(np.isin(v, row)), loss)
