"""Cells of releases against their definitions in plain loops."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import naive
import numpy as np
import pytest
from evaluation.cells import SWITCHES, ReleaseCell
from evaluation.results import Errors, mean_of, with_expected
from evaluation.simulated_releases import FEWEST
from evaluation.simulation import View, floating_point_noise
from evaluations import F, evaluated, result_of, some_graph, twin_of, views_of

from pcneo.counting.counted import CountedGraph
from pcneo.privacy.mechanisms import mechanism_named
from pcneo.privacy.noise import SimulatedNoise


@cache
def twin_pad(t: float, delta: float) -> int:
    return next(a for a in range(10**6) if math.exp(-(a + 1) / t) / (1 + math.exp(-1 / t)) <= delta)


def twin_release(
    cell: ReleaseCell, view: View, counts: Sequence[int], inside: Sequence[int]
) -> tuple[list[float], list[float], list[float]]:
    """Errors of the total, of local counts, and bounds, of each run: the definitions in plain loops."""
    n, k, h = len(counts), cell.k, cell.h or 0
    epsilon_1 = float(cell.epsilon) / 10
    epsilon_2 = float(cell.epsilon) - epsilon_1
    halved = cell.mechanism == "elv" and "pads" not in cell.switches
    part = math.sqrt(1 / n) / 2 if halved else 1 / n / (2 * h + 2)
    t_d, t_c = 4 / epsilon_1, 2 * h / epsilon_1
    draw = floating_point_noise(cell.stream)
    runs = cell.runs
    first = draw(np.array(t_d), (runs, n))
    second = draw(np.array(t_c), (runs, h))
    bounds = []
    for run in range(runs):
        U = [int(view.degrees[v]) + int(first[run, v]) + twin_pad(t_d, part) for v in range(n)]  # noqa: N806
        for i, v in enumerate(sorted(range(n), key=lambda v: (-U[v], v))[:h]):
            U[v] = min(U[v], int(view.common[v]) + int(second[run, i]) + twin_pad(t_c, part))
        most = max(U) if "unclamped" in cell.switches else min(max(U), n - 2)
        if "four-thirds" in cell.switches:
            bounds.append(4 / 3 * 3 * math.comb(max(most, 1), 1))
        else:
            bounds.append(k * math.comb(max(most, k - 2), k - 2))
    added = draw(np.array([[bound / epsilon_2] for bound in bounds]), (runs, n))
    if "inside" in cell.switches:
        added = added * (np.array(inside) > 0)
    totals = [abs(sum(row.tolist())) / k / (sum(counts) / k) for row in added]
    local = [float(np.mean([abs(int(x)) / c for x, c in zip(row, counts, strict=True) if c > 0])) for row in added]
    return totals, local, bounds


@pytest.mark.parametrize("mechanism", ["elv", "published"])
@pytest.mark.parametrize(
    ("k", "switches"),
    [
        (3, ()),
        (3, ("inside", "unclamped")),
        (3, ("pads",)),
        (4, ()),
        (4, ("four-thirds",)),
        (4, ("four-thirds", "inside", "unclamped")),
    ],
)
def test_a_cell_of_releases_has_the_errors_of_the_twin(
    mechanism: str, k: int, switches: tuple[str, ...], tmp_path: Path
) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    groups: dict[str, Any] = {"p": "0.4", "score": "density"} if mechanism == "published" else {}
    parameters: dict[str, Any] = {
        "k": k,
        "mechanism": mechanism,
        "h": 3,
        "epsilon": "5",
        "switches": switches,
        "runs": 12,
    }
    result = result_of(ReleaseCell, graph, tmp_path, **parameters, **groups)
    content = evaluated(graph).content
    counts = [naive.clique_counts(twin, k)[v] for v in twin]
    sets = {v: naive.minimal_p_cohesion(twin, F("0.4"), v) for v in twin}
    inside = list(naive.clique_counts_inside(twin, k, sets).values()) if groups else counts
    cell = ReleaseCell(graph="Celegans", content=content, **parameters, **groups)
    totals, local, bounds = twin_release(cell, views_of(graph, "0.4")[mechanism], counts, inside)
    assert result["total"] == pytest.approx(np.mean(totals))
    assert result["total_error"] == pytest.approx(np.std(totals, ddof=1) / math.sqrt(12))
    assert result["local"] == pytest.approx(np.mean(local))
    assert result["bound"] == pytest.approx(np.mean(bounds))


def test_an_expected_error_is_in_proportion_to_the_scale() -> None:
    """Errors of totals of the same number of vertices, at λ of a mean of 2 and of 6, in many runs."""
    draw = floating_point_noise(7)
    errors = []
    for scales in ([1.0, 3.0], [3.0, 9.0]):
        noise = draw(np.array(scales * 4_000)[:, np.newaxis], (8_000, 100))
        errors.append(np.abs(noise.sum(axis=1)))
    means = [of_runs.mean() for of_runs in errors]
    spread = math.hypot(*(of_runs.std() / math.sqrt(8_000) / of_runs.mean() for of_runs in errors))
    assert abs(math.log(means[1] / means[0] / 3)) < 4.5 * spread
    assert spread < 0.02


def test_what_is_expected_is_the_mean_scale_or_the_error_of_the_runs() -> None:
    errors = cast("Errors", {"bound": 9.0, "bound_error": 0.9, "total": 0.5, "total_error": 0.25})
    everywhere, inside = (with_expected(errors, 4.5, everywhere=everywhere) for everywhere in (True, False))
    assert mean_of(everywhere, "expected") == (2.0, 0.2)
    assert mean_of(inside, "expected") == (0.5, 0.25)
    assert with_expected(cast("Errors", {"total": 1.0}), 1.0, everywhere=True) == {"total": 1.0}


@pytest.mark.parametrize("k", [3, 4])
def test_a_cell_of_answers_has_the_errors_of_the_releases_that_are_drawn(k: int, tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    counts = [naive.clique_counts(twin, k)[v] for v in twin]
    parameters: dict[str, Any] = {"k": k, "mechanism": "respond", "epsilon": "3", "runs": 6}
    result = result_of(ReleaseCell, graph, tmp_path, **parameters)
    cell = ReleaseCell(graph="Celegans", content=evaluated(graph).content, **parameters)
    facts = CountedGraph(evaluated(graph).graph)
    made = replace(mechanism_named("respond")(k=k, epsilon="3", n=len(twin)), clip=True, smooth=k == 3)
    noise = SimulatedNoise.seeded(cell.stream)
    releases = [made.draw(facts, noise) for _ in range(6)]
    drawn = [release.columns for release in releases]
    totals = [cast("int", release.record["total"]) * k - sum(counts) for release in releases]
    expected = errors_of(np.array([columns["count"] for columns in drawn]) - np.array(counts), counts, totals)
    assert {name: result[name] for name in expected} == pytest.approx(expected)
    for name in ("clipped", "smoothed") if k == 3 else ("clipped",):
        distances = [statistics.mean(abs(x - c) for x, c in zip(run[name], counts, strict=True)) for run in drawn]
        assert result[name] == pytest.approx(statistics.mean(distances))
    assert ("smoothed" in result) == (k == 3)


@pytest.mark.parametrize("epsilon", ["2", "10"])
def test_answers_that_fill_several_blocks_have_the_errors_of_dense_matrices(epsilon: str, tmp_path: Path) -> None:
    """More vertices than two words of 64 answers hold; coins, flips and products as arrays of all pairs."""
    graph = some_graph(n=150)
    n, runs = len(graph), 3
    parameters: dict[str, Any] = {"k": 3, "mechanism": "respond", "epsilon": epsilon, "runs": runs}
    result = result_of(ReleaseCell, graph, tmp_path, **parameters)
    arrays = evaluated(graph).graph
    connected = np.zeros((n, n), bool)
    connected[np.repeat(np.arange(n), arrays.degrees), arrays.neighbours] = True
    counts = np.linalg.matrix_power(connected.astype(np.int64), 3).diagonal() // 2
    rng = np.random.default_rng(ReleaseCell(graph="Celegans", content=evaluated(graph).content, **parameters).stream)
    f = float(naive.flip_chance(F(epsilon)))
    distances, totals = [], []
    for _ in range(runs):
        yes = connected.copy()
        for x in range(n - 1):
            coins = np.frombuffer(rng.bytes(3 * (n - 1 - x)), np.uint8).reshape(-1, 3).astype(np.int64)
            yes[x, x + 1 :] ^= coins @ [2**16, 2**8, 1] < f * 2**24
            yes[x + 1 :, x] = yes[x, x + 1 :]
        unbiased = (yes - f) / (1 - 2 * f)
        np.fill_diagonal(unbiased, 0)
        plain = np.linalg.matrix_power(unbiased, 3).diagonal() / 2
        distances.append(np.rint(plain) - counts)
        totals.append(3 * round(plain.sum() / 3) - counts.sum())
    assert n > 128
    expected = errors_of(np.array(distances), counts.tolist(), totals)
    assert {name: result[name] for name in expected if name != "changed"} == pytest.approx(
        {name: value for name, value in expected.items() if name != "changed"}, rel=1e-6
    )


def test_switches_are_compared_under_the_same_noise_and_settings_under_different_noise() -> None:
    cell = ReleaseCell(graph="Celegans", content="c", k=4, mechanism="elv", h=3, epsilon="5", runs=10)
    assert cell.stream == replace(cell, switches=tuple(SWITCHES)).stream
    assert cell.stream != replace(cell, epsilon="6").stream


def errors_of(noise: np.ndarray, counts: Sequence[int], of_total: Sequence[float] | None = None) -> dict[str, float]:
    """Means over the runs and their standard errors, in plain loops; totals are those of the counts if not given."""
    runs = noise.tolist()
    off = [sum(row) for row in runs] if of_total is None else of_total
    held = [i for i, count in enumerate(counts) if count > 0]
    values = {
        "total": [abs(x) / sum(counts) for x in off],
        "absolute": [sum(map(abs, row)) / len(row) for row in runs],
        "local": [sum(abs(row[i]) / counts[i] for i in held) / len(held) for row in runs],
    }
    means = {name: statistics.mean(of_runs) for name, of_runs in values.items()}
    means |= {f"{name}_error": statistics.stdev(of_runs) / math.sqrt(len(of_runs)) for name, of_runs in values.items()}
    return {**means, "changed": sum(x != 0 for row in runs for x in row) / len(runs) / len(counts)}


@pytest.mark.parametrize("k", [3, 4])
def test_a_cell_of_edge_has_the_errors_of_plain_loops(k: int, tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    n, counts = len(twin), [naive.clique_counts(twin, k)[v] for v in twin]
    parameters: dict[str, Any] = {"k": k, "mechanism": "edge", "epsilon": "5", "runs": 12}
    content = evaluated(graph).content
    draw = floating_point_noise(ReleaseCell(graph="Celegans", content=content, **parameters).stream)
    most = max(naive.largest_common(twin, v) for v in twin)
    first = draw(np.array(2.0), (12, 1))  # 1/ε1, ε1 = ε/10
    bounds = [min(int(x) + twin_pad(2.0, 1 / n) + most, n - 2) for x in first[:, 0]]
    scales = [k * math.comb(max(bound, k - 2), k - 2) / 4.5 for bound in bounds]
    expected = errors_of(draw(np.array(scales)[:, np.newaxis], (12, n)), counts)
    result = result_of(ReleaseCell, graph, tmp_path, **parameters)
    assert {name: result[name] for name in expected} == pytest.approx(expected)
    assert result["bound"] == pytest.approx(4.5 * statistics.mean(scales))


@pytest.mark.long
@pytest.mark.parametrize("k", [3, 4])
def test_a_cell_of_critical_has_the_errors_of_plain_loops(k: int, tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    counts = [naive.clique_counts(twin, k)[v] for v in twin]
    groups = [naive.minimal_p_cohesion(twin, F("0.4"), v) for v in twin]
    pairs = naive.pairs_inside(groups)
    parameters: dict[str, Any] = {
        "k": k,
        "mechanism": "critical",
        "epsilon": "5",
        "runs": 12,
        "p": "0.4",
        "score": "density",
    }
    stream = ReleaseCell(graph="Celegans", content=evaluated(graph).content, **parameters).stream
    coins, f = np.random.default_rng(stream), naive.flip_chance(F(5))
    noise, totals = [], []
    for _ in range(12):
        drawn = np.frombuffer(coins.bytes(3 * len(pairs)), np.uint8).reshape(-1, 3).astype(int)
        flips = drawn @ [2**16, 2**8, 1] < int(f * 2**24)
        yes = {(a, b) for (a, b), flip in zip(sorted(pairs), flips, strict=True) if (b in twin[a]) != flip}
        plain = [naive.counts_from_pair_answers(twin, pairs, yes, k, f, v) for v in twin]
        noise.append(np.array([round(x) for x in plain]) - counts)
        totals.append(k * round(sum(plain) / k) - sum(counts))
    expected = errors_of(np.array(noise), counts, totals)
    result = result_of(ReleaseCell, graph, tmp_path, **parameters)
    assert {name: result[name] for name in expected} == pytest.approx(expected)
    every = naive.cliques(naive.with_pairs(twin, pairs), k)
    touched = set().union(*(clique for clique in every if pairs & set(combinations(sorted(clique), 2))))
    assert result["exact"] == len(twin) - len(touched)


def test_a_cell_of_modelled_has_the_errors_of_the_releases_that_are_drawn(tmp_path: Path) -> None:
    graph = some_graph()
    counts = [naive.clique_counts(twin_of(graph), 3)[v] for v in twin_of(graph)]
    parameters: dict[str, Any] = {"k": 3, "mechanism": "modelled", "epsilon": "3", "runs": 6}
    result = result_of(ReleaseCell, graph, tmp_path, **parameters)
    facts, n = CountedGraph(evaluated(graph).graph), len(graph)
    made = mechanism_named("modelled").taking(k=3, epsilon="3", delta=F(1, n)).on(n)
    noise = SimulatedNoise.seeded(ReleaseCell(graph="Celegans", content=evaluated(graph).content, **parameters).stream)
    releases = [made.draw(facts, noise) for _ in range(6)]
    totals = [cast("int", release.record["total"]) * 3 - sum(counts) for release in releases]
    expected = errors_of(np.array([release.counts for release in releases]) - np.array(counts), counts, totals)
    assert {name: result[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("mechanism", ["critical", "respond", "modelled"])
def test_where_a_release_takes_long_fewer_are_simulated_and_intervals_are_wider(
    mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: dict[str, Any] = {"p": "0.4", "score": "density"} if mechanism == "critical" else {}
    parameters: dict[str, Any] = {"k": 3, "mechanism": mechanism, "epsilon": "3", "runs": 30, **groups}
    whole = result_of(ReleaseCell, some_graph(), tmp_path / "whole", **parameters)
    assert "runs" not in whole
    monkeypatch.setattr("evaluation.simulated_releases.SECONDS", 1e-12)
    few = cast("Errors", result_of(ReleaseCell, some_graph(), tmp_path / "few", **parameters))
    assert few.get("runs") == FEWEST == 5
    assert mean_of(few).error == pytest.approx(few.get("total_error", 0) * 2.7764 / 1.95996, rel=3e-3)  # t at 4
    monkeypatch.setattr("evaluation.simulated_releases.LONGEST", 1e-12)
    none = result_of(ReleaseCell, some_graph(), tmp_path / "none", **parameters)
    assert "one release would take about" in none["refused"]


def test_published_says_how_many_vertices_have_their_whole_neighbourhood_in_their_cohesion(tmp_path: Path) -> None:
    graph = some_graph()
    twin = twin_of(graph)
    parameters: dict[str, Any] = {"k": 3, "mechanism": "published", "epsilon": "5", "runs": 4, "h": 3}
    shares = set()
    for p in ("0.2", "0.6", "0.9"):
        whole = [twin[v] <= naive.minimal_p_cohesion(twin, F(p), v) for v in twin if twin[v]]
        result = result_of(ReleaseCell, graph, tmp_path / p, p=p, score="density", **parameters)
        assert result["whole_neighbourhoods"] == pytest.approx(sum(whole) / len(whole))
        shares.add(result["whole_neighbourhoods"])
    assert len(shares) > 1


def test_critical_refused_for_size_is_shown_as_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcneo.counting.protected.hull.MEMORY", 10)
    parameters: dict[str, Any] = {"k": 3, "epsilon": "5", "p": "0.4", "score": "density", "runs": 10}
    result = result_of(ReleaseCell, some_graph(), tmp_path, mechanism="critical", **parameters)
    assert "pairs of vertices" in result["refused"]
    assert "total" not in result
