"""`critical` is ε-private for one pair inside a group and unbiased, exactly, by brute force over small graphs.

The promise and its proof are in GUARANTEE.md#critical.

Answers and counts are those of the code that a release runs. A *case* states for every pair of n vertices whether it is
inside a group, a connection outside, or neither; two graphs of one case differ only in which pairs inside groups are
connected. All graphs of a case, or all sets of answers, go through the code side by side, as one graph.

With f = 1/4 all weights and probabilities are fractions over powers of 2, which doubles hold exactly here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from types import SimpleNamespace
from typing import Any

import naive
import numpy as np
import pytest
from lengths import usual_or_thorough
from numpy.typing import NDArray

from pcneo.basics.pair_answers import PairAnswers
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups, Hull, protect
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Critical, mechanism_of
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips

NEITHER, OUTSIDE, INSIDE = range(3)
QUARTER = 2**22
F4 = Fraction(1, 4)
WEIGHTS, V = (-0.5, 1.5, 1.0), 0.75  # of f = 1/4

Case = tuple[int, ...]
"""What each pair is, in the order of `combinations(range(n), 2)`."""
Ints = NDArray[np.int64]


def pairs_of(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def inside_of(case: Case, n: int) -> list[tuple[int, int]]:
    return [pair for pair, kind in zip(pairs_of(n), case, strict=True) if kind == INSIDE]


@cache
def cases(n: int) -> list[Case]:
    """All of four vertices or fewer; of five one for each way that differs by more than the names of the vertices."""
    every = np.array(list(product(range(3), repeat=math.comb(n, 2))))
    if n < 5:
        return [tuple(case) for case in every.tolist()]
    at = {pair: i for i, pair in enumerate(pairs_of(n))}
    digits = 3 ** np.arange(math.comb(n, 2))
    least = every @ digits
    for order in permutations(range(n)):
        moved = [at[min(order[a], order[b]), max(order[a], order[b])] for a, b in pairs_of(n)]
        least = np.minimum(least, every[:, moved] @ digits)
    return [tuple(case) for case in every[least == every @ digits].tolist()]


def subsets(size: int) -> NDArray[np.bool_]:
    """All subsets of so many things: bool, shape (2^size, size); row i has the bits of i."""
    return (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(np.bool_)


def beside(case: Case, n: int, connected: NDArray[np.bool_]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The edges and the groups of as many copies as `connected` has rows, none connected with another."""
    inside = inside_of(case, n)
    outside = [pair for pair, kind in zip(pairs_of(n), case, strict=True) if kind == OUTSIDE]
    edges = [
        (n * i + a, n * i + b)
        for i, row in enumerate(connected)
        for a, b in [*outside, *(pair for pair, there in zip(inside, row, strict=True) if there)]
    ]
    return edges, [(n * i + a, n * i + b) for i in range(len(connected)) for a, b in inside]


def hull_of(n: int, edges: Sequence[tuple[int, int]], groups: Iterable[Sequence[int]]) -> Hull:
    sets = [list(group) for group in groups]
    members = np.array([v for group in sets for v in group], np.uint32)
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    graph = graph_from_edges(np.arange(n), u, v)
    return Hull(protect(graph, Groups(np.cumsum([0, *map(len, sets)]), members), concurrency=1), concurrency=1)


def copies(case: Case, n: int, connected: NDArray[np.bool_]) -> Hull:
    edges, groups = beside(case, n, connected)
    return hull_of(n * len(connected), edges, groups)


def bytes_of(coins: Iterable[int]) -> bytes:
    return b"".join(coin.to_bytes(3, "big") for coin in coins)


# --- The promise: the exact distribution of the answers

Answer = Callable[[Hull, int, Callable[[int], bytes]], PairAnswers]


