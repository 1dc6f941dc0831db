"""Connections removed one by one, with memberships and all that follows from them computed again.

What a release promises for fixed groups says nothing about this: here the groups change with the connection, and add to
what a release gives away.
"""

from __future__ import annotations

import time

import numpy as np

from pcneo.basics.model import CohesionBatch, Graph, Progress
from pcneo.counting import cliques
from pcneo.counting.counted import CountedGraph
from pcneo.privacy.simulated_scales import SEED
from pcneo.release.audit.findings import Removal, Removals
from pcneo.release.prepared import Prepared
from pcneo.search import search_all

__all__ = ["remove_connections"]

_PATIENCE = 60.0  # seconds; afterwards no further connection is removed


def remove_connections(release: Prepared, sample: int, progress: Progress | None = None) -> Removals | None:
    """Remove each of a sample of connections alone; None where no scale follows from groups, or nothing is to remove.

    Args:
        release: the release that is audited.
        sample: how many connections to draw.
        progress: called with the stage, how many are done, and of how many.
    """
    graph, study = release.source.graph, release.mechanism.removal_study()
    size = min(sample, graph.edge_count)
    if study is None or release.run is None or size == 0:
        return None
    before, groups = release.facts, release.source.groups[release.run.id]
    u, v = cliques.edge_ends(graph)
    inside = before.protected().inside
    begin, removed = time.monotonic(), []
    for done, i in enumerate(np.random.default_rng(SEED).choice(len(u), size, replace=False).tolist()):
        if progress:
            progress("removing", done, size)
        if time.monotonic() - begin > _PATIENCE:
            break
        smaller = _without(graph, int(u[i]), int(v[i]))
        later = search_all(smaller, groups.p, groups.search.name, effort=groups.search.effort)
        effect = study.compare(before, CountedGraph(smaller, later, before.label))
        first, second = graph.keys[[u[i], v[i]]].tolist()
        changed = _different(groups, later)
        removed.append(Removal((first, second), bool(inside[i]), changed, *effect))
    if progress:
        progress("removing", len(removed), size)
    return Removals(
        connections=graph.edge_count,
        seed=SEED,
        seconds=time.monotonic() - begin,
        promised=float(study.promised),
        meaning=study.meaning,
        removed=tuple(removed),
    )


def _without(graph: Graph, u: int, v: int) -> Graph:
    """The graph without the edge {u, v}."""
    places = [
        int(graph.offsets[a] + np.searchsorted(graph.neighbours[graph.offsets[a] : graph.offsets[a + 1]], b))
        for a, b in ((u, v), (v, u))
    ]
    offsets = graph.offsets.copy()
    offsets[u + 1 :] -= 1
    offsets[v + 1 :] -= 1
    return Graph(graph.keys, offsets, np.delete(graph.neighbours, places))


def _different(groups: CohesionBatch, others: CohesionBatch) -> int:
    """How many vertices have another cohesion; both batches hold all vertices, in order."""
    return sum(
        not np.array_equal(
            groups.members[groups.offsets[i] : groups.offsets[i + 1]],
            others.members[others.offsets[i] : others.offsets[i + 1]],
        )
        for i in range(len(groups))
    )
