"""`respond` as an object: the chance of a flip, exactly; what it refuses; what it reports before and after."""

from __future__ import annotations

import gzip
import math
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.errors import AnswerError, GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.graph.files.edge_list import read_edge_list
from pcneo.privacy import randomised_response
from pcneo.privacy.composition import NOTHING, Cost
from pcneo.privacy.mechanisms import Respond, mechanism_of
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.outlook import Public, Utility
from pcneo.privacy.randomised_response import WARNING, Flips, Yes, threshold_of
from pcneo.release.answers_file import write_answers

F = Fraction


@pytest.mark.parametrize("epsilon", ["0.001", "1/3", "0.7", "1", "2", "3", "5", "10", "15.99", "16"])
def test_the_chance_of_a_flip_is_the_least_that_keeps_the_promise(epsilon: str) -> None:
    a = threshold_of(F(epsilon))
    assert F(a, 2**24) == naive.flip_chance(F(epsilon))
    with_less = (2**24 - (a - 1)) / (a - 1)
    assert math.log((2**24 - a) / a) <= float(F(epsilon)) < math.log(with_less)
    assert 2 <= a < 2**23


def test_digits_are_added_until_the_chance_of_a_flip_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ε with which 2^24/(1+e^ε) is a hair above 1,000, and one with which it is a hair below."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 80
        exact = (Decimal(2**24 - 1000) / 1000).ln()
        above, below = exact - Decimal(10) ** -50, exact + Decimal(10) ** -50
    assert (threshold_of(F(above)), threshold_of(F(below))) == (1001, 1000)
    monkeypatch.setattr(randomised_response, "_quotient", lambda epsilon, digits, up: 1.5 + up)
    with pytest.raises(AnswerError, match="chance of a flip"):
        threshold_of(F(1))


def test_with_few_digits_the_bounds_on_the_chance_of_a_flip_still_hold() -> None:
    from decimal import Decimal, localcontext

    for epsilon in (F(i, 7) for i in range(1, 100)):
        with localcontext() as context:
            context.prec = 60
            exact = 2**24 / (1 + (Decimal(epsilon.numerator) / epsilon.denominator).exp())
        for digits in (2, 3, 5, 8):
            low, high = (randomised_response._quotient(epsilon, digits, up) for up in (False, True))
            assert low < exact < high


def test_both_ends_of_the_range_of_epsilon_are_in_it() -> None:
    assert [Respond(epsilon=epsilon, n=10).flips.below for epsilon in ("0.001", "16")] == [
        threshold_of(F(1, 1000)),
        threshold_of(F(16)),
    ]


@pytest.mark.parametrize("epsilon", ["0.0009", "0.000999", "16.001", "1e-9", "100", "1e299"])
def test_an_epsilon_outside_its_range_is_refused(epsilon: str) -> None:
    with pytest.raises(ParameterError, match=r"from 0\.001 to 16"):
        Respond(epsilon=epsilon, n=10)


@pytest.mark.parametrize("k", [5, 6, 100])
def test_a_k_that_nobody_checked_is_refused(k: int) -> None:
    with pytest.raises(ParameterError, match="k must be a whole number from 3 to 4"):
        Respond(k=k, epsilon=1, n=10)


@pytest.mark.parametrize("given", [{"delta": "0.1"}, {"epsilon_1": "0.1"}, {"h": 3}], ids=str)
def test_parameters_of_other_mechanisms_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="mechanism respond has no"):
        mechanism_of("respond", epsilon=1, **given)


def test_a_graph_without_pairs_and_one_that_takes_hours_are_refused() -> None:
    with pytest.raises(GraphError, match="no vertices"):
        Respond(epsilon=1, n=0)
    with pytest.raises(ParameterError, match="the graph has only one vertex"):
        Respond(epsilon=1, n=1)
    assert Respond(epsilon=1, n=65_536).n == 65_536
    with pytest.raises(ParameterError, match=r"65,537 vertices, .* MB of memory.* --large"):
        Respond(epsilon=1, n=65_537)
    assert Respond(epsilon=1, n=65_537, large=True).n == 65_537


def test_any_pair_costs_epsilon_and_no_delta() -> None:
    mechanism = Respond(epsilon="0.3", n=10)
    assert [mechanism.cost(*m) for m in ((0,), (1,), (0, 1), (2, 5))] == [
        NOTHING, Cost(F(3, 10)), Cost(F(3, 10)), Cost(F(21, 10)),
    ]  # fmt: skip


