"""Use cases: show one stored cohesion in the graph around it, and read every cohesion of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from pcneo.basics.keys import key_text
from pcneo.basics.model import CohesionAround, FoundCohesion, Key, Progress, ShownCohesion, StoredCohesions
from pcneo.basics.run_record import RunRecord, WholeId
from pcneo.basics.searches import AnyP
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, GraphError, KeyPropertyError, NotFoundError
from pcneo.graph import hash_of_batches
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.search.around import around
from pcneo.store.chosen_graph import find_keys, other_kind, read_graph
from pcneo.store.database import Database
from pcneo.store.run_reader import StoredHub
from pcneo.stored.networks import critical_counts
from pcneo.stored.runs import StoredRun, find_run


def show(
    db: Database,
    *,
    vertex: Key,
    run: str | None = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
) -> ShownCohesion:
    """Read the stored cohesion of one vertex, its connections, and the size of its extended local view.

    Reads only the neighbourhoods of the members and of the vertex's neighbours. Nothing is written.

    Returns:
        The cohesion in the graph as it is now.
    """
    return show_in(db, find_run(db, run=run, graph=graph, p=p, search=search, vertex=vertex), vertex)


def show_in(db: Database, stored: StoredRun, vertex: Key) -> ShownCohesion:
    """Do what `show` does, for a run at a kept version."""
    (vertex,) = find_keys(db, stored.selection, [vertex])
    hub = db.get_cohesion(stored.selection, stored.run, vertex)
    near: dict[Key, set[Key]] = {}
    _fetch(db, stored.selection, near, [vertex])
    if vertex not in near:
        labels, key = "|".join(stored.selection.node_labels), stored.selection.key
        raise NotFoundError(
            f"Graph {stored.run.graph!r} has no vertex {key_text(vertex)}: no :{labels} has this `{key}`"
            f"{other_kind(db, stored.selection, vertex)}.",
            what="vertex",
            name=vertex,
        )
    if hub is None:
        raise NotFoundError(
            f"Run {stored.run.id} has no cohesion of vertex {key_text(vertex)}. To store one, run `pcneo annotate`, "
            f"for this vertex only with --vertex {vertex}.",
            what="cohesion",
            name=vertex,
        )
    return _shown(db, stored, hub, near)


def show_members(db: Database, shown: ShownCohesion) -> Iterator[ShownCohesion]:
    """Yield the cohesions of a cohesion's members, the members with most critical connections first.

    Each cohesion is read when it is asked for. Members that have no cohesion in this run, or a damaged one, are left
    out: the first cohesion can be drawn without them.
    """
    stored = find_run(db, run=WholeId(shown.run.id)).at(shown.run)
    near: dict[Key, set[Key]] = {}
    for vertex in shown.further:
        try:
            hub = db.get_cohesion(stored.selection, stored.run, vertex)
            further = None if hub is None else _shown(db, stored, hub, near)
        except GraphError:
            continue
        if further is not None:
            yield further


def plain_cohesion(shown: ShownCohesion) -> dict[str, Any]:
    """Return a shown cohesion as data for JSON."""
    cohesion, view = shown.cohesion, shown.local_view
    return {
        "run": shown.run.id,
        "version": shown.run.version,
        **cohesion.as_row(),
        "members": [{"key": key, "hops": shown.hops[key]} for key in cohesion.members],
        "criticalConnections": shown.connections,
        "otherNeighbours": shown.others,
        "localView": {"size": view.size, "edges": view.edges, "density": view.density},
        "moved": shown.moved,
    }


def _shown(db: Database, stored: StoredRun, hub: StoredHub, near: dict[Key, set[Key]]) -> ShownCohesion:
    """Return the cohesion in the graph as it is now; reads the neighbourhoods that are still missing."""
    found = cohesion_of(hub, stored.run)
    seen = read_around(db, stored.selection, found, f"run {stored.run.id}", near)
    lost = not seen.holds and stored.run.scope != "answers"  # a run of answers has no graph to compare with
    return ShownCohesion(
        cohesion=replace(seen.cohesion, proven=False, best=False) if lost else seen.cohesion,
        connections=seen.connections,
        others=seen.others,
        hops=seen.hops,
        local_view=seen.local_view,
        holds=seen.holds,
        run=stored.run,
        moved=stored.moved or lost or seen.cohesion.edges != hub.edges,
    )


def cohesion_of(hub: StoredHub, run: RunRecord) -> FoundCohesion:
    """Return a hub's cohesion; refuse one whose members have lost their keys since, or have keys of another kind."""
    members = _known(hub.members, "member of the cohesion of", hub.vertex)
    if len(members) < len(hub.members):
        raise _member_is_gone(f"run {run.id}", hub.vertex)
    return FoundCohesion(hub.vertex, run.search, tuple(sorted(members)), hub.edges, hub.proven, hub.best)


