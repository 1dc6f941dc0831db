"""The graph and the run behind a release, and its parameters: all that can be checked before anything is read."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from pcneo.basics.run_record import RunRecord, WholeId
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.privacy.mechanisms import Mechanism
from pcneo.privacy.protection import Protects
from pcneo.release.prepared import Prepared
from pcneo.release.read_graph import ReadGraph
from pcneo.release.request import Release, Source, in_row
from pcneo.store.chosen_graph import (
    choose_selection,
    find_graph,
    no_such_graph,
    refuse_new_name,
    warn_of_types_without_edges,
)
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger
from pcneo.stored.runs import choose_run, kept_versions


def choose(db: Database, requests: Sequence[Release], named: Selection) -> list[Prepared]:
    """Find the graph and the run of each release."""
    if named and all(request.mechanism.needs_groups for request in requests):
        raise ParameterError(
            "A release that rests on a run takes the run's labels, types and key; leave them out.",
            name="node_labels",
            value=named,
        )
    runs = db.list_runs()
    sources: dict[str, ReadGraph] = {}
    chosen: list[Prepared] = []
    for request in requests:
        with in_row(request.row):
            chosen.append(_choose_one(db, request, runs, named, sources))
    return chosen


def _choose_one(
    db: Database, request: Release, runs: Sequence[RunRecord], named: Selection, sources: dict[str, ReadGraph]
) -> Prepared:
    mechanism = request.mechanism
    if not mechanism.needs_groups:
        for name in ("run", "p", "search"):
            if getattr(request, name) is not None:
                raise ParameterError(
                    f"The mechanism {mechanism.name} does not rest on a run; leave {name} out.",
                    name=name,
                    value=getattr(request, name),
                )
    request = _with_place_of_answers(db, request, runs, named)
    version = request.groups
    if version is not None and mechanism.protects is not Protects.PAIRS_INSIDE_GROUPS:
        raise ParameterError(
            f"The promise of {mechanism.name} is not about groups; leave --groups out.", name="groups", value=version
        )
    graph, run = find_place(db, request, runs, named, with_run=mechanism.needs_groups, taken=mechanism.searches)
    vertices = count_vertices(db, graph, run)
    if version is not None and run is not None:
        (run,) = kept_versions(db, run.id, version)
    if run is not None and (why := why_not_taken(mechanism, run)):
        another = f"Name another run, or annotate with --search {mechanism.searches[0]}."
        raise ParameterError(f"{why} {another}", name="run", value=run.id)
    source = sources.setdefault(graph.name, ReadGraph(graph))
    choice = Prepared(request=request, source=source, run=run, vertices=vertices)
    _ = choice.mechanism  # which refuses what does not fit
    return choice


def _with_place_of_answers(db: Database, request: Release, runs: Sequence[RunRecord], named: Selection) -> Release:
    """Fill in, from the ledger, the graph, the run and the version that kept answers are about."""
    needs_groups = request.mechanism.needs_groups
    if request.answers_from is None or (not needs_groups and (named or request.graph)):
        return request
    known = list_ledger(db).releases
    if not needs_groups:
        return replace(request, graph=request.answers_from.graph_of(known))
    record = request.answers_from.release_of(known)
    current = {run.id: run.version for run in runs}
    if request.names_run or request.groups is not None:
        raise ParameterError(
            "Answers of critical are about the groups that they were drawn for; leave run, p, search and groups out.",
            name="run",
            value=request.run,
        )
    groups = None if current.get(record.run or "") == record.run_version else record.run_version
    run = None if record.run is None else WholeId(record.run)
    return replace(request, graph=request.graph or record.graph, run=run, groups=groups)


def find_place(
    db: Database,
    request: Source,
    runs: Sequence[RunRecord],
    named: Selection,
    *,
    with_run: bool,
    taken: Sequence[str] = (),
) -> tuple[GraphRecord, RunRecord | None]:
    """Find the graph, and the run if `with_run`; `taken` names the searches whose runs will do, empty for all."""
    if with_run:
        run = choose_run(runs, run=request.run, graph=request.graph, p=request.p, search=request.search, taken=taken)
        return find_graph(db, run.graph), run
    return _find_graph(db, request.graph, named), None


def count_vertices(db: Database, graph: GraphRecord, run: RunRecord | None) -> int:
    """Return the number of vertices before the graph is read: the run's, else that in the count store."""
    return run.vertices if run else db.count_nodes(graph.selection)


def why_not_taken(mechanism: Mechanism, run: RunRecord) -> str:
    """Say that the run is of a search that the mechanism does not take; return an empty text if it takes it."""
    if not mechanism.searches or run.search.name in mechanism.searches:
        return ""
    there = " or ".join(mechanism.searches)
    return (
        f"The mechanism {mechanism.name} takes runs of the search {there}, as in the paper; run {run.id} is of the "
        f"search {run.search.name}."
    )


# --- The graph of a release without a run: as for `annotate`


def _find_graph(db: Database, name: str | None, named: Selection) -> GraphRecord:
    fitting = [graph for graph in db.list_graphs() if name in (None, graph.name)]
    if not named and len(fitting) == 1:
        return fitting[0]
    # A graph whose own node is gone is known by its releases, and the rest of its budget is spent under its name.
    is_new = name is not None and not named and all(release.graph != name for release in list_ledger(db).releases)
    try:
        selection, _ = choose_selection(db, named)
    except ParameterError as error:
        if is_new and (names := [graph.name for graph in db.list_graphs()]):
            raise _unknown(name or "", names) from error
        raise
    warn_of_types_without_edges(db, selection)
    known = db.list_graphs()
    if name is not None and is_new:
        refuse_new_name(name, selection, known)
    return _named(known, name, selection)


def _unknown(name: str, names: Sequence[str]) -> NotFoundError:
    """Return the error for a name that is misspelt, or that belongs to a new graph that no one has described."""
    return NotFoundError(
        f"{no_such_graph(name, names)} To name a new graph, add --node-label, --relationship-type and --key.",
        what="graph",
        name=name,
    )


def _named(known: Sequence[GraphRecord], name: str | None, selection: Selection) -> GraphRecord:
    """Return the graph of this selection: under the given name, under its only name, or new."""
    same = [graph for graph in known if graph.selection == selection and name in (None, graph.name)]
    if len(same) == 1:
        return same[0]
    if same:
        listed = ", ".join(graph.name for graph in same)
        raise ParameterError(f"This graph has several names: {listed}. Name one of them.", name="graph", value=None)
    new = GraphRecord(name or selection.default_name, selection, secrets.token_hex(32))
    if any(graph.name == new.name for graph in known):
        raise GraphError(
            f"The graph name {new.name!r} stands for other labels, types or another key. Choose another name.",
            graph=new.name,
        )
    return new
