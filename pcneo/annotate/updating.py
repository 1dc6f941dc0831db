"""Brings runs up to date: everything is searched again, and only what differs is written.

A hub that equals what the search found stays. The next version adds new hubs and retires those that are gone or
different, and one transaction then moves all runs to that version (DATA-MODEL.md#bringing-a-run-up-to-date).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from pcneo.annotate.estimating import check_storable
from pcneo.annotate.plan import Plan
from pcneo.annotate.row_writing import rows_of, write_rows
from pcneo.annotate.stored_hubs import CurrentHubs
from pcneo.annotate.supply import Supply
from pcneo.basics.config import __version__
from pcneo.basics.frames import counted
from pcneo.basics.model import CohesionBatch, Key
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.graph import HubHasher
from pcneo.search import REVISION
from pcneo.search.tally import Summary, Tally
from pcneo.store.hub_writer import CohesionRow
from pcneo.store.run_reader import HubColumns
from pcneo.store.standing import OpenGraph, VersionRecord
from pcneo.store.transaction import Transaction


@dataclass(frozen=True)
class UpdatedRun:
    """One standing run after an update.

    Attributes:
        run: its id.
        search: what was searched for.
        scope: `graph`, `vertices` or `answers`.
        version: the version that readers now see.
        added: hubs that this version added; 0 where the run was up to date.
        retired: hubs that this version retired; 0 where the run was up to date.
        memberships_written: members of the added hubs.
        changed: whether the run has a new version.
        summary: sizes and densities of the cohesions that were searched for.
    """

    run: str
    search: Search
    scope: str
    version: int
    added: int
    retired: int
    memberships_written: int
    changed: bool
    summary: Summary

    def __repr__(self) -> str:
        """Return a line that sums it up."""
        cohesions, memberships = (
            counted(self.summary.cohesions, "cohesion"),
            counted(self.summary.memberships, "membership"),
        )
        change = f"{counted(self.added, 'cohesion')} added, {self.retired:,} removed" if self.changed else "up to date"
        return f"{self.run}, version {self.version}: {cohesions}, {memberships}; {change}"


@dataclass(frozen=True)
class _Begun:
    """A run on its way to its next version: `current` is the version that readers see, 0 for a new run."""

    id: str
    search: Search
    current: int


class Update:
    """One update of runs of a graph, by its only writer.

    Attributes:
        waited: the seconds spent waiting for the search.
    """

    def __init__(
        self,
        plan: Plan,
        opened: OpenGraph,
        supply: Supply,
        standing: Mapping[str, RunRecord],
        pages: Mapping[tuple[str, int], Iterable[HubColumns]],
    ) -> None:
        """Begin without any runs."""
        self.waited = 0.0
        self._plan = plan
        self._opened = opened
        self._supply = supply
        self._standing = standing
        self._pages = dict(pages)
        self._key = bytes.fromhex(opened.graph.fingerprint_key)
        self._fingerprint = supply.fingerprint(self._key)
        self._next = opened.next_version()
        self._records: list[tuple[str, VersionRecord]] = []

    def bring(self, search: Search) -> UpdatedRun:
        """Bring one run up to date: write its next version, unless nothing has changed."""
        run, version = self._opened.begin(search, self._supply.scope, self._supply.answers)
        begun = _Begun(run, search, version)
        standing = self._record_of(begun) if version > 0 else None
        is_current = self._is_current(begun, standing) and not self._supply.from_files
        if is_current and (run, version) in self._pages:
            # Hubs that were read ahead may be older than the graph, which does no harm where nothing is written.
            ahead = self._current_hubs(begun, self._pages.pop((run, version)))
            if (summary := ahead.summary) is not None:
                return self._unchanged(begun, summary)
        hubs = self._current_hubs(begun)
        if is_current and (summary := hubs.summary) is not None:
            return self._unchanged(begun, summary)
        check_storable(self._supply, search)
        return self._write(begun, hubs)

    def complete(
        self, runs: Sequence[UpdatedRun], answer: Callable[[Transaction, Sequence[UpdatedRun]], None] | None
    ) -> None:
        """Make the new versions of all runs visible in one commit; without a change or an `answer`, do nothing."""
        if not self._records and answer is None:
            return
        with self._opened.last_writes() as transaction:
            for run, record in self._records:
                self._opened.complete(transaction, run, record)
            if answer is not None:
                answer(transaction, runs)

    def _current_hubs(self, begun: _Begun, pages: Iterable[HubColumns] | None = None) -> CurrentHubs:
        return self._supply.current_hubs(self._opened.graph.selection, begun.id, begun.current, self._key, pages)

    def _record_of(self, begun: _Begun) -> RunRecord | None:
        """Return the record of the current version; the database is asked only if another writer has moved the run."""
        standing = self._standing.get(begun.id)
        moved = standing is None or standing.version != begun.current
        return self._plan.db.get_run(begun.id, begun.current) if moved else standing

    def _is_current(self, begun: _Begun, standing: RunRecord | None) -> bool:
        if standing is None:
            return False
        if standing.from_files and not self._supply.from_files:
            return False  # [searched-again] no search has confirmed the cohesions from files
        searched = standing.fingerprint, standing.revision, standing.search
        return searched == (self._fingerprint, REVISION, begun.search)

    def _unchanged(self, begun: _Begun, summary: Summary) -> UpdatedRun:
        return UpdatedRun(begun.id, begun.search, self._supply.scope, begun.current, 0, 0, 0, False, summary)

    def _write(self, begun: _Begun, hubs: CurrentHubs) -> UpdatedRun:
        tally, hasher = Tally(), HubHasher(self._key)
        retiring: list[Key] = []
        added = 0

        def rows() -> Iterator[CohesionRow]:
            nonlocal added
            for batch in self._awaited(self._supply.batches(begun.search)):
                tally.add(batch)
                digests = hasher.digests(batch)
                differing = np.flatnonzero(~hubs.agree(batch, digests)).tolist()
                added += len(differing)
                if begun.current:
                    retiring.extend(batch.keys[batch.vertices[differing]].tolist())
                yield from rows_of(batch, digests, self._key, differing)

        def create(session: int, part: Sequence[CohesionRow]) -> int:
            return self._opened.hubs.create(session, begun.id, self._next, begun.search, part)

        written = 0
        # An interrupted update removes what was written, so by then no transaction may still be under way.
        with closing(write_rows(create, rows(), gently=self._opened.hubs.gently)) as transactions:
            for memberships in transactions:
                written += memberships
                self._plan.progress(f"writing p={begun.search.p}", written, None)
        if written:
            self._plan.progress(f"writing p={begun.search.p}", written, written)  # the total is known only now
        retired = self._retire(begun, retiring)
        summary = tally.summary()
        if begun.current and not (added or retired or self._needs_record(begun)):
            return self._unchanged(begun, summary)
        self._records.append((begun.id, self._record(begun, added, retired, hasher)))
        return UpdatedRun(
            begun.id, begun.search, self._supply.scope, self._next, added, retired, written, True, summary
        )

    def _awaited(self, batches: Iterator[CohesionBatch]) -> Iterator[CohesionBatch]:
        """Yield the batches; the clock runs only while the next one is awaited."""
        while True:
            started = time.perf_counter()
            try:
                batch = next(batches, None)
            finally:
                self.waited += time.perf_counter() - started
            if batch is None:
                return
            yield batch

    def _needs_record(self, begun: _Begun) -> bool:
        """Whether to make a version though no hub changed, because the graph or the search did."""
        if self._fingerprint is None:
            return False
        return not self._is_current(begun, self._record_of(begun))

    def _retire(self, begun: _Begun, keys: Sequence[Key]) -> int:
        if not begun.current:
            return 0
        hubs = self._opened.hubs
        retired = hubs.retire(begun.id, begun.current, keys, self._next)
        return retired + hubs.retire_strays(begun.id, begun.current, self._next)

    def _record(self, begun: _Begun, added: int, retired: int, hasher: HubHasher) -> VersionRecord:
        node_count, relationship_count = self._supply.counts
        cohesions, memberships = self._plan.db.count_current(begun.id, self._next)
        return VersionRecord(
            replaces=begun.current,
            version=self._next,
            added=added,
            retired=retired,
            pcneo=__version__,
            revision=REVISION,
            effort=begun.search.effort,
            cohesions=cohesions,
            memberships=memberships,
            node_count=node_count,
            relationship_count=relationship_count,
            vertices=self._supply.vertices,
            edges=self._supply.edges,
            fingerprint=self._fingerprint,
            membership_hash=None if self._fingerprint is None else hasher.membership_hash(),
            from_files=self._supply.from_files,
        )
