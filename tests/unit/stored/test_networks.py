"""Cohesions as networkx graphs and as files, against plain sets."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections import Counter

import networkx as nx
import pytest

from pcneo.counting.cliques import edge_ends
from pcneo.errors import GraphError, ParameterError
from pcneo.face.many_cohesions import Cohesions
from pcneo.graph import graph_from_edges
from pcneo.search import search_all
from pcneo.stored import exporting
from pcneo.stored.networks import Network, critical_counts, network_of, to_networkx


def edges_of(seed: int, text: bool = False) -> list[tuple]:
    draw = random.Random(seed)
    name = (lambda i: f"<{i:02}&é") if text else (lambda i: 3 * i)
    return [(name(a), name(b)) for a, b in itertools.combinations(range(25), 2) if draw.random() < 0.2]


@pytest.fixture(params=[(1, False), (2, True)], ids=["integers", "text"])
def searched(request):
    edges = edges_of(*request.param)
    keys = sorted({key for edge in edges for key in edge})
    graph = graph_from_edges(keys, [a for a, _ in edges], [b for _, b in edges])
    return edges, graph, search_all(graph, "0.5")


def test_a_batch_becomes_the_whole_graph_with_members_and_counts(searched):
    edges, graph, batch = searched
    made = to_networkx(batch, graph)
    assert {frozenset(edge) for edge in made.edges} == {frozenset(edge) for edge in edges}
    members = {cohesion.vertex: set(cohesion.members) for cohesion in batch.cohesions()}
    assert {key: set(json.loads(data["members"])) for key, data in made.nodes(data=True)} == members
    needed = Counter(key for group in members.values() for key in group)
    assert {key: data["needed"] for key, data in made.nodes(data=True)} == needed
    for a, b, data in made.edges(data=True):
        assert data["critical"] == sum({a, b} <= group for group in members.values())
    for key, data in made.nodes(data=True):
        inside = nx.Graph(edges).subgraph(members[key])
        assert (data["size"], data["edges"]) == (len(inside), inside.number_of_edges())
        assert data["density"] == pytest.approx(nx.density(inside))
    assert made.graph == {"p": "1/2", "search": "smallest"}


def test_one_cohesion_becomes_its_critical_connections(searched):
    edges, graph, batch = searched
    for cohesion in Cohesions(graph, batch):
        made = cohesion.to_networkx()
        expected = nx.Graph(edges).subgraph(cohesion.members)
        assert set(made) == set(expected)
        assert {frozenset(edge) for edge in made.edges} == {frozenset(edge) for edge in expected.edges}
        assert made.graph["vertex"] == cohesion.vertex


def test_counts_of_a_few_vertices_in_any_order_are_those_of_their_cohesions(searched):
    _, graph, _ = searched
    batch = search_all(graph, "0.5", vertices=[7, 3])
    counts, inside = critical_counts(graph, batch)
    groups = [set(cohesion.members) for cohesion in batch.cohesions()]
    keys = graph.keys.tolist()
    pairs = [(keys[a], keys[b]) for a, b in zip(*edge_ends(graph), strict=True)]
    assert counts.tolist() == [sum({*pair} <= group for group in groups) for pair in pairs]
    assert inside.tolist() == [sum({*pair} <= group for pair in pairs) for group in groups] == batch.edges.tolist()
    made = to_networkx(batch, graph)
    assert {key for key, data in made.nodes(data=True) if "members" in data} == {keys[3], keys[7]}


def test_cohesions_without_their_graph_or_with_another_are_refused(searched):
    _, _, batch = searched
    with pytest.raises(ParameterError, match="Give the graph"):
        to_networkx(batch)  # pyright: ignore[reportCallIssue, reportArgumentType] - the type checker refuses it, too
    with pytest.raises(ParameterError, match="not belong to this graph"):
        to_networkx(batch, graph_from_edges([1, 2], [1], [2]))


# --- files


def written(write, network: Network) -> bytes:
    file = io.BytesIO()
    write(file, network, None)
    return file.getvalue()


def test_json_is_networkxs_node_link_format(searched):
    _, graph, batch = searched
    text = written(exporting._write_json, network_of(batch, graph))
    read = nx.node_link_graph(json.loads(text), edges="edges")
    made = to_networkx(batch, graph)
    for _, data in made.nodes(data=True):
        data["members"] = json.loads(data["members"])
    assert nx.utils.graphs_equal(read, made)
    assert read.graph == made.graph


def test_every_writer_of_networkx_takes_the_whole_graph(searched, tmp_path):
    _, graph, batch = searched
    made, kind = to_networkx(batch, graph), type(graph.keys.tolist()[0])
    for form in ("graphml", "gexf", "gml"):
        getattr(nx, f"write_{form}")(made, tmp_path / form)
    read = nx.read_gexf(tmp_path / "gexf", node_type=kind)
    assert {key: data["members"] for key, data in read.nodes(data=True)} == {
        key: data["members"] for key, data in made.nodes(data=True)
    }


def test_graphml_is_read_back_with_members_as_json_text(searched):
    _, graph, batch = searched
    text = written(exporting._write_graphml, network_of(batch, graph))
    kind = type(graph.keys.tolist()[0])
    read = nx.read_graphml(io.BytesIO(text), node_type=kind)
    made = to_networkx(batch, graph)
    assert list(read.nodes(data=True)) == list(made.nodes(data=True))
    assert read.adj == made.adj
    assert made.graph.items() <= read.graph.items()


def test_what_graphml_cannot_take_is_refused_with_the_way_out():
    graph = graph_from_edges(["a\x01", "b"], ["b"], ["a\x01"])
    with pytest.raises(GraphError, match=r"cannot be written in XML. Export to a \.json"):
        written(exporting._write_graphml, network_of(search_all(graph, "0.5"), graph))
    large = Network({}, 2_000_000, 2_500_000, 600_000, lambda: iter(()), lambda: iter(()))
    with pytest.raises(GraphError, match=r"2,000,000 nodes.*\.json"):
        written(exporting._write_graphml, large)
