"""Cohesions of a graph in memory, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted, rounded
from pcneo.basics.keys import checked_key, key_meant
from pcneo.basics.model import AnyPath, CohesionAround, CohesionBatch, FoundCohesion, Graph, Key, Memberships, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, P, Search
from pcneo.errors import MissingKeyError, NotFoundError
from pcneo.face.one_cohesion import Cohesion, CohesionsByKey
from pcneo.graph import as_graph
from pcneo.graph.given import GivenGraph, check_is_vertex, places_in, positions_of
from pcneo.search import search_all, search_one, search_progress
from pcneo.search.around import around_in

if TYPE_CHECKING:
    import networkx
    from matplotlib.figure import Figure


SHOWN = 4
"""How many cohesions a repr names."""


class Cohesions(CohesionsByKey):
    """Minimal p-cohesions of a graph's vertices, by key, in ascending order of the keys.

    >>> import networkx, pcneo
    >>> batch = pcneo.minimal_p_cohesions(networkx.les_miserables_graph(), p="0.3", search="density")
    >>> batch
    Cohesions of 77 vertices: 430 memberships, p=3/10, search density
    'Anzelma' 5, 'Babet' 5, 'Bahorel' 6, 'Bamatabois' 4, … (sizes 2 to 12, mean 5.58)
    >>> batch["Valjean"].size
    12
    >>> "Valjean" in batch, "Sauron" in batch, len(batch)
    (True, False, 77)
    >>> [cohesion.vertex for cohesion in batch.head(2)]
    ['Anzelma', 'Babet']

    Iterating yields cohesions in the order of keys. `to_pandas()` and `to_arrow()` return a table with a row for each
    cohesion, and so do polars and DuckDB, which take the object as it is.
    """

    def __init__(self, graph: Graph, batch: CohesionBatch) -> None:
        """Take the graph that was searched, and its cohesions."""
        self.graph = graph
        self._batch = batch

    @property
    def search(self) -> Search:
        """What was searched for, and how."""
        return self._batch.search

    @property
    def p(self) -> P:
        """The share of its neighbours that each member keeps."""
        return self._batch.search.p

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of members of each cohesion, int64, in the order of `keys`."""
        return self._batch.sizes

    @property
    def densities(self) -> NDArray[np.float64]:
        """Density of each cohesion, float64, in the order of `keys`; 0.0 for size 1."""
        return self._batch.densities

    def keys(self) -> list[Key]:
        """Return the vertices whose cohesions these are, ascending.

        >>> import pcneo
        >>> pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2").keys()
        [1, 2, 3]
        """
        return list(self._places)

    def values(self) -> Iterator[Cohesion]:
        """Yield the cohesions in the order of keys, as iterating does.

        >>> import pcneo
        >>> [cohesion.size for cohesion in pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2").values()]
        [2, 2, 2]
        """
        return iter(self)

    def items(self) -> Iterator[tuple[Key, Cohesion]]:
        """Yield each vertex with its cohesion, in the order of keys.

        >>> import pcneo
        >>> {key: cohesion.size for key, cohesion in pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2").items()}
        {1: 2, 2: 2, 3: 2}
        """
        return zip(self.keys(), self, strict=True)

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: i for i, key in enumerate(self._batch.keys[self._batch.vertices].tolist())}

    def __len__(self) -> int:
        """Return the number of cohesions."""
        return len(self._batch)

    def __contains__(self, key: object) -> bool:
        """Whether the vertex with this key has a cohesion here."""
        try:
            return checked_key(key) in self._places
        except TypeError:
            return False

    def __iter__(self) -> Iterator[Cohesion]:
        """Yield the cohesions in the order of keys."""
        return (Cohesion(found, self._around, self._of_members) for found in self._batch.cohesions())

    def __getitem__(self, key: Key) -> Cohesion:
        """Return the cohesion of a vertex."""
        plain = self._looked_up(key)
        place = self._places.get(plain)
        if place is None:
            near = key_meant(plain, self._places)
            raise MissingKeyError(f"There is no cohesion of {plain!r} here.{near}", what="vertex", name=key)
        (found,) = self._batch.part(place, place + 1).cohesions()
        return Cohesion(found, self._around, self._of_members)

    def _of_members(self, around: CohesionAround) -> Iterator[CohesionAround]:
        return (self[key].around for key in around.further if key in self._places)

    def _around(self, found: FoundCohesion) -> CohesionAround:
        return around_in(self.graph, self._of_graph, found)

    @cached_property
    def _of_graph(self) -> dict[Key, int]:
        return places_in(self.graph)

    def as_columns(self) -> dict[str, Any]:
        """Return a row for each cohesion: its vertex, size, edges, density, `proven`, `best`, and members as a list."""
        return self._batch.as_columns()

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return self._batch.caption()

    def memberships(self) -> Memberships:
        """Return a table with a row for each membership: `vertex` and `member`.

        >>> import pcneo
        >>> pcneo.minimal_p_cohesions([(1, 2)], p="1/2").memberships().to_pandas()["member"].tolist()
        [1, 2, 1, 2]
        """
        return self._batch.memberships()

    def to_networkx(self, key: Key | None = None) -> networkx.Graph[Key]:
        """Return the cohesion of one vertex, or the whole graph, as a networkx graph whose nodes are keys.

        Nodes of the whole graph have `size`, `edges`, `density` and `members` of their cohesions (the last as JSON
        text, which can be written to files), and `needed`, the number of cohesions that they are in; edges have
        `critical`, the number of cohesions that they are critical in.

        >>> import networkx, pcneo
        >>> batch = pcneo.minimal_p_cohesions(networkx.karate_club_graph(), p="0.4", search="density")
        >>> batch.to_networkx(11).number_of_nodes(), batch.to_networkx().number_of_nodes()
        (8, 34)

        Args:
            key: the vertex; None for the whole graph.
        """
        from pcneo.stored.networks import to_networkx

        return to_networkx(self._batch, self.graph) if key is None else self[key].to_networkx()

    def draw_sizes(self, to: AnyPath | None = None) -> Figure:
        """Draw the cumulative distributions of sizes and densities.

        >>> import networkx, pcneo
        >>> figure = pcneo.minimal_p_cohesions(networkx.karate_club_graph(), p="0.4").draw_sizes()

        Args:
            to: the file, `.svg` or `.png`; an existing file is replaced. None to write no file.

        Raises:
            ParameterError: the suffix is neither of these, or the file cannot be written.
            PcneoError: matplotlib is not installed.
        """
        from pcneo.plots import draw_distributions

        sizes = {str(self.p): (self.sizes, self.densities)}
        whole = self.graph.vertex_count if len(self) == self.graph.vertex_count else None
        return draw_distributions(sizes, self.search.name, to, vertices=whole)

    def __eq__(self, other: object) -> bool:
        """Whether the same vertices have equal cohesions here and there."""
        if not isinstance(other, Cohesions):
            return NotImplemented
        return self.keys() == other.keys() and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] - like a dict's

    def __repr__(self) -> str:
        """Describe the cohesions in two lines."""
        sizes = self.sizes
        first = (
            f"Cohesions of {counted(len(self), 'vertex', 'vertices')}: {counted(int(sizes.sum()), 'membership')}, "
            f"p={self.p}, search {self.search.name}"
        )
        if not len(self):
            return f"{first}\n(none)"
        shown = ", ".join(f"{key!r} {size:,}" for key, size in zip(self.keys()[:SHOWN], sizes[:SHOWN], strict=False))
        more = ", …" if len(self) > SHOWN else ""
        return (
            f"{first}\n{shown}{more} (sizes {sizes.min():,} to {sizes.max():,}, mean {rounded(float(sizes.mean()), 3)})"
        )


