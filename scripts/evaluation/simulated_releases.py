"""Simulated releases: from arrays to the errors and scales of a cell."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
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
from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.mechanisms import Edge, Mechanism, Modelled, OneScale, Respond, TwoPhases, mechanism_named
from pcneo.privacy.mechanisms.respond import seconds_of
from pcneo.privacy.noise import SimulatedNoise


def mechanism_of(cell: ReleaseCell | LossCell, n: int) -> Mechanism:
    """Return the cell's mechanism, with the paper's δ = 1/n and, but for `modelled`, ε1 = ε/10 where it has them.

    A mechanism that is not for so few vertices is refused.
    """
    kind = mechanism_named(cell.mechanism)
    biased = {"clip": True, "smooth": cell.k == 3} if kind is Respond else {}
    epsilon_1 = None if kind is Modelled else cell.parts[0]
    try:
        return kind.taking(
            k=cell.k, epsilon=cell.epsilon, n=n, delta=Fraction(1, n), epsilon_1=epsilon_1, h=cell.h, **biased
        )
    except ParameterError as error:
        raise RefusedError(str(error)) from error


def facts_of(cell: ReleaseCell | LossCell, graph: GraphArrays, cohesions: CohesionsOf) -> CellFacts:
    """Return what the cell's mechanism may ask about the graph, and about its groups if it needs them."""
    if not mechanism_named(cell.mechanism).needs_groups:
        return CellFacts(graph, None)
    if cell.score is None:
        raise ValueError(f"{cell.mechanism} needs groups, and the cell has no p and score.")
    return CellFacts(graph, cohesions(cell.score))


def prepare_facts(cell: ReleaseCell, graph: GraphArrays, cohesions: CohesionsOf) -> None:
    """Compute the facts that a cell needs; RefusedError if the mechanism is refused on these groups."""
    facts = facts_of(cell, graph, cohesions)
    facts.counts(cell.k)
    _check(mechanism_of(cell, facts.vertex_count), facts)
    if "inside" in cell.switches:
        facts.holds_clique(cell.k)


def _check(mechanism: Mechanism, facts: CellFacts) -> None:
    try:
        mechanism.check_facts(facts)
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


def simulate(mechanism: Mechanism, facts: CellFacts, draw: Draw, runs: int, switches: Sequence[str] = ()) -> Simulated:
    """Simulate many releases of a mechanism with one λ, `edge`, `elv` or `published`, all runs in one array."""
    if isinstance(mechanism, TwoPhases):
        scales = scales_of_phases(mechanism, View(*mechanism.view(facts)), draw, runs, switches)
    elif isinstance(mechanism, Edge):
        scales = scales_of_edge(mechanism, facts.largest_common(), draw, runs)
    else:
        raise TypeError(f"{mechanism.name} has no λ for all counts")
    where = facts.holds_clique(mechanism.k) if "inside" in switches else None
    return Simulated(noise_of_scales(scales, mechanism.n, draw, where=where), scales)


def errors_of_releases(cell: ReleaseCell, graph: GraphArrays, cohesions: CohesionsOf) -> Errors | Refused:
    """Return the errors and scales of simulated releases, or why the mechanism is refused."""
    counts, facts = graph.counts(cell.k), facts_of(cell, graph, cohesions)
    try:
        mechanism = mechanism_of(cell, len(counts))
        if cell.mechanism in ONE_BY_ONE:
            _check(mechanism, facts)
            return _errors_one_by_one(cell, mechanism, facts, counts)
        simulated = simulate(mechanism, facts, floating_point_noise(cell.stream), cell.runs, cell.switches)
    except RefusedError as error:
        return {"refused": str(error)}
    errors = _errors(simulated.noise, counts, simulated.noise.sum(axis=1, dtype=np.float64))
    _add_scales(errors, mechanism, simulated)
    if mechanism.needs_groups:
        whole = facts.inner_degrees() == facts.degrees()
        errors["whole_neighbourhoods"] = float(whole[graph.linked].mean())
    return errors


