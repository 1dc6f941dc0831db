"""From rows of keys to arrays, and hashes of what was read (ALGORITHM.md#the-graph).

Every check of a graph's keys and arrays is here, so the rooms below work on arrays they can trust.
"""

from pcneo.graph.build import graph_from_edges, graph_from_networkx, graph_from_rows
from pcneo.graph.hashes import MembershipHash, fingerprint, membership_hash
from pcneo.graph.partial import PartialGraph

__all__ = [
    "MembershipHash",
    "PartialGraph",
    "fingerprint",
    "graph_from_edges",
    "graph_from_networkx",
    "graph_from_rows",
    "membership_hash",
]
