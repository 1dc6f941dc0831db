"""A graph in a database as Python users hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from pcneo.basics.keys import check_text, keys_or_all
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.searches import AnyP
from pcneo.basics.selection import Selection, is_part_of
from pcneo.errors import NotFoundError, ParameterError
from pcneo.face.graph_modes import GraphModes, SeveralP, Vertices
from pcneo.face.listings import Listing
from pcneo.face.run_handle import Run, listed_runs
from pcneo.service.placing import AnsweredRequest
from pcneo.service.placing import ask as ask_service

if TYPE_CHECKING:
    from pcneo.face.budget_handle import Budget
    from pcneo.face.release_handle import Counts
    from pcneo.privacy.mechanisms import AnyNumber, Mechanism
    from pcneo.release import RoughGroups
    from pcneo.release.audit import AuditResult
    from pcneo.store.database import Database


@dataclass(frozen=True)
class GraphHandle(GraphModes):
    """A part of a database that is a graph, under a name. The first `annotate` stores the name.

    The examples use a database with the sample that comes with pcneo.

    >>> friends = db.graph("friends", node_labels="Person", relationship_types="KNOWS", key="id")
    >>> friends
    Graph 'friends': Person/KNOWS/id
    >>> friends.runs()
    1 run: friends@3/10

    Attributes:
        name: None if the database had only one graph to choose, without a name, when this was made.
        selection: labels, types and key, as far as they were given.
    """

    # --- Which graph

    def _named(self) -> str:
        """Return the name under which the database knows the graph."""
        known = {graph.name: graph.selection for graph in self.db.list_graphs()}
        if self.name in known:
            return self.name
        fitting = [
            name for name, selection in known.items() if self.name is None and is_part_of(self.selection, selection)
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise ParameterError(f"Which graph? There are {', '.join(fitting)}.", name="graph", value=None)
        name = self.name or (self.selection.default_name if self.selection else "")
        which = f"There is no graph {name!r} yet" if name else "There is no graph yet"
        raise NotFoundError(f"{which}: its first annotate() stores it.", what="graph", name=self.name)

    # --- Its runs

    def runs(self) -> Listing[Run]:
        """Return the graph's standing runs, by id.

        >>> friends.runs()[0].search.p
        P('3/10')
        """
        return listed_runs(self.db, self._named())

    def run(self, p: AnyP | None = None, search: str | None = None, *, run: str | None = None) -> Run:
        """Return a standing run.

        >>> friends.run("0.3").id
        'friends@3/10'

        Args:
            p, search: the run's p and search, where several match; by default the whole graph's run with the
                latest version. The run's id may take the place of p.
            run: its id, or enough of the beginning of its id to be unique.

        Raises:
            NotFoundError: there is no such run.
            ParameterError: several runs match; the message lists them.
        """
        from pcneo.stored.runs import find_run

        if run is None and isinstance(p, str) and "@" in p:  # no p has one, and every id has
            p, run = None, p
        if run is not None:
            check_text("run", run, "the id of a run, such as 'friends@3/10'")
        return Run(self.db, find_run(self.db, run=run, graph=self._named(), p=p, search=search))

    def ask(
        self,
        p: SeveralP | None = None,
        search: str | None = None,
        *,
        vertices: Vertices | None = None,
        by: str | None = None,
        request: Key | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> AnsweredRequest:
        """Ask `pcneo serve` beside the database to bring runs up to date, and wait until it has.

        >>> friends.ask(p="0.3", vertices=[58]).runs  # doctest: +SKIP
        (('friends@3/10:vertices', 1),)

        Args:
            p, search, vertices: as for `annotate`.
            by: who asks, for the owner to read.
            request: identifier of the request. With your own, you can place the same request again, and it is worked
                on only once; one that asks for something else is refused. None for a new one.
            timeout: seconds to wait; None for as long as it takes.
            progress: called with the request's status, hundredths done and 100.

        Raises:
            RequestError: the request failed, was cancelled, or was not answered in time; the message says why.
            BusyError: an open transaction has held the request for ten seconds.
            DatabaseError: the database cannot be asked.
        """
        return ask_service(
            self.db,
            graph=self._named(),
            p=p,
            search=search,
            vertices=keys_or_all(vertices),
            by=by,
            request=request,
            timeout=timeout,
            progress=progress,
        )

    # --- Releases

    @property
    def budget(self) -> Budget:
        """What the graph's releases may spend, and have spent.

        >>> friends.budget.set(epsilon=6).total
        Cost(epsilon=Fraction(6, 1), delta=Fraction(0, 1))
        """
        from pcneo.face.budget_handle import Budget

        return Budget(self._named(), db=self.db)

    @showing_progress
    def release(
        self,
        mechanism: Mechanism,
        *,
        to: AnyPath,
        report: AnyPath | None = None,
        answers: str | None = None,
        answers_from: AnyPath | None = None,
        parties: bool = False,
        budget_epsilon: object = None,
        other_groups: bool = False,
        no_promise: bool = False,
        write_property: str | None = None,
        expect: object = None,
        mean_degree: object = None,
        anyway: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Counts:
        """Release noisy clique counts, with a mechanism that does not rest on groups; others are released from a run.

        >>> out = friends.release(pcneo.Edge(epsilon=1), to="edge.csv", budget_epsilon=6)  # doctest: +SKIP

        Args:
            mechanism: such as `pcneo.Edge(epsilon=1)`; all its k are paid for by one ε.
            to: the public file, `.csv` or `.json`; with several k, each gets its own file name.
            report: the owner's report, `.md`; in the folder `owner` beside `to` unless given.
            answers: what to do with answers once counts are computed from them: `destroy`, `keep` or `publish`.
            answers_from: a file of answers of an earlier release, to compute from at no cost.
            parties: with Respond, let each vertex answer from its own row, all of them simulated in this process.
            budget_epsilon: a total ε to set in the same call, refused where the graph has a different one. Its δ covers
                as many releases like this one as its ε allows, up to 1/1000, or what this release alone needs if that
                is more.
            other_groups: admit groups other than those of earlier releases.
            no_promise: admit Published, which promises nothing.
            write_property: also write the noisy counts to this property of the vertices.
            expect: the mean number of triangles that you expect a vertex to be in, for any k; a release is refused if
                its counts are sure to be off by more. If it is not given, the mean that an earlier release has
                published takes its place, though not for Critical.
            mean_degree: connections of a vertex on average, or a guess; if it is not given, what an earlier release has
                published, or else 10.
            anyway: make such a release anyway.
            dry_run: stop before anything is spent or written.
            progress: called with stage, done and total.

        Returns:
            What was released: promise, standard errors, and counts as a table.

        Raises:
            ParameterError, NotFoundError, GraphError, BudgetError, BusyError: refused; nothing spent.
            DatabaseError: the database failed while the spend was recorded; no noise was drawn, and the ledger says
                whether the spend counts.
            PcneoError: a write failed after the spend; the message says what became of the numbers.
        """
        from pcneo.face.release_handle import answers_of, make_release, needs_groups
        from pcneo.release import Release, Terms

        if needs_groups(mechanism):
            raise ParameterError(
                f"The mechanism {mechanism.name} rests on the groups of a run: release it from one, "
                f"db.graph(...).run(p).release(...).",
                name="mechanism",
                value=mechanism,
            )
        place = self._place(writes=True)
        request = Release(
            mechanism=mechanism,
            to=to,
            report=report,
            answers=answers,
            answers_from=answers_of(answers_from),
            parties=parties,
            graph=place["graph"],
        )
        terms = Terms(
            budget_epsilon=budget_epsilon,
            other_groups=other_groups,
            no_promise=no_promise,
            write_property=write_property,
            expect=expect,
            mean_degree=mean_degree,
            anyway=anyway,
            dry_run=dry_run,
        )
        return make_release(self.db, request, terms, selection=place["selection"], progress=progress)

    @showing_progress
    def audit(
        self, *, epsilon: AnyNumber, k: int = 3, run: str | None = None, progress: Progress | None = None
    ) -> AuditResult:
        """Show what each mechanism promises, how large its errors are, and what it reveals, at one ε.

        This is only for the owner; nothing is spent.

        >>> [row.name for row in friends.audit(epsilon=1).rows][:3]
        ['zeros', 'exact degrees', 'exact counts']

        Args:
            epsilon: ε of each release.
            k: vertices of the cliques.
            run: the run whose groups are used, where several match.
            progress: called with stage, done and total.
        """
        from pcneo.release import Source
        from pcneo.release.audit import audit

        source = Source(graph=self._named(), run=run)
        return audit(self.db, epsilon=epsilon, k=k, source=source, progress=progress)

    @showing_progress
    def annotate_answers(
        self,
        answers: AnyPath,
        p: SeveralP | None = None,
        search: str | None = None,
        *,
        progress: Progress | None = None,
    ) -> RoughGroups:
        """Store the cohesions of the yes-answers of a release, as runs of their own kind, which carry its promise.

        Args:
            answers: NAME.answers.gz of an earlier release of this graph.
            p: as for `annotate`; None for 3/10.
            search, progress: as for `annotate`.
        """
        from pcneo.release import annotate_answers

        return annotate_answers(
            self.db, answers_from=answers, p=p, search=search, progress=progress, **self._place(writes=True)
        )

    def __repr__(self) -> str:
        """Name the graph, without asking the database."""
        chosen = f": {self.selection.default_name}" if self.selection else ""
        return f"Graph {self.name!r}{chosen}" if self.name else f"The graph, if there is only one{chosen}"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: it holds a connection."""
        raise TypeError("a graph of a database holds a connection and cannot be pickled")


def graph_handle(db: Database, name: str | None, selection: Selection) -> GraphHandle:
    """Return a graph's handle, if name and selection can stand for a graph."""
    known = {graph.name: graph for graph in db.list_graphs()}
    if name in known:
        if selection:
            from pcneo.store.chosen_graph import choose_selection

            chosen, _ = choose_selection(db, selection)
            known[name].check_stands_for(chosen, "Leave out the labels, types and key, or the name.")
        return GraphHandle(name, known[name].selection, db=db)
    if name is None and not selection and len(known) == 1:
        (only,) = known.values()
        return GraphHandle(only.name, only.selection, db=db)
    if name is not None and not selection and known:
        from pcneo.store.chosen_graph import no_such_graph

        raise NotFoundError(no_such_graph(name, sorted(known)), what="graph", name=name)
    return GraphHandle(name, selection, db=db)
