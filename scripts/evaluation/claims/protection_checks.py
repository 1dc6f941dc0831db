"""Checks of protection: what the worst connection loses, and how much of a vertex's view lies inside its cohesion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evaluation.cells import Switches
from evaluation.claims.comparing import clearly, ratio
from evaluation.claims.judging import Check, Outcome
from evaluation.claims.settings import Panel, Setting, at_settings, compared, setting
from evaluation.experiments import ALL, LOSSES, P_VALUES
from evaluation.finished_cells import Finished
from evaluation.results import Errors, mean_of

Point = tuple[str, int, str]
"""Graph, k and ε of a loss."""

Pairs = Literal["connections", "connections_inside"]


def _loss(finished: Finished, mechanism: str, switches: Switches, at: Point, pairs: Pairs) -> float | None:
    """The largest loss of all connections, or of those inside groups; None where it is missing."""
    graph, k, epsilon = at
    losses = finished.losses.only(mechanism=mechanism, graph=graph, k=k, epsilon=epsilon, switches=switches)
    return None if losses is None or "refused" in losses else losses.get(pairs)


def _balances(finished: Finished, switches: Switches) -> Outcome | None:
    loss = _loss(finished, "published", switches, ("HepTh", 3, "10"), "connections_inside")
    if loss is None:
        return None

    def outcome(pairs: Panel) -> Outcome:
        ((_, published, elv),) = pairs
        signs = [clearly(published, elv) - clearly(elv, published), 1 if loss <= 9 else -1]
        return Outcome.of(
            signs,
            f"expected error of elv over that of published ×{_ratio(elv, published):.3g}; "
            f"the worst connection inside a group loses {loss:.3g}, ε2 = 9",
        )

    return compared([setting("HepTh", 3, "10")], outcome)(finished, switches)


def _ratio(errors: Errors, of: Errors) -> float:
    return ratio(mean_of(errors, "expected").value, mean_of(of, "expected").value)


BALANCES: Check = _balances
"""At p = 0.1 the error is smaller than that of `elv`, and connections inside groups lose at most ε2."""


def whole_neighbourhoods(graph: str, k: int) -> Check:
    """Beyond p = 0.4, 90 % of the vertices have all their connections in their cohesion."""

    def share_at(finished: Finished, at: Setting) -> float | None:
        errors = finished.releases.only(mechanism="published", switches=(), **at)
        return None if errors is None or "refused" in errors else errors.get("whole_neighbourhoods")

    def outcome(shares: list[tuple[Setting, float]]) -> Outcome:
        text = ", ".join(f"{at['p']}: {share:.0%}" for at, share in shares)
        holds = all(share >= 0.9 for _, share in shares)
        return Outcome(holds, f"share of vertices with all their connections: {text}")

    return at_settings([setting(graph, k, "10", p=p) for p in P_VALUES[4:]], share_at, outcome)


def views_inside(graph: str, ps: Sequence[str]) -> Check:
    """99 % of the local views lie inside their cohesions, at each p."""

    def share_at(finished: Finished, p: str) -> float | None:
        result = finished.subsets.only(graph=graph, p=p)
        return None if result is None else result["views_inside"]

    def outcome(shares: list[tuple[str, float]]) -> Outcome:
        text = ", ".join(f"{p}: {share:.1%}" for p, share in shares)
        return Outcome(all(share >= 0.99 for _, share in shares), f"share of local views inside their cohesion: {text}")

    return at_settings(ps, share_at, outcome)


def _by_graph(losses: Sequence[tuple[Point, float]]) -> str:
    return ", ".join(f"{graph} {loss:.3g}" for (graph, _, _), loss in losses)


def _four_thirds(losses: list[tuple[Point, float]]) -> Outcome:
    good = sum(loss <= 9 for _, loss in losses)
    return Outcome(good == len(losses), f"at most ε2 = 9 on {good} of {len(losses)}: {_by_graph(losses)}")


FOUR_THIRDS_PROTECTS = at_settings(
    [(name, 4, "10") for name in ALL],
    lambda finished, at: _loss(finished, "elv", ("four-thirds",), at, "connections"),
    _four_thirds,
)
"""With λ4 = 4/3 λ3, the worst connection of each graph loses at most ε2."""


def promise_kept(pairs: Pairs) -> Check:
    """With `published`, none of all connections, or of those inside groups, loses more than ε2."""

    def outcome(losses: list[tuple[Point, float]]) -> Outcome:
        texts, good = [], 0
        for k, epsilon in LOSSES:
            of_setting = [(at, loss) for at, loss in losses if at[1:] == (k, epsilon)]
            within = 0.9 * float(epsilon)
            good += sum(loss <= within for _, loss in of_setting)
            texts.append(f"k={k}, ε2={within:g}: {_by_graph(of_setting)}")
        return Outcome(good == len(losses), f"at most ε2 at {good} of {len(losses)}; {'; '.join(texts)}")

    points = [(name, k, epsilon) for k, epsilon in LOSSES for name in ALL]
    return at_settings(points, lambda finished, at: _loss(finished, "published", (), at, pairs), outcome)
