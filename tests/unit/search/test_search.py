"""p and its needs, known answers, the order and bounds of a search, and what happens when an answer is wrong."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import naive
import networkx as nx
import numpy as np
import pytest
from shapes import arrays, search_streamed

from pcneo.basics.model import CohesionBatch, Key
from pcneo.basics.searches import SEARCHES, P, Search
from pcneo.basics.stopping import new_flag, stoppable
from pcneo.errors import AnswerError, GraphChangedError, NotFoundError, ParameterError
from pcneo.graph import graph_from_edges, graph_from_networkx, graph_from_rows
from pcneo.kernels import cohesion as kernel
from pcneo.kernels.cohesion import Workspace, minimal_cohesions, workspace
from pcneo.search import (
    needs_of,
    search_all,
    search_batches,
    search_one,
    whole_graph,
)
from pcneo.search.cohesion import Searched, Task, compile_kernels

ELEVEN = naive.graph_of((a, b) for a, b in zip("afgaaaaeibbbccddhj", "fgbbcdeiddchdhhjjk", strict=True))


def fetch_from(graph: naive.Graph) -> Callable[[list[Key]], list[tuple[Key, list[Key]]]]:
    return lambda keys: [(key, list(graph[key])) for key in keys if key in graph]


# --- p


@pytest.mark.parametrize(
    "p", [Fraction(1, 3), Fraction("0.55"), Fraction("0.07"), Fraction("0.999"), Fraction(10**300 - 1, 10**300)]
)
def test_needs_are_exact(p: Fraction) -> None:
    degrees = np.arange(2_000)
    assert needs_of(p, degrees).tolist() == [-int((-p * degree) // 1) for degree in range(2_000)]


def test_needs_are_not_those_of_floating_point() -> None:
    assert needs_of(P(0.55), np.array([100])).tolist() == [55]


# --- Known answers (ALGORITHM.md#known-answers)


@pytest.mark.parametrize(("q", "members"), [("a", "abcdh"), ("j", "bcdhj")])
def test_the_eleven_vertex_graph_has_the_documents_answers(q: str, members: str) -> None:
    assert naive.smallest_p_cohesions(ELEVEN, Fraction("0.6"), q) == [set(members)]
    graph = arrays(ELEVEN)
    batch = {c.vertex: c for c in search_all(graph, "0.6", check=True).cohesions()}
    networkx_graph = nx.Graph((a, b) for a in ELEVEN for b in ELEVEN[a])
    streamed = next(search_streamed(fetch_from(ELEVEN), [q], Search("0.6"), check=True))
    assert batch[q].members == tuple(members)
    assert batch[q] == streamed == search_one(networkx_graph, q, 0.6)
    assert batch[q].edges == sum(len(ELEVEN[v] & set(members)) for v in members) // 2


@pytest.mark.parametrize("p", ["1/2", "0.3"])
def test_in_a_triangle_every_cohesion_is_one_edge(p: str) -> None:
    graph = graph_from_networkx(nx.complete_graph(3))
    batch = search_all(graph, p)
    assert [c.members for c in batch.cohesions()] == [(0, 1), (0, 1), (0, 2)]
    assert batch.edges.tolist() == [1, 1, 1]
    assert batch.densities.tolist() == [1.0, 1.0, 1.0]


def test_a_vertex_without_neighbours_is_its_own_cohesion() -> None:
    graph = arrays(naive.graph_of([(1, 2)], isolated=[3]))
    cohesion = list(search_all(graph, "0.9", check=True).cohesions())[2]
    assert (cohesion.members, cohesion.edges, cohesion.density) == ((3,), 0, 0.0)


def test_a_graph_without_vertices_has_no_cohesions() -> None:
    assert len(search_all(graph_from_rows([]), "0.3")) == 0


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_direction_parallel_edges_and_self_loops_do_not_change_a_networkx_answer(kind: type[nx.Graph[Any]]) -> None:
    edges = [(b, a) if i % 3 else (a, b) for i, (a, b) in enumerate(nx.gnp_random_graph(30, 0.2, seed=3).edges)]
    plain, odd = nx.Graph(edges), kind([*edges, *edges[:5], *((b, a) for a, b in edges[:7]), (0, 0), (1, 1)])
    for v in plain:
        assert search_one(odd, v, "0.4") == search_one(plain, v, "0.4")


# --- Batches


def test_batches_come_in_ascending_order_with_progress_in_the_consumers_thread() -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(500, 0.02, seed=1))
    steps: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        steps.append((done, total))

    batches = list(search_batches(graph, Search("0.3"), concurrency=3, progress=progress))
    assert np.concatenate([batch.vertices for batch in batches]).tolist() == list(range(500))
    assert len(batches) > 3
    assert steps == [(done, 500) for done in np.cumsum([len(batch) for batch in batches])]


def test_the_number_of_threads_does_not_change_the_answers() -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(300, 0.03, seed=2))
    alone, four = (search_all(graph, "0.3", concurrency=threads) for threads in (1, 4))
    for name in ("vertices", "offsets", "members", "edges", "proven", "best"):
        assert np.array_equal(getattr(alone, name), getattr(four, name))


def test_some_vertices_have_the_answers_they_have_among_all() -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(100, 0.1, seed=4))
    everything = list(search_all(graph, "0.3").cohesions())
    some = search_all(graph, "0.3", vertices=[70, 3, 70, 9])
    assert list(some.cohesions()) == [everything[v] for v in (3, 9, 70)]


@pytest.mark.parametrize("vertices", [[11], [-1]])
def test_positions_outside_the_graph_are_refused(vertices: list[int]) -> None:
    with pytest.raises(ParameterError, match="positions from 0 to 10"):
        search_batches(arrays(ELEVEN), Search("0.3"), vertices=vertices)


def test_fewer_than_one_thread_is_refused() -> None:
    with pytest.raises(ParameterError, match="concurrency"):
        search_batches(arrays(ELEVEN), Search("0.3"), concurrency=0)


@pytest.mark.long
def test_a_slow_consumer_holds_the_search_back(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(2_000, 0.01, seed=1))
    search_all(graph, "0.1", vertices=[0])  # whatever compiling runs is not counted
    begun: list[int] = []
    run = Task.run

    def counted(task: Task, searched: Any, queries: Any, memory: Any) -> Any:
        begun.append(len(queries))
        return run(task, searched, queries, memory)

    monkeypatch.setattr(Task, "run", counted)
    consumed = 0
    for consumed, _ in enumerate(search_batches(graph, Search("0.1"), concurrency=2), 1):
        if consumed < 5:
            time.sleep(0.2)
            assert len(begun) <= consumed + 6
    assert consumed == len(begun) > 11


def test_a_search_of_short_ranges_is_stopped_by_its_flag_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_graph, "_RANGE_SECONDS", 0.0)  # a vertex at a time
    graph, flag = graph_from_networkx(nx.gnp_random_graph(100, 0.05, seed=1)), new_flag()
    with stoppable(flag):
        batches = search_batches(graph, Search("0.3", "degree"), concurrency=1)
        assert len(next(batches)) == 1
        flag[0] = 1
        with pytest.raises(CancelledError):
            next(batches)


def test_a_search_that_is_left_early_ends_its_threads() -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(2_000, 0.01, seed=1))
    before = threading.active_count()
    batches = search_batches(graph, Search("0.3"), concurrency=2)
    next(batches)
    assert isinstance(batches, Generator)
    batches.close()
    assert threading.active_count() == before


# --- Streams


class Recorded:
    """A store that keeps what it was asked for."""

    def __init__(self, graph: naive.Graph) -> None:
        self.graph = graph
        self.fetches: list[list[Key]] = []

    def __call__(self, keys: list[Key]) -> Iterable[tuple[Key, Sequence[Key]]]:
        self.fetches.append(keys)
        return fetch_from(self.graph)(keys)


def test_one_vertex_is_streamed_in_at_most_two_fetches_more_than_expansion_steps() -> None:
    graph = naive.graph_of(nx.gnp_random_graph(200, 0.05, seed=8).edges)
    for q in sorted(graph)[::10]:
        store = Recorded(graph)
        next(search_streamed(store, [q], Search("0.2", "density")))
        assert len(store.fetches) <= len(list(naive.expansion_steps(graph, Fraction("0.2"), q))) + 2


@pytest.mark.parametrize("p", ["0.1", "0.4", pytest.param("0.8", marks=pytest.mark.long)])
def test_vertices_streamed_together_share_fetches_and_keep_the_order_and_the_answers(p: str) -> None:
    graph = naive.graph_of(nx.powerlaw_cluster_graph(300, 4, 0.5, seed=5).edges)
    vertices = [*sorted(graph)[40:60][::-1], 7, 7]
    store = Recorded(graph)
    together = list(search_streamed(store, vertices, Search(p, "density")))
    steps = [len(list(naive.expansion_steps(graph, Fraction(p), q))) for q in vertices]
    assert len(store.fetches) <= max(steps) + 2
    assert [c.vertex for c in together] == vertices
    assert [set(c.members) for c in together] == [naive.minimal_p_cohesion(graph, Fraction(p), q) for q in vertices]
    fetched = [key for keys in store.fetches for key in keys]
    assert len(fetched) == len(set(fetched))


def test_searches_for_which_there_is_no_memory_wait_or_begin_anew_and_give_the_same_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = naive.graph_of(nx.powerlaw_cluster_graph(120, 4, 0.5, seed=5).edges)
    vertices = sorted(graph)[:30]
    answers, fetches = [], []
    for kept in (10**6, 150, 1):
        monkeypatch.setattr("pcneo.search.frontier._KEPT_COUNTS", kept)
        store = Recorded(graph)
        answers.append(list(search_streamed(store, vertices, Search("0.4"))))
        fetches.append(len(store.fetches))
    assert answers[0] == answers[1] == answers[2]
    assert fetches == sorted(fetches)
    assert fetches[0] < fetches[2]


def test_at_most_so_many_vertices_are_streamed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcneo.search.frontier._TOGETHER", 3)
    graph = naive.graph_of((10 * k + i, 10 * k + i + 1) for k in range(20) for i in range(3))  # paths of four
    begun: list[Key] = []

    def vertices() -> Iterator[Key]:
        for k in range(20):
            begun.append(10 * k)
            yield 10 * k

    for number, cohesion in enumerate(search_streamed(fetch_from(graph), vertices(), Search("0.6")), 1):
        first = int(cohesion.vertex)
        assert cohesion.members == tuple(range(first, first + 4))
        assert len(begun) < number + 3


@pytest.mark.parametrize(("further", "beyond"), [(10**9, 0), (16, 0.35)])
def test_neighbourhoods_are_fetched_once_each_and_few_that_no_expansion_looks_at(
    monkeypatch: pytest.MonkeyPatch, further: int, beyond: float
) -> None:
    monkeypatch.setattr("pcneo.search.frontier._FURTHER", further)
    graph = naive.graph_of(nx.random_regular_graph(4, 2_000, seed=1).edges)
    store = Recorded(graph)
    vertices = sorted(graph)[:50]
    assert [c.vertex for c in search_streamed(store, vertices, Search("0.3", "density"))] == vertices
    fetched = [key for keys in store.fetches for key in keys]
    reached = {w for q in vertices for v in naive.expand(graph, Fraction("0.3"), q) for w in graph[v] | {v}}
    assert len(fetched) == len(set(fetched))
    assert len(set(fetched) - reached) <= beyond * len(reached)
    assert len(reached) < 1_500


def test_what_later_steps_need_is_fetched_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = naive.graph_of(nx.powerlaw_cluster_graph(600, 6, 0.5, seed=2).edges)
    round_trips = {}
    for ahead, further in ((4, 16), (4, 10**9), (10**9, 10**9)):
        monkeypatch.setattr("pcneo.search.frontier._AHEAD", ahead)
        monkeypatch.setattr("pcneo.search.frontier._FURTHER", further)
        store = Recorded(graph)
        answer = next(search_streamed(store, [300], Search("0.5", "density")))
        round_trips[ahead, further] = len(store.fetches)
        assert set(answer.members) == naive.minimal_p_cohesion(graph, Fraction("0.5"), 300)
    both, near, none = round_trips.values()
    assert both < 0.8 * near < 0.8 * 0.7 * none


def test_what_is_kept_between_streamed_vertices_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcneo.search.frontier._KEPT_ARCS", 100)
    graph = naive.graph_of(nx.gnp_random_graph(60, 0.1, seed=6).edges)
    store = Recorded(graph)
    vertices = sorted(graph)
    streamed = list(search_streamed(store, vertices, Search("0.3")))
    fetched = [key for keys in store.fetches for key in keys]
    assert len(fetched) > len(set(fetched))
    assert streamed == list(search_all(arrays(graph), "0.3").cohesions())


def test_a_vertex_that_does_not_exist_is_named() -> None:
    with pytest.raises(NotFoundError, match="'z'"):
        list(search_streamed(fetch_from(ELEVEN), ["a", "z"], Search("0.3")))
    with pytest.raises(NotFoundError, match="99"):
        search_one(nx.path_graph(3), 99, "0.3")


def test_keys_of_numpy_are_searched_alone_as_with_others() -> None:
    graph = nx.Graph([(np.int64(1), np.int64(2)), (np.int64(2), np.int64(3))])
    assert search_one(graph, 1, "0.3") == next(search_all(graph_from_networkx(graph), "0.3").cohesions())


@pytest.mark.parametrize("vertex", [None, 1.0, True, ["a"]])
def test_what_cannot_be_a_vertex_is_refused(vertex: Any) -> None:
    with pytest.raises(ParameterError, match="integer or a string"):
        search_one(nx.path_graph(3), vertex, "0.3")


def test_a_neighbour_that_vanishes_while_it_is_streamed_is_named() -> None:
    def fetch(keys: list[Key]) -> list[tuple[Key, list[Key]]]:
        return [(key, list(ELEVEN[key])) for key in keys if key != "f"]

    with pytest.raises(GraphChangedError, match="'f'"):
        list(search_streamed(fetch, ["a"], Search("0.3")))


def test_an_edge_that_appears_while_it_is_streamed_is_refused() -> None:
    rows: dict[Key, list[Key]] = {1: [2], 2: [1, 3], 3: [1, 2]}
    with pytest.raises(GraphChangedError, match="1 and 3"):
        list(search_streamed(lambda keys: [(key, rows[key]) for key in keys], [1, 3], Search("0.9")))


def test_the_kernel_writes_nothing_beyond_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It checks no bounds, and vertices not fetched yet have more members beside them than fetched ones neighbours."""
    beyond: list[np.ndarray] = []

    def guarded(vertex_count: int, max_degree: int) -> Workspace:
        longer = [np.append(array, np.full(50, 7, array.dtype)) for array in workspace(vertex_count, max_degree)]
        beyond.extend(array[-50:] for array in longer)
        return Workspace._make(array[:-50] for array in longer)

    monkeypatch.setattr("pcneo.search.cohesion.workspace", guarded)
    monkeypatch.setattr("pcneo.search.frontier.workspace", guarded)
    monkeypatch.setattr("pcneo.kernels.cohesion.workspace", guarded)
    edges = [(0, 1), (0, 5), (0, 6), (0, 7), (0, 8), (0, 9), (1, 2), (1, 4), (2, 3), (2, 7), (3, 5), (3, 9), (5, 7)]
    for graph in (naive.graph_of(edges), naive.graph_of(nx.complete_graph(32).edges)):
        streamed = {
            c.vertex: set(c.members) for c in search_streamed(fetch_from(graph), [3, 0], Search("0.7", "density"))
        }
        built = arrays(graph)
        batch = {c.vertex: set(c.members) for c in search_all(built, "0.7", "density").cohesions()}
        assert batch == {q: naive.minimal_p_cohesion(graph, Fraction(7, 10), q) for q in graph}
        assert streamed == {q: batch[q] for q in (3, 0)}
    assert beyond
    assert all((array == 7).all() for array in beyond)


