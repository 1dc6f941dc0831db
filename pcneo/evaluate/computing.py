"""What each kind of cell computes, from arrays to a few numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.evaluate import views
from pcneo.evaluate.cells import Cell, Result
from pcneo.evaluate.datasets import Counts
from pcneo.evaluate.sets import GraphArrays, RefusedError, SetArrays
from pcneo.evaluate.simulation import (
    Draw,
    View,
    floating_point_noise,
    noise_of_critical,
    noise_of_scales,
    scales_of_edge,
    scales_of_phases,
)
from pcneo.evaluate.switching import deciding_connections
from pcneo.privacy.mechanisms import Critical, Edge, Elv, Published, make_mechanism

__all__ = ["QUANTILES", "Sources", "compute", "mechanism_of", "prepare", "simulate", "sources_of"]

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""That describe a distribution: values that occur, the share of all values that they do not pass."""

Values = NDArray[np.float64] | NDArray[np.int64]


def compute(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """Compute a cell.

    Args:
        cell: the cell.
        graph: its graph.
        sets: the cohesions at the cell's p for a score.
    """
    return _KINDS[cell.kind](cell, graph, sets)


def prepare(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> None:
    """Compute the arrays that the cell needs, which may use all cores; `compute` then uses one."""
    if cell.kind == "release":
        with suppress(RefusedError):
            sources_of(cell, graph, sets)


# --- Structure


def _graph(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    arrays = graph.graph
    counts = Counts.of(arrays)
    return {
        "nodes": counts.nodes,
        "edges": counts.edges,
        "mean_degree": 2 * counts.edges / counts.nodes,
        "largest_degree": counts.largest_degree,
        "triangles": counts.triangles,
        "isolated": int((~graph.linked).sum()),
        "largest_component": int(graph.components.max(initial=0)),
        "largest_change": graph.largest_change(3),
    }


def _views(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    sizes, edges = graph.view_sizes[graph.linked], graph.view_edges[graph.linked]
    return _described(sizes, edges, graph.components[graph.linked])


def _sets(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    sizes, edges, vertices = _linked(graph, sets(_named(cell.score)))
    return _described(sizes, edges, graph.components[vertices])


def _linked(graph: GraphArrays, sets: SetArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sizes, edges and vertices of the cohesions, without isolated vertices."""
    linked = graph.linked[sets.vertices]
    return sets.sizes[linked], sets.edges[linked], sets.vertices[linked]


def _described(sizes: NDArray[np.int64], edges: NDArray[np.int64], components: NDArray[np.int64]) -> Result:
    return {
        "vertices": len(sizes),
        "sizes": _distribution(sizes),
        "densities": _distribution(views.densities(sizes, edges)),
        "of_component": float(np.mean(sizes / components)),
    }


def _distribution(values: Values) -> dict[str, Any]:
    ascending = np.sort(values)
    places = [max(0, math.ceil(share * len(ascending)) - 1) for share in QUANTILES]
    return {"quantiles": [float(ascending[i]) for i in places], "mean": float(values.mean())}


def _scores(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """The density score against the degree score, vertex by vertex."""
    sizes, edges, _ = _linked(graph, sets("density"))
    other_sizes, other_edges, _ = _linked(graph, sets("degree"))
    return _compared(sizes, edges, other_sizes, other_edges)


def _overlap(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """How much the sets of the two scores have in common: shared members over members of either, vertex by vertex."""
    first, second = sets("density").batch, sets("degree").batch
    shares = []
    for i in np.flatnonzero(graph.linked[first.vertices]).tolist():
        mine, other = (each.members[each.offsets[i] : each.offsets[i + 1]] for each in (first, second))
        shared = len(np.intersect1d(mine, other, assume_unique=True))
        shares.append(shared / (len(mine) + len(other) - shared))
    return {"vertices": len(shares), "overlap": float(np.mean(shares))}


def _against(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """Cohesions against extended local views, vertex by vertex."""
    sizes, edges, vertices = _linked(graph, sets(_named(cell.score)))
    return _compared(sizes, edges, graph.view_sizes[vertices], graph.view_edges[vertices])


def _subsets(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """How many extended local views lie inside their vertex's cohesion."""
    batch, linked = sets(_named(cell.score)).batch, graph.linked
    inside = views.views_inside(graph.graph, batch)[linked[batch.vertices]]
    return {"vertices": len(inside), "views_inside": float(inside.mean())}


def _compared(
    sizes: NDArray[np.int64], edges: NDArray[np.int64], other_sizes: NDArray[np.int64], other_edges: NDArray[np.int64]
) -> Result:
    dense, other_dense = views.densities(sizes, edges), views.densities(other_sizes, other_edges)
    return {
        "vertices": len(sizes),
        "denser": float(np.mean(dense > other_dense)),
        "as_dense": float(np.mean(dense == other_dense)),
        "smaller": float(np.mean(sizes < other_sizes)),
        "as_small": float(np.mean(sizes == other_sizes)),
        "size_ratio": float(np.median(sizes / other_sizes)),
        "mean_size_ratio": float(sizes.mean() / other_sizes.mean()),
        "mean_density_ratio": float(dense.mean() / other_dense.mean()),
        "size_distance": _distance(sizes, other_sizes),
        "density_distance": _distance(dense, other_dense),
    }


def _distance(values: Values, others: Values) -> float:
    """The largest difference between two distribution functions (Kolmogorov and Smirnov): 0 the same, 1 apart."""
    places = np.concatenate((values, others))
    first, second = (np.searchsorted(np.sort(each), places, side="right") / len(each) for each in (values, others))
    return float(np.abs(first - second).max())


# --- Releases


def mechanism_of(cell: Cell, n: int) -> Critical | Edge | Elv | Published:
    """Return the cell's mechanism, with the paper's δ = 1/n."""
    return make_mechanism(
        _named(cell.mechanism),
        k=_whole(cell.k),
        epsilon=_named(cell.epsilon),
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


def sources_of(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Sources:
    """Return what simulated releases of a cell rest on.

    Raises:
        RefusedError: `critical` cannot be had.
    """
    k = _whole(cell.k)
    graph.counts(k)
    if cell.mechanism == "critical":
        return Sources(None, sets(_named(cell.score)).supports(k), None)
    if cell.mechanism == "published":
        mine = sets(_named(cell.score))
        return Sources(View(mine.inner_degrees, mine.inner_common), None, mine.inside(k) > 0)
    # The extended local view of v holds every clique of v.
    return Sources(View(graph.graph.degrees, graph.common), None, graph.counts(k) > 0)


def _release(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    try:
        sources = sources_of(cell, graph, sets)
    except RefusedError as error:
        return {"refused": str(error)}
    counts = graph.counts(_whole(cell.k))
    draw = floating_point_noise(cell.stream)
    mechanism = mechanism_of(cell, len(counts))
    noise, scales = simulate(mechanism, sources, draw, _whole(cell.runs), cell.switches)
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
        supports = _given(sources.supports)
        return noise_of_critical(mechanism, supports, draw, runs), mechanism.scales(supports.tolist())
    view = _given(sources.view)
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


# --- The worst loss of one edge


def _loss(cell: Cell, graph: GraphArrays, sets: Callable[[str], SetArrays]) -> Result:
    """Largest losses at the scales of simulated releases; that of finding the scales is not in them."""
    k = _whole(cell.k)
    try:
        sources = sources_of(cell, graph, sets)
    except RefusedError as error:
        return {"refused": str(error)}
    mechanism = mechanism_of(cell, graph.graph.vertex_count)
    groups = sets(_named(cell.score))
    if isinstance(mechanism, Critical):
        with np.errstate(divide="ignore"):
            rates = float(mechanism.epsilon) / _given(sources.supports)
        losses = [graph.loss(k, rates), groups.loss_inside(k, rates), groups.loss_of_connections(k, rates)]
        return {
            **{name: loss for name, (loss, _) in zip(_PAIRS, losses, strict=True)},
            "promised_inside": float(mechanism.epsilon),
            "sampled": not all(whole for _, whole in losses),
        }
    draw = floating_point_noise(cell.stream)
    _, scales = simulate(mechanism, sources, draw, _whole(cell.runs), cell.switches)
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
        given_away = _given_away(k, graph, groups, sources, isinstance(mechanism, Published))
        found |= {name: math.inf for name in found if name.removesuffix("_low").removesuffix("_high") in given_away}
    promised = None if isinstance(mechanism, Published) or cell.switches else float(mechanism.epsilon_2)
    return {**found, "promised": promised, "sampled": sampled}


_PAIRS = ("connections", "inside", "connections_inside")
"""Over which a loss is the largest: all connections, all pairs inside groups, and connections inside groups."""


def _given_away(k: int, graph: GraphArrays, groups: SetArrays, sources: Sources, published: bool) -> set[str]:
    """Return those of `_PAIRS` among which one loses infinitely much under the switch `inside`.

    It changes a count without noise, or it decides whether a count gets noise. A pair that is not connected and would
    make a count noisy changes that count, which is exact without it.
    """
    holds_clique = _given(sources.holds_clique)
    exact = (~holds_clique).astype(np.float64)
    deciding = deciding_connections(graph.graph, k, holds_clique, groups.batch if published else None)
    found: set[str] = set()
    first = next(deciding, None)
    if first is not None or graph.loss(k, exact)[0] > 0:
        found.add("connections")
    with suppress(RefusedError):
        inside = groups.connections_inside
        decided = first is not None and any(pair in inside for pair in chain((first,), deciding))
        if decided or groups.loss_of_connections(k, exact)[0] > 0:
            found |= {"inside", "connections_inside"}
        elif groups.loss_inside(k, exact)[0] > 0:
            found.add("inside")
    return found


# --- What a cell of a kind always has


def _named(value: str | None) -> str:
    return _given(value)


def _whole(value: int | None) -> int:
    return _given(value)


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("A parameter that this kind of cell needs is None.")
    return value


_KINDS: dict[str, Callable[[Cell, GraphArrays, Callable[[str], SetArrays]], Result]] = {
    "graph": _graph,
    "views": _views,
    "sets": _sets,
    "scores": _scores,
    "overlap": _overlap,
    "against": _against,
    "subsets": _subsets,
    "release": _release,
    "loss": _loss,
}
