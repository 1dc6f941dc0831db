"""`critical` is ε-private for one pair inside a group, exactly, by brute force over small graphs (privacy.md).

Cliques and supports are counted here from the definitions. A set of pairs of the vertices 0 … n-1 is the bits of an
integer, the i-th bit standing for the i-th of `combinations(range(n), 2)`. `inner` is P̂, the pairs inside groups, and
`hull` is Ĝ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import naive
import networkx
import pytest
from networkx.generators.atlas import graph_atlas_g

from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.noise import SimulatedNoise

EPSILON = Fraction(7, 10)
INFINITE = math.inf


@dataclass(frozen=True)
class Clique:
    vertices: tuple[int, ...]
    edges: int


@cache
def possible_cliques(n: int, k: int) -> list[Clique]:
    return [Clique(group, bits(n, combinations(group, 2))) for group in combinations(range(n), k)]


@cache
def cliques_of(n: int, k: int, graph: int) -> list[Clique]:
    return [c for c in possible_cliques(n, k) if c.edges & graph == c.edges]


@cache
def pair_numbers(n: int) -> dict[tuple[int, int], int]:
    return {pair: i for i, pair in enumerate(combinations(range(n), 2))}


def bits(n: int, pairs: object) -> int:
    numbers = pair_numbers(n)
    return sum({1 << numbers[min(a, b), max(a, b)] for a, b in pairs})


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


def changes(n: int, k: int, graph: int, e: int) -> tuple[int, ...]:
    """Δ_v: how many k-cliques of the graph contain v and both ends of e."""
    found = [c for c in cliques_of(n, k, graph) if c.edges & e]
    return tuple(sum(v in c.vertices for c in found) for v in range(n))


def largest_supports(n: int, k: int, inner: int, graph: int) -> list[int]:
    """For each v the largest k·support_k(e) over e of `inner` that share a k-clique of the graph with v."""
    found = cliques_of(n, k, graph)
    support = {e: k * sum(bool(c.edges & e) for c in found) for e in members(inner & graph)}
    return [
        max((support[e] for c in found if v in c.vertices for e in members(inner & c.edges)), default=0)
        for v in range(n)
    ]


def scales(n: int, k: int, inner: int, hull: int) -> list[Fraction]:
    return Critical(k, EPSILON).scales(largest_supports(n, k, inner, hull))


def loss(changed: Sequence[int], t: list[Fraction]) -> Fraction | float:
    """The largest log-ratio of probabilities of one output, where both graphs have the scales t."""
    if any(d and not s for d, s in zip(changed, t, strict=True)):
        return INFINITE
    return sum((d / s for d, s in zip(changed, t, strict=True) if d), start=Fraction(0))


@cache
def unequal_classes(n: int) -> list[int]:
    """One graph of each isomorphism class."""
    return [bits(n, graph.edges) for graph in graph_atlas_g() if len(graph) == n]


@cache
def all_changes(n: int, k: int, hull: int) -> dict[int, set[tuple[int, ...]]]:
    """For each pair e the different Δ over every subgraph of the hull that contains e."""
    found: dict[int, set[tuple[int, ...]]] = {e: set() for e in members(hull)}
    for graph in subsets(hull):
        for e in members(graph):
            found[e].add(changes(n, k, graph, e))
    return found


def check_every_subgraph(n: int, k: int, inner: int, hull: int) -> None:
    t = scales(n, k, inner, hull)
    for e in members(inner):
        for changed in all_changes(n, k, hull)[e]:
            assert loss(changed, t) <= EPSILON, (n, k, inner, hull, e)


def check_tightness(n: int, k: int, inner: int, hull: int) -> bool:
    """Whether a pair inside a group lies in a k-clique of Ĝ; then the worst loss in Ĝ itself is exactly ε."""
    t = scales(n, k, inner, hull)
    worst = max((loss(changes(n, k, hull, e), t) for e in members(inner)), default=Fraction(0))
    in_a_clique = any(c.edges & inner for c in cliques_of(n, k, hull))
    assert worst == (EPSILON if in_a_clique else 0)
    return in_a_clique


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_pair_costs_more_than_epsilon_in_any_labelled_graph_up_to_four_vertices(n: int, k: int) -> None:
    for hull in range(1 << math.comb(n, 2)):
        for inner in subsets(hull):
            check_every_subgraph(n, k, inner, hull)


@pytest.mark.parametrize("k", [3, 4])
def test_no_pair_costs_more_than_epsilon_in_any_graph_of_five_vertices(k: int) -> None:
    for hull in unequal_classes(5):
        for inner in subsets(hull):
            check_every_subgraph(5, k, inner, hull)


@pytest.mark.parametrize("k", [3, 4])
def test_the_loss_is_exactly_epsilon_where_the_graph_is_its_own_hull(k: int) -> None:
    tight = sum(
        check_tightness(n, k, inner, hull) for n in (3, 4, 5) for hull in unequal_classes(n) for inner in subsets(hull)
    )
    assert tight > 500


@cache
def real_pairs(graph: int, p: Fraction) -> int:
    """All pairs inside the minimal p-cohesions of a graph of six vertices."""
    pairs = list(combinations(range(6), 2))
    adjacency = naive.graph_of((pairs[i] for i in range(15) if graph >> i & 1), isolated=range(6))
    groups = [naive.minimal_p_cohesion(adjacency, p, q) for q in range(6)]
    return bits(6, {pair for group in groups for pair in combinations(sorted(group), 2)})


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(7, 10)], ids=str)
@pytest.mark.parametrize("k", [3, 4])
def test_real_groups_of_six_vertices_keep_the_promise(k: int, p: Fraction) -> None:
    tight = 0
    for graph in unequal_classes(6):
        inner = real_pairs(graph, p)
        hull = graph | inner
        t = scales(6, k, inner, hull)
        tight += check_tightness(6, k, inner, hull)
        for e in members(inner):
            assert loss(changes(6, k, graph | e, e), t) <= EPSILON
            assert scales(6, k, inner, (graph ^ e) | inner) == t
    assert tight > 30


# --- Scales must come from Ĝ


def mutant_scales(n: int, k: int, inner: int, graph: int) -> list[Fraction]:
    """The mistake: supports taken from the graph itself."""
    return scales(n, k, inner, graph)


def toggles_that_move(scales_of: object, n: int, k: int) -> int:
    """How often toggling a pair inside a group changes a scale, over all labelled graphs and sets of such pairs."""
    everything = (1 << math.comb(n, 2)) - 1
    return sum(
        scales_of(n, k, inner, graph | e) != scales_of(n, k, inner, graph & ~e)
        for graph in range(everything + 1)
        for inner in range(everything + 1)
        for e in members(inner)
    )


def test_toggling_a_pair_inside_a_group_moves_no_scale() -> None:
    assert toggles_that_move(lambda n, k, inner, graph: scales(n, k, inner, graph | inner), 3, 3) == 0
    assert toggles_that_move(lambda n, k, inner, graph: scales(n, k, inner, graph | inner), 4, 3) == 0


def test_the_mutant_that_takes_scales_from_the_graph_is_caught_by_toggling() -> None:
    assert toggles_that_move(mutant_scales, 3, 3) > 0


def published(scales_of: object, graph: int, seeds: range) -> set[tuple[int, ...]]:
    """What a triangle's three vertices print for one graph, the group holding all three."""
    inner = 0b111
    counts = [len([c for c in cliques_of(3, 3, graph) if v in c.vertices]) for v in range(3)]
    mechanism = Critical(3, EPSILON)
    t = scales_of(graph, inner)
    return {tuple(mechanism.noisy_counts(counts, t, SimulatedNoise.seeded(seed))) for seed in seeds}


