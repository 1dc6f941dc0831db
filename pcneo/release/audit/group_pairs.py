"""What groups tell an attacker who knows them about pairs of vertices: block by block, for graphs of few vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch


class GroupPairs:
    """The groups of all vertices, each vertex's own among them.

    Attributes:
        bounds: int64, shape (n,): bounds of the degrees, (|MC(v)|-1)/p, since a vertex keeps a share p of its
            neighbours.
    """

    def __init__(self, groups: CohesionBatch, n: int) -> None:
        """Find the smallest group of each pair; n is at most 65,535."""
        self._n, self._groups = n, groups
        self.bounds = (groups.sizes - 1) * groups.p.denominator // groups.p.numerator
        self._smallest = np.zeros((n, n), np.uint16)
        for i in np.argsort(-groups.sizes, kind="stable").tolist():  # the smaller ones overwrite
            members = groups.members_of(i)
            self._smallest[np.ix_(members, members)] = len(members)
        owners = np.repeat(groups.vertices, groups.sizes)
        order = np.argsort(groups.members, kind="stable")
        self._of_member = owners[order]
        self._member_offsets = np.searchsorted(groups.members[order], np.arange(n + 1))

    def smallest(self, first: int, last: int) -> NDArray[np.uint16]:
        """Return the size of the smallest group that holds each pair of one of first..last-1 and any vertex, or 0."""
        return self._smallest[first:last]

    def owners(self, first: int, last: int) -> NDArray[np.uint8]:
        """Return, for each of these pairs, how many of the two vertices have the other in their own group."""
        counted = np.zeros((last - first, self._n), np.uint8)
        for x in range(first, last):
            counted[x - first, self._groups.members_of(x)] += 1
            counted[x - first, self._of_member[self._member_offsets[x] : self._member_offsets[x + 1]]] += 1
        return counted

    def counted(self, connected: NDArray[np.int64]) -> tuple[int, int]:
        """Return how many pairs lie inside groups, and how many of the given pairs do."""
        inside = (int(np.count_nonzero(self._smallest)) - int(np.count_nonzero(np.diagonal(self._smallest)))) // 2
        return inside, int(np.count_nonzero(self._smallest[connected[0], connected[1]]))
