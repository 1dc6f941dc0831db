"""Critical connections of a Neo4j graph: minimal p-cohesions, stored and queried beside the data they describe.

The names below are loaded when they are first used, so that `import pcneo` and `pcneo --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pcneo.config import __version__

if TYPE_CHECKING:
    from pcneo import aio, annotate, errors, plots, release
    from pcneo.annotate.load import load
    from pcneo.annotate.load_cohesions import load_cohesions
    from pcneo.asking.blocking import ask
    from pcneo.config import ConnectionSettings, read_environment
    from pcneo.graph import graph_from_edges, graph_from_networkx
    from pcneo.model import Cohesion, CohesionBatch, Graph, Selection
    from pcneo.privacy.foresight import advise
    from pcneo.progress_bars import ProgressBars
    from pcneo.release import audit, budget
    from pcneo.release.checking import check
    from pcneo.release.public_file import read_release
    from pcneo.search import minimal_p_cohesion, minimal_p_cohesions
    from pcneo.store.chosen_graph import schema_statements
    from pcneo.store.connection import connect
    from pcneo.stored.cleaning import clean
    from pcneo.stored.exporting import export
    from pcneo.stored.networks import to_networkx
    from pcneo.stored.queries import list_queries, render_query, run_query
    from pcneo.stored.runs import list_runs
    from pcneo.stored.showing import read_cohesions, show
    from pcneo.stored.verifying import verify
    from pcneo.stored.versions import diff, history, let_go

_MODULES = {
    "aio": "pcneo.aio",
    "annotate": "pcneo.annotate",
    "audit": "pcneo.release.audit",
    "budget": "pcneo.release.budget",
    "errors": "pcneo.errors",
    "plots": "pcneo.plots",
    "release": "pcneo.release",
}
"""Public names that stand for a module."""

_HOMES = {
    "Cohesion": "pcneo.model",
    "CohesionBatch": "pcneo.model",
    "ConnectionSettings": "pcneo.config",
    "Graph": "pcneo.model",
    "ProgressBars": "pcneo.progress_bars",
    "Selection": "pcneo.model",
    "advise": "pcneo.privacy.foresight",
    "ask": "pcneo.asking.blocking",
    "check": "pcneo.release.checking",
    "clean": "pcneo.stored.cleaning",
    "connect": "pcneo.store.connection",
    "diff": "pcneo.stored.versions",
    "export": "pcneo.stored.exporting",
    "graph_from_edges": "pcneo.graph",
    "graph_from_networkx": "pcneo.graph",
    "history": "pcneo.stored.versions",
    "let_go": "pcneo.stored.versions",
    "list_queries": "pcneo.stored.queries",
    "list_runs": "pcneo.stored.runs",
    "load": "pcneo.annotate.load",
    "load_cohesions": "pcneo.annotate.load_cohesions",
    "minimal_p_cohesion": "pcneo.search",
    "minimal_p_cohesions": "pcneo.search",
    "read_cohesions": "pcneo.stored.showing",
    "read_environment": "pcneo.config",
    "read_release": "pcneo.release.public_file",
    "render_query": "pcneo.stored.queries",
    "run_query": "pcneo.stored.queries",
    "schema_statements": "pcneo.store.chosen_graph",
    "show": "pcneo.stored.showing",
    "to_networkx": "pcneo.stored.networks",
    "verify": "pcneo.stored.verifying",
}
"""The module that each other public name lives in."""

__all__ = [
    "Cohesion",
    "CohesionBatch",
    "ConnectionSettings",
    "Graph",
    "ProgressBars",
    "Selection",
    "__version__",
    "advise",
    "aio",
    "annotate",
    "ask",
    "audit",
    "budget",
    "check",
    "clean",
    "connect",
    "diff",
    "errors",
    "export",
    "graph_from_edges",
    "graph_from_networkx",
    "history",
    "let_go",
    "list_queries",
    "list_runs",
    "load",
    "load_cohesions",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "plots",
    "read_cohesions",
    "read_environment",
    "read_release",
    "release",
    "render_query",
    "run_query",
    "schema_statements",
    "show",
    "to_networkx",
    "verify",
]


def __getattr__(name: str) -> object:
    """Import a public name from the module it lives in."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pcneo' has no attribute {name!r}")