@pytest.mark.parametrize(("others", "everywhere"), [(2_000, False), (0, True)], ids=["one by one", "everywhere"])
def test_nothing_of_a_query_is_left_for_the_next_one(others: int, everywhere: bool) -> None:
    """What a search knows is forgotten in one of two ways, whichever writes less."""
    clique = nx.complete_graph(12)
    graph = graph_from_networkx(nx.union(clique, nx.path_graph(range(12, 12 + others))))
    searched, needs = Searched.of(graph, Fraction(9, 10)), 10
    assert (graph.vertex_count < kernel._SHARE * 12 * 11) == everywhere
    work = searched.workspace()
    for q in range(12):
        _, members, _ = minimal_cohesions(searched.rows, kernel.DENSITY, np.array([q]), work)
        assert len(members) == needs + 1
        left = {name: np.count_nonzero(array) for name, array in zip(work._fields[:5], work[:5], strict=True)}
        assert not any(left.values()), left


@pytest.mark.parametrize(("leaves", "bits"), [(2**14 - 1, 16), (2**14, 32)])
def test_kernels_with_the_bits_that_the_largest_count_asks_for_are_compiled_before_the_search(
    monkeypatch: pytest.MonkeyPatch, leaves: int, bits: int
) -> None:
    star: list[tuple[Key, Sequence[Key]]] = [(0, range(1, leaves + 1)), *((leaf, [0]) for leaf in range(1, leaves + 1))]
    graph, rows = graph_from_rows(star), dict(star)
    sizes: list[int] = []

    def noted(rows: Any, score: Any, queries: Any, work: Workspace) -> Any:
        sizes.append(work.inside.itemsize * 8)
        compiled = kernel._search.signatures
        cohesions = minimal_cohesions(rows, score, queries, work)
        assert kernel._search.signatures == compiled
        return cohesions

    compile_kernels(leaves)
    monkeypatch.setattr("pcneo.search.expansion.minimal_cohesions", noted)
    (batch,) = search_all(graph, "0.5", "density", vertices=[0]).cohesions()
    (streamed,) = search_streamed(lambda keys: [(key, rows[key]) for key in keys], [0], Search("0.5", "density"))
    assert streamed == batch
    assert sizes[0] == sizes[-1] == bits


