"""Use case: show the owner what each mechanism promises, how large its errors are, and what it reveals.

Nothing is spent, and no noise is drawn for a release (GUARANTEE.md#loss-of-one-connection).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pcneo.basics.frames import Table, columns_of, rounded
from pcneo.basics.model import Progress
from pcneo.basics.run_record import RunRecord
from pcneo.basics.selection import Selection
from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.privacy.attack import Seen
from pcneo.privacy.exact import positive
from pcneo.privacy.mechanisms import MECHANISMS, AnyNumber, Mechanism
from pcneo.privacy.mechanisms.answered import Answered
from pcneo.privacy.noise import Noise, SimulatedNoise
from pcneo.privacy.quantiles import place_of
from pcneo.privacy.randomised_response import half_true_epsilon
from pcneo.release.audit.attacked import (
    Attack,
    Found,
    Simulated,
    can_be_attacked,
    mean_errors,
    mean_found,
    simulated,
)
from pcneo.release.choice import find_place, why_not_taken
from pcneo.release.read_graph import ReadGraph
from pcneo.release.request import Source
from pcneo.store.chosen_graph import require_key_index
from pcneo.store.database import Database, GraphRecord

NOTICE = "For the owner alone: this reveals more about the graph than a release's promise allows. Do not publish it."

MEANING = (
    "At equal ε, mechanisms promise different things, and the one with the smallest error may reveal the most. The "
    "connections found are a lower bound: they come from one fixed attacker with the best of its weights, and stronger "
    "attackers exist. A choice made by looking at these exact figures depends on connections, and no promise covers it."
)

_MOST_RELEASES, _FEWEST_RELEASES, _PAIRS = 20, 2, 200_000_000
"""Releases simulated for each mechanism: as many as have `_PAIRS` pairs of vertices together, within the two limits."""
_MOST_ATTACKED, _ATTACKED_PAIRS = 3, 1_000_000
"""How many of them are attacked, limited in the same way; at least one."""
_MOST_PHASES, _FEWEST_PHASES, _REPORTS = 1_000, 20, 3_000_000
"""Simulations that find λ: as many as have `_REPORTS` reports of vertices together, within the two limits."""


SEED = 1
"""Seeds everything that an audit draws, so that a repeated audit repeats its numbers. A release takes no seed."""


@dataclass(frozen=True)
class AuditRow:
    """One line of the table.

    Attributes:
        name: a mechanism, or something else that could be published.
        promise: in a few words; empty where it is not a release.
        error: mean absolute error of a vertex's count; None without counts.
        error_of_total: mean absolute error of the total; None without a total.
        found: the share of the connections that the attacker finds in as many of its best pairs, without knowing the
            groups; like the next two, None where there are too many pairs to rank.
        found_with_groups: the same, knowing the groups; None without groups.
        found_of_protected: the share of the connections inside groups that it finds in as many of its best pairs
            inside, knowing the groups; None without groups.
        costliest: the loss of the connection that costs most, at the 5, 50 and 95 % quantiles of λ; all three are
            equal where pairs are answered; None where neither applies.
        refused: why it is not available; None where it is.
    """

    name: str
    promise: str = ""
    error: float | None = None
    error_of_total: float | None = None
    found: float | None = None
    found_with_groups: float | None = None
    found_of_protected: float | None = None
    costliest: tuple[float, float, float] | None = None
    refused: str | None = None

    def __repr__(self) -> str:
        """Return its name and its figures, or why it is not available."""
        if self.refused is not None:
            return f"{self.name}: {self.refused}"
        errors = {"mean error of a count": self.error, "of the total": self.error_of_total}
        said = [f"{what} {rounded(error)}" for what, error in errors.items() if error is not None]
        if self.found is not None:
            said.append(f"connections found {self.found:.0%}")
        return f"{self.name}: {', '.join(said) or 'no figures'}"


@dataclass(frozen=True)
class AuditResult(Table):
    """What each mechanism promises, how large its errors are, and what it reveals: for the owner alone.

    Attributes:
        notice: states that it is for the owner alone.
        meaning: what the figures mean.
        graph, run, p, search: what it rests on; the last three are None without a run.
        k, epsilon: of every release.
        vertices, connections: of the graph; the attacker names as many pairs as there are connections.
        total: the exact number of k-cliques.
        inside: the share of the connections that lies inside groups; None without groups or connections.
        threshold: ln(n/d), d the mean degree; None without connections.
        releases, attacked: how many were simulated per mechanism, with `SEED`, and how many of these were attacked.
        rows: zeros, exact degrees and exact counts, then the mechanisms.
    """

    notice: str
    meaning: str
    graph: str
    run: str | None
    p: str | None
    search: str | None
    k: int
    epsilon: float
    vertices: int
    connections: int
    total: int
    inside: float | None
    threshold: float | None
    releases: int
    attacked: int
    rows: tuple[AuditRow, ...]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each mechanism and whatever else could be published; `costliest` is at the 95 % quantile."""
        return columns_of({**vars(row), "costliest": row.costliest and row.costliest[-1]} for row in self.rows)

    def caption(self) -> str:
        """Return the sentence that this is for the owner alone."""
        return self.notice

    def __repr__(self) -> str:
        """Return a line about the audit, and one for each row."""
        about = (
            f"Audit of {self.run or self.graph}, for the owner alone: {self.vertices:,} vertices, {self.connections:,} "
            f"connections, k={self.k}, ε={self.epsilon:g}"
        )
        return "\n".join([about, *(f"  {row!r}" for row in self.rows)])


