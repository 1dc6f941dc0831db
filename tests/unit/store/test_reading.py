"""Pages and neighbourhoods of a graph, asked of a store whose memory is small and whose requests are counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import naive
import networkx as nx
import numpy as np
import pytest

from pcneo.annotate.plan import Plan
from pcneo.annotate.stored_hubs import PAGES_AHEAD, pages_ahead
from pcneo.annotate.supply import Frontier
from pcneo.basics.run_record import RunRecord
from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError
from pcneo.store import reading, run_reader
from pcneo.store.failures import OUT_OF_MEMORY
from pcneo.store.reading import GraphReader
from pcneo.store.run_reader import HubColumns, RunReader
from pcneo.store.waiting import is_to_end, patient_until

PERSONS = Selection(("Person",), ("KNOWS",), "id")
GRAPH = naive.graph_of(nx.gnp_random_graph(200, 0.1, seed=1).edges)
ROWS = [(v, sorted(GRAPH[v])) for v in sorted(GRAPH)]


class SmallStore(GraphReader):
    """Holds `GRAPH`; no answer may have more than `most` neighbours."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.requests: list[Any] = []
        self.another = threading.Semaphore(0)

    def read(self, statement: str, names: Any = None, /, **parameters: Any) -> list[dict[str, Any]]:
        self.requests.append(parameters)
        self.another.release()
        if statement == "get_page":
            chosen = [row for row in ROWS if row[0] >= parameters["from"]][: parameters["limit"]]
        else:
            chosen = [(key, sorted(GRAPH[key])) for key in parameters["keys"] if key in GRAPH]
        if sum(len(neighbours) for _, neighbours in chosen) > self.most:
            raise DatabaseError("too little memory", code=OUT_OF_MEMORY)
        return [{"keys": [key for key, _ in chosen], "neighbours": [neighbours for _, neighbours in chosen]}]


def test_pages_that_do_not_fit_into_the_servers_memory_are_halved() -> None:
    store = SmallStore(most=300)
    assert list(store.stream_rows(PERSONS, -1)) == ROWS
    assert len({request["limit"] for request in store.requests}) > 5


def test_a_vertex_that_does_not_fit_into_the_servers_memory_is_an_error() -> None:
    store = SmallStore(most=10)
    with pytest.raises(DatabaseError, match="too little memory"):
        list(store.stream_rows(PERSONS, -1))
    with pytest.raises(DatabaseError, match="too little memory"):
        store.get_neighbours(PERSONS, [0, 1, 2])


