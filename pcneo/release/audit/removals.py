"""Connections removed one by one, with memberships and all that follows from them computed again.

What a release promises for fixed groups says nothing of this: it is what the groups add to what a release gives away.
"""

from __future__ import annotations

import time

import numpy as np

from pcneo.counting import cliques
from pcneo.model import CohesionBatch, Graph, Progress, Run
from pcneo.privacy.log_ratios import first_phase_loss, removal_loss
from pcneo.privacy.mechanisms import Critical, Published
from pcneo.privacy.quantiles import SEED
from pcneo.release.audit.audited_pairs import float_scales
from pcneo.release.audit.findings import Removal, Removals
from pcneo.release.prepared import Prepared
from pcneo.release.read_graph import Source
from pcneo.search import minimal_p_cohesions

__all__ = ["remove_connections"]

_PATIENCE = 60.0  # seconds; afterwards no further connection is removed

_OF_CRITICAL = (
    "Memberships, scales and counts of the graph with the connection against those of the graph without it: what the "
    "published counts tell somebody who knows everything else and is given no groups. mean: how much they favour the "
    "truth on average, as a log-ratio; infinite where the other graph can never publish them. worst: the largest "
    "log-ratio of any output; infinite as soon as one scale changes, since outputs far enough out favour the larger "
    "scale without limit, if rarely. No mechanism here promises anything for this."
)
_OF_PUBLISHED = (
    "What each vertex sees in its own cohesion of the graph with the connection against that of the graph without it; "
    "scales changed counts the vertices whose view changes. "
    "worst: the largest log-ratio of what the first phase reports, for which the paper allows ε1; the counts' own loss "
    "comes on top. No mechanism here promises anything for this."
)


def remove_connections(one: Prepared, sample: int, progress: Progress | None = None) -> Removals | None:
    """Remove each of a sample of connections alone; None where groups play no part, or there is nothing to remove.

    Args:
        one: the release that is audited.
        sample: how many to draw.
        progress: called with the stage, how many are done, and of how many.
    """
    graph, mechanism = one.source.graph, one.mechanism
    size = min(sample, graph.edge_count)
    if not isinstance(mechanism, Critical | Published) or one.run is None or size == 0:
        return None
    u, v = cliques.edge_ends(graph)
    inside = one.source.protected(one.run).inside
    begin, removed = time.monotonic(), []
    for done, i in enumerate(np.random.default_rng(SEED).choice(len(u), size, replace=False).tolist()):
        if progress:
            progress("removing", done, size)
        if time.monotonic() - begin > _PATIENCE:
            break
        a, b = int(u[i]), int(v[i])
        later = _without(one.source, one.run, a, b)
        if isinstance(mechanism, Critical):
            scales, mean, worst = _of_critical(one, mechanism, one.run, later)
        else:
            scales, mean, worst = _of_published(one.source, mechanism, one.run, later)
        first, second = graph.keys[[a, b]].tolist()
        changed = _different(one.source.groups[one.run.id], later.groups[one.run.id])
        removed.append(Removal((first, second), bool(inside[i]), changed, scales, mean, worst))
    if progress:
        progress("removing", len(removed), size)
    return Removals(
        connections=graph.edge_count,
        seed=SEED,
        seconds=time.monotonic() - begin,
        promised=float(mechanism.epsilon if isinstance(mechanism, Critical) else mechanism.epsilon_1),
        meaning=_OF_CRITICAL if isinstance(mechanism, Critical) else _OF_PUBLISHED,
        removed=tuple(removed),
    )


def _of_critical(one: Prepared, mechanism: Critical, run: Run, later: Source) -> tuple[int, float, float]:
    """How many scales change, and what is published."""
    before = float_scales(one.scales)
    after = float_scales(mechanism.scales(later.largest_supports(run, mechanism.k).per_vertex.tolist()))
    return int((before != after).sum()), *removal_loss(one.counts, before, later.counts(mechanism.k), after)


def _of_published(source: Source, mechanism: Published, run: Run, later: Source) -> tuple[int, None, float]:
    """How many views change, and what the first phase reports."""
    degrees = source.inner_degrees(run), later.inner_degrees(run)
    common = source.inner_common(run), later.inner_common(run)
    moved = (degrees[0] != degrees[1]) | (common[0] != common[1])
    loss = first_phase_loss(degrees, common, mechanism.degree_scale, mechanism.common_scale, mechanism.h)
    return int(moved.sum()), None, loss


def _without(source: Source, run: Run, u: int, v: int) -> Source:
    """The graph without the edge {u, v}, and as groups of the run those that it would have had."""
    graph, groups = source.graph, source.groups[run.id]
    places = [
        int(graph.offsets[a] + np.searchsorted(graph.neighbours[graph.offsets[a] : graph.offsets[a + 1]], b))
        for a, b in ((u, v), (v, u))
    ]
    offsets = graph.offsets.copy()
    offsets[u + 1 :] -= 1
    offsets[v + 1 :] -= 1
    later = Source(source.record, Graph(graph.keys, offsets, np.delete(graph.neighbours, places)))
    later.groups[run.id] = minimal_p_cohesions(later.graph, groups.p, groups.score)
    return later


def _different(groups: CohesionBatch, others: CohesionBatch) -> int:
    """How many vertices have another cohesion; both batches hold all vertices, in order."""
    return sum(
        not np.array_equal(
            groups.members[groups.offsets[i] : groups.offsets[i + 1]],
            others.members[others.offsets[i] : others.offsets[i + 1]],
        )
        for i in range(len(groups))
    )
