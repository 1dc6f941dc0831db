"""Use cases: list the standing runs of a database, and find the one that the user means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pcneo.basics.frames import words
from pcneo.basics.keys import key_text
from pcneo.basics.model import Key
from pcneo.basics.run_record import RunRecord, WholeId
from pcneo.basics.searches import AnyP, P
from pcneo.basics.selection import Selection
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.store.chosen_graph import find_graph, find_keys
from pcneo.store.database import Database, GraphRecord

LATEST = "latest"
"""Stands for the id of the whole graph's run that got a new version last."""


@dataclass(frozen=True)
class StoredRun:
    """A run at one version, by default its current one, and its graph, as both are in the database now.

    Attributes:
        run: the record.
        selection: labels, types and key of its graph.
        moved: whether the count store's nodes or relationships differ from when the graph was read. Equal counts do
            not prove that nothing changed; `verify` reads everything.
        nodes_more, relationships_more: by how much; negative if there are fewer now.
    """

    run: RunRecord
    selection: Selection
    moved: bool
    nodes_more: int = 0
    relationships_more: int = 0

    def at(self, version: RunRecord) -> StoredRun:
        """Return the run at another of its versions, which is compared with the same counts."""
        nodes, relationships = self.run.node_count, self.run.relationship_count
        return _stored(version, self.selection, (nodes + self.nodes_more, relationships + self.relationships_more))


def list_runs(db: Database, *, run: str | None = None, graph: str | None = None) -> list[StoredRun]:
    """Return the standing runs in order of id, each at its current version."""
    runs = runs_named(db, run, graph)  # before the graphs, so that each run's graph is listed too
    graphs = {graph.name: graph.selection for graph in db.list_graphs()}
    now = {name: db.count_store(graphs[name]) for name in {run.graph for run in runs} & graphs.keys()}
    return [_stored(run, graphs[run.graph], now[run.graph]) for run in runs if run.graph in graphs]


def kept_versions(db: Database, run: str, *numbers: int) -> list[RunRecord]:
    """Return some versions of a run, by number; raise a NotFoundError for one that is not kept."""
    kept = {record.version: record for record in db.list_versions(run) if record.readable}
    for number in numbers:
        if number not in kept:
            there = ", ".join(map(str, kept)) or "none"
            raise NotFoundError(f"Run {run} has no version {number}; it has {there}.", what="version", name=number)
    return [kept[number] for number in numbers]


def unfinished_runs(db: Database, graphs: Sequence[GraphRecord]) -> dict[str, GraphRecord]:
    """Return the ids of runs without a version, each with its graph: a writer is at work, or was interrupted."""
    return {run: graph for graph in graphs for run, version in db.list_unfinished(graph.name) if version == 0}


def runs_named(db: Database, run: str | None, graph: str | None) -> Sequence[RunRecord]:
    """Return the standing runs that fit: all, those of a graph, or those that `run` names as a graph or by id."""
    runs = db.list_runs()
    if graph is not None:
        name = find_graph(db, graph).name
        runs = [standing for standing in runs if standing.graph == name]
    if run is None:
        return runs
    fitting = [standing for standing in runs if standing.graph == run] or _fitting(runs, run)
    if not fitting:
        is_graph = any(known.name == run for known in db.list_graphs())  # one without runs
        raise _there_is_none(runs, run, or_graph=graph is None and not is_graph)
    return fitting


def _stored(run: RunRecord, selection: Selection, now: tuple[int, int]) -> StoredRun:
    """Compare a run with the count store; runs of answers do not follow the graph."""
    more = (0, 0) if run.scope == "answers" else (now[0] - run.node_count, now[1] - run.relationship_count)
    return StoredRun(run, selection, any(more), *more)