def flips_of(case: Case, n: int, answer: Answer = Hull.answer) -> Ints:
    """How many coins fall below a for each graph of a case and each set of answers; -1 where it cannot be.

    Of the 2^24 values of a coin, the code tells those below a from the others: a - 1 and a stand for all. So the
    probability of a set of answers is f^flips·(1-f)^(pairs - flips).
    """
    graphs = subsets(len(inside_of(case, n)))
    hull, size = copies(case, n, graphs), graphs.shape[1]
    flips = np.full((len(graphs), len(graphs)), -1, np.int64)
    for pattern in graphs:
        coins = bytes_of(QUARTER - 1 if flip else QUARTER for flip in pattern)
        asked: list[int] = []

        def source(wanted: int, coins: bytes = coins, asked: list[int] = asked) -> bytes:
            asked.append(wanted)
            return (coins * len(graphs))[:wanted]

        yes = answer(hull, QUARTER, source).yes.reshape(len(graphs), size)
        assert sum(asked) == 3 * size * len(graphs)  # three bytes a pair, whatever the graph holds
        flips[np.arange(len(graphs)), yes @ (1 << np.arange(size))] = pattern.sum()
    return flips


def losses(flips: Ints) -> set[float]:
    """How much each pair costs, over all graphs and answers, in units of ln((1-f)/f)."""
    found: set[float] = set()
    for pair in range(len(flips).bit_length() - 1):
        other = flips[np.arange(len(flips)) ^ 1 << pair]
        possible = (flips >= 0) & (other >= 0)
        found |= set(np.abs(flips - other)[possible].tolist())
        if ((flips >= 0) != (other >= 0)).any():
            found.add(math.inf)
    return found


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_pair_inside_a_group_costs_exactly_the_loss_of_one_answer_in_every_graph(n: int) -> None:
    for case in cases(n):
        if inside_of(case, n):
            flips = flips_of(case, n)
            assert (flips >= 0).all()  # every set of answers can come from every graph
            assert losses(flips) == {1}


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "10", "16"])
def test_the_loss_of_one_answer_is_at_most_epsilon_and_hardly_less(epsilon: str) -> None:
    mechanism, least = Critical(epsilon=epsilon, n=9), naive.flip_chance(Fraction(epsilon))
    assert Fraction(mechanism.threshold, 2**24) == least
    assert math.isclose(mechanism.loss, math.log((1 - least) / least), rel_tol=1e-12)
    assert mechanism.loss <= float(epsilon)
    floor = least - Fraction(1, 2**24)  # the mutant that takes a by floor
    assert math.log((1 - floor) / floor) > float(epsilon)


def test_the_mutant_that_leaves_pairs_inside_exact_gives_them_away() -> None:
    def exact(hull: Hull, below: int, coins: Callable[[int], bytes]) -> PairAnswers:
        Hull.answer(hull, below, coins)
        return PairAnswers(hull.connected)

    assert math.inf in losses(flips_of((INSIDE, INSIDE, OUTSIDE), 3, exact))


def test_the_mutant_that_answers_connected_pairs_alone_draws_other_coins_for_other_graphs() -> None:
    """Toggling a pair inside a group must move neither P̂ nor how many coins are drawn."""

    def coins_drawn(connected: list[tuple[int, int]], groups: list[tuple[int, int]]) -> int:
        drawn: list[int] = []
        hull_of(3, connected, groups).answer(QUARTER, lambda size: drawn.append(size) or bytes(size))
        return sum(drawn)

    groups = [(0, 1), (1, 2)]
    for connected in ([], [(0, 1)], [(0, 1), (1, 2)]):
        assert coins_drawn(connected, groups) == 6
        assert coins_drawn(connected, [pair for pair in groups if pair in connected]) == 3 * len(connected)


# --- Counts are unbiased, and vary as the formula says


def sums_of(case: Case, n: int, k: int, *, in_bits: bool = False) -> NDArray[np.float64]:
    """The counts, before they are rounded, for all sets of answers: shape (2^pairs, n)."""
    answers = subsets(len(inside_of(case, n)))
    hull = copies(case, n, np.zeros_like(answers))  # sums follow from answers and outside connections alone
    hull.in_bits = in_bits
    yes = answers.ravel()
    sums = hull.four_cliques(yes, WEIGHTS) if k == 4 else hull.triangles(yes, [WEIGHTS], V)[0].sums
    return sums.reshape(len(answers), n)


