"""What the worst connection loses at the scales of simulated releases."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import chain
from typing import Literal

import numpy as np

from evaluation.cell_facts import CellFacts
from evaluation.cells import LossCell
from evaluation.cohesion_arrays import CohesionArrays, CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Losses, Refused
from evaluation.simulated_releases import facts_of, mechanism_of, simulate
from evaluation.simulation import floating_point_noise
from evaluation.switching import deciding_connections
from pcneo.privacy.mechanisms import OneScale
from pcneo.privacy.protection import Protects

Pairs = Literal["connections", "connections_inside"]
"""The pairs over which a loss is the largest: all connections, or those inside groups."""


def largest_losses(cell: LossCell, graph: GraphArrays, cohesions: CohesionsOf) -> Losses | Refused:
    """Return the largest losses at the scales of simulated releases, without what finding the scales costs.

    If the mechanism is refused, return why.
    """
    k, facts = cell.k, facts_of(cell, graph, cohesions)
    mechanism, groups = mechanism_of(cell, facts.vertex_count), cohesions(cell.score)
    draw = floating_point_noise(cell.stream)
    scales = simulate(mechanism, facts, draw, cell.runs, cell.switches)[1]
    values = np.array([float(scale) for scale in scales])
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    infinite = set[Pairs]()
    if "inside" in cell.switches:
        infinite = _infinite_losses(k, graph, groups, facts, within_groups=mechanism.needs_groups)

    def loss(pairs: Pairs, change: float, scale: float) -> float:
        return math.inf if pairs in infinite else change / scale

    # What finding λ costs is left out. What the paper says of a mechanism that promises nothing is no promise.
    promised = None
    if isinstance(mechanism, OneScale) and mechanism.protects is not Protects.NOTHING and not cell.switches:
        promised = float(mechanism.epsilon_2)
    change = float(graph.largest_change(k))
    losses: Losses = {
        "connections": loss("connections", change, middle),
        "connections_low": loss("connections", change, high),
        "connections_high": loss("connections", change, low),
        "promised": promised,
    }
    with suppress(RefusedError):
        change = groups.largest_change_of_connections(k)
        losses["connections_inside"] = loss("connections_inside", change, middle)
    return losses


def _infinite_losses(
    k: int, graph: GraphArrays, groups: CohesionArrays, facts: CellFacts, *, within_groups: bool
) -> set[Pairs]:
    """Return the kinds of connections among which one has an infinite loss under `inside`.

    Such a connection changes a count without noise, or it decides whether a count gets noise.
    """
    holds_clique = facts.holds_clique(k)
    deciding = deciding_connections(graph.graph, k, holds_clique, groups.batch if within_groups else None)
    infinite: set[Pairs] = set()
    first = next(deciding, None)
    if first is not None or (graph.counts(k)[~holds_clique] > 0).any():
        infinite.add("connections")
    with suppress(RefusedError):
        inside = groups.connections_inside
        decided = first is not None and any(pair in inside for pair in chain((first,), deciding))
        if decided or groups.touched(k)[~holds_clique].any():
            infinite |= {"connections", "connections_inside"}
    return infinite
