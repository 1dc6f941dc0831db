"""Counts cut to what is possible, and drawn towards those of all vertices or of those of like degree.

All of it is computed from published numbers and makes counts biased; the total is always that of the plain ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.randomised_response import Flips

BIASED = "Clipped and smoothed counts are biased. The total and standard errors are those of the plain counts."

Floats = NDArray[np.float64]

_FEWEST, _MOST, _OF_EACH = 4, 60, 40  # parts of like degree, and vertices in each


def degree_bounds(degrees: Sequence[float], flips: Flips) -> Floats:
    """Return d⁺, the estimated degree plus two standard deviations: float64, shape (n,)."""
    return np.clip(np.array(degrees), 0, flips.n - 1) + 2 * math.sqrt((flips.n - 1) * flips.variance)


def largest_counts(bounds: Floats, n: int, k: int) -> Floats:
    """Return C(min(n-1, ceil(bound)), k-1), the most cliques that a vertex with so many neighbours can be in.

    The result is float64, of shape (n,).
    """
    return np.array([float(math.comb(min(n - 1, math.ceil(bound)), k - 1)) for bound in bounds])


def clipped(counts: Sequence[float], largest: Floats) -> list[float]:
    """Return the counts cut to 0..largest."""
    return np.clip(np.array(counts), 0, largest).tolist()


def shrunk(counts: Sequence[float], variance: float, largest: Floats) -> list[float]:
    """Return counts drawn towards their mean, the further the less they differ beyond their noise, and clipped."""
    plain = np.array(counts, np.float64)
    mean = float(np.clip(plain.mean(), 0, largest.mean()))
    spread = max(0.0, float(np.mean((plain - mean) ** 2)) - variance)
    return clipped((mean + spread / (spread + variance) * (plain - mean)).tolist(), largest)


def variances(degrees: Sequence[float], flips: Flips) -> Floats:
    """Return V0 = v³·C(n-1,2) + v²·n·d' + v·d'², d' = max(1, degree): float64, shape (n,)."""
    d, v = np.maximum(1, np.array(degrees)), flips.variance
    return v**3 * math.comb(flips.n - 1, 2) + v**2 * flips.n * d + v * d**2


def smoothed(counts: Sequence[float], degrees: Sequence[float], least: Floats, largest: Floats) -> list[float]:
    """Return counts drawn towards the mean at like degree, the further the less these differ, and clipped."""
    plain = np.array(counts, np.float64)
    drawn = plain.copy()
    n = len(plain)
    order = np.argsort(np.array(degrees), kind="stable")
    for part in np.array_split(order, max(_FEWEST, min(_MOST, n // _OF_EACH))):
        if len(part):
            weights = 1 / least[part]
            mean = float(np.clip(np.average(plain[part], weights=weights), 0, largest[part].mean()))
            spread = max(0.0, float(np.average((plain[part] - mean) ** 2 - least[part], weights=weights)))
            drawn[part] = mean + spread / (spread + least[part]) * (plain[part] - mean)
    return clipped(drawn.tolist(), largest)
