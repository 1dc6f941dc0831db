"""Sizes of the cohesions of a graph over a grid of p, to choose p by; no database is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pcneo.basics.frames import Table, columns_of
from pcneo.basics.keys import checked_keys
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search, one_or_several
from pcneo.errors import ParameterError
from pcneo.graph import as_graph
from pcneo.graph.given import GivenGraph, positions_of
from pcneo.plots import check_picture, draw_profile
from pcneo.search import search_batches
from pcneo.search.tally import Summary, Tally

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

    def __repr__(self) -> str:
        """Return a line for all, and one for each p."""
        lines = [f"  p={p}: {summary.in_words()}" for p, summary in self.summaries.items()]
        return "\n".join([f"Profile: {self.caption()}", *lines])


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
    """Describe the minimal p-cohesions at several p, to choose one by; no database is needed.

    >>> import networkx, pcneo
    >>> pcneo.profile(networkx.karate_club_graph(), ps=["0.3", "0.5"]).to_pandas()["p"].tolist()
    ['3/10', '1/2']

    Args:
        graph: as `pcneo.as_graph` takes it.
        ps: the grid, or one p, each between 0 and 1, both excluded.
        search: `smallest`, `density` or `degree`.
        vertices: one key or several, such as a sample; None for every vertex.
        effort: starts of the search `smallest`; 1 for any other.
        concurrency: number of threads; one for each core at hand if not given.
        plot: a picture of sizes and densities over p, `.svg` or `.png`, which needs matplotlib.
        progress: called with stage, done and total.

    Returns:
        A summary for each p: a table.

    Raises:
        ParameterError: a p, the search, vertices or concurrency is out of range, there is no p, or the picture cannot
            be drawn.
        TypeError: the graph is none, or a key is neither an integer nor text.
        NotFoundError: the graph has no such vertex.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: an answer failed its check.
    """
    searches = list(dict.fromkeys(Search(p, search, effort) for p in one_or_several(ps)))
    if not searches:
        raise ParameterError("Name at least one p between 0 and 1.", name="ps", value=ps)
    if plot is not None:
        check_picture(plot)
    arrays = as_graph(graph)
    queries = None if vertices is None else positions_of(arrays, checked_keys(vertices))
    tallies = {str(wanted.p): Tally() for wanted in searches}
    for wanted in searches:
        tell = None if progress is None else partial(_tell, progress, wanted)
        for batch in search_batches(arrays, wanted, vertices=queries, concurrency=concurrency, progress=tell):
            tallies[str(wanted.p)].add(batch)
    if plot is not None:
        runs = {text: (tally.sizes, tally.densities) for text, tally in tallies.items()}
        draw_profile(runs, search, plot, vertices=arrays.vertex_count if queries is None else None)
    summaries = {text: tally.summary() for text, tally in tallies.items()}
    return Profile(search, arrays.vertex_count, arrays.edge_count, summaries)


def _tell(progress: Progress, search: Search, done: int, total: int) -> None:
    progress(f"searching p={search.p}", done, total)
