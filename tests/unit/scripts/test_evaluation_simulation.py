"""Simulated releases run the code of a release, at the same noise."""

from __future__ import annotations

import math
from pathlib import Path

import naive
import numpy as np
import pytest
from evaluation.cell_facts import CellFacts
from evaluation.cells import ReleaseCell
from evaluation.cohesion_arrays import CohesionArrays
from evaluation.simulated_releases import mechanism_of, simulate
from evaluation.simulation import (
    floating_point_noise,
    noise_of_scales,
    scales_of_edge,
    scales_of_phases,
)
from evaluations import F, arrays_of, some_graph, twin_of, views_of

from pcneo.privacy.mechanisms import Edge, Elv, Published
from pcneo.privacy.noise import SimulatedNoise


class Recorded:
    """Noise that is drawn once and given twice: to the simulation as arrays, to a mechanism run by run."""

    def __init__(self, seed: int) -> None:
        self.draw_of_arrays = floating_point_noise(seed)
        self.drawn: list[tuple[np.ndarray, np.ndarray]] = []

    def draw(self, scales: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        numbers = self.draw_of_arrays(scales, shape)
        self.drawn.append((np.broadcast_to(scales, shape), numbers))
        return numbers

    def of_run(self, run: int) -> SimulatedNoise:
        """The same numbers again, one call after another, for one run."""
        rows = iter([(scales[run], numbers[run]) for scales, numbers in self.drawn])

        def sample(scale: float, size: int) -> list[int]:
            scales, numbers = next(rows)
            assert (scales == scale).all()
            assert len(numbers) == size
            return numbers.tolist()

        return SimulatedNoise(sample)


RUNS = 40


@pytest.mark.parametrize("kind", [Elv, Published])
@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("h", [1, 3, 10])
@pytest.mark.parametrize("epsilon", ["1", "100"])
def test_the_two_phases_equal_the_release_s_code_at_the_same_noise(
    kind: type[Elv] | type[Published], k: int, h: int, epsilon: str
) -> None:
    graph = some_graph()
    view = views_of(graph, "0.4")[kind.name]
    counts = [naive.clique_counts(twin_of(graph), k)[v] for v in graph]
    mechanism = kind(k=k, epsilon=epsilon, n=len(graph), delta=F(1, len(graph)), h=h)
    noise = Recorded(7)
    scales = scales_of_phases(mechanism, view, noise.draw, RUNS)
    added = noise_of_scales(scales, len(graph), noise.draw)
    for run in range(RUNS):
        same = noise.of_run(run)
        assert mechanism.scale(view.degrees.tolist(), view.common.__getitem__, same) == scales[run]
        noisy = mechanism.noisy_counts(counts, scales[run], same)
        assert noisy == (np.array(counts) + added[run]).tolist()
    assert len(set(scales)) > 1 or epsilon == "1"


@pytest.mark.parametrize("k", [3, 4])
def test_edge_equals_the_release_s_code_at_the_same_noise(k: int) -> None:
    graph = some_graph()
    counts = [naive.clique_counts(twin_of(graph), k)[v] for v in graph]
    mechanism = Edge(k=k, epsilon=5, n=len(graph), delta=F(1, len(graph)))
    noise = Recorded(8)
    scales = scales_of_edge(mechanism, 4, noise.draw, RUNS)
    added = noise_of_scales(scales, len(graph), noise.draw)
    for run in range(RUNS):
        same = noise.of_run(run)
        assert mechanism.covering(mechanism.bound(4, same)) == scales[run]
        noisy = mechanism.noisy_counts(counts, scales[run], same)
        assert noisy == (np.array(counts) + added[run]).tolist()


def test_the_sources_of_a_simulation_are_those_of_a_release(tmp_path: Path) -> None:
    """What the vertices see, and what decides the scales, against sets of tuples."""
    graph = some_graph()
    twin = twin_of(graph)
    groups = {v: naive.minimal_p_cohesion(twin, F("0.4"), v) for v in twin}
    arrays = arrays_of(graph, tmp_path)
    cohesions = CohesionArrays(arrays, "0.4", "density")
    view = views_of(graph, "0.4")
    assert cohesions.inner_degrees.tolist() == view["published"].degrees.tolist()
    assert cohesions.inner_common.tolist() == view["published"].common.tolist()
    assert arrays.common.tolist() == view["elv"].common.tolist()
    for k in (3, 4):
        inside = naive.clique_counts_inside(twin, k, groups)
        assert cohesions.inside(k).tolist() == [inside[v] for v in twin]
        pairs = naive.pairs_inside(groups.values())
        without = naive.graph_of([e for e in graph.edges if tuple(sorted(e)) not in pairs], isolated=twin)
        fewer, counts = naive.clique_counts(without, k), naive.clique_counts(twin, k)
        assert cohesions.touched(k).tolist() == [fewer[v] < counts[v] for v in twin]
    assert cohesions.hull.pair_count == len(pairs)


def test_floating_point_noise_has_the_spread_of_the_discrete_laplace_distribution() -> None:
    drawn = floating_point_noise(5)(np.array(7.0), (100, 2_000))
    alpha = math.exp(-1 / 7)
    assert drawn.mean() == pytest.approx(0, abs=0.1)
    assert drawn.var() == pytest.approx(2 * alpha / (1 - alpha) ** 2, rel=0.03)


def test_the_evaluation_s_delta_is_the_paper_s() -> None:
    cell = ReleaseCell(graph="Celegans", content="c", k=3, mechanism="edge", epsilon="5", runs=10)
    mechanism = mechanism_of(cell, 50)
    assert (mechanism.parameter("delta"), mechanism.parameter("epsilon_1")) == (F(1, 50), F(1, 2))


@pytest.mark.parametrize("kind", [Edge, Elv, Published])
def test_releases_in_one_array_are_those_that_are_drawn_one_by_one_at_the_same_noise(
    kind: type[Edge] | type[Elv] | type[Published], tmp_path: Path
) -> None:
    graph = some_graph()
    arrays = arrays_of(graph, tmp_path)
    facts = CellFacts(arrays, CohesionArrays(arrays, "0.4", "density"))
    mechanism, noise = kind(epsilon=50, n=len(graph), delta=F(1, len(graph))), Recorded(6)
    quick = simulate(mechanism, facts, noise.draw, RUNS)
    runs = iter([(scales[run], numbers[run]) for run in range(RUNS) for scales, numbers in noise.drawn])

    def again(scale: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        scales, numbers = next(runs)
        assert (scales == scale).all()
        return numbers.reshape(shape)

    same = SimulatedNoise(lambda t, size: again(np.array(t), (1, size))[0].tolist())
    slow = [mechanism.draw(facts, same) for _ in range(RUNS)]
    assert (np.array([drawn.counts for drawn in slow]) - facts.counts(3) == quick.noise).all()
    assert [drawn.scale for drawn in slow] == quick.scales
    assert next(runs, None) is None
