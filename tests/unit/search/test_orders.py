"""How steady answers are under other numberings, against a plain twin; sizes over a grid of p."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pcneo
from pcneo.basics.model import Graph
from pcneo.basics.searches import SEARCHES, Search
from pcneo.errors import ParameterError
from pcneo.graph import as_graph, graph_from_edges
from pcneo.search import search_all, search_orders
from pcneo.search.orders import VertexSteadiness, numberings

ORDERS = 5


def renumbered(graph: Graph, edges: list[Any], ranks: np.ndarray, p: str, search: str) -> dict[int, set[int]]:
    """The cohesion of each position of a graph whose keys are given out anew, by position in the graph as it was."""
    place = {key: i for i, key in enumerate(graph.keys.tolist())}
    new = {key: int(ranks[i]) for key, i in place.items()}
    old = {rank: place[key] for key, rank in new.items()}
    again = graph_from_edges(list(old), [new[a] for a, _ in edges], [new[b] for _, b in edges])
    found = search_all(again, p, search).cohesions()
    return {old[int(one.vertex)]: {old[int(member)] for member in one.members} for one in found}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", [1, 2])
def test_steadiness_is_that_of_graphs_whose_keys_were_given_out_anew(search: str, seed: int):
    drawn = random.Random(seed)
    keys = drawn.sample(range(1_000), 40)
    edges = [tuple(drawn.sample(keys[:38], 2)) for _ in range(100)]  # two vertices are without neighbours
    graph = graph_from_edges(keys, [a for a, _ in edges], [b for _, b in edges])
    orders = numberings(graph.vertex_count, ORDERS)
    assert len({ranks.tobytes() for ranks in orders}) == ORDERS
    answers = [renumbered(graph, edges, ranks, "0.4", search) for ranks in [np.arange(40), *orders]]
    found = [one for batch in search_orders(graph, Search("0.4", search), ORDERS) for one in batch]
    assert [one.vertex for one in found] == graph.keys.tolist()
    place = {key: i for i, key in enumerate(graph.keys.tolist())}
    pairs = {tuple(sorted((place[a], place[b]))) for a, b in edges}
    for q, one in enumerate(found):
        _compare_with_twin(one, [answer[q] for answer in answers], pairs, graph)
    assert any(one.sets > 1 for one in found)
    assert any(one.same == 1 for one in found)


def _compare_with_twin(one: VertexSteadiness, sets: list[set[int]], pairs: set[Any], graph: Graph) -> None:
    own, others = sets[0], sets[1:]
    assert one.size == len(own)
    assert (one.smallest, one.largest) == (min(map(len, others)), max(map(len, others)))
    assert one.sets == len(Counter(map(frozenset, others)))
    assert one.same == sum(other == own for other in others) / ORDERS
    inside = {pair: [set(pair) <= members for members in sets] for pair in pairs}
    expected = {
        (graph.keys[a], graph.keys[b]): (row[0], sum(row[1:]) / ORDERS) for (a, b), row in inside.items() if any(row)
    }
    shown = zip(*one.ends, one.critical.tolist(), one.shares.tolist(), strict=True)
    assert {(a, b): (critical, share) for a, b, critical, share in shown} == expected


@pytest.mark.parametrize("orders", [0, -1])
def test_orders_below_one_are_refused(orders: int):
    with pytest.raises(ParameterError) as refused:
        search_orders(graph_from_edges([1, 2], [1], [2]), Search("0.5", "density"), orders)
    assert refused.value.data["name"] == "orders"


def test_a_profile_describes_each_p_and_draws_them(tmp_path):
    graph = nx.les_miserables_graph()
    described = pcneo.profile(graph, ["1/3", 0.1], "density", plot=tmp_path / "profile.svg")
    first, *lines = repr(described).splitlines()
    assert first == "Profile: 77 vertices, 254 edges; search density"
    assert [line.split(": mean size ")[0] for line in lines] == ["  p=1/3", "  p=1/10"]
    assert re.fullmatch(r"  p=1/3: mean size [\d.]+, largest \d+, density 0\.\d\d; [\d,]+ memberships", lines[0])
    assert list(described.summaries) == ["1/3", "1/10"]
    for p, summary in described.summaries.items():
        batch = search_all(as_graph(graph), p, "density")
        assert summary.memberships == len(batch.members)
        assert summary.sizes is not None
        assert summary.sizes.max == batch.sizes.max()
    assert (described.vertices, described.edges) == (77, 254)
    assert described.as_columns()["p"] == ["1/3", "1/10"]
    assert (tmp_path / "profile.svg").stat().st_size > 10_000


def test_a_profile_of_some_vertices_is_of_these():
    described = pcneo.profile(nx.les_miserables_graph(), ["0.3"], "smallest", vertices=["Valjean", "Myriel"])
    assert described.summaries["3/10"].cohesions == 2


@pytest.mark.parametrize("ps", ["0.3", 0.3, ("0.3",), np.array([0.3])], ids=str)
def test_a_profile_takes_one_p_and_several(ps: Any):
    assert list(pcneo.profile(nx.path_graph(3), ps, "density").summaries) == ["3/10"]


@pytest.mark.parametrize(("ps", "name"), [([], "ps"), (["1"], "p")])
def test_a_profile_of_no_p_or_a_wrong_one_is_refused(ps: list[str], name: str):
    with pytest.raises(ParameterError) as refused:
        pcneo.profile(nx.path_graph(3), ps)
    assert refused.value.data["name"] == name


def test_steadiness_without_a_database_adds_up_what_the_numberings_give(tmp_path: Path):
    graph = nx.les_miserables_graph()
    steady = pcneo.steadiness(graph, ["0.3", "0.5"], "density", orders=ORDERS, to=tmp_path / "steady")
    assert list(steady.summaries) == steady.as_columns()["p"] == ["3/10", "1/2"]
    rows = [
        row for row in csv.DictReader((tmp_path / "steady/vertices.csv").read_text().splitlines()) if row["p"] == "3/10"
    ]
    batches = search_orders(as_graph(graph), Search("0.3", "density"), ORDERS)
    found = [one for batch in batches for one in batch]
    assert [(row["vertex"], float(row["same"])) for row in rows] == [(one.vertex, one.same) for one in found]
    summary = steady.summaries["3/10"]
    assert summary.vertices == graph.number_of_nodes()
    assert summary.same == pytest.approx(sum(one.same for one in found) / len(found))
    assert summary.connections == sum(len(one.shares) for one in found)
    assert steady.files == (tmp_path / "steady/vertices.csv", tmp_path / "steady/connections.csv")
    first, *lines = repr(steady).splitlines()
    assert first == "Steadiness: 77 vertices, 254 edges; search density; under 5 further numberings"
    assert lines[0].startswith("  p=3/10: ")
    assert len(lines) == 2


def test_steadiness_of_some_vertices_writes_no_file_unless_a_folder_is_named(tmp_path: Path, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    steady = pcneo.steadiness([("Ann", "Bob"), ("Bob", "Cem")], "0.3", orders=1, vertices="Bob")
    assert (steady.summaries["3/10"].vertices, steady.files, list(tmp_path.iterdir())) == (1, (), [])


def test_steadiness_without_a_p_or_under_no_numbering_is_refused():
    for given, orders, name in [([], 1, "p"), ("0.3", 0, "orders")]:
        with pytest.raises(ParameterError) as refused:
            pcneo.steadiness(nx.path_graph(3), given, orders=orders)
        assert refused.value.data["name"] == name


def test_where_nothing_can_be_steady_no_share_is_said():
    nobody, alone = (repr(pcneo.steadiness(nx.empty_graph(n), "0.3", orders=1)) for n in (0, 2))
    assert nobody.endswith("under 1 further numbering\n  p=3/10: the graph has no vertices")
    assert alone.endswith(" 100 % of the vertices in all of them; no connection is critical")
