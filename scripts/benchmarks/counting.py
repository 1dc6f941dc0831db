"""Lines about clique counts: triangles, K3 to K5, any k, and what `critical` counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any

import numpy as np

from benchmarks.floors import wedges_read
from benchmarks.graphs import edge_list
from benchmarks.measuring import THREADS, Line, Setting, at_least, at_most, in_turns, timed


def triangles(setting: Setting) -> Iterator[Line]:
    """Triangles of every vertex, beside igraph and networkit."""
    import igraph  # pyright: ignore[reportMissingImports] - a peer; only the extra `bench` installs it
    import networkit  # pyright: ignore[reportMissingImports] - a peer; only the extra `bench` installs it

    from pcneo.counting.cliques import clique_counts

    graph = setting.graph
    pairs = edge_list(graph)
    of_igraph = igraph.Graph(n=graph.vertex_count, edges=pairs)
    of_networkit = networkit.Graph(graph.vertex_count)
    for u, v in pairs:
        of_networkit.addEdge(u, v)
    _check_triangles(graph, clique_counts(graph, 3), of_igraph)

    wedges = wedges_read(graph)

    def coefficients() -> Any:
        return networkit.centrality.LocalClusteringCoefficient(of_networkit, True).run().scores()

    for count, name in ((1, "one thread"), (THREADS, f"{THREADS} threads")):
        networkit.setNumberOfThreads(count)
        taken = in_turns(
            setting.many,
            {
                "ours": timed(lambda count=count: clique_counts(graph, 3, concurrency=count)),
                "igraph": timed(lambda: of_igraph.transitivity_local_undirected(mode="zero")),
                "networkit": timed(coefficients),
                "wedges": timed(wedges),
            },
            label=f"triangles, {name}",
        )
        ours = [1e3 * seconds for seconds in taken["ours"]]
        yield Line(
            f"triangles of every vertex, {setting.name}, {name}",
            ours,
            "ms",
            "igraph transitivity_local_undirected",
            [1e3 * seconds for seconds in taken["igraph"]],
            goal=at_most(0.4) if count == 1 else None,
            bound="each wedge read once, in a bare loop on one thread" if count == 1 else "",
            floor=[1e3 * seconds for seconds in taken["wedges"]] if count == 1 else (),
            note="from arrays and from igraph's graph; ours orients the edges each time; igraph has one thread",
        )
        yield Line(
            f"triangles of every vertex, {setting.name}, {name}",
            ours,
            "ms",
            "networkit LocalClusteringCoefficient, turbo",
            [1e3 * seconds for seconds in taken["networkit"]],
            note=name,
        )


def _check_triangles(graph: Any, counts: Any, of_igraph: Any) -> None:
    shares = np.array(of_igraph.transitivity_local_undirected(mode="zero"))
    if not np.array_equal(np.rint(shares * graph.degrees * (graph.degrees - 1) / 2), counts):
        raise SystemExit("igraph and pcneo count different triangles.")


def cliques(setting: Setting) -> Iterator[Line]:
    """K3, K4 and K5 of every vertex, beside pivoterpy and pyflagsercount.

    kClist, a C program that counts them for the whole graph, is not packaged and therefore missing.
    """
    from pcneo.counting.cliques import clique_counts

    graph = setting.graph
    totals_of: dict[str, list[int]] = {}
    tasks = {
        "ours": timed(_ours_to_five(graph, totals_of)),
        "pivoterpy": timed(_pivoter(graph, totals_of)),
        "pyflagsercount": timed(_flagser(graph, totals_of)),
        "triangles": timed(lambda: clique_counts(graph, 3, concurrency=THREADS)),
    }
    taken = in_turns(setting.many, tasks, label="K3 to K5")
    if len({tuple(totals) for totals in totals_of.values()}) != 1:
        raise SystemExit(f"The totals differ: {totals_of}")
    for peer in ("pivoterpy", "pyflagsercount"):
        yield Line(
            f"K3, K4 and K5 of every vertex, {setting.name}, {THREADS} threads",
            taken["ours"],
            peer=f"{peer}, {THREADS} threads",
            theirs=taken[peer],
            ratio="peer / ours",
            goal=at_least(20),
            bound="the triangles alone, each of which may be in a larger clique",
            floor=taken["triangles"],
            note="its graph is made in advance" if peer == "pivoterpy" else "all sizes, by edge, from a list of edges",
        )


def _ours_to_five(graph: Any, totals_of: dict[str, list[int]]) -> Callable[[], None]:
    def run() -> None:
        totals_of["ours"] = _totals(graph, range(3, 6))

    return run


def _totals(graph: Any, sizes: Iterable[int]) -> list[int]:
    """Return the number of cliques of each size, summed over the vertices."""
    from pcneo.counting.cliques import clique_counts_of_sizes

    counts = clique_counts_of_sizes(graph, sizes, concurrency=THREADS)
    return [int(counts[k].sum()) // k for k in sizes]


def _pivoter(graph: Any, totals_of: dict[str, list[int]]) -> Callable[[], None]:
    import pivoterpy  # pyright: ignore[reportMissingImports] - a peer; only the extra `bench` installs it

    theirs = pivoterpy.from_edge_list(edge_list(graph))

    def run() -> None:
        solved = pivoterpy.pivoter(theirs, resolution="vertex", procs=THREADS, min_k=3, max_k=5)
        rows = solved.vertex_counts.values()
        totals_of["pivoterpy"] = [sum(row[k] if len(row) > k else 0 for row in rows) // k for k in (3, 4, 5)]

    return run


def _flagser(graph: Any, totals_of: dict[str, list[int]]) -> Callable[[], None]:
    import pyflagsercount  # pyright: ignore[reportMissingImports] - a peer; only the extra `bench` installs it

    pairs = np.array(edge_list(graph))

    def run() -> None:
        with _silence():
            counted = pyflagsercount.flagser_count_edges(
                graph.vertex_count, pairs, containment=True, threads=THREADS, max_dim=4
            )
        totals_of["pyflagsercount"] = [int(number) for number in counted["cell_counts"][2:5]]

    return run


class _silence:  # noqa: N801 — reads like contextlib's
    """Hide the output of a C++ library."""

    def __enter__(self) -> None:
        self._kept = os.dup(1)
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123 — a file number is needed
            os.dup2(nowhere.fileno(), 1)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 1)
        os.close(self._kept)


def any_k(setting: Setting) -> Iterator[Line]:
    """Cliques of every size of every vertex, beside Graph Data Science's clique counting."""
    from benchmarks.gds import GDS_VERSION, NEO4J_VERSION, Gds
    from pcneo.counting.cliques import clique_counts

    graph = setting.graph
    largest = 2
    while clique_counts(graph, largest + 1, concurrency=THREADS).any():
        largest += 1
    sizes = range(3, largest + 1)
    totals_of: dict[str, list[int]] = {}

    def ours() -> None:
        totals_of["ours"] = _totals(graph, sizes)

    with Gds(graph) as server:

        def theirs() -> float:
            seconds, totals_of["gds"] = server.count_cliques(THREADS)
            return seconds

        taken = in_turns(setting.many, {"ours": timed(ours), "GDS": theirs}, label="any k")
    if totals_of["ours"] != totals_of["gds"]:
        raise SystemExit(f"GDS and pcneo count different cliques: {totals_of}")
    yield Line(
        f"cliques of every size, 3 to {largest}, of every vertex, {setting.name}, {THREADS} threads",
        taken["ours"],
        peer=f"gds.cliqueCounting.stats, computeMillis, concurrency {THREADS}",
        theirs=taken["GDS"],
        goal=at_most(0.2),
        note=f"Graph Data Science {GDS_VERSION} on Neo4j {NEO4J_VERSION}, the graph projected "
        "in advance; ours is given the largest size, GDS finds it",
    )
    by_size = in_turns(
        setting.many,
        {f"k={k}": timed(lambda k=k: clique_counts(graph, k, concurrency=THREADS)) for k in sizes},
        label="one k",
    )
    slowest = max(by_size, key=lambda name: median(by_size[name]))
    yield Line(
        f"cliques of one size, the slowest ({slowest}), of every vertex, {setting.name}, {THREADS} threads",
        by_size[slowest],
        peer=f"gds.cliqueCounting.stats, every size at once, concurrency {THREADS}",
        theirs=taken["GDS"],
        note="GDS cannot count only one size",
    )


def weighing(setting: Setting) -> Iterator[Line]:
    """What `critical` counts: the pairs inside the groups, and triangles and 4-cliques with the weights of answers."""
    from pcneo.counting.protected import Hull, protect
    from pcneo.search import search_all

    graph = setting.graph
    batch = search_all(graph, "0.1")
    hull = Hull(protect(graph, batch), concurrency=THREADS)
    size = f"{len(batch.members):,} memberships, {hull.pair_count:,} pairs, {THREADS} threads"
    yes, weights = hull.connected, (-0.6, 1.6, 1.0)
    tasks = {
        "pairs": timed(lambda: protect(graph, batch, concurrency=THREADS)),
        "k=3": timed(lambda: hull.triangles(yes, [weights], 1.0)),
        "k=4": timed(lambda: hull.four_cliques(yes, weights)),
    }
    taken = in_turns(min(3, setting.rounds), tasks, label="weighing")
    yield Line(f"protected pairs P̂ and Ĝ, {setting.name}, p=0.1", taken["pairs"], note=size)
    for k in (3, 4):
        what = f"counts of `critical` from one set of answers, {setting.name}, p=0.1, k={k}"
        yield Line(what, taken[f"k={k}"], note=f"{THREADS} threads")
