"""Graphs, local views and cohesions of the evaluation: reading, measuring and comparing, against naive twins."""

from __future__ import annotations

import math
from pathlib import Path

import naive
import networkx as nx
import numpy as np
import pytest
from evaluation import local_views
from evaluation.cells import (
    AgainstCell,
    Cell,
    CliquesCell,
    CohesionsCell,
    CoverageCell,
    GraphCell,
    OverlapCell,
    ScoresCell,
    SubsetsCell,
    ViewsCell,
)
from evaluation.cohesion_arrays import CohesionArrays
from evaluation.datasets import DATASETS, Counts, Dataset, EvaluatedGraph, PaperRow, find_files
from evaluation.sizes_and_densities import QUANTILES
from evaluations import F, arrays_of, result_of, some_graph, triangles, twin_of

from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.graph import graph_from_networkx
from pcneo.search import search_all


def test_a_view_has_the_vertices_and_edges_of_the_definition() -> None:
    graph = some_graph()
    twins = [naive.extended_local_view(twin_of(graph), v) for v in graph]
    arrays = graph_from_networkx(graph)
    assert local_views.view_sizes(arrays).tolist() == [len(view) for view in twins]
    assert local_views.view_edges(arrays).tolist() == [sum(map(len, view.values())) // 2 for view in twins]


def test_a_view_lies_inside_a_cohesion_where_every_vertex_of_it_does() -> None:
    graph = some_graph()
    for p in ("0.1", "0.6", "0.9"):
        batch = search_all(graph_from_networkx(graph), p)
        expected = [
            set(naive.extended_local_view(twin_of(graph), v)) <= naive.minimal_p_cohesion(twin_of(graph), F(p), v)
            for v in graph
        ]
        assert local_views.views_inside(graph_from_networkx(graph), batch).tolist() == expected


def test_components_have_their_sizes() -> None:
    graph = some_graph()
    expected = [len(nx.node_connected_component(graph, v)) for v in graph]
    assert local_views.component_sizes(graph_from_networkx(graph)).tolist() == expected


def measured(graph: naive.Graph, p: str, score: str) -> tuple[list[int], list[float]]:
    """Sizes and densities of all cohesions but those of isolated vertices."""
    groups = [naive.minimal_p_cohesion(graph, F(p), v, score) for v in graph if graph[v]]
    edges = [sum(len(graph[v] & group) for v in group) / 2 for group in groups]
    sizes = [len(group) for group in groups]
    return sizes, [2 * e / (s * (s - 1)) for e, s in zip(edges, sizes, strict=True)]


@pytest.mark.parametrize("score", ["density", "degree"])
def test_cohesions_are_described_by_quantiles_and_means_without_isolated_vertices(score: str, tmp_path: Path) -> None:
    graph = some_graph()
    result = result_of(CohesionsCell, graph, tmp_path, p="0.4", score=score)
    for name, values in zip(("sizes", "densities"), measured(twin_of(graph), "0.4", score), strict=True):
        ascending = sorted(values)
        at = [max(1, math.ceil(share * len(values))) for share in QUANTILES]
        assert result[name]["quantiles"] == pytest.approx([ascending[i - 1] for i in at])
        assert result[name]["mean"] == pytest.approx(sum(values) / len(values))
    assert result["vertices"] == len(graph) - 2


def test_cohesions_are_compared_vertex_by_vertex(tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    sizes, dense = measured(twin, "0.4", "density")
    other_sizes, other_dense = measured(twin, "0.4", "degree")
    view = [naive.extended_local_view(twin, v) for v in twin if twin[v]]
    view_sizes = [len(rows) for rows in view]
    view_dense = [sum(map(len, rows.values())) / (len(rows) * (len(rows) - 1)) for rows in view]
    compared: list[tuple[type[Cell], dict[str, str], tuple[list[int], list[float]]]] = [
        (ScoresCell, {}, (other_sizes, other_dense)),
        (AgainstCell, {"score": "density"}, (view_sizes, view_dense)),
    ]
    for kind, score, others in compared:
        result = result_of(kind, graph, tmp_path / kind.kind, p="0.4", **score)
        smaller = [a < b for a, b in zip(sizes, others[0], strict=True)]
        denser = [a > b + 1e-12 for a, b in zip(dense, others[1], strict=True)]
        assert result["smaller"] == pytest.approx(np.mean(smaller))
        assert result["denser"] == pytest.approx(np.mean(denser))
        assert result["mean_size_ratio"] == pytest.approx(sum(sizes) / sum(others[0]))
        apart = max(abs(np.mean([a <= x for a in sizes]) - np.mean([b <= x for b in others[0]])) for x in range(40))
        assert result["size_distance"] == pytest.approx(apart)


def test_the_cohesions_of_the_two_scores_overlap_by_what_they_share(tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    shares = []
    for v in (v for v in twin if twin[v]):
        first, second = (naive.minimal_p_cohesion(twin, F("0.4"), v, score) for score in ("density", "degree"))
        shares.append(len(first & second) / len(first | second))
    result = result_of(OverlapCell, graph, tmp_path, p="0.4")
    assert result["overlap"] == pytest.approx(sum(shares) / len(shares))
    assert 0 < result["overlap"] < 1
    assert result["vertices"] == len(shares)


@pytest.mark.parametrize("p", ["0.1", "0.6", "0.9"])
def test_the_share_of_views_inside_cohesions_leaves_out_isolated_vertices(p: str, tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    linked = [v for v in twin if twin[v]]
    inside = [set(naive.extended_local_view(twin, v)) <= naive.minimal_p_cohesion(twin, F(p), v) for v in linked]
    result = result_of(SubsetsCell, graph, tmp_path, p=p, score="density")
    assert (result["vertices"], result["views_inside"]) == (len(linked), pytest.approx(sum(inside) / len(linked)))


def test_views_and_cohesions_are_measured_by_their_component(tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    linked = [v for v in twin if twin[v]]
    whole = {v: len(nx.node_connected_component(graph, v)) for v in linked}
    views_of_all = {v: naive.extended_local_view(twin, v) for v in linked}
    result = result_of(ViewsCell, graph, tmp_path / "views")
    assert result["sizes"]["mean"] == pytest.approx(np.mean([len(view) for view in views_of_all.values()]))
    assert result["of_component"] == pytest.approx(np.mean([len(views_of_all[v]) / whole[v] for v in linked]))
    sizes = [len(naive.minimal_p_cohesion(twin, F("0.6"), v)) for v in linked]
    result = result_of(CohesionsCell, graph, tmp_path / "sets", p="0.6", score="density")
    shares = [size / whole[v] for size, v in zip(sizes, linked, strict=True)]
    assert result["of_component"] == pytest.approx(np.mean(shares))


def test_a_sample_is_that_of_its_seed_and_holds_no_isolated_vertex(tmp_path: Path) -> None:
    arrays = arrays_of(some_graph(), tmp_path)
    first, again, other = (CohesionArrays(arrays, "0.4", "density", sample=10, seed=seed) for seed in (1, 1, 2))
    assert first.vertices.tolist() == again.vertices.tolist() != other.vertices.tolist()
    assert len(first.vertices) == 10
    assert arrays.linked[first.vertices].all()
    assert first.sizes.tolist() == CohesionArrays(arrays, "0.4", "density").sizes[first.vertices].tolist()


def test_a_graph_is_counted_with_its_isolated_vertices(tmp_path: Path) -> None:
    graph = some_graph()
    result = result_of(GraphCell, graph, tmp_path)
    assert (result["nodes"], result["edges"], result["isolated"]) == (len(graph), graph.number_of_edges(), 2)
    assert result["triangles"] == triangles(graph)
    assert result["largest_component"] == max(map(len, nx.connected_components(graph)))
    twin = twin_of(graph)
    assert result["largest_change"] == max(3 * naive.clique_support(twin, 3, edge) for edge in graph.edges)


def test_isolated_vertices_that_a_list_of_edges_cannot_name_are_added(tmp_path: Path) -> None:
    path = tmp_path / "celegans_metabolic.edges"
    path.write_text("1 2\n2 3\n1 3\n")
    dataset = Dataset("Celegans", "celegans_metabolic", Counts(5, 3, 2, 1), PaperRow(5, 3, 1.2, 2), "")
    graph = EvaluatedGraph.read(dataset, path).graph
    assert graph.vertex_count == 5
    assert graph.keys.tolist() == [1, 2, 3, 4, 5]
    assert graph.degrees.tolist() == [2, 2, 2, 0, 0]


def test_another_graph_under_a_dataset_s_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "celegans_metabolic.txt"
    path.write_text("1 2\n2 3\n1 3\n")
    with pytest.raises(GraphError, match="is not Celegans"):
        EvaluatedGraph.read(DATASETS[0], path)


def test_a_folder_without_any_of_the_graphs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"celegans_metabolic\.edges\.gz"):
        find_files(tmp_path)
    with pytest.raises(ParameterError, match="no folder"):
        find_files(tmp_path / "missing")


@pytest.mark.parametrize("k", [3, 4])
def test_cliques_are_those_of_the_graph_and_their_mean_is_the_error_of_zeros(k: int, tmp_path: Path) -> None:
    graph = some_graph()
    counts = list(naive.clique_counts(twin_of(graph), k).values())
    result = result_of(CliquesCell, graph, tmp_path, k=k)
    assert result["total"] == sum(counts) // k
    assert result["mean"] == pytest.approx(sum(counts) / len(counts))
    assert result["in_one"] == pytest.approx(sum(count > 0 for count in counts) / len(counts))


def test_connections_inside_groups_have_both_ends_in_one_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = some_graph()
    shares = set()
    for p in ("0.1", "0.4"):
        groups = [naive.minimal_p_cohesion(twin_of(graph), F(p), v) for v in graph]
        inside = sum(any({u, v} <= group for group in groups) for u, v in graph.edges)
        result = result_of(CoverageCell, graph, tmp_path / p, p=p, score="density")
        assert result == {"connections": graph.number_of_edges(), "inside": inside}
        shares.add(inside)
    assert len(shares) > 1
    monkeypatch.setattr("pcneo.counting.protected.pairs.MOST_MEMBERS", 10)
    refused = result_of(CoverageCell, graph, tmp_path / "large", p="0.4", score="density")
    assert "members" in refused["refused"]
