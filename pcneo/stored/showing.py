"""Use cases: show one stored cohesion in the graph around it, and read every cohesion of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pcneo.basics.keys import key_text
from pcneo.basics.model import Cohesion, Key, LocalView, Progress, ShownCohesion, StoredCohesions
from pcneo.basics.searches import AnyP
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, NotFoundError
from pcneo.graph import membership_hash
from pcneo.graph.cohesion_rows import batch_from_rows
from pcneo.store.chosen_graph import find_keys, read_graph
from pcneo.store.database import Database
from pcneo.store.run_reader import StoredHub
from pcneo.stored.networks import critical_counts
from pcneo.stored.runs import StoredRun, find_run

__all__ = ["plain_cohesion", "read_cohesions", "show", "show_members"]

Neighbours = Mapping[Key, set[Key]]


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

    Only the neighbourhoods of the members and of the vertex's neighbours are read. Nothing is written.

    Args:
        db: the database.
        vertex: the key; a number may be given as text.
        run: the run's id, or any beginning of it that no other has; by default the whole graph's run that was given a
            version last.
        graph, p, search: what the run is of, where several fit; runs of graphs without the vertex do not.

    Returns:
        The cohesion in the graph as it is now.

    Raises:
        NotFoundError: there is no such run or vertex, or the run has no cohesion of this vertex.
        ParameterError: several runs fit.
        GraphChangedError: a member of the cohesion is gone.
    """
    stored = find_run(db, run=run, graph=graph, p=p, search=search, vertex=vertex)
    (vertex,) = find_keys(db, stored.selection, [vertex])
    hub = db.get_cohesion(stored.selection, stored.run, vertex)
    near: dict[Key, set[Key]] = {}
    _fetch(db, stored.selection, near, [vertex])
    if vertex not in near:
        labels, key = "|".join(stored.selection.node_labels), stored.selection.key
        raise NotFoundError(
            f"Graph {stored.run.graph!r} has no vertex {key_text(vertex)}: no :{labels} has it as its `{key}`.",
            what="vertex",
            name=vertex,
        )
    if hub is None:
        raise NotFoundError(
            f"Run {stored.run.id} has no cohesion of vertex {key_text(vertex)}; `pcneo annotate` stores one, for this "
            f"vertex alone with --vertex {vertex}.",
            what="cohesion",
            name=vertex,
        )
    return _around(db, stored, hub, near)


def show_members(db: Database, shown: ShownCohesion) -> Iterator[ShownCohesion]:
    """Yield the cohesions of a cohesion's members, the members with most critical connections first.

    Each is read when it is asked for. Members that have none in this run are left out.

    Args:
        db: the database.
        shown: the cohesion, as `show` returned it.

    Raises:
        GraphChangedError: a member of one of the cohesions is gone.
    """
    stored = find_run(db, run=shown.run.id)
    ends = Counter(key for pair in shown.connections for key in pair)
    order = sorted(set(shown.cohesion.members) - {shown.cohesion.vertex}, key=lambda key: (-ends[key], key))
    near: dict[Key, set[Key]] = {}
    for vertex in order:
        hub = db.get_cohesion(stored.selection, stored.run, vertex)
        if hub is not None:
            _fetch(db, stored.selection, near, [vertex])
            yield _around(db, stored, hub, near)


def plain_cohesion(shown: ShownCohesion) -> dict[str, Any]:
    """Return a shown cohesion as JSON has it."""
    cohesion, view = shown.cohesion, shown.local_view
    return {
        "run": shown.run.id,
        "version": shown.run.version,
        "vertex": cohesion.vertex,
        "p": str(shown.run.search.p),
        "search": cohesion.search.name,
        "size": cohesion.size,
        "edges": cohesion.edges,
        "density": cohesion.density,
        "proven": cohesion.proven,
        "best": cohesion.best,
        "members": [{"key": key, "hops": shown.hops[key]} for key in cohesion.members],
        "criticalConnections": shown.connections,
        "otherNeighbours": shown.others,
        "localView": {"size": view.size, "edges": view.edges, "density": view.density},
        "moved": shown.moved,
    }


