"""Sizes of the cohesions of a graph over a grid of p, to choose p by; no database is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pcneo.basics.frames import Table, columns_of
from pcneo.basics.model import AnyPath, Graph
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search
from pcneo.errors import ParameterError
from pcneo.graph import as_graph
from pcneo.plots import check_picture, draw_profile
from pcneo.search import search_batches
from pcneo.search.tally import Summary, Tally

if TYPE_CHECKING:
    import networkx

__all__ = ["Profile", "profile"]

GRID = ("0.1", "0.2", "0.3", "0.4", "0.5")


@dataclass(frozen=True)
class Profile(Table):
    """Sizes and densities over a grid of p.

    Attributes:
        search: the name of the search.
        vertices, edges: those of the graph.
        summaries: by p, as `a/b`, in the order of the grid.
    """

    search: str
    vertices: int
    edges: int
    summaries: dict[str, Summary]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each p: sizes and densities."""
        return columns_of({"p": p, **summary.as_row()} for p, summary in self.summaries.items())

    def caption(self) -> str:
        """Return a sentence for above the table."""
        return f"{self.vertices:,} vertices, {self.edges:,} edges; search {self.search}"


def profile(
    graph: Graph | networkx.Graph[Any],
    ps: Iterable[AnyP] = GRID,
    search: str = DEFAULT_SEARCH,
    *,
    vertices: Iterable[int] | None = None,
    effort: int = 1,
    concurrency: int | None = None,
    plot: AnyPath | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Profile:
    """Describe the minimal p-cohesions at several p.

    Args:
        graph: arrays, or a networkx graph as `pcneo.graph_from_networkx` takes it.
        ps: the grid, each between 0 and 1, both excluded.
        search: `smallest`, `density` or `degree`.
        vertices: positions among the sorted keys, such as a sample; all of them if not given.
        effort: starts of the search `smallest`; 1 for any other.
        concurrency: number of threads; one for each core at hand if not given.
        plot: a picture of sizes and densities over p, `.svg` or `.png`, which needs matplotlib.
        progress: called with the number of vertices done and of all, for each p anew.

    Returns:
        A summary for each p: a table.

    Raises:
        ParameterError: a p, the search, vertices or concurrency is out of range, there is no p, or the picture cannot
            be drawn.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: an answer failed its check.
    """
    searches = list(dict.fromkeys(Search(p, search, effort) for p in ps))
    if not searches:
        raise ParameterError("Name at least one p between 0 and 1.", name="ps", value=ps)
    if plot is not None:
        check_picture(plot)
    arrays, queries = as_graph(graph), None if vertices is None else list(vertices)
    tallies = {str(wanted.p): Tally() for wanted in searches}
    for wanted in searches:
        for batch in search_batches(arrays, wanted, vertices=queries, concurrency=concurrency, progress=progress):
            tallies[str(wanted.p)].add(batch)
    if plot is not None:
        runs = {text: (tally.sizes, tally.densities) for text, tally in tallies.items()}
        draw_profile(runs, search, plot, vertices=arrays.vertex_count if queries is None else None)
    summaries = {text: tally.summary() for text, tally in tallies.items()}
    return Profile(search, arrays.vertex_count, arrays.edge_count, summaries)
