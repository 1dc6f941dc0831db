"""What an audit makes of losses, scales and counts: quantiles, simulated scales, two sets of scales, and words."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from pcneo.cli.console import print_json
from pcneo.privacy.advice import Fit, advise
from pcneo.privacy.log_ratios import phase_1_loss
from pcneo.privacy.mechanisms import Edge
from pcneo.privacy.quantiles import quantiles, worst_places
from pcneo.privacy.simulated_scales import simulate
from pcneo.release.audit import AuditResult, Losses, PairLoss

INFINITE = math.inf

# --- Quantiles and worst pairs


def test_quantiles_are_losses_that_occur() -> None:
    losses = np.arange(1, 201, dtype=float)
    assert quantiles(losses) == (100, 180, 198, 200)
    assert quantiles(np.array([3.0])) == (3, 3, 3, 3)
    assert quantiles(np.array([])) == (0, 0, 0, 0)


def test_an_infinite_loss_shows_in_the_quantiles_it_reaches_and_in_no_other() -> None:
    losses = np.array([1.0] * 98 + [INFINITE] * 2)
    assert quantiles(losses) == (1, 1, INFINITE, INFINITE)


def test_worst_places_come_largest_first_and_leave_out_what_costs_nothing() -> None:
    losses = np.array([0, 2, INFINITE, 5, 2, 0], float)
    assert worst_places(losses, 10) == [2, 3, 1, 4]
    assert worst_places(losses, 2) == [2, 3]
    assert worst_places(np.zeros(3), 2) == []
    assert worst_places(np.ones(5), 2) == [0, 1]
    assert worst_places(np.zeros(0), 2) == []


# --- Simulated scales


def test_simulated_scales_repeat_and_are_quantiles() -> None:
    mechanism = Edge.make(k=3, epsilon=1, n=5_000)
    scales = simulate(lambda noise: mechanism.scale(10, noise), 400)
    again = simulate(lambda noise: mechanism.scale(10, noise), 400)
    assert scales == again
    assert scales.low < scales.median < scales.high
    assert scales.median == pytest.approx(mechanism.expected_scale(10), rel=0.05)

    values = iter(map(Fraction, [5, 1, 4, 2, 3, *range(6, 21)]))
    assert simulate(lambda noise: next(values), 20) == type(scales)(20, Fraction(1), Fraction(10), Fraction(19))


# --- Two graphs, each with cohesions of its own


def test_the_first_phase_loses_what_all_degrees_and_the_h_worst_answers_change_by() -> None:
    degrees = np.array([5, 5, 0, 9]), np.array([4, 7, 0, 9])
    common = np.array([3, 0, 8, 1]), np.array([1, 0, 3, 2])
    assert phase_1_loss(degrees, common, Fraction(4), Fraction(6), 2) == pytest.approx(3 / 4 + 7 / 6)
    assert phase_1_loss(degrees, common, Fraction(4), Fraction(6), 4) == pytest.approx(3 / 4 + 8 / 6)
    assert phase_1_loss((degrees[0], degrees[0]), (common[0], common[0]), Fraction(4), Fraction(6), 2) == 0


# --- Words


def fit(name: str, expected: float) -> Fit:
    usual = None if name == "critical" else expected / 2
    return Fit(name, usual, expected * 0.9, expected, expected * 1.1, expected / 10_000)


def test_critical_is_advised_where_it_needs_less_noise_and_what_it_leaves_open_is_said() -> None:
    text = advise([fit("critical", 50), fit("edge", 200), fit("elv", 400)], 0.278)
    assert "critical fits this graph if it is the pairs inside groups that must be protected" in text
    assert "with 25.0% of edge's error" in text
    assert "72.2% of the connections without any protection" in text
    assert "take edge" in text
    assert "edge is expected to be the more exact here, with 50.0% of elv's error" in text
    assert "0.500% of the total" in text
    assert "(180.00 to 220.00 in 90 % of the simulations" in text
    assert "(the same in 90 % of the simulations" in advise([Fit("edge", 1, 2, 2, 2, None)], None)


def test_the_better_of_the_others_is_advised_where_critical_needs_no_less_noise() -> None:
    text = advise([fit("critical", 500), fit("edge", 200), fit("elv", 100)], 0.5)
    assert "elv fits this graph" in text
    assert "it would protect 50.0% of the connections only" in text


def test_without_groups_critical_is_not_judged() -> None:
    text = advise([fit("edge", 200), fit("elv", 400)], None)
    assert "critical was not looked at" in text


def test_where_only_critical_can_be_drawn_it_is_said() -> None:
    text = advise([fit("critical", 500)], 1.0)
    assert "critical alone can be had: the noise of edge and elv could be too large to be drawn" in text


def test_different_promises_are_never_compared_without_saying_so() -> None:
    for fits in ([fit("critical", 5), fit("edge", 2), fit("elv", 1)], [fit("edge", 2), fit("elv", 1)]):
        assert advise(fits, 0.5).endswith(
            "At equal ε, promises differ: critical takes the groups and all other connections as given."
        )


# --- JSON


def test_the_result_is_plain_json_without_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    losses = Losses(3, None, (0.0, 1.5, INFINITE, INFINITE), None, (PairLoss((1, "a"), True, INFINITE),))
    result = AuditResult(
        "notice", "g", None, None, None, "edge", "promise", 3, 1.0, 1e-6, None, None, 0, None, losses,
        simulate(lambda noise: Fraction(1, 3), 20), None, (fit("edge", 2),), "advice",
    )  # fmt: skip
    print_json(result)
    plain = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert next(iter(plain)) == "notice"
    assert plain["connections"]["quantiles"] == [0, 1.5, "infinite", "infinite"]
    assert plain["connections"]["worst"] == [{"pair": [1, "a"], "connected": True, "loss": "infinite"}]
    assert plain["scales"]["median"] == pytest.approx(1 / 3)
    assert plain["run"] is None
