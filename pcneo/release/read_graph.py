"""A graph as it was read for releases, its groups, and what is computed on these arrays, each once for all releases."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pcneo.counting import cliques, common_neighbours
from pcneo.counting.protected import (
    LargestSupports,
    Protected,
    common_bounds,
    largest_shared,
    largest_supports,
    protect,
    refused_memory,
)
from pcneo.errors import GraphChangedError, GraphError
from pcneo.graph import MembershipHash, fingerprint
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.model import CohesionBatch, Graph, Progress, Run
from pcneo.store.chosen_graph import read_graph
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway
from pcneo.stored.networks import critical_counts

__all__ = ["Source", "read_source"]


class Source:
    """One graph.

    Attributes:
        record: the graph as the database knows it.
        graph: its arrays.
        fingerprint: of these arrays, under the graph's key; for the owner alone.
        groups: the memberships that were read, by run.
    """

    def __init__(self, record: GraphRecord, graph: Graph) -> None:
        """Take the arrays as they were read."""
        self.record = record
        self.graph = graph
        self.fingerprint = fingerprint(graph, bytes.fromhex(record.fingerprint_key))
        self.groups: dict[str, CohesionBatch] = {}
        self._counts: dict[int, NDArray[np.int64]] = {}
        self._protected: dict[str, Protected] = {}
        self._shared: dict[str, NDArray[np.int64]] = {}
        self._supports: dict[tuple[str, int], LargestSupports] = {}
        self._common_bounds: dict[str, tuple[int, int]] = {}

    def read_groups(self, gateway: LedgerGateway, run: Run, progress: Progress | None = None) -> None:
        """Read a run's memberships once, and check graph and memberships against what the run recorded.

        Raises:
            GraphChangedError: the graph or the memberships are no longer those of the run.
        """
        if run.id in self.groups:
            return
        # [same-arrays] Both hashes are taken of the arrays that are counted on below, not of a second reading.
        if self.fingerprint != run.fingerprint:
            raise GraphChangedError(
                f"The graph is no longer the one that run {run.id} was computed on. Annotate it again.", run=run.id
            )
        if progress:
            progress("reading groups", 0, run.memberships)
        rows = gateway.stream_cohesions(self.record.selection, run.id)
        batch = batch_from_rows(self.graph, rows, Fraction(run.p_text), run.score)
        digest = MembershipHash()
        digest.update(batch)
        if digest.hexdigest() != run.membership_hash:
            raise GraphChangedError(
                f"The stored memberships of run {run.id} are no longer those that were written. "
                "Annotate the graph again.",
                run=run.id,
            )
        if progress:
            progress("reading groups", len(batch.members), run.memberships)
        self.groups[run.id] = batch

    def count(self, sizes: Iterable[int]) -> None:
        """Count the cliques of several sizes, which together takes less time than one by one."""
        self._counts.update(cliques.clique_counts_of_sizes(self.graph, set(sizes) - self._counts.keys()))

    def counts(self, k: int) -> NDArray[np.int64]:
        """Return Γ(v) over the whole graph: int64, shape (n,)."""
        if k not in self._counts:
            self._counts[k] = cliques.clique_counts(self.graph, k)
        return self._counts[k]

    @cached_property
    def common(self) -> tuple[NDArray[np.int64], int]:
        """c(v), int64, shape (n,), and C, the largest of them."""
        return common_neighbours.largest_common(self.graph)

    def inner_degrees(self, run: Run) -> NDArray[np.int64]:
        """Return deg(v, MC(v)) for each vertex: int64, shape (n,)."""
        return common_neighbours.degrees_inside(self.graph, self.groups[run.id])

    def inner_common(self, run: Run) -> NDArray[np.int64]:
        """Return cn_in(v) for each vertex: int64, shape (n,)."""
        return common_neighbours.largest_common_inside(self.graph, self.groups[run.id])

    def largest_supports(self, run: Run, k: int) -> LargestSupports:
        """Return the largest S(e) of each vertex over the pairs inside groups.

        Raises:
            GraphError: the groups are too large, or an S(e) does not fit 64 bits.
        """
        if (run.id, k) not in self._supports:
            protected = self.protected(run)

            def shared() -> NDArray[np.int64]:  # for k = 3 and for every bound the same, and what takes long
                if run.id not in self._shared:
                    self._shared[run.id] = largest_shared(protected)
                return self._shared[run.id]

            self._supports[run.id, k] = largest_supports(protected, k, shared=shared)
        return self._supports[run.id, k]

    def protected(self, run: Run) -> Protected:
        """Return P̂ and Ĝ, which are counted and not listed.

        Raises:
            GraphError: the groups are too large.
        """
        if run.id not in self._protected:
            groups = self.groups[run.id]
            needed = refused_memory(self.graph, groups)
            if needed is not None:
                raise GraphError(
                    f"The groups of run {run.id} have {len(groups.members):,} members in all, for which critical needs "
                    f"about {needed / 1e9:.1f} GB. Use the mechanism edge, or a run with a smaller p.",
                    memberships=len(groups.members),
                    bytes=needed,
                )
            self._protected[run.id] = protect(self.graph, groups)
        return self._protected[run.id]

    def common_bounds(self, run: Run) -> tuple[int, int]:
        """Return the least and the most that C can be as far as P̂ and Ĝ tell."""
        if run.id not in self._common_bounds:
            self._common_bounds[run.id] = common_bounds(self.protected(run))
        return self._common_bounds[run.id]

    def share_inside(self, run: Run) -> float | None:
        """Return the share of the graph's connections that lie inside some group; None where there are none."""
        if not self.graph.edge_count:
            return None
        if run.id in self._protected:
            return float(self._protected[run.id].inside.mean())
        critical, _ = critical_counts(self.graph, self.groups[run.id])  # groups that `protected` may refuse for size
        return float((critical > 0).mean())


def read_source(gateway: LedgerGateway, record: GraphRecord, progress: Progress | None = None) -> Source:
    """Read a graph into arrays, or refuse it as `read_graph` does."""
    return Source(record, read_graph(gateway, record.selection, progress).graph)
