"""What readers have seen, and which of it the rules of the specification rule out.

A read is identified by the digests of the hubs that it got: an editor may delete the nodes behind them, but not hubs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AnswersSeen", "History", "LedgerSeen", "Members", "Read", "faults_of"]


@dataclass(frozen=True)
class Read:
    """What a reader got of one run at one version.

    Attributes:
        reader: who.
        run: its id.
        version: at which it was read.
        digests: of the hubs, ascending.
        is_current: whether that was the version that readers go by.
    """

    reader: str
    run: str
    version: int
    digests: tuple[str, ...]
    is_current: bool


@dataclass(frozen=True)
class Members:
    """What somebody got of the members of one run at one version, in plain Cypher, from `show` or from an export.

    Attributes:
        reader: who.
        run: its id.
        version: at which it was read.
        members: by vertex.
        is_whole: whether these are all vertices that have a cohesion.
    """

    reader: str
    run: str
    version: int
    members: Mapping[Any, frozenset[Any]]
    is_whole: bool = False


@dataclass(frozen=True)
class LedgerSeen:
    """Public files, and the ledger read after them: of each release who made it, and its ε."""

    published: tuple[tuple[str, str], ...]
    recorded: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AnswersSeen:
    """All answers that were there at one moment.

    Attributes:
        answers: status, message and time of each, by the request's id.
        ahead: requests whose answer names a version that no run had reached.
    """

    answers: Mapping[Any, tuple[str, ...]]
    ahead: tuple[Any, ...] = ()


@dataclass
class History:
    """What was seen. Each of the lists is in the order in which one reader saw it, but for `reads`, of several.

    Attributes:
        reads: those that came to an end, and whose version was still kept then.
        ledgers: one after the other.
        answers: likewise.
        placed: requests that must be answered in the end.
        members: as for `reads`.
        gone: keys of vertices that an editor has deleted: what they are members of, or have, goes with them.
    """

    reads: list[Read] = field(default_factory=list)
    ledgers: list[LedgerSeen] = field(default_factory=list)
    answers: list[AnswersSeen] = field(default_factory=list)
    placed: list[Any] = field(default_factory=list)
    members: list[Members] = field(default_factory=list)
    gone: set[Any] = field(default_factory=set)


def faults_of(history: History) -> list[str]:
    """Return what cannot be: one sentence for each fault."""
    return [
        *_faults_of_reads(history.reads),
        *_faults_of_ledgers(history.ledgers),
        *_faults_of_answers(history.answers, history.placed),
        *_faults_of_members(history.members, history.gone),
    ]


def _faults_of_reads(reads: Iterable[Read]) -> Iterable[str]:
    """Whoever reads a version gets the same, and nobody goes back."""
    first: dict[tuple[str, int], Read] = {}
    latest: dict[tuple[str, str], int] = {}
    for read in reads:
        other = first.setdefault((read.run, read.version), read)
        if other.digests != read.digests:
            got = f"{len(other.digests)} and {len(read.digests)} hubs"
            yield f"{other.reader} and {read.reader} read {got} of {read.run} at version {read.version}"
        if read.is_current:
            if read.version < latest.get((read.reader, read.run), 0):
                yield f"{read.reader} read version {read.version} of {read.run} after a later one"
            latest[read.reader, read.run] = read.version


def _faults_of_ledgers(ledgers: Iterable[LedgerSeen]) -> Iterable[str]:
    """What is published was recorded before, and no record goes."""
    before: Counter[tuple[str, str]] = Counter()
    for seen in ledgers:
        recorded = Counter(seen.recorded)
        for what in Counter(seen.published) - recorded:
            yield f"{what} is published and not in the ledger"
        for what in before - recorded:
            yield f"{what} was in the ledger and has gone"
        before = recorded


def _faults_of_answers(answers: Iterable[AnswersSeen], placed: Iterable[Any]) -> Iterable[str]:
    """An answer comes once, stays as it is, and not before what it speaks of; none is missing in the end."""
    before: Mapping[Any, tuple[str, ...]] = {}
    for seen in answers:
        for request, answer in before.items():
            if seen.answers.get(request) != answer:
                yield f"request {request} was answered {answer}, and then {seen.answers.get(request)}"
        for request in seen.ahead:
            yield f"request {request} was answered before its version could be read"
        before = seen.answers
    for request in placed:
        if request not in before:
            yield f"request {request} has no answer"


def _faults_of_members(seen: Iterable[Members], gone: Collection[Any]) -> Iterable[str]:
    """A cohesion of a version has the same members for everybody, and a whole run the same cohesions."""
    first: dict[tuple[str, int], dict[Any, tuple[str, frozenset[Any]]]] = {}
    whole: list[Members] = []
    for got in seen:
        where, named = (got.run, got.version), f"of {got.run} at version {got.version}"
        known = first.setdefault(where, {})
        for vertex, members in got.members.items():
            other, before = known.setdefault(vertex, (got.reader, members))
            if (members ^ before).difference(gone):
                yield f"{other} got {sorted(before)} at {vertex} {named}, and {got.reader} {sorted(members)}"
        if got.is_whole:
            whole.append(got)
    for got in whole:
        if lacks := first[got.run, got.version].keys() - got.members.keys() - set(gone):
            yield f"{got.reader} got no cohesion at {sorted(lacks)} of {got.run} at version {got.version}"
