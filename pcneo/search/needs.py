"""The needs that follow from p (ALGORITHM.md#p-cohesion)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def needs_of(p: Fraction, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return need(v) = ceil(p·deg(v)) for each degree, int64, exact for any p."""
    a, b = p.as_integer_ratio()
    table = [-(-a * degree // b) for degree in range(int(degrees.max(initial=0)) + 1)]
    return np.array(table, np.int64)[degrees]
