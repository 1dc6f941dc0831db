"""The result of an audit, as values."""

from __future__ import annotations

from dataclasses import dataclass

from pcneo.basics.model import Key
from pcneo.privacy.advice import Fit
from pcneo.privacy.simulated_scales import SimulatedScales

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
    """What the pairs of one kind cost, in ε: by their answers, or at the median of a random scale.

    Attributes:
        pairs: how many there are.
        promised: what the mechanism, or its paper, says that a pair costs at most; None where it says nothing.
        quantiles: the losses that 50, 90, 99 and 100 % of the pairs do not exceed.
        largest: the largest loss, at its 5, 50 and 95 % quantiles over simulated scales; None where none is drawn.
        worst: the pairs that cost most, at most ten.
    """

    pairs: int
    promised: float | None
    quantiles: tuple[float, ...]
    largest: tuple[float, float, float] | None
    worst: tuple[PairLoss, ...]


@dataclass(frozen=True)
class Removal:
    """One connection removed, and memberships computed again.

    Attributes:
        pair: its ends by key.
        inside: whether both lie in one stored group.
        groups: vertices whose cohesion changes.
        scales: vertices whose scale changes, or what stands for it (`RemovalEffect`); `meaning` says which.
        mean: the average log-ratio of what is published, in favour of the truth; None where it is not computed.
        worst: the largest log-ratio of what is published or reported; `meaning` says of which.
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
        promised: what the mechanism or its paper allows if the groups stay.
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
    """The result of an audit.

    Attributes:
        notice: that it is for the owner alone.
        graph, run, p, search: what it rests on; the last three None without groups.
        mechanism, promise, k, epsilon, delta: what was audited; δ is 0 for a mechanism that has none.
        covered: share of the connections that lie inside groups; None without groups or connections.
        protected: share of all pairs of vertices that lie inside groups; None without groups or pairs, or where the
            groups are too large for `critical`.
        exact: how many counts are published exactly.
        inside: losses of all pairs inside groups, under `critical`; None for the others.
        connections: losses of all connections of the graph; None under `critical`.
        scales: simulated λ; None where none is drawn.
        removals: None where groups play no part, or none was asked for.
        fits: how exact the total would be with each mechanism that an audit compares, of those that can be had.
        advice: which of them fits, in words.
    """

    notice: str
    graph: str
    run: str | None
    p: str | None
    search: str | None
    mechanism: str
    promise: str
    k: int
    epsilon: float
    delta: float
    covered: float | None
    protected: float | None
    exact: int
    inside: Losses | None
    connections: Losses | None
    scales: SimulatedScales | None
    removals: Removals | None
    fits: tuple[Fit, ...]
    advice: str
