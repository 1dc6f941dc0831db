"""Readers of runs: the documented query in one statement, and several statements at one version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError
from pcneo.store.database import Database

if TYPE_CHECKING:
    from simulation.service import ServiceStage

__all__ = ["read_at_one_version", "read_in_one_statement"]


def read_in_one_statement(stage: ServiceStage, db: Database) -> None:
    """Read all hubs of a run by the version that the statement reads first; one let go meanwhile proves nothing."""
    for run in db.list_runs():
        rows = stage.read(db, "get_all_at_once", run=run.id)
        if rows and stage.rules.is_kept(run.id, rows[0]["version"]):
            stage.rules.compare(run.id, rows[0]["version"], dict(rows[0]["hubs"]), "one statement")
            stage.seen["whole reads"] += 1


def read_at_one_version(stage: ServiceStage, db: Database, vertices: Sequence[int]) -> None:
    """Read a vertex at a time, and ask at the end whether the version was still kept."""
    for run in db.list_runs():
        found: dict[Any, frozenset[Any]] = {}
        try:
            with db.reading_version(run):
                for vertex in vertices:
                    for hub in db.get_cohesions(Selection("Person", "KNOWS", "id"), run.id, run.version, [vertex]):
                        found[hub.vertex] = frozenset(hub.members)
        except GraphChangedError:
            stage.seen["let go meanwhile"] += 1
            continue
        stage.rules.compare(run.id, run.version, found, "several statements")
        stage.seen["reads at a version"] += 1