def find_run(
    db: Database,
    *,
    run: object = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
    vertex: Key | None = None,
) -> StoredRun:
    """Return the one run that fits; raise an error if none or several do."""
    wanted = _Wanted.of(graph, p, search)
    stored = list_runs(db)
    runs = [standing.run for standing in stored]
    _refuse_gone(runs, run)
    fitting = _fitting(runs, None if run in (None, LATEST) else run if isinstance(run, str) else str(run), wanted)
    selection_in = {standing.run.graph: standing.selection for standing in stored}
    if vertex is not None and len({standing.graph for standing in fitting}) > 1:
        having = {name for name in {of.graph for of in fitting} if _has_vertex(db, selection_in[name], vertex)}
        if not having:
            graphs = words(sorted({standing.graph for standing in fitting}), 6)
            raise NotFoundError(
                f"None of these graphs has a vertex {key_text(vertex)}: {graphs}.", what="vertex", name=vertex
            )
        fitting = [standing for standing in fitting if standing.graph in having]
    if run in (None, LATEST):
        of_vertices = [standing for standing in fitting if vertex is not None and standing.scope == "vertices"]
        whole = [standing for standing in fitting if standing.scope == "graph"]
        fitting = _latest(fitting) or of_vertices
        if len(fitting) > 1:
            fitting = whole or fitting  # the message names all of them, not only those of the latest version
    of_one_graph = len({standing.graph for standing in fitting}) == 1 < len(fitting)
    if vertex is not None and of_one_graph and not _has_vertex(db, selection_in[fitting[0].graph], vertex):
        fitting = fitting[:1]  # any will do to find that the vertex is not there
    chosen = _only(fitting, runs, run, wanted)
    return next(standing for standing in stored if standing.run is chosen)


def id_and_graph(db: Database, run: str) -> tuple[str, str]:
    """Return the whole id of the run that fits, and its graph; one that someone has damaged must be named whole."""
    try:
        found = find_run(db, run=run).run
    except GraphError:
        graphs = db.list_graph_names()
        for damage in db.list_damaged_runs():
            graph = damage.data["graph"]
            if damage.data["run"] == run and isinstance(graph, str) and graph in graphs:
                return run, graph
        raise
    return found.id, found.graph


def run_or_graph(db: Database, name: str | None) -> dict[str, str]:
    """Return a name as the keyword argument for the functions here: `graph` if a graph has the name, else `run`."""
    if name is None:
        return {}
    if any(graph.name == name for graph in db.list_graphs()):
        return {"graph": name}
    if name != LATEST and "@" not in name:  # an id has an @, so this is the beginning of one, or a mistake
        runs = db.list_runs()
        if not _fitting(runs, name):
            raise _there_is_none(runs, name, or_graph=True)
    return {"run": name}


def _has_vertex(db: Database, selection: Selection, vertex: Key) -> bool:
    return bool(db.get_neighbours(selection, find_keys(db, selection, [vertex])))


def choose_run(
    runs: Sequence[RunRecord],
    *,
    run: str | None = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
    taken: Sequence[str] = (),
) -> RunRecord:
    """Return the only run of a whole graph that fits. Unlike `find_run`, it does not prefer the latest.

    `taken` names the searches whose runs will do; empty for all. A run of another search is returned only if it is
    named or if nothing else fits, for the caller to refuse.
    """
    _refuse_gone(runs, run)
    whole = [standing for standing in runs if standing.scope == "graph"]
    wanted = _Wanted.of(graph, p, search)
    fitting = _fitting(whole, None if run == LATEST else run, wanted)
    if taken and run in (None, LATEST):
        fitting = [standing for standing in fitting if standing.search.name in taken] or fitting[:1]
    return _only(fitting, whole, run, wanted)


@dataclass(frozen=True)
class _Wanted:
    """What the user wants of a run; None for what was left open."""

    graph: str | None = None
    p: P | None = None
    search: str | None = None

    @classmethod
    def of(cls, graph: str | None, p: AnyP | None, search: str | None) -> _Wanted:
        """Read p once, for all runs to be compared."""
        return cls(graph, None if p is None else P(p), search)

    def fits(self, run: RunRecord) -> bool:
        """Whether a run has the graph, p and search."""
        return (
            self.graph in (None, run.graph)
            and self.p in (None, run.search.p)
            and self.search in (None, run.search.name)
        )


