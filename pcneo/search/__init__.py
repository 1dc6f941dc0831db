"""Minimal p-cohesions: exact needs, the kernel, and a check of every answer (ALGORITHM.md#p-cohesion).

Nothing here knows a database. Further rows of a graph that is not at hand come through a callable.
"""

from pcneo.kernels.threads import thread_count
from pcneo.search.cohesion import REVISION, SCORES, check_score
from pcneo.search.frontier import minimal_p_cohesion, search_frontier, search_streamed
from pcneo.search.needs import needs_of, p_text, parse_fraction
from pcneo.search.whole_graph import minimal_p_cohesions, search_batches

__all__ = [
    "REVISION",
    "SCORES",
    "check_score",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "needs_of",
    "p_text",
    "parse_fraction",
    "search_batches",
    "search_frontier",
    "search_streamed",
    "thread_count",
]
