"""What lies around one cohesion: its critical connections, the vertex's other neighbours, and its local view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from pcneo.basics.model import CohesionAround, FoundCohesion, Graph, Key, LocalView

Neighbours = Mapping[Key, set[Key]]
"""The neighbours of some vertices, by key."""


def around(cohesion: FoundCohesion, near: Neighbours) -> CohesionAround:
    """Return a cohesion with what lies around it; its edges are counted again."""
    vertex, members = cohesion.vertex, cohesion.members
    connections = _connections(near, members)
    return CohesionAround(
        cohesion=replace(cohesion, edges=len(connections)),
        connections=connections,
        others=tuple(sorted(near[vertex].difference(members))),
        hops=_hops(near, vertex, members),
        local_view=_local_view(near, vertex),
        holds=_holds(near, members, cohesion.p),
    )


def around_in(graph: Graph, places: Mapping[Key, int], cohesion: FoundCohesion) -> CohesionAround:
    """Do what `around` does, in a graph in memory with these `places_in` it."""
    beside = graph.keys[graph.neighbours_of(places[cohesion.vertex])].tolist()
    near = {cohesion.vertex, *cohesion.members, *beside}
    return around(cohesion, {key: set(graph.keys[graph.neighbours_of(places[key])].tolist()) for key in near})


def _connections(near: Neighbours, members: Iterable[Key]) -> tuple[tuple[Key, Key], ...]:
    inside = sorted(members)
    rank = {key: place for place, key in enumerate(inside)}
    return tuple((a, b) for a in inside for b in sorted(near[a].intersection(inside)) if rank[a] < rank[b])


def _holds(near: Neighbours, members: Iterable[Key], p: Fraction) -> bool:
    """Whether the members are a p-cohesion: connected, and each keeps its share of its neighbours."""
    left = set(members)
    if any(len(near[key] & left) < p * len(near[key]) for key in left):
        return False
    reached = [left.pop()]
    while reached:
        further = near[reached.pop()] & left
        left -= further
        reached += further
    return not left


def _hops(near: Neighbours, vertex: Key, members: Iterable[Key]) -> dict[Key, int]:
    two = set().union(*(near[key] for key in near[vertex] if key in near))
    return {
        key: 0 if key == vertex else 1 if key in near[vertex] else 2 if key in two else 3 for key in sorted(members)
    }


def _local_view(near: Neighbours, vertex: Key) -> LocalView:
    core = {vertex, *(key for key in near[vertex] if key in near)}
    ends = sum(len(near[key]) for key in core)
    twice = sum(len(near[key] & core) for key in core) // 2
    return LocalView(len(core.union(*(near[key] for key in core))), ends - twice)
