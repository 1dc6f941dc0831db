from . import aio, annotate, errors, plots, release
from .annotate.load import load
from .annotate.load_cohesions import load_cohesions
from .annotate.profiling import profile
from .basics.config import __version__
from .basics.model import Cohesion, CohesionBatch, Graph
from .basics.progress_bars import ProgressBars
from .basics.searches import P, Search
from .basics.selection import Selection
from .graph import graph_from_edges, graph_from_networkx
from .privacy.foresight import advise
from .release import audit, budget
from .release.checking import check
from .release.public_file import read_release
from .search import minimal_p_cohesion, minimal_p_cohesions
from .service.blocking import ask
from .store.chosen_graph import schema_statements
from .store.connection import connect
from .stored.cleaning import clean
from .stored.exporting import export
from .stored.networks import to_networkx
from .stored.queries import list_queries, render_query, run_query
from .stored.runs import list_runs
from .stored.showing import read_cohesions, show
from .stored.verifying import verify
from .stored.versions import diff, history, let_go

__all__ = [
    "Cohesion",
    "CohesionBatch",
    "Graph",
    "P",
    "ProgressBars",
    "Search",
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
    "profile",
    "read_cohesions",
    "read_release",
    "release",
    "render_query",
    "run_query",
    "schema_statements",
    "show",
    "to_networkx",
    "verify",
]
