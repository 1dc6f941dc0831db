"""What the fixed attacker would find in releases of a graph, with each mechanism: for the owner alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pcneo.basics.model import Progress
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import half_true_epsilon
from pcneo.privacy.simulated_scales import SEED
from pcneo.release.audit.attacked import Exact, attack_exact, attack_release, check_attackable
from pcneo.release.audit.findings import NOTICE
from pcneo.release.choice import Place, choose_at, find_place, read_parameters
from pcneo.release.read_graph import ReadGraph, read_for_release
from pcneo.release.request import GraphRequest
from pcneo.store.chosen_graph import require_key_index
from pcneo.store.database import Database

__all__ = ["ATTACK_NOTICE", "AttackResult", "MechanismAttacked", "attack"]

ATTACK_NOTICE = (
    "A lower bound: one fixed attacker, with the best of its weights; stronger ones exist. At equal ε, mechanisms "
    "promise different things, and the one with the smallest error may show most."
)

_DRAWS, _PAIRS = 5, 2_000_000
"""Releases that are simulated of a small graph; fewer where their pairs together would be more than this."""


@dataclass(frozen=True)
class MechanismAttacked:
    """What the attacker finds with one mechanism.

    Attributes:
        mechanism: its name.
        share: of connections among its best pairs; None where the mechanism is refused.
        with_groups: the same where the groups are known too; None for a mechanism that rests on none.
        error: mean absolute error of a count of a vertex; None where it publishes none.
        refused: why it cannot be had.
    """

    mechanism: str
    share: float | None
    with_groups: float | None
    error: float | None
    refused: str | None


@dataclass(frozen=True)
class AttackResult:
    """What the attacker finds with each mechanism, for the owner alone.

    Attributes:
        notice: that it is for the owner alone.
        meaning: what the figures are.
        graph, run, p: what it rests on; the last two None where there is no run.
        k, epsilon: of every release.
        vertices, connections: of the graph; the attacker names as many pairs as there are connections.
        threshold: ln(n/d), d the mean degree.
        exact: what it finds without a release.
        draws: releases that were simulated of each mechanism, with `SEED`.
        attacked: by mechanism.
    """

    notice: str
    meaning: str
    graph: str
    run: str | None
    p: str | None
    k: int
    epsilon: float
    vertices: int
    connections: int
    threshold: float | None
    exact: Exact
    draws: int
    attacked: tuple[MechanismAttacked, ...]


def attack(db: Database, *, request: GraphRequest, progress: Progress | None = None) -> AttackResult:
    """Let the fixed attacker loose on simulated releases of each mechanism; nothing is spent.

    Args:
        db: the database.
        request: k, ε and the graph, and the run for mechanisms that rest on one; its mechanism does not matter. A
            parameter that a mechanism does not have is left out for it.
        progress: called with stage, done and total.

    Returns:
        What was found, for the owner alone.

    Raises:
        ParameterError, NotFoundError, GraphError: as for a release; or the graph has more than 10,000 vertices.
    """
    every = [mechanism.adapted(request) for mechanism in MECHANISMS.values()]
    refusals = {chosen.mechanism: _refusal(chosen) for chosen in every}
    if all(refusals.values()):
        raise ParameterError(next(filter(None, refusals.values())) or "", name="epsilon", value=request.epsilon)
    place = _place(db, request)
    check_attackable(place.vertices)
    require_key_index(db, place.graph.selection)
    source = read_for_release(db, place.graph, progress)
    graph = source.graph
    check_attackable(graph.vertex_count)
    if place.run is not None:
        source.read_groups(db, place.run, progress)
    draws = max(1, min(_DRAWS, _PAIRS // math.comb(graph.vertex_count, 2)))
    attacked: list[MechanismAttacked] = []
    for done, (chosen, refused) in enumerate(zip(every, refusals.values(), strict=True)):
        if progress:
            progress("attacking", done, len(every))
        attacked.append(_attacked(chosen, refused, place, source, draws))
    if progress:
        progress("attacking", len(every), len(every))
    mean_degree = 2 * graph.edge_count / graph.vertex_count
    return AttackResult(
        notice=NOTICE,
        meaning=ATTACK_NOTICE,
        graph=place.graph.name,
        run=place.run.id if place.run else None,
        p=str(place.run.search.p) if place.run else None,
        k=request.k,
        epsilon=float(read_parameters(next(_allowed(every, refusals))).epsilon),
        vertices=graph.vertex_count,
        connections=graph.edge_count,
        threshold=half_true_epsilon(graph.vertex_count, mean_degree) if mean_degree else None,
        exact=attack_exact(source.facts(), request.k),
        draws=draws,
        attacked=tuple(attacked),
    )


def _allowed(every: list[GraphRequest], refusals: dict[str | None, str | None]) -> Iterator[GraphRequest]:
    return (chosen for chosen in every if refusals[chosen.mechanism] is None)


def _refusal(request: GraphRequest) -> str | None:
    """Return why a mechanism refuses what is asked for, before anything is read."""
    try:
        read_parameters(request)
    except ParameterError as error:
        return str(error)
    return None


def _place(db: Database, request: GraphRequest) -> Place:
    """Find the graph with its run; without one, where none was named and there is none."""
    runs = db.list_runs()
    try:
        return find_place(db, request, runs, Selection(), with_run=True)
    except NotFoundError:
        if request.names_run:
            raise
    return find_place(db, request, runs, Selection(), with_run=False)


def _attacked(
    request: GraphRequest, refused: str | None, place: Place, source: ReadGraph, draws: int
) -> MechanismAttacked:
    name = request.mechanism or ""
    if refused is None and MECHANISMS[name].needs_groups and place.run is None:
        refused = "It rests on groups, and the graph has no run."
    if refused is None:
        try:
            bare = request if MECHANISMS[name].needs_groups else replace(request, run=None, p=None, search=None)
            chosen = choose_at(place, bare, read_parameters(bare))
            mechanism = chosen.mechanism.of(chosen.parameters, source.graph.vertex_count)
            attacked = attack_release(source.facts(chosen.run), mechanism, SimulatedNoise.seeded(SEED), draws)
        except (GraphError, ParameterError) as error:
            refused = str(error)
        else:
            return MechanismAttacked(name, attacked.share, attacked.with_groups, attacked.error, None)
    return MechanismAttacked(name, None, None, None, refused)