def _fitting(runs: Sequence[RunRecord], run: str | None, wanted: _Wanted = _Wanted()) -> list[RunRecord]:
    of_it = [standing for standing in runs if wanted.fits(standing)]
    if isinstance(run, WholeId):
        return [standing for standing in of_it if standing.id == run]
    fitting = [standing for standing in of_it if _begins(standing.id, run or "")]
    if not fitting and run is not None:
        run = _with_p_as_stored(run)
        fitting = [standing for standing in of_it if _begins(standing.id, run)]
    return [standing for standing in fitting if standing.id == run] or fitting


def _begins(id: str, begin: str) -> bool:
    """Return whether what was typed begins an id; it may not stop within a number, as friends@1/3 in friends@1/30."""
    inside_number = "@" in begin and begin[-1].isdecimal() and id[len(begin) : len(begin) + 1].isdecimal()
    return id.startswith(begin) and not inside_number


def _refuse_gone(runs: Sequence[RunRecord], run: object) -> None:
    """Refuse the whole id of a run that has been removed: whoever holds it means no other run."""
    if isinstance(run, WholeId) and all(standing.id != run for standing in runs):
        raise NotFoundError(f"Run {run} is gone.", what="run", name=run)


def _with_p_as_stored(run: str) -> str:
    """Return an id with its p spelled as in stored ids: `friends@0.3` becomes `friends@3/10`."""
    graph, at, rest = run.rpartition("@")
    p, colon, search = rest.partition(":")
    try:
        return f"{graph}{at}{P(p)}{colon}{search}"
    except ParameterError:
        return run


def _latest(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the whole graph's runs at the largest version, or all if there are several graphs, whose numbers do not
    compare."""
    whole = [run for run in runs if run.scope == "graph"]
    if len({run.graph for run in whole}) > 1:
        return whole
    last = max((run.version for run in whole), default=0)
    return [run for run in whole if run.version == last]


def _only(fitting: Sequence[RunRecord], runs: Sequence[RunRecord], run: object, wanted: _Wanted) -> RunRecord:
    if not fitting:
        raise _there_is_none(runs, run, wanted)
    if len(fitting) > 1:
        listed = ", ".join(standing.id for standing in fitting)
        of_graphs = Counter(standing.graph for standing in fitting)
        or_graph = ", or the name of its graph" if len(of_graphs) > 1 and 1 in of_graphs.values() else ""
        how = f"Give the id of one{or_graph}" if run in (None, LATEST) else "Give more of the id"
        raise ParameterError(f"Several runs fit: {listed}. {how}.", name="run", value=run)
    return fitting[0]


def _there_is_none(
    runs: Sequence[RunRecord], run: object, wanted: _Wanted = _Wanted(), *, or_graph: bool = False
) -> NotFoundError:
    """Return an error that states what was asked for and which runs exist; an id has the name of the graph and p.

    `or_graph` says that the name of a graph would have done as well.
    """
    graph = wanted.graph
    is_named = run not in (None, LATEST)
    which = f" {run!r}" if is_named else f" of a whole graph{'' if graph is None else f' named {graph!r}'}"
    options = {"p": wanted.p, "search": wanted.search}
    given = " and ".join(f"{name}={value}" for name, value in options.items() if value is not None)
    if given:
        which += f" with {given}"
    graphs = dict.fromkeys(standing.graph for standing in runs)
    near = ""
    if graph is not None and graph not in graphs:
        near = did_you_mean(graph, graphs)
    elif is_named:
        near = did_you_mean(str(run), [*graphs, *(standing.id for standing in runs)])
    ids = [standing.id for standing in runs if graph not in graphs or standing.graph == graph]
    there = f"there {'is' if len(ids) == 1 else 'are'} {words(ids, 12)}" if ids else "none is stored"
    return NotFoundError(
        f"There is no run{' or graph' if or_graph else ''}{which}; {there}.{near} To create one, run `pcneo annotate`.",
        what="run",
        name=run,
    )
