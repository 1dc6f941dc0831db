"""Search single vertices of a graph that is elsewhere: neighbourhoods are fetched when an expansion needs them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.keys import key_text, plain_key
from pcneo.basics.model import CohesionBatch, FoundCohesion, Graph, Key
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search
from pcneo.basics.stopping import stop_flag
from pcneo.errors import GraphChangedError, NotFoundError, ParameterError
from pcneo.graph import PartialGraph
from pcneo.graph.given import places_in
from pcneo.kernels.cohesion import (
    NARROW,
    Rows,
    Workspace,
    counts_inside,
    degrees_of,
    enlarged,
    has_room,
    workspace,
)
from pcneo.kernels.compilation import compilation_announced
from pcneo.search.cohesion import Begun, Task, compile_kernels, make_task, needs_of

if TYPE_CHECKING:
    import networkx


Fetch = Callable[[list[Key]], Iterable[tuple[Key, Sequence[Key]]]]

_TOGETHER = 32  # vertices that are searched in step
_KEPT_COUNTS = 4_000_000  # of vertices, by all searches in step together: 25 bytes each

_AHEAD = 4  # a fetch asks for about one more vertex per this many known ones, for members that are taken soon
_FURTHER = 16  # and for at most one per this many, for vertices that are likely to join

_KEPT_ARCS = 200_000  # known neighbours; beyond these, no further vertex joins the searches under way


def search_frontier(
    fetch: Fetch, vertices: Iterable[Key], search: Search, *, check: bool = False
) -> Iterator[CohesionBatch]:
    """Yield the minimal p-cohesion of each vertex, reading only what its expansion looks at, or may look at.

    A batch holds one cohesion, and as keys only its members', so that it keeps nothing else of the graph in memory.

    The answers are those of `search_batches` on the whole graph. Several vertices are searched in step: one fetch
    brings the neighbourhoods that the next steps of all their expansions lack, and some that later steps may lack. What
    was fetched is kept, up to a bound, for the vertices that follow.
    """
    return _search(fetch, vertices, make_task(search, check))


class _Known:
    """What has been fetched, in the form that the kernel takes, for one p."""

    def __init__(self, task: Task) -> None:
        self.partial = PartialGraph()
        self.needs = needs_of(task.search.p, np.zeros(0, np.int64))  # by degree
        self._task = task
        self._stop = stop_flag()

    def add(self, rows: Iterable[tuple[Key, Sequence[Key]]]) -> None:
        with compilation_announced("the search"):
            self.partial.add(rows)
        largest = self.partial.largest
        if largest >= len(self.needs):
            room = 2 * largest + 2 if largest >= NARROW else min(2 * largest + 2, NARROW)
            self.needs = needs_of(self._task.search.p, np.arange(room))
            compile_kernels(room - 1)

    def rows(self) -> Rows:
        return Rows(self.partial.places, self.partial.neighbours, self.needs, self.partial.ranks)

    def workspace(self, earlier: Workspace | None) -> Workspace:
        """Return memory for a search, which goes on where it was in an `earlier` workspace."""
        n, most = len(self.partial.places), len(self.needs) - 1
        if earlier is None:
            return workspace(n, most)._replace(stop=self._stop)
        return earlier if has_room(earlier, n, most) else enlarged(earlier, n, most)._replace(stop=self._stop)

    def check(self) -> None:
        """Raise CancelledError if the search was stopped."""
        if self._stop[0] > 0:
            raise CancelledError


@dataclass
class _Search:
    """A queried vertex, its search, the search's memory, and its answer as soon as there is one."""

    vertex: Key
    begun: Begun | None = None
    work: Workspace | None = None
    answer: CohesionBatch | None = None


def _search(fetch: Fetch, vertices: Iterable[Key], task: Task) -> Iterator[CohesionBatch]:
    known = _Known(task)
    waiting = iter(vertices)
    searches: deque[_Search] = deque()  # in the order in which the answers are wanted
    while True:
        if not searches and known.partial.arc_count > _KEPT_ARCS:
            known = _Known(task)
        if known.partial.arc_count <= _KEPT_ARCS:
            searches.extend(map(_begin, islice(waiting, _TOGETHER - len(searches))))
        if not searches:
            return
        _step(fetch, known, [search for search in searches if search.answer is None], task)
        while searches and (answer := searches[0].answer) is not None:
            searches.popleft()
            yield answer


def _begin(vertex: Key) -> _Search:
    if type(vertex) not in (int, str):
        raise ParameterError(f"A vertex must be an integer or a string, not {vertex!r}.", name="vertices", value=vertex)
    return _Search(vertex)


