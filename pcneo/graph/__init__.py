"""From rows and files of keys to arrays, and hashes of graphs (ALGORITHM.md#the-graph).

All checks of keys and arrays are here, so the kernels can trust the arrays they get.
"""

from pcneo.graph.arrays import graph_from_edges, graph_from_rows
from pcneo.graph.given import as_graph, graph_from_networkx
from pcneo.graph.hashes import (
    HubDigests,
    HubHasher,
    fingerprint,
    hash_of_batches,
    keys_fingerprint,
    keys_hash,
    membership_hash,
    owner_hash,
    secret_mark,
)
from pcneo.graph.partial import PartialGraph

__all__ = [
    "HubDigests",
    "HubHasher",
    "PartialGraph",
    "as_graph",
    "fingerprint",
    "graph_from_edges",
    "graph_from_networkx",
    "graph_from_rows",
    "hash_of_batches",
    "keys_fingerprint",
    "keys_hash",
    "membership_hash",
    "owner_hash",
    "secret_mark",
]
