"""Answers about pairs inside groups, and sums over triangles of such pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PairAnswers:
    """One answer for each pair of P̂.

    Attributes:
        yes: bool, in the order of the pairs: ascending by the smaller end, then the larger.
    """

    yes: NDArray[np.bool_]

    @property
    def yes_count(self) -> int:
        """The number of pairs answered yes."""
        return int(np.count_nonzero(self.yes))


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sums over the triangles of Ĝ of the product of their edges' weights.

    Attributes:
        sums: float64, shape (n,); over the triangles with each vertex.
        variances: those of the sums, float64, shape (n,), by GUARANTEE.md#critical with weights for connections.
        variance_of_total: of the sum over all triangles.
    """

    sums: NDArray[np.float64]
    variances: NDArray[np.float64]
    variance_of_total: float
