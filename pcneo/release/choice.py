"""Which graph and run a release is of, and its parameters: all that can be checked before anything is read."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from pcneo.basics.model import RunRecord
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import Mechanism, Parameters, mechanism_named
from pcneo.privacy.protection import Protects
from pcneo.release.answers_file import AnswersFile
from pcneo.release.request import GraphRequest, ReleaseRequest
from pcneo.store.chosen_graph import choose_selection, find_graph, refuse_new_name
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger
from pcneo.stored.runs import choose_run

__all__ = ["Chosen", "Place", "choose", "choose_at", "find_place", "read_parameters", "spend_of"]


@dataclass(frozen=True)
class Place:
    """What a release works on.

    Attributes:
        graph: the graph; one that pcneo does not know yet is entered when it is spent for.
        run: the stored run with the groups; None without groups.
        vertices: as many as the run or the count store has; the graph that is read decides.
    """

    graph: GraphRecord
    run: RunRecord | None
    vertices: int


@dataclass(frozen=True)
class Chosen:
    """One release before anything is read; the mechanism itself is made for the graph as it is read.

    Attributes:
        request: what a person asked for.
        graph: the graph.
        run: the stored run that it rests on; None for a mechanism without groups.
        mechanism: the mechanism's class.
        parameters: in range, as far as that can be told without the graph.
        spend: what the ledger will get, for as many vertices as the run or the count store has.
        vertices: as many as the run or the count store has.
        kept: whether the run is at a version that was asked for by number, whatever the graph has become since.
        paid: the part of ε that a release beside this one pays, δ with it; None where none does.
        together: what those that share a bound cost together, for their readers; empty where nothing is shared.
    """

    request: GraphRequest
    graph: GraphRecord
    run: RunRecord | None
    mechanism: type[Mechanism]
    parameters: Parameters
    spend: Spend
    vertices: int
    kept: bool = False
    paid: Fraction | None = None
    together: str = ""

    @property
    def share(self) -> str | None:
        """What it shares with others is drawn once for all of this name; None for nothing."""
        return self.request.share if isinstance(self.request, ReleaseRequest) else None

    @property
    def parts(self) -> int:
        """How many k the ε that was asked for is for."""
        return self.request.parts if isinstance(self.request, ReleaseRequest) else 1

    @property
    def of_answers(self) -> tuple[object, ...]:
        """What releases share that are computed from one set of answers; two rows of a batch never do."""
        run = self.run and (self.run.id, self.run.version, self.kept)
        name = self.share or getattr(self.request, "to", None)
        return self.graph.name, self.mechanism.name, self.parameters.epsilon, run, name


def choose(db: Database, requests: Sequence[GraphRequest], named: Selection) -> list[Chosen]:
    """Find graph and run of each release and check its parameters.

    Raises:
        ParameterError: a parameter is out of range or the mechanism does not have it, or there are several choices.
        NotFoundError: there is no run or no graph as asked for.
        GraphError: the graph has no vertices, or its name stands for another.
    """
    mechanisms = [mechanism_named(request.mechanism) for request in requests]
    parameters = [read_parameters(request) for request in requests]
    if named and all(mechanism.needs_groups for mechanism in mechanisms):
        raise ParameterError(
            "A release that rests on a run takes the run's labels, types and key; leave them out.",
            name="node_labels",
            value=named,
        )
    runs = db.list_runs()
    return [_choose_one(db, request, read, runs, named) for request, read in zip(requests, parameters, strict=True)]


def read_parameters(request: GraphRequest) -> Parameters:
    """Read the parameters that are asked for, as far as that needs no graph.

    Raises:
        ParameterError: there is no such mechanism, or a parameter is out of range, or the mechanism does not have it.
    """
    mechanism = mechanism_named(request.mechanism)
    if request.epsilon is None:
        raise ParameterError("A release needs its epsilon.", name="epsilon", value=None)
    return mechanism.parameters_of(request)


def _choose_one(
    db: Database, request: GraphRequest, parameters: Parameters, runs: Sequence[RunRecord], named: Selection
) -> Chosen:
    mechanism = mechanism_named(request.mechanism)
    if not mechanism.needs_groups:
        for name in ("run", "p", "search"):
            if getattr(request, name) is not None:
                raise ParameterError(
                    f"The mechanism {request.mechanism} rests on no run; leave {name} out.",
                    name=name,
                    value=getattr(request, name),
                )
    version = None
    if isinstance(request, ReleaseRequest):
        request = _with_groups_of_answers(db, request, runs)
        version = request.groups
    if version is not None and mechanism.protects is not Protects.PAIRS_INSIDE_GROUPS:
        raise ParameterError(
            f"The promise of {request.mechanism} is not about groups; leave --groups out.", name="groups", value=version
        )
    place = find_place(db, request, runs, named, with_run=mechanism.needs_groups)
    if version is None or place.run is None:
        return choose_at(place, request, parameters)
    run = _kept(db, place.run, version)
    return replace(choose_at(replace(place, run=run), request, parameters), kept=True)


def _with_groups_of_answers(db: Database, request: ReleaseRequest, runs: Sequence[RunRecord]) -> ReleaseRequest:
    """Name the run and the version that kept answers are about, as the ledger has them.

    Raises:
        NotFoundError: the ledger knows no such answers.
        ParameterError: another run was named.
    """
    if request.answers_from is None or not mechanism_named(request.mechanism).needs_groups:
        return request
    record = AnswersFile.open(request.answers_from).release_of(list_ledger(db).releases)
    current = {run.id: run.version for run in runs}
    if request.names_run or request.groups is not None:
        raise ParameterError(
            "Answers of critical are about the groups that they were drawn for; leave run, p, search and groups out.",
            name="run",
            value=request.run,
        )
    groups = None if current.get(record.run or "") == record.run_version else record.run_version
    return replace(request, graph=request.graph or record.graph, run=record.run, groups=groups)


def _kept(db: Database, run: RunRecord, version: int) -> RunRecord:
    """Return the run at a version that is still kept.

    Raises:
        NotFoundError: it is not.
    """
    kept = {record.version: record for record in db.list_versions(run.id) if record.readable}
    if version not in kept:
        raise NotFoundError(
            f"Run {run.id} keeps no version {version}; it keeps {', '.join(map(str, kept))}.",
            what="version",
            name=version,
        )
    return kept[version]


def find_place(
    db: Database, request: GraphRequest, runs: Sequence[RunRecord], named: Selection, *, with_run: bool
) -> Place:
    """Find the graph, and the run if there is to be one.

    Raises:
        ParameterError: there are several choices.
        NotFoundError: there is no run or no graph as asked for.
        GraphError: the graph's name stands for another.
    """
    if with_run:
        run = choose_run(runs, run=request.run, graph=request.graph, p=request.p, search=request.search)
        return Place(find_graph(db, run.graph), run, run.vertices)
    graph = _find_graph(db, request.graph or _graph_of_answers(db, request, named), named)
    return Place(graph, None, db.count_nodes(graph.selection))


def choose_at(place: Place, request: GraphRequest, parameters: Parameters) -> Chosen:
    """Return a release at a place, without the run where the mechanism rests on none.

    Raises:
        ParameterError, GraphError: a parameter does not fit as many vertices as there are, or the run is of a search
            that the mechanism does not take.
    """
    mechanism = mechanism_named(request.mechanism)
    run = place.run if mechanism.needs_groups else None
    if run is not None and mechanism.searches and run.search.name not in mechanism.searches:
        there = " or ".join(mechanism.searches)
        raise ParameterError(
            f"The mechanism {mechanism.name} takes runs of the searches {there}, as in the paper; run {run.id} is of "
            f"{run.search.name}. Name another run, or annotate with --search {mechanism.searches[0]}.",
            name="run",
            value=run.id,
        )
    spend = spend_of(mechanism, mechanism.completed(parameters, place.vertices), run)
    return Chosen(request, place.graph, run, mechanism, parameters, spend, place.vertices)


def spend_of(
    mechanism: type[Mechanism], parameters: Parameters, run: RunRecord | None, *, paid: Fraction | None = None
) -> Spend:
    """Return what the ledger gets.

    Args:
        mechanism: the mechanism's class.
        parameters: with defaults filled in.
        run: the run it rests on, if any.
        paid: the part of ε that another release has paid, δ with it; None for nothing.
    """
    epsilon, delta = mechanism.entry(parameters)
    if paid is not None:
        epsilon, delta = epsilon - paid, Fraction(0)
    return Spend(mechanism.name, epsilon, delta, run.membership_hash if run else None)


# --- The graph of a release without a run: as for `annotate`


def _find_graph(db: Database, name: str | None, named: Selection) -> GraphRecord:
    fitting = [graph for graph in db.list_graphs() if name in (None, graph.name)]
    if not named and len(fitting) == 1:
        return fitting[0]
    selection, _ = choose_selection(db, named)
    known = db.list_graphs()
    # A graph whose own node is gone is known by its releases, and what it has left is spent under its name.
    if name is not None and not named and all(release.graph != name for release in list_ledger(db).releases):
        refuse_new_name(name, selection, known)
    return _named(known, name, selection)


def _graph_of_answers(db: Database, request: GraphRequest, named: Selection) -> str | None:
    """The graph that is not named, where answers are given: that in whose ledger they are."""
    if named or not isinstance(request, ReleaseRequest) or request.answers_from is None:
        return None
    return AnswersFile.open(request.answers_from).graph_of(list_ledger(db).releases)


def _named(known: Sequence[GraphRecord], name: str | None, selection: Selection) -> GraphRecord:
    """The graph of this selection: under the name given, under its only name, or new."""
    same = [graph for graph in known if graph.selection == selection and name in (None, graph.name)]
    if len(same) == 1:
        return same[0]
    if same:
        listed = ", ".join(graph.name for graph in same)
        raise ParameterError(
            f"This graph has several names: {listed}. Name one with --graph.", name="graph", value=None
        )
    new = GraphRecord(name or selection.default_name, selection, secrets.token_hex(32))
    if any(graph.name == new.name for graph in known):
        raise GraphError(
            f"The graph name {new.name!r} stands for other labels, types or another key. Choose another with --graph.",
            graph=new.name,
        )
    return new
