"""Minimal p-cohesions: exact needs, the kernel, and a check of every answer (ALGORITHM.md#p-cohesion).

Nothing here knows about databases. Rows of a graph that is not in memory come through a callable.
"""

from pcneo.kernels.threads import thread_count
from pcneo.search.cohesion import REVISION, needs_of
from pcneo.search.frontier import search_frontier, search_one
from pcneo.search.orders import VertexSteadiness, check_orders, search_orders
from pcneo.search.whole_graph import search_all, search_batches, search_progress

__all__ = [
    "REVISION",
    "VertexSteadiness",
    "check_orders",
    "needs_of",
    "search_all",
    "search_batches",
    "search_frontier",
    "search_one",
    "search_orders",
    "search_progress",
    "thread_count",
]
