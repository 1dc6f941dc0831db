"""A few vertices of a graph that is elsewhere: neighbourhoods are fetched as the expansion comes to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphChangedError, NotFoundError, ParameterError
from pcneo.graph import PartialGraph
from pcneo.model import Cohesion, Graph, Key
from pcneo.search.fraction import thresholds
from pcneo.search.task import Memory, Task, make_task

if TYPE_CHECKING:
    import networkx

__all__ = ["minimal_p_cohesion", "search_streamed"]

Fetch = Callable[[list[Key]], Iterable[tuple[Key, Sequence[Key]]]]

_AHEAD = 4  # a fetch asks for as many vertices again as one in so many of those known

_KEPT_ARCS = 200_000  # neighbours kept from one queried vertex to the next; each step goes through all that is kept


def search_streamed(
    fetch: Fetch, vertices: Iterable[Key], p: object, score: str = "density", *, check: bool = False
) -> Iterator[Cohesion]:
    """Yield the minimal p-cohesion of each vertex, reading only the neighbourhoods that its expansion looks at.

    The answers are those of `search_batches` on the whole graph. Each step of an expansion fetches, at once, the
    neighbourhoods that it lacks and some that later steps will; what was fetched is kept, up to a bound, for the
    vertices that follow.

    Args:
        fetch: takes keys and gives (key, keys of all its neighbours, each once) for those that exist, in any order.
        vertices: keys, in the order in which the answers are wanted.
        p: as `parse_fraction` takes it.
        score: a name in `SCORES`.
        check: as in `search_batches`.

    Raises:
        ParameterError: p, score or a vertex cannot be one.
        NotFoundError: a vertex that was asked for does not exist.
        GraphChangedError: the graph changed between two fetches.
        KeyPropertyError: keys are of mixed or unusable kinds, or belong to several vertices.
        AnswerError: an answer failed its check.
    """
    return _stream(fetch, vertices, make_task(p, score, check))


def _stream(fetch: Fetch, vertices: Iterable[Key], task: Task) -> Iterator[Cohesion]:
    partial = PartialGraph()
    for vertex in vertices:
        if type(vertex) not in (int, str):
            raise ParameterError(f"A vertex is an integer or a string, not {vertex!r}.", name="vertices", value=vertex)
        if partial.arc_count > _KEPT_ARCS:
            partial = PartialGraph()
        if vertex not in partial:
            partial.add(fetch([vertex]))
        if vertex not in partial:
            raise NotFoundError(f"There is no vertex {vertex!r} in the graph.", what="vertex", name=vertex)
        yield _search_one(fetch, partial, vertex, task)


def _search_one(fetch: Fetch, partial: PartialGraph, vertex: Key, task: Task) -> Cohesion:
    """Search in what is known, fetch what that lacked and start again, until nothing is lacking."""
    while True:
        graph, fetched = partial.graph()
        need = np.where(fetched, thresholds(task.p, graph.degrees), -1)
        batch, missing = task.run(graph, need, np.searchsorted(graph.keys, [vertex]), Memory.of(graph))
        if len(batch):
            return next(batch.cohesions(graph))
        ahead = _needed_soon(graph, need, missing.members, int(fetched.sum()) // _AHEAD)
        keys = graph.keys[np.union1d(missing.vertices, ahead)].tolist()
        partial.add(fetch(keys))
        if gone := [key for key in keys if key not in partial]:
            raise GraphChangedError(
                f"Vertex {gone[0]!r} was a neighbour and is gone: the graph changed while it was read. Ask again.",
                vertex=gone[0],
            )


def _needed_soon(graph: Graph, need: NDArray[np.int64], members: NDArray[np.uint32], limit: int) -> NDArray[np.uint32]:
    """Return about `limit` vertices not fetched yet: neighbours of the members that are likely to be taken next.

    Each step goes through all that is known, so that fetching in proportion to it keeps the steps few.
    """
    inside = np.zeros(graph.vertex_count, np.bool_)
    inside[members] = True
    before = np.concatenate(([0], np.cumsum(inside[graph.neighbours])))
    degrees_inside = np.diff(before[graph.offsets])[members]
    lacking = degrees_inside < need[members]
    found: list[NDArray[np.uint32]] = [np.empty(0, np.uint32)]
    for v in members[lacking][np.argsort(-degrees_inside[lacking], kind="stable")].tolist():
        if limit <= 0:
            break
        neighbours = graph.neighbours[graph.offsets[v] : graph.offsets[v + 1]]
        found.append(neighbours[need[neighbours] < 0])
        limit -= len(found[-1])
    return np.concatenate(found)


def minimal_p_cohesion(graph: networkx.Graph[Any], source: Key, p: object, score: str = "density") -> Cohesion:
    """Return the minimal p-cohesion of one node of a networkx graph, whose nodes are integers or strings.

    Directions, parallel edges and self-loops are ignored. Only the part of the graph that the search looks at is read.

    Raises:
        ParameterError: p, score or source cannot be one.
        NotFoundError: the graph has no such node.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: the answer failed its check.
    """
    undirected = graph.to_undirected(as_view=True)

    def fetch(keys: list[Key]) -> list[tuple[Key, list[Key]]]:
        return [(key, list(undirected[key])) for key in keys if key in undirected]

    return next(search_streamed(fetch, [source], p, score))
