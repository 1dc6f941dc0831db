"""What a shell completes: names of queries, and names of runs and graphs if a database answers at once."""

from __future__ import annotations

import os
from collections.abc import Callable

from pcneo.errors import PcneoError


def complete_queries(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of queries that begin with this text, with what they ask."""
    from pcneo.stored.queries import list_queries

    return [(query.name, query.summary) for query in list_queries() if query.name.startswith(incomplete)]


def complete_runs(incomplete: str) -> list[str]:
    """Return the ids of runs that begin with this text; none if no database answers."""
    return [name for name in _names(lambda stored: stored.run.id) if name.startswith(incomplete)]


def complete_graphs(incomplete: str) -> list[str]:
    """Return the names of graphs with runs that begin with this text; none if no database answers."""
    return [name for name in _names(lambda stored: stored.run.graph) if name.startswith(incomplete)]


def _names(of: Callable[..., str]) -> list[str]:
    from pcneo.basics.config import read_environment
    from pcneo.cli.console import local_settings
    from pcneo.store.connection import connect_to
    from pcneo.stored.runs import list_runs

    try:
        with connect_to(read_environment(os.environ) or local_settings()) as db:
            return sorted({of(stored) for stored in list_runs(db)})
    except PcneoError:
        return []
