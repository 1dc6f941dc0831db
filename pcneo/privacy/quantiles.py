"""Quantiles of losses over pairs of vertices (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""The shares of pairs at which losses are reported: 50, 90, 99 and 100 % of the pairs lose no more."""

Floats = NDArray[np.float64]


def quantiles(losses: Floats) -> tuple[float, ...]:
    """Return for each share in `QUANTILES` the smallest loss that so many of the pairs do not exceed; 0 without losses.

    Each result is a loss that occurs, never a value between two, since a loss may be infinite.
    """
    ascending = np.sort(losses)
    if not len(ascending):
        return (0.0,) * len(QUANTILES)
    return tuple(float(ascending[place_of(share, len(ascending))]) for share in QUANTILES)


def place_of(share: float, count: int) -> int:
    """Return the position, among `count` ascending values, of the smallest that so many of them do not exceed."""
    return max(0, math.ceil(share * count) - 1)
