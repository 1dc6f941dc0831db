"""The benchmark: its lines run on a tiny graph, compare what they claim to, and come out as JSON and a table."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import xor
from pathlib import Path

import naive
import networkx as nx
import numpy as np
import pytest
from benchmarks import projection, pseudocode
from benchmarks.__main__ import ALL, DEFAULT, main
from benchmarks.floors import rows_read, wedges_read
from benchmarks.graphs import as_sets, made_graph, write_edges
from benchmarks.measuring import Line, at_least, at_most, in_turns
from benchmarks.report import BEGIN, END, FOR_USERS, as_record, page, show, table, table_for_users
from places import ROOT

from pcneo.graph import graph_from_edges, graph_from_networkx

LINE = Line("a thing", [2.0, 1.0, 3.0], "s", "a peer", [8.0, 8.0, 3.0], "peer / ours", at_least(4))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Zachary's karate club as an edge list."""
    path = tmp_path / "karate.edges"
    path.write_text("".join(f"{u} {v}\n" for u, v in nx.karate_club_graph().edges))
    return path


def test_ratios_are_of_the_same_round_and_the_median_decides() -> None:
    assert LINE.ratios == [4.0, 8.0, 1.0]
    assert LINE.met is True
    assert replace(LINE, goal=at_least(4.1)).met is False
    assert replace(LINE, ratio="ours / peer").ratios == [0.25, 0.125, 1.0]
    assert replace(LINE, goal=at_most(1.9, "ours")).met is False
    assert replace(LINE, goal=None).met is None


def test_a_projection_multiplies_what_was_measured() -> None:
    """64 cores share the search, which grows with the graph or does not; one process takes all memberships."""
    costs = projection.Costs(
        vertices=1_000_000, arcs=10, search=1e-3, growth=2, memberships=5, handed_on=1e-6, filed=3e-6, bytes=4
    )
    constant, growing, written = projection.project(costs, 16_000_000, overhead=1.2, cores=64)
    assert constant == pytest.approx(16_000_000 * 1e-3 * 1.2 / 64)
    assert growing == pytest.approx(4 * constant)  # twice as much at each of two fourfolds
    assert written == pytest.approx(16_000_000 * 5 * 4e-6)
    assert projection.project(replace(costs, growth=0.9), 16_000_000, overhead=1.2)[1] == pytest.approx(constant)


def test_tasks_take_turns_and_the_round_that_warms_up_is_not_counted() -> None:
    order: list[str] = []

    def task(name: str) -> float:
        order.append(name)
        return float(len(order))

    taken = in_turns(2, {"a": lambda: task("a"), "b": lambda: task("b")})
    assert order == ["b", "a", "a", "b", "b", "a"]
    assert taken == {"a": [3.0, 6.0], "b": [4.0, 5.0]}


def test_record_has_the_spread_of_each_line_and_nothing_that_names_the_machine() -> None:
    record = json.loads(json.dumps(as_record({"thing": [LINE]}, 3, 12.3)))
    assert set(record) == {"date", "machine", "versions", "rounds", "seconds", "lines"}
    assert set(record["machine"]) == {"cpu", "cores", "memory_gib", "system"}
    (line,) = record["lines"]
    assert line["ours"] == {"minimum": 1.0, "median": 2.0, "maximum": 3.0, "rounds": [2.0, 1.0, 3.0]}
    assert line["ratio"]["median"] == 4.0
    assert line["goal"] == {"bound": "at least", "value": 4, "of": "ratio"}
    assert line["met"] is True


def test_table_says_what_was_compared_and_whether_the_goal_is_met() -> None:
    record = as_record({"thing": [LINE, replace(LINE, goal=at_most(1, "ours"), note="why")]}, 3, 60)
    head, _, first, second, *_ = table(record).splitlines()
    assert head == "| what | ours | beside | theirs | ratio | goal | met |"
    assert first == "| a thing | 2 s | a peer | 8 s | 4 (1–8) times as fast | ≥ 4 | yes |"
    assert second.endswith("| ≤ 1 s | **no** |")
    missed = "## Goals missed\n\n- a thing: 2 s, not ≤ 1 s\n\n## Notes\n"
    assert page(record) == f"{table(record)}\n{missed}\n- a thing: why.\n"


def test_the_readme_shows_the_lines_for_users_of_the_kept_results() -> None:
    record = json.loads((ROOT / "scripts" / "benchmarks" / "results" / "all.json").read_text())
    assert {line["benchmark"] for line in record["lines"]} == set(DEFAULT)
    assert f"{BEGIN}\n{table_for_users(record)}{END}" in (ROOT / "README.md").read_text()
    assert page(record) == (ROOT / "scripts" / "benchmarks" / "results" / "all.md").read_text()
    for begins in FOR_USERS:
        assert len([line for line in record["lines"] if line["what"].startswith(begins)]) == 1, begins
    assert len(FOR_USERS) <= 8


