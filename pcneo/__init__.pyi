from . import aio, errors
from .annotate.profiling import profile, steadiness
from .basics.config import __version__
from .basics.model import Graph
from .basics.progress_bars import ProgressBars
from .basics.searches import P, Search
from .basics.selection import Selection
from .face.connecting import Db, connect
from .face.first_steps import sample_path, start_server, stop_server
from .face.graph_handle import GraphHandle
from .face.many_cohesions import Cohesions, minimal_p_cohesion, minimal_p_cohesions
from .face.one_cohesion import Cohesion
from .face.release_handle import Counts
from .face.run_handle import Run
from .graph.given import as_graph
from .privacy.foresight import advise
from .privacy.mechanisms import Critical, Edge, Elv, Modelled, Published, Respond, Total
from .release.public_file import read_release
from .store.standing import Keeping
from .stored.queries import list_queries, render_query

__all__ = [
    "Cohesion",
    "Cohesions",
    "Counts",
    "Critical",
    "Db",
    "Edge",
    "Elv",
    "Graph",
    "GraphHandle",
    "Keeping",
    "Modelled",
    "P",
    "ProgressBars",
    "Published",
    "Respond",
    "Run",
    "Search",
    "Selection",
    "Total",
    "__version__",
    "advise",
    "aio",
    "as_graph",
    "connect",
    "errors",
    "list_queries",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "profile",
    "read_release",
    "render_query",
    "sample_path",
    "start_server",
    "steadiness",
    "stop_server",
]
