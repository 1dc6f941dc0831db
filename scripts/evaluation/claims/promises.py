"""Checks of what is protected, what a connection loses, and why errors come to those without protection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.claims.comparing import clearly
from evaluation.claims.judging import Check, Outcome
from evaluation.claims.settings import Panel, at_each, compared, setting
from evaluation.experiments import ALL, LOSSES, P_VALUES
from evaluation.finished_cells import Finished

__all__ = ["BALANCES", "FOUR_THIRDS_PROTECTS", "promise_kept", "views_inside", "whole_neighbourhoods"]

Found = list[tuple[dict[str, Any], float]]


def _balances(finished: Finished, switches: tuple[str, ...]) -> Outcome | None:
    loss = finished.one(kind="loss", mechanism="published", graph="HepTh", k=3, epsilon="10", switches=switches)
    if loss is None or "connections_inside" not in loss:
        return None

    def outcome(pairs: Panel) -> Outcome:
        ((_, published, elv),) = pairs
        signs = [clearly(published, elv) - clearly(elv, published), 1 if loss["connections_inside"] <= 9 else -1]
        return Outcome.of(
            signs,
            f"error {published['total']:.3g}, of elv {elv['total']:.3g}; the worst connection inside a set loses "
            f"{loss['connections_inside']:.3g}, ε2 = 9",
        )

    return compared([setting("HepTh", 3, "10")], outcome)(finished, switches)


BALANCES: Check = _balances
"""At p = 0.1 the error is smaller than that of `elv`, and connections inside sets lose at most ε2."""


def whole_neighbourhoods(graph: str, k: int) -> Check:
    """Beyond p = 0.4, 90 % of the vertices have all their connections in their set."""

    def outcome(found: Found) -> Outcome:
        text = ", ".join(f"{cell['p']}: {share:.0%}" for cell, share in found)
        return Outcome(all(share >= 0.9 for _, share in found), f"share of vertices with all their connections: {text}")

    same: dict[str, Any] = {"kind": "release", "mechanism": "published", "switches": ()}
    return at_each([{**same, **setting(graph, k, "10", p=p)} for p in P_VALUES[4:]], "whole_neighbourhoods", outcome)


def views_inside(graph: str, ps: Sequence[str]) -> Check:
    """99 % of the local views lie inside their cohesions, at each p."""

    def outcome(found: Found) -> Outcome:
        text = ", ".join(f"{cell['p']}: {share:.1%}" for cell, share in found)
        return Outcome(all(share >= 0.99 for _, share in found), f"share of local views inside their cohesion: {text}")

    return at_each([{"kind": "subsets", "graph": graph, "p": p} for p in ps], "views_inside", outcome)


def _losses(found: Found) -> str:
    return ", ".join(f"{cell['graph']} {loss:.3g}" for cell, loss in found)


def _four_thirds(found: Found) -> Outcome:
    good = sum(loss <= 9 for _, loss in found)
    return Outcome(good == len(found), f"at most ε2 = 9 on {good} of {len(found)}: {_losses(found)}")


FOUR_THIRDS_PROTECTS = at_each(
    [
        {"kind": "loss", "mechanism": "elv", "graph": name, "k": 4, "epsilon": "10", "switches": ("four-thirds",)}
        for name in ALL
    ],
    "connections",
    _four_thirds,
)
"""With λ4 = 4/3 λ3, the worst connection of each graph loses at most ε2."""


def promise_kept(connections: str) -> Check:
    """None of all connections, or of those inside groups, loses more than ε2."""

    def outcome(found: Found) -> Outcome:
        texts, good = [], 0
        for k, epsilon in LOSSES:
            losses = [(cell, loss) for cell, loss in found if (cell["k"], cell["epsilon"]) == (k, epsilon)]
            within = 0.9 * float(epsilon)
            good += sum(loss <= within for _, loss in losses)
            texts.append(f"k={k}, ε2={within:g}: {_losses(losses)}")
        return Outcome(good == len(found), f"at most ε2 at {good} of {len(found)}; {'; '.join(texts)}")

    same: dict[str, Any] = {"kind": "loss", "mechanism": "published", "switches": ()}
    cells = [{**same, "graph": name, "k": k, "epsilon": epsilon} for k, epsilon in LOSSES for name in ALL]
    return at_each(cells, connections, outcome)
