"""Doing what a request asks for, with the functions that the command line calls, and answering with what changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pcneo.annotate.estimating import estimate_memberships
from pcneo.annotate.plan import Plan, make_plan
from pcneo.annotate.supply import Supply
from pcneo.annotate.updating import UpdatedRun
from pcneo.annotate.writing import LEFT_SECONDS, Client, update_runs
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.errors import BusyError, DatabaseError, NotFoundError, ParameterError, PcneoError, RightsError
from pcneo.service.events import log_event
from pcneo.service.figures import Figures
from pcneo.service.lease import CancelledError, Lease
from pcneo.service.request_checks import Question
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import versions_relied_on
from pcneo.store.requests import Answer, Claim, RequestQueue, finish_within, is_cancelled_within
from pcneo.store.standing import Keeping, Opens, open_graph, run_id
from pcneo.store.transaction import Transaction
from pcneo.store.waiting import lock_patience
from pcneo.stored.verifying import VerifiedRun, by_graph, verified

log = logging.getLogger("pcneo.service")


@dataclass(frozen=True)
class Work:
    """The work on one request.

    Attributes:
        queue: the database.
        settings: the owner's.
        claim: the claim on the request.
        question: what it asks for.
        lease: keeps the claim, and notes the progress.
        figures: of the service.
        opens: how a graph is opened for writing.
        trims: whether to let go of earlier versions afterwards.
    """

    queue: RequestQueue
    settings: ServiceSettings
    claim: Claim
    question: Question
    lease: Lease
    figures: Figures
    opens: Opens
    trims: bool

    def do(self) -> Answer:
        """Do the work and answer the request; return the answer. If an error ends the work, nothing became visible."""
        return {"annotate": self._annotate, "check": self._check, "clean": self._clean}[self.question.command]()

    def _annotate(self) -> Answer:
        question = self.question
        _known(self.queue.db, question.graph)
        answers: list[Answer] = []

        def answer(transaction: Transaction, runs: Sequence[UpdatedRun]) -> None:
            self._last_moment(transaction)
            answers.append(Answer("complete", _sentence(runs), tuple((run.run, run.version) for run in runs)))
            finish_within(transaction, self.claim, answers[-1])

        plan = make_plan(
            self._marked(),
            "write",
            p=question.p or None,
            search=question.search,
            graph=question.graph,
            vertices=question.vertices,
            concurrency=self.settings.concurrency,
            progress=self.lease,
        )
        result = update_runs(
            plan,
            Keeping(),
            Client(partial(self._admit, plan), answer, trims=self.trims),
            log_removal=self._log_removal,
            opens=self.opens,
        )
        self.figures.add_update("annotate", result)
        return answers[-1]

    def _marked(self) -> Database:
        """Return the database, marked so that everything done for the request can be found and ended."""
        return self.queue.db.marked({"pcneoRequest": self.claim.token})

    def _log_removal(self) -> None:
        """Log it, and answer a cancelled request without waiting for the removal: no one sees what is removed."""
        log_event("removing what the request wrote", request=self.claim.id)
        if isinstance(self.lease.stopped, CancelledError):
            answer = Answer("cancelled", "Cancelled. Nothing it wrote is visible; it is being removed.")
            self.lease.let_be()
            try:
                self.queue.finish(self.claim, answer, self.lease.progress)
            except (BusyError, DatabaseError) as error:
                log.debug("request %r is answered later: %s", self.claim.id, error)
            else:
                self.lease.answer = answer

    def _admit(self, plan: Plan, supply: Supply, searches: Sequence[Search], standing: Mapping[str, RunRecord]) -> None:
        """Refuse a run that would become larger than the owner allows."""
        for search in searches:
            run = standing.get(run_id(plan.graph, search, supply.scope))
            if plan.vertices is not None:
                most, what, setting = self.settings.max_run_vertices, "cohesions", "max-run-vertices"
                number = len(plan.vertices) + (run.cohesions if run else 0)
                if run and number > most:  # vertices that the run already has are not added to it
                    hubs = plan.db.get_cohesions(plan.selection, run.id, run.version, plan.vertices, as_it_is=True)
                    number -= len({hub.vertex for hub in hubs})
            else:
                most, what, setting = self.settings.max_memberships, "memberships", "max-memberships"
                number = run.memberships if run else estimate_memberships(supply, search, most)
            if number > most:
                raise ParameterError(
                    f"The run would have about {number:,} {what}; this service keeps runs of up to {most:,}. Its owner "
                    f"can change that with {setting}.",
                    name=what,
                    value=number,
                )

    def _check(self) -> Answer:
        question, graph = self.question, self.question.graph
        if graph is not None:
            _known(self.queue.db, graph)
        marked = self._marked()
        runs = [run for run in marked.list_runs() if question.run in (None, run.id)]
        runs = [run for run in runs if graph in (None, run.graph) and self._is_allowed(run.graph)]
        if not runs:
            wanted = question.run or graph
            raise NotFoundError(f"There is no run {wanted!r} to check.", what="run", name=wanted)
        compared = [
            one
            for name, of_graph in by_graph(runs).items()
            for one in verified(marked, _known(marked, name), of_graph, self.lease)
        ]
        return self._finish(" ".join(map(_verdict, compared)))

    def _clean(self) -> Answer:
        wanted = self.question.run or ""
        run = next((run for run in self.queue.db.list_runs() if run.id == wanted), None)
        if run is None or not self._is_allowed(run.graph):
            return self._finish(f"No run {wanted!r} is stored, so there was nothing to remove.")
        answer = Answer("complete", f"Run {run.id} was removed; it had {run.cohesions:,} cohesions.")
        marked = self._marked()
        graph = _known(marked, run.graph)
        with open_graph(marked, graph) as opened, opened.last_writes() as transaction:
            if versions_relied_on(marked, transaction, run.id):
                raise RightsError(f"Releases rest on run {run.id}, so only its owner can remove it.")
            self._last_moment(transaction)
            transaction.run("hide_run", run=run.id)
            finish_within(transaction, self.claim, answer)
        try:
            with lock_patience(LEFT_SECONDS), self.opens(marked, graph, None):  # sweeps what no one sees any more
                pass
        except PcneoError as error:
            log.debug("the remains of run %s are left to the next writer: %s", run.id, error)
        return answer

    def _finish(self, message: str) -> Answer:
        self.lease.let_be()
        answer = Answer("complete", message)
        self.queue.finish(self.claim, answer)
        return answer

    def _is_allowed(self, graph: str) -> bool:
        return not self.settings.graphs or graph in self.settings.graphs

    def _last_moment(self, transaction: Transaction) -> None:
        """Check for the last time whether to stop; the answer then counts with what it reports, or not at all."""
        self.lease.check()
        self.lease.let_be()
        if is_cancelled_within(transaction, self.claim):
            raise CancelledError("Cancelled, and nothing of it is left.")


def _known(db: Database, graph: str | None) -> GraphRecord:
    record = next((record for record in db.list_graphs() if record.name == graph), None)
    if record is None:
        raise NotFoundError(
            f"There is no graph {graph!r} in the database. The first `pcneo annotate --graph NAME`, with labels, types "
            "and key, creates one.",
            what="graph",
            name=graph,
        )
    return record


def _sentence(runs: Sequence[UpdatedRun]) -> str:
    changed = [run for run in runs if run.changed]
    if not changed:
        return "Up to date: nothing has changed, and nothing was written."
    return " ".join(f"{run.run}: {run.added:,} new, {run.retired:,} gone." for run in changed)


def _verdict(compared: VerifiedRun) -> str:
    graph = {None: "no fingerprint", True: "graph as read", False: "the graph has CHANGED"}[compared.graph_same]
    memberships = "memberships as written" if compared.memberships_same else "memberships have CHANGED"
    return f"{compared.run.id}: {graph}, {memberships}."
