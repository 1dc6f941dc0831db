"""What is predicted from public numbers alone, before anything is read."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from pcneo.cli import app
from pcneo.counting.counted import CountedGraph
from pcneo.errors import ParameterError
from pcneo.graph import graph_from_networkx
from pcneo.privacy.foresight import Foreseen, advise
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.mechanisms import MECHANISMS, OneScale
from pcneo.privacy.outlook import Public
from pcneo.privacy.randomised_response import Flips, threshold_of


def foreseen(n: int, d: object, epsilon: object, k: int = 3) -> dict[str, Foreseen]:
    return {figures.mechanism: figures for figures in advise(n, d, epsilon, k).mechanisms}


def test_every_mechanism_is_told_of_with_what_it_promises_and_costs() -> None:
    of = foreseen(9_875, 5.26, 2)
    assert list(of) == list(MECHANISMS)
    for name, figures in of.items():
        assert figures.refused is None
        assert (figures.promises, figures.exact) == MECHANISMS[name].in_short[:2]
        made = MECHANISMS[name](epsilon=2, n=9_875)
        cost = made.entry
        if name == "published":
            assert (figures.epsilon, figures.delta) == ("not bounded", None)
        else:
            assert (Fraction(figures.epsilon or 0), Fraction(figures.delta or 0)) == cost
    assert {name for name, figures in of.items() if figures.standard_error is None} == {
        *("critical", "modelled", "total")
    }
    assert {name for name, figures in of.items() if figures.percent_true is not None} == {"respond"}
    assert of["total"].standard_error_of_total is not None
    assert of["edge"].standard_error_of_total is not None
    assert of["total"].standard_error_of_total < of["edge"].standard_error_of_total / 50


@pytest.mark.parametrize("epsilon", [1, 3, 5, 7.5, 10])
def test_ln_of_n_over_d_is_where_half_of_the_yes_answers_are_true(epsilon: float) -> None:
    n, d = 9_875, 5.26
    advice = advise(n, d, epsilon)
    assert advice.threshold == pytest.approx(math.log(n / d))
    shows = {figures.mechanism: figures for figures in advice.mechanisms}["respond"]
    assert f"ln(n/d) is {advice.threshold:.1f}" in shows.shows
    assert ("WARNING" in shows.shows) == (epsilon >= advice.threshold - 2)
    f = 1 / (1 + math.exp(epsilon))
    true = 100 * (1 - f) * d / ((1 - f) * d + f * (n - 1 - d))
    assert shows.percent_true == pytest.approx(true, rel=1e-3)
    at_threshold = {figures.mechanism: figures for figures in advise(n, d, advice.threshold).mechanisms}["respond"]
    assert at_threshold.percent_true == pytest.approx(50, abs=0.1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("epsilon", [1, 3, 6])
def test_the_errors_of_respond_are_no_larger_than_those_of_any_graph_of_that_mean_degree(
    seed: int, epsilon: int
) -> None:
    """By the exact variances, over all vertices of graphs that differ as much as graphs can."""
    makers = [
        lambda: nx.gnp_random_graph(30, 0.02 + 0.1 * seed, seed=seed),
        lambda: nx.star_graph(20 + seed),
        lambda: nx.random_regular_graph(4, 22 + 2 * seed, seed=seed),
        lambda: nx.disjoint_union(nx.complete_graph(6 + seed), nx.empty_graph(10)),
    ]
    for make in makers:
        graph = make()
        n, m = graph.number_of_nodes(), graph.number_of_edges()
        if m == 0:
            continue
        v = Flips(n, threshold_of(Fraction(epsilon))).variance
        rows = [set(graph[x]) for x in range(n)]
        common = {frozenset(pair): len(rows[pair[0]] & rows[pair[1]]) for pair in combinations(range(n), 2)}
        variances = [
            v * (math.comb(len(rows[w]), 2) + sum(common[frozenset((w, x))] ** 2 for x in range(n) if x != w))
            + v**2 * ((n - 2) * len(rows[w]) + m - len(rows[w]))
            + v**3 * math.comb(n - 1, 2)
            for w in range(n)
        ]
        of_total = v * sum(c * c for c in common.values()) + v**2 * m * (n - 2) + v**3 * math.comb(n, 3)
        figures = foreseen(n, Fraction(2 * m, n), epsilon)["respond"]
        assert figures.standard_error is not None
        assert figures.standard_error_of_total is not None
        assert figures.standard_error <= math.sqrt(sum(variances) / n) * (1 + 1e-9)
        assert figures.standard_error_of_total <= math.sqrt(of_total) * (1 + 1e-9)
        assert figures.standard_error > math.sqrt(v**3 * math.comb(n - 1, 2))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["edge", "elv", "total", "modelled"])
def test_no_graph_of_that_mean_degree_and_mean_count_has_a_smaller_scale_without_noise(seed: int, name: str) -> None:
    makers = [
        lambda: nx.gnp_random_graph(30, 0.1 + 0.1 * seed, seed=seed),
        lambda: nx.random_regular_graph(4, 22 + 2 * seed, seed=seed),
        lambda: nx.disjoint_union(nx.complete_graph(6 + seed), nx.empty_graph(10)),
        lambda: nx.powerlaw_cluster_graph(40, 3, 0.5, seed=seed),
    ]
    for make in makers:
        graph = make()
        n, m = graph.number_of_nodes(), graph.number_of_edges()
        facts = CountedGraph(graph_from_networkx(graph))
        mean_count = facts.counts(3).mean()
        public = Public(2 * m / n, float(mean_count))
        made = MECHANISMS[name](epsilon=1, n=n)
        assert isinstance(made, OneScale)
        largest = facts.largest_common()
        if largest == 0:
            continue
        assert public.common <= largest
        without_noise = made.expected_scale(largest, int(facts.degrees().max()))
        seen = made.foresee(public)
        if name == "edge":
            assert seen.error is not None
            assert seen.error <= standard_error(without_noise) * (1 + 1e-12)
        assert seen.error_of_total is not None
        sizes = n if name in ("edge", "elv") else 1
        assert seen.error_of_total <= standard_error(without_noise, sizes) / made.times_counted * (1 + 1e-12)


@pytest.mark.parametrize(
    ("degree", "count", "common"), [(10, None, 1), (10, 2, 1), (10, 45, 9), (4, 7, 4), (99, 4851, 98)]
)
def test_two_connected_vertices_share_in_the_mean_twice_as_many_as_a_vertex_has_triangles_for_a_connection(
    degree: float, count: float | None, common: int
) -> None:
    assert Public(degree, count).common == common


def test_more_triangles_are_foreseen_to_need_more_noise() -> None:
    few, many = ({f.mechanism: f for f in advise(9_877, 5.26, 1, expect=c).mechanisms}["edge"] for c in ("1", "50"))
    assert few.standard_error is not None
    assert many.standard_error is not None
    assert few.standard_error < many.standard_error


@pytest.mark.parametrize(("error", "of"), [("10%", "total"), ("10 %", "count"), (2, "count"), ("300", "total")])
def test_for_a_wanted_error_each_mechanism_has_the_least_epsilon_of_three_digits(error: object, of: str) -> None:
    n, d, count = 9_877, 5.26, 8.6
    advice = advise(n, d, expect=count, **{f"error_of_{of}": error})  # pyright: ignore[reportArgumentType]
    wanted = {"10%": count * n / 30, "10 %": count / 10}.get(str(error), float(str(error).rstrip("%")))
    assert advice.wanted is not None
    assert advice.wanted.error == pytest.approx(wanted)
    assert advice.epsilon is None
    found = [figures for figures in advice.mechanisms if figures.refused is None]
    assert {figures.mechanism for figures in found} >= ({"respond", "total"} if of == "total" else {"respond"})
    for figures in found:
        epsilon = Fraction(figures.epsilon or 0)
        below = epsilon - epsilon / 50
        errors = [
            {f.mechanism: f for f in advise(n, d, e, expect=count).mechanisms}[figures.mechanism]
            for e in (epsilon, below)
        ]
        at, less = (f.standard_error_of_total if of == "total" else f.standard_error for f in errors)
        assert at is not None
        assert less is not None
        assert at <= wanted < less
        assert len(str(float(epsilon)).replace(".", "").strip("0")) <= 3
    of_critical = {figures.mechanism: figures for figures in advice.mechanisms}["critical"]
    assert "follows from the groups" in (of_critical.refused or "")


def test_an_epsilon_too_small_for_its_noise_to_be_drawn_is_passed_over() -> None:
    advice = advise(400_000, 10, k=5, error_of_total="1e17")
    found = {figures.mechanism: figures for figures in advice.mechanisms}
    for name in ("total", "edge"):
        epsilon = found[name].epsilon
        assert found[name].refused is None
        assert epsilon is not None
        (at,) = (one for one in advise(400_000, 10, epsilon, 5).mechanisms if one.mechanism == name)
        assert at.standard_error_of_total is not None
        assert at.standard_error_of_total <= 1e17


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"epsilon": 1, "error_of_total": 5}, "Give exactly one of epsilon, error_of_total"),
        ({}, "Give exactly one of epsilon, error_of_total"),
        ({"error_of_total": "10%"}, "needs the mean number of triangles"),
        ({"error_of_total": 0.1}, "less than one clique; for a share of the total write 10%"),
        ({"error_of_total": "10%", "expect": 5, "k": 4}, "and k = 3"),
        ({"error_of_total": "0%", "expect": 5}, "error must be"),
        ({"error_of_count": "nan"}, "error must be"),
        ({"error_of_total": 5, "error_of_count": 5}, "Give exactly one of epsilon, error_of_total"),
        ({"epsilon": 1, "expect": -1}, "expect must be"),
        *(({"error_of_total": f"{share}%", "expect": 5}, "error must be") for share in ("abc", "", "10%", "-3")),
        *(
            ({"epsilon": 1, "expect": most}, "among 100 vertices it is at most 4,851, not")
            for most in (4_851.5, "1e20", "1e200")
        ),
    ],
)
def test_errors_out_of_range_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        advise(100, 5, **given)


def test_the_most_that_a_vertex_can_be_in_may_be_expected() -> None:
    assert advise(100, 5, 1, expect=4_851).mean_count == 4_851
    assert Public(500.0, 1e9).among(100) == Public(99.0, 4_851.0)
    assert Public(5.0).among(100) == Public(5.0)


def test_what_cannot_be_had_is_told_with_its_reason() -> None:
    of = foreseen(100, 5, 20)
    assert "from 0.001 to 16" in (of["respond"].refused or "")
    assert of["respond"].epsilon is of["respond"].standard_error is None
    of = foreseen(100, 5, 1, k=5)
    assert "from 3 to 4" in (of["respond"].refused or "")
    assert of["edge"].refused is None
    large = foreseen(10**6, 5, 3)["respond"]
    assert large.refused is None
    assert "MB of memory" in large.takes
    assert "cannot be drawn" in (foreseen(10**9, 5, "1e-9", k=5)["edge"].refused or "")


@pytest.mark.parametrize(
    ("n", "d", "epsilon", "k", "says"),
    [
        (1, 1, 1, 3, "n must be"),
        (10**10, 1, 1, 3, "n must be"),
        (True, 1, 1, 3, "n must be"),
        (10, 0, 1, 3, "mean degree must be"),
        (10, "nan", 1, 3, "mean degree must be"),
        (10, -1, 1, 3, "mean degree must be"),
        (10, "1e-200", 1, 3, "mean degree must be between 1e-9 and 1,000,000,000, not 1e-200"),
        (10, "9.01", 1, 3, "at most 9"),
        (10, 5, 0, 3, "epsilon must be"),
        (10, 5, "inf", 3, "epsilon must be"),
        (10, 5, 1, 2, "k must be"),
    ],
)
def test_numbers_out_of_range_are_refused(n: int, d: object, epsilon: object, k: int, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        advise(n, d, epsilon, k)


def test_the_command_needs_no_database_and_shows_every_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    shown = CliRunner().invoke(app, ["audit", "-n", "9875", "-d", "5.26", "-e", "6"])
    assert shown.exit_code == 0, shown.output
    assert "ln(n/d) is 7.5" in shown.output
    assert "No graph was read" in shown.output
    assert "WARNING" in shown.output
    assert "If you publish the answers, or vertices answer themselves: ln(n/d) is 7.5" in shown.output
    for name, kind in MECHANISMS.items():
        assert f"\n{name}\n  promises  {kind.in_short.promises}\n" in shown.output
    plain = json.loads(CliRunner().invoke(app, ["audit", "-n", "100", "-d", "1/3", "-e", "2", "--json"]).output)
    assert [figures["mechanism"] for figures in plain["mechanisms"]] == list(MECHANISMS)
    assert plain["meanDegree"] == pytest.approx(1 / 3)


def test_advice_is_a_table_and_shows_itself_in_a_line_for_each_mechanism() -> None:
    advice = advise(800, 16, expect=51, error_of_total="10%")
    lines = repr(advice).splitlines()
    assert lines[0] == "800 vertices, mean degree 16, k=3, for a standard error of the total of 1,360"
    assert lines[1] == "  critical: The error follows from the groups; a dry run shows it."
    assert len(lines) == 1 + len(advice.mechanisms)
    assert "ε=1" in repr(advise(800, 16, 1)).splitlines()[0]
    columns = advice.as_columns()
    assert columns["mechanism"][2:4] == ["modelled", "total"]
    assert columns["epsilon"] == [one.epsilon for one in advice.mechanisms]


@pytest.mark.parametrize("given", [[], ["-e", "1", "--error", "5"]])
def test_the_command_line_asks_in_its_own_words_for_either_epsilon_or_an_error(given: list[str]) -> None:
    refused = CliRunner().invoke(app, ["audit", "-n", "800", "-d", "16", *given])
    assert refused.exit_code == 2
    assert "-e, --error" in refused.output


def test_the_table_says_of_what_its_percents_are_and_why_a_mechanism_has_no_epsilon() -> None:
    asked = ["audit", "-n", "800", "-d", "16", "--error", "10", "--of", "count"]
    said = CliRunner().invoke(app, asked, env={"COLUMNS": "250"}).output
    for words in ("connections among yes-answers", "why not", "`total` gives no count per vertex."):
        assert words in said


@pytest.mark.parametrize("of", ["count", "total"])
def test_that_triangles_need_a_larger_epsilon_is_said_where_nobody_says_how_many_there_are(of: str) -> None:
    asked = ["audit", "-n", "800", "-d", "16", "--error", "10", "--of", of]
    said = "real graphs, which have triangles, need a larger ε. Give --expect."
    assert said in " ".join(CliRunner().invoke(app, asked).output.split())
    for told in ([*asked, "--expect", "49"], ["audit", "-n", "800", "-d", "16", "-e", "1"]):
        assert "need a larger" not in CliRunner().invoke(app, told).output


def test_no_error_of_single_counts_is_promised_for_modelled() -> None:
    tells = (
        "A single count is the average for vertices of that degree; only `pcneo audit GRAPH` says how far off it is."
    )
    for error in (0.5, 10**6):
        advice = advise(9_877, 5.26, expect=8.6, error_of_count=error)
        (modelled,) = (figures for figures in advice.mechanisms if figures.mechanism == "modelled")
        assert (modelled.epsilon, modelled.standard_error, modelled.refused) == (None, None, tells)
    arguments = ["audit", "-n", "800", "-d", "16", "--expect", "49", "--error", "3", "--of", "count"]
    assert " ".join(tells.split()) in " ".join(CliRunner().invoke(app, arguments).output.split())


def test_the_command_takes_an_error_in_place_of_epsilon() -> None:
    shown = CliRunner().invoke(app, ["audit", "-n", "9875", "-d", "5.26", "--expect", "8.6", "--error", "10%"])
    assert shown.exit_code == 0, shown.output
    assert "The smallest ε at which the standard error of the total can be as small as 2,83" in shown.output
    for wrong in (["-d", "5.26"], ["-e", "1"], ["friends", "-d", "2", "-e", "1"]):
        assert CliRunner().invoke(app, ["audit", "-n", "9875", *wrong]).exit_code != 0
    assert CliRunner().invoke(app, ["audit", "-d", "2", "-e", "1"]).exit_code == 2