def audit(
    db: Database,
    *,
    epsilon: AnyNumber,
    k: int = 3,
    delta: AnyNumber | None = None,
    source: Source = Source(),
    progress: Progress | None = None,
) -> AuditResult:
    """Return what each mechanism promises, how large its errors are, and what it reveals, beside exact figures."""
    epsilon = positive(epsilon, "epsilon")
    delta = None if delta is None else positive(delta, "delta", below=1)
    every = {kind: _made_or_refused(kind, k=k, epsilon=epsilon, delta=delta) for kind in MECHANISMS.values()}
    mechanisms = [made for made in every.values() if isinstance(made, Mechanism)]
    if not mechanisms:
        raise ParameterError(str(next(iter(every.values()))), name="epsilon", value=epsilon)
    record, run = _place(db, source)
    require_key_index(db, record.selection)
    read = ReadGraph(record).read(db, progress)
    if run is not None:
        read.read_groups(db, run, progress)
    audited = _Audited(run, read, k)
    rows = list(audited.without_a_release())
    for done, (kind, made) in enumerate(every.items()):
        if progress:
            progress("auditing", done, len(every))
        rows += audited.rows(kind, made)
    if progress:
        progress("auditing", len(every), len(every))
    graph = read.graph
    return AuditResult(
        notice=NOTICE,
        meaning=MEANING,
        graph=record.name,
        run=run and run.id,
        p=run and str(run.search.p),
        search=run and run.search.name,
        k=k,
        epsilon=float(mechanisms[0].epsilon),
        vertices=graph.vertex_count,
        connections=graph.edge_count,
        total=audited.total,
        inside=float(audited.facts.protected().inside.mean()) if run and graph.edge_count else None,
        threshold=half_true_epsilon(graph.vertex_count, 2 * graph.edge_count / graph.vertex_count)
        if graph.edge_count
        else None,
        releases=audited.releases,
        attacked=audited.attacked,
        rows=tuple(rows),
    )


def _made_or_refused(kind: type[Mechanism], **given: Any) -> Mechanism | str:
    """Return a mechanism with the given parameters that it has, or why it refuses them, before anything is read."""
    try:
        made = kind.taking(**given)
        made.check_protects()
    except ParameterError as error:
        return str(error)
    return made


def _place(db: Database, source: Source) -> tuple[GraphRecord, RunRecord | None]:
    """Find the graph with its run, or without a run if none was named and the graph has none."""
    runs = db.list_runs()
    try:
        return find_place(db, source, runs, Selection(), with_run=True)
    except NotFoundError:
        if source.names_run:
            raise
    return find_place(db, source, runs, Selection(), with_run=False)


