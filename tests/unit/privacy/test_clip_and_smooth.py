"""Counts that are cut and drawn towards their mean: from published numbers alone, with the total of the plain ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups
from pcneo.graph import graph_from_networkx
from pcneo.privacy.laplace import variance
from pcneo.privacy.mechanisms import Critical, Edge, Elv, Mechanism, Total
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.smoothing import shrunk


def facts_of(n: int = 60) -> CountedGraph:
    graph = graph_from_networkx(nx.gnp_random_graph(n, 0.2, seed=2))
    return CountedGraph(graph, Groups(np.array([0, 8]), np.arange(8, dtype=np.uint32)))


def drawn_by(kind: type[Mechanism], **asked: bool):
    facts = facts_of()
    made = kind.taking(epsilon="0.5", n=facts.vertex_count, **asked)
    return made, made.draw(facts, SimulatedNoise.seeded(5))


@pytest.mark.parametrize("kind", [Edge, Elv])
def test_counts_of_one_scale_are_drawn_towards_their_mean_by_its_variance(kind: type[Mechanism]) -> None:
    _, drawn = drawn_by(kind, clip=True, smooth=True)
    counts, most = np.array(drawn.counts), 59 * 58 / 2
    assert list(drawn.columns) == ["count", "clipped", "smoothed"]
    assert drawn.columns["clipped"] == np.clip(counts, 0, most).tolist()
    assert drawn.scale is not None
    noise = float(variance(drawn.scale))
    mean = min(max(counts.mean(), 0), most)
    spread = max(0.0, ((counts - mean) ** 2).mean() - noise)
    expected = np.clip(mean + spread / (spread + noise) * (counts - mean), 0, most)
    assert np.abs(np.array(drawn.columns["smoothed"]) - expected).max() <= 0.5
    assert "biased" in str(drawn.record["note"])
    plain = drawn_by(kind)[1]
    assert (plain.counts, plain.columns) == (drawn.counts, {})  # the same numbers are drawn


def test_counts_without_differences_beyond_their_noise_become_their_mean() -> None:
    rng = np.random.default_rng(1)
    counts = (7 + rng.normal(0, 100, 4_000)).tolist()
    near = shrunk(counts, 100.0**2, np.full(4_000, 1e6))
    assert np.std(near) < 15
    assert shrunk([9.0, 11.0], 100.0, np.full(2, 1e6)) == [10, 10], "they differ by their noise alone"
    assert shrunk([3.0, 5.0, 10.0], 1e-9, np.full(3, 9.0)) == pytest.approx([3, 5, 9])


def test_critical_and_total_are_cut_at_0() -> None:
    _, drawn = drawn_by(Critical, clip=True)
    assert min(drawn.counts) < 0
    assert drawn.columns["clipped"] == [max(0, count) for count in drawn.counts]
    facts = facts_of()
    made = Total(epsilon="0.5", n=60, clip=True)
    low = made.draw(facts, SimulatedNoise(lambda scale, size: [-(10**6)] * size))
    assert (low.record["clippedTotal"], list(low.columns)) == (0, ["total"])
    assert "mostly noise" in str(low.record["warning"])