def _errors_one_by_one(cell: ReleaseCell, mechanism: Mechanism, facts: CellFacts, counts: NDArray[np.int64]) -> Errors:
    """Errors of releases as they are drawn, one after another: plain counts, and those that are cut and smoothed."""
    runs = affordable_runs(cell.runs, seconds_of_one(mechanism, facts.edge_count, facts))
    noise = SimulatedNoise.seeded(cell.stream)
    distances, of_total = defaultdict[str, list[NDArray[np.float64]]](list), list[float]()
    for _ in range(runs):
        drawn = mechanism.draw(facts, noise)
        of_total.append(mechanism.k * int(str(drawn.record["total"])) - sum(counts.tolist()))
        for name in ("count", "clipped", "smoothed"):
            if name in drawn.columns:
                distances[name].append(np.array(drawn.columns[name], np.float64) - counts)
    errors = _errors(np.array(distances["count"]), counts, np.array(of_total))
    if runs < cell.runs:
        errors["runs"] = runs
    if mechanism.needs_groups:
        errors["exact"] = facts.protected_graph().untouched(cell.k)
    if "clipped" in distances:
        errors["clipped"], errors["clipped_error"] = _mean_distance(distances["clipped"])
    if "smoothed" in distances:
        errors["smoothed"], errors["smoothed_error"] = _mean_distance(distances["smoothed"])
    return errors


ONE_BY_ONE = ("critical", "respond", "modelled")
"""The mechanisms whose releases are not simulated in one array."""

SECONDS, FEWEST, LONGEST = 2.5, 5, 10.0
"""What the runs of a cell may take, as expected; how many there are at least; what one of them may take."""


def seconds_of_one(mechanism: Mechanism, edges: int, facts: CellFacts | CountedGraph | None) -> float:
    """Return about how long one release takes to simulate, on one thread: by the graph and never by the clock.

    `facts` has the groups, for `critical`; where they are not known yet, it is what one release may take.
    """
    if isinstance(mechanism, Respond):
        flips = mechanism.flips
        return 2 * seconds_of(flips, edges + flips.f * (flips.pairs - 2 * edges), mechanism.k)
    if isinstance(mechanism, Modelled):
        return 5e-6 * mechanism.n
    if facts is None:
        return SECONDS / FEWEST
    hull = facts.protected_graph()
    return 1e-8 * hull.pair_count + 1e-9 * hull.steps(mechanism.k)


def affordable_runs(wanted: int, seconds: float) -> int:
    """Return how many releases are simulated, where one takes so many seconds; RefusedError if that is too long."""
    if seconds > LONGEST:
        raise RefusedError(f"one release would take about {seconds:,.0f} s to simulate")
    return min(wanted, max(FEWEST, int(SECONDS / seconds)))


def _mean_distance(distances: Sequence[NDArray[np.float64]]) -> Mean:
    return _mean(np.abs(np.array(distances)).mean(axis=1))


def _errors(
    noise: NDArray[np.int64] | NDArray[np.float64], counts: NDArray[np.int64], of_total: NDArray[np.float64]
) -> Errors:
    """Mean errors over the runs; the relative ones are missing where the graph has no clique.

    `noise` is what is off in each count, a row for each run; `of_total` what is off in the sum of all counts by the
    total that is published, or that they add up to.
    """
    positive = counts > 0
    error = np.abs(noise).astype(np.float64)
    total = sum(counts.tolist())
    absolute = _mean(error.mean(axis=1))
    changed = float((noise != 0).mean())
    if not total:
        return {"absolute": absolute.value, "absolute_error": absolute.error, "changed": changed}
    relative = _mean(np.abs(of_total) / total)
    local = _mean((error[:, positive] / counts[positive]).mean(axis=1))
    return {
        "absolute": absolute.value,
        "absolute_error": absolute.error,
        "total": relative.value,
        "total_error": relative.error,
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
    if isinstance(mechanism, OneScale):
        errors["bound"], errors["bound_error"] = _mean(values * float(mechanism.epsilon_2))
