"""`modelled`: its promise over every graph of four vertices, by brute force, and its model (GUARANTEE.md#modelled)."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import discrete_laplace
import naive
import numpy as np
import pytest
from lengths import examples, usual_or_thorough

from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy import degree_model, laplace
from pcneo.privacy.degree_model import DegreeModel
from pcneo.privacy.mechanisms import Modelled, mechanism_of, modelled
from pcneo.privacy.noise import SimulatedNoise, handed_scale

F = Fraction
Edges = frozenset[tuple[int, int]]


@cache
def every_graph(n: int) -> list[Edges]:
    pairs = list(combinations(range(n), 2))
    return [frozenset(chosen) for size in range(len(pairs) + 1) for chosen in combinations(pairs, size)]


def twin(n: int, edges: Edges) -> naive.Graph:
    return naive.graph_of(edges, isolated=range(n))


def facts(n: int, edges: Edges) -> CountedGraph:
    ends = sorted(edges)
    return CountedGraph(graph_from_edges(range(n), [a for a, _ in ends], [b for _, b in ends]))


@cache
def counts(n: int, edges: Edges, k: int) -> tuple[int, ...]:
    counted = naive.clique_counts(twin(n, edges), k)
    return tuple(counted[v] for v in range(n))


@cache
def degrees(n: int, edges: Edges) -> tuple[int, ...]:
    graph = twin(n, edges)
    return tuple(len(graph[v]) for v in range(n))


@cache
def common(n: int, edges: Edges, a: int, b: int) -> int:
    graph = twin(n, edges)
    return len(graph[a] & graph[b])


def largest_common(n: int, edges: Edges) -> int:
    return max(common(n, edges, *pair) for pair in combinations(range(n), 2))


def toggles(n: int) -> Iterator[tuple[Edges, Edges, tuple[int, int]]]:
    for edges in every_graph(n):
        for pair in combinations(range(n), 2):
            yield edges, edges ^ {pair}, pair


def partitions(vertices: Sequence[int]) -> Iterator[list[list[int]]]:
    if not vertices:
        yield []
        return
    first, *rest = vertices
    for partition in partitions(rest):
        yield [[first], *partition]
        for i in range(len(partition)):
            yield [*partition[:i], [first, *partition[i]], *partition[i + 1 :]]


# --- The proof, step by step


@pytest.mark.parametrize("n", [3, 4, usual_or_thorough(4, 5)])
def test_the_degrees_cost_epsilon_0_exactly(n: int) -> None:
    mechanism = Modelled(epsilon=2, n=n)
    for here, there, _ in toggles(n):
        moved = sum(abs(x - y) for x, y in zip(degrees(n, here), degrees(n, there), strict=True))
        assert moved / mechanism.degree_scale == mechanism.epsilon_0


@pytest.mark.parametrize("k", [3, 4])
def test_total_and_sums_over_any_classes_cost_at_most_the_rest_at_every_bound_that_holds(k: int) -> None:
    """Whatever classes were made of the degrees; where there are none the total has all of ε2."""
    n = 4  # of the graphs; that of the mechanism only matters for the clamp
    mechanism = Modelled(k=k, epsilon=2, n=5000, delta=F(1, 100), epsilon_1=F(1, 10), epsilon_0=1)
    worst = {True: F(0), False: F(0)}
    for here, there, pair in toggles(n):
        change = [x - y for x, y in zip(counts(n, here, k), counts(n, there, k), strict=True)]
        of_total = F(abs(sum(change)), k)
        for bound in range(common(n, here, *pair), n - 1):
            worst[False] = max(worst[False], of_total / mechanism.total_scale(bound, 0))
            beside = of_total / mechanism.total_scale(bound, 7)
            for classes in partitions(range(n)):
                of_sums = F(sum(abs(sum(change[v] for v in members)) for members in classes))
                worst[True] = max(worst[True], beside + of_sums / mechanism.class_scale(bound))
    assert worst == {True: mechanism.epsilon_2, False: mechanism.epsilon_2}


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("3", "0.05"), ("30", "0.3")])
def test_the_bound_fails_with_a_probability_of_at_most_delta(epsilon: str, delta: str) -> None:
    """C* is below cn(a,b) where the noise is; in decimals, over every graph and pair."""
    for n in range(2, usual_or_thorough(5, 6)):
        mechanism = Modelled(epsilon=epsilon, n=n, delta=delta)
        first = F(handed_scale(1 / mechanism.epsilon_1))
        pad = laplace.pad(first, mechanism.delta)
        pairs = list(combinations(range(n), 2))
        cases = {(common(n, g, *pair), largest_common(n, g)) for g in every_graph(n) for pair in pairs}
        for shared, largest in cases:
            # C + X + pad < cn; the clamp at n - 2 is never lower than cn.
            assert discrete_laplace.cdf(shared - 1 - largest - pad, first) <= mechanism.delta


# --- The promise, exactly: every degree's noise, every scale, every total


def probability(x: int, scale: float) -> float:
    alpha = math.exp(-1 / scale)
    return (1 - alpha) / (1 + alpha) * alpha ** abs(x)


def chances_of_bounds(mechanism: Modelled, largest: int) -> dict[int, float]:
    first, chances = 1 / mechanism.epsilon_1, dict[int, float]()
    for x in range(-150, 151):
        bound = mechanism.bound(largest, SimulatedNoise(lambda scale, size, x=x: [x]))
        chances[bound] = chances.get(bound, 0.0) + probability(x, float(first))
    return chances


def ratios_of_degrees(here: Sequence[int], there: Sequence[int], scale: float) -> dict[float, float]:
    """How likely, under `here`, which probability of noisy degrees under `there` over that under `here` comes out."""
    of_all = {1.0: 1.0}
    for d, e in zip(here, there, strict=True):
        of_one: dict[float, float] = {}
        for x in range(-200, 201):
            p, q = probability(x - d, scale), probability(x - e, scale)
            ratio = round(q / p, 12)
            of_one[ratio] = of_one.get(ratio, 0.0) + p
        merged: dict[float, float] = {}
        for (r, p), (s, q) in product(of_all.items(), of_one.items()):
            merged[round(r * s, 12)] = merged.get(round(r * s, 12), 0.0) + p * q
        of_all = merged
    return of_all


def largest_excess(mechanism: Modelled, n: int, k: int) -> float:
    """The largest, over graphs and pairs, of the sum over outputs of P - e^ε·P', where positive; without classes."""

    @cache
    def excess(of: tuple[object, ...]) -> float:
        total, largest, other, other_largest, moves = of
        here, there = chances_of_bounds(mechanism, largest), chances_of_bounds(mechanism, other_largest)  # type: ignore[arg-type]
        ratios = ratios_of_degrees((0,) * n, moves, float(mechanism.degree_scale))  # type: ignore[arg-type]
        factor, found = math.exp(mechanism.epsilon), 0.0
        for bound, p in here.items():
            scale = float(mechanism.total_scale(bound, 0))
            for t in range(-100, 100):
                a, b = p * probability(t - total, scale), there.get(bound, 0.0) * probability(t - other, scale)  # type: ignore[operator]
                found += sum(chance * max(0.0, a - factor * ratio * b) for ratio, chance in ratios.items())
        return found

    cases = set()
    for here, there, _ in toggles(n):
        moves = tuple(sorted(y - x for x, y in zip(degrees(n, here), degrees(n, there), strict=True)))
        totals = [sum(counts(n, edges, k)) // k for edges in (here, there)]
        cases.add((totals[0], largest_common(n, here), totals[1], largest_common(n, there), moves))
    return max(map(excess, cases))


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4)])
def test_no_set_of_outputs_betrays_a_connection_by_more_than_is_promised(
    n: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modelled, "SMALL", 0)  # counts of 4-cliques are refused for so few vertices
    mechanism = Modelled(k=k, epsilon=3, n=n, delta=F(1, 20), epsilon_1=F(1, 2), epsilon_0=1)
    assert largest_excess(mechanism, n, k) <= mechanism.delta


