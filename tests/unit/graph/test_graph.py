"""Rows, columns and networkx graphs become the same arrays; what cannot be one graph is refused by name."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import TESTS

from pcneo.basics.model import Graph, Key
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection, is_part_of
from pcneo.errors import GraphChangedError, GraphError, KeyPropertyError, NotFoundError, ParameterError
from pcneo.graph import (
    PartialGraph,
    cohesion_rows,
    fingerprint,
    graph_from_edges,
    graph_from_networkx,
    graph_from_rows,
    hash_of_batches,
    membership_hash,
)
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.graph.given import positions_of
from pcneo.search import search_all

GOLDEN = json.loads((TESTS / "golden" / "hashes.json").read_text(encoding="utf-8"))
SQUARE = [(10, [20, 30]), (20, [10, 40]), (30, [10, 40]), (40, [20, 30]), (7, [])]


def neighbours(graph: Graph) -> dict[Key, list[Key]]:
    keys, bounds = graph.keys.tolist(), graph.offsets.tolist()
    return {v: graph.keys[graph.neighbours[bounds[i] : bounds[i + 1]]].tolist() for i, v in enumerate(keys)}


def test_a_graph_has_ascending_keys_and_each_edge_at_both_ends() -> None:
    graph = graph_from_rows(SQUARE)
    assert neighbours(graph) == {7: [], 10: [20, 30], 20: [10, 40], 30: [10, 40], 40: [20, 30]}
    assert (graph.vertex_count, graph.edge_count, graph.degrees.tolist()) == (5, 4, [0, 2, 2, 2, 2])
    assert (graph.keys.dtype, graph.offsets.dtype, graph.neighbours.dtype) == (np.int64, np.int64, np.uint32)


@pytest.mark.parametrize(
    "rows",
    [
        [(40, []), (7, []), (30, [40]), (20, [40]), (10, [30, 20])],
        [(10, [20, 30, 20]), (20, [10, 40, 20]), (30, [10, 40]), (40, [20, 20]), (7, [7])],
    ],
    ids=["one direction, other order", "parallel edges and self-loops"],
)
def test_direction_parallel_edges_self_loops_and_order_do_not_matter(rows: list[tuple[Key, list[Key]]]) -> None:
    assert neighbours(graph_from_rows(iter(rows))) == neighbours(graph_from_rows(SQUARE))


def test_a_graph_without_vertices_is_a_graph() -> None:
    graph = graph_from_rows([])
    assert (graph.vertex_count, graph.edge_count) == (0, 0)


def test_integers_are_ordered_by_value_and_strings_by_code_point() -> None:
    strings = ["10", "9", "Z", "a", "z", "ä", "\uffff", "\U00010000"]
    integers = [-(2**63), -3, 0, 9, 10, 2**63 - 1]
    for keys in (strings, integers):
        shuffled = random.Random(1).sample(keys, len(keys))
        assert graph_from_rows([(key, []) for key in shuffled]).keys.tolist() == keys


def test_more_rows_than_are_held_at_once_make_one_graph() -> None:
    ring = {v: sorted([(v - 1) % 10_000, (v + 1) % 10_000]) for v in range(10_000)}
    assert neighbours(graph_from_rows((v, [(v + 1) % 10_000]) for v in range(10_000))) == ring


def test_columns_of_edges_make_the_same_graph() -> None:
    expected = neighbours(graph_from_rows(SQUARE))
    columns = [10, 20, 30, 40, 7], [10, 40, 30, 20, 20], [20, 30, 10, 40, 10]
    assert neighbours(graph_from_edges(*columns)) == expected
    assert neighbours(graph_from_edges(*map(np.array, columns))) == expected


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_of_every_kind_make_the_same_graph(kind: type[nx.Graph[Any]]) -> None:
    graph = kind([(10, 20), (20, 40), (30, 40), (10, 30), (30, 10), (7, 7)])
    assert neighbours(graph_from_networkx(graph)) == neighbours(graph_from_rows(SQUARE))


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([(1, []), (2, []), (1, [2])], "1"),
        ([(1, [2]), (2, [3])], "3"),
        ([(1, []), ("b", [])], "'b'"),
        ([(1, ["b"])], "'b'"),
        ([(1.5, [])], "1.5"),
        ([(1, []), (True, [])], "True"),
        ([(1, [True])], "True"),
        ([(1, [1.0])], "1.0"),
        ([(None, [])], "None"),
        ([(2**63, [])], str(2**63)),
        ([(-(2**63) - 1, [])], str(-(2**63) - 1)),
    ],
    ids=lambda value: repr(value) if isinstance(value, list) else "",
)
def test_unusable_keys_are_refused_and_named(rows: list[Any], named: str) -> None:
    with pytest.raises(KeyPropertyError, match=named.replace(".", r"\.")):
        graph_from_rows(rows)


def test_a_kind_that_changes_between_batches_is_refused() -> None:
    with pytest.raises(KeyPropertyError, match="two kinds"):
        graph_from_rows([*((v, []) for v in range(9_000)), ("b", [])])


def test_columns_of_edges_are_refused_like_rows() -> None:
    with pytest.raises(ParameterError, match="equal length"):
        graph_from_edges([1, 2], [1], [])
    with pytest.raises(KeyPropertyError, match="shared by several vertices"):
        graph_from_edges([1, 1], [], [])
    with pytest.raises(KeyPropertyError, match="not among the vertices"):
        graph_from_edges([1], [1], [2])
    with pytest.raises(KeyPropertyError, match="two kinds"):
        graph_from_edges([1, 2], [1], ["2"])


def test_a_degree_beyond_the_kernels_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    star = [(0, [1, 2, 3]), (1, []), (2, []), (3, [])]
    monkeypatch.setattr("pcneo.graph.arrays.MAX_DEGREE", 3)
    graph_from_rows(star)
    monkeypatch.setattr("pcneo.graph.arrays.MAX_DEGREE", 2)
    with pytest.raises(GraphError, match="Vertex 0 has 3 neighbours"):
        graph_from_rows(star)


# --- A graph that is being fetched


def test_a_partial_graph_tells_fetched_vertices_from_named_ones() -> None:
    partial = PartialGraph()
    partial.add([(10, [20, 30]), (40, [20, 30])])
    assert partial.lacks([10, 20, 30, 40, 50]) == [20, 30, 50]
    assert (partial.vertex_count, partial.row_count, partial.arc_count) == (4, 2, 4)
    graph, positions = partial.around(np.array([partial.number(10)]))
    assert neighbours(graph) == {10: [20, 30], 20: [], 30: []}
    assert positions.tolist() == [0]


@pytest.mark.parametrize("rows", [[(1, [2]), (2, [])], [(1, []), (2, [1])]], ids=["gone", "new"])
def test_fetched_vertices_that_disagree_on_an_edge_are_refused(rows: list[tuple[Key, Sequence[Key]]]) -> None:
    partial = PartialGraph()
    with pytest.raises(GraphChangedError, match="1 and 2"):
        partial.add(rows)


@pytest.mark.parametrize("rows", [[(1, [2]), (2, [])], [(1, []), (2, [1])]], ids=["gone", "new"])
def test_a_fetched_vertex_that_disagrees_with_one_of_an_earlier_fetch_is_refused(
    rows: list[tuple[Key, Sequence[Key]]],
) -> None:
    partial = PartialGraph()
    partial.add(rows[:1])
    with pytest.raises(GraphChangedError, match="1 and 2"):
        partial.add(rows[1:])


@settings(deadline=None)
@given(data=st.data())
def test_a_graph_fetched_in_parts_is_the_graph(data: st.DataObject) -> None:
    pairs = data.draw(st.sets(st.tuples(st.integers(0, 20), st.integers(0, 20))))
    name = data.draw(st.sampled_from([int, str]))
    rows = {v: {b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a == v and b != v} for v in range(21)}
    partial, fetched = PartialGraph(), set()
    for v in data.draw(st.permutations(range(21))):
        if v not in fetched:
            part = {v, *data.draw(st.sets(st.integers(0, 20), max_size=5))} - fetched
            partial.add([(name(u), [name(w) for w in rows[u]]) for u in part])
            fetched |= part
            own = {name(u): sorted(map(name, rows[u])) for u in fetched}
            numbers = np.array([partial.number(key) for key in own])
            graph, positions = partial.around(numbers)
            assert graph.keys.tolist() == sorted({*own, *chain.from_iterable(own.values())})
            assert graph.keys[positions].tolist() == partial.keys(numbers) == list(own)
            assert neighbours(graph) == {key: own.get(key, []) for key in graph.keys.tolist()}
            assert partial.unfetched[numbers].tolist() == [len(rows[u] - fetched) for u in fetched]
            assert partial.largest == max(len(rows[u]) if u in fetched else len(rows[u] & fetched) for u in rows)
            by_rank = sorted(own, key=lambda key: partial.ranks[partial.number(key)])
            assert by_rank == sorted(own)


def test_a_key_fetched_twice_is_refused() -> None:
    partial = PartialGraph()
    partial.add([(1, [2])])
    with pytest.raises(KeyPropertyError, match="1 belongs to more than one vertex"):
        partial.add([(1, [3])])


# --- Hashes


@pytest.fixture(params=["integers", "strings"])
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    return GOLDEN[request.param]


def test_the_fingerprint_never_changes(golden: dict[str, Any]) -> None:
    assert fingerprint(graph_from_rows(golden["rows"]), b"a key") == golden["fingerprint"]


def test_the_membership_hash_never_changes(golden: dict[str, Any]) -> None:
    assert membership_hash(golden["memberships"]) == golden["membership hash"]


def test_the_fingerprint_does_not_depend_on_how_rows_came(golden: dict[str, Any]) -> None:
    rows = [(v, [w for w in ws if w > v][::-1]) for v, ws in golden["rows"]][::-1]
    assert fingerprint(graph_from_rows(rows), b"a key") == golden["fingerprint"]


def test_the_fingerprint_depends_on_edges_on_keys_on_their_kind_and_on_its_own_key() -> None:
    def of(rows: list[tuple[Key, list[Key]]], key: bytes = b"a key") -> str:
        return fingerprint(graph_from_rows(rows), key)

    path: list[tuple[Key, list[Key]]] = [(1, [2]), (2, [3]), (3, [])]
    others = [
        of([(1, [2, 3]), (2, [3]), (3, [])]),
        of([(1, [2, 3]), (2, []), (3, [])]),
        of([(1, [2]), (2, [3]), (3, []), (4, [])]),
        of([(1, [2]), (2, [4]), (4, [])]),
        of([("1", ["2"]), ("2", ["3"]), ("3", [])]),
        of(path, b"another key"),
    ]
    assert len({of(path), *others}) == 7


def test_memberships_hash_the_same_from_batches_and_from_rows_in_any_order() -> None:
    graph = graph_from_networkx(nx.gnp_random_graph(40, 0.2, seed=5))
    batch = search_all(graph, "0.4")
    halves = [search_all(graph, "0.4", vertices=part) for part in (range(20), range(20, 40))]
    rows = [(c.vertex, list(c.members[::-1])) for c in batch.cohesions()]
    random.Random(2).shuffle(rows)
    assert hash_of_batches(halves) == membership_hash(rows)


def test_the_membership_hash_depends_on_every_vertex_and_member() -> None:
    rows: list[tuple[Key, list[Key]]] = [(1, [1, 2]), (2, [1, 2])]
    others: list[list[tuple[Key, list[Key]]]] = [
        [(1, [1, 2])],
        [(1, [1, 2]), (2, [2])],
        [(1, [1, 2]), (3, [1, 2])],
        [("1", ["1", "2"]), ("2", ["1", "2"])],
        [],
    ]
    assert len({membership_hash(memberships) for memberships in [rows, *others]}) == 6


def test_one_label_or_type_may_stand_alone() -> None:
    alone: Any = ("Person", "KNOWS", "id")
    assert Selection(*alone) == Selection(("Person",), ("KNOWS",), "id")


def test_what_a_selection_leaves_out_fits_any_and_is_not_in_its_name() -> None:
    whole = Selection("Person", "KNOWS", "id")
    parts: list[Any] = [(), ("Person",), ("Person", "KNOWS"), ((), "KNOWS", "id"), ("Person", "KNOWS", "id")]
    others: list[Any] = [("Kin",), (["Person", "Kin"],), ((), "MEETS"), ((), (), "name")]
    for part in parts:
        assert is_part_of(Selection(*part), whole)
    for other in others:
        assert not is_part_of(Selection(*other), whole)
    assert Selection("Person", "a b").default_name == "Person/`a b`/"


@given(
    keys=st.one_of(st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1), st.sets(st.text(), min_size=1)),
    at_once=st.integers(1, 5),
    data=st.data(),
)
def test_stored_rows_become_a_batch_in_ascending_order_whatever_order_they_come_in(
    keys: set[Key], at_once: int, data: st.DataObject
) -> None:
    graph = graph_from_rows([(key, []) for key in keys])
    owners = data.draw(st.lists(st.sampled_from(sorted(keys)), unique=True))
    members = {owner: data.draw(st.lists(st.sampled_from(sorted(keys)), unique=True)) for owner in owners}
    rows = [(owner, members[owner], number, number % 2 == 0, number % 3 == 0) for number, owner in enumerate(owners)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cohesion_rows, "ROWS_AT_ONCE", at_once)
        batch = batch_from_rows(graph, rows, Search("1/3"))
    found = [(c.vertex, list(c.members), c.edges, c.proven, c.best) for c in batch.cohesions()]
    assert found == [(owner, sorted(keys), *numbers) for owner, keys, *numbers in sorted(rows)]


@pytest.mark.parametrize(
    ("stray", "why"), [(3, "no longer has"), (-1, "no longer has"), (None, "usable"), ("2", "usable"), (True, "usable")]
)
def test_stored_rows_that_name_no_vertex_of_the_graph_are_refused(stray: Any, why: str) -> None:
    graph = graph_from_rows([(0, [1]), (1, [0]), (2, [])])
    for row in ((stray, [0, 1], 1, True, True), (0, [1, stray], 1, True, True)):
        with pytest.raises(GraphChangedError, match=why):
            batch_from_rows(graph, [(1, [0, 1], 1, True, True), row], Search("1/3"))


def test_a_vertex_that_is_not_there_is_told_which_kind_keys_are_of() -> None:
    numbers, texts = graph_from_rows([(1, [2]), (2, [])]), graph_from_rows([("1", ["2"]), ("2", ["1"])])
    with pytest.raises(NotFoundError, match=r"no vertex 3 in the graph\.$"):
        positions_of(numbers, [3])
    with pytest.raises(NotFoundError, match="Did you mean the integer 1"):
        positions_of(numbers, ["1"])
    with pytest.raises(NotFoundError, match="keys of this graph are integers"):
        positions_of(numbers, ["one"])
    with pytest.raises(NotFoundError, match="keys of this graph are text"):
        positions_of(texts, [1])
