"""What a release shows, measured by one fixed attacker for all mechanisms (GUARANTEE.md#the-attacker).

The attacker ranks all pairs of vertices by what was published and, where it knows the groups, by these. The figure is
the share of connections among its m best pairs, m being the true number of connections. The attacker gets the best of
its weights. Stronger attackers exist: the figure is a lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.randomised_response import Flips

MOST_VERTICES = 10_000
"""All pairs are ranked; in a larger graph that would take too long."""

ALPHAS, BETAS, GAMMAS = (0, 0.25, 0.5, 1, 2, 4), (0, 0.5, 1), (0, 0.3)
ETAS, THETAS, OMEGAS = (0, 2), (0, 0.5, 1, 2), (0, 1, 2)

_HELD = 200_000  # pairs in memory at once, so few that their scores stay in the inner caches

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Weights(NamedTuple):
    """Weights of common yes-neighbours, degrees and counts; of a group that holds both, of its size and its owner."""

    alpha: float
    beta: float
    gamma: float
    eta: float = 0
    theta: float = 0
    omega: float = 0


@dataclass(frozen=True, eq=False)
class Seen:
    """What the attacker has: what a release publishes, and the groups where it knows them.

    Attributes:
        vertices: n.
        epsilon: the ε at which pairs were answered; None without answers.
        flips: the chance of a flip in these answers.
        answered: yes-answers of each vertex, int64, shape (n,); None where not every pair was answered.
        degrees: published degrees, shape (n,); None where none are published.
        counts: published counts, shape (n,); None where none are published.
        bounds: the most that the groups allow the degrees to be, shape (n,); None where groups are unknown.
    """

    vertices: int
    epsilon: float | None = None
    flips: Flips | None = None
    answered: Integers | None = None
    degrees: Sequence[float] | NDArray[np.generic] | None = None
    counts: Sequence[float] | NDArray[np.generic] | None = None
    bounds: NDArray[np.generic] | None = None

    @property
    def weights(self) -> list[Weights]:
        """Every combination of weights for what is there, without groups; none where there is nothing to rank by."""
        has = (self.answered is not None, self._degrees is not None, self.counts is not None)
        choices = [given if there else (0,) for given, there in zip((ALPHAS, BETAS, GAMMAS), has, strict=True)]
        every = itertools.starmap(Weights, itertools.product(*choices))
        return [weights for weights in every if self.epsilon is not None or any(weights)]

    @property
    def _degrees(self) -> Floats | None:
        """The degrees as published, cut to what the groups allow; one of the two where the other is missing."""
        known = [np.asarray(values, np.float64) for values in (self.degrees, self.bounds) if values is not None]
        return np.minimum.reduce(known) if known else None

    @property
    def logs(self) -> tuple[Floats | None, Floats | None]:
        """The logarithms of degrees and counts, which are taken as 1 at least."""
        values = (self._degrees, None if self.counts is None else np.asarray(self.counts, np.float64))
        of_degrees, of_counts = (None if each is None else np.log(np.maximum(each, 1)) for each in values)
        return of_degrees, of_counts


def grouped_weights(best: Iterable[Weights]) -> list[Weights]:
    """Return all weights of groups and degrees, combined with `best` weights of what else was published, or none."""
    published = dict.fromkeys(
        (alpha, beta, gamma) for alpha, _, gamma, *_ in [*best, Weights(0, 0, 0)] for beta in BETAS
    )
    of_groups = list(itertools.product(ETAS, THETAS, OMEGAS))
    return [Weights(*weights, *more) for weights in published for more in of_groups]


@dataclass(frozen=True, eq=False)
class Block:
    """Pairs; all arrays have the shape (pairs,).

    Attributes:
        x, y: positions of their ends, int64.
        connected: whether they are connected.
        yes, shared: their answers and how many yes-neighbours they share; None without answers.
        smallest: the size of the smallest group that holds both, 0 without one; None where groups are unknown.
        owners: how many of the two have the other in their own group, 0 to 2; None where groups are unknown.
    """

    x: Integers
    y: Integers
    connected: Flags
    yes: Flags | None = None
    shared: Integers | None = None
    smallest: NDArray[np.integer] | None = None
    owners: NDArray[np.integer] | None = None

    def inside(self) -> Block:
        """Return the pairs that a group holds; the groups must be known."""
        if self.smallest is None or self.owners is None:
            raise ValueError("The groups of these pairs are unknown.")
        kept = np.flatnonzero(self.smallest)
        return Block(
            x=self.x[kept],
            y=self.y[kept],
            connected=self.connected[kept],
            yes=None if self.yes is None else self.yes[kept],
            shared=None if self.shared is None else self.shared[kept],
            smallest=self.smallest[kept],
            owners=self.owners[kept],
        )


def blocks(n: int) -> Iterator[tuple[int, int]]:
    """Yield ranges first..last-1 of vertices whose pairs with all others are few enough to be in memory at once."""
    step = max(1, _HELD // n)
    yield from ((first, min(n, first + step)) for first in range(0, n, step))


class Attacker:
    """Ranks pairs, block by block, by several combinations of weights at once.

    Attributes:
        seen: what the attacker has.
        connections: m, the true number of connections.
        pairs: how many pairs are ranked in all.
    """

    def __init__(
        self, seen: Seen, connections: int, weights: Sequence[Weights] | None = None, pairs: int | None = None
    ) -> None:
        """Begin with no pair seen."""
        self.seen, self.connections = seen, connections
        self.pairs = math.comb(seen.vertices, 2) if pairs is None else pairs
        self._best = {each: _Best(connections) for each in (seen.weights if weights is None else weights)}
        # The weights of groups do not change the scores of pairs outside them: these are ranked once for all.
        self._outside = {each[:3]: _Best(connections) for each in self._best}
        self._log_degrees, self._log_counts = seen.logs

    def look(self, block: Block) -> None:
        """Rank the pairs of a block among those before."""
        own = np.zeros(len(block.x), np.float64)
        if block.yes is not None:
            own[block.yes] = self.seen.epsilon or 0.0
        published = (
            self._common(block),
            self._of_ends(block, self._log_degrees),
            self._of_ends(block, self._log_counts),
        )
        inside = np.zeros(len(block.x), np.bool_) if block.smallest is None else block.smallest > 0
        near = np.flatnonzero(inside)
        of_groups, hits = self._of_groups(block, near), block.connected[near]
        outside = ~inside
        missed = block.connected[outside]
        for first, of_one in itertools.groupby(self._best, lambda weights: weights[:3]):
            base = _weighed(own, published, first)
            self._outside[first].add(base[outside], missed)
            of_near = base[near]
            for weights in of_one:
                self._best[weights].add(_weighed(of_near, of_groups, weights[3:]), hits)

    @staticmethod
    def _of_ends(block: Block, logs: Floats | None) -> Floats | None:
        return None if logs is None else logs[block.x] + logs[block.y]

    def _of_groups(self, block: Block, near: Integers) -> tuple[Floats, Floats, Floats]:
        """Return for pairs inside groups 1, ln(n/(s-1)) where the smallest group has s members, and `owners`."""
        if block.smallest is None:
            nothing = np.empty(0, np.float64)
            return nothing, nothing, nothing
        sizes = block.smallest[near].astype(np.float64)
        rare = np.log(self.seen.vertices / np.maximum(sizes - 1, 1))
        owners = np.zeros(len(near)) if block.owners is None else block.owners[near].astype(np.float64)
        return np.ones(len(near), np.float64), rare, owners

    def _common(self, block: Block) -> Floats | None:
        """Return z: the unbiased number of common neighbours over, roughly, its standard deviation."""
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
        """For each combination of weights, the share of connections among the m best pairs, ties averaged."""
        return {weights: best.share(self._outside[weights[:3]]) for weights, best in self._best.items()}

    @property
    def share(self) -> float:
        """The share with the best weights; that of random guessing where there is nothing to rank by."""
        return max(self.shares.values(), default=self.connections / self.pairs if self.pairs else 0.0)

    @property
    def best(self) -> list[Weights]:
        """The first of the weights with the best share; none where there is nothing to rank by."""
        shares = self.shares
        return [max(shares, key=lambda weights: shares[weights])] if shares else []


def _weighed(score: Floats, terms: Sequence[Floats | None], weights: Sequence[float]) -> Floats:
    for term, weight in zip(terms, weights, strict=True):
        if weight and term is not None:
            score = score + weight * term
    return score


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
        if 0 < self.wanted < len(near):
            # Sorting takes ten times as long as this, which leaves little to sort.
            self.least = np.partition(scores[near], -self.wanted)[-self.wanted]
            near = near[scores[near] >= self.least]
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

    def share(self, others: _Best) -> float:
        """Return the share of connections among the best of these pairs and `others`.

        Pairs that tie for the last places count by their average, as if drawn at random.
        """
        if not self.wanted:
            return 0.0
        both = _Best(self.wanted)
        both.waiting = [self.kept, *self.waiting, others.kept, *others.waiting]
        both._merge()
        _, pairs, hits = both.kept
        places = min(self.wanted, pairs.sum()) - pairs[1:].sum()
        return float((hits[1:].sum() + places * hits[0] / pairs[0]) / self.wanted)


class _Level(NamedTuple):
    """Scores, with how many pairs and how many connections have each."""

    scores: Floats
    pairs: Floats
    hits: Floats
