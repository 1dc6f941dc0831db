"""The pairs that the mechanism `critical` protects, and how far they can change the counts (GUARANTEE.md#critical).

P̂ is the set of all pairs of vertices inside some group, adjacent or not; Ĝ is the graph with all of them added. Both,
and everything computed from them here, stay the same when a pair of P̂ is connected or disconnected in the graph.
Neither is held in memory as a whole: memory grows with the memberships, not with the pairs.
"""

from pcneo.counting.protected.common_bounds import common_bounds
from pcneo.counting.protected.listed import listed_hull
from pcneo.counting.protected.pairs import Groups, Protected, pair_blocks, protect
from pcneo.counting.protected.supports import AFFORDABLE, LISTED, LargestSupports, largest_shared, largest_supports
from pcneo.counting.protected.tiles import protected_memory, refused_memory

__all__ = [
    "AFFORDABLE",
    "LISTED",
    "Groups",
    "LargestSupports",
    "Protected",
    "common_bounds",
    "largest_shared",
    "largest_supports",
    "listed_hull",
    "pair_blocks",
    "protect",
    "protected_memory",
    "refused_memory",
]
