"""Use case: compare standing runs with the graph as it is now, and stored memberships with what was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pcneo.basics.model import Key, Progress
from pcneo.basics.run_record import RunRecord
from pcneo.errors import KeyPropertyError
from pcneo.graph import fingerprint, membership_hash
from pcneo.store.chosen_graph import find_graph, read_graph
from pcneo.store.database import Database, GraphRecord
from pcneo.stored.runs import find_run


@dataclass(frozen=True)
class VerifiedRun:
    """How a run compares with what is in the database now.

    Attributes:
        run: the record.
        graph_same: whether the graph's vertices and edges are those of the run; None unless the scope is `graph`.
        memberships_same: whether the stored memberships are those that were written; for a `vertices` run, whether
            there are as many.
    """

    run: RunRecord
    graph_same: bool | None
    memberships_same: bool

    @property
    def has_changed(self) -> bool:
        """Whether the graph or the memberships differ from what was stored."""
        return False in (self.graph_same, self.memberships_same)

    def __repr__(self) -> str:
        """Return the run and both comparisons, in a line."""
        graph = "not compared" if self.graph_same is None else _verdict(self.graph_same)
        memberships = _verdict(self.memberships_same)
        return (
            f"Run {self.run.id}, version {self.run.version}: graph as read: {graph}; "
            f"memberships as written: {memberships}"
        )


def _verdict(same: bool) -> str:
    return "same" if same else "CHANGED"


def verify(db: Database, *, run: str, progress: Progress | None = None) -> VerifiedRun:
    """Read a run's graph and memberships again and compare them with what was recorded."""
    record = find_run(db, run=run).run
    (compared,) = verified(db, find_graph(db, record.graph), [record], progress)
    return compared


def by_graph(runs: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """Group runs by the name of their graph; each group keeps the given order."""
    grouped: dict[str, list[RunRecord]] = defaultdict(list)
    for run in runs:
        grouped[run.graph].append(run)
    return grouped


def verified(
    db: Database, graph: GraphRecord, runs: Sequence[RunRecord], progress: Progress | None = None
) -> list[VerifiedRun]:
    """Compare runs of one graph, which is read once."""
    now = None
    if any(record.scope == "graph" for record in runs):
        read = read_graph(db, graph.selection, progress).graph
        now = fingerprint(read, bytes.fromhex(graph.fingerprint_key))
    return [
        VerifiedRun(
            run=record,
            graph_same=now == record.fingerprint if record.scope == "graph" else None,
            memberships_same=_memberships_same(db, graph, record, progress),
        )
        for record in runs
    ]


def _memberships_same(db: Database, graph: GraphRecord, run: RunRecord, progress: Progress | None) -> bool:
    counts = {"cohesions": 0, "memberships": 0}
    stage = f"reading run {run.id}"

    def rows() -> Iterator[tuple[Key, list[Key]]]:
        for done, (vertex, members) in enumerate(db.stream_cohesions(graph.selection, run), 1):
            if not all(isinstance(key, int | str) for key in (vertex, *members)):
                raise KeyPropertyError(f"A hub of run {run.id} names a vertex without a usable key.", run=run.id)
            counts["cohesions"] += 1
            counts["memberships"] += len(members)
            yield vertex, members
            if progress and done % 1_000 == 0:
                progress(stage, done, run.cohesions)
        if progress:
            progress(stage, counts["cohesions"], counts["cohesions"])

    try:
        with db.reading_version(run):
            digest = membership_hash(rows())
    except KeyPropertyError:  # an owner or a member is gone, or has lost its key
        return False
    if run.membership_hash is None:
        return counts == {"cohesions": run.cohesions, "memberships": run.memberships}
    return digest == run.membership_hash
