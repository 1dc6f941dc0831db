"""How far simulated releases of a graph are off, and what the fixed attacker finds (GUARANTEE.md#the-attacker)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch
from pcneo.basics.pair_answers import PairAnswers
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import pair_blocks
from pcneo.privacy.attack import MOST_VERTICES, Attacker, Block, Seen, blocks, grouped_weights
from pcneo.privacy.facts import Answers
from pcneo.privacy.mechanisms import Drawn, Mechanism
from pcneo.privacy.mechanisms.answered import Answered
from pcneo.privacy.noise import Noise
from pcneo.privacy.randomised_response import Flips

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Simulated:
    """One simulated release; `answers` is what it was computed from, None for a mechanism that adds noise."""

    mechanism: Mechanism
    drawn: Drawn
    answers: Answers | PairAnswers | None


@dataclass(frozen=True)
class Errors:
    """Mean absolute errors over simulated releases.

    Attributes:
        count: of a vertex's count; None where counts are not published.
        total: of the total.
        biased: of clipped and smoothed counts, under those names, where the mechanism was asked for them.
    """

    count: float | None
    total: float
    biased: Mapping[str, float]


@dataclass(frozen=True)
class Found:
    """Shares of connections that the attacker finds.

    Attributes:
        alone: of all connections, found in as many of its best pairs, without knowing the groups; None where answers
            about groups are published.
        with_groups: the same, knowing the groups; like `protected`, None without groups.
        protected: of the connections inside groups, found in as many of its best pairs inside, knowing the groups.
    """

    alone: float | None
    with_groups: float | None
    protected: float | None


def can_be_attacked(n: int) -> bool:
    """Whether there are few enough vertices for all their pairs to be ranked."""
    return 2 <= n <= MOST_VERTICES


def simulated(facts: CountedGraph, mechanism: Mechanism, noise: Noise, draws: int) -> Iterator[Simulated]:
    """Yield simulated releases."""
    mechanism.check_drawable()
    mechanism.check_facts(facts)
    for _ in range(draws):
        if isinstance(mechanism, Answered):
            answers = mechanism.answered(facts, noise)
            yield Simulated(mechanism, mechanism.compute(answers, facts), answers)
        else:
            yield Simulated(mechanism, mechanism.draw(facts, noise), None)


def mean_errors(facts: CountedGraph, releases: Iterable[Simulated]) -> Errors:
    """Return the errors of several releases of one mechanism, on average."""
    errors = [_errors(facts, release) for release in releases]
    counts = [each.count for each in errors if each.count is not None]
    biased = {name: fmean([each.biased[name] for each in errors]) for name in errors[0].biased}
    return Errors(fmean(counts) if counts else None, fmean([each.total for each in errors]), biased)


def _errors(facts: CountedGraph, release: Simulated) -> Errors:
    mechanism, drawn = release.mechanism, release.drawn
    exact = facts.counts(mechanism.k)
    total = float(str(drawn.record.get("total", sum(drawn.counts) / mechanism.times_counted)))
    of_total = abs(total - sum(exact.tolist()) / mechanism.k)
    if not mechanism.counts_vertices:
        return Errors(None, of_total, {})
    columns = {name: drawn.columns[name] for name in ("clipped", "smoothed") if name in drawn.columns}
    of_count, *biased = (float(np.abs(np.array(x) - exact).mean()) for x in (drawn.counts, *columns.values()))
    return Errors(of_count, of_total, dict(zip(columns, biased, strict=True)))


class GroupPairs:
    """What the groups of all vertices, each vertex's own among them, tell an attacker who knows them about pairs.

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