def means(values: NDArray[np.float64], flipped: float = 0.25) -> NDArray[np.float64]:
    """Over the answers of each graph: values by set of answers become means by set of connected pairs."""
    size = len(values).bit_length() - 1
    shaped = values.reshape((2,) * size + values.shape[1:])
    chances = np.array([[1 - flipped, flipped], [flipped, 1 - flipped]])
    for axis in range(size):
        shaped = np.moveaxis(np.tensordot(chances, shaped, (1, axis)), 0, axis)
    return shaped.reshape(values.shape)


def truths(case: Case, n: int, k: int) -> tuple[Ints, NDArray[np.float64]]:
    """Γ, and the variance of the counts, for every set of connected pairs: shape (2^pairs, n)."""
    inside = inside_of(case, n)
    outside = [pair for pair, kind in zip(pairs_of(n), case, strict=True) if kind == OUTSIDE]
    counts, variances = [], []
    for row in subsets(len(inside)):
        edges = [*outside, *(pair for pair, there in zip(inside, row, strict=True) if there)]
        graph = naive.graph_of(edges, isolated=range(n))
        of_vertices = naive.clique_counts(graph, k)
        counts.append([of_vertices[v] for v in range(n)])
        variances.append([float(naive.variance_from_pair_answers(graph, set(inside), k, F4, v)) for v in range(n)])
    return np.array(counts), np.array(variances)


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_counts_are_unbiased_and_their_variance_is_that_of_the_formula_in_every_graph(n: int, k: int) -> None:
    """Exactly: all 4,096 pairs of graph and P̂ on four vertices; of the cases of five all at length, else a part."""
    for case in cases(n)[:: usual_or_thorough(15, 1) if n == 5 else 1]:
        sums = sums_of(case, n, k)
        counts, variances = truths(case, n, k)
        assert (means(sums) == counts).all()
        assert (means(sums**2) - counts**2 == variances).all()
        if k == 3:
            connected = subsets(len(inside_of(case, n)))
            hull = copies(case, n, connected)
            (truth,) = hull.triangles(connected.ravel(), [(0.0, 1.0, 1.0)], V)
            assert (truth.sums == counts.ravel()).all()
            assert (truth.variances == variances.ravel()).all()


@pytest.mark.parametrize("n", [3, 4])
def test_the_published_error_is_unbiased_for_the_variance_and_bits_count_as_lists_do(n: int) -> None:
    for case in cases(n)[::2]:
        if not inside_of(case, n):
            continue
        answers = subsets(len(inside_of(case, n)))
        hull = copies(case, n, np.zeros_like(answers))
        (listed,) = hull.triangles(answers.ravel(), [WEIGHTS], V)
        hull.in_bits = True
        (in_bits,) = hull.triangles(answers.ravel(), [WEIGHTS], V)
        assert (in_bits.sums == listed.sums).all()
        assert np.allclose(in_bits.variances, listed.variances, rtol=0, atol=1e-12)
        _, variances = truths(case, n, 3)
        assert np.allclose(means(listed.variances.reshape(len(answers), n)), variances, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [4, 5])
def test_the_part_of_the_variance_that_a_warning_of_four_cliques_rests_on_is_never_more_than_all_of_it(n: int) -> None:
    """On four vertices every set of pairs changes one clique at most, and the part is the whole."""
    mechanism = Critical(k=4, epsilon=1, n=n)
    vars(mechanism)["flips"] = Flips(n, QUARTER)
    seen = 0
    for case in cases(n)[:: usual_or_thorough(15, 1) if n == 5 else 2]:
        if not inside_of(case, n):
            continue
        answers = subsets(len(inside_of(case, n)))
        hull = copies(case, n, np.zeros_like(answers))
        facts: Any = SimpleNamespace(protected_graph=lambda hull=hull: hull)
        given: Any = SimpleNamespace(yes=answers.ravel())
        parts = mechanism.least_variances(hull.four_cliques(given.yes, mechanism.weights), given, facts)
        found, (_, variances) = means(parts.reshape(len(answers), n)), truths(case, n, 4)
        assert (found <= variances + 1e-9).all()
        assert n == 5 or np.allclose(found, variances, rtol=0, atol=1e-9)
        seen += bool(variances.any())
    assert seen


