"""A graph that releases read, with the memberships of its runs, checked against what the runs recorded."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import NoReturn, Self

import numpy as np

from pcneo.basics.model import Graph, Key, Progress
from pcneo.basics.run_record import RunRecord
from pcneo.counting.cliques import clique_supports
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups, pairs_in_groups_of_two
from pcneo.errors import GraphChangedError
from pcneo.graph import HubDigests, fingerprint, hash_of_batches, membership_hash, owner_hash
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.privacy.quantiles import quantiles
from pcneo.store.chosen_graph import read_graph
from pcneo.store.database import Database, GraphRecord
from pcneo.store.run_reader import KeptHub

log = logging.getLogger("pcneo")


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

    def shares_of_groups(self, run: RunRecord, *, kept: bool = False) -> dict[str, float | None]:
        """Return what share of the connections no group holds, and what share of the others is a group of two."""
        facts = self.facts(run, kept=kept)
        inside, of_two = facts.protected().inside, pairs_in_groups_of_two(facts.protected())
        return {
            "connectionsOutsideGroups": float(1 - inside.mean()) if len(inside) else None,
            "insideInGroupsOfTwo": float(of_two / inside.sum()) if inside.any() else None,
        }


# --- Groups of an earlier date on the graph as it is now (GUARANTEE.md#kept-groups)


def groups_now(graph: Graph, hubs: Iterable[KeptHub], version: RunRecord, fingerprint_key: bytes) -> Groups:
    """Return the groups of a kept version: the members of each that are still there, by position in the graph.

    Members that are gone drop out; vertices that came later are in no group. This checks what can be checked: every hub
    is there; a hub that lacks no one has the members that were written, and if no hub lacks anyone, all of them have
    the membership hash; other hubs lack no more members than are gone; and no vertex's key has changed.
    """
    place = {key: i for i, key in enumerate(graph.keys.tolist())}
    digests, stored = HubDigests(fingerprint_key), list(hubs)
    gone = {hub.owner for hub in stored if not hub.vertices}
    # [kept-returned] The groups no longer know it, and earlier releases protected its pairs.
    for key in graph.keys.tolist() if gone else ():
        if owner_hash(key, fingerprint_key) in gone:
            _refuse(version, f"vertex {key!r} was deleted and has come back, and is no longer in any group")
    whole = [row for hub in stored if (row := _checked(hub, len(gone), fingerprint_key, digests, version)) is not None]
    if len(stored) != version.cohesions:
        _refuse(version, f"it has {len(stored):,} of {version.cohesions:,} cohesions")
    if len(whole) == len(stored) and membership_hash(whole) != version.membership_hash:
        _refuse(version, "its memberships have changed")
    members = [sorted(place[key] for key in hub.members if key in place) for hub in stored]
    _log_changes(graph, stored, place, version)
    return Groups(
        np.cumsum([0, *map(len, members)], dtype=np.int64),
        np.array([at for group in members for at in group], np.uint32),
    )


def _checked(
    hub: KeptHub, gone: int, fingerprint_key: bytes, digests: HubDigests, version: RunRecord
) -> tuple[Key, list[Key]] | None:
    """Check one hub; return its owner and its members if it lacks no one."""
    vertices, members = list(_keys(hub.vertices, version)), list(_keys(hub.members, version))
    if len(vertices) > 1 or any(owner_hash(vertex, fingerprint_key) != hub.owner for vertex in vertices):
        _refuse(version, "the key of a vertex has changed")
    if len(members) != len(set(members)) or not hub.size - gone <= len(members) <= hub.size:
        _refuse(version, "members came or went, but not because vertices did")
    if not vertices or len(members) < hub.size:
        return None
    if digests.digest(vertices[0], members) != hub.digest:
        _refuse(version, "its memberships have changed")
    return vertices[0], members


def _keys(keys: Iterable[object], version: RunRecord) -> Iterator[Key]:
    for key in keys:
        if not isinstance(key, int | str):
            _refuse(version, "a vertex has lost its key")
        yield key


def _refuse(version: RunRecord, why: str) -> NoReturn:
    raise GraphChangedError(
        f"The groups of version {version.version} of run {version.id} are no longer those that were written: {why}. "
        "Annotate the graph again, and release on the new groups with --other-groups (in Python `other_groups=True`).",
        run=version.id,
        version=version.version,
    )


def _log_changes(graph: Graph, hubs: list[KeptHub], place: dict[Key, int], version: RunRecord) -> None:
    """Log how far the graph has moved on; which vertices there are is public."""
    known = {key for hub in hubs for key in hub.vertices}
    log.info(
        "groups of version %d of run %s: %s of its %s vertices are still there, and %s came later, in no group",
        version.version,
        version.id,
        f"{len(place.keys() & known):,}",
        f"{version.cohesions:,}",
        f"{len(place.keys() - known):,}",
    )
