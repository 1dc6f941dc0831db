"""What a mode of `annotate` was called with, checked before the graph is read: which graph, which searches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NotRequired, TypedDict

from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search, check_search
from pcneo.basics.selection import Selection
from pcneo.errors import NotFoundError, ParameterError
from pcneo.search import thread_count
from pcneo.store.chosen_graph import choose_selection, find_keys, refuse_new_name, require_key_index
from pcneo.store.gateway import Gateway

if TYPE_CHECKING:
    from distributed import Client
    from neo4j import Driver

__all__ = ["Configuration", "Options", "Plan", "make_plan", "size_text"]

log = logging.getLogger("pcneo")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every mode takes by keyword; `pcneo.annotate.write` says what each one means."""

    p: AnyP | Sequence[AnyP] | None
    node_labels: Sequence[str]
    relationship_types: Sequence[str]
    key: str | None
    search: str | None
    effort: int | None
    vertices: Key | Sequence[Key] | None
    concurrency: int | None
    create_index: bool
    check: bool
    progress: Progress | None
    scheduler: Client | None = None

    def searches(self) -> list[Search]:
        """Return every search, each once; none where p was left out, which mode `write` allows.

        Raises:
            ParameterError: a p or the search is out of range, or there is none.
        """
        if self.search is not None:
            check_search(self.search)
        effort = 1 if self.effort is None else self.effort
        if self.p is None:
            return []
        several = self.p if isinstance(self.p, Sequence) and not isinstance(self.p, str) else [self.p]
        searches = list(dict.fromkeys(Search(p, self.search or DEFAULT_SEARCH, effort) for p in several))
        if not searches:
            raise ParameterError("Name at least one p between 0 and 1.", name="p", value=self.p)
        return searches

    def vertex_list(self) -> list[Key] | None:
        """Return the named vertices, None for all.

        Raises:
            ParameterError: an empty list.
        """
        if self.vertices is None:
            return None
        vertices = [self.vertices] if isinstance(self.vertices, Key) else list(self.vertices)
        if not vertices:
            raise ParameterError(
                "Name at least one vertex, or leave vertices out for all.", name="vertices", value=self.vertices
            )
        return vertices


