from __future__ import annotations

import csv
from dataclasses import replace
from math import comb
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from outside_graphs import outside_graph

from pcneo.basics.model import Graph
from pcneo.counting.cliques import clique_counts, clique_supports, cliques_inside
from pcneo.counting.common_neighbours import largest_common, largest_common_inside
from pcneo.errors import GraphError, ParameterError
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.search import search_all

NAMES = [
    "bitcoin_alpha", "celegans_metabolic", "copenhagen_friends", "ego_facebook", "email_enron", "gnutella08",
    "hepph_cit", "hepth_ca", "lastfm_asia", "sistercity", "usairport_2010", "wikivote_soc", "yeast_moreno_propro",
]  # fmt: skip


def read(path: Path) -> Graph:
    edges = np.loadtxt(path, np.int64, comments="#")
    return graph_from_edges(np.unique(edges), edges[:, 0], edges[:, 1])


@pytest.fixture(scope="module")
def copenhagen() -> Graph:
    return read(sample_path())


def complete(n: int) -> Graph:
    return graph_from_networkx(nx.complete_graph(n))


# --- Known numbers


@pytest.mark.parametrize("name", NAMES)
def test_the_triangles_of_a_data_set_are_as_many_as_its_manifest_says(name):
    with outside_graph("MANIFEST.tsv").open(encoding="utf-8") as lines:
        triangles = {row["name"]: int(row["triangles"]) for row in csv.DictReader(lines, delimiter="\t")}
    graph = read(outside_graph(f"{name}.edges.gz"))
    assert clique_counts(graph, 3).sum() == 3 * triangles[name]
    assert clique_supports(graph, 3).sum() == 3 * triangles[name]


@pytest.mark.parametrize(
    ("known", "triangles"),
    [(nx.karate_club_graph, 45), (nx.les_miserables_graph, 467), (nx.davis_southern_women_graph, 0)],
)
def test_well_known_graphs_have_as_many_triangles_as_is_said_of_them(known, triangles):
    graph = graph_from_networkx(nx.convert_node_labels_to_integers(known()))
    assert clique_counts(graph, 3).sum() == clique_supports(graph, 3).sum() == 3 * triangles


def test_the_example_that_is_shipped_has_its_13698_triangles(copenhagen):
    assert clique_counts(copenhagen, 3).sum() == 3 * 13_698


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_each_clique_is_counted_at_its_vertices_and_edges(copenhagen, k):
    counts, supports = clique_counts(copenhagen, k), clique_supports(copenhagen, k)
    assert counts.sum() % k == 0
    assert supports.sum() == counts.sum() // k * comb(k, 2)
    assert counts.dtype == supports.dtype == np.int64


def test_a_triangle_with_a_small_p_has_every_count_1_and_none_inside():
    graph = complete(3)
    batch = search_all(graph, "1/2")
    assert clique_counts(graph, 3).tolist() == [1, 1, 1]
    assert cliques_inside(graph, batch, 3).tolist() == [0, 0, 0]
    assert largest_common_inside(graph, batch).tolist() == [0, 0, 0]


@pytest.mark.parametrize("k", [3, 4, 20, 39, 40, 41, 10**30])
def test_a_complete_graph_of_40_has_binomial_counts_for_any_k(k):
    graph = complete(40)
    assert set(clique_counts(graph, k).tolist()) == {comb(39, k - 1)}
    assert set(clique_supports(graph, k).tolist()) == {comb(38, k - 2)}
    batch = search_all(graph, "0.99")
    assert set(cliques_inside(graph, batch, k).tolist()) == {comb(39, k - 1)}


def test_graphs_without_vertices_or_without_edges_have_no_cliques():
    for n in (0, 1, 5):
        graph = graph_from_networkx(nx.empty_graph(n))
        batch = search_all(graph, "0.5")
        assert clique_counts(graph, 3).tolist() == [0] * n
        assert clique_supports(graph, 3).tolist() == []
        assert cliques_inside(graph, batch, 3).tolist() == [0] * n
        assert largest_common_inside(graph, batch).tolist() == [0] * n
        assert largest_common(graph)[0].tolist() == [0] * n


# --- Numbers that do not fit


@pytest.mark.parametrize("threads", [1, 2])
def test_the_largest_count_that_fits_is_exact_and_one_that_does_not_is_refused(threads):
    assert comb(66, 33) < 2**63 < comb(67, 33)
    assert set(clique_counts(complete(67), 34, concurrency=threads).tolist()) == {comb(66, 33)}
    for count in (clique_counts, clique_supports):
        with pytest.raises(GraphError, match=r"more than 9,223,372,036,854,775,807 35-cliques"):
            count(complete(80), 35, concurrency=threads)
    graph = complete(80)
    with pytest.raises(GraphError, match="choose a smaller k"):
        cliques_inside(graph, search_all(graph, "0.99"), 35, concurrency=threads)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_count_that_overflows_only_when_added_up_is_refused(threads):
    """Two cliques of 66 share one vertex's neighbourhood: each gives it 7.2e18, together they do not fit."""
    graph = nx.disjoint_union(nx.complete_graph(66), nx.complete_graph(66))
    graph.add_edges_from((132, v) for v in range(132))
    alone = graph_from_networkx(graph.subgraph([*range(66), 132]))
    assert clique_counts(alone, 34, concurrency=threads).max() == comb(66, 33)
    with pytest.raises(GraphError, match="34-cliques"):
        clique_counts(graph_from_networkx(graph), 34, concurrency=threads)


# --- Refusals


@pytest.mark.parametrize("k", [2, 0, -3, 3.0, "3", True, None, float("nan")])
def test_anything_but_a_whole_number_from_3_is_refused_as_k(copenhagen, k):
    batch = search_all(copenhagen, "0.1", vertices=[0])
    for count in (clique_counts, clique_supports):
        with pytest.raises(ParameterError, match="k must be a whole number of 3 or more"):
            count(copenhagen, k)
    with pytest.raises(ParameterError, match="k must be a whole number of 3 or more"):
        cliques_inside(copenhagen, batch, k)


@pytest.mark.parametrize("concurrency", [0, -1])
def test_no_threads_are_refused(copenhagen, concurrency):
    with pytest.raises(ParameterError, match="concurrency"):
        clique_counts(copenhagen, 3, concurrency=concurrency)


def test_cohesions_of_another_graph_are_refused(copenhagen):
    batch = search_all(copenhagen, "0.1")
    shuffled = batch.members.copy()
    shuffled[:2] = shuffled[1::-1]
    broken = [
        (complete(4), batch),
        (copenhagen, replace(batch, members=shuffled)),
        (copenhagen, replace(batch, members=batch.members[:-1])),
        (copenhagen, replace(batch, vertices=batch.vertices - 1)),
        (copenhagen, replace(batch, offsets=batch.offsets[:-1])),
    ]
    for graph, other in broken:
        with pytest.raises(ParameterError, match="do not belong to this graph"):
            cliques_inside(graph, other, 3)
        with pytest.raises(ParameterError, match="do not belong to this graph"):
            largest_common_inside(graph, other)