def read_around(
    db: Database,
    selection: Selection,
    found: FoundCohesion,
    since: str = "it was found",
    near: dict[Key, set[Key]] | None = None,
) -> CohesionAround:
    """Read the surroundings of a cohesion in the graph as it is now."""
    near = {} if near is None else near
    _fetch(db, selection, near, [found.vertex])
    _fetch(db, selection, near, {*near.get(found.vertex, ()), *found.members})
    if not near.keys() >= set(found.members):
        raise _member_is_gone(since, found.vertex)
    return around(found, near)


def _member_is_gone(since: str, vertex: Key) -> GraphChangedError:
    return GraphChangedError(
        f"A member of this cohesion was deleted or lost its key since {since}. Annotate the graph again.",
        vertex=vertex,
    )


def _fetch(db: Database, selection: Selection, near: dict[Key, set[Key]], keys: Iterable[Key]) -> None:
    """Read the neighbourhoods that `near` does not have yet."""
    missing = sorted(set(keys) - near.keys())
    if missing:
        near |= {key: _known(ends, "neighbour of", key) for key, ends in db.get_neighbours(selection, missing)}


def _known(keys: Sequence[Key | None], what: str, vertex: Key) -> set[Key]:
    """Return the keys of a vertex's neighbours or members, without the None of those that have lost theirs.

    Someone may since have changed a key to another kind, or to a value that is no key, and these cannot be sorted.
    """
    others = set(map(type, keys)) - {type(vertex), NoneType}
    if others:
        other = next(key for key in keys if type(key) in others)
        raise KeyPropertyError(
            f"A {what} vertex {key_text(vertex)} has the key {other!r}. All keys of a graph must be of one kind, "
            "integers or text; change those of another kind.",
            vertex=vertex,
            example=other,
        )
    return {key for key in keys if key is not None}


def read_cohesions(db: Database, stored: StoredRun, progress: Progress | None = None) -> StoredCohesions:
    """Read a run's graph and every cohesion of one kept version into arrays."""
    read = read_graph(db, stored.selection, progress).graph
    with db.reading_version(stored.run):
        rows = db.page_cohesions(stored.selection, stored.run, read.keys)
        try:
            batch = batch_from_rows(read, rows, stored.run.search)
        except GraphChangedError as error:
            if stored.run.replaced_at is None:
                raise
            raise _differs(stored.run) from error
    digest = hash_of_batches([batch])
    critical, inside = critical_counts(read, batch)
    if digest != stored.run.membership_hash or (inside != batch.edges).any():
        raise _differs(stored.run)
    return StoredCohesions(stored.run, read, batch, critical)


def _differs(run: RunRecord) -> GraphChangedError:
    """Return the error for a run that cannot be read as a whole with the graph as it is now."""
    if run.replaced_at is None:
        what = f"The graph or the stored memberships are no longer those of run {run.id}. Annotate the graph again."
    else:
        what = (
            f"The graph or the stored memberships have changed since version {run.version} of run {run.id}, so that "
            "version cannot be read as a whole with its graph. Its cohesions are still there: iterate over the "
            f"version, or query Cypher with `c.from <= {run.version} < c.until`."
        )
    return GraphChangedError(what, run=run.id)