class OneDegree(Modelled):
    """As if a connection changed one degree."""

    @property
    def degree_scale(self) -> Fraction:
        return 1 / self.epsilon_0


class CutTooLow(Modelled):
    """A bound of one common neighbour fewer than two vertices may have."""

    def _clamped(self, bound: int) -> int:
        return min(self.n - 3, bound)


class AllForTheTotal(Modelled):
    """As if the degrees cost nothing."""

    @property
    def epsilon_2(self) -> Fraction:
        return self.epsilon - self.epsilon_1


@pytest.mark.long
@pytest.mark.parametrize("mutant", [OneDegree, CutTooLow, AllForTheTotal])
def test_mutants_betray_a_connection(mutant: type[Modelled]) -> None:
    made, sound = (kind(epsilon=4, n=4, delta=F(1, 100), epsilon_1=F(1, 2), epsilon_0=1) for kind in (mutant, Modelled))
    assert largest_excess(made, 4, 3) > F(1, 100) >= largest_excess(sound, 4, 3)


# --- What is drawn, and what follows from it


class Script:
    """Hands out noise, and notes what was asked for."""

    def __init__(self, seed: int) -> None:
        self.rng, self.asked, self.drawn = random.Random(seed), list[tuple[Fraction, int]](), list[list[int]]()

    def __call__(self, scale: float, size: int) -> list[int]:
        self.asked.append((F(scale), size))
        self.drawn.append([self.rng.randint(-2, 2) for _ in range(size)])
        return self.drawn[-1]


