"""Sizes and densities of many cohesions, in the few numbers that a person reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted, rounded

if TYPE_CHECKING:
    from pcneo.basics.model import CohesionBatch


@dataclass(frozen=True)
class Distribution:
    """Smallest, median, 90th and 99th percentile, largest and mean of some values.

    `p90` is the smallest value that at least 90 % of the values do not exceed; `p99` likewise.
    """

    min: float
    p50: float
    p90: float
    p99: float
    max: float
    mean: float

    @classmethod
    def of(cls, values: NDArray[np.float64] | NDArray[np.int64]) -> Distribution | None:
        """Describe the values, shape (n,); None if there are none."""
        if not len(values):
            return None
        p90, p99 = (float(value) for value in np.percentile(values, [90, 99], method="inverted_cdf"))
        median, mean = float(np.median(values)), float(values.mean())
        return cls(float(values.min()), median, p90, p99, float(values.max()), mean)


@dataclass(frozen=True)
class Summary:
    """What the cohesions of a run look like.

    Attributes:
        cohesions: how many.
        memberships: the members of all cohesions, added up.
        sizes: members per cohesion.
        densities: 2·edges/(size·(size-1)) of the cohesions with two or more members (ALGORITHM.md#p-cohesion).
    """

    cohesions: int
    memberships: int
    sizes: Distribution | None
    densities: Distribution | None

    @classmethod
    def of(cls, sizes: NDArray[np.int64], densities: NDArray[np.float64]) -> Summary:
        """Describe cohesions by their sizes and densities, both of shape (b,)."""
        return cls(
            cohesions=len(sizes),
            memberships=int(sizes.sum()),
            sizes=Distribution.of(sizes),
            densities=Distribution.of(densities[sizes > 1]),
        )

    def in_words(self) -> str:
        """Return, in one line, the numbers by which p is chosen."""
        if self.sizes is None:
            return "no cohesions"
        density = "" if self.densities is None else f", density {self.densities.mean:.2f}"
        return (
            f"mean size {rounded(self.sizes.mean, 3)}, largest {self.sizes.max:,.0f}{density}; "
            f"{counted(self.memberships, 'membership')}"
        )

    def as_row(self) -> dict[str, Any]:
        """Return the numbers that a table shows, by the names of its columns; None if there are no values."""
        sizes, densities = self.sizes, self.densities
        return {
            "cohesions": self.cohesions,
            "memberships": self.memberships,
            "size p50": sizes and sizes.p50,
            "size p90": sizes and sizes.p90,
            "size max": sizes and sizes.max,
            "size mean": sizes and sizes.mean,
            "density p50": densities and densities.p50,
            "density mean": densities and densities.mean,
        }


class Tally:
    """Collects the sizes and densities of batches; it keeps 16 bytes per cohesion."""

    def __init__(self) -> None:
        """Start empty."""
        self._sizes: list[NDArray[np.int64]] = []
        self._densities: list[NDArray[np.float64]] = []

    def add(self, batch: CohesionBatch) -> None:
        """Add a batch."""
        self._sizes.append(batch.sizes)
        self._densities.append(batch.densities)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each cohesion, int64, in the order of the batches."""
        return np.concatenate([np.empty(0, np.int64), *self._sizes])

    @property
    def densities(self) -> NDArray[np.float64]:
        """Density of each cohesion, float64, in the same order."""
        return np.concatenate([np.empty(0), *self._densities])

    def summary(self) -> Summary:
        """Describe all batches so far."""
        return Summary.of(self.sizes, self.densities)
