"""Simulated releases: from arrays to the errors and scales of a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import LossCell, ReleaseCell
from evaluation.cohesion_arrays import CohesionArrays, CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Errors, Mean, Refused
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

__all__ = ["Sources", "errors_of_releases", "mechanism_of", "needed", "simulate", "sources_of"]

T = TypeVar("T")


def mechanism_of(cell: ReleaseCell | LossCell, n: int) -> Mechanism:
    """Return the cell's mechanism, with the paper's δ = 1/n."""
    return mechanism_named(cell.mechanism).make(
        k=cell.k,
        epsilon=cell.epsilon,
        n=n,
        delta=None if cell.mechanism == "critical" else Fraction(1, n),
        epsilon_1=cell.epsilon_1,
        h=cell.h,
    )


@dataclass(frozen=True, eq=False)
class Sources:
    """What the simulated releases of a cell are computed from.

    Attributes:
        view: what the vertices see, for `edge` what the owner sees; None for `critical`.
        supports: the largest S(e) of each vertex, for `critical`; None for the others.
        holds_clique: whether each vertex's view holds a clique with it, for the switch `inside`; None for `critical`.
    """

    view: View | None
    supports: NDArray[np.int64] | None
    holds_clique: NDArray[np.bool_] | None


def sources_of(cell: ReleaseCell | LossCell, graph: GraphArrays, cohesions: CohesionsOf) -> Sources:
    """Return what the simulated releases of a cell are computed from.

    Raises:
        RefusedError: `critical` is refused on these groups.
    """
    graph.counts(cell.k)
    if cell.mechanism == "critical":
        return Sources(None, _groups(cell, cohesions).supports(cell.k), None)
    if cell.mechanism == "published":
        groups = _groups(cell, cohesions)
        return Sources(View(groups.inner_degrees, groups.inner_common), None, groups.inside(cell.k) > 0)
    # The extended local view of v holds every clique of v.
    return Sources(View(graph.graph.degrees, graph.common), None, graph.counts(cell.k) > 0)


def _groups(cell: ReleaseCell | LossCell, cohesions: CohesionsOf) -> CohesionArrays:
    if cell.score is None:
        raise ValueError(f"{cell.mechanism} needs groups, and the cell has no p and score.")
    return cohesions(cell.score)


def errors_of_releases(cell: ReleaseCell, graph: GraphArrays, cohesions: CohesionsOf) -> Errors | Refused:
    """Return the errors and scales of simulated releases, or why the mechanism is refused."""
    try:
        sources = sources_of(cell, graph, cohesions)
    except RefusedError as error:
        return {"refused": str(error)}
    counts = graph.counts(cell.k)
    draw = floating_point_noise(cell.stream)
    mechanism = mechanism_of(cell, len(counts))
    noise, scales = simulate(mechanism, sources, draw, cell.runs, cell.switches)
    errors = _errors(noise, counts)
    _add_scales(errors, mechanism, scales)
    if isinstance(mechanism, Published) and sources.view is not None:
        whole = sources.view.degrees == graph.graph.degrees
        errors["whole_neighbourhoods"] = float(whole[graph.linked].mean())
    return errors


def simulate(
    mechanism: Critical | Edge | Elv | Published, sources: Sources, draw: Draw, runs: int, switches: Sequence[str]
) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Return the noise of the counts, shape (runs, n), and each run's λ; for `critical` the scales of the vertices."""
    if isinstance(mechanism, Critical):
        supports = needed(sources.supports)
        return noise_of_critical(mechanism, supports, draw, runs), mechanism.scales(supports.tolist())
    view = needed(sources.view)
    if isinstance(mechanism, Edge):
        scales = scales_of_edge(mechanism, int(view.common.max(initial=0)), draw, runs)
    else:
        scales = scales_of_phases(mechanism, view, draw, runs, switches)
    where = sources.holds_clique if "inside" in switches else None
    return noise_of_scales(scales, mechanism.n, draw, where=where), scales


def needed(array: T | None) -> T:
    """Return what a mechanism's sources have.

    Raises:
        ValueError: they are those of another mechanism.
    """
    if array is None:
        raise ValueError("These are the sources of another mechanism.")
    return array


def _errors(noise: NDArray[np.int64], counts: NDArray[np.int64]) -> Errors:
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


def _add_scales(errors: Errors, mechanism: Critical | Edge | Elv | Published, scales: Sequence[Fraction]) -> None:
    values = np.array([float(scale) for scale in scales])
    if isinstance(mechanism, Critical):
        errors["largest_scale"], errors["exact"] = float(values.max(initial=0)), int((values == 0).sum())
        return
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf").tolist()
    errors["scale"], errors["scale_low"], errors["scale_high"] = middle, low, high
    errors["bound"], errors["bound_error"] = _mean(values * float(mechanism.epsilon_2))