def random_graph(seed: int) -> tuple[int, Edges]:
    rng = random.Random(seed)
    n = rng.randint(2, 12)
    density = rng.random()
    return n, frozenset(pair for pair in combinations(range(n), 2) if rng.random() < density)


@pytest.mark.parametrize("with_classes", [False, True])
def test_a_release_draws_four_times_and_equals_the_twin(with_classes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if with_classes:  # small graphs would have none
        monkeypatch.setattr(degree_model, "_TIMES", F(1, 10**6))
        monkeypatch.setattr(
            naive, "class_count", lambda degrees, k, scale: 10 if any(k - 1 <= D for D in degrees) else 0
        )
    seen = set()
    for seed in range(examples(60)):
        (n, edges), script = random_graph(seed), Script(seed)
        mechanism = Modelled(epsilon=8, n=n, delta=F(1, 100), epsilon_1=1, epsilon_0=4)
        drawn = mechanism.draw(facts(n, edges), SimulatedNoise(script))
        noisy = [d + x for d, x in zip(degrees(n, edges), script.drawn[0], strict=True)]
        pad = laplace.pad(F(1), mechanism.delta)
        bound = min(n - 2, largest_common(n, edges) + script.drawn[1][0] + pad)
        sensitivity = max(bound, 1)
        wanted = naive.class_count(noisy, 3, F(4 * sensitivity, 3))
        members = naive.degree_classes(noisy, 3, wanted) if wanted else []
        classes = len(members)
        scale = F(sensitivity, 3) * (4 if classes else 1)
        total = sum(counts(n, edges, 3)) // 3 + script.drawn[2][0]
        expected = naive.modelled(noisy, 3, total)
        asked = [(F(handed_scale(t)), size) for t, size in ((F(1, 2), n), (F(1), 1), (scale, 1))]
        if classes:
            of_class = F(4 * sensitivity, 3)
            asked.append((F(handed_scale(of_class)), classes))
            held = [sum(counts(n, edges, 3)[v] for v in each) for each in members]
            sums = [h + x for h, x in zip(held, script.drawn[3], strict=True)]
            expected = naive.drawn_to_classes(expected, members, sums, float(laplace.variance(of_class)))
        assert script.asked == asked
        assert mechanism.find_scale(facts(n, edges), SimulatedNoise(Script(seed))) == scale
        assert (drawn.record["total"], drawn.record["classes"], drawn.scale) == (total, classes, scale)
        assert drawn.columns["degree"] == noisy
        for count, value, degree in zip(drawn.counts, expected, noisy, strict=True):
            assert count == round(min(value, math.comb(max(degree, 0) + 1, 2)))
        assert len(set(zip(noisy, drawn.counts, strict=True))) == len(set(noisy)), "one count for each noisy degree"
        seen |= {wanted, classes}
    assert seen >= ({0, 2, 3, 10} if with_classes else {0})
    assert with_classes or seen == {0}


@pytest.mark.parametrize("k", [3, 4])
def test_the_model_equals_its_twin(k: int) -> None:
    rng = random.Random(k)
    for _ in range(examples(200)):
        noisy = [int(rng.paretovariate(0.7)) - rng.randint(0, 3) for _ in range(rng.randint(1, 60))]
        model, total, scale = DegreeModel(noisy, k), rng.randint(-50, 5000), F(rng.randint(1, 900), rng.randint(1, 9))
        expected = naive.modelled(noisy, k, total)
        assert model.counts(total).tolist() == pytest.approx(expected, rel=1e-9)
        assert model.class_count(scale) == naive.class_count(noisy, k, scale)
        if not any(D > 0 for D in noisy):
            continue
        count = rng.randint(1, 12)
        classes = naive.degree_classes(noisy, k, count)
        assert [members.tolist() for members in model.classes(count)] == classes
        assert len(classes) != 1
        assert all(classes)
        of_degree = [{max(noisy[v], 0) for v in members} for members in classes]
        assert sum(map(len, of_degree)) == len(set().union(*of_degree)), "no degree is in two classes"
        if not classes:
            continue
        sums, variance = [rng.randint(-20, 900) for _ in classes], 10 ** rng.uniform(-1, 6)
        shrunk = model.shrunk(np.array(expected), model.classes(count), sums, variance)
        assert shrunk.tolist() == pytest.approx(naive.drawn_to_classes(expected, classes, sums, variance), rel=1e-9)


def test_degrees_of_nothing_give_counts_of_nothing() -> None:
    model = DegreeModel([0, -3, 0], 3)
    assert model.counts(100).tolist() == [0.0, 0.0, 0.0]
    assert model.class_count(F(1, 10**9)) == 0


# --- Statistics


def test_degrees_and_total_are_right_on_average_and_vary_as_they_say() -> None:
    """2,000 releases with noise that is exact in law, of a graph of 40 vertices.

    Size: each of 41 means is compared at five standard errors, 3e-5 in all; the variances' ratio has a standard error
    of 0.05 for the total and less for the degrees, by kurtosis 6. Power: a scale wrong by a fifth moves it by 0.36.
    """
    rng = random.Random(3)
    edges = frozenset(pair for pair in combinations(range(40), 2) if rng.random() < 0.3)
    graph, mechanism, runs = facts(40, edges), Modelled(epsilon=3, n=40), 2_000
    noise = SimulatedNoise.seeded(11)
    drawn = [mechanism.draw(graph, noise) for _ in range(runs)]
    off = np.array([release.columns["degree"] for release in drawn]) - graph.degrees()
    variance = float(laplace.variance(mechanism.degree_scale))
    assert (np.abs(off.mean(axis=0)) < 5 * math.sqrt(variance / runs)).all()
    assert (off**2).mean() / variance == pytest.approx(1, abs=0.05)
    totals = np.array([release.record["total"] for release in drawn], float) - int(graph.counts(3).sum()) // 3
    told = np.array([release.record["standardErrorOfTotal"] for release in drawn])
    assert abs((totals / told).mean()) < 5 / math.sqrt(runs)
    assert ((totals / told) ** 2).mean() == pytest.approx(1, abs=0.25)


# --- Defaults and refusals


@pytest.mark.parametrize(("n", "of_degrees"), [(999, F(6, 10)), (1000, F(8, 10))])
def test_epsilon_is_split_by_the_number_of_vertices(n: int, of_degrees: Fraction) -> None:
    mechanism = Modelled(epsilon="0.5", n=n)
    assert mechanism.epsilon_0 == of_degrees / 2
    assert mechanism.epsilon_1 == F(3, 10) * (F(1, 2) - mechanism.epsilon_0)
    assert mechanism.epsilon_0 + mechanism.epsilon_1 + mechanism.epsilon_2 == mechanism.epsilon
    assert mechanism.entry == (F(1, 2), mechanism.delta)


def test_what_is_not_modelled_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"1,000 vertices and more, not for 999"):
        Modelled(k=4, epsilon=1, n=999)
    assert Modelled(k=4, epsilon=1, n=1000).k == 4
    with pytest.raises(ParameterError, match="from 3 to 4"):
        Modelled(k=5, epsilon=1, n=5000)
    with pytest.raises(ParameterError, match=r"must leave a part of epsilon for the total: 0\.6 and 0?\.?\d+ of"):
        Modelled(epsilon=1, epsilon_1="0.4", n=999)
    with pytest.raises(ParameterError, match="no h"):
        mechanism_of("modelled", epsilon=1, h=3, n=999)
    with pytest.raises(GraphError, match="no vertices"):
        Modelled(epsilon=1, n=0)
