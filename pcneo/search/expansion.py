"""The searches `density` and `degree`: expand, then shrink (ALGORITHM.md#expand, ALGORITHM.md#shrink)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.kernels.cohesion import Rows, Workspace, minimal_cohesions


class ExpansionSearch:
    """The p-cohesions of some vertices by one score; it has the attributes of `SmallestSearch`, and proves nothing."""

    expands = True

    def __init__(self, queries: NDArray[np.int64], score: int) -> None:
        """Begin."""
        self._queries, self._score = queries, score
        self.offsets = np.zeros(1, np.int64)
        self.members = np.empty(0, np.uint32)
        self.proven = self.best = np.zeros(len(queries), np.bool_)

    @property
    def done(self) -> bool:
        """Whether all queries have answers."""
        return len(self.offsets) > len(self._queries)

    def go_on(self, rows: Rows, work: Workspace, ahead: int = 0) -> NDArray[np.uint32]:
        """Go on from where it stopped. `ahead` is not used: the workspace shows what may be asked for next."""
        found = len(self.offsets) - 1
        ends, members, missing = minimal_cohesions(rows, self._score, self._queries[found:], work)
        self.offsets = np.concatenate((self.offsets, self.offsets[-1] + ends))
        self.members = np.concatenate((self.members, members))
        return missing
