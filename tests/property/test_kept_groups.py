"""`critical` keeps its promise on groups of an earlier date, by brute force (GUARANTEE.md#kept-groups).

The groups are those of four vertices at an earlier date. Since then some vertices have gone and others have come. All
graphs of the present vertices go through the code of a release side by side, as one graph.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import naive
import numpy as np
import pytest
from lengths import usual_or_thorough

from pcneo.basics.model import Graph
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.counting.cliques import edge_ends
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups, pair_blocks
from pcneo.errors import GraphChangedError
from pcneo.graph import HubDigests, graph_from_edges, membership_hash, owner_hash
from pcneo.privacy.account import Account, Spend
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.noise import SimulatedNoise
from pcneo.release.read_graph import groups_now
from pcneo.store.run_reader import KeptHub

EPSILON = Fraction(7, 10)
SECRET = bytes(range(32))
OLD = (0, 1, 2, 3)
APART = 10  # keys of one small graph and of the next

Family = dict[int, frozenset[int]]
"""The group of each vertex of the earlier date."""


def families() -> list[Family]:
    """Groups of pairs, of all, of nobody but oneself, and some drawn at random."""
    rng = random.Random(11)
    fixed: list[Family] = [
        {v: frozenset(OLD) for v in OLD},
        {v: frozenset([v]) for v in OLD},
        {v: frozenset([v, (v + 1) % 4]) for v in OLD},
        {v: frozenset([0, 1, 2]) if v < 3 else frozenset([3]) for v in OLD},
    ]
    drawn = [
        {v: frozenset([v, *rng.sample(OLD, rng.randint(0, 3))]) for v in OLD} for _ in range(usual_or_thorough(1, 6))
    ]
    return fixed + drawn


MOVES = [
    (frozenset(gone), tuple(range(4, 4 + new)))
    for size in range(4)
    for gone in combinations(OLD, size)
    for new in range(3)
    if 2 <= 4 - size + new <= 4
]
"""Who has gone since, and who has come."""
MOVES_TAKEN = random.Random(5).sample(MOVES, len(MOVES) // usual_or_thorough(2, 1))


def hubs_of(family: Family, gone: Iterable[int] = (), shift: int = 0) -> list[KeptHub]:
    """What the database has of the groups, whose members have gone with their memberships."""
    digests, left = HubDigests(SECRET), set(OLD) - set(gone)
    return [
        KeptHub(
            owner=owner_hash(shift + v, SECRET),
            digest=digests.digest(shift + v, [shift + member for member in group]),
            size=len(group),
            vertices=[shift + v] if v in left else [],
            members=[shift + member for member in sorted(group & left, reverse=True)],
        )
        for v, group in family.items()
    ]


def a_run(cohesions: int, membership_hash: str) -> RunRecord:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    named, counts = ("friends@3/10", "friends", "graph", Search("3/10")), (0, 0, cohesions, 0, 0, 0, 0, 0)
    return RunRecord(*named, 5, True, "", 1, *counts, "f", membership_hash, then, then, then)


def recorded(family: Family, shifts: Sequence[int] = (0,)) -> RunRecord:
    rows = [(s + v, [s + member for member in group]) for s in shifts for v, group in family.items()]
    return a_run(cohesions=len(rows), membership_hash=membership_hash(rows))


@dataclass
class Now:
    """All graphs of some vertices, as a release on kept groups sees them.

    `graphs` are sets of pairs. For each, `answered` are the pairs of P̂ and `yes` those that are answered yes where no
    coin flips an answer; `outside` are the connections that are counted as they are.
    """

    vertices: tuple[int, ...]
    graphs: list[frozenset[tuple[int, int]]]
    answered: list[frozenset[tuple[int, int]]]
    yes: list[frozenset[tuple[int, int]]]
    outside: list[frozenset[tuple[int, int]]]
    counts: Sequence[Sequence[float]]


def all_graphs_now(
    family: Family, gone: frozenset[int], new: tuple[int, ...], groups_of: Callable[..., Groups] = groups_now
) -> Now:
    vertices = tuple(sorted({*OLD, *new} - gone))
    pairs = list(combinations(vertices, 2))
    graphs = [
        frozenset(pair for pair, there in zip(pairs, bits, strict=True) if there)
        for bits in product((False, True), repeat=len(pairs))
    ]
    shifts = [APART * i for i in range(len(graphs))]
    ends = [(s + a, s + b) for s, graph in zip(shifts, graphs, strict=True) for a, b in graph]
    graph = graph_from_edges([s + v for s in shifts for v in vertices], [a for a, _ in ends], [b for _, b in ends])
    hubs = [hub for s in shifts for hub in hubs_of(family, gone, s)]
    groups = groups_of(graph, hubs, recorded(family, shifts), SECRET)
    facts = CountedGraph(graph).with_groups(groups, "kept groups")
    protected = facts.protected_graph()
    mechanism, n = Critical(epsilon=EPSILON, n=graph.vertex_count), len(vertices)
    answers = mechanism.answered(facts, SimulatedNoise(lambda _scale, _size: []))  # whose coins flip nothing
    blocks = [np.empty((2, 0), np.int64), *map(np.stack, pair_blocks(protected.protected))]
    pairs_inside = list(zip(*np.concatenate(blocks, axis=1).tolist(), strict=True))
    said = [pair for pair, yes in zip(pairs_inside, answers.yes, strict=True) if yes]
    u, v = edge_ends(protected.outside)
    counts = mechanism.compute(answers, facts).counts if pairs_inside else None
    return Now(
        vertices,
        graphs,
        by_graph(pairs_inside, vertices, len(graphs)),
        by_graph(said, vertices, len(graphs)),
        by_graph(zip(u.tolist(), v.tolist(), strict=True), vertices, len(graphs)),
        [] if counts is None else [list(counts[i : i + n]) for i in range(0, len(counts), n)],
    )


def by_graph(
    pairs: Iterable[tuple[int, int]], vertices: tuple[int, ...], graphs: int
) -> list[frozenset[tuple[int, int]]]:
    """Pairs of places among all graphs, as pairs of vertices of each."""
    parts: list[set[tuple[int, int]]] = [set() for _ in range(graphs)]
    for a, b in pairs:
        parts[a // len(vertices)].add((vertices[a % len(vertices)], vertices[b % len(vertices)]))
    return list(map(frozenset, parts))


def pairs_now(family: Family, vertices: Iterable[int]) -> set[tuple[int, int]]:
    """By the definition: both are still there, and in one group of the earlier date."""
    left = set(vertices)
    return {pair for group in family.values() for pair in combinations(sorted(group), 2) if left.issuperset(pair)}


def loss(now: Now, pair: tuple[int, int]) -> float:
    """In how many answers two graphs that differ in a pair differ, at most; infinite where they show it otherwise.

    Each such answer costs ln((1-f)/f); `test_critical` shows that by the coins.
    """
    at = {graph: i for i, graph in enumerate(now.graphs)}
    worst = 0
    for graph, i in at.items():
        if pair in graph:
            continue
        j = at[graph | {pair}]
        if now.answered[i] != now.answered[j] or now.outside[i] != now.outside[j]:
            return math.inf
        worst = max(worst, len(now.yes[i] ^ now.yes[j]))
    return worst


def test_any_pair_inside_an_earlier_group_is_answered_once_in_any_graph_of_those_who_are_there() -> None:
    """Nothing is protected but the pairs of the earlier groups whose ends are both still there; it is tight.

    Half of the ways of going and coming are taken, and all of them at length.
    """
    tight = 0
    for family, (gone, new) in product(families(), MOVES_TAKEN):
        now = all_graphs_now(family, gone, new)
        inside = pairs_now(family, now.vertices)
        assert all(pairs == inside for pairs in now.answered)
        assert all(outside == graph - inside for graph, outside in zip(now.graphs, now.outside, strict=True))
        costs = [loss(now, pair) for pair in inside]
        assert max(costs, default=0) <= 1
        tight += sum(cost == 1 for cost in costs)
        apart = set(combinations(now.vertices, 2)) - inside
        assert all(loss(now, pair) == math.inf for pair in list(apart)[:2])
    assert tight > 5


def test_counts_from_answers_on_kept_groups_are_those_of_the_twin() -> None:
    family: Family = {0: frozenset([0, 1, 2]), 1: frozenset([0, 1, 2]), 2: frozenset([2, 3]), 3: frozenset([2, 3])}
    now = all_graphs_now(family, frozenset([3]), (4,))
    f, inside = naive.flip_chance(EPSILON), pairs_now(family, now.vertices)
    for graph, yes, counts in zip(now.graphs, now.yes, now.counts, strict=True):
        truth = naive.graph_of(graph, isolated=now.vertices)
        twin = [naive.counts_from_pair_answers(truth, inside, set(yes), 3, f, v) for v in now.vertices]
        assert counts == [round(x) for x in twin]


def test_a_pair_pays_the_sum_over_dates_and_the_ledger_has_one_account_for_them() -> None:
    """Two dates, any two graphs of them that differ in the pair at both dates; what is drawn is independent."""
    family: Family = {0: frozenset([0, 1, 2]), 1: frozenset([0, 1, 2]), 2: frozenset([2, 3]), 3: frozenset([2, 3])}
    first = all_graphs_now(family, frozenset(), ())
    second = all_graphs_now(family, frozenset([3]), (4,))
    both = pairs_now(family, first.vertices) & pairs_now(family, second.vertices)
    assert both == {(0, 1), (0, 2), (1, 2)}
    sums = [loss(first, pair) + loss(second, pair) for pair in both]
    assert max(sums) == 2  # answers
    digest = recorded(family).membership_hash
    spends = tuple(Spend("critical", EPSILON, Fraction(0), digest) for _ in range(2))
    assert Account("friends", Cost(Fraction(2)), spends).sets == {digest: Cost(2 * EPSILON)}


def without_one_who_stayed(*values: Any) -> Groups:
    """The mistake: the last member of each group is taken for gone."""
    groups = groups_now(*values)
    cut = [groups.members[a : max(a + 1, b - 1)] for a, b in pairwise(groups.offsets)]
    return Groups(np.cumsum([0, *map(len, cut)], dtype=np.int64), np.concatenate(cut))


def with_one_who_came(graph: Graph, *values: Any) -> Groups:
    """The mistake: whoever has come since is in the groups beside it."""
    groups = groups_now(graph, *values)
    parts = [groups.members[a:b] for a, b in pairwise(groups.offsets)]
    came = {i for i, key in enumerate(graph.keys.tolist()) if key % APART not in OLD}
    wider = [np.array([*part, *({part[-1] + 1} & came)], np.uint32) if len(part) else part for part in parts]
    return Groups(np.cumsum([0, *map(len, wider)], dtype=np.int64), np.concatenate(wider))


def test_the_mutant_that_takes_one_who_stayed_for_gone_gives_a_pair_away() -> None:
    family: Family = {v: frozenset(OLD) for v in OLD}
    now = all_graphs_now(family, frozenset([0]), (4,), without_one_who_stayed)
    assert now.answered[0] < pairs_now(family, now.vertices)
    assert loss(now, (1, 3)) == math.inf


def test_the_mutant_that_takes_in_who_has_come_protects_other_pairs() -> None:
    family: Family = {v: frozenset(OLD) for v in OLD}
    now = all_graphs_now(family, frozenset([0]), (4,), with_one_who_came)
    assert now.answered[0] > pairs_now(family, now.vertices)


# --- Groups that are no longer those that were written


def graph_now(vertices: Iterable[int]) -> Graph:
    return graph_from_edges(sorted(vertices), [], [])


PAIR: Family = {0: frozenset([0, 1]), 1: frozenset([0, 1]), 2: frozenset([1, 2]), 3: frozenset([3])}


def changed(hub: KeptHub, **values: Any) -> KeptHub:
    return KeptHub(**{**vars(hub), **values})


def test_groups_of_those_who_are_still_there_are_taken_by_key() -> None:
    groups = groups_now(graph_now([0, 2, 3, 9]), hubs_of(PAIR, gone=[1]), recorded(PAIR), SECRET)
    cut = [groups.members[a:b].tolist() for a, b in zip(groups.offsets, groups.offsets[1:], strict=False)]
    assert cut == [[0], [0], [1], [2]]


def test_members_that_are_no_vertices_of_the_graph_any_more_drop_out() -> None:
    """Vertex 1 has lost its label, not its memberships: the database still has it in its groups."""
    groups = groups_now(graph_now([0, 2, 3]), hubs_of(PAIR), recorded(PAIR), SECRET)
    cut = [groups.members[a:b].tolist() for a, b in zip(groups.offsets, groups.offsets[1:], strict=False)]
    assert cut == [[0], [0], [1], [2]]


def test_text_keys_are_as_good() -> None:
    digests = HubDigests(SECRET)
    rows = [("ann", ["ann", "ß"]), ("ß", ["ß"])]
    hubs = [
        KeptHub(owner_hash(v, SECRET), digests.digest(v, members), len(members), [v], members) for v, members in rows
    ]
    run = a_run(cohesions=2, membership_hash=membership_hash(rows))
    groups = groups_now(graph_from_edges(["ann", "zoe", "ß"], [], []), hubs, run, SECRET)
    assert groups.members.tolist() == [0, 2, 2]


BROKEN: dict[str, tuple[list[KeptHub], list[int], str]] = {
    "a hub is lost": (hubs_of(PAIR)[1:], [0, 1, 2, 3], "3 of 4 cohesions"),
    "a hub too many": (hubs_of(PAIR) + hubs_of(PAIR)[:1], [0, 1, 2, 3], "5 of 4 cohesions"),
    "another member": (
        [changed(hubs_of(PAIR)[0], members=[0, 2]), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "its memberships have changed",
    ),
    "a member lost though nobody went": (
        [changed(hubs_of(PAIR)[0], members=[0]), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "members came or went",
    ),
    "a member too many": (
        [changed(hubs_of(PAIR)[0], members=[0, 1, 2]), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "members came or went",
    ),
    "a member twice": (
        [changed(hubs_of(PAIR)[0], members=[0, 0]), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "members came or went",
    ),
    "more lost than have gone": (
        [*hubs_of(PAIR, gone=[3])[:2], changed(hubs_of(PAIR, gone=[3])[2], members=[]), hubs_of(PAIR, gone=[3])[3]],
        [0, 1, 2],
        "members came or went",
    ),
    "another key": (
        [changed(hubs_of(PAIR)[0], vertices=[7], members=[7, 1]), *hubs_of(PAIR)[1:]],
        [1, 2, 3, 7],
        "the key of a vertex has changed",
    ),
    "two vertices of one hub": (
        [changed(hubs_of(PAIR)[0], vertices=[0, 1]), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "the key of a vertex has changed",
    ),
    "a lost key": (
        [changed(hubs_of(PAIR)[0], vertices=[None]), *hubs_of(PAIR)[1:]],
        [1, 2, 3],
        "lost its key",
    ),
    "deleted and made again": (hubs_of(PAIR, gone=[1]), [0, 1, 2, 3], "vertex 1 was deleted and has come back"),
    "another digest": (
        [changed(hubs_of(PAIR)[0], digest="0" * 32), *hubs_of(PAIR)[1:]],
        [0, 1, 2, 3],
        "its memberships have changed",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_groups_that_are_no_longer_what_was_written_are_refused(broken: str) -> None:
    hubs, vertices, match = BROKEN[broken]
    with pytest.raises(GraphChangedError, match=match):
        groups_now(graph_now(vertices), hubs, recorded(PAIR), SECRET)


def test_another_membership_hash_is_refused_where_nobody_has_gone() -> None:
    run = a_run(cohesions=4, membership_hash="0" * 64)
    with pytest.raises(GraphChangedError, match="its memberships have changed"):
        groups_now(graph_now(OLD), hubs_of(PAIR), run, SECRET)