def test_the_mutant_that_flips_where_it_should_not_is_biased() -> None:
    """f for 1-f: the weights are then those of the wrong chance."""
    sums, (counts, _) = sums_of((INSIDE, INSIDE, OUTSIDE), 3, 3), truths((INSIDE, INSIDE, OUTSIDE), 3, 3)
    assert (means(sums) == counts).all()
    assert (means(sums, flipped=0.75) != counts).any()


def test_the_mutant_that_answers_pairs_outside_groups_too_makes_counts_uncertain_that_are_exact() -> None:
    """A triangle apart from the only group: its counts are exact whatever is answered."""
    edges = [(0, 1), (0, 2), (1, 2)]
    graph = naive.graph_of(edges, isolated=range(5))
    for groups, exact in (([(3, 4)], True), ([(3, 4), *edges], False)):
        hull = hull_of(5, edges, groups)
        answers = [hull.answer(QUARTER, lambda size, byte=byte: bytes([byte]) * size) for byte in (0, 255)]
        sums = [hull.triangles(each.yes, [WEIGHTS], V)[0].sums for each in answers]
        assert all((each[:3] == 1).all() for each in sums) == exact
        assert naive.clique_counts(graph, 3)[0] == 1


# --- Larger graphs against the twin; what is said of errors


@pytest.mark.parametrize("seed", range(12))
def test_counts_of_random_graphs_are_those_of_the_definition_as_lists_and_in_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, f = int(rng.integers(5, 11)), Fraction(1, 3)
    edges = [pair for pair in pairs_of(n) if rng.random() < 0.5]
    groups = [sorted(rng.choice(n, int(rng.integers(1, 5)), replace=False).tolist()) for _ in range(4)]
    hull, graph = hull_of(n, edges, groups), naive.graph_of(edges, isolated=range(n))
    pairs = naive.pairs_inside(groups)
    yes = rng.random(hull.pair_count) < 0.5
    answered = {pair for pair, said in zip(sorted(pairs), yes, strict=True) if said}
    weights, v = (-1.0, 2.0, 1.0), float(naive.answer_variance(f))
    expected = [[naive.counts_from_pair_answers(graph, pairs, answered, k, f, w) for w in range(n)] for k in (3, 4)]
    for in_bits in (False, True):
        hull.in_bits = in_bits
        answer = hull.triangles(yes, [weights], v)[0]
        truth = hull.triangles(hull.connected, [(0.0, 1.0, 1.0)], v)[0]
        assert np.allclose(answer.sums, np.array(expected[0], float))
        variances = [float(naive.variance_from_pair_answers(graph, pairs, 3, f, w)) for w in range(n)]
        assert np.allclose(truth.variances, variances)
        assert math.isclose(
            truth.variance_of_total, naive.variance_from_pair_answers(graph, pairs, 3, f), rel_tol=1e-9, abs_tol=1e-9
        )
    assert np.allclose(hull.four_cliques(yes, weights), np.array(expected[1], float))
    for k in (3, 4):
        every = naive.cliques(naive.with_pairs(graph, pairs), k)
        touched = [clique for clique in every if pairs & set(combinations(sorted(clique), 2))]
        assert hull.untouched(k) == n - len(set().union(*touched))


def facts_of(n: int, edges: list[tuple[int, int]], groups: list[list[int]]) -> CountedGraph:
    hull = hull_of(n, edges, groups)
    rows = hull.protected.rows
    return CountedGraph(hull.protected.graph, Groups(rows.starts, rows.members))