def test_one_compiled_kernel_serves_batches_and_streams() -> None:
    graph = arrays(naive.graph_of([(1, 2), (2, 3)]))
    search_all(graph, "0.3", "degree", vertices=[1])
    list(search_streamed(fetch_from(ELEVEN), ["a"], Search("0.3")))
    assert sum("int16" in str(signature) for signature in kernel._search.signatures) == 1


# --- Wrong answers


def answer(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[int]], list[int]]) -> None:
    """Let the kernel's answer for one vertex be changed before it is checked."""

    def changed(rows: Any, score: int, queries: Any, work: Any) -> tuple[Any, Any, Any]:
        _, members, missing = minimal_cohesions(rows, score, queries, work)
        wrong = np.array(change(members.tolist()), np.uint32)
        return np.array([len(wrong)]), wrong, missing

    monkeypatch.setattr("pcneo.search.expansion.minimal_cohesions", changed)


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        (lambda members: members[1:], "does not contain that vertex"),
        (lambda members: members[:-1], "gives vertex .* fewer neighbours than it needs"),
        (lambda members: [*members, 12, 13], "does not connect vertex 13"),
    ],
    ids=["without the queried vertex", "without a member", "in two parts"],
)
def test_a_wrong_answer_is_always_refused(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[list[int]], list[int]], condition: str
) -> None:
    graph = graph_from_networkx(nx.union(nx.complete_graph(12), nx.path_graph(range(13, 15))))
    answer(monkeypatch, change)
    with pytest.raises(AnswerError, match=f"for vertex 5 at p=1/2, search density, {condition}"):
        search_all(graph, "0.5", "density", vertices=[5])


