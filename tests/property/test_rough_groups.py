"""Groups of answers: the graph that they are searched in, by the twin, and their promise.

GUARANTEE.md#rough-groups has both.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import naive
import numpy as np
import pytest
from lengths import usual_or_thorough
from shapes import arrays

from pcneo.basics.model import Graph
from pcneo.basics.searches import DEFAULT_SEARCH, Search
from pcneo.counting.answers import AnsweredPairs, answer_pairs
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges
from pcneo.privacy.noise import system_coins
from pcneo.privacy.randomised_response import COINS, Flips, Yes
from pcneo.search import search_all, search_batches


def answers_of(n: int, pairs: Any) -> AnsweredPairs:
    ends = np.array(list(pairs), np.int64).reshape(-1, 2)
    return AnsweredPairs.of_parts(n, [ends])


def searched(flips: Flips, answers: AnsweredPairs) -> Graph:
    return answers.sharing(flips.usual_shared).as_graph(np.arange(flips.n))


def pairs_of(graph: Graph) -> set[frozenset[int]]:
    """Its edges, once it is seen to be a graph: rows ascend, and each edge is in both."""
    times: dict[frozenset[int], int] = defaultdict(int)
    for x in range(graph.vertex_count):
        row = graph.neighbours[graph.offsets[x] : graph.offsets[x + 1]].tolist()
        assert row == sorted(set(row) - {x})
        for y in row:
            times[frozenset((x, y))] += 1
    assert set(times.values()) <= {2}
    return set(times)


def groups_of(graph: Graph, p: Fraction, search: str = DEFAULT_SEARCH) -> dict[int, frozenset[int]]:
    return {
        cohesion.vertex: frozenset(cohesion.members)  # type: ignore[misc]
        for batch in search_batches(graph, Search(p, search))
        for cohesion in batch.cohesions()
    }


@pytest.mark.parametrize(
    "below", [2**24 // 3, 7, *(pytest.param(n, marks=pytest.mark.long) for n in (2**24 // 50, 300_000))]
)
def test_answers_that_share_enough_yes_neighbours_are_those_of_the_twin(below: int) -> None:
    """All graphs of up to four vertices (five at length), and random ones that fill words of bits and parts of them."""
    rng = random.Random(below)
    cases = [(n, bits) for n in range(2, usual_or_thorough(5, 6)) for bits in product((0, 1), repeat=n * (n - 1) // 2)]
    drawn = [(n, share) for n in (20, 63, 64, 65, 128, 130) for share in (0.05, 0.3, 0.8)]
    graphs = [
        (n, [pair for pair, there in zip(combinations(range(n), 2), bits, strict=True) if there]) for n, bits in cases
    ]
    graphs += [(n, [pair for pair in combinations(range(n), 2) if rng.random() < share]) for n, share in drawn]
    for n, pairs in graphs:
        yes = naive.graph_of(pairs, isolated=range(n))
        graph = searched(Flips(n, below), answers_of(n, pairs))
        assert pairs_of(graph) == naive.sharing_pairs(yes, Fraction(below, COINS))


@pytest.mark.parametrize("p", [Fraction(3, 10), Fraction(1, 2)], ids=str)
def test_their_groups_are_the_cohesions_of_that_graph(p: Fraction) -> None:
    rng = random.Random(4)
    for n, share in ((12, 0.6), (30, 0.4), (40, 0.7)):
        pairs = [pair for pair in combinations(range(n), 2) if rng.random() < share]
        near = naive.sharing_pairs(naive.graph_of(pairs, isolated=range(n)), Fraction(1, 4))
        twin = naive.graph_of([tuple(pair) for pair in near], isolated=range(n))  # type: ignore[misc]
        groups = groups_of(searched(Flips(n, 2**22), answers_of(n, pairs)), p)
        found = search_all(arrays(twin), p).cohesions()
        assert groups == {c.vertex: frozenset(c.members) for c in found}


@pytest.mark.long
def test_a_connection_changes_the_odds_of_any_groups_by_at_most_e_to_the_epsilon() -> None:
    """Groups of all answers about five vertices; the odds for 40 graphs and each of their pairs, and they do move."""
    rng = random.Random(6)
    n, epsilon, p = 5, Fraction(1), Fraction(1, 2)
    f = naive.flip_chance(epsilon)
    flips, pairs = Flips(n, int(f * COINS)), list(combinations(range(n), 2))

    def chosen(bits: int) -> list[tuple[int, int]]:
        return [pair for i, pair in enumerate(pairs) if bits >> i & 1]

    everything = range(1 << len(pairs))
    groups = [frozenset(groups_of(searched(flips, answers_of(n, chosen(bits))), p).items()) for bits in everything]
    assert len(set(groups)) > 10
    by_flips = [f**flipped * (1 - f) ** (len(pairs) - flipped) for flipped in range(len(pairs) + 1)]

    def odds(graph: int) -> dict[Any, Fraction]:
        chances: dict[Any, Fraction] = defaultdict(Fraction)
        for bits in everything:
            chances[groups[bits]] += by_flips[(graph ^ bits).bit_count()]
        return chances

    ratios: set[Fraction] = set()
    for graph in rng.sample(everything, 40):
        here = odds(graph)
        for i in range(len(pairs)):
            there = odds(graph ^ 1 << i)
            ratios |= {here[outcome] / there[outcome] for outcome in here}
    assert max(ratios) <= (1 - f) / f
    assert max(ratios) > 1.2


@pytest.mark.parametrize("yes", [0, 900, 1019, 1020, 1050, 4950])
def test_groups_are_given_up_where_twenty_flips_stand_beside_each_connection(yes: int) -> None:
    """fN is 990 for n = 100 and f = 1/5, about; m̃ = (m̂ - 990)/(3/5) passes 990/20 at m̂ = 1019.7."""
    f = Fraction(COINS // 5, COINS)
    hopeless = f * 4950 > 20 * (yes - f * 4950) / (1 - 2 * f)
    assert Yes(Flips(100, COINS // 5), yes).is_hopeless == hopeless == (yes < 1020)


def test_groups_of_copenhagen_at_five_are_as_like_as_they_were_found_to_be() -> None:
    """p=0.1, ε=5, by density: a mean Jaccard of 0.43 with the graph's own, with the system's coins."""
    truth = naive.read_edges(sample_path())
    place = {v: i for i, v in enumerate(sorted(truth))}
    edges = [(place[a], place[b]) for a in truth for b in truth[a] if a < b]
    graph = graph_from_edges(range(len(place)), [a for a, _ in edges], [b for _, b in edges])
    flips = Flips(len(place), int(naive.flip_chance(Fraction(5)) * COINS))
    rough = groups_of(searched(flips, answer_pairs(graph, flips.below, system_coins)), Fraction(1, 10), "density")
    own = groups_of(graph, Fraction(1, 10), "density")
    likeness = np.mean([len(own[v] & rough[v]) / len(own[v] | rough[v]) for v in own])
    assert abs(likeness - 0.427) < 0.03
