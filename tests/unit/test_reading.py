"""Pages and neighbourhoods of a graph, asked of a store whose memory is small and whose requests are counted."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any

import naive
import networkx as nx
import pytest

from pcneo.basics.model import Selection
from pcneo.errors import DatabaseError
from pcneo.store import reading
from pcneo.store.failures import OUT_OF_MEMORY
from pcneo.store.reading import GraphReader

PERSONS = Selection(("Person",), ("KNOWS",), "id")
GRAPH = naive.graph_of(nx.gnp_random_graph(200, 0.1, seed=1).edges)
ROWS = [(v, sorted(GRAPH[v])) for v in sorted(GRAPH)]


class SmallStore(GraphReader):
    """Holds `GRAPH`; no answer may have more than `most` neighbours."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.requests: list[Any] = []
        self.another = threading.Semaphore(0)

    def _read(self, name: str, names: Any = None, /, **parameters: Any) -> list[dict[str, Any]]:
        self.requests.append(parameters)
        self.another.release()
        if name == "get_page":
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


def test_neighbourhoods_that_do_not_fit_into_the_servers_memory_are_asked_for_in_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "FRONTIER", 64)
    store = SmallStore(most=300)
    assert store.get_neighbours(PERSONS, [*GRAPH, -5]) == [(v, sorted(GRAPH[v])) for v in GRAPH]
    assert max(len(request["keys"]) for request in store.requests) == 64
