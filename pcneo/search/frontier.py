"""Search single vertices of a graph that is elsewhere: neighbourhoods are fetched when an expansion needs them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphChangedError, NotFoundError, ParameterError
from pcneo.graph import PartialGraph
from pcneo.model import Cohesion, CohesionBatch, Graph, Key
from pcneo.search.cohesion import Memory, Missing, Searched, Task, compile_kernels, make_task
from pcneo.search.needs import needs_of

if TYPE_CHECKING:
    import networkx

__all__ = ["minimal_p_cohesion", "search_frontier", "search_streamed"]

Fetch = Callable[[list[Key]], Iterable[tuple[Key, Sequence[Key]]]]

_TOGETHER = 32  # vertices that are searched in step; each has its expansion begun again at each step

_AHEAD = 4  # a fetch asks for as many vertices again as one in so many of those known, for members to be taken soon
_FURTHER = 16  # and for at most one in so many on behalf of vertices that are likely to join

_KEPT_ARCS = 200_000  # neighbours known, beyond which no further vertex joins: each step goes through all that is known


def search_frontier(
    fetch: Fetch, vertices: Iterable[Key], p: object, score: str = "density", *, check: bool = False
) -> Iterator[CohesionBatch]:
    """Yield the minimal p-cohesion of each vertex, reading only what its expansion looks at, or may look at.

    A batch holds one cohesion, and as keys those of its members, so that it keeps nothing else of the graph in memory.

    The answers are those of `search_batches` on the whole graph. Several vertices are searched in step: a fetch brings
    at once the neighbourhoods that the next step of each of their expansions lacks, and some that later steps may.
    What was fetched is kept, up to a bound, for the vertices that follow.

    Args:
        fetch: takes keys and gives (key, keys of all its neighbours, each once) for those that exist, in any order.
        vertices: keys, in the order in which the answers are wanted.
        p: as `parse_fraction` takes it.
        score: a name in `SCORES`.
        check: as in `search_batches`.

    Raises:
        ParameterError: p, score or a vertex cannot be one.
        NotFoundError: a queried vertex does not exist.
        GraphChangedError: the graph changed between two fetches.
        KeyPropertyError: keys are of mixed or unusable kinds, or belong to several vertices.
        AnswerError: an answer failed its check.
    """
    return _search(fetch, vertices, make_task(p, score, check))


def search_streamed(
    fetch: Fetch, vertices: Iterable[Key], p: object, score: str = "density", *, check: bool = False
) -> Iterator[Cohesion]:
    """Yield what `search_frontier` yields, by key. Arguments and errors as there."""
    batches = search_frontier(fetch, vertices, p, score, check=check)
    return (cohesion for batch in batches for cohesion in batch.cohesions())


@dataclass
class _Search:
    """A queried vertex, and its answer as soon as there is one."""

    vertex: Key
    answer: CohesionBatch | None = None


def _search(fetch: Fetch, vertices: Iterable[Key], task: Task) -> Iterator[CohesionBatch]:
    partial = PartialGraph()
    waiting = iter(vertices)
    searches: deque[_Search] = deque()  # in the order in which the answers are wanted
    while True:
        if not searches and partial.arc_count > _KEPT_ARCS:
            partial = PartialGraph()
        if partial.arc_count <= _KEPT_ARCS:
            searches.extend(map(_begin, islice(waiting, _TOGETHER - len(searches))))
        if not searches:
            return
        _step(fetch, partial, [search for search in searches if search.answer is None], task)
        while searches and (answer := searches[0].answer) is not None:
            searches.popleft()
            yield answer


def _begin(vertex: Key) -> _Search:
    if type(vertex) not in (int, str):
        raise ParameterError(f"A vertex is an integer or a string, not {vertex!r}.", name="vertices", value=vertex)
    return _Search(vertex)


def _step(fetch: Fetch, partial: PartialGraph, searches: Sequence[_Search], task: Task) -> None:
    """Search for each vertex in what is known, from the beginning; then fetch all that was missing at once."""
    graph, fetched = partial.graph()
    need = np.where(fetched, needs_of(task.p, graph.degrees), -1)
    searched = Searched.of(graph, need)
    most_arriving = int(np.bincount(graph.neighbours).max(initial=0))
    compile_kernels(most_arriving)
    memory = Memory.of(graph, most_arriving)
    lacking: list[Missing] = []
    for search in searches:
        if search.vertex in partial:
            batch, missing = task.run(searched, np.searchsorted(graph.keys, [search.vertex]), memory)
            if len(batch):
                search.answer = _with_own_keys(batch)
            else:
                lacking.append(missing)
    new = [search.vertex for search in searches if search.vertex not in partial]
    share = int(fetched.sum()) // max(1, len(lacking))
    unknown = np.concatenate((np.zeros(1, np.int64), np.cumsum(need[graph.neighbours] < 0)))[graph.offsets]
    near_unknown = np.diff(unknown) > 0
    places = [np.empty(0, np.int64)]
    for missing in lacking:
        places += missing.vertices, _needed_soon(graph, need, near_unknown, missing.members, share)
    keys = list(dict.fromkeys([*new, *graph.keys[np.unique(np.concatenate(places))].tolist()]))
    if keys:
        partial.add(fetch(keys))
    for key in keys:
        if key in partial:
            continue
        if key in new:
            raise NotFoundError(f"There is no vertex {key!r} in the graph.", what="vertex", name=key)
        raise GraphChangedError(
            f"Vertex {key!r} was a neighbour and is gone: the graph changed while it was read. Ask again.", vertex=key
        )


def _with_own_keys(batch: CohesionBatch) -> CohesionBatch:
    """Return one cohesion by position among its own members, so that it holds nothing of the graph it is from."""
    members = batch.members
    return replace(
        batch,
        vertices=np.searchsorted(members, batch.vertices),
        members=np.arange(len(members), dtype=np.uint32),
        keys=batch.keys[members],
    )


def _needed_soon(
    graph: Graph,
    need: NDArray[np.int64],
    near_unknown: NDArray[np.bool_],
    members: NDArray[np.uint32],
    share: int,
) -> NDArray[np.int64]:
    """Return vertices not fetched yet whose neighbourhoods the next steps of an expansion are likely to need.

    They are neighbours of those that are `near_unknown`, which is the same for every expansion of a step.
    Each step goes through all that is known, so that fetching in proportion to it, of which `share` vertices stand to
    one expansion's account, keeps the steps few.
    """
    starts, lengths = graph.offsets[members], graph.degrees[members]
    member = np.repeat(np.arange(len(members)), lengths)
    arcs = np.arange(len(member)) + (starts - np.cumsum(lengths) + lengths)[member]
    inside = np.bincount(graph.neighbours[arcs], minlength=graph.vertex_count)
    joined = np.zeros(graph.vertex_count, np.bool_)
    joined[members] = True
    lacking = (inside > 0) & (inside < need) & near_unknown
    taken_soon = _unknown_around(graph, need, inside, lacking & joined)
    chosen = _as_many(taken_soon, share // _AHEAD, generously=True)
    joining_soon = _unknown_around(graph, need, inside, lacking & ~joined)
    chosen += _as_many(joining_soon, share // _FURTHER, generously=False)
    return np.concatenate([np.empty(0, np.int64), *chosen])


def _unknown_around(
    graph: Graph, need: NDArray[np.int64], inside: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Iterator[NDArray[np.int64]]:
    """Yield the neighbours not fetched yet of each chosen vertex, that with the most neighbours inside first."""
    vertices = np.flatnonzero(chosen)
    for v in vertices[np.argsort(-inside[vertices], kind="stable")].tolist():
        neighbours = graph.neighbours[graph.offsets[v] : graph.offsets[v + 1]]
        yield neighbours[need[neighbours] < 0].astype(np.int64)


def _as_many(groups: Iterable[NDArray[np.int64]], limit: int, *, generously: bool) -> list[NDArray[np.int64]]:
    """Return batches with about `limit` vertices in total; slightly more if `generously`, else no more."""
    taken: list[NDArray[np.int64]] = []
    for group in groups:
        if limit <= 0:
            break
        if generously or len(group) <= limit:
            taken.append(group)
            limit -= len(group)
    return taken


def minimal_p_cohesion(graph: Graph | networkx.Graph[Any], source: Key, p: object, score: str = "density") -> Cohesion:
    """Search the minimal p-cohesion of one vertex (ALGORITHM.md#p-cohesion).

    Of a networkx graph only the part that the search looks at is read.

    Args:
        graph: arrays, or a networkx graph whose nodes are integers or strings; directions, parallel edges and
            self-loops are ignored.
        source: the key of the vertex, in networkx the node.
        p: between 0 and 1, both excluded: as text (`"0.3"`, `"1/3"`), Decimal, Fraction, or a float, read through its
            `repr`.
        score: `density` or `degree`.

    Returns:
        The cohesion, by key.

    Raises:
        ParameterError: p, score or source cannot be one.
        NotFoundError: the graph has no such vertex.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: the answer failed its check.
    """
    fetch = _fetch_from_arrays(graph) if isinstance(graph, Graph) else _fetch_from_networkx(graph)
    return next(search_streamed(fetch, [source], p, score))


def _fetch_from_arrays(graph: Graph) -> Fetch:
    places = {key: place for place, key in enumerate(graph.keys.tolist())}

    def neighbours(place: int) -> list[Key]:
        return graph.keys[graph.neighbours[graph.offsets[place] : graph.offsets[place + 1]]].tolist()

    return lambda keys: [(key, neighbours(places[key])) for key in keys if key in places]


def _fetch_from_networkx(graph: networkx.Graph[Any]) -> Fetch:
    undirected = graph.to_undirected(as_view=True)
    return lambda keys: [(key, list(undirected[key])) for key in keys if key in undirected]
