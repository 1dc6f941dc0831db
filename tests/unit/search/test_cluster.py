"""The search on a Dask cluster: the same answers as with threads, even if workers die, join or are slow meanwhile."""

from __future__ import annotations

import gc
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import clusters
import networkx as nx
import numpy as np
import pytest
from clusters import cluster
from distributed import Client

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import Search
from pcneo.errors import AnswerError, ClusterError, ParameterError
from pcneo.graph import graph_from_networkx
from pcneo.search import search_all
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
    for name in ("vertices", "members", "edges", "proven", "best"):
        assert np.array_equal(np.concatenate([getattr(batch, name) for batch in batches]), getattr(expected, name))
    assert np.array_equal(np.concatenate([batch.sizes for batch in batches]), expected.sizes)


@pytest.mark.parametrize("score", ["smallest", "density", "degree"])
@pytest.mark.parametrize("p", ["0.1", "1/3", "0.9"])
def test_answers_are_those_of_threads(p, score, two):
    graph = made()
    done: list[tuple[int, int]] = []
    batches = list(ClusterGraph(graph, two).search_batches(Search(p, score), progress=lambda *d: done.append(d)))
    same(batches, search_all(graph, p, score))
    assert done[-1] == (300, 300)
    assert all(a < b for (a, _), (b, _) in pairwise(done))


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_graphs_that_are_almost_nothing(edges, two):
    lone = nx.Graph(edges)
    lone.add_nodes_from(range(3))
    graph = graph_from_networkx(lone)
    same(list(ClusterGraph(graph, two).search_batches(Search("0.5"))), search_all(graph, "0.5"))


def test_keys_may_be_texts_and_vertices_some_of_them(two, small_tasks):
    graph = graph_from_networkx(
        nx.relabel_nodes(nx.gnp_random_graph(200, 0.05, seed=3), {v: f"v{v}" for v in range(200)})
    )
    some = np.array([5, 6, 7, 40, 42, 199])
    batches = list(ClusterGraph(graph, two).search_batches(Search("0.3"), vertices=some))
    expected = search_all(graph, "0.3", vertices=some)
    same(batches, expected)
    assert [c for batch in batches for c in batch.cohesions()] == list(expected.cohesions())


def test_arguments_are_checked_at_once(two):
    of = ClusterGraph(made(20), two)
    with pytest.raises(ParameterError, match="positions from 0 to 19"):
        of.search_batches(Search("0.3"), vertices=[20])


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
        same(list(of.search_batches(Search(p))), search_all(graph, p))
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


MAKES_AN_IMAGE = """
import sys, time
import networkx
from pcneo.graph import graph_from_networkx
from pcneo.search.cluster.graph_image import GraphImage
image = GraphImage(graph_from_networkx(networkx.path_graph(9)))
print(image.path, flush=True)
time.sleep(600)
"""


def test_what_a_killed_process_left_goes_with_the_next_image_and_that_of_a_living_one_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with ExitStack() as ended:
        paths: list[Path] = []
        processes: list[subprocess.Popen[str]] = []
        for _ in range(2):
            process = subprocess.Popen([sys.executable, "-c", MAKES_AN_IMAGE], stdout=subprocess.PIPE, text=True)
            ended.enter_context(process)
            ended.callback(process.kill)
            assert process.stdout is not None
            paths.append(Path(process.stdout.readline().strip()))
            processes.append(process)
            os.utime(paths[-1], (0, 0))
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "graph").write_bytes(b"of somebody who put a link there")
        os.utime(tmp_path / "elsewhere" / "graph", (0, 0))
        paths[0].parent.with_name(graph_image._prefix() + "link").symlink_to(tmp_path / "elsewhere")
        empty = tmp_path / (graph_image._prefix() + "empty")  # whoever made it died before it had a file
        empty.mkdir()
        os.utime(empty, (0, 0))
        processes[0].kill()
        processes[0].wait()
        assert paths[0].exists()  # nobody could remove it
        image = graph_image.GraphImage(made())
        assert [path.parent.exists() for path in paths] == [False, True]
        assert not empty.exists()
        assert image.path.exists()
        assert (tmp_path / "elsewhere" / "graph").exists()


def test_kernels_are_not_compiled_again_for_arrays_that_cannot_be_written_to(two):
    of = ClusterGraph(made(), two)
    list(of.search_batches(Search("0.3")))
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
    for number, batch in enumerate(ClusterGraph(graph, two).search_batches(Search("0.3"))):
        if number in (3, 40):
            two.run(clusters.forget_all)
        batches.append(batch)
    same(batches, search_all(graph, "0.3"))


# --- Who may search


