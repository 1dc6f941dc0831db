"""What cells of losses compute: what the worst connection loses at a mechanism's scales."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import chain

import numpy as np

from evaluation.cells import Cell, Result, given, number_of, text_of
from evaluation.cohesion_arrays import GraphArrays, RefusedError, SetArrays, Sets
from evaluation.simulated_releases import Sources, mechanism_of, simulate, sources_of
from evaluation.simulation import floating_point_noise
from evaluation.switching import deciding_connections
from pcneo.privacy.mechanisms import Critical, Published

__all__ = ["largest_losses"]


def largest_losses(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """Return the largest losses at the scales of simulated releases; that of finding the scales is not in them."""
    k = number_of(cell.k)
    try:
        sources = sources_of(cell, graph, sets)
    except RefusedError as error:
        return {"refused": str(error)}
    mechanism = mechanism_of(cell, graph.graph.vertex_count)
    groups = sets(text_of(cell.score))
    if isinstance(mechanism, Critical):
        with np.errstate(divide="ignore"):
            rates = float(mechanism.epsilon) / given(sources.supports)
        losses = [graph.loss(k, rates), groups.loss_inside(k, rates), groups.loss_of_connections(k, rates)]
        return {
            **{name: loss for name, (loss, _) in zip(_PAIRS, losses, strict=True)},
            "promised_inside": float(mechanism.epsilon),
            "sampled": not all(whole for _, whole in losses),
        }
    draw = floating_point_noise(cell.stream)
    _, scales = simulate(mechanism, sources, draw, number_of(cell.runs), cell.switches)
    values = np.array([float(scale) for scale in scales])
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    change = float(graph.largest_change(k))
    found: Result = {"connections": change / middle, "connections_low": change / high, "connections_high": change / low}
    sampled = False
    with suppress(RefusedError):
        inside, inside_whole = groups.largest_change(k)
        connections, connections_whole = groups.largest_change_of_connections(k)
        found |= {"inside": inside / middle, "connections_inside": connections / middle}
        sampled = not (inside_whole and connections_whole)
    if "inside" in cell.switches:
        given_away, whole = _given_away(k, graph, groups, sources, isinstance(mechanism, Published))
        sampled |= not whole
        found |= {name: math.inf for name in found if name.removesuffix("_low").removesuffix("_high") in given_away}
    promised = None if isinstance(mechanism, Published) or cell.switches else float(mechanism.epsilon_2)
    return {**found, "promised": promised, "sampled": sampled}


_PAIRS = ("connections", "inside", "connections_inside")
"""Over which a loss is the largest: all connections, all pairs inside groups, and connections inside groups."""


def _given_away(
    k: int, graph: GraphArrays, groups: SetArrays, sources: Sources, published: bool
) -> tuple[set[str], bool]:
    """Return those of `_PAIRS` among which one loses infinitely much under `inside`, and if the others are all known.

    It changes a count without noise, or it decides whether a count gets noise. A pair that is not connected and would
    make a count noisy changes that count, which is exact without it.
    """
    holds_clique = given(sources.holds_clique)
    exact = (~holds_clique).astype(np.float64)
    deciding = deciding_connections(graph.graph, k, holds_clique, groups.batch if published else None)
    found: set[str] = set()
    first = next(deciding, None)
    loss, whole = (math.inf, True) if first is not None else graph.loss(k, exact)
    if loss > 0:
        found.add("connections")
    known = whole or loss > 0
    with suppress(RefusedError):
        inside = groups.connections_inside
        decided = first is not None and any(pair in inside for pair in chain((first,), deciding))
        loss, whole = (math.inf, True) if decided else groups.loss_of_connections(k, exact)
        if loss > 0:
            return found | {"inside", "connections_inside"}, known
        of_pairs, whole_of_pairs = groups.loss_inside(k, exact)
        if of_pairs > 0:
            found.add("inside")
        known &= whole and (whole_of_pairs or of_pairs > 0)
    return found, known
