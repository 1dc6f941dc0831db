"""Releases as their owner makes and holds them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from pcneo.basics.frames import Table
from pcneo.basics.model import AnyPath, Progress
from pcneo.basics.selection import Selection
from pcneo.privacy.mechanisms import Mechanism
from pcneo.release import Prepared, Release, Released, Terms, read_batch, release
from pcneo.release.answers_file import AnswersFile
from pcneo.release.beforehand import lines_beforehand
from pcneo.release.public_file import PublicRelease, read_release
from pcneo.release.request import each_k
from pcneo.store.database import Database

log = logging.getLogger("pcneo")


class Counts(Table):
    """The results of a release: counts, and what is known about them.

    >>> out = run.release(pcneo.Critical(k=(3, 4), epsilon=1), to="groups.csv")
    >>> out
    Release of critical, k=3 and 4, ε = 1: groups-k3-e1.csv, groups-k4-e1.csv
    >>> out.promise.split(",")[0]
    'Given the stored groups and all other connections'
    >>> out.to_pandas().columns.tolist()[:3]
    ['k', 'key', 'count']

    Its table is read from the public files, so it holds nothing that others may not see. `public[0].meanings` says what
    each column is: with `respond`, for example, `standardError` is often several times too large.

    Attributes:
        mechanism: its name.
        epsilon: ε of the release, which all its k share.
        ks: the numbers of vertices of the cliques that are counted.
        promise: the mechanism's sentence.
        plain_words: the same with its numbers, for people who decide; empty if nothing is promised.
        releases: each file's release; empty after a dry run.
        beforehand: what was reported before the spend; lines that say so are only for the owner.
    """

    def __init__(self, prepared: Sequence[Prepared], released: Sequence[Released], terms: Terms) -> None:
        """Take the prepared releases and those that were made; after a dry run there are none of the latter."""
        self.releases = tuple(released)
        self.beforehand = tuple(line for ready in prepared for line in lines_beforehand(ready, terms))
        # A prepared release holds exact counts, and is not kept.
        self.mechanism = prepared[0].mechanism.name
        joint = prepared[0].joint if len(prepared) > 1 else None
        self.epsilon: Fraction = (joint and joint.epsilon) or prepared[0].mechanism.epsilon
        self.ks = tuple(ready.mechanism.k for ready in prepared)
        self.promise = prepared[0].promise
        self.plain_words = prepared[0].in_plain_words

    @property
    def files(self) -> tuple[Path, ...]:
        """The public files; none after a dry run."""
        return tuple(release.public for release in self.releases)

    @property
    def reports(self) -> tuple[Path, ...]:
        """The owner's reports, Markdown and JSON of each file."""
        return tuple(report for release in self.releases for report in release.reports)

    @property
    def answers(self) -> Path | None:
        """The file of answers; None if the mechanism draws none, or if they were destroyed."""
        return next((release.answers for release in self.releases if release.answers is not None), None)

    @cached_property
    def public(self) -> tuple[PublicRelease, ...]:
        """Each public file as its reader gets it."""
        return tuple(map(read_release, self.files))

    @property
    def standard_error(self) -> Mapping[int, float | None]:
        """By k, the standard error of a count, the root mean square if they differ; None where none is known."""
        return {k: made.standard_error_of_a_count for made, k in zip(self.releases, self.ks, strict=False)}

    @property
    def standard_error_of_total(self) -> Mapping[int, float | None]:
        """By k, the standard error of the total; None where it may not be published, or none is known."""
        return {k: made.standard_error_of_total for made, k in zip(self.releases, self.ks, strict=False)}

    @property
    def total(self) -> Mapping[int, float]:
        """By k, how many cliques the graph has, with noise."""
        return {k: release.total for release, k in zip(self.releases, self.ks, strict=False)}

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the files, one file below the other, and the k of each row."""
        tables = [(k, public.as_columns()) for k, public in zip(self.ks, self.public, strict=False)]
        names = dict.fromkeys(name for _, columns in tables for name in columns)
        lengths = [len(next(iter(columns.values()))) for _, columns in tables]
        joined: dict[str, list[Any]] = {
            name: [x for (_, columns), n in zip(tables, lengths, strict=True) for x in columns.get(name, [None] * n)]
            for name in names
        }
        return {"k": [k for (k, _), n in zip(tables, lengths, strict=True) for _ in range(n)], **joined}

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return f"{self!r}. {self.promise}"

    def __repr__(self) -> str:
        """Describe the release in a line."""
        from pcneo.privacy.exact import decimal_text

        ks = " and ".join(map(str, self.ks))
        files = (
            ", ".join(file.name for file in self.files) or "a dry run, nothing was spent (what to expect: .beforehand)"
        )
        return f"Release of {self.mechanism}, k={ks}, ε = {decimal_text(self.epsilon)}: {files}"


def needs_groups(mechanism: object) -> bool:
    """Whether a mechanism rests on the groups of a run."""
    if not isinstance(mechanism, Mechanism):
        raise TypeError(
            f"mechanism is a value such as pcneo.Respond(epsilon=3), not {mechanism!r}, which is "
            f"{type(mechanism).__name__}"
        )
    return mechanism.needs_groups


def answers_of(path: AnyPath | None) -> AnswersFile | None:
    """Open a file of answers, if one is named."""
    return None if path is None else AnswersFile.open(path)


def make_release(
    db: Database,
    request: Release,
    terms: Terms,
    *,
    selection: Selection = Selection(),
    progress: Progress | None = None,
) -> Counts:
    """Make a release for each k of its mechanism; return its results."""
    prepared, released = _release(db, each_k(request), terms, selection, progress)
    return Counts(prepared, released, terms)


def release_batch(
    db: Database, path: AnyPath, terms: Terms, *, selection: Selection, progress: Progress | None
) -> list[Counts]:
    """Make the releases in the rows of a CSV file together; return a `Counts` for each file that is written."""
    prepared, released = _release(db, read_batch(path), terms, selection, progress)
    made = released or [None] * len(prepared)
    each = zip(prepared, made, strict=True)
    return [Counts([ready], [one] if one else [], terms) for ready, one in each]


def _release(
    db: Database, requests: Sequence[Release], terms: Terms, selection: Selection, progress: Progress | None
) -> tuple[Sequence[Prepared], Sequence[Released]]:
    prepared, released = release(db, requests=requests, selection=selection, terms=terms, progress=progress)
    for made in released:
        if made.warning:
            log.warning("%s: %s", made.public.name, made.warning)
    return prepared, released
