"""The search on a Dask cluster: the answers of threads, whoever dies, comes or is slow meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import clusters
import networkx as nx
import numpy as np
import pytest
from clusters import cluster
from distributed import Client

from pcneo import graph_from_networkx, minimal_p_cohesions
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.errors import AnswerError, ClusterError, ParameterError
from pcneo.search.cluster import ClusterGraph, cluster_graph, connected_scheduler, graph_image, remote, scheduler_client

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def two() -> Iterator[Client]:
    """A cluster that all tests share which kill nobody."""
    with cluster(2) as (client, _, _):
        yield client


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of two vertices, so that a small graph takes hundreds."""
    monkeypatch.setattr(cluster_graph, "FIRST", 2)
    monkeypatch.setattr(cluster_graph, "GROWTH", 1)


def made(vertices: int = 300, seed: int = 1) -> Graph:
    return graph_from_networkx(nx.gnp_random_graph(vertices, 8 / vertices, seed=seed))


def same(batches: list[CohesionBatch], expected: CohesionBatch) -> None:
    for name in ("vertices", "members", "edges"):
        assert np.array_equal(np.concatenate([getattr(batch, name) for batch in batches]), getattr(expected, name))
    assert np.array_equal(np.concatenate([batch.sizes for batch in batches]), expected.sizes)


@pytest.mark.parametrize("score", ["density", "degree"])
@pytest.mark.parametrize("p", ["0.1", "1/3", "0.9"])
def test_answers_are_those_of_threads(p, score, two):
    graph = made()
    done: list[tuple[int, int]] = []
    batches = list(ClusterGraph(graph, two).search_batches(p, score, progress=lambda *d: done.append(d)))
    same(batches, minimal_p_cohesions(graph, p, score))
    assert done[-1] == (300, 300)
    assert all(a < b for (a, _), (b, _) in pairwise(done))


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_graphs_that_are_almost_nothing(edges, two):
    lone = nx.Graph(edges)
    lone.add_nodes_from(range(3))
    graph = graph_from_networkx(lone)
    same(list(ClusterGraph(graph, two).search_batches("0.5")), minimal_p_cohesions(graph, "0.5"))


def test_keys_may_be_texts_and_vertices_some_of_them(two, small_tasks):
    graph = graph_from_networkx(
        nx.relabel_nodes(nx.gnp_random_graph(200, 0.05, seed=3), {v: f"v{v}" for v in range(200)})
    )
    some = np.array([5, 6, 7, 40, 42, 199])
    batches = list(ClusterGraph(graph, two).search_batches("0.3", vertices=some))
    expected = minimal_p_cohesions(graph, "0.3", vertices=some)
    same(batches, expected)
    assert [c for batch in batches for c in batch.cohesions()] == list(expected.cohesions())


def test_arguments_are_checked_at_once(two):
    of = ClusterGraph(made(20), two)
    wrong: list[dict[str, Any]] = [{"p": "2"}, {"p": "0.3", "score": "best"}, {"p": "0.3", "vertices": [20]}]
    for arguments in wrong:
        with pytest.raises(ParameterError):
            of.search_batches(**arguments)


# --- The graph on the workers


def held(client: Client) -> list[int]:
    said: Any = client.run(clusters.graphs_held)
    return list(said.values())


@pytest.mark.parametrize("shared", [True, False], ids=["a shared folder", "no shared folder"])
def test_each_worker_gets_the_graph_once_and_lets_it_go(shared, two, monkeypatch):
    sent: list[Any] = []
    monkeypatch.setattr(two, "scatter", lambda *a, scatter=two.scatter, **k: sent.append(a) or scatter(*a, **k))
    if not shared:
        monkeypatch.setattr(remote, "take_file", clusters.finds_nothing)
    graph = made()
    of = ClusterGraph(graph, two)
    for p in ("0.1", "0.3"):
        same(list(of.search_batches(p)), minimal_p_cohesions(graph, p))
        assert held(two) == [1, 1]
    assert len(sent) == (0 if shared else 1)
    folder = of._workers._image.path.parent
    assert folder.exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    del of
    assert held(two) == [0, 0]
    assert not folder.exists()


def test_a_file_of_another_graph_in_the_same_place_is_not_taken(tmp_path):
    image = graph_image.GraphImage(made())
    with image.path.open("rb") as file:
        assert graph_image.open_image(file, "00" * 16) is None


def test_kernels_are_not_compiled_again_for_arrays_that_cannot_be_written_to(two):
    of = ClusterGraph(made(), two)
    list(of.search_batches("0.3"))
    said: Any = two.run(clusters.signatures)
    for compiled, writable in said.values():
        assert compiled == {0, 1}  # none for those that others call
        assert writable == [True, True]


