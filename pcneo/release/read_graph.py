"""A graph that releases read, with the memberships of its runs, checked against what the runs recorded."""

from __future__ import annotations

from typing import Self

import numpy as np

from pcneo.basics.model import Graph, Progress
from pcneo.basics.run_record import RunRecord
from pcneo.counting.cliques import clique_supports
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import pairs_in_groups_of_two
from pcneo.errors import GraphChangedError
from pcneo.graph import fingerprint, hash_of_batches
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.privacy.quantiles import quantiles
from pcneo.release.kept_groups import groups_now
from pcneo.store.chosen_graph import read_graph
from pcneo.store.database import Database, GraphRecord


class ReadGraph:
    """One graph, read once for all releases of it; until `read`, only its record is there.

    Attributes:
        record: the graph as the database knows it.
        graph: its arrays.
        fingerprint: of these arrays, under the graph's key; for the owner alone.
    """

    graph: Graph
    fingerprint: str

    def __init__(self, record: GraphRecord) -> None:
        """Begin with nothing read."""
        self.record = record
        self._facts: dict[tuple[str, int, bool] | None, CountedGraph] = {}

    def read(self, db: Database, progress: Progress | None = None) -> Self:
        """Read the graph into arrays, or refuse it as `read_graph` does."""
        self.graph = read_graph(db, self.record.selection, progress).graph
        self.fingerprint = fingerprint(self.graph, bytes.fromhex(self.record.fingerprint_key))
        self._facts[None] = CountedGraph(self.graph)
        return self

    def facts(self, run: RunRecord | None = None, *, kept: bool = False) -> CountedGraph:
        """Return what is counted on the graph, and on a run's groups if one is given: these must have been read."""
        return self._facts[run and (run.id, run.version, kept)]

    def read_kept_groups(self, db: Database, run: RunRecord, progress: Progress | None = None) -> None:
        """Read the groups of a kept version once, whatever graph they came from."""
        if (run.id, run.version, True) in self._facts:
            return
        if progress:
            progress("reading groups", 0, run.memberships)
        hubs = db.stream_groups(self.record.selection, run)
        groups = groups_now(self.graph, hubs, run, bytes.fromhex(self.record.fingerprint_key))
        if progress:
            progress("reading groups", run.memberships, run.memberships)
        self._facts[run.id, run.version, True] = self.facts().with_groups(groups, f"run {run.id}")

    def read_groups(self, db: Database, run: RunRecord, progress: Progress | None = None) -> None:
        """Read a run's memberships once, and check graph and memberships against what the run recorded."""
        if (run.id, run.version, False) in self._facts:
            return
        # [same-arrays] Both hashes are taken of the arrays that are counted on below, not of a second reading.
        if self.fingerprint != run.fingerprint:
            raise GraphChangedError(
                f"The graph is no longer the one that run {run.id} was computed on. Annotate it again.", run=run.id
            )
        if progress:
            progress("reading groups", 0, run.memberships)
        with db.reading_version(run):
            rows = db.page_cohesions(self.record.selection, run, self.graph.keys)
            batch = batch_from_rows(self.graph, rows, run.search)
        if hash_of_batches([batch]) != run.membership_hash:
            raise GraphChangedError(
                f"The stored memberships of run {run.id} are no longer those that were written. "
                "Annotate the graph again.",
                run=run.id,
            )
        if progress:
            progress("reading groups", len(batch.members), run.memberships)
        self._facts[run.id, run.version, False] = self.facts().with_groups(batch, f"run {run.id}")

    def losses(self, k: int) -> tuple[float, ...]:
        """Return, for each share in `QUANTILES`, the loss at scale 1 that so many of the connections do not exceed.

        That loss is k·support_k(e), to be divided by the scale (GUARANTEE.md#loss-of-one-connection).
        """
        return quantiles(k * clique_supports(self.graph, k).astype(np.float64))

    def share_inside(self, run: RunRecord) -> float | None:
        """Return the share of the graph's connections that lie inside some group; None without connections."""
        return float(self.facts(run).protected().inside.mean()) if self.graph.edge_count else None

    def groups_now(self, run: RunRecord, *, kept: bool = False) -> dict[str, float | None]:
        """Return what share of the connections no group holds, and what share of the others is a group of two."""
        facts = self.facts(run, kept=kept)
        inside, of_two = facts.protected().inside, pairs_in_groups_of_two(facts.protected())
        return {
            "connectionsOutsideGroups": float(1 - inside.mean()) if len(inside) else None,
            "insideInGroupsOfTwo": float(of_two / inside.sum()) if inside.any() else None,
        }
