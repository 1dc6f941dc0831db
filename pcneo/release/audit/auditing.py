"""The use case: prepare as for releases, then look at losses, removals and other mechanisms instead of drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pcneo.basics.model import Progress, RunRecord
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.advice import Fit, advise
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.mechanisms import MECHANISMS, mechanism_named
from pcneo.privacy.simulated_scales import SimulatedScales, simulate
from pcneo.release.answer_sets import with_answer_sets
from pcneo.release.audit.audited_pairs import losses_of_connections, losses_of_groups
from pcneo.release.audit.findings import NOTICE, AuditResult, Losses
from pcneo.release.audit.removals import remove_connections
from pcneo.release.choice import Place, choose_at, find_place, read_parameters
from pcneo.release.prepared import Prepared, prepare, prepare_beside
from pcneo.release.request import GraphRequest
from pcneo.store.database import Database

__all__ = ["audit"]

_PHASES, _FEWEST_PHASES = 1_000, 20  # simulated; with fewer there is no 5 % quantile
_REPORTS = 3_000_000  # of vertices in all of a mechanism's phases together: some seconds


def audit(
    db: Database,
    *,
    request: GraphRequest,
    resample: int = 20,
    progress: Progress | None = None,
) -> AuditResult:
    """Compute what a release would cost single pairs of vertices, and say which mechanism fits the graph.

    Args:
        db: the database.
        request: the mechanism with its parameters, and the run, as for a release. A mechanism that rests on no run is
            held against the groups of a run where the request names a run, p or search.
        resample: how many connections to remove, each alone, with memberships computed again for all vertices; after a
            minute no further one is begun. Mechanisms that know no memberships are left out.
        progress: called with stage, done and total.

    Returns:
        What was computed, for the owner alone.

    Raises:
        ParameterError, NotFoundError, GraphError: as for a release; or resample is below 0.
    """
    if not resample >= 0:
        raise ParameterError(f"resample must be 0 or more, not {resample}.", name="resample", value=resample)
    audited, place = _prepare_audited(db, request, progress)
    others, refused = _prepare_others(audited, request, place)
    ready = {audited.mechanism.name: audited, **others}
    scales = _simulated(ready, progress)
    fits = [
        _fit(ready[name], scales.get(name))
        for name, mechanism in MECHANISMS.items()
        if mechanism.compared and name in ready
    ]
    covered = audited.source.share_inside(place.run) if place.run else None
    random = scales.get(audited.mechanism.name)
    protected, inside = _inside(audited, place.run)
    return AuditResult(
        notice=NOTICE,
        graph=audited.graph.name,
        run=place.run.id if place.run else None,
        p=str(place.run.search.p) if place.run else None,
        search=place.run.search.name if place.run else None,
        mechanism=audited.mechanism.name,
        promise=audited.mechanism.promise,
        k=audited.mechanism.k,
        epsilon=float(audited.mechanism.epsilon),
        delta=float(audited.mechanism.parameters.spent_delta),
        covered=covered,
        protected=protected,
        exact=_exact(audited),
        inside=inside,
        connections=losses_of_connections(audited, random),
        scales=random,
        removals=remove_connections(audited, resample, progress),
        fits=tuple(fits),
        advice=advise(fits, covered, refused),
    )


def _prepare_audited(db: Database, request: GraphRequest, progress: Progress | None) -> tuple[Prepared, Place]:
    """Prepare the mechanism that is asked about, with the groups of the run if there is one."""
    parameters = read_parameters(request)
    kind = mechanism_named(request.mechanism)
    if not kind.adds_noise and not kind.needs_groups:
        raise ParameterError(
            f"A loss audit has nothing to measure for {request.mechanism}: what a pair costs at most does not depend "
            "on the graph.",
            name="mechanism",
            value=request.mechanism,
        )
    with_run = mechanism_named(request.mechanism).needs_groups or request.names_run
    place = find_place(db, request, db.list_runs(), Selection(), with_run=with_run)
    chosen = [choose_at(place, request, parameters)]
    (audited,) = with_answer_sets(db, chosen, prepare(db, chosen, progress))
    if place.run is not None:
        audited.source.read_groups(db, place.run, progress)
    return audited, place


def _prepare_others(audited: Prepared, request: GraphRequest, place: Place) -> tuple[dict[str, Prepared], str | None]:
    """Prepare the mechanisms that the audited one is compared with; and say why one with groups is refused.

    That a mechanism is refused is no reason to refuse the one that it is only compared with.
    """
    prepared: dict[str, Prepared] = {}
    refused = None
    for other in _others(request, place.run):
        try:
            chosen = choose_at(place, other, read_parameters(other))
            prepared[chosen.mechanism.name] = prepare_beside(audited, chosen)
        except (GraphError, ParameterError) as error:
            if mechanism_named(other.mechanism).needs_groups:
                refused = str(error)
    return prepared, refused


def _others(request: GraphRequest, run: RunRecord | None) -> Iterator[GraphRequest]:
    """The same request for each mechanism that an audit compares with, as far as it has the parameters."""
    for name, mechanism in MECHANISMS.items():
        if mechanism.compared and name != request.mechanism and (run is not None or not mechanism.needs_groups):
            other = mechanism.adapted(request)
            yield other if mechanism.needs_groups else replace(other, run=None, p=None, search=None)


def _simulated(ready: Mapping[str, Prepared], progress: Progress | None) -> dict[str, SimulatedScales]:
    """λ in simulations, for each mechanism that has one."""
    scales: dict[str, SimulatedScales] = {}
    for done, (name, release) in enumerate(ready.items()):
        if progress:
            progress("simulating", done, len(ready))
        if release.scaling.find is not None:
            phases = max(_FEWEST_PHASES, min(_PHASES, _REPORTS // release.scaling.vertices))
            scales[name] = simulate(release.scaling.find, phases)
    if progress:
        progress("simulating", len(ready), len(ready))
    return scales


def _inside(audited: Prepared, groups: RunRecord | None) -> tuple[float | None, Losses | None]:
    """The share of all pairs that lies inside groups, and what they cost under `critical`."""
    if groups is None:
        return None, None
    protected = audited.source.facts(groups).protected()
    pairs = math.comb(audited.source.graph.vertex_count, 2)
    return protected.pair_count / pairs if pairs else None, losses_of_groups(audited, groups)


def _exact(audited: Prepared) -> int:
    """How many counts are published exactly: under `critical` those that no pair inside a group can change."""
    untouched = audited.figures.get("countsWithoutProtectedPairs", 0)
    return untouched if isinstance(untouched, int) else 0


def _fit(release: Prepared, scales: SimulatedScales | None) -> Fit:
    """How exact the total would be."""
    k, n = release.mechanism.k, release.scaling.vertices
    total = sum(release.counts.tolist()) / k
    if scales is None:
        of_total = release.figures["standardErrorOfTotal"]
        low = expected = high = of_total if isinstance(of_total, float) else math.nan
    else:
        low, expected, high = (standard_error([t] * n) / k for t in (scales.low, scales.median, scales.high))
    relative = expected / total if total else None
    return Fit(release.mechanism.name, release.utility.usual_standard_error, low, expected, high, relative)
