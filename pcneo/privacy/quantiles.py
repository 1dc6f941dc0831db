"""Quantiles of losses over pairs of vertices, and where the largest are (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["QUANTILES", "StreamedQuantiles", "quantiles", "worst_places"]

QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""The shares of pairs at which losses are reported: 50, 90 and 99 % of the pairs lose no more, and the last is all."""

Floats = NDArray[np.float64]


def quantiles(losses: Floats, shares: Sequence[float] = QUANTILES) -> tuple[float, ...]:
    """Return for each share the smallest loss that this share of the pairs does not exceed; 0 where there are none.

    Each is a loss that occurs, never a value between two: one of them may be infinite.

    Args:
        losses: float64, of 0 or more, in ε.
        shares: above 0, 1 at most.
    """
    ascending = np.sort(losses)
    if not len(ascending):
        return (0.0,) * len(shares)
    return tuple(float(ascending[max(0, math.ceil(share * len(ascending)) - 1)]) for share in shares)


class StreamedQuantiles:
    """Quantiles of losses that arrive in parts, `PASSES` times over, and never lie in memory together.

    Doubles of 0 or more are ordered as their 63 lower bits are. Each pass settles the next of three digits of the
    quantiles, by counting the losses that share the digits before.
    """

    PASSES = 3
    _BITS = 63 // PASSES

    def __init__(self, count: int, shares: Sequence[float] = QUANTILES) -> None:
        """Prepare for `count` losses, whose quantiles at `shares` are wanted."""
        self._places = [max(0, math.ceil(share * count) - 1) for share in shares]
        self._known = [0] * len(self._places)  # the digits settled so far, as one number
        self._pass = 0
        self._counts = {0: np.zeros(1 << self._BITS, np.int64)}

    def add(self, losses: Floats) -> None:
        """Take a part of the losses: float64, 0 or more. Every pass must bring the same ones, in any order."""
        upper = losses.view(np.int64) >> (self._BITS * (self.PASSES - 1 - self._pass))
        for known, counts in self._counts.items():
            digits = upper[upper >> self._BITS == known] & ((1 << self._BITS) - 1)
            counts += np.bincount(digits, minlength=1 << self._BITS)

    def end_pass(self) -> None:
        """Go on to the next pass, once all losses have been added."""
        for i, (place, known) in enumerate(zip(self._places, self._known, strict=True)):
            reached = np.cumsum(self._counts[known])
            digit = int(np.searchsorted(reached, place, side="right"))
            self._places[i] -= int(reached[digit - 1]) if digit else 0
            self._known[i] = known << self._BITS | digit
        self._pass += 1
        self._counts = {known: np.zeros(1 << self._BITS, np.int64) for known in set(self._known)}

    def quantiles(self) -> tuple[float, ...]:
        """Return the quantiles, after the last pass."""
        return tuple(np.array(self._known, np.int64).view(np.float64).tolist())


def worst_places(losses: Floats, most: int) -> list[int]:
    """Return where the largest losses are, the largest first, ties by place; none whose loss is 0."""
    least = np.partition(losses, -most)[-most] if len(losses) > most else 0.0
    large = np.flatnonzero((losses >= least) & (losses > 0))
    return large[np.argsort(-losses[large], kind="stable")][:most].tolist()
