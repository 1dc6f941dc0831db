"""Use cases: the versions of a standing run, the changes between two of them, and removing one."""

from __future__ import annotations

from dataclasses import dataclass, field

from pcneo.basics.keys import in_order
from pcneo.basics.model import Key
from pcneo.basics.run_record import RunRecord
from pcneo.errors import NotFoundError
from pcneo.store.chosen_graph import find_graph
from pcneo.store.database import Database
from pcneo.store.standing import open_graph
from pcneo.stored.runs import StoredRun, find_run, kept_versions, runs_named


@dataclass(frozen=True)
class Side:
    """A cohesion in one of two versions.

    Attributes:
        members: keys, ascending.
        edges: connections inside.
        best: whether no p-cohesion with a better rank contained the vertex; does not count as a difference.
    """

    members: tuple[Key, ...]
    edges: int
    best: bool = field(compare=False)


@dataclass(frozen=True)
class Difference:
    """A vertex whose cohesion differs between two versions of a run.

    Attributes:
        vertex: its key.
        before, after: its cohesion in each version; None where it has none.
    """

    vertex: Key
    before: Side | None
    after: Side | None

    @property
    def came(self) -> list[Key]:
        """The members that only the later cohesion has, ascending."""
        return in_order(_members(self.after) - _members(self.before))

    @property
    def went(self) -> list[Key]:
        """The members that only the earlier cohesion has, ascending."""
        return in_order(_members(self.before) - _members(self.after))

    @property
    def is_certain(self) -> bool:
        """Whether the difference follows from the graph.

        It does where the vertex is in one version only, where the members are the same, so that the connections among
        them differ, and where each cohesion had the best possible rank.
        """
        before, after = self.before, self.after
        return before is None or after is None or before.members == after.members or (before.best and after.best)


def _members(side: Side | None) -> set[Key]:
    return set() if side is None else set(side.members)


def history(db: Database, *, run: str | None = None) -> list[RunRecord]:
    """Return the recorded versions of runs, oldest first."""
    runs = runs_named(db, run, None)
    return [version for standing in runs for version in db.list_versions(standing.id)]


def diff(
    db: Database,
    *,
    run: str | None = None,
    graph: str | None = None,
    before: int,
    after: int,
) -> list[Difference]:
    """Return the vertices whose cohesions differ between two kept versions of a run, ascending."""
    stored = find_run(db, run=run, graph=graph)
    older, newer = kept_versions(db, stored.run.id, before, after)
    earlier: dict[Key, Side] = {}
    later: dict[Key, Side] = {}
    with db.reading_version(older), db.reading_version(newer):
        for row in db.list_differences(stored.selection, stored.run.id, before, after):
            if isinstance(row["vertex"], int | str):  # otherwise it is gone, or has lost its key
                members = tuple(in_order(key for key in row["members"] if isinstance(key, int | str)))
                (later if row["later"] else earlier)[row["vertex"]] = Side(members, row["edges"], row["best"])
    vertices = in_order(earlier.keys() | later.keys())
    differences = [Difference(vertex, earlier.get(vertex), later.get(vertex)) for vertex in vertices]
    return [difference for difference in differences if difference.before != difference.after]


def check_earlier(db: Database, *, run: str, version: int) -> StoredRun:
    """Return the run; raise an error if it keeps no such earlier version."""
    stored = find_run(db, run=run)
    kept = {record.version for record in db.list_versions(stored.run.id) if record.readable}
    if version not in kept or version == stored.run.version:
        raise _not_earlier(stored.run, version)
    return stored


def let_go(db: Database, *, run: str, version: int) -> int:
    """Remove the hubs that only this earlier version of a run has, even if releases rest on it; return how many."""
    stored = check_earlier(db, run=run, version=version)
    with open_graph(db, find_graph(db, stored.run.graph)) as opened:
        if not opened.hubs.release_version(stored.run.id, version):
            raise _not_earlier(stored.run, version)
        return opened.delete_unkept(stored.run.id, db.list_versions(stored.run.id))


def _not_earlier(run: RunRecord, version: int) -> NotFoundError:
    if version == run.version:
        why = f"Version {version} is the current one of run {run.id}; `pcneo clean {run.id}` removes the whole run."
    else:
        why = f"Run {run.id} keeps no earlier version {version}; `pcneo runs {run.id} --history` lists them."
    return NotFoundError(why, what="version", name=version)