class _Audited:
    """One graph, and what simulated releases publish about it."""

    def __init__(self, run: RunRecord | None, source: ReadGraph, k: int) -> None:
        self.run, self.source, self.k = run, source, k
        self.facts: CountedGraph = source.facts(run)
        n = source.graph.vertex_count
        self.total = sum(self.facts.counts(k).tolist()) // k
        pairs = max(1, math.comb(n, 2))
        self.releases = max(_FEWEST_RELEASES, min(_MOST_RELEASES, _PAIRS // pairs))
        self.attacked = max(1, min(_MOST_ATTACKED, _ATTACKED_PAIRS // pairs)) if can_be_attacked(n) else 0
        self._attacker = Attack(self.facts) if self.attacked else None

    def without_a_release(self) -> Iterator[AuditRow]:
        """Yield the errors of zeros, exact degrees and exact counts, and what they would reveal."""
        n, counts = self.source.graph.vertex_count, self.facts.counts(self.k)
        zeros = float(counts.mean()) if n else 0.0
        for name, error, of_total, seen in (
            ("zeros", zeros, float(self.total), Seen(n)),
            ("exact degrees", None, None, Seen(n, degrees=self.facts.degrees())),
            ("exact counts", 0.0, 0.0, Seen(n, counts=counts)),
        ):
            found = self._attacker.of(seen) if self._attacker else _UNKNOWN
            yield AuditRow(name, "", error, of_total, found.alone, found.with_groups, found.protected)

    def rows(self, kind: type[Mechanism], made: Mechanism | str) -> Iterator[AuditRow]:
        """Yield a mechanism's row, and a second one for published answers; or a row with the reason for a refusal."""
        if isinstance(made, str):
            yield AuditRow(kind.name, refused=made)
            return
        if kind.needs_groups and self.run is None:
            yield AuditRow(kind.name, refused="It rests on groups, and the graph has no run.")
            return
        if self.run is not None and (why := why_not_taken(made, self.run)):
            yield AuditRow(kind.name, refused=why)  # without advice: nobody asked for this mechanism
            return
        try:
            yield from self._of(made.on(self.source.graph.vertex_count))
        except (GraphError, ParameterError) as error:
            yield AuditRow(kind.name, refused=str(error))

    def _of(self, mechanism: Mechanism) -> Iterator[AuditRow]:
        releases = list(simulated(self.facts, mechanism, SimulatedNoise.seeded(SEED), self.releases))
        errors, found = mean_errors(self.facts, releases), self._found(releases)
        row = AuditRow(
            mechanism.name,
            mechanism.promised,
            errors.count,
            errors.total,
            found.alone,
            found.with_groups,
            found.protected,
            self._costliest(mechanism),
        )
        yield row
        if isinstance(mechanism, Answered):
            found = self._found(releases, published=True)
            yield replace(
                row,
                name=f"{row.name}, answers published",
                found=found.alone,
                found_with_groups=found.with_groups,
                found_of_protected=found.protected,
            )

    def _found(self, releases: list[Simulated], *, published: bool = False) -> Found:
        if self._attacker is None:
            return _UNKNOWN
        attacked = releases[: self.attacked]
        return mean_found([self._attacker.of_release(release, published=published) for release in attacked])

    def _costliest(self, mechanism: Mechanism) -> tuple[float, float, float] | None:
        """What the costliest connection loses: by its answer, or at a scale that is itself found by noise."""
        if isinstance(mechanism, Answered):
            return mechanism.loss, mechanism.loss, mechanism.loss
        if not mechanism.loses_by_scale:
            return None
        phases = max(_FEWEST_PHASES, min(_MOST_PHASES, _REPORTS // max(1, self.source.graph.vertex_count)))
        scales = simulated_scales(lambda noise: mechanism.find_scale(self.facts, noise), phases)
        most = self.source.losses(self.k)[-1]
        low, median, high = (most / float(mechanism.divides_loss(scale)) for scale in reversed(scales))
        return low, median, high


def simulated_scales(find: Callable[[Noise], Fraction], phases: int) -> tuple[Fraction, Fraction, Fraction]:
    """Find λ `phases` times with simulated noise; return its 5 %, 50 % and 95 % quantiles."""
    noise = SimulatedNoise.seeded(SEED)
    ascending = sorted(find(noise) for _ in range(phases))
    low, median, high = (ascending[place_of(share, phases)] for share in (0.05, 0.5, 0.95))
    return low, median, high


_UNKNOWN = Found(None, None, None)
