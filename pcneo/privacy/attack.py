"""What a release shows, measured by one fixed attacker for all mechanisms alike (GUARANTEE.md#the-attacker).

It ranks all pairs of vertices by what was published, and the figure is the share of connections among its m best, m
being their true number. It is given the best of its weights. Stronger attackers exist: the figure is a lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.randomised_response import Flips

__all__ = ["MOST_VERTICES", "Attacker", "Block", "Seen", "Weights", "blocks"]

MOST_VERTICES = 10_000
"""All pairs are ranked; of a larger graph they would take too long."""

ALPHAS, BETAS, GAMMAS, ETAS = (0, 0.25, 0.5, 1, 2, 4), (0, 0.5, 1), (0, 0.3), (0, 1, 2, 4)

_HELD = 200_000  # pairs in memory together: their scores then stay in the near caches

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Weights = tuple[float, ...]
"""α of common yes-neighbours, β of degrees, γ of counts, η of groups."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What the attacker has: what a release publishes, and nothing else.

    Attributes:
        vertices: n.
        epsilon: at which pairs were answered; None without answers.
        flips: of these answers.
        answered: yes-answers of each vertex, int64, shape (n,).
        degrees: published, shape (n,); None for none.
        counts: published, shape (n,); None for none.
        grouped: whether groups are public.
    """

    vertices: int
    epsilon: float | None = None
    flips: Flips | None = None
    answered: Integers | None = None
    degrees: Sequence[float] | NDArray[np.generic] | None = None
    counts: Sequence[float] | NDArray[np.generic] | None = None
    grouped: bool = False

    @property
    def weights(self) -> list[Weights]:
        """Every combination of weights for what there is; none where there is nothing to rank by."""
        every = list[Weights](itertools.product(*_choices(self)))
        return [weights for weights in every if self.epsilon is not None or any(weights)]


@dataclass(frozen=True, eq=False)
class Block:
    """Pairs, all arrays of shape (pairs,).

    Attributes:
        x, y: positions of their ends, int64.
        connected: the truth.
        yes, shared: their answers and common yes-neighbours; None without answers.
        together: whether both lie in one group; None without groups.
    """

    x: Integers
    y: Integers
    connected: Flags
    yes: Flags | None = None
    shared: Integers | None = None
    together: Flags | None = None


def blocks(n: int) -> Iterator[tuple[int, int]]:
    """Yield ranges first..last-1 of vertices whose pairs with all others are few enough to lie in memory together."""
    step = max(1, _HELD // n)
    yield from ((first, min(n, first + step)) for first in range(0, n, step))


class Attacker:
    """Ranks pairs, block by block, by each combination of weights at once.

    Attributes:
        seen: what it has.
        connections: m.
    """

    def __init__(self, seen: Seen, connections: int) -> None:
        """Begin with no pair seen; of m = 0 connections it finds none."""
        self.seen, self.connections = seen, connections
        self._best = {weights: _Best(connections) for weights in seen.weights}
        self._log_degrees, self._log_counts = (
            None if values is None else np.log(np.maximum(np.asarray(values, np.float64), 1))
            for values in (seen.degrees, seen.counts)
        )

    def look(self, block: Block) -> None:
        """Rank the pairs of a block among those before."""
        own = np.zeros(len(block.x), np.float64)
        if block.yes is not None:
            own[block.yes] = self.seen.epsilon or 0.0
        terms = (
            self._common(block),
            *(
                logs if logs is None else logs[block.x] + logs[block.y]
                for logs in (self._log_degrees, self._log_counts)
            ),
            block.together,
        )
        for weights, score in _scores(own, terms, _choices(self.seen)):
            if weights in self._best:
                self._best[weights].add(score, block.connected)

    def _common(self, block: Block) -> Floats | None:
        """z: the unbiased number of common neighbours over its standard deviation, about."""
        flips, degrees = self.seen.flips, self.seen.answered
        if flips is None or degrees is None or block.shared is None or block.yes is None:
            return None
        f, v, n = flips.f, flips.variance, flips.n
        ends = degrees[block.x] + degrees[block.y]
        squared = (block.shared - f * (ends - 2 * block.yes) + (n - 2) * f * f) / (1 - 2 * f) ** 2
        estimates = np.maximum((degrees - (n - 1) * f) / (1 - 2 * f), 1.0)
        return squared / np.sqrt(n * v * v + v * (estimates[block.x] + estimates[block.y]) + 0.5)

    @property
    def shares(self) -> dict[Weights, float]:
        """For each combination of weights, the share of connections among the m best pairs, ties on average."""
        return {weights: best.share for weights, best in self._best.items()}

    @property
    def share(self) -> float:
        """The share with the best weights; guessing at random where there is nothing to rank by."""
        pairs = math.comb(self.seen.vertices, 2)
        return max(self.shares.values(), default=self.connections / pairs if pairs else 0.0)


def _choices(seen: Seen) -> list[tuple[float, ...]]:
    """Return the values that each weight can take: 0 alone where there is nothing to weigh."""
    has = (seen.epsilon is not None, seen.degrees is not None, seen.counts is not None, seen.grouped)
    return [given if there else (0,) for given, there in zip((ALPHAS, BETAS, GAMMAS, ETAS), has, strict=True)]


def _scores(
    score: Floats,
    terms: Sequence[Floats | Flags | None],
    choices: Sequence[tuple[float, ...]],
    weights: tuple[float, ...] = (),
) -> Iterator[tuple[tuple[float, ...], Floats]]:
    """Yield each combination of weights with its scores; combinations that begin alike share the sums so far."""
    if not terms:
        yield weights, score
        return
    for weight in choices[0]:
        sums = score if not weight or terms[0] is None else score + weight * terms[0]
        yield from _scores(sums, terms[1:], choices[1:], (*weights, weight))


class _Best:
    """The pairs with the largest scores: distinct scores, ascending, with how many pairs and connections have each."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.least = wanted, -math.inf
        nothing = np.empty(0, np.float64)
        self.kept = _Level(nothing, nothing, nothing)
        self.waiting: list[_Level] = []
        self.waits = 0

    def add(self, scores: Floats, connected: Flags) -> None:
        near = np.flatnonzero(scores >= self.least)
        if self.wanted and len(near):
            hits = connected[near].astype(np.float64)
            self.waiting.append(_Level(scores[near], np.ones(len(near), np.float64), hits))
            self.waits += len(near)
            if self.waits > self.wanted:
                self._merge()

    def _merge(self) -> None:
        parts = [self.kept, *self.waiting]
        every: Floats = np.concatenate([part.scores for part in parts])
        scores, place = np.unique(every, return_inverse=True)
        pairs, hits = (
            np.bincount(place, np.concatenate(values), len(scores)).astype(np.float64)
            for values in ([part.pairs for part in parts], [part.hits for part in parts])
        )
        above = np.cumsum(pairs[::-1])[::-1] - pairs  # with a larger score
        near = above < self.wanted
        self.kept = _Level(scores[near], pairs[near], hits[near])
        if self.kept.pairs.sum() >= self.wanted:
            self.least = self.kept.scores[0]
        self.waiting, self.waits = [], 0

    @property
    def share(self) -> float:
        """Of the last score that has a place among the best, pairs are taken at random: their average counts."""
        if self.waiting:
            self._merge()
        if not len(self.kept.pairs):
            return 0.0
        _, pairs, hits = self.kept
        places = min(self.wanted, pairs.sum()) - pairs[1:].sum()
        return float((hits[1:].sum() + places * hits[0] / pairs[0]) / self.wanted)


class _Level(NamedTuple):
    """Scores, with how many pairs and how many connections have each."""

    scores: Floats
    pairs: Floats
    hits: Floats
