"""Rows on their way into a database: never more at once than intended, however slow it is and however many come."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import networkx as nx
import pytest

from pcneo.annotate.row_writing import MEMBERSHIPS_A_TRANSACTION, WRITERS, rows_of, write_rows
from pcneo.basics.searches import Search
from pcneo.graph import HubDigests, HubHasher, graph_from_networkx, membership_hash, owner_hash
from pcneo.search import search_all, search_frontier
from pcneo.store.hub_writer import CohesionRow

SIZE = 1_000

NOTHING: CohesionRow = {
    "vertex": 0,
    "size": 0,
    "edges": 0,
    "density": 0.0,
    "proven": False,
    "best": False,
    "owner": 0,
    "digest": "",
    "members": [],
}


class SlowStore:
    """A store that finishes transactions only when it is let, and in the order of their rows."""

    def __init__(self) -> None:
        self.begun = 0
        self.sessions: set[int] = set()
        self._changed = threading.Condition()
        self._may_finish = 0

    def let_finish(self, transactions: int) -> None:
        with self._changed:
            self._may_finish += transactions
            self._changed.notify_all()

    def create(self, session: int, rows: Sequence[CohesionRow]) -> int:
        before = int(rows[0]["vertex"]) // MEMBERSHIPS_A_TRANSACTION
        with self._changed:
            self.begun += 1
            assert session not in self.sessions, "two transactions share a session"
            self.sessions.add(session)
            assert self._changed.wait_for(lambda: before < self._may_finish, timeout=60)
            self.sessions.remove(session)
        return sum(row["size"] for row in rows)


def test_rows_are_taken_only_as_fast_as_they_are_written() -> None:
    store = SlowStore()
    taken = 0

    def endless() -> Iterator[CohesionRow]:
        nonlocal taken
        while True:
            taken += SIZE
            yield {**NOTHING, "vertex": taken, "size": SIZE}

    written = 0
    memberships = write_rows(store.create, endless())
    for _ in range(50):
        store.let_finish(1)
        written += next(memberships)
        assert taken - written <= (WRITERS + 2) * MEMBERSHIPS_A_TRANSACTION
        assert store.begun <= written // MEMBERSHIPS_A_TRANSACTION + WRITERS + 1
    assert written == 50 * MEMBERSHIPS_A_TRANSACTION
    store.let_finish(100)
    assert isinstance(memberships, Generator)
    memberships.close()


@pytest.mark.parametrize("name", [int, "v{}".format], ids=["integers", "strings"])
def test_a_batch_and_single_cohesions_give_the_same_rows_and_the_same_hash(name: Any) -> None:
    network = nx.relabel_nodes(nx.gnp_random_graph(80, 0.08, seed=1), name)
    graph = graph_from_networkx(network)
    batch = search_all(graph, "0.5")
    single = list(
        search_frontier(lambda keys: [(key, list(network[key])) for key in keys], graph.keys.tolist(), Search("0.5"))
    )
    cohesions = list(batch.cohesions())
    at_once, one_by_one = HubHasher(b"key"), HubHasher(b"key")
    digests = at_once.digests(batch)
    assert [one_by_one.digests(alone)[0] for alone in single] == digests
    rows = list(rows_of(batch, digests, b"key", range(len(batch))))
    assert rows == [
        {
            "vertex": c.vertex,
            "size": c.size,
            "edges": c.edges,
            "density": c.density,
            "proven": c.proven,
            "best": c.best,
            "owner": owner_hash(c.vertex, b"key"),
            "digest": HubDigests(b"key").digest(c.vertex, c.members),
            "members": list(c.members),
        }
        for c in cohesions
    ]
    assert rows[5:7] == list(rows_of(batch, digests, b"key", [5, 6]))
    assert list(rows_of(batch, digests, b"key", [])) == []
    assert [row["digest"] for row in rows] == [digest.hex() for digest in digests]
    assert at_once.membership_hash() == one_by_one.membership_hash()
    assert at_once.membership_hash() == membership_hash((c.vertex, c.members) for c in cohesions)
    assert all(type(key) is type(name(0)) for row in rows for key in [row["vertex"], *row["members"]])
    assert len(set(digests)) == len(digests)
    assert not set(digests) & set(HubHasher(b"other").digests(batch))