def _step(fetch: Fetch, known: _Known, searches: Sequence[_Search], task: Task) -> None:
    """Go on with each search as far as what is known allows; then fetch everything that was missing at once."""
    partial = known.partial
    together = max(1, _KEPT_COUNTS // max(1, partial.vertex_count))
    for search in searches[together:]:
        search.work = None  # it begins again when its turn comes
    lacking: list[tuple[Workspace, NDArray[np.uint32], bool]] = []
    rows, ahead = known.rows(), partial.row_count // (_FURTHER * max(1, len(searches)))
    for search in searches[:together]:
        number = partial.number(search.vertex)
        if number is None:
            continue
        search.begun = search.begun or task.begin(np.array([number]))
        search.work = known.workspace(search.work)
        missing = search.begun.go_on(rows, search.work, ahead)
        known.check()
        if search.begun.done:
            search.answer, search.work = _answer(known, task, number, search.begun), None
        else:
            lacking.append((search.work, missing, search.begun.expands))
    share = partial.row_count // max(1, len(lacking))
    wanted = [np.empty(0, np.uint32)]
    for work, missing, expands in lacking:
        wanted.append(missing)
        if expands:
            wanted.append(_needed_soon(known, work, share))
    new = partial.lacks(search.vertex for search in searches[:together])
    keys = list(dict.fromkeys([*new, *partial.keys(np.unique(np.concatenate(wanted)))]))
    fetched = iter(fetch(keys) if keys else ())
    while part := list(islice(fetched, -(-len(keys) // 2))):
        known.add(part)  # while the other half is on its way
    for key in partial.lacks(keys):
        if key in new:
            raise NotFoundError(f"There is no vertex {key_text(key)} in the graph.", what="vertex", name=key)
        raise GraphChangedError(
            f"Vertex {key!r} was a neighbour but is gone: the graph changed while it was read. Ask again.", vertex=key
        )


def _answer(known: _Known, task: Task, number: int, begun: Begun) -> CohesionBatch:
    """Check a cohesion, and return it by position among its own members, so that it keeps nothing else of the graph."""
    members = begun.members
    graph, positions = known.partial.around(members)
    found = task.found(graph, positions[members == number], begun, positions.astype(np.uint32))
    batch = task.checked(graph, known.needs[graph.degrees], found, np.zeros(graph.vertex_count, np.int64))
    return replace(
        batch,
        vertices=np.searchsorted(batch.members, batch.vertices),
        members=np.arange(len(members), dtype=np.uint32),
        keys=graph.keys[batch.members],
    )


def _needed_soon(known: _Known, work: Workspace, share: int) -> NDArray[np.uint32]:
    """Return vertices not fetched yet whose neighbourhoods the next steps of an expansion are likely to need.

    They are neighbours of members that lack some, and of vertices beside them that would lack some if they joined.
    Fetching in proportion to what is known keeps steps few; `share` of the known rows are attributed to one expansion.
    """
    partial = known.partial
    near = np.flatnonzero(partial.unfetched[: partial.vertex_count])
    inside, joined = counts_inside(work, near)
    lacking = (inside > 0) & (inside < known.needs[degrees_of(partial.places[near])])
    chosen: list[NDArray[np.int64]] = []
    for which, limit, generously in ((joined, share // _AHEAD, True), (~joined, share // _FURTHER, False)):
        places = np.flatnonzero(lacking & which)
        vertices = near[places[np.argsort(-inside[places], kind="stable")]]
        chosen.append(vertices[_as_many(partial.unfetched[vertices], limit, generously=generously)])
    neighbours = np.concatenate([np.empty(0, np.uint32), *partial.rows(np.concatenate(chosen))])
    return neighbours[partial.places[neighbours] < 0]


def _as_many(sizes: NDArray[np.int32], limit: int, *, generously: bool) -> NDArray[np.int64]:
    """Return the places of the first sizes that add up to about `limit`; to slightly more if `generously`."""
    fitting = np.flatnonzero(sizes <= (np.inf if generously else limit))
    total = np.cumsum(sizes[fitting])
    return (
        fitting[: np.searchsorted(total, limit) + 1]
        if generously
        else fitting[: np.searchsorted(total, limit, "right")]
    )


def search_one(
    graph: Graph | networkx.Graph[Any], vertex: Key, p: AnyP, search: str = DEFAULT_SEARCH, effort: int = 1
) -> FoundCohesion:
    """Search one vertex, given by key; only the part of a networkx graph that the search looks at is read."""
    wanted = Search(p, search, effort)
    fetch = _fetch_from_arrays(graph) if isinstance(graph, Graph) else _fetch_from_networkx(graph)
    (found,) = next(search_frontier(fetch, [vertex], wanted)).cohesions()
    return found


def _fetch_from_arrays(graph: Graph) -> Fetch:
    places = places_in(graph)

    def neighbours(place: int) -> list[Key]:
        return graph.keys[graph.neighbours_of(place)].tolist()

    return lambda keys: [(key, neighbours(places[key])) for key in keys if key in places]


def _fetch_from_networkx(graph: networkx.Graph[Any]) -> Fetch:
    undirected = graph.to_undirected(as_view=True)
    return lambda keys: [(key, list(map(plain_key, undirected[key]))) for key in keys if key in undirected]