def test_an_answer_that_is_not_minimal_is_refused_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_from_networkx(nx.complete_graph(12))
    answer(monkeypatch, lambda members: [*members, 11])
    assert search_all(graph, "0.5", "density", vertices=[5]).sizes.tolist() == [8]
    with pytest.raises(AnswerError, match="is not minimal: it can do without vertex"):
        search_all(graph, "0.5", "density", vertices=[5], check=True)


# --- The cold start


@pytest.mark.long
def test_compiling_is_announced_and_happens_once(tmp_path: Path) -> None:
    program = (
        "import logging; logging.basicConfig(format='%(name)s: %(message)s'); import networkx;"
        "from pcneo import minimal_p_cohesions; print(minimal_p_cohesions(networkx.path_graph(3), '0.5')[0].members)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    cold, warm = (
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert cold.stdout == warm.stdout == "(0, 1)\n"
    assert cold.stderr == (
        "pcneo: Compiling one part of the search for this machine "
        "(each part only once; up to half a minute, longer on a busy machine).\n"
    )
    assert warm.stderr == ""


def test_the_announcement_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    from pcneo.kernels.compilation import _Announcement

    announcement: Any = _Announcement("what nobody announced yet")
    for _ in range(2):
        announcement.on_start(None)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


# --- Sets as large as the component


@pytest.mark.long
@pytest.mark.parametrize("search", SEARCHES)
def test_where_a_set_is_a_component_of_200_000_vertices_closing_takes_less_than_two_seconds(
    search: str,
) -> None:
    n = 200_000
    graph = graph_from_edges(range(n), range(n - 1), range(1, n))
    batches = search_batches(graph, Search("0.9", search), concurrency=2)
    assert next(batches).sizes[0] == n
    started = time.monotonic()
    cast("Generator[CohesionBatch]", batches).close()
    assert time.monotonic() - started < 2