def test_the_mutant_gives_a_connection_of_a_triangle_away_and_the_mechanism_does_not() -> None:
    triangle, path = 0b111, 0b110

    def mutant(graph: int, inner: int) -> list[Fraction]:
        return mutant_scales(3, 3, inner, graph)

    assert published(mutant, path, range(50)) == {(0, 0, 0)}
    # Any other output proves that the connection is there: the loss is infinite on it.
    assert published(mutant, triangle, range(50)) - {(0, 0, 0)}

    def real(graph: int, inner: int) -> list[Fraction]:
        return scales(3, 3, inner, graph | inner)

    assert real(triangle, 0b111) == real(path, 0b111) == [3 / EPSILON] * 3
    assert loss([1, 1, 1], real(triangle, 0b111)) == EPSILON
    assert len(published(real, path, range(50))) > 30


def test_the_classes_are_all_there() -> None:
    assert [len(unequal_classes(n)) for n in range(1, 7)] == [1, 2, 4, 11, 34, 156]


def test_bits_and_cliques_agree_with_networkx() -> None:
    for graph in graph_atlas_g()[1:210]:
        n = len(graph)
        expected = [q for q in networkx.enumerate_all_cliques(graph) if len(q) == 3]
        assert sorted(map(sorted, expected)) == sorted(
            sorted(c.vertices) for c in cliques_of(n, 3, bits(n, graph.edges))
        )
