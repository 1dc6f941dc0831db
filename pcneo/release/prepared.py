"""A release made ready: its graph and groups read and checked on the very arrays that are counted on, nothing spent."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo import cliques
from pcneo.budget import check_sole_name, find_graph
from pcneo.errors import GraphChangedError, GraphError, NotFoundError, ParameterError
from pcneo.graph import MembershipHash, fingerprint
from pcneo.graph.stored import batch_from_rows
from pcneo.model import CohesionBatch, Graph, Progress, Run, Selection
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.ledger import Spend
from pcneo.privacy.mechanisms import MECHANISMS, Critical, Edge, Elv, Published, make_mechanism
from pcneo.protected import LargestSupports, Protected, largest_supports, protect, protected_size
from pcneo.release.asked import Asked
from pcneo.search import p_text, parse_fraction
from pcneo.source import choose_selection, read_graph, require_key_index
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway

__all__ = ["Prepared", "Source", "Utility", "prepare"]

MEMORY = 8 * 10**9
"""Bytes that pairs inside groups may take; more is refused before anything is spent."""

AnyMechanism = Critical | Edge | Elv | Published


@dataclass(frozen=True, eq=False)
class Source:
    """A graph as it was read for releases, and what was computed on its arrays once for all of them."""

    record: GraphRecord
    graph: Graph
    fingerprint: str
    counts: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    groups: dict[str, CohesionBatch] = field(default_factory=dict)
    protected: dict[str, Protected] = field(default_factory=dict)
    supports: dict[tuple[str, int], LargestSupports] = field(default_factory=dict)


@dataclass(frozen=True)
class Utility:
    """What may be said before anything is spent, from public bounds, or for `critical` from groups and Ĝ alone.

    Attributes:
        least_scale: λ is never smaller; None for `critical`.
        usual_scale: the λ of a graph without connections; None for `critical`.
        standard_error: of the total, at the usual λ, or for `critical` at its scales: then it is for the owner alone.
    """

    least_scale: float | None
    usual_scale: float | None
    standard_error: float


@dataclass(frozen=True, eq=False)
class Prepared:
    """One release, ready to be spent for.

    Attributes:
        id: fresh, random.
        asked: what was asked for.
        mechanism: with its parameters, defaults filled in.
        source: its graph.
        run: the stored run that it rests on; None for `edge` and `elv`.
        scales: t_v by vertex for `critical`; None where the scale is found by noise.
    """

    id: str
    asked: Asked
    mechanism: AnyMechanism
    source: Source
    run: Run | None
    scales: list[Fraction] | None

    @property
    def counts(self) -> NDArray[np.int64]:
        """Γ(v) over the whole graph, int64, shape (n,): never to leave without noise where t_v > 0."""
        return self.source.counts[self.mechanism.k]

    @property
    def spend(self) -> Spend:
        """What the ledger gets."""
        digest = self.run.membership_hash if self.run else None
        return Spend(self.mechanism.name, self.mechanism.epsilon, self.delta or Fraction(0), digest)

    @property
    def delta(self) -> Fraction | None:
        """δ; None for `critical`, which has none."""
        return None if isinstance(self.mechanism, Critical) else self.mechanism.delta

    @property
    def utility(self) -> Utility:
        """What may be said before spending."""
        n, k = self.source.graph.vertex_count, self.mechanism.k
        if isinstance(self.mechanism, Critical):
            return Utility(None, None, standard_error(self.scales or []) / k)
        usual = self.mechanism.scale_without_connections
        return Utility(float(self.mechanism.least_scale), float(usual), standard_error([usual] * n) / k)


def prepare(
    gateway: LedgerGateway,
    asked: Sequence[Asked],
    selection: tuple[Sequence[str], Sequence[str], str | None] = ((), (), None),
    progress: Progress | None = None,
) -> list[Prepared]:
    """Check everything that is asked, read each graph and set of groups once, count, and find `critical`'s scales.

    Raises:
        ParameterError: a parameter is out of range, or given to a mechanism that has none.
        NotFoundError: there is no complete run as asked for.
        GraphChangedError: the graph or the memberships are no longer those of the run.
        GraphError: the graph cannot be read, or a count does not fit.
    """
    runs = gateway.list_runs()
    chosen = [_choose(gateway, one, runs, selection) for one in asked]
    sources: dict[str, Source] = {}
    for record, _ in chosen:
        check_sole_name(gateway, record)
        if record.name not in sources:
            sources[record.name] = _read(gateway, record, progress)
    return [
        _prepare_one(gateway, one, sources[record.name], run, progress)
        for one, (record, run) in zip(asked, chosen, strict=True)
    ]


def _choose(
    gateway: LedgerGateway,
    asked: Asked,
    runs: Sequence[Run],
    selection: tuple[Sequence[str], Sequence[str], str | None],
) -> tuple[GraphRecord, Run | None]:
    """The graph and the run that are meant."""
    if asked.mechanism not in MECHANISMS:
        raise ParameterError(
            f"mechanism must be one of {', '.join(MECHANISMS)}, not {asked.mechanism!r}.",
            name="mechanism",
            value=asked.mechanism,
        )
    if MECHANISMS[asked.mechanism].needs_groups:
        run = _find_run(asked, runs)
        return find_graph(gateway, run.graph), run
    for name in ("run", "p", "score"):
        if getattr(asked, name) is not None:
            raise ParameterError(
                f"The mechanism {asked.mechanism} rests on no run; leave {name} out.",
                name=name,
                value=getattr(asked, name),
            )
    if asked.graph is not None:
        return find_graph(gateway, asked.graph), None
    known = gateway.list_graphs()
    if len(known) == 1 and not any(selection):
        return known[0], None
    chosen, _ = choose_selection(gateway, *selection)
    return _enter(gateway, chosen), None


def _enter(gateway: LedgerGateway, selection: Selection) -> GraphRecord:
    """The graph's record under its default name, or under the one name that its owner gave to the same selection."""
    named = [graph for graph in gateway.list_graphs() if graph.selection == selection]
    if len(named) == 1:
        return named[0]
    return gateway.merge_graph(selection.default_name, selection, secrets.token_hex(32))


