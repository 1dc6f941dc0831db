"""Simulated releases: from arrays to the errors and scales of a cell."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.cell_facts import CellFacts
from evaluation.cells import LossCell, ReleaseCell
from evaluation.cohesion_arrays import CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Errors, Mean, Refused
from evaluation.simulation import (
    Draw,
    View,
    floating_point_noise,
    noise_of_scales,
    scales_of_edge,
    scales_of_phases,
)
from pcneo.errors import GraphError
from pcneo.privacy.mechanisms import Edge, Mechanism, OneScale, Respond, TwoPhases, mechanism_named
from pcneo.privacy.noise import SimulatedNoise

__all__ = ["Simulated", "errors_of_releases", "facts_of", "mechanism_of", "prepare_facts", "simulate"]


def mechanism_of(cell: ReleaseCell | LossCell, n: int) -> Mechanism:
    """Return the cell's mechanism, with the paper's δ = 1/n and ε1 = ε/10 where it has them."""
    kind = mechanism_named(cell.mechanism)
    biased = {"clip": True, "smooth": cell.k == 3} if kind is Respond else {}
    return kind.taking(
        k=cell.k, epsilon=cell.epsilon, n=n, delta=Fraction(1, n), epsilon_1=cell.parts[0], h=cell.h, **biased
    )


def facts_of(cell: ReleaseCell | LossCell, graph: GraphArrays, cohesions: CohesionsOf) -> CellFacts:
    """Return what the cell's mechanism may ask about the graph, and about its groups if it needs them."""
    if not mechanism_named(cell.mechanism).needs_groups:
        return CellFacts(graph, None)
    if cell.score is None:
        raise ValueError(f"{cell.mechanism} needs groups, and the cell has no p and score.")
    return CellFacts(graph, cohesions(cell.score))


def prepare_facts(cell: ReleaseCell, graph: GraphArrays, cohesions: CohesionsOf) -> None:
    """Compute the facts that a cell needs.

    Raises:
        RefusedError: the mechanism is refused on these groups.
    """
    facts = facts_of(cell, graph, cohesions)
    facts.counts(cell.k)
    _check(mechanism_of(cell, facts.vertex_count), facts)
    if "inside" in cell.switches:
        facts.holds_clique(cell.k)


def _check(mechanism: Mechanism, facts: CellFacts) -> None:
    try:
        mechanism.scaling(facts)
    except GraphError as error:
        raise RefusedError(str(error)) from error


class Simulated(NamedTuple):
    """Simulated releases.

    Attributes:
        noise: of the counts, int64, shape (runs, n).
        scales: λ of each run.
    """

    noise: NDArray[np.int64]
    scales: list[Fraction]


@singledispatch
def simulate(mechanism: Mechanism, facts: CellFacts, draw: Draw, runs: int, switches: Sequence[str] = ()) -> Simulated:
    """Simulate many releases.

    Any mechanism runs as it is released, one run after another. For those of the experiments there is a quicker way
    below, with all runs in one array.

    Args:
        mechanism: with its parameters.
        facts: what it asks about the graph.
        draw: the noise.
        runs: how many releases.
        switches: of `cells.SWITCHES`; they change the two phases and `edge` alone.
    """
    counts, scaling = facts.counts(mechanism.k), mechanism.scaling(facts)
    noise = SimulatedNoise(lambda scale, size: draw(np.array(scale), (1, size))[0].tolist())
    releases = [mechanism.draw(facts, scaling, noise) for _ in range(runs)]
    added = np.array([release.counts for release in releases], np.int64).reshape(runs, len(counts)) - counts
    return Simulated(added, [release.scales[0] for release in releases])


@simulate.register
def _(mechanism: Edge, facts: CellFacts, draw: Draw, runs: int, switches: Sequence[str] = ()) -> Simulated:
    scales = scales_of_edge(mechanism, facts.largest_common(), draw, runs)
    return _with_one_scale(mechanism, scales, facts, draw, switches)


@simulate.register
def _(mechanism: TwoPhases, facts: CellFacts, draw: Draw, runs: int, switches: Sequence[str] = ()) -> Simulated:
    scales = scales_of_phases(mechanism, View(*mechanism.view(facts)), draw, runs, switches)
    return _with_one_scale(mechanism, scales, facts, draw, switches)


