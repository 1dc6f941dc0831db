"""Connections that decide whether a count gets noise, under the paper's switch `inside`.

With the switch, a count gets noise only if its vertex's own view holds a clique. A connection may be in all of these
cliques: then the count is exact without it, and any other value reveals the connection, so its loss is infinite
(the triangle alone, GUARANTEE.md#why-not-only-the-papers-mechanism).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph


def deciding_connections(
    graph: Graph, k: int, holds_clique: NDArray[np.bool_], batch: CohesionBatch | None
) -> Iterator[tuple[int, int]]:
    """Yield the connections u < v, by position, that are in all k-cliques of some vertex's view; some more than once.

    `holds_clique` says which views hold a clique with their vertex. A view is what the cohesion of the vertex holds of
    its neighbourhood, or all of it without a `batch`.
    """
    rows = [set(row.tolist()) for row in np.split(graph.neighbours, graph.offsets[1:-1])]
    for v in np.flatnonzero(holds_clique).tolist():
        view = rows[v]
        if batch is not None:
            view = view & set(batch.members_of(v).tolist())
        shared: set[int] | None = None
        for clique in _cliques(sorted(view), k - 1, rows):
            shared = set(clique) if shared is None else shared.intersection(clique)
            if not shared:
                break
        yield from combinations(sorted({v, *(shared or ())}), 2)


def _cliques(among: Sequence[int], size: int, rows: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the cliques of a size among vertices."""
    if size == 0:
        yield ()
        return
    for i, a in enumerate(among):
        for clique in _cliques([b for b in among[i + 1 :] if b in rows[a]], size - 1, rows):
            yield (a, *clique)
