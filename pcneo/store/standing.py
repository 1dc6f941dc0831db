"""The life of standing runs: begun, given versions, swept of what dead writers left, trimmed of versions no one reads.

All of it is done by the one writer of a graph: under its lock, and behind its fence (DATA-MODEL.md#runs-and-versions).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from pcneo.basics.json_form import camel
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.errors import GraphError, WriteMismatchError
from pcneo.store.database import Database, GraphRecord
from pcneo.store.fence import Fence
from pcneo.store.hub_writer import HubWriter
from pcneo.store.lock import WAIT_SECONDS, GraphLock
from pcneo.store.run_reader import refuse_other_formats
from pcneo.store.schema import FORMAT
from pcneo.store.transaction import Transaction

MOST_VERSIONS = 2**52
"""The bound on a graph's version numbers. `until` is 2^53 - 1 in current hubs; a number near that would hide hubs."""
RECORDS = 1_000
"""Versions of a run whose records stay after their hubs have gone."""


@dataclass(frozen=True)
class Keeping:
    """How long the hubs of replaced versions are kept.

    Attributes:
        versions: at least this many are kept.
        seconds: a version is kept at least this long after it was replaced.
    """

    versions: int = 3
    seconds: int = 600


@dataclass(frozen=True, kw_only=True)
class VersionRecord:
    """What `PCohesionVersion` records about a new version; `replaces` is the one before, the rest as in `RunRecord`."""

    replaces: int
    version: int
    added: int
    retired: int
    pcneo: str
    revision: int
    effort: int
    cohesions: int
    memberships: int
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    fingerprint: str | None
    membership_hash: str | None
    from_files: bool

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the statement `create_version`."""
        return {camel(name): value for name, value in vars(self).items()}


def run_id(graph: str, search: Search, scope: str, answers: str = "") -> str:
    """Return the id of a standing run: `friends@3/10`, `friends@3/10:density`, `friends@3/10:vertices`.

    The id of a run of answers has the beginning of their hash in it: `friends@3/10:answers:5f0c1e77`.
    """
    kind = [scope] if scope != "graph" else []
    return ":".join([f"{graph}@{search}", *kind, *filter(None, [answers])])


class OpenGraph:
    """A graph whose only writer is the holder of this object; made by `open_graph`.

    Attributes:
        graph: the graph's record.
        lock: its lock.
        fence: its fence, which has been taken.
        hubs: writes hubs behind the fence.
        began: the server's time when its writer began.
        swept: how many hubs of earlier writers were swept.
    """

    def __init__(self, db: Database, graph: GraphRecord, lock: GraphLock) -> None:
        """Shut out earlier writers."""
        self.swept = 0
        self.graph = graph
        self.lock = lock
        self.began = lock.locked_at
        self._db = db
        self._last: int | None = None
        self._counting = threading.Lock()
        self.fence = Fence(db, graph.name)
        self.fence.take()
        self.hubs = HubWriter(self.fence, graph.selection, lock.check)

    @property
    def committing(self) -> bool:
        """Whether its last writes are being committed: from then on their outcome is unknown here."""
        return self.lock.committing

    def sweep(
        self, report: Callable[[int], object] | None = None, ready: Callable[[OpenGraph], object] | None = None
    ) -> int:
        """Undo what was written for versions that never came, and delete runs without one; return the hubs deleted.

        `ready` is called once the runs of single vertices are done; those of whole graphs may take minutes.
        """
        deleted = 0
        for scope, run, version in self._db.list_remains(self.graph.name):
            if scope == "graph" and ready is not None:
                ready(self)
            before = deleted
            deleted += self.hubs.undo(run, version, report and (lambda done, before=before: report(before + done)))
            if version == 0:
                self.hubs.delete_run(run)
        if ready is not None:
            ready(self)
        return deleted

    def next_version(self) -> int:
        """Return a number above the graph's last one, those of its runs, and those returned before."""
        with self._counting:
            self._last = (self._last_on_record() if self._last is None else self._last) + 1
            return self._last

    def _last_on_record(self) -> int:
        runs = [version for _, version in self._db.list_unfinished(self.graph.name)]
        last = max(self.lock.last_version, self.fence.last_version)
        are_numbers = all(type(run) is int and 0 <= run < MOST_VERSIONS for run in runs)
        if not 0 <= self.lock.last_version <= last < MOST_VERSIONS or not are_numbers:
            raise GraphError(
                f"Graph {self.graph.name!r} records {last} as its last version, and its runs record "
                f"{', '.join(map(str, runs)) or 'nothing'}. pcneo never writes that: someone has changed it. Remove "
                "the property `lastVersion` of its node PCohesionGraph, and clean any run with such a number; the next "
                "version is then numbered after those that are left.",
                graph=self.graph.name,
            )
        return max([last, *runs])

    def begin(self, search: Search, scope: str, answers: str = "") -> tuple[str, int]:
        """Return the id of a standing run and the version that readers go by; a new run is entered, at version 0."""
        run = run_id(self.graph.name, search, scope, answers)
        return run, self._db.merge_run(run, self.graph.name, scope, search)

    @contextmanager
    def last_writes(self) -> Iterator[Transaction]:
        """Yield the lock's transaction, which is committed at the end of the block if the fence still stands.

        A writer that has lost the lock without noticing may have taken the fences since, and swept what was written.
        """
        with self.lock.last_writes() as transaction:
            self.fence.hold(transaction)
            yield transaction

    def complete(self, transaction: Transaction, run: str, record: VersionRecord) -> None:
        """Make a version the one that readers go by, in the transaction that holds the lock."""
        written = transaction.run("count_written", run=run, next=record.version)[0]
        intended = {"added": record.added, "retired": record.retired}
        if written != intended:
            raise WriteMismatchError(
                f"Run {run}: {written['added']} hubs were added and {written['retired']} retired instead of "
                f"{record.added} and {record.retired}. Nothing new is visible; run it again.",
                sent=intended,
                written=written,
            )
        if transaction.run("create_version", run=run, startedAt=self.began, **record.parameters())[0]["created"] != 1:
            raise WriteMismatchError(
                f"Run {run} is gone, or has another version than when it was read. Nothing new is visible.",
                sent=1,
                written=0,
            )
        self.note_version(transaction, record.version)

    def note_version(self, transaction: Transaction, version: int) -> None:
        """Note the graph's latest version number, in the transaction that makes that version visible."""
        with self._counting:
            last = max(version, self._last or 0)
        transaction.run("note_version", graph=self.graph.name, version=last)

    def trim(self, run: str, keeping: Keeping, relied_on: Callable[[Transaction, str], Collection[int]]) -> None:
        """Delete the hubs that no kept version has, and the records of versions long gone.

        `relied_on` returns the versions of a run that someone relies on, as a transaction sees them; those stay.
        """
        versions = self._db.list_versions(run)
        if not versions:  # someone has removed the run meanwhile
            return
        current = versions[-1]
        if self._db.count_retired(run) > current.memberships:
            keeping = Keeping(versions=1, seconds=0)
        before = [record.version for record in versions[:-1] if record.readable]
        with self.fence.held() as (transaction, _):
            transaction.run("hold_versions", run=run, versions=before)  # before it is asked what rests on them
            pinned = relied_on(transaction, run)
            values = {"keep": keeping.versions, "seconds": keeping.seconds, "pinned": list(pinned)}
            transaction.run("close_versions", run=run, version=current.version, **values)
            transaction.commit()
        versions = self._db.list_versions(run)
        self.delete_unkept(run, versions)
        old = [record.version for record in versions[:-RECORDS] if not record.readable and record.version not in pinned]
        if old:
            self.hubs.delete_versions(run, old)

    def delete_unkept(self, run: str, versions: Sequence[RunRecord]) -> int:
        """Delete the hubs of a run that none of its versions on record keeps; return how many.

        Such hubs exist between two kept versions only if a version between them is not kept.
        """
        deleted, after, gone = 0, 0, False
        for version in versions:
            if not version.readable:
                gone = True
                continue
            if gone:
                deleted += self.hubs.delete_between(run, after, version.version)
            after, gone = version.version, False
        return deleted


Opens = Callable[[Database, GraphRecord, Callable[[int], object] | None], AbstractContextManager[OpenGraph]]
"""How a graph is opened for writing; like `open_graph`."""


@contextmanager
def open_graph(
    db: Database,
    graph: GraphRecord,
    sweeping: Callable[[int], object] | None = None,
    patience: float = WAIT_SECONDS,
    ready: Callable[[OpenGraph], object] | None = None,
) -> Iterator[OpenGraph]:
    """Become the only writer of a graph, then sweep what earlier writers left.

    `sweeping` and `ready` go to the sweep; `patience` is how many seconds to wait for the lock.
    """
    with GraphLock(db, graph.name, patience) as lock:
        refuse_other_formats(later=graph.name if lock.format > FORMAT else None)
        opened = OpenGraph(db, graph, lock)
        opened.swept = opened.sweep(sweeping, ready)
        yield opened