def _with_one_scale(
    mechanism: OneScale, scales: list[Fraction], facts: CellFacts, draw: Draw, switches: Sequence[str]
) -> Simulated:
    where = facts.holds_clique(mechanism.k) if "inside" in switches else None
    return Simulated(noise_of_scales(scales, mechanism.n, draw, where=where), scales)


def errors_of_releases(cell: ReleaseCell, graph: GraphArrays, cohesions: CohesionsOf) -> Errors | Refused:
    """Return the errors and scales of simulated releases, or why the mechanism is refused."""
    counts, facts = graph.counts(cell.k), facts_of(cell, graph, cohesions)
    mechanism = mechanism_of(cell, len(counts))
    try:
        if not mechanism.adds_noise:
            _check(mechanism, facts)
            return _errors_of_answers(cell, mechanism, facts, counts)
        simulated = simulate(mechanism, facts, floating_point_noise(cell.stream), cell.runs, cell.switches)
    except RefusedError as error:
        return {"refused": str(error)}
    errors = _errors(simulated.noise, counts)
    _add_scales(errors, mechanism, simulated)
    if mechanism.needs_groups:
        whole = facts.inner_degrees() == facts.degrees()
        errors["whole_neighbourhoods"] = float(whole[graph.linked].mean())
    return errors


def _errors_of_answers(cell: ReleaseCell, mechanism: Mechanism, facts: CellFacts, counts: NDArray[np.int64]) -> Errors:
    """Errors where counts are computed from answers: of plain counts, and of those that are cut and smoothed."""
    noise, scaling = SimulatedNoise.seeded(cell.stream), mechanism.scaling(facts)
    distances = defaultdict[str, list[NDArray[np.float64]]](list)
    for _ in range(cell.runs):
        drawn = mechanism.draw(facts, scaling, noise)
        for name in ("count", "clipped", "smoothed"):
            if name in drawn.columns:
                distances[name].append(np.array(drawn.columns[name], np.float64) - counts)
    errors = _errors(np.array(distances["count"]), counts)
    if mechanism.needs_groups:
        errors["exact"] = facts.protected_graph().untouched(cell.k)
    if "clipped" in distances:
        errors["clipped"], errors["clipped_error"] = _mean_distance(distances["clipped"])
    if "smoothed" in distances:
        errors["smoothed"], errors["smoothed_error"] = _mean_distance(distances["smoothed"])
    return errors


def _mean_distance(distances: Sequence[NDArray[np.float64]]) -> Mean:
    return _mean(np.abs(np.array(distances)).mean(axis=1))


def _errors(noise: NDArray[np.int64] | NDArray[np.float64], counts: NDArray[np.int64]) -> Errors:
    """Mean errors over the runs; the relative ones are missing where the graph has no clique."""
    positive = counts > 0
    error = np.abs(noise).astype(np.float64)
    total = sum(counts.tolist())
    absolute = _mean(error.mean(axis=1))
    changed = float((noise != 0).mean())
    if not total:
        return {"absolute": absolute.value, "absolute_error": absolute.error, "changed": changed}
    of_total = _mean(np.abs(noise.sum(axis=1, dtype=np.float64)) / total)
    local = _mean((error[:, positive] / counts[positive]).mean(axis=1))
    return {
        "absolute": absolute.value,
        "absolute_error": absolute.error,
        "total": of_total.value,
        "total_error": of_total.error,
        "local": local.value,
        "local_error": local.error,
        "changed": changed,
    }


def _mean(values: NDArray[np.float64]) -> Mean:
    return Mean(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def _add_scales(errors: Errors, mechanism: Mechanism, simulated: Simulated) -> None:
    values = np.array([float(scale) for scale in simulated.scales])
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    errors["scale"], errors["scale_low"], errors["scale_high"] = middle, low, high
    if (spent := mechanism.promised_loss(inside=False)) is not None:  # ε2, which λ divides
        errors["bound"], errors["bound_error"] = _mean(values * float(spent))
