"""What the worst pair loses, from the graph with the pair connected and without."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import naive
import networkx as nx
import pytest
from evaluation.cells import LossCell
from evaluation.computing import compute
from evaluation.simulated_releases import facts_of, mechanism_of, simulate
from evaluation.simulation import floating_point_noise
from evaluations import F, arrays_of, cohesions_of, result_of, some_graph, twin_of

pytestmark = pytest.mark.long


def twin_losses(cell: LossCell, graph: nx.Graph) -> dict[str, float]:
    """The largest losses times λ, from the graph with and without each pair: the groups are fixed, and so is λ."""
    twin, k, p = twin_of(graph), cell.k, F(cell.p)
    groups = {v: naive.minimal_p_cohesion(twin, p, v) for v in twin}
    views = groups if cell.mechanism == "published" else {v: set(twin) for v in twin}

    @cache
    def loss(pair: tuple[Any, ...]) -> float:
        a, b = pair
        with_it = naive.with_pairs(twin, [(a, b)])
        without = {v: row - {b} if v == a else row - {a} if v == b else row for v, row in with_it.items()}
        counts = [naive.clique_counts(variant, k) for variant in (with_it, without)]
        noisy = [
            {v: "inside" not in cell.switches or count > 0 for v, count in inside.items()}
            for inside in (naive.clique_counts_inside(variant, k, views) for variant in (with_it, without))
        ]
        changes = {v: counts[0][v] - counts[1][v] for v in twin}
        if any(noisy[0][v] != noisy[1][v] or (changes[v] and not noisy[0][v]) for v in twin):
            return math.inf
        return sum(changes.values())

    pairs = naive.pairs_inside(groups.values())
    edges = [tuple(sorted(edge)) for edge in graph.edges]
    return {
        "connections": max(map(loss, edges)),
        "connections_inside": max((loss(edge) for edge in edges if edge in pairs), default=0.0),
    }


def losing_graphs() -> dict[str, nx.Graph]:
    """Graphs that differ in what the switch `inside` gives away."""
    whole = nx.complete_graph(7)
    hanging = nx.complete_graph(7)
    hanging.add_edges_from([(0, 7), (1, 7)])  # 7 is in a single triangle
    book = nx.Graph([(0, 1), *((i, j) for i in (0, 1) for j in range(2, 7)), (2, 3)])
    return {"some": some_graph(12), "whole": whole, "hanging": hanging, "book": book}


@pytest.mark.parametrize("name", ["some", "whole", "hanging", "book"])
@pytest.mark.parametrize(("k", "p"), [(3, "0.1"), (3, "0.6"), (4, "0.6")])
@pytest.mark.parametrize(
    ("mechanism", "switches"),
    [
        ("edge", ()),
        ("elv", ()),
        ("elv", ("inside",)),
        ("elv", ("four-thirds",)),
        ("published", ()),
        ("published", ("inside", "unclamped")),
    ],
)
def test_losses_are_those_of_the_worst_pair(
    name: str, k: int, p: str, mechanism: str, switches: tuple[str, ...], tmp_path: Path
) -> None:
    graph = losing_graphs()[name]
    arrays = arrays_of(graph, tmp_path)
    cell = LossCell(
        graph=arrays.evaluated.name,
        content=arrays.evaluated.content,
        mechanism=mechanism,
        k=k,
        epsilon="5",
        h=None if mechanism == "edge" else 3,
        p=p,
        score="density",
        runs=9,
        switches=switches,
    )
    cohesions = cohesions_of(cell, arrays)
    draw = floating_point_noise(cell.stream)
    scales = simulate(mechanism_of(cell, len(graph)), facts_of(cell, arrays, cohesions), draw, 9, switches).scales
    low, *_, high = ascending = sorted(map(float, scales))
    losses = dict(compute(cell, arrays, cohesions))
    expected = twin_losses(cell, graph)
    middle = {name: most / ascending[4] for name, most in expected.items()}
    assert {name: losses[name] for name in expected} == pytest.approx(middle)
    ends = expected["connections"] / high, expected["connections"] / low
    assert (losses["connections_low"], losses["connections_high"]) == pytest.approx(ends)
    assert losses["promised"] == (4.5 if mechanism in ("edge", "elv") and not switches else None)


def test_the_switch_inside_gives_away_a_connection_that_decides_whether_there_is_noise(tmp_path: Path) -> None:
    parameters: dict[str, Any] = {"k": 3, "epsilon": "5", "p": "0.6", "score": "density", "runs": 9, "mechanism": "elv"}
    losses = {
        name: result_of(LossCell, graph, tmp_path / name, h=3, switches=("inside",), **parameters)["connections"]
        for name, graph in losing_graphs().items()
    }
    assert losses["hanging"] == losses["book"] == math.inf
    assert losses["whole"] < math.inf


def test_a_count_without_noise_loses_without_bound_under_the_switch_inside(tmp_path: Path) -> None:
    parameters: dict[str, Any] = {"k": 3, "epsilon": "5", "p": "0.1", "score": "density", "runs": 10, "h": 3}
    graph = some_graph()
    result = result_of(LossCell, graph, tmp_path, mechanism="published", switches=("inside",), **parameters)
    twin = twin_of(graph)
    sets = {v: naive.minimal_p_cohesion(twin, F("0.1"), v) for v in twin}
    inside, counts = naive.clique_counts_inside(twin, 3, sets), naive.clique_counts(twin, 3)
    assert any(counts[v] > 0 and inside[v] == 0 for v in twin)
    assert result["connections"] == math.inf
