"""The arguments of a mode of `annotate`, checked before the graph is read: which graph, which searches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NotRequired, TypedDict, Unpack

from pcneo.basics.keys import in_order
from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search, check_search, one_or_several
from pcneo.basics.selection import Selection
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import NotFoundError, ParameterError
from pcneo.search import search_progress, thread_count
from pcneo.store.chosen_graph import (
    choose_selection,
    find_keys,
    no_such_graph,
    refuse_new_name,
    require_key_index,
    warn_of_types_without_edges,
)
from pcneo.store.database import Database, GraphRecord

if TYPE_CHECKING:
    from distributed import Client


log = logging.getLogger("pcneo")


class Asked(TypedDict, total=False):
    """The keywords that every mode takes; `GraphModes.annotate` explains each one."""

    p: AnyP | Sequence[AnyP] | None
    search: str | None
    effort: int | None
    graph: str | None
    selection: Selection
    vertices: Key | Sequence[Key] | None
    concurrency: int | None
    create_index: bool
    check: bool
    scheduler: Client | None
    progress: Progress | None


def searches_of(
    p: AnyP | Sequence[AnyP] | None = None, search: str | None = None, effort: int | None = None, **_: object
) -> tuple[Search, ...]:
    """Return the search for each p, without repetitions; empty where no p is named."""
    name = DEFAULT_SEARCH if search is None else check_search(search)
    return () if p is None else distinct_searches("p", p, name, 1 if effort is None else effort)


def distinct_searches(argument: str, ps: AnyP | Iterable[AnyP], search: str, effort: int) -> tuple[Search, ...]:
    """Return the search for each p of an argument, without repetitions; refuse none at all."""
    searches = tuple(dict.fromkeys(Search(p, search, effort) for p in one_or_several(ps)))
    if not searches:
        raise ParameterError("Name at least one p between 0 and 1.", name=argument, value=ps)
    return searches


def _keys(vertices: Key | Sequence[Key] | None) -> tuple[Key, ...] | None:
    """Return the named vertices as a tuple; None for all."""
    if vertices is None:
        return None
    keys = (vertices,) if isinstance(vertices, Key) else tuple(vertices)
    if not keys:
        raise ParameterError(
            "Name at least one vertex, or leave vertices out to search all.", name="vertices", value=vertices
        )
    return keys


class Configuration(TypedDict):
    """The arguments of a mode, with defaults filled in, spelled as Neo4j spells names.

    `chosen` holds, by option, the values that were the database's only choice. Only `write` has `graph`. Where a
    cluster searches, `scheduler` is its address, if it still answers, and `concurrency` is None.
    """

    mode: str
    database: str
    nodeLabels: list[str]
    relationshipTypes: list[str]
    key: str
    p: list[str]
    search: str
    vertices: list[Key] | None
    concurrency: int | None
    scheduler: str | None
    check: bool
    createIndex: bool
    chosen: dict[str, str]
    graph: NotRequired[str]


def size_text(vertices: int, edges: int, configuration: Configuration) -> str:
    """Return the size of the graph or, where vertices were named, of the part that the search looked at."""
    if configuration["vertices"] is None:
        return f"{vertices:,} vertices, {edges:,} edges"
    return f"the search looked at {vertices:,} vertices, which have {edges:,} edges"


@dataclass
class Plan:
    """The checked arguments of a mode, and the database they apply to; `Asked` has the attributes not listed here.

    Attributes:
        db: the database.
        known: the graphs that have names in this database.
        graph: its name: the given one, else in mode `write` the one that it already has, else the default one.
        selection: which part of the database is the graph.
        searches: all searches, without repetitions; empty to update the standing runs.
        search: where `searches` is empty, update only the standing runs of this search.
        effort: where `searches` is empty, replaces the effort of each standing run.
        vertices: keys without repetitions, in the order given; ascending in mode `write`. None for the whole graph.
        configuration: for the result.
        started: when the plan was made, by `time.perf_counter`.
    """

    db: Database
    graph: str
    known: Sequence[GraphRecord]
    selection: Selection
    searches: Sequence[Search]
    vertices: list[Key] | None
    concurrency: int
    check: bool
    progress: Progress
    configuration: Configuration
    search: str | None = None
    effort: int | None = None
    scheduler: Client | None = None
    started: float = field(default_factory=time.perf_counter)

    def millis(self) -> int:
        """Return the milliseconds since the plan was made."""
        return round(1000 * (time.perf_counter() - self.started))

    def searching(self, search: Search) -> Callable[[int, int], None]:
        """Return the callback for a search: it takes the vertices done and their total, and adds p."""
        return search_progress(self.progress, search)


def make_plan(db: Database, mode: str, *, may_be_new: bool = False, **asked: Unpack[Asked]) -> Plan:
    """Check everything that can be checked before the graph is read; `write` may give the graph a new name."""
    if unknown := asked.keys() - Asked.__annotations__.keys():
        raise TypeError(f"unknown keywords: {', '.join(sorted(unknown))}")
    searches, named = searches_of(**asked), _keys(asked.get("vertices"))
    concurrency, scheduler = _checked(mode, searches, asked), asked.get("scheduler")
    known, may_be_new = db.list_graphs(), may_be_new or mode == "write"
    graph, create_index = asked.get("graph"), asked.get("create_index", False)
    selection, filled = _selection(db, graph, asked.get("selection", Selection()), known, may_be_new)
    name = _known_name(known, selection) if may_be_new and graph is None else None
    if name is None:
        _log_choices(filled)
    require_key_index(db, selection, mode=mode, create=create_index)
    vertices = None if named is None else find_keys(db, selection, named)
    if vertices is not None and mode == "write":
        vertices = in_order(vertices)  # kinds may still be mixed; the search refuses that
    return Plan(
        db=db,
        graph=graph or name or selection.default_name,
        known=known,
        selection=selection,
        searches=searches,
        search=asked.get("search"),
        effort=asked.get("effort"),
        vertices=vertices,
        concurrency=concurrency,
        check=asked.get("check", False),
        progress=asked.get("progress") or (lambda stage, done, total: None),
        configuration={
            "mode": mode,
            "database": db.name,
            "nodeLabels": list(selection.node_labels),
            "relationshipTypes": list(selection.relationship_types),
            "key": selection.key,
            "p": [str(search.p) for search in searches],
            "search": asked.get("search") or DEFAULT_SEARCH,
            "vertices": None if named is None else list(named),
            "concurrency": concurrency if scheduler is None else None,
            "scheduler": getattr(getattr(scheduler, "scheduler", None), "address", None),
            "check": asked.get("check", False),
            "createIndex": create_index,
            "chosen": filled,
        },
        scheduler=scheduler,
    )


def _log_choices(filled: dict[str, str]) -> None:
    """Log the values that were filled in. A key is the only one with an index, but there may be other properties."""
    if names := " ".join(f"{option} {value}" for option, value in filled.items() if option != "--key"):
        log.info("Using %s: the only choice in this database.", names)
    if "--key" in filled:
        log.info("Using --key %s, the only property with an index. To use another, give --key.", filled["--key"])


def _known_name(known: Sequence[GraphRecord], selection: Selection) -> str | None:
    """Return the name that the graph already has, for use where none is given; None if the default name will do."""
    names = [record.name for record in known if record.selection == selection]
    if not names or selection.default_name in names:
        return None
    if len(names) > 1:
        raise ParameterError(
            f"This graph has several names: {', '.join(names)}. Choose one with --graph (in Python `graph`).",
            name="graph",
            value=None,
        )
    log.info("This graph is already named %s; using that. Use --graph to give it another name.", names[0])
    return names[0]


def _checked(mode: str, searches: Sequence[Search], asked: Asked) -> int:
    """Return the number of threads; refuse whatever can be refused without the database."""
    if not searches and mode != "write":
        raise ParameterError("Name at least one p between 0 and 1.", name="p", value=None)
    threads, vertices = asked.get("concurrency"), asked.get("vertices")
    concurrency = thread_count(threads)
    if asked.get("create_index") and mode != "write":
        raise ParameterError(f"{mode} writes nothing, not even an index.", name="create_index", value=True)
    if asked.get("scheduler") is not None and vertices is not None:
        raise ParameterError("Single vertices are searched on this machine only.", name="scheduler", value=vertices)
    if asked.get("scheduler") is not None and threads is not None:
        raise ParameterError(
            "concurrency sets the threads of this machine; on a cluster, the workers set their own.",
            name="concurrency",
            value=threads,
        )
    return concurrency


def _selection(
    db: Database, graph: str | None, given: Selection, records: Sequence[GraphRecord], may_be_new: bool
) -> tuple[Selection, dict[str, str]]:
    """Choose labels, types and key: those of a known graph, else those that are named or are the only choice."""
    known = {record.name: record for record in records}
    if graph in known and not given:
        return known[graph].selection, {}
    if graph is not None and graph not in known and not may_be_new:
        raise NotFoundError(
            f"{no_such_graph(graph, sorted(known))} A graph gets its name the first time you annotate it with --graph "
            "NAME.",
            what="graph",
            name=graph,
        )
    try:
        selection, filled = choose_selection(db, given)
    except ParameterError as error:
        if error.data.get("value") is not None or not known:
            raise
        there, unchosen = ", ".join(map(repr, sorted(known))), str(error)
        said = f"{unchosen} Or name a known graph, with --graph (in Python `graph`): {there}."
        if graph is not None and graph not in known:
            said = (
                f"There is no graph {graph!r} yet; known graphs: {there}.{did_you_mean(graph, known)} For a new graph, "
                f"{unchosen[0].lower()}{unchosen[1:]}"
            )
        raise ParameterError(said, name=error.data["name"], value=None) from error
    warn_of_types_without_edges(db, selection)
    if graph in known:
        known[graph].check_stands_for(selection, "Leave out the labels, types and key, or the name.")
    elif graph is not None and not given:
        refuse_new_name(graph, selection, known.values())
    return selection, filled
