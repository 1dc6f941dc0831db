"""`critical` is ε-private for one pair inside a group, exactly, by brute force over small graphs.

The promise and its proof are in GUARANTEE.md#critical.

Counts, Ĝ and supports are those of the code that a release runs; many small graphs go through it as one, beside each
other. A set of pairs of the vertices 0 … n-1 is the bits of an integer, the i-th bit standing for the i-th of
`combinations(range(n), 2)`. `inner` is P̂, the pairs inside groups, and `hull` is Ĝ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations

import naive
import numpy as np
import pytest
from networkx.generators.atlas import graph_atlas_g

from pcneo.basics.model import Graph
from pcneo.counting.cliques import clique_counts, edge_ends
from pcneo.counting.protected import Groups, Protected, largest_supports, protect
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.noise import SimulatedNoise

EPSILON = Fraction(7, 10)
INFINITE = math.inf

Case = tuple[int, Sequence[Sequence[int]]]
"""A graph and its groups."""
Closing = Callable[[Graph, Groups], Protected]


@cache
def pairs_of(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def bits(n: int, pairs: Iterable[tuple[int, int]]) -> int:
    numbers = {pair: i for i, pair in enumerate(pairs_of(n))}
    return sum({1 << numbers[min(a, b), max(a, b)] for a, b in pairs})


def as_groups(n: int, inner: int) -> list[tuple[int, int]]:
    """Groups of two, one for each pair."""
    return [pair for i, pair in enumerate(pairs_of(n)) if inner >> i & 1]


def members(mask: int) -> Iterator[int]:
    """Each single pair of a set, as a set."""
    while mask:
        lowest = mask & -mask
        yield lowest
        mask ^= lowest


def subsets(mask: int) -> Iterator[int]:
    part = mask
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & mask


@cache
def unequal_classes(n: int) -> list[int]:
    """One graph of each isomorphism class."""
    return [bits(n, graph.edges) for graph in graph_atlas_g() if len(graph) == n]


# --- What a release computes, for many graphs at once


def beside(n: int, graphs: Sequence[int]) -> Graph:
    """One graph of many, none of them connected with another."""
    ends = [(n * i + a, n * i + b) for i, graph in enumerate(graphs) for a, b in as_groups(n, graph)]
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    return graph_from_edges(np.arange(n * len(graphs)), u, v)


def cut(values: list, n: int) -> list[tuple]:
    return [tuple(values[i : i + n]) for i in range(0, len(values), n)]


@cache
def counts(n: int, k: int) -> list[tuple[int, ...]]:
    """Γ of every labelled graph."""
    return cut(clique_counts(beside(n, range(1 << math.comb(n, 2))), k).tolist(), n)


def scales(
    n: int, k: int, cases: Sequence[Case], closing: Closing = protect, *, exact: bool = True
) -> list[tuple[Fraction, ...]]:
    """The scales of each case, from exact supports or from the bound."""
    sets = [[n * i + v for v in group] for i, (_, groups) in enumerate(cases) for group in groups]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    groups = Groups(offsets, np.array([v for group in sets for v in group], np.uint32))
    protected = closing(beside(n, [graph for graph, _ in cases]), groups)
    supports = largest_supports(protected, k) if exact else largest_supports(protected, k, listed=-1)
    assert supports.exact == exact
    return cut(Critical(k, EPSILON).scales(supports.per_vertex.tolist()), n)


def without_closing(graph: Graph, groups: Groups) -> Protected:
    """The mistake: supports taken from the graph itself, those pairs alone being closed that are connected."""
    inside = protect(graph, groups).inside
    connected = np.column_stack([ends[inside] for ends in edge_ends(graph)])
    return protect(graph, Groups(2 * np.arange(len(connected) + 1), connected.ravel().astype(np.uint32)))


def scales_of_hulls(
    n: int, k: int, cases: Sequence[tuple[int, int]], *, exact: bool = True
) -> list[tuple[Fraction, ...]]:
    """The scales for each `inner` and `hull`, from the graph that lacks every pair inside a group."""
    return scales(n, k, [(hull & ~inner, as_groups(n, inner)) for inner, hull in cases], exact=exact)


def changes(n: int, k: int, graph: int, e: int) -> tuple[int, ...]:
    """Δ_v: how much each count changes when the graph loses e."""
    after, before = counts(n, k)[graph & ~e], counts(n, k)[graph | e]
    return tuple(x - y for x, y in zip(before, after, strict=True))


def loss(changed: Sequence[int], t: Sequence[Fraction]) -> Fraction | float:
    """The largest log-ratio of probabilities of one output, where both graphs have the scales t."""
    if any(d and not s for d, s in zip(changed, t, strict=True)):
        return INFINITE
    return sum((d / s for d, s in zip(changed, t, strict=True) if d), start=Fraction(0))


# --- No pair costs more than ε


@cache
def all_changes(n: int, k: int, hull: int) -> dict[int, set[tuple[int, ...]]]:
    """For each pair e the different Δ over every subgraph of the hull that contains e."""
    effects: dict[int, set[tuple[int, ...]]] = {e: set() for e in members(hull)}
    for graph in subsets(hull):
        for e in members(graph):
            effects[e].add(changes(n, k, graph, e))
    return effects


def worst_over_subgraphs(n: int, k: int, cases: Sequence[tuple[int, int]], *, exact: bool = True) -> Fraction | float:
    """The largest loss of a pair of `inner`, over all cases and all subgraphs of their hulls."""
    losses = [
        loss(changed, t)
        for (inner, hull), t in zip(cases, scales_of_hulls(n, k, cases, exact=exact), strict=True)
        for e in members(inner)
        for changed in all_changes(n, k, hull)[e]
    ]
    return max(losses, default=0)


def check_tightness(n: int, k: int, inner: int, hull: int, t: Sequence[Fraction]) -> bool:
    """Whether a pair inside a group lies in a k-clique of Ĝ; then the worst loss in Ĝ itself is exactly ε."""
    changed = [changes(n, k, hull, e) for e in members(inner)]
    in_a_clique = any(map(any, changed))
    assert max((loss(change, t) for change in changed), default=0) == (EPSILON if in_a_clique else 0)
    return in_a_clique


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_pair_costs_more_than_epsilon_in_any_labelled_graph_up_to_four_vertices(n: int, k: int) -> None:
    cases = [(inner, hull) for hull in range(1 << math.comb(n, 2)) for inner in subsets(hull)]
    assert worst_over_subgraphs(n, k, cases) == (EPSILON if n >= k else 0)


@pytest.mark.long
@pytest.mark.parametrize("k", [3, 4])
def test_no_pair_costs_more_than_epsilon_in_any_graph_of_five_vertices(k: int) -> None:
    cases = [(inner, hull) for hull in unequal_classes(5) for inner in subsets(hull)]
    assert worst_over_subgraphs(5, k, cases) == EPSILON


@pytest.mark.parametrize(("n", "k"), [(4, 4), (5, 5), pytest.param(5, 4, marks=pytest.mark.long)])
def test_no_pair_costs_more_than_epsilon_with_scales_from_the_bound(n: int, k: int) -> None:
    cases = [(inner, hull) for hull in unequal_classes(n) for inner in subsets(hull)]
    assert 0 < worst_over_subgraphs(n, k, cases, exact=False) <= EPSILON


@pytest.mark.parametrize("k", [3, 4])
def test_the_loss_is_exactly_epsilon_where_the_graph_is_its_own_hull(k: int) -> None:
    tight = 0
    for n in (3, 4, 5):
        cases = [(inner, hull) for hull in unequal_classes(n) for inner in subsets(hull)]
        for (inner, hull), t in zip(cases, scales_of_hulls(n, k, cases), strict=True):
            tight += check_tightness(n, k, inner, hull, t)
    assert tight > 500


@cache
def real_groups(graph: int, p: Fraction) -> list[list[int]]:
    """The minimal p-cohesions of a graph of six vertices."""
    adjacency = naive.graph_of(as_groups(6, graph), isolated=range(6))
    return [sorted(naive.minimal_p_cohesion(adjacency, p, q)) for q in range(6)]


@pytest.mark.parametrize(
    "p",
    [Fraction(1, 2), *(pytest.param(p, marks=pytest.mark.long) for p in (Fraction(1, 10), Fraction(7, 10)))],
    ids=str,
)
@pytest.mark.parametrize("k", [3, 4])
def test_real_groups_of_six_vertices_keep_the_promise(k: int, p: Fraction) -> None:
    tight = 0
    cases = [(graph, real_groups(graph, p)) for graph in unequal_classes(6)]
    inners = [bits(6, {pair for group in groups for pair in combinations(group, 2)}) for _, groups in cases]
    toggled = [[(graph ^ e, groups) for e in members(i)] for (graph, groups), i in zip(cases, inners, strict=True)]
    after = iter(scales(6, k, list(chain.from_iterable(toggled))))
    for (graph, _), inner, t in zip(cases, inners, scales(6, k, cases), strict=True):
        tight += check_tightness(6, k, inner, graph | inner, t)
        for e in members(inner):
            assert loss(changes(6, k, graph | e, e), t) <= EPSILON
            assert next(after) == t
    assert tight > 30


# --- Scales must come from Ĝ


def toggles_that_move(n: int, k: int, closing: Closing) -> int:
    """How often toggling a pair inside a group changes a scale, over all labelled graphs and sets of such pairs."""
    everything = range(1 << math.comb(n, 2))
    cases = [(graph, inner) for graph in everything for inner in everything]
    together = scales(n, k, [(graph, as_groups(n, inner)) for graph, inner in cases], closing)
    t = dict(zip(cases, together, strict=True))
    return sum(t[graph, inner] != t[graph ^ e, inner] for graph, inner in cases for e in members(inner))


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4)])
def test_toggling_a_pair_inside_a_group_moves_no_scale(n: int, k: int) -> None:
    assert toggles_that_move(n, k, protect) == 0


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4)])
def test_the_mutant_that_takes_scales_from_the_graph_is_caught_by_toggling(n: int, k: int) -> None:
    assert toggles_that_move(n, k, without_closing) > 0


def published(graph: int, closing: Closing) -> set[tuple[int, ...]]:
    """What a triangle's three vertices print for one graph under 50 seeds, the group holding all three."""
    (t,) = scales(3, 3, [(graph, [(0, 1, 2)])], closing)
    mechanism = Critical(3, EPSILON)
    exact = list(counts(3, 3)[graph])
    return {tuple(mechanism.noisy_counts(exact, list(t), SimulatedNoise.seeded(seed))) for seed in range(50)}


def test_the_mutant_gives_a_connection_of_a_triangle_away_and_the_mechanism_does_not() -> None:
    triangle, path = 0b111, 0b110
    assert published(path, without_closing) == {(0, 0, 0)}
    # Any other output proves that the connection is there: the loss is infinite on it.
    assert published(triangle, without_closing) - {(0, 0, 0)}

    groups = [(0, 1, 2)]
    assert scales(3, 3, [(triangle, groups), (path, groups)]) == [(3 / EPSILON,) * 3] * 2
    assert loss([1, 1, 1], [3 / EPSILON] * 3) == EPSILON
    assert len(published(path, protect)) > 30


def test_the_classes_are_all_there() -> None:
    assert [len(unequal_classes(n)) for n in range(1, 7)] == [1, 2, 4, 11, 34, 156]