class Attack:
    """The truth that the attacker's guesses are compared with.

    Attributes:
        facts: the graph, with its groups if it has any.
    """

    def __init__(self, facts: CountedGraph) -> None:
        """Take a graph for which `can_be_attacked` holds; its groups, if any, must be those of all vertices."""
        self.facts, self._n = facts, facts.vertex_count

    @cached_property
    def _groups(self) -> GroupPairs | None:
        groups = self.facts.groups
        return GroupPairs(groups, self._n) if isinstance(groups, CohesionBatch) else None

    @cached_property
    def _inside(self) -> tuple[int, int]:
        """How many pairs lie inside groups, and how many of them are connected."""
        graph = self.facts.graph
        ends = np.repeat(np.arange(self._n), graph.degrees)
        upper = ends < graph.neighbours
        connected = np.stack((ends[upper], graph.neighbours[upper].astype(np.int64)))
        return self._groups.counted(connected) if self._groups else (0, 0)

    def of_release(self, release: Simulated, *, published: bool = False) -> Found:
        """Return what the attacker finds in a release."""
        mechanism, drawn = release.mechanism, release.drawn
        counts = drawn.counts if mechanism.counts_vertices else None
        seen = Seen(self._n, degrees=drawn.columns.get("degree"), counts=counts)
        if not published or release.answers is None:
            return self.of(seen)
        answers = release.answers
        of_answers = replace(
            seen,
            epsilon=float(mechanism.epsilon),
            flips=Flips(self._n, mechanism.threshold),
            answered=None if mechanism.needs_groups else cast("Answers", answers).degrees(),
        )
        found = self.of(of_answers, answers)
        return Found(None, found.with_groups, found.protected) if mechanism.needs_groups else found

    def of(self, seen: Seen, answers: Answers | PairAnswers | None = None) -> Found:
        """Return what an attacker who has seen this finds, without and with knowledge of the groups."""
        rows = None if answers is None else self._rows(answers)
        m = self.facts.graph.edge_count
        alone = Attacker(seen, m)
        self._rank(alone, None, answers, rows)
        if self._groups is None:
            return Found(alone.share, None, None)
        knowing = replace(seen, bounds=self._groups.bounds)
        weights = grouped_weights(alone.best)
        known = Attacker(knowing, m, weights)
        pairs, connected = self._inside
        inside = Attacker(knowing, connected, weights, pairs)
        self._rank(known, inside, answers, rows)
        return Found(alone.share, known.share, inside.share)

    def _rank(
        self, attacker: Attacker, inside: Attacker | None, answers: Answers | PairAnswers | None, rows: Flags | None
    ) -> None:
        groups = self._groups if inside is not None else None
        common = answers if attacker.seen.answered is not None and isinstance(answers, AnsweredPairs) else None
        for first, last in blocks(self._n):
            x, y = np.nonzero(np.arange(self._n) > np.arange(first, last)[:, None])
            block = Block(
                x=x + first,
                y=y,
                connected=self._connected(first, last)[x, y],
                yes=None if rows is None else rows[first:last][x, y],
                shared=None if common is None else common.shared(first, last)[x, y],
                smallest=None if groups is None else groups.smallest(first, last)[x, y],
                owners=None if groups is None else groups.owners(first, last)[x, y],
            )
            attacker.look(block)
            if inside is not None:
                inside.look(block.inside())

    def _rows(self, answers: Answers | PairAnswers) -> Flags:
        """The answers, shape (n, n)."""
        if isinstance(answers, AnsweredPairs):
            packed = np.ascontiguousarray(answers.rows).view(np.uint8)
            return np.unpackbits(packed, axis=1, bitorder="little", count=self._n).astype(np.bool_)
        if not isinstance(answers, PairAnswers):
            raise TypeError(f"These are not answers: {type(answers).__name__}")
        rows, at = np.zeros((self._n, self._n), np.bool_), 0
        for u, v in pair_blocks(self.facts.protected()):
            rows[u, v] = rows[v, u] = answers.yes[at : at + len(u)]
            at += len(u)
        return rows

    def _connected(self, first: int, last: int) -> Flags:
        graph = self.facts.graph
        rows = np.zeros((last - first, self._n), np.bool_)
        row = np.repeat(np.arange(last - first), graph.degrees[first:last])
        rows[row, graph.neighbours[graph.offsets[first] : graph.offsets[last]]] = True
        return rows


def mean_found(found: Sequence[Found]) -> Found:
    """Return the mean shares; a share that is None is None in all of them."""
    columns = zip(*((each.alone, each.with_groups, each.protected) for each in found), strict=True)
    means = [None if None in column else fmean([x for x in column if x is not None]) for column in columns]
    return Found(*means)
