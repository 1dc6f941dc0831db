"""What an owner is told of mechanisms on one graph, from losses and scales; none of it may be published.

(GUARANTEE.md#loss-of-one-connection.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.noise import Noise, SimulatedNoise

__all__ = [
    "QUANTILES",
    "SEED",
    "Fit",
    "PassedQuantiles",
    "Scales",
    "advise",
    "quantiles",
    "simulate",
    "worst_places",
]

QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""Of losses over pairs: the loss that so large a share of the pairs does not pass; the last is the largest."""

SEED = 1
"""Of everything that is drawn for an audit, which no release's noise is: a repeated audit repeats its numbers."""

Floats = NDArray[np.float64]


def quantiles(losses: Floats, shares: Sequence[float] = QUANTILES) -> tuple[float, ...]:
    """Return for each share the smallest loss that this share of all does not pass; 0 where there are none.

    They are losses that occur, never something between two: one of them may be infinite.
    """
    ascending = np.sort(losses)
    if not len(ascending):
        return (0.0,) * len(shares)
    return tuple(float(ascending[max(0, math.ceil(share * len(ascending)) - 1)]) for share in shares)


class PassedQuantiles:
    """The same of losses that are passed over in parts, `PASSES` times, and never held together.

    Doubles of 0 or more are ordered as their 63 lower bits are. In each pass the next of three digits of the quantiles
    is found, by counting the losses that have the digits before.
    """

    PASSES = 3
    _BITS = 63 // PASSES

    def __init__(self, count: int, shares: Sequence[float] = QUANTILES) -> None:
        """Ask for the quantiles of `count` losses."""
        self._places = [max(0, math.ceil(share * count) - 1) for share in shares]
        self._known = [0] * len(self._places)  # the digits found so far, as one number
        self._pass = 0
        self._counts = {0: np.zeros(1 << self._BITS, np.int64)}

    def add(self, losses: Floats) -> None:
        """Take a part of the losses; in every pass the same ones, in any order."""
        upper = losses.view(np.int64) >> (self._BITS * (self.PASSES - 1 - self._pass))
        for known, counts in self._counts.items():
            digits = upper[upper >> self._BITS == known] & ((1 << self._BITS) - 1)
            counts += np.bincount(digits, minlength=1 << self._BITS)

    def end_pass(self) -> None:
        """Go on to the next pass, once all losses were added."""
        for i, (place, known) in enumerate(zip(self._places, self._known, strict=True)):
            reached = np.cumsum(self._counts[known])
            digit = int(np.searchsorted(reached, place, side="right"))
            self._places[i] -= int(reached[digit - 1]) if digit else 0
            self._known[i] = known << self._BITS | digit
        self._pass += 1
        self._counts = {known: np.zeros(1 << self._BITS, np.int64) for known in set(self._known)}

    def found(self) -> tuple[float, ...]:
        """Return the quantiles, after the last pass."""
        return tuple(np.array(self._known, np.int64).view(np.float64).tolist())


def worst_places(losses: Floats, most: int) -> list[int]:
    """Return where the largest losses are, the largest first, ties by place; none whose loss is 0."""
    falling = np.argsort(-losses, kind="stable")[:most]
    return [int(i) for i in falling if losses[i] > 0]


# --- Mechanisms with one scale, which is random


@dataclass(frozen=True)
class Scales:
    """λ in simulated first phases.

    Attributes:
        phases: how many were simulated, with `SEED`.
        low, median, high: the 5 %, 50 % and 95 % quantiles of λ.
    """

    phases: int
    low: Fraction
    median: Fraction
    high: Fraction


def simulate(scale: Callable[[Noise], Fraction], phases: int) -> Scales:
    """Run a mechanism's first phase many times with simulated noise.

    Args:
        scale: runs it once, with the noise it is given, and returns λ.
        phases: how many times, at least 1.
    """
    noise = SimulatedNoise.seeded(SEED)
    found = sorted(scale(noise) for _ in range(phases))
    low, median, high = (found[max(0, math.ceil(share * phases) - 1)] for share in (0.05, 0.5, 0.95))
    return Scales(phases, low, median, high)


# --- Which mechanism fits


@dataclass(frozen=True)
class Fit:
    """How exact the total would be with one mechanism.

    Attributes:
        mechanism: its name.
        usual: standard error of the total at the λ of a graph without connections, a public one; None for `critical`.
        low, expected, high: at the 5 %, 50 % and 95 % quantiles of simulated λ; for `critical` all the same.
        relative: `expected` as a share of the exact total; None where that is 0.
    """

    mechanism: str
    usual: float | None
    low: float
    expected: float
    high: float
    relative: float | None


def advise(fits: Sequence[Fit], inside: float | None, refused: str | None = None) -> str:
    """Say in words, a line each, how exact the mechanisms would be and which one fits.

    Args:
        fits: those that can be had, of `critical`, `edge` and `elv`.
        inside: the share of connections that lie inside groups; None without groups or connections.
        refused: why `critical` cannot be had, where it was tried.
    """
    critical = next((fit for fit in fits if fit.mechanism == "critical"), None)
    nothing_given = sorted((fit for fit in fits if fit is not critical), key=lambda fit: fit.expected)
    lines = [f"{fit.mechanism}: expected standard error of the total {_errors(fit)}." for fit in fits]
    if len(nothing_given) > 1:
        best, other = nothing_given
        lines.append(
            f"Of the two that protect every connection with nothing given, {best.mechanism} is expected to be the more "
            f"exact here, with {_share(best, other)} error."
        )
    if refused is None:
        lines.append(_verdict(critical, nothing_given[0] if nothing_given else None, inside or 0.0))
    else:
        lines.append(f"critical cannot be had. {refused}")
    lines.append("At equal ε, promises differ: critical takes the groups and all other connections as given.")
    return "\n".join(lines)


def _errors(fit: Fit) -> str:
    relative = "" if fit.relative is None else f", {fit.relative:.3%} of the total"
    if fit.usual is None:
        return f"{fit.expected:,.2f}{relative}, which follows from the groups"
    return (
        f"{fit.expected:,.2f}{relative} ({fit.low:,.2f} to {fit.high:,.2f} in 90 % of the simulated first phases; "
        f"{fit.usual:,.2f} for a graph without connections, all that can be said in public)"
    )


def _share(smaller: Fit, larger: Fit) -> str:
    part = smaller.expected / larger.expected if larger.expected > 0 else 1.0
    return f"{part:.1%} of {larger.mechanism}'s"


def _verdict(critical: Fit | None, best: Fit | None, inside: float) -> str:
    if critical is None:
        return "critical was not looked at: it rests on groups. Name a run, or its p, to compare."
    unprotected = f"It leaves {1 - inside:.1%} of the connections without any protection"
    if best is None:
        return f"critical alone can be had: the noise of edge and elv could be too large to be drawn. {unprotected}."
    if critical.expected >= best.expected:
        return (
            f"{best.mechanism} fits this graph. The groups have so many pairs, or these so many cliques, that critical "
            f"would need no less noise, and it would protect {inside:.1%} of the connections only."
        )
    return (
        f"critical fits this graph if it is the pairs inside groups that must be protected: with "
        f"{_share(critical, best)} error. {unprotected}; if those must be protected too, take {best.mechanism}."
    )
