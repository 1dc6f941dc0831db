"""Minimal p-cohesions: exact needs, the kernel, and a check of every answer (ALGORITHM.md#p-cohesion).

Nothing here knows a database. Further rows of a graph that is not at hand come through a callable.
"""

from pcneo.kernels.threads import thread_count
from pcneo.search.cohesion import REVISION
from pcneo.search.frontier import minimal_p_cohesion, search_frontier, search_streamed
from pcneo.search.needs import needs_of
from pcneo.search.orders import VertexSteadiness, search_orders
from pcneo.search.whole_graph import minimal_p_cohesions, search_batches

__all__ = [
    "REVISION",
    "VertexSteadiness",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "needs_of",
    "search_batches",
    "search_frontier",
    "search_orders",
    "search_streamed",
    "thread_count",
]
