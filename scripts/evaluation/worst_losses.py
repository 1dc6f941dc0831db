"""What the worst connection loses at the scales of simulated releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.cell_facts import CellFacts
from evaluation.cells import LossCell
from evaluation.cohesion_arrays import CohesionArrays, CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Losses, Refused
from evaluation.simulated_releases import facts_of, mechanism_of, simulate
from evaluation.simulation import floating_point_noise
from evaluation.switching import deciding_connections
from pcneo.privacy.protection import Protects

__all__ = ["largest_losses"]

Pairs = Literal["connections", "inside", "connections_inside"]
"""The pairs over which a loss is the largest: all connections, all pairs inside groups, connections inside groups."""


def largest_losses(cell: LossCell, graph: GraphArrays, cohesions: CohesionsOf) -> Losses | Refused:
    """Return the largest losses at the scales of simulated releases, without what finding the scales costs.

    If the mechanism is refused, return why.
    """
    k, facts = cell.k, facts_of(cell, graph, cohesions)
    mechanism = mechanism_of(cell, facts.vertex_count)
    groups = cohesions(cell.score)
    try:
        scaling = mechanism.scaling(facts)
    except RefusedError as error:
        return {"refused": str(error)}
    if scaling.fixed is not None:
        rates = _rates(scaling.fixed)
        connections, whole = graph.loss(k, rates)
        inside, inside_whole = groups.loss_inside(k, rates)
        connections_inside, connections_whole = groups.loss_of_connections(k, rates)
        at_fixed: Losses = {
            "connections": connections,
            "inside": inside,
            "connections_inside": connections_inside,
            "sampled": not (whole and inside_whole and connections_whole),
        }
        if (promised := mechanism.promised_loss(inside=True)) is not None:
            at_fixed["promised_inside"] = float(promised)
        return at_fixed
    draw = floating_point_noise(cell.stream)
    scales = simulate(mechanism, facts, draw, cell.runs, cell.switches).scales
    values = np.array([float(scale) for scale in scales])
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    infinite, known = set[Pairs](), True
    if "inside" in cell.switches:
        infinite, known = _infinite_losses(k, graph, groups, facts, within_groups=mechanism.needs_groups)

    def loss(pairs: Pairs, change: float, scale: float) -> float:
        return math.inf if pairs in infinite else change / scale

    # What the paper says of a mechanism that promises nothing is no promise.
    promised = None if mechanism.protects is Protects.NOTHING else mechanism.promised_loss(inside=False)
    change = float(graph.largest_change(k))
    losses: Losses = {
        "connections": loss("connections", change, middle),
        "connections_low": loss("connections", change, high),
        "connections_high": loss("connections", change, low),
        "promised": None if promised is None or cell.switches else float(promised),
        "sampled": not known,
    }
    with suppress(RefusedError):
        inside, inside_whole = groups.largest_change(k)
        connections, connections_whole = groups.largest_change_of_connections(k)
        losses["inside"] = loss("inside", inside, middle)
        losses["connections_inside"] = loss("connections_inside", connections, middle)
        losses["sampled"] |= not (inside_whole and connections_whole)
    return losses


def _rates(scales: Sequence[Fraction]) -> NDArray[np.float64]:
    """Return 1/t of each scale, inf for 0."""
    rates = {scale: float(1 / scale) if scale else math.inf for scale in set(scales)}
    return np.array([rates[scale] for scale in scales])


def _infinite_losses(
    k: int, graph: GraphArrays, groups: CohesionArrays, facts: CellFacts, *, within_groups: bool
) -> tuple[set[Pairs], bool]:
    """Return the kinds of pairs among which one has an infinite loss under `inside`, and False if some are not known.

    Such a connection changes a count without noise, or it decides whether a count gets noise. A pair that is not
    connected and would make a count noisy changes that count, which is exact without it.
    """
    holds_clique = facts.holds_clique(k)
    exact = (~holds_clique).astype(np.float64)
    deciding = deciding_connections(graph.graph, k, holds_clique, groups.batch if within_groups else None)
    infinite: set[Pairs] = set()
    first = next(deciding, None)
    loss, whole = (math.inf, True) if first is not None else graph.loss(k, exact)
    if loss > 0:
        infinite.add("connections")
    known = whole or loss > 0
    with suppress(RefusedError):
        inside = groups.connections_inside
        decided = first is not None and any(pair in inside for pair in chain((first,), deciding))
        loss, whole = (math.inf, True) if decided else groups.loss_of_connections(k, exact)
        if loss > 0:
            infinite |= {"inside", "connections_inside"}
            return infinite, known
        of_pairs, whole_of_pairs = groups.loss_inside(k, exact)
        if of_pairs > 0:
            infinite.add("inside")
        known &= whole and (whole_of_pairs or of_pairs > 0)
    return infinite, known
