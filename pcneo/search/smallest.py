"""The search `smallest`, stage by stage (ALGORITHM.md#smallest): sets are listed, started by `density`, improved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.kernels.cohesion import DENSITY, Rows, Workspace, minimal_cohesions
from pcneo.kernels.smallest import LARGEST_LISTED, improve, list_small_sets, memory_of


class SmallestSearch:
    """Finds the smallest p-cohesions of some vertices, as far as it can; it goes on where rows were missing.

    Attributes:
        members: uint32; the members of all answers, one answer after another.
        best: bool, one per query; whether no p-cohesion of a better rank exists (ALGORITHM.md#the-rank).
    """

    def __init__(self, queries: NDArray[np.int64], effort: int) -> None:
        """Begin."""
        count = len(queries)
        self._queries, self._effort = queries, effort
        self._listed = self._improved = 0  # how many queries
        self._listed_members = np.zeros((count, LARGEST_LISTED), np.uint32)
        self._sizes, self._lows = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._bounds: NDArray[np.int64] | None = None  # of sets in `members`, once all have begun
        self.members = np.empty(0, np.uint32)
        self.best = np.zeros(count, np.bool_)

    @property
    def done(self) -> bool:
        """Whether all queries have answers."""
        return self._improved == len(self._queries)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the answers are: the i-th is `members[offsets[i]:offsets[i + 1]]`."""
        return _ends(self._sizes)

    @property
    def proven(self) -> NDArray[np.bool_]:
        """For each answer, whether no smaller p-cohesion exists."""
        return self.best | (self._sizes == self._lows)

    @property
    def expands(self) -> bool:
        """Whether it goes on with expansions, whose counts are in the workspace."""
        return self._listed == len(self._queries) and self._bounds is None

    def go_on(self, rows: Rows, work: Workspace, ahead: int = 0) -> NDArray[np.uint32]:
        """Go on; return the vertices whose neighbours must be known next, or none if all is done or was stopped.

        Up to `ahead` vertices that are likely to be asked for soon follow them.
        """
        queries, memory, count = self._queries, memory_of(work), len(self._queries)
        if self._listed < count:
            found = self._sizes, self._listed_members, self._lows, self.best
            self._listed, missing = list_small_sets(rows, queries, *found, memory, self._listed)
            if self._listed < count:
                return memory.missing[:missing].copy()
        bounds = self._bounds
        if bounds is None:
            begun = np.flatnonzero(self._sizes == 0)
            ends, members, unknown = minimal_cohesions(rows, DENSITY, queries[begun], work)
            if len(ends) < len(begun):
                return unknown
            bounds = self._bounds = self._begin(begun, ends, members)
        sets = bounds, self.members, self._sizes, self._lows, self.best
        self._improved, missing = improve(rows, queries, *sets, self._effort, ahead, memory, self._improved)
        if self.done:
            self.members = self.members[_firsts(np.diff(sets[0]), self._sizes)]
        return memory.missing[:missing].copy()

    def _begin(
        self, begun: NDArray[np.int64], ends: NDArray[np.int64], members: NDArray[np.uint32]
    ) -> NDArray[np.int64]:
        """Put into one array the listed sets and, for the queries at `begun`, those of `density`; return the bounds."""
        listed = self._listed_members[np.arange(LARGEST_LISTED) < self._sizes[:, None]]
        self._sizes[begun] = np.diff(ends, prepend=0)
        of_density = np.zeros(len(self._sizes), np.bool_)
        of_density[begun] = True
        which = np.repeat(of_density, self._sizes)
        self.members = np.empty(len(which), np.uint32)
        self.members[which], self.members[~which] = members, listed
        return _ends(self._sizes)


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), sizes.cumsum()))


def _firsts(rooms: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For entries that lie in rooms one after another, mark the first `sizes` of each room."""
    within = np.arange(rooms.sum()) - np.repeat(_ends(rooms)[:-1], rooms)
    return within < np.repeat(sizes, rooms)