@pytest.mark.parametrize("neighbours", [60, 500, 10**6])
def test_pages_hold_about_as_many_neighbours_as_they_are_meant_to(
    neighbours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE", 30)
    monkeypatch.setattr(reading, "PAGE_NEIGHBOURS", neighbours)
    store = SmallStore(most=10**9)
    assert list(store.stream_rows(PERSONS, -1)) == ROWS
    usual = max(2, min(30, neighbours // 20))  # a vertex has about 20
    assert all(usual / 2 <= request["limit"] <= min(30, usual * 2) for request in store.requests[1:])


def test_the_next_page_is_asked_for_before_a_page_is_used_and_no_further_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAGE", 30)
    store = SmallStore(most=10**9)
    rows = store.stream_rows(PERSONS, -1)
    next(rows)
    for _ in range(2):
        assert store.another.acquire(timeout=60)
    assert not store.another.acquire(timeout=0.2)
    assert [request["from"] for request in store.requests] == [-1, 29]
    assert isinstance(rows, Generator)
    rows.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pcneo-read")]


class HurriedStore(SmallStore, RunReader):
    """Holds `GRAPH`, and notes whether whoever reads knows that the work is to stop."""

    def __init__(self) -> None:
        super().__init__(most=10**9)
        self.hurried: list[bool] = []

    def read(self, statement: str, names: Any = None, /, **parameters: Any) -> list[dict[str, Any]]:
        self.hurried.append(is_to_end())
        return super().read(statement, names, **parameters)


def test_the_threads_that_read_know_when_the_work_is_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAGE", 30)
    store, ending = HurriedStore(), threading.Event()
    ending.set()

    def hubs() -> Generator[HubColumns, None, None]:
        store.hurried.append(is_to_end())
        yield cast(HubColumns, [1])

    frontier = Frontier(cast(Plan, SimpleNamespace(db=store, selection=PERSONS)), [])
    with patient_until(ending):
        assert len(list(store.stream_rows(PERSONS, -1))) == len(GRAPH)
        with ThreadPoolExecutor(1) as beside:
            assert len(list(frontier._fetch(beside, list(GRAPH)))) == len(GRAPH)
        with pages_ahead(hubs()) as pages:
            assert list(pages) == [[1]]
    assert len(store.hurried) > 4
    assert all(store.hurried)


def test_neighbourhoods_that_do_not_fit_into_the_servers_memory_are_asked_for_in_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "FRONTIER", 64)
    store = SmallStore(most=300)
    assert store.get_neighbours(PERSONS, [*GRAPH, -5]) == [(v, sorted(GRAPH[v])) for v in GRAPH]
    assert max(len(request["keys"]) for request in store.requests) == 64


class SmallRunStore(RunReader):
    """Holds a cohesion for each vertex of `GRAPH`, its neighbourhood; no answer may have more than `most` members."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.sizes: list[int] = []

    def read(self, statement: str, names: Any = None, /, **parameters: Any) -> list[dict[str, Any]]:
        assert (statement, parameters["run"], parameters["version"]) == ("get_cohesions", "run", 3)
        keys = [key for key in parameters["keys"] if key in GRAPH]
        self.sizes.append(len(parameters["keys"]))
        if sum(len(GRAPH[key]) for key in keys) > self.most:
            raise DatabaseError("too little memory", code=OUT_OF_MEMORY)
        members = [sorted(GRAPH[key]) for key in keys]
        odd, positive = [key % 2 == 1 for key in keys], [key > 0 for key in keys]
        return [{"keys": keys, "edges": [-key for key in keys], "proven": odd, "best": positive, "members": members}]


@pytest.mark.parametrize(("most", "page"), [(10**9, 7), (60, 7), (60, 10**6)])
def test_cohesions_come_in_pages_of_vertices_halved_where_they_do_not_fit(
    most: int, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reader, "PAGE", page)
    store, run = SmallRunStore(most), _run_of(members=sum(map(len, GRAPH.values())))
    keys = np.array([-5, *sorted(GRAPH)], np.int64)
    assert list(store.page_cohesions(PERSONS, run, keys)) == [
        (v, sorted(GRAPH[v]), -v, v % 2 == 1, v > 0) for v in sorted(GRAPH)
    ]
    assert max(store.sizes) == min(page, len(keys))
    assert (min(store.sizes) < 4) == (most == 60)


def test_pages_of_cohesions_are_smaller_where_cohesions_are_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_reader, "PAGE_NEIGHBOURS", 100)
    store = SmallRunStore(10**9)
    list(store.page_cohesions(PERSONS, _run_of(members=20 * len(GRAPH)), np.array(sorted(GRAPH))))
    assert set(store.sizes) == {5}
    assert list(store.page_cohesions(PERSONS, _run_of(members=0), np.empty(0, np.int64))) == []


def test_a_run_without_cohesions_is_not_asked_for_vertex_by_vertex() -> None:
    store = SmallRunStore(10**9)
    run = cast(RunRecord, SimpleNamespace(id="run", version=3, cohesions=0, memberships=0))
    list(store.page_cohesions(PERSONS, run, np.arange(1_000, 1_200)))
    assert store.sizes == [200]


def test_a_cohesion_that_does_not_fit_into_the_servers_memory_is_an_error() -> None:
    with pytest.raises(DatabaseError, match="too little memory"):
        list(SmallRunStore(3).page_cohesions(PERSONS, _run_of(members=10), np.array(sorted(GRAPH))))


def _run_of(members: int) -> RunRecord:
    run = SimpleNamespace(id="run", version=3, cohesions=len(GRAPH), memberships=members)
    return cast(RunRecord, run)


def test_pages_of_hubs_are_read_ahead_but_not_without_end() -> None:
    begun: list[int] = []

    def pages() -> Generator[HubColumns, None, None]:
        for number in range(100):
            begun.append(number)
            yield HubColumns([number], [], [], [], [], [], [], [], [])

    with pages_ahead(pages()) as ahead:
        deadline = time.monotonic() + 30
        while len(begun) < PAGES_AHEAD and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [next(ahead).vertices for _ in range(5)] == [[0], [1], [2], [3], [4]]
    assert PAGES_AHEAD <= len(begun) <= PAGES_AHEAD + 5
    with pages_ahead(pages()) as ahead:
        assert [page.vertices[0] for page in ahead] == list(range(100))


def test_an_error_in_a_page_read_ahead_comes_where_the_page_is_taken() -> None:
    def pages() -> Generator[HubColumns, None, None]:
        yield HubColumns([1], [], [], [], [], [], [], [], [])
        raise DatabaseError("gone")

    with pages_ahead(pages()) as ahead:
        assert next(ahead).vertices == [1]
        with pytest.raises(DatabaseError, match="gone"):
            next(ahead)


class SlowHubs(RunReader):
    """Has ever more vertices, none of which has a hub."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)

    def read(self, statement: str, names: Any = None, /, **parameters: Any) -> list[dict[str, Any]]:
        self.asked.release()
        time.sleep(0.1)
        start = max(0, parameters["from"])
        hubs: dict[str, list[Any]] = {column: [] for column in HubColumns._fields}
        return [{"keys": list(range(start, start + parameters["limit"])), **hubs}]


def test_no_thread_reads_on_after_an_error() -> None:
    store = SlowHubs()

    def fail() -> None:
        with pages_ahead(store.stream_hubs(PERSONS, "run", 1)) as pages:
            assert store.asked.acquire(timeout=30)
            raise ZeroDivisionError(pages)

    with pytest.raises(ZeroDivisionError) as raised:
        fail()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("pcneo-")]
    assert raised.value.__traceback__ is not None  # which keeps the pages
