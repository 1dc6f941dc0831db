"""Sizes of a graph's cohesions over a grid of p, and how steady they are: for choosing p without a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pcneo.annotate.describing import tally_of
from pcneo.annotate.plan import distinct_searches
from pcneo.annotate.steadiness import Steadiness, added_up, new_files_in, opened
from pcneo.basics.frames import TableByP, counted
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP
from pcneo.graph import as_graph
from pcneo.graph.given import GivenGraph, positions_of
from pcneo.plots import check_picture, draw_profile
from pcneo.search import check_orders, search_batches, search_orders, search_progress
from pcneo.search.tally import Summary, Tally

GRID = ("0.1", "0.2", "0.3", "0.4", "0.5")


@dataclass(frozen=True, repr=False)
class Profile(TableByP):
    """Sizes and densities over a grid of p.

    Attributes:
        search: the name of the search.
        vertices, edges: those of the graph.
        summaries: by p, as `a/b`, in the order of the grid.
    """

    _title = "Profile"

    search: str
    vertices: int
    edges: int
    summaries: dict[str, Summary]

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return f"{self.vertices:,} vertices, {self.edges:,} edges; search {self.search}"


@showing_progress
def profile(
    graph: GivenGraph,
    ps: AnyP | Iterable[AnyP] = GRID,
    search: str = DEFAULT_SEARCH,
    *,
    vertices: Key | Iterable[Key] | None = None,
    effort: int = 1,
    concurrency: int | None = None,
    plot: AnyPath | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Describe the minimal p-cohesions at several p, so that you can choose one; no database is needed.

    >>> import networkx, pcneo
    >>> pcneo.profile(networkx.karate_club_graph(), ps=["0.3", "0.5"]).to_pandas()["p"].tolist()
    ['3/10', '1/2']

    Args:
        graph: anything that `pcneo.as_graph` takes.
        ps: the grid, or one p, each between 0 and 1, both excluded.
        search: `smallest`, `density` or `degree`.
        vertices: one key or several, such as a sample; None for every vertex.
        effort: starts of the search `smallest`; 1 for any other.
        concurrency: number of threads; by default one for each available core.
        plot: a file for a picture of sizes and densities over p, `.svg` or `.png`; needs matplotlib.
        progress: called with stage, done and total.

    Returns:
        A table with a summary for each p.

    Raises:
        ParameterError: a p, the search, vertices or concurrency is out of range, no p is given, or the picture cannot
            be drawn.
        TypeError: `graph` is not a graph, or a key is neither an integer nor text.
        NotFoundError: the graph has no such vertex.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: an answer failed its check.
    """
    searches = distinct_searches("ps", ps, search, effort)
    if plot is not None:
        check_picture(plot)
    arrays = as_graph(graph)
    queries = positions_of(arrays, vertices)
    tallies = dict[str, Tally]()
    for wanted in searches:
        report = progress and search_progress(progress, wanted)
        batches = search_batches(arrays, wanted, vertices=queries, concurrency=concurrency, progress=report)
        tallies[str(wanted.p)] = tally_of(batches)
    if plot is not None:
        runs = {text: (tally.sizes, tally.densities) for text, tally in tallies.items()}
        draw_profile(runs, search, plot, vertices=arrays.vertex_count if queries is None else None)
    summaries = {text: tally.summary() for text, tally in tallies.items()}
    return Profile(search, arrays.vertex_count, arrays.edge_count, summaries)


@dataclass(frozen=True, repr=False)
class SteadinessProfile(TableByP):
    """How steady the cohesions of a graph in memory are.

    Attributes:
        search: the name of the search.
        orders: numberings besides that of the keys.
        vertices, edges: those of the graph.
        summaries: by p, as `a/b`.
        files: `vertices.csv` and `connections.csv`, where a folder was named.
    """

    _title = "Steadiness"

    search: str
    orders: int
    vertices: int
    edges: int
    summaries: dict[str, Steadiness]
    files: tuple[Path, ...]

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return (
            f"{self.vertices:,} vertices, {self.edges:,} edges; search {self.search}; "
            f"under {counted(self.orders, 'further numbering')}"
        )


@showing_progress
def steadiness(
    graph: GivenGraph,
    p: AnyP | Iterable[AnyP],
    search: str = DEFAULT_SEARCH,
    *,
    orders: int = 5,
    to: AnyPath | None = None,
    vertices: Key | Iterable[Key] | None = None,
    effort: int = 1,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> SteadinessProfile:
    """Search again under other numberings of the vertices, which only break ties, and report how steady answers are.

    No database is needed; for a graph in a database, `GraphHandle.steadiness` reports the same.

    >>> import networkx, pcneo
    >>> steady = pcneo.steadiness(networkx.karate_club_graph(), p="0.3", orders=2)
    >>> steady.summaries["3/10"].vertices
    34

    Args:
        graph: anything that `pcneo.as_graph` takes.
        p: one or several, each between 0 and 1, both excluded.
        search: `smallest`, `density` or `degree`.
        orders: how many other numberings to search, drawn with a fixed seed; 5 numberings take 6 searches.
        to: a folder for `vertices.csv` (how often each vertex keeps its cohesion) and `connections.csv` (how often each
            of its connections is critical), created if it does not exist. Neither file may exist already.
        vertices: one key or several, such as a sample; None for every vertex.
        effort: starts of the search `smallest`; 1 for any other.
        concurrency: number of threads; by default one for each available core.
        progress: called with stage, done and total.

    Returns:
        A table with a summary for each p.

    Raises:
        ParameterError: a p, the search, orders, vertices or concurrency is out of range, no p is given, or a file
            exists already or cannot be written.
        TypeError: `graph` is not a graph, or a key is neither an integer nor text.
        NotFoundError: the graph has no such vertex.
        KeyPropertyError: nodes are of mixed or unusable kinds.
    """
    searches = distinct_searches("p", p, search, effort)
    check_orders(orders)
    paths = () if to is None else new_files_in(to)
    arrays = as_graph(graph)
    queries = positions_of(arrays, vertices)
    summaries = dict[str, Steadiness]()
    with opened(paths) as files:
        for wanted in searches:
            report = progress and search_progress(progress, wanted)
            batches = search_orders(arrays, wanted, orders, vertices=queries, concurrency=concurrency, progress=report)
            summaries[str(wanted.p)] = added_up(str(wanted.p), batches, files)
    return SteadinessProfile(search, orders, arrays.vertex_count, arrays.edge_count, summaries, paths)
