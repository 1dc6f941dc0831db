"""What is measured of one graph: each search at each p, and each alternative, on the same drawn vertices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.alternatives import ALTERNATIVES, Members
from evaluation.answers.grouped_graphs import GroupedGraph
from evaluation.answers.minimum import smallest_around
from evaluation.computed_once import computed_once
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import SEARCHES, P, Search
from pcneo.counting.cliques import edge_ends
from pcneo.graph import graph_from_edges
from pcneo.search import needs_of, search_all, search_orders

PS = ("0.1", "0.2", "0.3", "0.4", "0.5")

_SEED = 36
_VERTICES, _AT_LARGE_P = 150, 25  # drawn; from 0.4 on searches of large graphs take a hundred times as long
_LARGE_P, _LARGE_GRAPH = 0.4, 3_000
_SOLVED, _SOLVED_P = 8, 0.3  # of the drawn vertices, CP-SAT's; up to this p
_REMOVED = 0.01
_MORE_EFFORT = 8  # up to the p of CP-SAT
_ORDERS = 2


@dataclass(frozen=True)
class Figures:
    """Means over the drawn vertices, for one way of finding sets on one graph.

    Attributes:
        graph: its name.
        way: a search, `smallest` with more effort besides, or an alternative.
        p: of a search, else empty.
        vertices: how many were drawn, each with at least one neighbour.
        size, density: of the sets; density of those with two members or more.
        own_group: share of the other members that are in the owner's group; None without groups.
        found: share of the owner's group that is in the set; None without groups.
        same: share of further numberings (Louvain: seeds) that give the same set.
        changed: share of the sets that are others after 1 % of the connections were removed.
        micros: processor time a vertex, one thread; of an alternative for the whole graph, divided by its vertices.
        proven: share that the search itself proves to be smallest; None for any but `smallest`.
        solved, solver_proved: vertices given to CP-SAT; those whose least size it proved.
        over_least: size over the least size, mean over these; None where there is none.
        edges_proved: vertices whose most connections at that size it proved, and whose set has that size.
        of_most_edges: connections over the most, mean over these; None where there is none.
    """

    graph: str
    way: str
    p: str
    vertices: int
    size: float
    density: float
    own_group: float | None
    found: float | None
    same: float
    changed: float
    micros: float
    proven: float | None = None
    solved: int = 0
    solver_proved: int = 0
    over_least: float | None = None
    edges_proved: int = 0
    of_most_edges: float | None = None


def measure(
    grouped: GroupedGraph, folder: Path, ps: Sequence[str], note: Callable[[str], None] = lambda _: None
) -> list[Figures]:
    """Measure a graph, with a file in the folder for each p and one for the alternatives; a finished one is kept."""
    figures: list[Figures] = []
    groups = None if grouped.groups is None else grouped.groups.tolist()
    for p in (*ps, ""):
        settings = [grouped.name, groups, p]
        rows = computed_once(folder, grouped.graph, settings, partial(_measured, grouped, p, note))
        figures += [Figures(**row) for row in rows]
    return figures


def _measured(grouped: GroupedGraph, p: str, note: Callable[[str], None]) -> list[dict[str, object]]:
    note(f"{grouped.name}, {f'p={p}' if p else 'alternatives'}")
    return [asdict(row) for row in (_searches(grouped, p) if p else _alternatives(grouped))]


def _drawn(graph: Graph, p: float) -> list[int]:
    """Draw vertices that have neighbours, the same ones for the same graph and number."""
    linked = np.flatnonzero(graph.degrees)
    large = p >= _LARGE_P and graph.vertex_count > _LARGE_GRAPH
    drawn = np.random.default_rng(_SEED).permutation(linked)[: _AT_LARGE_P if large else _VERTICES]
    return sorted(drawn.tolist())


def _searches(grouped: GroupedGraph, p: str) -> Iterator[Figures]:
    graph, thinned = grouped.graph, _thinned(grouped.graph)
    queries = _drawn(graph, float(p))
    ways = {name: Search(p, name) for name in SEARCHES}
    if float(p) <= _SOLVED_P:
        ways[f"smallest, effort {_MORE_EFFORT}"] = Search(p, effort=_MORE_EFFORT)
    minima, batches = {}, {}
    for name, search in ways.items():
        _search(graph, search, queries[:1])  # compiled before the clock starts
        start = time.process_time()
        batch = _search(graph, search, queries)
        micros = 1e6 * (time.process_time() - start) / len(queries)
        batches[name] = batch, micros
    if float(p) <= _SOLVED_P:
        best, need = _sets(batches["smallest"][0]), needs_of(P(p), graph.degrees)
        chosen = np.random.default_rng(_SEED).permutation(len(queries))[:_SOLVED].tolist()
        minima = {i: smallest_around(graph, need, queries[i], best[i]) for i in chosen}
    for name, (batch, micros) in batches.items():
        search, sets = ways[name], _sets(batch)
        own, found = _agreement(grouped.groups, queries, sets)
        after = _sets(_search(thinned, search, queries))
        steady = search_orders(graph, search, _ORDERS, vertices=queries, concurrency=1)
        least = {i: found.size for i, found in minima.items() if found.size}
        most = {i: found.edges for i, found in minima.items() if found.edges and found.size == len(sets[i])}
        yield Figures(
            graph=grouped.name,
            way=name,
            p=p,
            vertices=len(queries),
            size=_mean([len(members) for members in sets]),
            density=_density(graph, sets),
            own_group=own,
            found=found,
            same=_mean([one.same for part in steady for one in part]),
            changed=_changed(sets, after),
            micros=micros,
            proven=float(batch.proven.mean()) if search.name == "smallest" else None,
            solved=len(minima),
            solver_proved=len(least),
            over_least=_mean_or_none([len(sets[i]) / size for i, size in least.items()]),
            edges_proved=len(most),
            of_most_edges=_mean_or_none([batch.edges[i] / edges for i, edges in most.items()]),
        )


def _search(graph: Graph, search: Search, queries: Sequence[int]) -> CohesionBatch:
    return search_all(graph, search.p, search.name, vertices=queries, effort=search.effort, concurrency=1)


def _alternatives(grouped: GroupedGraph) -> Iterator[Figures]:
    graph, thinned = grouped.graph, _thinned(grouped.graph)
    queries = _drawn(graph, 0)
    for name, sets_around in ALTERNATIVES.items():
        start = time.process_time()
        sets = sets_around(graph, queries, 0)
        seconds = time.process_time() - start
        own, found = _agreement(grouped.groups, queries, sets)
        again = [_changed(sets, sets_around(graph, queries, seed)) for seed in range(1, _ORDERS + 1)]
        yield Figures(
            graph=grouped.name,
            way=name,
            p="",
            vertices=len(queries),
            size=_mean([len(members) for members in sets]),
            density=_density(graph, sets),
            own_group=own,
            found=found,
            same=1 - _mean(again),
            changed=_changed(sets, sets_around(thinned, queries, 0)),
            micros=1e6 * seconds / (len(queries) if name == "one hop" else graph.vertex_count),
        )


def _thinned(graph: Graph) -> Graph:
    """Return the graph without one in a hundred of its edges, at least one, drawn from a fixed seed."""
    m = graph.edge_count
    away = np.random.default_rng(_SEED).permutation(m)[: max(1, round(_REMOVED * m))]
    sources, targets = (graph.keys[np.delete(ends, away)].tolist() for ends in edge_ends(graph))
    return graph_from_edges(graph.keys.tolist(), sources, targets)


def _sets(batch: CohesionBatch) -> list[Members]:
    return np.split(batch.members.astype(np.int64), batch.offsets[1:-1])


def _agreement(
    groups: NDArray[np.int64] | None, queries: Sequence[int], sets: Sequence[Members]
) -> tuple[float | None, float | None]:
    """Return the share of the other members in the owner's group, and of that group in the set."""
    if groups is None:
        return None, None
    sizes = np.bincount(groups)
    both = [int((groups[members] == groups[q]).sum()) for q, members in zip(queries, sets, strict=True)]
    found = [inside / int(sizes[groups[q]]) for q, inside in zip(queries, both, strict=True)]
    own = [(inside - 1) / (len(members) - 1) for inside, members in zip(both, sets, strict=True) if len(members) > 1]
    return _mean(own), _mean(found)


def _density(graph: Graph, sets: Sequence[Members]) -> float:
    several = [members for members in sets if len(members) > 1]
    return _mean([2 * _edges(graph, members) / (len(members) * (len(members) - 1)) for members in several])


def _edges(graph: Graph, members: Members) -> int:
    """Count the edges inside a set."""
    inside = np.zeros(graph.vertex_count, np.bool_)
    inside[members] = True
    rows = [graph.neighbours_of(v) for v in members]
    return int(sum(int(inside[row].sum()) for row in rows)) // 2


def _changed(sets: Sequence[Members], others: Sequence[Members]) -> float:
    return _mean([not np.array_equal(a, b) for a, b in zip(sets, others, strict=True)])


def _mean(values: Sequence[float] | Sequence[int] | Sequence[bool] | NDArray[np.float64]) -> float:
    return float(np.mean(values))


def _mean_or_none(values: Sequence[float]) -> float | None:
    return _mean(values) if len(values) else None