def test_two_sizes_of_cliques_are_counted_on_the_same_answers_and_counts_are_whole_numbers() -> None:
    facts = facts_of(6, pairs_of(5), [[0, 1, 2], [4, 5]])
    three, four = (Critical(k=k, epsilon="1", n=6) for k in (3, 4))
    answers = three.answered(facts, SimulatedNoise.seeded(3))
    for mechanism in (three, four):
        drawn = mechanism.compute(answers, facts)
        unrounded, _ = mechanism.unrounded(answers, facts)
        assert all(type(count) is int for count in (*drawn.counts, drawn.record["total"]))
        assert any(not float(x).is_integer() for x in unrounded)
        assert list(drawn.counts) == [round(x) for x in unrounded.tolist()]
        assert drawn.record["total"] == round(math.fsum(unrounded) / mechanism.k)  # from what is not rounded yet


@pytest.mark.parametrize("k", [3, 4])
def test_counts_that_no_pair_inside_a_group_can_change_are_those_of_the_graph(k: int) -> None:
    facts, mechanism = facts_of(6, pairs_of(5), [[4, 5]]), Critical(k=k, epsilon="1", n=6)
    answers = mechanism.answered(facts, SimulatedNoise.seeded(3))
    drawn = mechanism.compute(answers, facts)
    assert drawn.counts == [math.comb(4, k - 1)] * 5 + [0]


def test_the_error_before_the_spend_follows_from_groups_and_outside_connections_alone() -> None:
    edges, groups = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)], [[0, 1, 2]]
    told = []
    for connected in subsets(3):
        inside = [pair for pair, there in zip([(0, 1), (0, 2), (1, 2)], connected, strict=True) if there]
        facts = facts_of(5, [*edges[3:], *inside], groups)
        mechanism = Critical(epsilon="2", n=5)
        told.append(mechanism.utility(facts))
        truth = mechanism.owner_figures(facts)
        assert told[-1].least_error <= truth["standardErrors"]["largest"] + 1e-12  # type: ignore[operator]
    assert len(set(told)) == 1
    assert 0 < told[0].least_error < told[0].most_error  # type: ignore[operator]


def test_groups_without_a_pair_and_what_is_beyond_memory_or_time_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = Critical(epsilon="1", n=4)
    alone = facts_of(4, [(0, 1)], [[0], [1]])
    with pytest.raises(GraphError, match="No pair of vertices lies inside a group"):
        mechanism.check_facts(alone)
    facts = facts_of(4, [(0, 1)], [[0, 1, 2, 3]])
    mechanism.check_facts(facts)
    for k, limit, why in ((3, "MEMORY", "GB"), (3, "STEPS", "steps"), (4, "MEMORY", "GB"), (4, "STEPS", "steps")):
        monkeypatch.setattr(f"pcneo.counting.protected.hull.{limit}", 5)
        with pytest.raises(GraphError, match=f"protect 6 pairs of vertices; counting {k}-cliques.*{why}"):
            Critical(k=k, epsilon="1", n=4).check_facts(facts_of(4, pairs_of(4), [[0, 1, 2, 3]]))
        monkeypatch.undo()


@pytest.mark.parametrize("in_bits", [False, True])
def test_the_way_in_which_triangles_are_counted_follows_from_the_protected_graph(in_bits: bool) -> None:
    """Where all are one group bits take fewer steps, where groups are few lists do; the graph plays no part."""
    n = 200
    groups = [list(range(n))] if in_bits else [[0, 1]]
    for edges in ([(0, 1)], []):
        hull = hull_of(n, edges, groups)
        hull.check(3)
        assert hull.in_bits == in_bits


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"epsilon": "0.0009"}, "from 0.001 to 16"),
        ({"epsilon": "16.1"}, "from 0.001 to 16"),
        ({"epsilon": "nan"}, "epsilon must be"),
        ({"k": 5}, "k must be a whole number from 3 to 4"),
        ({"k": 2}, "k must be a whole number"),
        ({"delta": "1e-6"}, "has no delta"),
        ({"h": 3}, "has no h"),
        ({"epsilon_1": "0.1"}, "has no epsilon 1"),
    ],
)
def test_what_is_out_of_range_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        mechanism_of("critical", **{"epsilon": "1", "n": 9, **changed})
