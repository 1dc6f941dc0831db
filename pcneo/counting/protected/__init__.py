"""The pairs that the mechanism `critical` protects, and counts from answers about them (GUARANTEE.md#critical).

P̂ is the set of all pairs of vertices inside some group, adjacent or not; Ĝ is the graph with all of them added. Both
stay the same when a pair of P̂ is connected or disconnected in the graph.
"""

from pcneo.counting.protected.hull import MEMORY, STEPS, Hull
from pcneo.counting.protected.pairs import Groups, Protected, listed_hull, pair_blocks, pairs_in_groups_of_two, protect

__all__ = [
    "MEMORY",
    "STEPS",
    "Groups",
    "Hull",
    "Protected",
    "listed_hull",
    "pair_blocks",
    "pairs_in_groups_of_two",
    "protect",
]
