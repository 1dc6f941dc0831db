"""What an audit finds, as values."""

from __future__ import annotations

from dataclasses import dataclass

from pcneo.model import Key
from pcneo.privacy.quantiles import Fit, Scales

__all__ = ["NOTICE", "AuditResult", "Losses", "PairLoss", "Removal", "Removals"]

NOTICE = "For the owner alone: this says more of the graph than a release promises to hide. Do not publish it."


@dataclass(frozen=True)
class PairLoss:
    """One pair of vertices by key, whether the graph connects it, and what it costs."""

    pair: tuple[Key, Key]
    connected: bool
    loss: float


@dataclass(frozen=True)
class Losses:
    """What the pairs of one kind cost at fixed scales: those of `critical`, or the median of a random one.

    Attributes:
        pairs: how many there are.
        counted: how many were looked at; where fewer, they are a sample drawn with `seed`.
        seed: of the sample; None where all were looked at.
        promised: what the mechanism, or its paper, says that a pair costs at most; None where it says nothing.
        quantiles: the losses that 50, 90, 99 and 100 % of the pairs do not pass.
        infinite: how many change a count that is published exactly.
        largest: the largest loss that 5, 50 and 95 % of simulated first phases do not pass; None where none is random.
        worst: the pairs that cost most, at most ten.
    """

    pairs: int
    counted: int
    seed: int | None
    promised: float | None
    quantiles: tuple[float, ...]
    infinite: int
    largest: tuple[float, float, float] | None
    worst: tuple[PairLoss, ...]


@dataclass(frozen=True)
class Removal:
    """One connection removed, and memberships computed again.

    Attributes:
        pair: its ends by key.
        inside: whether both lie in one stored group.
        groups: vertices whose cohesion changes.
        scales: vertices whose scale changes; for `published`, whose view in the first phase changes.
        mean: the average log-ratio of what is published, in favour of the truth; None for `published`.
        worst: the largest log-ratio of what is published; for `published`, of what the first phase reports.
    """

    pair: tuple[Key, Key]
    inside: bool
    groups: int
    scales: int
    mean: float | None
    worst: float


@dataclass(frozen=True)
class Removals:
    """A sample of connections, each removed alone, with memberships computed again for all vertices.

    Attributes:
        connections: how many the graph has; each was as likely to be drawn.
        seed: what they were drawn with.
        seconds: what it took.
        promised: ε for `critical`, for pairs inside groups if the groups stay; ε1 for `published`, from its paper.
        meaning: what the figures say, in words.
        removed: the sample.
    """

    connections: int
    seed: int
    seconds: float
    promised: float
    meaning: str
    removed: tuple[Removal, ...]


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    Attributes:
        notice: that it is for the owner alone.
        graph, run, p, score: what it rests on; the last three None without groups.
        mechanism, promise, k, epsilon, delta: what was audited; δ is 0 for `critical`.
        covered: share of the connections that lie inside groups; None without groups or connections.
        protected: share of all pairs of vertices that lie inside groups; None without groups or pairs, or where the
            groups are too large for `critical`.
        exact: how many counts are published exactly.
        exact_supports: whether `critical`'s scales rest on exact supports, or on a bound; None for the others.
        inside: losses of all pairs inside groups; None likewise.
        connections: losses of all connections of the graph.
        scales: simulated λ; None for `critical`.
        removals: None where groups play no part, or none was asked for.
        fits: how exact the total would be with `critical`, `edge` and `elv`, of those that can be had.
        advice: which of them fits, in words.
    """

    notice: str
    graph: str
    run: str | None
    p: str | None
    score: str | None
    mechanism: str
    promise: str
    k: int
    epsilon: float
    delta: float
    covered: float | None
    protected: float | None
    exact: int
    exact_supports: bool | None
    inside: Losses | None
    connections: Losses
    scales: Scales | None
    removals: Removals | None
    fits: tuple[Fit, ...]
    advice: str
