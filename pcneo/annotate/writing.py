"""Mode `write`: brings standing runs up to date, searching and writing side by side."""

from __future__ import annotations

import logging
import secrets
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

from pcneo.annotate.plan import Asked, Configuration, Plan, make_plan, size_text
from pcneo.annotate.stored_hubs import MOST_AHEAD, pages_ahead
from pcneo.annotate.supply import Supply, WholeGraph, supply_of
from pcneo.annotate.updating import Update, UpdatedRun
from pcneo.basics.frames import Table, columns_of
from pcneo.basics.model import Progress
from pcneo.basics.progress_bars import UNDOING
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import DEFAULT_P, DEFAULT_SEARCH, Search
from pcneo.errors import ParameterError, PcneoError
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import versions_relied_on
from pcneo.store.run_reader import HubColumns
from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.standing import Keeping, OpenGraph, Opens, open_graph, run_id
from pcneo.store.transaction import Transaction
from pcneo.store.waiting import lock_patience

LEFT_SECONDS = 1.0
"""How long to wait for a lock before leaving the work to the next writer."""

OpensOne = Callable[[Callable[[int], object] | None], AbstractContextManager[OpenGraph]]
"""As `Opens`, for one graph."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class WriteResult(Table):
    """What `write` did.

    Attributes:
        graph: the graph's name.
        node_count, relationship_count: from the count store.
        vertices, edges: those of the graph (ALGORITHM.md#the-graph); where vertices were named, those that the search
            looked at, and the edges at them.
        runs: one for each p.
        relationships_written: memberships of the new hubs, and one `HAS_COHESION` for each hub.
        pre_processing_millis: choosing, checking and reading.
        compute_millis: waiting for the search.
        write_millis: the rest, since writing goes on while the search computes.
        configuration: the options, with defaults filled in.
    """

    graph: str
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    runs: tuple[UpdatedRun, ...]
    relationships_written: int
    pre_processing_millis: int
    compute_millis: int
    write_millis: int
    configuration: Configuration

    @property
    def run(self) -> UpdatedRun:
        """The only run; where several were brought up to date, a ParameterError."""
        if len(self.runs) != 1:
            raise ParameterError(f"There are {len(self.runs)} runs: take one of .runs.", name="run", value=None)
        return self.runs[0]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each run: its version, the hubs that came and went, sizes and densities."""
        return columns_of(
            {"run": run.run, "version": run.version, "added": run.added, "retired": run.retired, **run.summary.as_row()}
            for run in self.runs
        )

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return f"{self.graph}: {size_text(self.vertices, self.edges, self.configuration)}"

    def __repr__(self) -> str:
        """Return a line that sums it up."""
        runs = (f"{run.run} (version {run.version}: {run.added:,} new, {run.retired:,} gone)" for run in self.runs)
        return f"{self.caption()}; runs {', '.join(runs)}"


def write(db: Database, *, keeping: Keeping | None = None, **asked: Unpack[Asked]) -> WriteResult:
    """Bring standing runs up to date: search for the minimal p-cohesions, and write what differs from what is stored.

    The first time, everything differs. Where nothing has changed, nothing is written.
    (DATA-MODEL.md#bringing-a-run-up-to-date)

    Returns:
        What was changed and how long it took.
    """
    return update_runs(make_plan(db, "write", **asked), keeping or Keeping(), logs_others=True)


def _log_others(standing: Iterable[RunRecord], result: WriteResult) -> None:
    """Log which other runs of the graph have fallen behind, and the command that brings each one up to date."""
    counts, updated = (result.node_count, result.relationship_count), {run.run for run in result.runs}
    for run in standing:
        is_other = run.graph == result.graph and run.id not in updated
        if is_other and run.scope != "answers" and (run.node_count, run.relationship_count) != counts:
            search = "" if run.search.name == DEFAULT_SEARCH else f" --search {run.search.name}"
            command = f"`pcneo annotate --graph {shlex.quote(run.graph)} -p {run.search.p}{search}"
            command += " --vertex KEY` for each of its vertices" if run.scope == "vertices" else "`"
            log.info("The graph has changed since run %s, which was not updated. To update it: %s.", run.id, command)


@dataclass(frozen=True)
class Client:
    """The author of a request for an update, who has a say in it.

    Attributes:
        admit: called once the graph has been read, with the searches and the standing runs by id, before
            any search; may refuse by raising.
        answer: called with the runs, in the transaction that makes the new versions visible; may refuse by raising. It
            is also called, under the graph's lock, where no run has changed.
        trims: whether to remove earlier versions afterwards; if not, a later update does.
    """

    admit: Callable[[Supply, Sequence[Search], Mapping[str, RunRecord]], None]
    answer: Callable[[Transaction, Sequence[UpdatedRun]], None]
    trims: bool = True


def update_runs(
    plan: Plan,
    keeping: Keeping,
    client: Client | None = None,
    supply: Supply | None = None,
    log_removal: Callable[[], object] | None = None,
    *,
    opens: Opens = open_graph,
    logs_others: bool = False,
) -> WriteResult:
    """Do what `write` does, with another supply if one is given, and call a client back when it has a say."""
    db, supply = plan.db, supply or supply_of(plan)
    standing = {run.id: run for run in db.list_runs()}
    searches = _searches(standing.values(), plan)
    db.ensure_schema(OWN_SCHEMA)
    _log_other_names(plan)
    record = next((record for record in plan.known if record.name == plan.graph), None)
    if client is None or record is None or record.selection != plan.selection:
        record = db.merge_graph(plan.graph, plan.selection, secrets.token_hex(32))
    plan.configuration["graph"] = record.name
    opens_again = partial(opens, db, record)
    opened: OpenGraph | None = None
    try:
        with opens_again(
            lambda deleted: plan.progress("removing what an earlier writer left", deleted, None)
        ) as opened:
            result = _update(plan, opened, searches, standing, client, supply)
    except BaseException:
        # Once the last commit is on its way, this process cannot know whether it counts: the next sweep sees it from
        # the version.
        if opened is not None and not opened.committing:
            if opened.hubs.begun:
                (log_removal or _log_removal)()
            _discard(opened.graph, opens_again, plan.progress, known=client is not None, reports=opened.hubs.begun)
        raise
    changed = [run for run in result.runs if run.changed]
    if changed and (client is None or client.trims):
        _trim(db, record, opens_again, changed, keeping)
    if logs_others:
        _log_others(standing.values(), result)
    return result


def _log_other_names(plan: Plan) -> None:
    """Log that a graph which has a name is about to get another one, which may be a slip."""
    name, names = plan.graph, sorted(record.name for record in plan.known if record.selection == plan.selection)
    if names and name not in names:
        known = " and ".join(map(repr, names))
        log.info(
            "This graph is already known as %s; %r is another name for it, with its own runs. Only one of its names "
            "can have a budget and releases.",
            known,
            name,
        )


def _searches(runs: Iterable[RunRecord], plan: Plan) -> Sequence[Search]:
    """Return the searches to bring up to date: those asked for, else those of the graph's standing runs."""
    if plan.searches:
        return plan.searches
    name, scope = plan.search, "graph" if plan.vertices is None else "vertices"
    standing = [
        Search(run.search.p, run.search.name, run.search.effort if plan.effort is None else plan.effort)
        for run in runs
        if (run.graph, run.scope) == (plan.graph, scope) and name in (None, run.search.name)
    ]
    if not standing:
        log.info("Using p=%s, the default.", DEFAULT_P)
    searches = standing or [Search(DEFAULT_P, name or DEFAULT_SEARCH, 1 if plan.effort is None else plan.effort)]
    plan.configuration["p"] = [str(search.p) for search in searches]
    return searches


def _update(
    plan: Plan,
    opened: OpenGraph,
    searches: Sequence[Search],
    standing: Mapping[str, RunRecord],
    client: Client | None,
    supply: Supply,
) -> WriteResult:
    with _hubs_ahead(plan, opened, searches[0], standing, supply) as pages:
        supply.read()  # under the lock, so that no other writer's version comes between the graph and what is written
        node_count, relationship_count = supply.counts  # before the search, so that later changes show afterwards
        read_millis = plan.millis()
        if client is not None:
            client.admit(supply, searches, standing)
        update = Update(plan, opened, supply, standing, pages)
        runs = tuple(map(update.bring, searches))
    update.complete(runs, client.answer if client else None)
    waited = round(1000 * update.waited)
    return WriteResult(
        graph=opened.graph.name,
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=supply.vertices,
        edges=supply.edges,
        runs=runs,
        relationships_written=sum(run.memberships_written + run.added for run in runs),
        pre_processing_millis=read_millis,
        compute_millis=waited,
        write_millis=plan.millis() - read_millis - waited,
        configuration=plan.configuration,
    )


@contextmanager
def _hubs_ahead(
    plan: Plan,
    opened: OpenGraph,
    search: Search,
    standing: Mapping[str, RunRecord],
    supply: Supply,
) -> Iterator[dict[tuple[str, int], Iterator[HubColumns]]]:
    """Read the hubs of the first run while the graph is read, which keeps one core of the server busy.

    They serve only where nothing has changed; what is written rests on hubs that are read after the graph.
    """
    is_searched = plan.vertices is None and supply.scope == WholeGraph.scope and not supply.from_files
    run = standing.get(run_id(opened.graph.name, search, WholeGraph.scope)) if is_searched else None
    if run is not None and run.cohesions <= MOST_AHEAD:
        with pages_ahead(plan.db.stream_hubs(opened.graph.selection, run.id, run.version)) as pages:
            yield {(run.id, run.version): pages}
        return
    yield {}


def _log_removal() -> None:
    log.info("Removing what was written so far. Interrupt to leave that to the next `pcneo annotate` of this graph.")


def _discard(graph: GraphRecord, opens: OpensOne, progress: Progress, *, known: bool, reports: bool) -> None:
    """Best effort: undo what was written for versions that will never come, and free a name that nothing uses.

    A name that was known before stays, as the name in a request always was. The lock is taken again, since the
    transaction of the earlier lock may have held what is deleted here.
    """

    def report(deleted: int) -> None:
        with suppress(Exception):  # a callback that raises to stop the update must not stop the removal
            progress(UNDOING, deleted, None)

    if reports:
        report(0)
    try:
        with lock_patience(LEFT_SECONDS), opens(report) as opened:  # which sweeps
            if not known:
                with opened.last_writes() as transaction:
                    transaction.run("delete_unused_graph", name=graph.name)
    except PcneoError as error:
        log.debug("the next writer will remove what is left in graph %r: %s", graph.name, error)


def _trim(db: Database, graph: GraphRecord, opens: OpensOne, runs: Sequence[UpdatedRun], keeping: Keeping) -> None:
    """Remove earlier versions. Best effort: the new ones already count, and the next writer does what is left."""
    try:
        replacing = [run for run in runs if len(db.list_versions(run.run)) > 1]
        if not replacing:  # first versions replace nothing, so the lock is not needed again
            return
        with lock_patience(LEFT_SECONDS), opens(None) as opened:
            for run in replacing:
                opened.trim(run.run, keeping, partial(versions_relied_on, db))
    except PcneoError as error:
        log.debug("the next writer will remove earlier versions in graph %r: %s", graph.name, error)