def test_writing_to_a_mapped_graph_does_not_reach_the_file():
    image = graph_image.GraphImage(made())
    with image.path.open("rb") as file:
        before = file.read()
        file.seek(0)
        graph = graph_image.open_image(file, image.token)
    assert graph is not None
    graph.neighbours[:] = 0
    assert image.path.read_bytes() == before


def test_a_worker_that_lost_the_graph_gets_it_again(two, small_tasks):
    graph = made()
    batches = []
    for number, batch in enumerate(ClusterGraph(graph, two).search_batches("0.3")):
        if number in (3, 40):
            two.run(clusters.forget_all)
        batches.append(batch)
    same(batches, minimal_p_cohesions(graph, "0.3"))


# --- Who may search


@pytest.mark.parametrize("package", ["pcneo", "numpy", "numba"])
@pytest.mark.parametrize("theirs", ["0.0.1", None])
def test_workers_with_another_version_are_refused_by_name(package, theirs, two, monkeypatch):
    said = two.get_versions(packages=["pcneo", "numpy", "numba"])
    address = max(said["workers"])
    said["workers"][address]["packages"][package] = theirs
    monkeypatch.setattr(two, "get_versions", lambda **_: said)
    with pytest.raises(ClusterError, match=rf"{address} has {package} {theirs or 'missing'}") as refused:
        list(ClusterGraph(made(), two).search_batches("0.3"))
    assert refused.value.exit_code == 11
    assert refused.value.data["workers"] == [address]


def test_an_answer_that_fails_its_check_is_told_by_its_key(two, monkeypatch):
    monkeypatch.setattr(remote, "search", clusters.fails)
    graph = graph_from_networkx(nx.relabel_nodes(nx.path_graph(9), {v: 100 + v for v in range(9)}))
    with pytest.raises(AnswerError, match="vertex 104"):
        list(ClusterGraph(graph, two).search_batches("0.3"))


def test_what_else_fails_on_a_worker_is_told(two, monkeypatch):
    monkeypatch.setattr(remote, "search", clusters.runs_out)
    with pytest.raises(ClusterError, match="MemoryError"):
        list(ClusterGraph(made(), two).search_batches("0.3"))


def test_nobody_answers_at_that_address(monkeypatch):
    monkeypatch.setattr(scheduler_client, "CONNECT_SECONDS", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(ClusterError, match="No scheduler answers"), connected_scheduler(address):
            pass


def test_no_more_is_asked_for_than_is_soon_taken(two, small_tasks):
    batches: Any = ClusterGraph(made(), two).search_batches("0.3")
    next(batches)
    time.sleep(0.5)
    assert len(two.futures) <= 2 * cluster_graph.AHEAD
    batches.close()
    for _ in range(100):
        if not any(two.processing().values()):
            break
        time.sleep(0.05)
    assert not any(two.processing().values())


# --- Workers and schedulers that die


def searched(client: Client, graph: Graph, at: Mapping[int, Callable[[], object]]) -> list[CohesionBatch]:
    batches: list[CohesionBatch] = []
    for number, batch in enumerate(ClusterGraph(graph, client).search_batches("0.4")):
        at.get(number, lambda: None)()
        batches.append(batch)
    assert len(batches) > max(at)
    return batches


def test_workers_that_are_killed_stopped_and_join_change_no_answer(small_tasks):
    graph = made(400)
    with cluster(2) as (client, processes, (first, second)):

        def slow() -> None:
            os.kill(second.pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(second.pid, signal.SIGCONT)

        def joined() -> None:
            processes.add_worker("third")
            client.wait_for_workers(2, timeout=60)

        at = {5: slow, 20: first.kill, 60: joined, 120: second.kill}
        same(searched(client, graph, at), minimal_p_cohesions(graph, "0.4"))
        assert len(client.scheduler_info()["workers"]) == 1


def test_when_all_have_died_those_who_come_go_on(small_tasks):
    graph = made(200)
    with cluster(1) as (client, processes, (only,)):

        def another() -> None:
            only.kill()
            only.wait()
            processes.add_worker("another")

        same(searched(client, graph, {10: another}), minimal_p_cohesions(graph, "0.4"))


def test_without_a_worker_the_search_ends_after_a_while(small_tasks, monkeypatch):
    monkeypatch.setattr("pcneo.search.cluster.workers.PATIENCE_SECONDS", 2)
    with cluster(1) as (client, _, (only,)), pytest.raises(ClusterError, match="no worker"):
        searched(client, made(), {3: only.kill})


def test_a_scheduler_that_is_killed_ends_the_search(small_tasks):
    with cluster(1) as (client, processes, _), pytest.raises(ClusterError, match=r"scheduler at tcp.* is gone"):
        searched(client, made(), {3: processes.scheduler.kill})