def test_what_it_takes_is_said_before_from_public_numbers_alone() -> None:
    mechanism = Respond(epsilon=1, n=34_546)
    said = mechanism.describe(Utility())
    assert "596,695,785 pairs" in said
    assert "about 160,556,058 yes-answers" in said
    assert "149 MB of memory" in said
    assert "less than 1 MB of memory and less than 1 MB of answers" in Respond(epsilon=1, n=80).describe(Utility())
    assert "ln(n/d) is 8.1 for n = 34,546 vertices and a guessed mean degree d = 10" in mechanism.answers_would_show()
    assert "WARNING" not in mechanism.answers_would_show()
    assert "WARNING" in Respond(epsilon="6.2", n=34_546).answers_would_show()


def test_of_four_people_no_mean_degree_is_guessed_that_they_cannot_have_and_no_negative_epsilon_is_named() -> None:
    said = Respond(epsilon="0.5", n=4).answers_would_show()
    assert said.startswith("ln(n/d) is 0.3 for n = 4 vertices and the largest possible mean degree d = 3, and ε is 0.5")
    assert said.endswith(f" No ε is below ln(n/d) - 2 here, so a smaller one would not help.{WARNING}")
    many = Respond(epsilon="6.2", n=34_546).answers_would_show()
    assert many.endswith(f" They show little of the graph only while ε is below ln(n/d) - 2.{WARNING}")


def test_of_connections_that_share_no_vertex_the_errors_are_foreseen_exactly() -> None:
    """There no two vertices have a common neighbour, so nothing of the variance depends on the graph."""
    mechanism = Respond(epsilon=1, n=10)
    foreseen, v = mechanism.foresee(Public(mean_degree=1)), mechanism.flips.variance
    assert foreseen.error == pytest.approx(math.sqrt(v**2 * (8 * 1 + 5 - 1) + v**3 * 36))
    assert foreseen.error_of_total == pytest.approx(math.sqrt(v**2 * 5 * 8 + v**3 * 120))


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.9])
def test_no_error_is_foreseen_above_the_true_one_and_the_number_of_triangles_brings_it_nearer(chance: float) -> None:
    rng = random.Random(3)
    drawn = [pair for pair in combinations(range(60), 2) if rng.random() < chance]
    graph = naive.graph_of(drawn, isolated=range(60))
    degree, count = 2 * len(drawn) / 60, sum(naive.clique_counts(graph, 3).values()) / 60
    for epsilon in (F(1), F(4)):
        mechanism, f = Respond(epsilon=epsilon, n=60), naive.flip_chance(epsilon)
        of_total = math.sqrt(naive.variance_of_all_triangles(graph, f))
        of_a_count = math.sqrt(sum(naive.variance_of_triangles(graph, f, v) for v in graph) / 60)
        plain, better = (mechanism.foresee(Public(degree, known)) for known in (None, count))
        assert plain.error is not None
        assert plain.error_of_total is not None
        assert plain.error <= (better.error or 0) <= of_a_count * (1 + 1e-12)
        assert plain.error_of_total <= (better.error_of_total or 0) <= of_total * (1 + 1e-12)
        assert (plain.error < (better.error or 0)) is (chance > 0.1), "where connected pairs share many neighbours"


def test_a_guessed_mean_degree_without_room_for_the_triangles_makes_no_error_too_large() -> None:
    """Copies of a complete graph of 41: 40 connections and 780 triangles at each vertex, but 10 connections guessed."""
    mechanism = Respond(epsilon=3, n=41 * 25)
    guessed, known = (mechanism.foresee(Public(degree, 780)) for degree in (10, 40))
    assert (guessed.error or 0) <= (known.error or 0)
    assert (guessed.error_of_total or 0) <= (known.error_of_total or 0)


