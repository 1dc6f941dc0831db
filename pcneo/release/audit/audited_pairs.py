"""What single pairs cost, for one release that is audited."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pcneo.basics.model import Graph, RunRecord
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.quantiles import QUANTILES
from pcneo.privacy.simulated_scales import SimulatedScales
from pcneo.release.audit.findings import Losses, PairLoss
from pcneo.release.loss_summary import LossSummary
from pcneo.release.prepared import Prepared

__all__ = ["losses_of_connections", "losses_of_groups"]


def losses_of_groups(release: Prepared, groups: RunRecord) -> Losses | None:
    """Return the losses of all pairs inside the groups of a run, which `critical` answers; None for the others."""
    mechanism = release.mechanism
    if not isinstance(mechanism, Critical):
        return None
    pairs = release.source.facts(groups).protected().pair_count
    return Losses(pairs, float(mechanism.epsilon), (mechanism.loss,) * len(QUANTILES), None, ())


def losses_of_connections(release: Prepared, scales: SimulatedScales | None) -> Losses | None:
    """Return the losses of all connections at the median scale; None where nothing gets noise."""
    if release.losses is None or scales is None:
        return None
    mechanism, losses = release.mechanism, release.losses
    low, median, high = (float(mechanism.divides_loss(scale)) for scale in (scales.low, scales.median, scales.high))
    most = losses.quantiles[-1]
    promised = mechanism.promised_loss(inside=False)
    return _losses(release, losses.divided(median), (most / high, most / median, most / low), promised)


def _losses(
    release: Prepared, losses: LossSummary, largest: tuple[float, float, float], promised: Fraction | None
) -> Losses:
    return Losses(
        pairs=losses.pairs,
        promised=None if promised is None else float(promised),
        quantiles=losses.quantiles,
        largest=largest,
        worst=tuple(_named(release.source.graph, u, v, loss) for u, v, loss in losses.worst),
    )


def _named(graph: Graph, u: int, v: int, loss: float) -> PairLoss:
    row = graph.neighbours[graph.offsets[u] : graph.offsets[u + 1]]
    first, second = graph.keys[[u, v]].tolist()
    return PairLoss((first, second), bool(np.isin(v, row)), loss)
