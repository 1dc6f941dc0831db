"""How steady answers are: the same graph is searched under several numberings, which only break ties differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.keys import checked_count
from pcneo.basics.model import CohesionBatch, Graph, Key
from pcneo.basics.searches import Search
from pcneo.errors import ParameterError
from pcneo.kernels.cohesion import Workspace
from pcneo.kernels.threads import thread_count
from pcneo.search.cohesion import Searched, make_task
from pcneo.search.whole_graph import Advance, in_ranges, queried_positions

_SEED = 20


@dataclass(frozen=True, eq=False)
class VertexSteadiness:
    """What several numberings give for one vertex.

    Attributes:
        vertex: its key.
        size: the size of its cohesion with the keys as they are.
        smallest, largest: the sizes of the smallest and largest of its cohesions under the numberings.
        sets: how many different cohesions the numberings give.
        same: the share of numberings that give the same cohesion as the keys as they are.
        ends: keys of the connections critical under any numbering or with the keys as they are: two equally long lists.
        shares: float64, (c,); the share of numberings under which each of these connections is critical.
        critical: bool, (c,); whether it is critical with the keys as they are.
    """

    vertex: Key
    size: int
    smallest: int
    largest: int
    sets: int
    same: float
    ends: tuple[list[Key], list[Key]]
    shares: NDArray[np.float64]
    critical: NDArray[np.bool_]


def check_orders(orders: int) -> None:
    """Refuse fewer than one further numbering."""
    if checked_count("orders", orders) < 1:
        raise ParameterError(f"orders must be 1 or more, not {orders}.", name="orders", value=orders)


def search_orders(
    graph: Graph,
    search: Search,
    orders: int,
    *,
    vertices: Iterable[int] | None = None,
    concurrency: int | None = None,
    progress: Advance | None = None,
) -> Iterator[list[VertexSteadiness]]:
    """Search each vertex with the keys as they are and under further numberings, drawn from a fixed seed.

    Yields:
        The vertices in ascending order, some at a time.
    """
    check_orders(orders)
    queries, threads = queried_positions(graph, vertices), thread_count(concurrency)
    task = make_task(search, check=False, max_degree=int(graph.degrees.max(initial=0)))
    searched = Searched.of(graph, search.p)
    # Other ranks break ties as if the keys had been given out again.
    further = numberings(graph.vertex_count, orders)
    numbered = [searched, *(replace(searched, rows=searched.rows._replace(ranks=ranks)) for ranks in further)]

    def work_on(part: NDArray[np.int64], work: Workspace) -> list[VertexSteadiness]:
        batches = [task.run(one, part, work) for one in numbered]
        return [_compare(graph, batches, i) for i in range(len(part))]

    return in_ranges(queries, work_on, searched.workspace, threads, progress)


def numberings(vertices: int, orders: int) -> list[NDArray[np.int64]]:
    """Return orders of the vertices, drawn from a fixed seed: the place of each vertex, int64, (vertices,)."""
    random = np.random.default_rng(_SEED)
    return [random.permutation(vertices) for _ in range(orders)]


def _compare(graph: Graph, batches: list[CohesionBatch], i: int) -> VertexSteadiness:
    """Compare the i-th cohesions; the first batch is that of the keys as they are."""
    sets = [batch.members_of(i) for batch in batches]
    texts = [members.tobytes() for members in sets]
    sizes = [len(members) for members in sets[1:]]
    ends, inside = _connections(graph, sets)
    return VertexSteadiness(
        vertex=_keys(graph, batches[0].vertices[i : i + 1])[0],
        size=len(sets[0]),
        smallest=min(sizes),
        largest=max(sizes),
        sets=len(set(texts[1:])),
        same=texts[1:].count(texts[0]) / len(sizes),
        ends=(_keys(graph, ends[0]), _keys(graph, ends[1])),
        shares=inside[1:].mean(axis=0),
        critical=inside[0],
    )


def _connections(graph: Graph, sets: list[NDArray[np.uint32]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the connections inside any of the sets, as positions, (2, c), and which sets each is in, (sets, c)."""
    everyone = np.unique(np.concatenate(sets))
    member = np.array([np.isin(everyone, members, assume_unique=True) for members in sets])
    rows = [graph.neighbours_of(v) for v in everyone]
    sources = np.repeat(np.arange(len(everyone)), [len(row) for row in rows])
    targets = np.concatenate(rows)
    places = np.minimum(np.searchsorted(everyone, targets), len(everyone) - 1)
    once = (everyone[places] == targets) & (sources < places)
    sources, places = sources[once], places[once]
    inside = member[:, sources] & member[:, places]
    ever = inside.any(axis=0)
    return np.array([everyone[sources[ever]], everyone[places[ever]]], np.int64), inside[:, ever]


def _keys(graph: Graph, positions: NDArray[np.int64]) -> list[Any]:
    return graph.keys[positions].tolist()