def _find_run(asked: Asked, runs: Sequence[Run]) -> Run:
    wanted = None if asked.p is None else p_text(parse_fraction(asked.p))
    fitting = [
        run
        for run in runs
        if (run.status, run.scope) == ("complete", "graph")
        and asked.run in (None, "latest", run.id)
        and asked.graph in (None, run.graph)
        and wanted in (None, run.p_text)
        and asked.score in (None, run.score)
    ]
    if not fitting:
        raise NotFoundError(
            "There is no complete run of a whole graph that fits; `pcneo runs` lists them, `pcneo annotate` makes one.",
            what="run",
            name=asked.run,
        )
    kinds = {(run.graph, run.p_text, run.score) for run in fitting}
    if len(kinds) > 1:
        raise ParameterError(
            "Several runs fit: "
            + "; ".join(f"graph {graph}, p={p}, score {score}" for graph, p, score in sorted(kinds))
            + ". Name graph, p, score or the run.",
            name="run",
            value=asked.run,
        )
    return fitting[-1]


def _read(gateway: LedgerGateway, record: GraphRecord, progress: Progress | None) -> Source:
    require_key_index(gateway, record.selection)
    graph = read_graph(gateway, record.selection, progress).graph
    return Source(record, graph, fingerprint(graph, bytes.fromhex(record.fingerprint_key)))


def _prepare_one(
    gateway: LedgerGateway, asked: Asked, source: Source, run: Run | None, progress: Progress | None
) -> Prepared:
    if asked.epsilon is None:
        raise ParameterError("A release needs its epsilon.", name="epsilon", value=None)
    mechanism = make_mechanism(
        asked.mechanism,
        k=asked.k,
        epsilon=asked.epsilon,
        n=source.graph.vertex_count,
        delta=asked.delta,
        epsilon_1=asked.epsilon_1,
        h=asked.h,
    )
    if run is not None:
        _read_groups(gateway, source, run, progress)
    scales = None
    if isinstance(mechanism, Critical) and run is not None:
        largest = _largest_supports(source, run, mechanism.k).per_vertex.tolist()
        mechanism.check_scales(largest)
        scales = mechanism.scales(largest)
    elif not isinstance(mechanism, Critical):
        mechanism.check_scales()
    if mechanism.k not in source.counts:
        source.counts[mechanism.k] = cliques.clique_counts(source.graph, mechanism.k)
    return Prepared(uuid.uuid4().hex, asked, mechanism, source, run, scales)


def _read_groups(gateway: LedgerGateway, source: Source, run: Run, progress: Progress | None) -> None:
    """Read a run's memberships once and check graph and memberships against what the run recorded."""
    if run.id in source.groups:
        return
    if source.fingerprint != run.fingerprint:
        raise GraphChangedError(
            f"The graph is no longer the one that run {run.id} was computed on. Annotate it again.", run=run.id
        )
    if progress:
        progress("reading groups", 0, run.memberships)
    rows = gateway.stream_cohesions(source.record.selection, run.id)
    batch = batch_from_rows(source.graph, rows, Fraction(run.p_text), run.score)
    digest = MembershipHash()
    digest.update(source.graph, batch)
    if digest.hexdigest() != run.membership_hash:
        raise GraphChangedError(
            f"The stored memberships of run {run.id} are no longer those that were written. Annotate the graph again.",
            run=run.id,
        )
    if progress:
        progress("reading groups", len(batch.members), run.memberships)
    source.groups[run.id] = batch


def _largest_supports(source: Source, run: Run, k: int) -> LargestSupports:
    """P̂ and Ĝ, built once for each run, and the largest S(e) of each vertex, found once for each run and k."""
    if run.id not in source.protected:
        size = protected_size(source.graph, source.groups[run.id])
        if size.bytes > MEMORY:
            raise GraphError(
                f"The groups of run {run.id} hold {size.pairs:,} pairs, for which critical needs about "
                f"{size.bytes / 1e9:.0f} GB. Use the mechanism edge, or a run with a smaller p.",
                pairs=size.pairs,
                bytes=size.bytes,
            )
        source.protected[run.id] = protect(source.graph, source.groups[run.id])
    if (run.id, k) not in source.supports:
        source.supports[run.id, k] = largest_supports(source.protected[run.id], k)
    return source.supports[run.id, k]
