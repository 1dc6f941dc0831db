"""The use case: prepare as for releases, then look at losses, removals and other mechanisms instead of drawing."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pcneo.errors import GraphError, ParameterError
from pcneo.model import Progress, Run
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.mechanisms import MECHANISMS, Critical
from pcneo.privacy.quantiles import Fit, Scales, advise, simulate
from pcneo.release.audit.audited_pairs import losses_of_connections, losses_of_groups
from pcneo.release.audit.findings import NOTICE, AuditResult, Losses
from pcneo.release.audit.removals import remove_connections
from pcneo.release.choice import Chosen, choose, mechanism_of
from pcneo.release.prepared import Prepared, prepare, prepare_beside
from pcneo.release.request import Asked
from pcneo.store.ledger import LedgerGateway

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["audit"]

_PHASES, _FEWEST_PHASES = 1_000, 20  # simulated; the fewest have a 5 % quantile yet
_REPORTS = 3_000_000  # of vertices in all of a mechanism's phases together: some seconds


def audit(
    driver: Driver,
    database: str | None = None,
    *,
    run: str | None = None,
    graph: str | None = None,
    p: object = None,
    score: str | None = None,
    k: int = 3,
    epsilon: object,
    mechanism: str = "critical",
    delta: object = None,
    epsilon_1: object = None,
    h: int | None = None,
    resample: int = 20,
    progress: Progress | None = None,
) -> AuditResult:
    """Find what a release would cost single pairs of vertices, and which mechanism fits the graph.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        run, graph, p, score: which stored run, as for a release. `edge` and `elv` rest on none; with a run, p or score
            they are held against the groups of that run.
        k: vertices of the cliques.
        epsilon, delta, epsilon_1, h: the mechanism's parameters, as for a release.
        mechanism: `critical`, `edge`, `elv` or `published`.
        resample: how many connections to remove, each alone, with memberships computed again for all vertices; after a
            minute no further one is begun. Not for `edge` and `elv`, which know no memberships.
        progress: called with stage, done and total.

    Raises:
        ParameterError, NotFoundError, GraphError: as for a release; or resample is below 0.
    """
    if not resample >= 0:
        raise ParameterError(f"resample must be 0 or more, not {resample}.", name="resample", value=resample)
    asked = Asked(
        to=Path(os.devnull),  # nothing is published
        mechanism=mechanism,
        k=k,
        epsilon=epsilon,
        delta=delta,
        epsilon_1=epsilon_1,
        h=h,
        graph=graph,
        p=p,
        score=score,
        run=run,
    )
    gateway = LedgerGateway(driver, database)
    chosen, groups = _choose(gateway, asked)
    compared = chosen.pop("critical") if groups is not None and mechanism != "critical" else None
    ready = dict(zip(chosen, prepare(gateway, list(chosen.values()), progress), strict=True))
    refused = None
    if compared is not None and groups is not None:
        ready[mechanism].source.read_groups(gateway, groups, progress)
        try:
            ready["critical"] = prepare_beside(ready[mechanism], compared)
        except (GraphError, ParameterError) as error:  # no reason to refuse what it is only held against
            refused = str(error)
    scales = _simulated(ready, progress)
    return _result(ready[mechanism], groups, ready, scales, refused, resample, progress)


def _choose(gateway: LedgerGateway, asked: Asked) -> tuple[dict[str, Chosen], Run | None]:
    """The release that is audited and those it is compared with, by mechanism; and the run with the groups."""
    grouped = asked.mechanism in MECHANISMS and MECHANISMS[asked.mechanism].needs_groups
    plain = replace(asked, mechanism="critical", delta=None, epsilon_1=None, h=None)
    named = (asked.run, asked.p, asked.score) != (None, None, None)
    (lead,) = choose(gateway, [plain if grouped or named else asked], ((), (), None))
    n = lead.run.vertices if lead.run else gateway.count_nodes(lead.graph.selection)
    ungrouped = replace(asked, run=None, p=None, score=None)
    chosen = {asked.mechanism: Chosen(asked, lead.graph, lead.run if grouped else None, mechanism_of(asked, n))}
    if lead.run is not None:
        chosen.setdefault("critical", lead)
    for other in (replace(ungrouped, mechanism="edge", h=None), replace(ungrouped, mechanism="elv")):
        mechanism = mechanism_of(other, n)
        if other.mechanism not in chosen and (isinstance(mechanism, Critical) or mechanism.can_be_drawn):
            chosen[other.mechanism] = Chosen(other, lead.graph, None, mechanism)
    return chosen, lead.run


def _simulated(ready: dict[str, Prepared], progress: Progress | None) -> dict[str, Scales]:
    """λ in simulated first phases, for each mechanism that has one."""
    found: dict[str, Scales] = {}
    for done, (name, one) in enumerate(ready.items()):
        if progress:
            progress("simulating", done, len(ready))
        if one.find_scale is not None:
            phases = max(_FEWEST_PHASES, min(_PHASES, _REPORTS // len(one.counts)))
            found[name] = simulate(one.find_scale, phases)
    if progress:
        progress("simulating", len(ready), len(ready))
    return found


def _result(
    one: Prepared,
    groups: Run | None,
    ready: dict[str, Prepared],
    scales: dict[str, Scales],
    refused: str | None,
    resample: int,
    progress: Progress | None,
) -> AuditResult:
    mechanism, source = one.mechanism, one.source
    covered = source.share_inside(groups) if groups else None
    fits = [_fit(ready[name], scales.get(name)) for name in ("critical", "edge", "elv") if name in ready]
    random = scales.get(mechanism.name)
    protected, inside = _inside(one, groups, random)
    return AuditResult(
        notice=NOTICE,
        graph=one.graph.name,
        run=groups.id if groups else None,
        p=groups.p_text if groups else None,
        score=groups.score if groups else None,
        mechanism=mechanism.name,
        promise=mechanism.promise,
        k=mechanism.k,
        epsilon=float(mechanism.epsilon),
        delta=0.0 if isinstance(mechanism, Critical) else float(mechanism.delta),
        covered=covered,
        protected=protected,
        exact=sum(t == 0 for t in one.scales or []),
        exact_supports=one.utility.exact_supports,
        inside=inside,
        connections=losses_of_connections(one, random),
        scales=random,
        removals=remove_connections(one, resample, progress),
        fits=tuple(fits),
        advice=advise(fits, covered, refused),
    )


def _inside(one: Prepared, groups: Run | None, random: Scales | None) -> tuple[float | None, Losses | None]:
    """The share of all pairs that lies inside groups, and their losses; neither where the groups are too large."""
    if groups is None:
        return None, None
    try:
        protected = one.source.protected(groups)
    except GraphError:
        return None, None
    pairs = math.comb(one.source.graph.vertex_count, 2)
    return protected.pair_count / pairs if pairs else None, losses_of_groups(one, groups, random)


def _fit(one: Prepared, scales: Scales | None) -> Fit:
    """How exact the total would be."""
    k, n = one.mechanism.k, len(one.counts)
    total = sum(one.counts.tolist()) / k
    if scales is None:
        low = expected = high = standard_error(one.scales or []) / k
    else:
        low, expected, high = (standard_error([t] * n) / k for t in (scales.low, scales.median, scales.high))
    relative = expected / total if total else None
    return Fit(one.mechanism.name, one.utility.usual_standard_error, low, expected, high, relative)