@showing_progress
def minimal_p_cohesions(
    graph: GivenGraph,
    p: AnyP,
    search: str = DEFAULT_SEARCH,
    *,
    vertices: Key | Iterable[Key] | None = None,
    effort: int = 1,
    concurrency: int | None = None,
    check: bool = False,
    progress: Progress | None = None,
) -> Cohesions:
    """Search the minimal p-cohesion of every vertex, or of some vertices (ALGORITHM.md#p-cohesion).

    >>> import networkx, pcneo
    >>> batch = pcneo.minimal_p_cohesions(networkx.karate_club_graph(), p="0.4", vertices=[11, 33])
    >>> batch.keys()
    [11, 33]

    Args:
        graph: a networkx graph, a `scipy.sparse` matrix, a frame or list of edges, (keys, sources, targets), or
            `pcneo.Graph`; as `pcneo.as_graph` takes it: directions, weights and loops are left out.
        p: between 0 and 1, both excluded: as text (`"0.3"`, `"1/3"`), Decimal, Fraction, P, or a float of at most six
            digits.
        search: `smallest`, `density` or `degree`.
        vertices: one key or several; None for every vertex.
        effort: starts of the search `smallest`; 1 for any other.
        concurrency: number of threads; by default one for each available core.
        check: also check that each answer is minimal.
        progress: called with stage, done and total; None for bars at a terminal and in a notebook, once it has taken
            two seconds.

    Returns:
        The cohesions, by key.

    Raises:
        TypeError: `graph` is not a graph, or a key is neither an integer nor text.
        ParameterError: p, search, effort or concurrency is out of range.
        NotFoundError: the graph has no such vertex.
        KeyPropertyError: keys are of mixed or unusable kinds.
        AnswerError: an answer failed its check.
    """
    arrays = as_graph(graph)
    places = positions_of(arrays, vertices)
    wanted = Search(p, search, effort)
    report = progress and search_progress(progress, wanted)
    batch = search_all(
        arrays, wanted.p, search, vertices=places, effort=effort, concurrency=concurrency, check=check, progress=report
    )
    return Cohesions(arrays, batch)


def minimal_p_cohesion(
    graph: GivenGraph, vertex: Key, p: AnyP, search: str = DEFAULT_SEARCH, *, effort: int = 1
) -> Cohesion:
    """Search the minimal p-cohesion of one vertex; only the part of a networkx graph that the search visits is read.

    >>> import networkx, pcneo
    >>> pcneo.minimal_p_cohesion(networkx.karate_club_graph(), 11, p="0.4")
    Cohesion of 11: 8 members, 17 connections, density 0.607, p=2/5, search smallest; no smaller one exists

    Args:
        graph, p, search, effort: as for `minimal_p_cohesions`.
        vertex: the vertex's key.

    Returns:
        The cohesion.

    Raises:
        PcneoError, TypeError: as from `minimal_p_cohesions`.
    """
    given = graph if hasattr(graph, "adjacency") else as_graph(graph)
    key = checked_key(vertex)
    try:
        found = search_one(given, key, p, search, effort)
    except NotFoundError:
        check_is_vertex(key, given.keys.tolist() if isinstance(given, Graph) else given.nodes)  # a more precise error
        raise
    return Cohesion(found, lambda cohesion: _around_in(given, cohesion))


def _around_in(graph: GivenGraph, found: FoundCohesion) -> CohesionAround:
    arrays = as_graph(graph)
    return around_in(arrays, places_in(arrays), found)
