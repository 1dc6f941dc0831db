"""Private triangle counting side by side: each mechanism against its description, losses against brute force."""

from __future__ import annotations

import csv
import gzip
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import naive
import networkx as nx
import numpy as np
import pytest
from evaluation.beside.beside_text import mean_of_five, median_of
from evaluation.beside.losses_found import as_degrees_grow, worst_loss
from evaluation.beside.oriented import added_bound, draw_order, draw_total, symmetric_geometric, worth
from evaluation.beside.pairs_of_neighbours import asked_pairs, sum_of_squared_common
from evaluation.beside.simulated_runs import made, run_by_run, standard_error_of_respond, total_of
from evaluation.cells import BesideCell
from evaluations import arrays_of, cohesions_of, some_graph, triangles, twin_of

from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_networkx
from pcneo.privacy.noise import ReleaseNoise
from pcneo.search import search_all

pytestmark = pytest.mark.long

OURS = ("respond", "total", "modelled", "edge", "critical")
RUNS = 1_000


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest distance of two empirical distribution functions."""
    at = np.concatenate((one, other))
    ranks = [np.searchsorted(np.sort(values), at, side="right") / len(values) for values in (one, other)]
    return float(np.abs(ranks[0] - ranks[1]).max())


def chance_distance(one: int, other: int, size: float = 1e-6) -> float:
    """What two samples of one distribution differ by, but for a chance of `size` (Smirnov)."""
    return math.sqrt(-math.log(size / 2) / 2 * (1 / one + 1 / other))


# --- Ours: the same distribution as what the package releases


@pytest.mark.parametrize("name", OURS)
def test_a_simulated_total_is_distributed_as_a_release_s(name: str, tmp_path: Path) -> None:
    graph = some_graph()
    arrays, true = arrays_of(graph, tmp_path), triangles(graph)
    p, score = ("0.4", "smallest") if name == "critical" else (None, None)
    cell = BesideCell(graph="g", content="c", mechanism=name, k=3, epsilon="1", runs=RUNS, p=p, score=score)
    result = run_by_run(cell, arrays, cohesions_of(cell, arrays))
    assert "totals" in result
    simulated = [(error + 1) * true for error in result["totals"]]

    plain = graph_from_networkx(graph)
    facts = CountedGraph(plain, search_all(plain, "0.4", "smallest"))
    mechanism, noise = made(name, "1", plain.vertex_count), ReleaseNoise()
    releases = [mechanism.draw(facts, noise) for _ in range(RUNS)]
    assert distance(simulated, [total_of(drawn) for drawn in releases]) < chance_distance(RUNS, RUNS)
    assert ("vertices" in result) == (name != "total")
    if "vertices" in result:
        counts = np.array([len([c for c in naive.cliques(twin_of(graph), 3) if v in c]) for v in sorted(graph)])
        released = [float(np.abs(np.array(drawn.counts) - counts).mean()) for drawn in releases]
        assert distance(result["vertices"], released) < chance_distance(RUNS, RUNS)


@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_the_closed_form_is_the_exact_variance_of_respond(epsilon: str) -> None:
    graph = some_graph()
    f = naive.flip_chance(Fraction(epsilon))
    exact = math.sqrt(naive.variance_of_all_triangles(twin_of(graph), f))
    assert standard_error_of_respond(graph_from_networkx(graph), epsilon) == pytest.approx(exact, rel=1e-9)


# --- EdgeOrient against a twin that goes through its algorithms pair by pair


def two_sided(rng: random.Random, epsilon: float) -> int:
    """By inversion: a geometric size, and a sign that is drawn again where it would be -0."""
    while True:
        size = int(math.log(1 - rng.random()) / -epsilon)
        negative = rng.random() < 0.5
        if size or not negative:
            return -size if negative else size


def twin_order(graph: naive.Graph, epsilon: float, rng: random.Random) -> dict[int, tuple[int, int]]:
    n = len(graph)
    e1, e2 = 0.8 * epsilon, 0.2 * epsilon
    per_group = math.ceil(math.log(n) / math.log(1.5)) / 4
    thresholds = {}
    largest = 1.0
    for v in graph:
        noisy = len(graph[v]) + two_sided(rng, e1 / 2)
        noisy = noisy + 1 - min(8 * 2 * math.exp(e1) / (math.exp(2 * e1) - 1), noisy)
        largest = max(largest, noisy)
        thresholds[v] = math.ceil(math.log2(noisy)) * per_group
    rounds = min(4 * math.log(n) / math.log(1.5) * math.log(largest) / math.log(1.5) - 1, max(thresholds.values()))
    levels, stopped = dict.fromkeys(graph, 0), set[int]()
    r = 0
    while r <= rounds:
        before = dict(levels)
        for v in graph:
            if thresholds[v] <= r:
                stopped.add(v)
            if before[v] != r or v in stopped:
                continue
            s = e2 / (2 * thresholds[v])
            number = sum(before[u] == r for u in graph[v]) + two_sided(rng, s)
            if number + 6 * math.exp(s) / (math.exp(2 * s) - 1) ** 3 > 1.5 ** math.floor(r / per_group):
                levels[v] += 1
            else:
                stopped.add(v)
        r += 1
    return {v: (levels[v], v) for v in graph}


def twin_total(graph: naive.Graph, epsilon: float, rng: random.Random, added: float | None = None) -> float:
    quarter, n = epsilon / 4, len(graph)
    order = twin_order(graph, quarter, rng)
    flip = 1 / (math.exp(quarter) + 1)
    answers = {(a, b): (b in graph[a]) != (rng.random() < flip) for a, b in combinations(sorted(graph), 2)}
    out = {v: sorted(u for u in graph[v] if order[u] > order[v]) for v in graph}
    bound = max(len(out[v]) + two_sided(rng, quarter) for v in graph)
    bound += 12 * math.log(n) / epsilon if added is None else added
    total = 0.0
    for v in graph:
        kept = out[v][: int(bound)]
        for j, k in combinations(kept, 2):
            total += (answers[j, k] * (math.exp(quarter) + 1) - 1) / (math.exp(quarter) - 1)
        total += rng.expovariate(quarter / (2 * bound)) - rng.expovariate(quarter / (2 * bound))
    return total


@pytest.mark.parametrize(("epsilon", "added"), [(1.0, None), (6.0, None), (6.0, 0.0)])
def test_the_oriented_total_is_distributed_as_its_description_s(epsilon: float, added: float | None) -> None:
    graph = nx.disjoint_union(nx.gnp_random_graph(40, 0.6, seed=1), nx.star_graph(30))
    plain, twin = graph_from_networkx(graph), twin_of(graph)
    rng, other = np.random.default_rng(1), random.Random(2)
    ours = [draw_total(plain, epsilon, rng, added) for _ in range(RUNS)]
    theirs = [twin_total(twin, epsilon, other, added) for _ in range(400)]
    assert distance(ours, theirs) < chance_distance(RUNS, 400)


def test_at_a_large_epsilon_the_oriented_total_is_the_number_of_triangles() -> None:
    graph = nx.gnp_random_graph(60, 0.4, seed=1)
    total = draw_total(graph_from_networkx(graph), 1_600.0, np.random.default_rng(1))
    assert total == pytest.approx(triangles(graph), abs=5)


def test_a_vertex_of_many_connections_comes_last_in_the_order_and_those_that_stay_by_position() -> None:
    graph = nx.disjoint_union(nx.star_graph(300), nx.path_graph(4))
    order = draw_order(graph_from_networkx(graph), 50.0, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(305))
    assert order[0] == 304
    alike = draw_order(graph_from_networkx(nx.star_graph(5)), 0.2, np.random.default_rng(2))
    assert alike.tolist() == list(range(6))  # no noisy degree is above the bias term, as is likely at any small ε


def test_symmetric_noise_has_its_chances_and_an_answer_counts_without_bias() -> None:
    drawn = Counter(symmetric_geometric(np.random.default_rng(1), 0.7, 200_000).tolist())
    alpha = math.exp(-0.7)
    for x in range(-4, 5):
        chance = (1 - alpha) / (1 + alpha) * alpha ** abs(x)
        assert drawn[x] == pytest.approx(200_000 * chance, abs=5 * math.sqrt(200_000 * chance))
    no, yes = worth(0.25)
    truth = math.exp(0.25) / (math.exp(0.25) + 1)
    assert truth * yes + (1 - truth) * no == pytest.approx(1)
    assert truth * no + (1 - truth) * yes == pytest.approx(0)


@pytest.mark.parametrize("most", [0, 2, 3, 100])
def test_pairs_of_out_neighbours_are_counted_as_often_as_they_are_asked_for(most: int) -> None:
    graph = nx.gnp_random_graph(25, 0.4, seed=2)
    plain = graph_from_networkx(graph)
    rows = [sorted(u for u in graph[v] if u > v) for v in graph]
    times = Counter(pair for row in rows for pair in combinations(row[:most], 2))
    flat = np.array([u for row in rows for u in row], np.uint32)
    asked = asked_pairs(plain, flat, np.array([len(row) for row in rows]), most)
    for counted, connected in ((asked.connected, True), (asked.others, False)):
        expected = Counter(count for pair, count in times.items() if graph.has_edge(*pair) == connected)
        assert {i: int(count) for i, count in enumerate(counted) if count} == expected
    shared = sum(len(set(graph[a]) & set(graph[b])) ** 2 for a, b in combinations(graph, 2))
    assert sum_of_squared_common(plain) == shared


# --- What one connection really loses


@pytest.mark.parametrize("name", ["respond", "critical", "total", "edge", "modelled"])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_no_connection_loses_more_than_our_mechanisms_promise_and_the_worst_nearly_all(name: str, epsilon: str) -> None:
    loss = worst_loss(name, epsilon).value
    assert float(epsilon) * (1 - 1e-5) < loss < float(epsilon) * (1 + 1e-12)


def test_the_counterexample_loses_what_is_said_by_going_through_all_answers() -> None:
    found = worst_loss("oriented", "1")
    assert found.vertices == 5
    assert found.value > 1
    assert found.added is not None
    quarter, (v, w) = 0.25, found.added
    rows = [sorted(b for a, b in (*found.graph, *more) if a == v) for more in ((), [found.added])]
    pairs = [pair for pair in combinations(range(5), 2) if pair != (v, w)]
    worst = 0.0
    for low in range(-19, 6):  # the largest out-degree that is reported
        bound = low + 12 * math.log(5)
        for said in range(2 ** len(pairs)):
            yes = {pair for i, pair in enumerate(pairs) if said >> i & 1}
            counts = [
                sum(
                    ((pair in yes) * (math.exp(quarter) + 1) - 1) / (math.exp(quarter) - 1)
                    for pair in combinations(row[: int(bound)], 2)
                )
                for row in rows
            ]
            by_count = abs(counts[0] - counts[1]) * quarter / (2 * bound)
            worst = max(worst, by_count)
    assert found.value == pytest.approx(2 * quarter + worst)  # the pair's own answer, and v's out-degree
    assert added_bound(5, 1.0) == pytest.approx(12 * math.log(5))


def test_the_limit_of_the_loss_is_what_long_lists_come_to() -> None:
    quarter, most = 0.25, 10**6
    no, yes = worth(quarter)
    change = (most - 1) * (yes - no)  # one of so many out-neighbours in place of another
    assert as_degrees_grow(1.0) == pytest.approx(quarter * (2 + change / (2 * most)), rel=1e-5)


# --- The table


def test_a_median_has_the_interval_that_order_statistics_give() -> None:
    assert median_of([-x for x in range(1, 26)]) == (8, 13, 18)
    assert median_of([3, -1, 2, 5, 4, 6]) == (1, 3.5, 6)
    low, high = mean_of_five([1.0] * 10)
    assert (low, high) == (1, 1)
    low, high = mean_of_five(np.random.default_rng(1).normal(size=5_000).tolist())
    assert (low, high) == (pytest.approx(0.35, abs=0.05), pytest.approx(1.35, abs=0.1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_in = tmp_path / "graphs"
    made_in.mkdir()
    for name, graph in (("small", nx.gnp_random_graph(30, 0.3, seed=1)), ("pair", nx.path_graph(2))):
        with gzip.open(made_in / f"{name}.edges.gz", "wt") as file:
            file.writelines(f"{a} {b}\n" for a, b in graph.edges)
    return made_in


Run = Callable[..., tuple[object, str]]


@pytest.fixture
def run(evaluate: Callable[..., tuple[object, str, str]], folder: Path, tmp_path: Path) -> Run:
    """Runs the command; returns its exit code and its errors."""

    def run(*arguments: str) -> tuple[object, str]:
        to = ("--graphs", str(folder), "--to", str(tmp_path / "out"))
        code, _, errors = evaluate("beside", *to, *arguments)
        return code, errors

    return run


def test_a_row_can_be_made_alone_and_is_not_computed_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ("--graph", "small", "--mechanism", "total", "--mechanism", "oriented", "-e", "1")
    assert run(*rows)[0] == 0
    text = (tmp_path / "out" / "beside.md").read_text(encoding="utf-8")
    assert "## small" in text
    assert "promise different things" in text
    assert "Lemma 4.2" in text
    assert "not implemented" in text.lower()
    numbers = list(csv.DictReader((tmp_path / "out" / "beside.csv").read_text(encoding="utf-8").splitlines()))
    assert Counter(row["mechanism"] for row in numbers) == {"total": 25, "oriented": 25}
    errors = [abs(float(row["error_of_total"])) for row in numbers if row["mechanism"] == "total"]
    assert f"{np.median(errors):.2g} (" in text
    assert "<svg" in (tmp_path / "out" / "beside.svg").read_text(encoding="utf-8")

    def fail(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("evaluation.computing.run_by_run", fail)
    assert run(*rows)[0] == 0
    assert (tmp_path / "out" / "beside.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--graph", "nobody"], 4, "nobody.edges.gz"),
        (["--graph", "wiki-Vote"], 4, "wiki_vote_snap"),
        (["--graph", "pair"], 4, "three vertices"),
        (["--graph", "small", "-e", "20"], 2, "from 0.001 to 16"),
        (["--graph", "small", "-e", "0"], 2, "positive"),
        (["--graph", "small", "-e", "nan"], 2, "must be a positive, finite number"),
        (["--graph", "small", "--mechanism", "row"], 2, "respond, oriented"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_written(
    arguments: list[str], code: int, says: str, run: Run, tmp_path: Path
) -> None:
    ended, errors = run(*arguments)
    assert ended == code
    assert says in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists()