@pytest.mark.parametrize("package", ["pcneo", "numpy", "numba"])
@pytest.mark.parametrize("theirs", ["0.0.1", None])
def test_workers_with_another_version_are_refused_by_name(package, theirs, two, monkeypatch):
    said = two.get_versions(packages=["pcneo", "numpy", "numba"])
    address = max(said["workers"])
    said["workers"][address]["packages"][package] = theirs
    monkeypatch.setattr(two, "get_versions", lambda **_: said)
    with pytest.raises(ClusterError, match=rf"{address} has {package} {theirs or 'missing'}") as refused:
        list(ClusterGraph(made(), two).search_batches(Search("0.3")))
    assert refused.value.exit_code == 11
    assert refused.value.data["workers"] == [address]


def test_an_answer_that_fails_its_check_is_told_by_its_key(two, monkeypatch):
    monkeypatch.setattr(remote, "search", clusters.fails)
    graph = graph_from_networkx(nx.relabel_nodes(nx.path_graph(9), {v: 100 + v for v in range(9)}))
    with pytest.raises(AnswerError, match="vertex 104"):
        list(ClusterGraph(graph, two).search_batches(Search("0.3")))


def test_what_else_fails_on_a_worker_is_told(two, monkeypatch):
    monkeypatch.setattr(remote, "search", clusters.runs_out)
    with pytest.raises(ClusterError, match="MemoryError"):
        list(ClusterGraph(made(), two).search_batches(Search("0.3")))


@contextmanager
def answering(said: bytes | None) -> Iterator[str]:
    """Something that is no scheduler: it says this and hangs up, or says nothing for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with suppress(OSError), ExitStack() as kept:
                while True:
                    connection = kept.enter_context(listening.accept()[0])
                    if said is not None:
                        connection.sendall(said)
                        connection.close()

        answerer = Thread(target=answer)
        answerer.start()
        try:
            yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            answerer.join()


def refused(address: str, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A sentence within seconds, and nothing else: a client without a scheduler waits for 20 and prints a traceback."""
    started = time.monotonic()
    sentence = rf"^No scheduler answers at '{re.escape(address)}': .*{why}.*\.$"
    with pytest.raises(ClusterError, match=sentence), connected_scheduler(address):
        pass
    gc.collect()
    assert time.monotonic() - started < scheduler_client.CONNECT_SECONDS + 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:1", "(connection refused|nothing answered within)"),  # on a busy machine the latter
        ("nonsense://x", "unknown address scheme"),
        ("tcp://127.0.0.1", "missing port"),
        ("tcp://127.0.0.1:x", "invalid"),
        ("", "missing port"),
        ("tls://127.0.0.1:1", "TLS needs certificates"),
    ],
)
def test_an_address_where_nobody_is_ends_in_a_sentence(address, why, capfd, monkeypatch):
    monkeypatch.setattr(scheduler_client, "CONNECT_SECONDS", 1)
    refused(address, why, capfd)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "nothing answered within"),
        (b"", "something else answers there"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "something else answers there"),
    ],
    ids=["silence", "hanging up", "a web server"],
)
def test_what_is_no_scheduler_ends_in_a_sentence(said, why, capfd, monkeypatch):
    monkeypatch.setattr(scheduler_client, "CONNECT_SECONDS", 1 if said is None else 5)  # an answer may be slow to come
    with answering(said) as address:
        refused(address, why, capfd)


def test_dask_logs_nothing_beside_errors_of_ours(two):
    """A lost scheduler is logged with its traceback, by a logger that has a level of its own."""
    with connected_scheduler(two.scheduler.address):
        assert not logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)
        assert not logging.getLogger("distributed.utils").isEnabledFor(logging.ERROR)


def test_a_worker_is_no_scheduler(two, capfd):
    refused(min(two.scheduler_info()["workers"]), "a worker", capfd)


def test_no_more_is_asked_for_than_is_soon_taken(two, small_tasks):
    batches: Any = ClusterGraph(made(), two).search_batches(Search("0.3"))
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
    for number, batch in enumerate(ClusterGraph(graph, client).search_batches(Search("0.4"))):
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
        same(searched(client, graph, at), search_all(graph, "0.4"))
        assert len(client.scheduler_info()["workers"]) == 1


def test_when_all_have_died_those_who_come_go_on(small_tasks):
    graph = made(200)
    with cluster(1) as (client, processes, (only,)):

        def another() -> None:
            only.kill()
            only.wait()
            processes.add_worker("another")

        same(searched(client, graph, {10: another}), search_all(graph, "0.4"))


def test_without_a_worker_the_search_ends_after_a_while(small_tasks, monkeypatch):
    monkeypatch.setattr("pcneo.search.cluster.workers.PATIENCE_SECONDS", 2)
    with cluster(1) as (client, _, (only,)), pytest.raises(ClusterError, match="no worker"):
        searched(client, made(), {3: only.kill})


def test_a_scheduler_that_is_killed_ends_the_search(small_tasks):
    with (
        cluster(1, patience=5) as (client, processes, _),
        pytest.raises(ClusterError, match=r"scheduler at tcp.* is gone"),
    ):
        searched(client, made(), {3: processes.scheduler.kill})
