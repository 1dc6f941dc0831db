"""The report on answers: sets that are compared, figures and the proven minimum against plain twins."""

from __future__ import annotations

import gzip
import itertools
import json
from fractions import Fraction
from pathlib import Path

import naive
import networkx as nx
import numpy as np
import pytest
from evaluation.answers.alternatives import ALTERNATIVES
from evaluation.answers.grouped_graphs import GroupedGraph, graphs_of
from evaluation.answers.minimum import smallest_around
from evaluation.answers.picturing import draw_answers
from evaluation.answers.set_figures import Figures, measure
from evaluation.answers.telling import answers_csv, answers_text

from pcneo.errors import GraphError
from pcneo.graph import graph_from_networkx
from pcneo.search import needs_of, search_all

HALVES = nx.planted_partition_graph(2, 15, 0.5, 0.05, seed=3)


def test_alternatives_are_what_their_names_say():
    graph = graph_from_networkx(HALVES)
    queries = [0, 7, 29]
    sets = {name: [set(s.tolist()) for s in way(graph, queries, 0)] for name, way in ALTERNATIVES.items()}
    assert sets["one hop"] == [{q, *HALVES[q]} for q in queries]
    for q, found in zip(queries, sets["k-core"], strict=True):
        core = nx.k_core(HALVES, nx.core_number(HALVES)[q])
        assert found == nx.node_connected_component(core, q)
    for q, found in zip(queries, sets["Louvain"], strict=True):
        assert q in found
        assert len(found & set(range(15))) in (0, 1, len(found) - 1, len(found))  # two dense halves


@pytest.mark.long
@pytest.mark.parametrize("p", ["0.3", "0.5"])
def test_the_minimum_is_that_of_brute_force(p: str):
    pytest.importorskip("ortools")
    graph = nx.gnp_random_graph(11, 0.35, seed=5)
    twin = {v: set(graph[v]) for v in graph}
    arrays = graph_from_networkx(graph)
    need = needs_of(Fraction(p), arrays.degrees)
    some = search_all(arrays, p, "density")
    for q in range(11):
        known = some.members[some.offsets[q] : some.offsets[q + 1]].astype(np.int64)
        found = smallest_around(arrays, need, q, known)
        assert (found.size, found.edges) == _by_force(twin, Fraction(p), q)


def _by_force(graph: naive.Graph, p: Fraction, q: int) -> tuple[int, int]:
    """The least size of a set around q that meets every need, and the most edges at that size."""
    others = [v for v in graph if v != q]
    for size in range(len(graph)):
        edges = [
            sum(len(graph[v] & chosen) for v in chosen) // 2
            for rest in itertools.combinations(others, size)
            if all(len(graph[v] & (chosen := {q, *rest})) >= p * len(graph[v]) for v in (q, *rest))
        ]
        if edges:
            return size + 1, max(edges)
    raise AssertionError


def test_figures_are_the_means_of_what_each_vertex_has(tmp_path: Path):
    graph = graph_from_networkx(HALVES)
    groups = np.arange(30) // 15
    rows = measure(GroupedGraph("halves", graph, groups), tmp_path, ["0.4"])
    assert [(row.way, row.p) for row in rows] == [
        *((search, "0.4") for search in ("smallest", "density", "degree")),
        *((way, "") for way in ALTERNATIVES),
    ]
    (density,) = [row for row in rows if row.way == "density"]
    sets = [{int(v) for v in one.members} for one in search_all(graph, "0.4", "density").cohesions()]
    inside = [len({v for v in members if v // 15 == q // 15}) for q, members in enumerate(sets)]
    assert density.size == pytest.approx(np.mean([len(members) for members in sets]))
    assert density.density == pytest.approx(np.mean([nx.density(HALVES.subgraph(members)) for members in sets]))
    assert density.found == pytest.approx(np.mean(inside) / 15)
    shares = [(both - 1) / (len(members) - 1) for both, members in zip(inside, sets, strict=True)]
    assert density.own_group == pytest.approx(np.mean(shares))
    assert (rows[3].way, rows[3].same) == ("one hop", 1)
    assert 0 < rows[3].changed < 1
    for file in tmp_path.iterdir():
        kept = json.loads(file.read_text())
        file.write_text(json.dumps([{**row, "size": 99.0} for row in kept]))
    again = measure(GroupedGraph("halves", graph, groups), tmp_path, ["0.4"])
    assert [row.size for row in again if row.p] == [99.0] * 3  # what is finished is not measured again
    fewer = graph_from_networkx(nx.Graph(list(HALVES.edges)[1:]))
    others = measure(GroupedGraph("halves", fewer, groups), tmp_path, ["0.4"])  # another graph of the same name is
    assert 99.0 not in [row.size for row in others if row.p]


def test_more_effort_has_a_row_of_its_own(tmp_path: Path):
    pytest.importorskip("ortools")
    graph = graph_from_networkx(HALVES)
    rows = {row.way: row for row in measure(GroupedGraph("halves", graph), tmp_path, ["0.3"]) if row.p}
    assert list(rows) == ["smallest", "density", "degree", "smallest, effort 8"]
    sizes = [one.size for one in search_all(graph, "0.3", effort=8).cohesions()]
    assert rows["smallest, effort 8"].size == pytest.approx(np.mean(sizes))
    least, most = rows["smallest, effort 8"].over_least, rows["smallest"].over_least
    assert least is not None
    assert most is not None
    assert 1 <= least <= most


def test_the_report_shows_what_was_measured(tmp_path: Path):
    def row(way: str, p: str, size: float) -> Figures:
        return Figures("made", way, p, 10, size, 0.5, 0.75, 0.25, 0.5, 0.125, 7.0, None, 4, 3, size / 4, 2, 0.9)

    figures = [row("smallest", "0.3", 4.0), row("density", "0.3", 8.0), row("Louvain", "", 40.0)]
    text = answers_text(figures, "scripts/evaluate answers")
    assert "| 0.3 | 1 | 0.50 (0.50 to 0.50) |" in text
    assert "| made | 0.3 | 3 of 4 | 1.000 | 2.000 | 0.900 (2) |  |" in text
    assert "| Louvain |  | 10 | 40.0 | 0.500 | 0.750 | 0.250 | 0.500 | 0.125 | 7 µs |" in text
    assert answers_csv(figures).splitlines()[1].startswith("made,smallest,0.3,10,4.0,0.5,0.75")
    draw_answers(figures, tmp_path / "answers.svg")
    assert (tmp_path / "answers.svg").stat().st_size > 10_000


@pytest.mark.long
def test_graphs_have_their_groups_and_a_vertex_without_one_is_refused(tmp_path: Path):
    made = {name: make() for name, make in graphs_of(None).items()}
    assert len(made) == 6
    for name, one in made.items():
        assert one.name == name
        assert (one.groups is None) == (name in ("Les Misérables", "students"))
    for name, content in (("edges", "1 2\n2 3\n"), ("labels", "1 0\n2 0\n")):
        (tmp_path / f"email_eu_core.{name}.gz").write_bytes(gzip.compress(content.encode()))
    with pytest.raises(GraphError, match="vertex 3"):
        graphs_of(tmp_path)["email-Eu-core"]()