def test_the_table_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}an old table\n{END}after\n")
    shown = replace(LINE, what=f"{FOR_USERS[0]} at all")
    record = as_record({"thing": [replace(LINE, goal=at_least(5)), shown]}, 3, 60)
    show(record, readme)
    before, _, after = readme.read_text().partition(f"{BEGIN}\n{table_for_users(record)}{END}")
    assert (before, after) == ("before\n", "after\n")
    assert shown.what in readme.read_text()
    assert f"| {LINE.what} |" not in readme.read_text()
    assert readme.read_text().count("itself. Goals missed: 1 of 2 ([which](") == 1
    assert "\n## Goals missed\n\n- a thing: 4, not ≥ 5\n\n" in page(record)
    met = as_record({"thing": [LINE, shown]}, 3, 60)
    show(met, readme)
    assert "missed" not in readme.read_text() + page(met)


@pytest.mark.parametrize("p", ["0.2", "0.5", "3/4"])
def test_the_plain_pseudo_code_gives_the_twins_answers(p: str) -> None:
    graph = graph_from_networkx(nx.karate_club_graph())
    rows = as_sets(graph)
    twin = {v: set(row) for v, row in enumerate(rows)}
    need = pseudocode.needs(rows, p)
    for q in range(graph.vertex_count):
        assert pseudocode.expand(rows, need, q)[0] == naive.expand(twin, Fraction(p), q)
        assert pseudocode.minimal_p_cohesion(rows, need, q) == naive.minimal_p_cohesion(twin, Fraction(p), q)


def test_a_made_graph_is_the_same_for_a_seed_and_has_a_long_tail_and_closed_wedges(tmp_path: Path) -> None:
    n, u, v = made_graph(20_000, 1)
    again = made_graph(20_000, 1)
    assert n == again[0]
    assert np.array_equal(u, again[1])
    assert np.array_equal(v, again[2])
    assert not np.array_equal(u[:1000], made_graph(20_000, 2)[1][:1000])
    assert 0.8 < len(u) / 20_000 < 1.1
    assert (u < v).all()
    graph = nx.Graph(zip(u.tolist(), v.tolist(), strict=True))
    assert nx.average_clustering(graph) > 0.4
    degrees = graph_from_edges(range(n), u.tolist(), v.tolist()).degrees
    assert degrees.max() > 10 * degrees.mean()
    write_edges(tmp_path / "made.edges", u, v)
    assert naive.graph_of(naive_edges(tmp_path / "made.edges")).keys() == set(graph)


def naive_edges(path: Path) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in (line.split() for line in path.read_text().splitlines())]


def test_floors_read_each_wedge_and_each_row_once() -> None:
    karate = nx.karate_club_graph()
    graph = graph_from_networkx(karate)
    place = {v: (karate.degree[v], v) for v in karate}
    later = {v: [w for w in karate[v] if place[v] < place[w]] for v in karate}
    ends = [x for v in karate for w in later[v] for x in later[w]]
    assert wedges_read(graph)() == reduce(xor, ends)
    members = np.array([0, 5, 5, 33])
    assert rows_read(graph, members)() == reduce(xor, [w for v in (0, 5, 5, 33) for w in karate[v]])


def test_a_bound_is_told_with_how_far_from_it_we_are() -> None:
    line = replace(LINE, note="why", bound="reading", floor=[0.5, 0.25, 1.0])
    record = as_record({"thing": [line, replace(LINE, bound="the cores")]}, 3, 60)
    assert page(record).splitlines()[-2:] == [
        "- a thing: why. Bound: reading, 0.5 s: 4 times that.",
        "- a thing: Bound: the cores.",
    ]


@pytest.mark.long
def test_lines_run_on_a_tiny_graph_and_leave_json_and_a_table(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "results" / "some.json"
    main(["--graph", str(tiny), "--rounds", "1", "--json", str(to), "cohesions", "threads", "weighing"])
    record = json.loads(to.read_text())
    assert {line["benchmark"] for line in record["lines"]} == {"cohesions", "threads", "weighing"}
    assert all(line["ours"]["median"] > 0 for line in record["lines"])
    assert {line["goal"] for line in record["lines"]} == {None}, "the goals are HepPh's"
    assert to.with_suffix(".md").read_text() == page(record)
    assert page(record) in capsys.readouterr().out


def test_lines_beside_peers_run_on_a_tiny_graph(tiny: Path, tmp_path: Path) -> None:
    for package in ("igraph", "networkit", "pivoterpy", "pyflagsercount"):
        pytest.importorskip(package, reason="the peers come with the extra `bench`")
    to = tmp_path / "some.json"
    main(["--graph", str(tiny), "--rounds", "1", "--json", str(to), "triangles", "cliques", "inside"])
    lines = json.loads(to.read_text())["lines"]
    assert all(line["peer"] and line["theirs"] and line["ratio"] for line in lines)


def test_every_benchmark_says_what_it_measures_and_the_default_set_is_among_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["--list"])
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(ALL)
    assert all(len(line.split()) > 3 for line in listed)
    assert set(DEFAULT) <= set(ALL)


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "there is no nothing" in capsys.readouterr().err
