"""Deleting what dead writers left behind."""

from __future__ import annotations

import logging

from pcneo.store.gateway import Gateway

__all__ = ["sweep"]

log = logging.getLogger("pcneo")


def sweep(gateway: Gateway, name: str) -> int:
    """Delete the invisible runs of a graph: those `replaced`, and those `running` whose writer is dead.

    Call it under the graph's lock only; without it, a `running` run may be alive.

    Args:
        gateway: the database.
        name: the graph's name.

    Returns:
        The number of runs deleted.
    """
    dead = [run.id for run in gateway.list_runs() if run.graph == name and run.status != "complete"]
    for run in dead:
        hubs = gateway.delete_run(run)
        log.debug("swept run %s of graph %r: %d hubs", run, name, hubs)
    return len(dead)
