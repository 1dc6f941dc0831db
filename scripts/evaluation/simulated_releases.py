"""What cells of simulated releases compute, from arrays to a few numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import Cell, Result, given, number_of, text_of
from evaluation.cohesion_arrays import GraphArrays, RefusedError, Sets
from evaluation.simulation import (
    Draw,
    View,
    floating_point_noise,
    noise_of_critical,
    noise_of_scales,
    scales_of_edge,
    scales_of_phases,
)
from pcneo.privacy.mechanisms import Critical, Edge, Elv, Mechanism, Published, mechanism_named

__all__ = ["Sources", "errors_of_releases", "mechanism_of", "simulate", "sources_of"]


def mechanism_of(cell: Cell, n: int) -> Mechanism:
    """Return the cell's mechanism, with the paper's δ = 1/n."""
    return mechanism_named(text_of(cell.mechanism)).make(
        k=number_of(cell.k),
        epsilon=text_of(cell.epsilon),
        n=n,
        delta=None if cell.mechanism == "critical" else Fraction(1, n),
        epsilon_1=cell.epsilon_1,
        h=cell.h,
    )


@dataclass(frozen=True, eq=False)
class Sources:
    """What simulated releases of one cell rest on.

    Attributes:
        view: what the vertices see, for `edge` the owner; None for `critical`.
        supports: the largest S(e) of each vertex, for `critical`; None for the others.
        holds_clique: whether each vertex's view holds a clique with it, which the switch `inside` asks; None likewise.
    """

    view: View | None
    supports: NDArray[np.int64] | None
    holds_clique: NDArray[np.bool_] | None


def sources_of(cell: Cell, graph: GraphArrays, sets: Sets) -> Sources:
    """Return what simulated releases of a cell rest on.

    Raises:
        RefusedError: `critical` cannot be had.
    """
    k = number_of(cell.k)
    graph.counts(k)
    if cell.mechanism == "critical":
        return Sources(None, sets(text_of(cell.score)).supports(k), None)
    if cell.mechanism == "published":
        mine = sets(text_of(cell.score))
        return Sources(View(mine.inner_degrees, mine.inner_common), None, mine.inside(k) > 0)
    # The extended local view of v holds every clique of v.
    return Sources(View(graph.graph.degrees, graph.common), None, graph.counts(k) > 0)


def errors_of_releases(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """Return the errors and scales of simulated releases; why, where the mechanism is refused."""
    try:
        sources = sources_of(cell, graph, sets)
    except RefusedError as error:
        return {"refused": str(error)}
    counts = graph.counts(number_of(cell.k))
    draw = floating_point_noise(cell.stream)
    mechanism = mechanism_of(cell, len(counts))
    noise, scales = simulate(mechanism, sources, draw, number_of(cell.runs), cell.switches)
    found = {**_errors(noise, counts), **_scale_result(mechanism, scales)}
    if isinstance(mechanism, Published) and sources.view is not None:
        whole = sources.view.degrees == graph.graph.degrees
        found["whole_neighbourhoods"] = float(whole[graph.linked].mean())
    return found


def simulate(
    mechanism: Critical | Edge | Elv | Published, sources: Sources, draw: Draw, runs: int, switches: Sequence[str]
) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Return the noise of the counts, shape (runs, n), and each run's λ; for `critical` the scales of the vertices."""
    if isinstance(mechanism, Critical):
        supports = given(sources.supports)
        return noise_of_critical(mechanism, supports, draw, runs), mechanism.scales(supports.tolist())
    view = given(sources.view)
    if isinstance(mechanism, Edge):
        scales = scales_of_edge(mechanism, int(view.common.max(initial=0)), draw, runs)
    else:
        scales = scales_of_phases(mechanism, view, draw, runs, switches)
    where = sources.holds_clique if "inside" in switches else None
    return noise_of_scales(scales, mechanism.n, draw, where=where), scales


def _errors(noise: NDArray[np.int64], counts: NDArray[np.int64]) -> Result:
    """Mean errors over the runs, each with its standard error; relative ones are None where there is no clique."""
    positive = counts > 0
    error = np.abs(noise).astype(np.float64)
    total = sum(counts.tolist())
    found: Result = _mean("absolute", error.mean(axis=1))
    if total:
        found |= _mean("total", np.abs(noise.sum(axis=1, dtype=np.float64)) / total)
        found |= _mean("local", (error[:, positive] / counts[positive]).mean(axis=1))
    return {**found, "changed": float((noise != 0).mean())}


def _mean(name: str, values: NDArray[np.float64]) -> Result:
    return {name: float(values.mean()), f"{name}_error": float(values.std(ddof=1) / math.sqrt(len(values)))}


def _scale_result(mechanism: Critical | Edge | Elv | Published, scales: Sequence[Fraction]) -> Result:
    values = np.array([float(scale) for scale in scales])
    if isinstance(mechanism, Critical):
        return {"largest_scale": float(values.max(initial=0)), "exact": int((values == 0).sum())}
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    bounds = values * float(mechanism.epsilon_2)
    return {"scale": middle, "scale_low": low, "scale_high": high, **_mean("bound", bounds)}