def test_for_four_cliques_public_numbers_say_so_little_of_the_errors_that_none_are_published() -> None:
    """A ring of 60, each connected to the nearest ten on either side; the bound is less than a tenth of the truth."""
    ends = [(v, (v + step) % 60) for v in range(60) for step in range(1, 11)]
    facts = CountedGraph(graph_from_edges(range(60), *zip(*ends, strict=True)))
    mechanism, truth = Respond(k=4, epsilon=3, n=60), facts.counts(4)
    drawn = [mechanism.draw(facts, SimulatedNoise.seeded(seed)) for seed in range(8)]
    error = math.sqrt(np.mean([np.square(np.array(each.counts) - truth).mean() for each in drawn]))
    bound = mechanism.foresee(Public(20)).error
    assert bound is not None
    assert error > 10 * bound
    assert all(str(each.record["standardErrorsAre"]).startswith("not published") for each in drawn)
    assert not any("standardErrorOfTotal" in each.record or "standardError" in (each.columns or {}) for each in drawn)


def test_what_the_answers_show_is_said_after() -> None:
    graph = CountedGraph(graph_from_edges(range(100), *zip(*[(i, i + 1) for i in range(99)], strict=True)))
    mechanism = Respond(epsilon=5, n=100)
    drawn = mechanism.draw(graph, SimulatedNoise(lambda scale, size: [0] * size))
    # No coin is below a: the answers are the graph.
    f = mechanism.flips.f
    m = (99 - f * 4950) / (1 - 2 * f)
    assert drawn.record["yesAnswers"] == 99
    assert drawn.record["estimatedConnections"] == round(m)
    assert drawn.record["percentOfYesAnswersTrue"] == pytest.approx(100 * (1 - f) * m / 99)
    assert drawn.record["logOfVerticesOverMeanDegree"] == pytest.approx(math.log(100 / (2 * m / 100)))
    assert str(drawn.record["promise"]).endswith(" About 67 % of the 99 pairs answered yes are connections.")
    assert "WARNING" in mechanism.answers_would_show()
    assert "WARNING" not in drawn.remark, "it was given"
    assert "for n = 100 vertices and the mean degree that the answers estimate, d = 1.3" in drawn.remark
    assert "for n = 100 vertices and a guessed mean degree d = 10" in mechanism.answers_would_show()
    mild = Respond(epsilon=5, n=34_546)
    assert "WARNING" not in mild.answers_would_show()
    assert "WARNING" in mild.shown_by(Yes(mild.flips, mild.flips.pairs // 50)), "for the degree was guessed too small"


def test_shares_are_cut_and_a_mean_degree_is_never_0() -> None:
    flips = Flips(10, 2**22)  # f = 1/4 of 45 pairs
    assert (Yes(flips, 0).share_true, Yes(flips, 0).mean_degree) == (0, 0.2)
    assert Yes(flips, 5).share_true == 0
    assert Yes(flips, 45).share_true == pytest.approx(min(100, 75 * (45 - 11.25) / 0.5 / 45))
    assert Flips(10, 2).variance == pytest.approx(2 / 2**24, rel=1e-5)


def test_counts_that_cannot_be_right_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = AnsweredPairs.of_parts(3, [np.array([(0, 1), (0, 2), (1, 2)])])
    answers.rows[0, 0] ^= 4  # no longer symmetric
    with pytest.raises(AnswerError, match="counts of the answers"):
        answers.triangles()


# --- The file of answers


@pytest.mark.parametrize("keys", [[3, 5, 20, 100], ["a", 'b "c"', "d, e", "ø #"]], ids=str)
def test_the_answers_read_back_as_an_edge_list(tmp_path: Path, keys: list[int | str]) -> None:
    array = np.array(keys, np.int64 if isinstance(keys[0], int) else object)
    answers = AnsweredPairs.of_parts(4, [np.array([(0, 1), (0, 3), (2, 3)])])
    write_answers(tmp_path / "a.answers.gz", array, answers, {"yesAnswers": 3, "promise": "ε"})
    lines = gzip.decompress((tmp_path / "a.answers.gz").read_bytes()).decode().splitlines()
    assert lines[:2] == ["# yesAnswers: 3", "# promise: ε"]
    if isinstance(keys[0], int):
        assert lines[2:] == ["3 5", "3 100", "20 100"]
    (tmp_path / "a.edges").write_text("\n".join(lines) + "\n")
    file = read_edge_list(tmp_path / "a.edges", 10**6)
    pairs = {(file.keys[x], file.keys[y]) for x, y in zip(file.sources, file.targets, strict=True)}
    assert pairs == {(keys[0], keys[1]), (keys[0], keys[3]), (keys[2], keys[3])}
