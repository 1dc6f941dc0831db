"""Counts modelled from noisy degrees and a noisy total (GUARANTEE.md#modelled): nothing here knows the graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FEWEST, _MOST, _TIMES = 5, 10, 24
"""How few and how many classes, and how many times its noise a class must hold if every path were closed."""


class DegreeModel:
    """What vertices of these degrees have on average, for one k.

    Attributes:
        degrees: noisy degrees D, cut at 0: int64, shape (n,).
        k: vertices of the cliques.
        weights: max(D, 0)^(k/2) of each vertex: float64, shape (n,).
    """

    def __init__(self, degrees: Sequence[int], k: int) -> None:
        """Take what is published."""
        self.degrees, self.k = np.maximum(np.array(degrees, np.int64), 0), k
        self.weights: Floats = self.degrees.astype(np.float64) ** (k / 2)

    def class_count(self, scale: Fraction) -> int:
        """Return how many classes to form at most if the sum over each gets noise of this scale; 0 for no classes.

        If all neighbours of every vertex were connected, the classes would hold Σ C(D, k-1) in total.
        """
        values, times = np.unique(self.degrees, return_counts=True)
        at_most = sum(math.comb(D, self.k - 1) * m for D, m in zip(values.tolist(), times.tolist(), strict=True))
        many = int(at_most / (_TIMES * scale))
        return min(_MOST, many) if many >= _FEWEST else 0

    def classes(self, count: int) -> list[NDArray[np.int64]]:
        """Return the vertices in at most `count` classes of like degree, each of about the same total weight.

        They go from low degrees to high ones. Vertices of one degree are in one class, so that they get the same count.
        None is empty; where all vertices would be in one class, there are no classes.
        """
        order = np.argsort(self.degrees, kind="stable")
        ascending, reached = self.degrees[order], np.cumsum(self.weights[order])
        cuts = np.searchsorted(reached, reached[-1] * np.arange(1, count) / count)
        cuts = np.searchsorted(ascending, ascending[cuts[cuts > 0] - 1], side="right")  # behind all of that degree
        cuts = np.unique(cuts[cuts < len(order)])
        return np.split(order, cuts) if len(cuts) else []

    def counts(self, total: int) -> Floats:
        """Return k·total shared out by weight: float64, shape (n,); zeros where no vertex has a weight."""
        whole = self.weights.sum()
        return self.weights * (self.k * max(total, 0) / whole) if whole > 0 else np.zeros_like(self.weights)

    def shrunk(
        self, counts: Floats, classes: Sequence[NDArray[np.int64]], sums: Sequence[int], variance: float
    ) -> Floats:
        """Return counts whose sum in each class is drawn towards the sum that is published for it."""
        held = np.array([counts[members].sum() for members in classes])
        away = np.array(sums, np.float64) - held
        spread = max(0.0, float(np.mean(away**2)) - variance)
        wanted = np.maximum(0.0, held + spread / (spread + variance) * away)
        drawn = counts.copy()
        for members, have, want in zip(classes, held.tolist(), wanted.tolist(), strict=True):
            drawn[members] *= want / have if have > 0 else 0.0
        return drawn

    def cut(self, counts: Floats) -> Floats:
        """Return counts cut to C(max(D,0)+1, k-1): a vertex with one more neighbour cannot be in more."""
        most = {D: math.comb(D + 1, self.k - 1) for D in set(self.degrees.tolist())}
        return np.minimum(counts, np.array([float(most[D]) for D in self.degrees.tolist()]))
