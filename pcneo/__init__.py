"""Critical connections of a Neo4j graph: minimal p-cohesions, stored and queried beside the data they describe.

The names below are loaded when they are first used, so that `import pcneo` and `pcneo --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pcneo import annotate, audit, budget, errors, plots, release
    from pcneo.config import ConnectionSettings, read_environment
    from pcneo.exporting import export
    from pcneo.graph import graph_from_edges, graph_from_networkx
    from pcneo.loading import load
    from pcneo.model import Cohesion, CohesionBatch, Graph, Selection
    from pcneo.networks import to_networkx
    from pcneo.queries import list_queries, render_query, run_query
    from pcneo.runs import clean, list_runs, verify
    from pcneo.search import minimal_p_cohesion, minimal_p_cohesions
    from pcneo.showing import read_cohesions, show
    from pcneo.source import schema_statements
    from pcneo.store.connection import connect

_HOMES = {
    "Cohesion": "pcneo.model",
    "CohesionBatch": "pcneo.model",
    "ConnectionSettings": "pcneo.config",
    "Graph": "pcneo.model",
    "Selection": "pcneo.model",
    "annotate": "pcneo.annotate",
    "audit": "pcneo.audit",
    "budget": "pcneo.budget",
    "clean": "pcneo.runs",
    "connect": "pcneo.store.connection",
    "errors": "pcneo.errors",
    "export": "pcneo.exporting",
    "graph_from_edges": "pcneo.graph",
    "graph_from_networkx": "pcneo.graph",
    "list_queries": "pcneo.queries",
    "list_runs": "pcneo.runs",
    "load": "pcneo.loading",
    "minimal_p_cohesion": "pcneo.search",
    "minimal_p_cohesions": "pcneo.search",
    "plots": "pcneo.plots",
    "read_cohesions": "pcneo.showing",
    "read_environment": "pcneo.config",
    "release": "pcneo.release",
    "render_query": "pcneo.queries",
    "run_query": "pcneo.queries",
    "schema_statements": "pcneo.source",
    "show": "pcneo.showing",
    "to_networkx": "pcneo.networks",
    "verify": "pcneo.runs",
}
"""Where each public name lives; a name that is a module's own stands for the module."""

__all__ = [
    "Cohesion",
    "CohesionBatch",
    "ConnectionSettings",
    "Graph",
    "Selection",
    "annotate",
    "audit",
    "budget",
    "clean",
    "connect",
    "errors",
    "export",
    "graph_from_edges",
    "graph_from_networkx",
    "list_queries",
    "list_runs",
    "load",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "plots",
    "read_cohesions",
    "read_environment",
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
    if name not in _HOMES:
        raise AttributeError(f"module 'pcneo' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if _HOMES[name] == f"pcneo.{name}" else getattr(home, name)