def _around(db: Database, stored: StoredRun, hub: StoredHub, near: dict[Key, set[Key]]) -> ShownCohesion:
    """The cohesion in the graph as it is now; what is missing of the neighbourhoods is read."""
    vertex, members = hub.vertex, _known(hub.members)
    _fetch(db, stored.selection, near, near[vertex] | members)
    if not near.keys() >= set(hub.members):
        raise GraphChangedError(
            f"A member of this cohesion is gone, or has lost its key, since run {stored.run.id}. "
            "Annotate the graph again.",
            run=stored.run.id,
        )
    connections = _connections(near, members)
    return ShownCohesion(
        run=stored.run,
        cohesion=Cohesion(vertex, stored.run.search, tuple(sorted(members)), len(connections), hub.proven, hub.best),
        connections=connections,
        others=tuple(sorted(near[vertex] - set(members))),
        hops=_hops(near, vertex, members),
        local_view=_local_view(near, vertex),
        moved=stored.moved or len(connections) != hub.edges,
    )


def _fetch(db: Database, selection: Selection, near: dict[Key, set[Key]], keys: Iterable[Key]) -> None:
    """Read the neighbourhoods that are not there yet."""
    missing = sorted(set(keys) - near.keys())
    near |= {key: _known(ends) for key, ends in db.get_neighbours(selection, missing)} if missing else {}


def _known(keys: Iterable[Key | None]) -> set[Key]:
    """Return the keys without those of vertices that have lost theirs."""
    return {key for key in keys if key is not None}


def _connections(near: Neighbours, members: Iterable[Key]) -> tuple[tuple[Key, Key], ...]:
    inside = sorted(members)
    rank = {key: place for place, key in enumerate(inside)}
    return tuple((a, b) for a in inside for b in sorted(near[a].intersection(inside)) if rank[a] < rank[b])


def _hops(near: Neighbours, vertex: Key, members: Iterable[Key]) -> dict[Key, int]:
    two = set().union(*(near[key] for key in near[vertex] if key in near))
    return {
        key: 0 if key == vertex else 1 if key in near[vertex] else 2 if key in two else 3 for key in sorted(members)
    }


def _local_view(near: Neighbours, vertex: Key) -> LocalView:
    core = {vertex, *(key for key in near[vertex] if key in near)}
    ends = sum(len(near[key]) for key in core)
    twice = sum(len(near[key] & core) for key in core) // 2
    return LocalView(len(core.union(*(near[key] for key in core))), ends - twice)


def read_cohesions(
    db: Database,
    *,
    run: str | None = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
    progress: Progress | None = None,
) -> StoredCohesions:
    """Read a run's graph and every cohesion of its current version into arrays.

    Args:
        db: the database.
        run, graph, p, search: as for `show`.
        progress: called with stage, done and total.

    Returns:
        The run, its graph and its cohesions as arrays.

    Raises:
        NotFoundError, ParameterError: as in `show`.
        GraphChangedError: the memberships, or the edges inside the cohesions, are no longer those of the run.
    """
    stored = find_run(db, run=run, graph=graph, p=p, search=search)
    read = read_graph(db, stored.selection, progress).graph
    with db.reading_version(stored.run):
        rows = db.page_cohesions(stored.selection, stored.run, read.keys)
        batch = batch_from_rows(read, rows, stored.run.search)
    digest = membership_hash((cohesion.vertex, cohesion.members) for cohesion in batch.cohesions())
    critical, inside = critical_counts(read, batch)
    if digest != stored.run.membership_hash or (inside != batch.edges).any():
        raise GraphChangedError(
            f"The graph or the stored memberships are no longer those of run {stored.run.id}. "
            "Annotate the graph again.",
            run=stored.run.id,
        )
    return StoredCohesions(stored.run, read, batch, critical)
