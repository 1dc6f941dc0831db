"""Rows on their way into a database: as many at once as are meant to be, however slow it is and however many come."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import networkx as nx
import pytest

from pcneo.annotate.run_writer import MEMBERSHIPS_A_TRANSACTION, WRITERS, GraphWriter, NewRun, rows_of
from pcneo.graph import MembershipHash, graph_from_networkx, membership_hash
from pcneo.model import Selection
from pcneo.search import minimal_p_cohesions, search_frontier
from pcneo.store.gateway import CohesionRow, Gateway, GraphRecord
from pcneo.store.lock import GraphLock

SIZE = 1_000


class SlowStore:
    """A store that finishes transactions only when it is let, and in the order of their rows."""

    def __init__(self) -> None:
        self.begun = 0
        self._changed = threading.Condition()
        self._may_finish = 0

    def let_finish(self, transactions: int) -> None:
        with self._changed:
            self._may_finish += transactions
            self._changed.notify_all()

    def create_cohesions(self, selection: Selection, run: str, p: float, score: str, rows: Sequence[Any]) -> int:
        before = rows[0]["vertex"] // MEMBERSHIPS_A_TRANSACTION
        with self._changed:
            self.begun += 1
            assert self._changed.wait_for(lambda: before < self._may_finish, timeout=60)
        return sum(row["size"] for row in rows)


def test_rows_are_taken_only_as_fast_as_they_are_written() -> None:
    store = SlowStore()
    record = GraphRecord("ring", Selection(("Person",), ("KNOWS",), "id"), "")
    writer = GraphWriter(cast("Gateway", store), record, cast("GraphLock", None))
    taken = 0

    def endless() -> Iterator[CohesionRow]:
        nonlocal taken
        while True:
            taken += SIZE
            yield {"vertex": taken, "size": SIZE, "edges": 0, "density": 0.0, "members": []}

    written = 0
    memberships = writer.write_rows(NewRun("r", Fraction(1, 2), "density", "graph"), endless())
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
    batch = minimal_p_cohesions(graph, "0.5")
    single = list(search_frontier(lambda keys: [(key, list(network[key])) for key in keys], graph.keys.tolist(), "0.5"))
    cohesions = list(batch.cohesions())
    assert list(rows_of(batch)) == [
        {"vertex": c.vertex, "size": c.size, "edges": c.edges, "density": c.density, "members": list(c.members)}
        for c in cohesions
    ]
    assert list(rows_of(batch)) == [row for alone in single for row in rows_of(alone)]
    at_once, one_by_one = MembershipHash(), MembershipHash()
    at_once.update(batch)
    for alone in single:
        one_by_one.update(alone)
    assert at_once.hexdigest() == one_by_one.hexdigest()
    assert at_once.hexdigest() == membership_hash((c.vertex, c.members) for c in cohesions)
    assert all(type(key) is type(name(0)) for row in rows_of(batch) for key in [row["vertex"], *row["members"]])
