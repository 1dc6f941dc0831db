"""Compiles what most tests need, in one process, while the gate keeps another core busy: `python tests/warm_up.py`.

Without it every test worker compiles for itself.
"""

from __future__ import annotations

import os

import compile_cache


def main() -> None:
    """Call the kernels of search and counting once, on a graph of two triangles."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(compile_cache.prepare()))  # before numba is imported
    import numpy as np

    from pcneo.basics.searches import SEARCHES
    from pcneo.counting.answers import AnsweredPairs
    from pcneo.counting.counted import CountedGraph
    from pcneo.graph import graph_from_edges
    from pcneo.search import search_all, search_one

    ends = np.array([0, 0, 1, 2, 2, 3]), np.array([1, 2, 2, 3, 4, 4])
    graph = graph_from_edges(range(5), *map(np.ndarray.tolist, ends))
    for search in SEARCHES:
        search_one(graph, 1, "1/2", search)
        search_all(graph, "1/2", search)
    counted = CountedGraph(graph, search_all(graph, "1/2"))
    for k in (3, 4):
        counted.counts(k)
    counted.common()
    counted.inner_common()
    hull = counted.protected_graph()
    for in_bits in (True, False):
        hull.in_bits = in_bits
        hull.triangles(hull.connected, [(0.0, 1.0, 1.0)], 1.0)
    hull.check(4)
    hull.four_cliques(hull.connected, (0.0, 1.0, 1.0))
    answers = AnsweredPairs.of_parts(5, [np.column_stack(ends)])
    answers.triangles()
    answers.cliques()


if __name__ == "__main__":
    main()