class Configuration(TypedDict):
    """What a mode was called with, defaults filled in, spelled as Neo4j spells names.

    `chosen` holds what the database left no choice about, by option. `graph` comes with `write` alone. Where a cluster
    searches, `scheduler` is its address, if it still answers, and there is no `concurrency`.
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
    """Return how large the graph is, or, where vertices were named, how much of it the search looked at."""
    if configuration["vertices"] is None:
        return f"{vertices:,} vertices, {edges:,} edges"
    return f"the search looked at {vertices:,} vertices, which have {edges:,} edges"


@dataclass
class Plan:
    """Checked options, and the database they are for.

    Attributes:
        gateway: the database.
        graph: its name: that given, in mode `write` else the one that it has already, else the default one.
        selection: which part of the database is the graph.
        searches: every one, each once; none where the standing runs' own are meant.
        vertices: keys, each once, in the order given; ascending in mode `write`. None for the whole graph.
        concurrency: threads that search.
        check: whether answers are also checked to be minimal.
        scheduler: the cluster that searches; None for threads of this process.
        progress: called with stage, done and total.
        configuration: for the result.
        started: when the plan was made, by `time.perf_counter`.
    """

    gateway: Gateway
    graph: str
    selection: Selection
    searches: list[Search]
    vertices: list[Key] | None
    concurrency: int
    check: bool
    progress: Progress
    configuration: Configuration
    scheduler: Client | None = None
    started: float = field(default_factory=time.perf_counter)

    def millis(self) -> int:
        """Return the milliseconds since the plan was made."""
        return round(1000 * (time.perf_counter() - self.started))

    def searching(self, search: Search) -> Callable[[int, int], None]:
        """Return the callback for a search: it takes the vertices done and all of them, and adds which p it is."""
        return lambda done, total: self.progress(f"searching p={search.p}", done, total)


def make_plan(
    driver: Driver,
    database: str | None,
    mode: str,
    options: Options,
    graph: str | None = None,
    gateway: Gateway | None = None,
    *,
    may_be_new: bool = False,
) -> Plan:
    """Check everything that can be checked before the graph is read.

    Args:
        driver, database: where the graph is.
        mode: `write`, `stream`, `stats` or `estimate`.
        options: what the mode was called with.
        graph: the graph's name; where it is known and no labels, types or key are given, it stands for its own.
        gateway: of that database, where there is one already.
        may_be_new: whether a name that is not known yet is given to the graph that is chosen.

    Raises:
        ParameterError: p, search or concurrency is out of range, there is more than one choice of labels, type, key or
            name, or vertices or concurrency are named for a cluster.
        SchemaError: the key has no index.
        NotFoundError: the graph is not known, and must be, or only its name could tell it from one that is.
        GraphError: its name stands for other labels, types or another key than those given.
        DatabaseError: the database cannot be asked.
    """
    searches, concurrency, named = _checked(mode, options)
    gateway = gateway or Gateway(driver, database)
    selection, filled = _selection(gateway, options, graph, may_be_new)
    known = _known_name(gateway, selection) if may_be_new and graph is None else None
    if filled and known is None:
        names = " ".join(f"{option} {value}" for option, value in filled.items())
        log.info("Using %s: the only choice in this database.", names)
    require_key_index(gateway, selection, mode=mode, create=options.create_index)
    vertices = None if named is None else find_keys(gateway, selection, named)
    if vertices is not None and mode == "write":
        vertices.sort(key=lambda key: (isinstance(key, str), key))  # kinds may be mixed still; the search refuses that
    return Plan(
        gateway=gateway,
        graph=graph or known or selection.default_name,
        selection=selection,
        searches=searches,
        vertices=vertices,
        concurrency=concurrency,
        check=options.check,
        progress=options.progress or (lambda stage, done, total: None),
        configuration={
            "mode": mode,
            "database": gateway.database,
            "nodeLabels": list(selection.node_labels),
            "relationshipTypes": list(selection.relationship_types),
            "key": selection.key,
            "p": [str(search.p) for search in searches],
            "search": options.search or DEFAULT_SEARCH,
            "vertices": named,
            "concurrency": concurrency if options.scheduler is None else None,
            "scheduler": getattr(getattr(options.scheduler, "scheduler", None), "address", None),
            "check": options.check,
            "createIndex": options.create_index,
            "chosen": filled,
        },
        scheduler=options.scheduler,
    )


def _known_name(gateway: Gateway, selection: Selection) -> str | None:
    """Return the name that the graph has where none is given; None if it has none, or the default one among others.

    Raises:
        ParameterError: it has several names.
    """
    names = [record.name for record in gateway.list_graphs() if record.selection == selection]
    if not names or selection.default_name in names:
        return None
    if len(names) > 1:
        raise ParameterError(
            f"This graph has several names: {', '.join(names)}. Name one with --graph.", name="graph", value=None
        )
    log.info("Using the name that this graph has already: %s. A further one has to be given with --graph.", names[0])
    return names[0]


def _checked(mode: str, options: Options) -> tuple[list[Search], int, list[Key] | None]:
    """Return every search, the threads and the named vertices; refuse what needs no database to be refused."""
    searches = options.searches()
    if not searches and mode != "write":
        raise ParameterError("Name at least one p between 0 and 1.", name="p", value=options.p)
    concurrency = thread_count(options.concurrency)
    if options.create_index and mode != "write":
        raise ParameterError(f"{mode} writes nothing, no index either.", name="create_index", value=True)
    named = options.vertex_list()
    if options.scheduler is not None and named is not None:
        raise ParameterError("Single vertices are searched here, not on a cluster.", name="scheduler", value=named)
    if options.scheduler is not None and options.concurrency is not None:
        raise ParameterError(
            "concurrency counts threads of this machine; those of a cluster are its workers'.",
            name="concurrency",
            value=options.concurrency,
        )
    return searches, concurrency, named


def _selection(
    gateway: Gateway, options: Options, graph: str | None, may_be_new: bool
) -> tuple[Selection, dict[str, str]]:
    known = {record.name: record for record in gateway.list_graphs()} if graph is not None else {}
    named = options.node_labels or options.relationship_types or options.key
    if graph in known and not named:
        return known[graph].selection, {}
    if graph is not None and graph not in known and not may_be_new:
        raise NotFoundError(
            f"There is no graph {graph!r}{'; there is ' + ', '.join(sorted(known)) if known else ''}. "
            "The first annotate of a graph in mode write gives it its name.",
            what="graph",
            name=graph,
        )
    try:
        selection, filled = choose_selection(gateway, options.node_labels, options.relationship_types, options.key)
    except ParameterError as error:
        names = sorted(record.name for record in gateway.list_graphs())
        if error.data.get("value") is not None or not names:
            raise
        there = ", ".join(map(repr, names))
        hint = f"Or name a known graph, with --graph (in Python `graph`): {there}."
        if graph is not None and graph not in names:
            hint = f"There is no graph {graph!r} yet; known are {there}."
        raise ParameterError(f"{error} {hint}", name=error.data["name"], value=None) from error
    if graph in known:
        known[graph].check_stands_for(selection, "Leave out the labels, types and key, or the name.")
    elif graph is not None and not named:
        refuse_new_name(graph, selection, known.values())
    return selection, filled
