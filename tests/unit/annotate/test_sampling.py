"""Estimates from samples: intervals that hold the truth, and an end in time."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pcneo.annotate.estimating import TRIAL_MEMBERSHIPS, Estimate, membership_seconds, writing
from pcneo.annotate.row_writing import WRITERS
from pcneo.annotate.sampling import Interval, Sample, _student, draw_sample
from pcneo.basics.model import Graph
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.graph import graph_from_networkx
from pcneo.search import search_all


def star(leaves: int) -> Graph:
    n = leaves + 1
    offsets = np.concatenate(([0], leaves + np.arange(n)))
    neighbours = np.concatenate((np.arange(1, n), np.zeros(leaves))).astype(np.uint32)
    return Graph(np.arange(n), offsets, neighbours)


@pytest.mark.parametrize(
    ("freedom", "value"), [(3, 3.182), (4, 2.776), (6, 2.447), (10, 2.228), (30, 2.042), (399, 1.966)]
)
def test_students_points_are_those_of_the_tables(freedom, value):
    assert _student(freedom) == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize("chunks", [4, 20, 200])
def test_intervals_hold_the_truth_about_as_often_as_they_say(chunks):
    rng = np.random.default_rng(7)
    population = rng.exponential(size=5_000)
    held = 0
    for _ in range(400):
        drawn = rng.permutation(population)
        counts = rng.integers(1, 5, chunks)
        sums = np.array([part.sum() for part in np.split(drawn, counts.cumsum())[:-1]])
        interval = Sample(5_000, sums, sums, counts.astype(float), []).search_seconds()
        held += interval.low <= population.sum() <= interval.high
        assert interval.low <= interval.value <= interval.high
    assert held / 400 > (0.8 if chunks < 10 else 0.9)  # of 95 %; exponential costs are far from normal
    assert held < 400


def test_a_sample_of_all_is_the_truth():
    graph = graph_from_networkx(nx.gnp_random_graph(60, 0.1, seed=2))
    sample = draw_sample(graph, Search("1/3"), most=400, seconds=60, concurrency=2)
    memberships = len(search_all(graph, "1/3").members)
    assert sorted(v for batch in sample.batches for v in batch.vertices.tolist()) == list(range(60))
    assert sample.memberships().low == sample.memberships().value == sample.memberships().high == memberships
    assert sample.search_seconds().low == sample.search_seconds().high > 0


@pytest.mark.long
def test_a_part_of_a_graph_is_drawn_the_same_way_each_time():
    graph = graph_from_networkx(nx.gnp_random_graph(500, 0.02, seed=2))
    first, second = (draw_sample(graph, Search("1/3"), most=50, seconds=60, concurrency=threads) for threads in (1, 3))
    drawn = [sorted(v for batch in sample.batches for v in batch.vertices.tolist()) for sample in (first, second)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 50


@pytest.mark.long
@pytest.mark.parametrize("vertices", [401, 1_000, 5_000])
def test_the_time_of_a_graph_hardly_larger_than_the_sample_is_estimated(vertices):
    graph = graph_from_networkx(nx.gnp_random_graph(vertices, 6 / vertices, seed=2))
    sample = draw_sample(graph, Search("1/3"), most=400, seconds=5, concurrency=2)
    seconds, memberships = sample.search_seconds(), sample.memberships()
    assert 0 < seconds.low <= seconds.value <= seconds.high < 10
    assert memberships.low < len(search_all(graph, "1/3").members) < memberships.high


def test_one_vertex_says_nothing_about_the_others():
    interval = Sample(10, np.array([3.0]), np.array([1.0]), np.array([1.0]), []).memberships()
    assert (interval.value, interval.low, interval.high) == (30, 0, math.inf)


@pytest.mark.long
def test_the_star_of_200_000_leaves_is_estimated_quickly():
    """Some of its vertices take seconds: 400 of them took many minutes."""
    graph = star(200_000)
    cpu = time.process_time()
    sample = draw_sample(graph, Search("3/10"), most=400, seconds=2, concurrency=2)
    assert time.process_time() - cpu < 30
    memberships = sample.memberships()
    assert memberships.value == pytest.approx(200_001 * 60_001, rel=1e-4)
    assert memberships.low > 10**9
    assert memberships.high < 1.01 * memberships.value


def test_advice_is_given_where_a_machine_or_a_store_is_not_enough():
    small = Estimate(
        sampled=400,
        memberships=10_000,
        memberships_low=9_000,
        memberships_high=11_000,
        compute_seconds=1.0,
        compute_seconds_low=0.5,
        compute_seconds_high=1.5,
        write_seconds=1.0,
        write_seconds_low=0.5,
        write_seconds_high=2.0,
        total_seconds=2.0,
        store_bytes=10**6,
        parquet_bytes=10**5,
        tasks=1,
        worker_bytes=4 * 10**8,
        thread_bytes=10**8,
    )
    assert small.advice() == []
    long = replace(
        small, compute_seconds=36_000.0, compute_seconds_low=18_000.0, compute_seconds_high=54_000.0, tasks=7_200
    )
    (line,) = long.advice()
    assert "10.0 hours on this machine (5.0 to 15.0)" in line
    assert "--scheduler" in line
    assert "7,200 tasks" in line
    assert "0.4 GB with one thread" in line
    slow = replace(small, write_seconds=7_200.0, write_seconds_low=3_600.0, write_seconds_high=14_400.0)
    (line,) = replace(slow, store_bytes=10**11, parquet_bytes=3 * 10**9).advice()
    assert "2.0 hours (1.0 to 4.0) and 100.0 GB of the store" in line
    assert "--to FOLDER, 3.0 GB" in line


class Finding:
    """A database whose finding of members takes so many seconds; the first time ten times as long."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.calls = seconds, 0

    def count_members(self, selection: Selection, rows: list[dict[str, Any]]) -> int:
        self.calls += 1
        time.sleep(self.seconds * (10 if self.calls <= WRITERS else 1))
        assert all(row["vertex"] in row["members"] for row in rows)
        return sum(len(row["members"]) for row in rows)


@pytest.mark.long
def test_writing_is_told_from_how_long_the_database_takes_to_find_members():
    graph = graph_from_networkx(nx.gnp_random_graph(500, 0.02, seed=2))
    batches = draw_sample(graph, Search("1/3"), most=50, seconds=60, concurrency=1).batches
    members = sum(len(batch.members) for batch in batches)
    members *= TRIAL_MEMBERSHIPS // members  # repeated up to the size of a transaction that writes
    database: Any = Finding(0.05)
    seconds = membership_seconds(database, Selection(("A",), ("B",), "id"), batches)
    assert 0.05 / (WRITERS * members) <= seconds < 0.25 / (WRITERS * members)  # the first time does not count
    assert database.calls % WRITERS == 0
    assert membership_seconds(database, Selection(("A",), ("B",), "id"), []) == 0.0
    estimate = writing(100, Interval(1_000, 900, 1_100), 0.001)
    assert estimate.low < estimate.value / 2
    assert estimate.high > 2 * estimate.value
    assert writing(200, Interval(2_000, 900, 1_100), 0.001).value > 1.8 * estimate.value
