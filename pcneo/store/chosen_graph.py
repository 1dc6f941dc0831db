"""The part of a database that is the graph: choosing it, checking it, and reading it into arrays."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from pcneo.basics.frames import counted, words
from pcneo.basics.keys import is_integer_key, key_that_fits, of_other_kind
from pcneo.basics.model import Graph, Key, Progress
from pcneo.basics.selection import Selection, one_or_more
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import GraphChangedError, KeyPropertyError, NotFoundError, ParameterError, SchemaError
from pcneo.graph import graph_from_rows
from pcneo.store.database import Database, GraphRecord, KeyCounts
from pcneo.store.schema import OWN_SCHEMA, SchemaItem, key_index

MOST_SCANNED = 200_000
"""The most nodes of a graph read without an index, which takes a scan for each page: some seconds at this size."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A graph as it was read.

    Attributes:
        graph: its arrays.
        node_count: nodes in the count store at the time, summed over the chosen labels.
        relationship_count: relationships in the count store at the time, summed over the chosen types and the labels of
            their start.
    """

    graph: Graph
    node_count: int
    relationship_count: int


_KEYWORDS = {"--node-label": "node_labels", "--relationship-type": "relationship_types", "--key": "key"}
"""The name of each option in Python."""


def choose_selection(db: Database, named: Selection) -> tuple[Selection, dict[str, str]]:
    """Choose labels, types and key: those that are named, and otherwise the only ones that the database has.

    Returns:
        The selection, and the options that were filled in, by name.
    """
    filled: dict[str, str] = {}
    labels = _choose(db.list_labels(), named.node_labels, "--node-label", "node label", filled)
    types = _choose(db.list_relationship_types(), named.relationship_types, "--relationship-type", "type", filled)
    key = named.key
    if not key:
        indexed = [{i.property for i in db.list_key_indexes() if i.label == label} for label in labels]
        choices = sorted(set.intersection(*indexed))
        (key,) = _choose(choices, (), "--key", "indexed key property", filled)
    return Selection(labels, types, key), filled


def warn_of_types_without_edges(db: Database, selection: Selection) -> None:
    """Warn of each type that no edge can have: a database keeps the names of types that are no longer in use."""

    def has_edges(type_: str) -> bool:
        return db.count_relationships(Selection(selection.node_labels, (type_,), selection.key)) > 0

    for type_ in selection.relationship_types:
        if not has_edges(type_):
            others = list(filter(has_edges, db.list_relationship_types()))
            log.warning(
                "No relationship of type %r begins at a node labelled %s, so the graph has no edges of that type; "
                "these nodes have %s.%s",
                type_,
                ", ".join(selection.node_labels),
                _listed(others),
                did_you_mean(type_, others),
            )


def find_graph(db: Database, name: str) -> GraphRecord:
    """Return a graph by its name."""
    graphs = {graph.name: graph for graph in db.list_graphs()}
    if name not in graphs:
        create = "" if graphs else " To create one, run `pcneo annotate`."
        raise NotFoundError(f"{no_such_graph(name, list(graphs))}{create}", what="graph", name=name)
    return graphs[name]


def no_such_graph(name: str, known: Sequence[str]) -> str:
    """Return a message that no graph has this name, with the names that exist and the one that may be meant."""
    there = f"there {'is' if len(known) == 1 else 'are'} {', '.join(map(repr, known)) or 'none'}"
    return f"There is no graph {name!r}; {there}.{did_you_mean(name, known)}"


def refuse_new_name(name: str, selection: Selection, known: Iterable[GraphRecord]) -> None:
    """Refuse a new name without labels, types and key where the only choice has one: a typo, or a second ledger."""
    names = [record.name for record in known if record.selection == selection]
    if names:
        raise NotFoundError(
            f"There is no graph {name!r}; there is {' and '.join(map(repr, names))}."
            f"{did_you_mean(name, names)} To give that graph another name, also name its labels, types and "
            "key.",
            what="graph",
            name=name,
        )


def _choose(
    there: Sequence[str], named: tuple[str, ...], option: str, what: str, filled: dict[str, str]
) -> tuple[str, ...]:
    for name in named:
        if name not in there:
            raise NotFoundError(
                f"The database has no {what} {name!r}; it has {_listed(there)}.{did_you_mean(name, there)}",
                what=what,
                name=name,
            )
    if named:
        return named
    if len(there) != 1:
        raise ParameterError(
            f"Name the {what} with {option} (in Python `{_KEYWORDS[option]}`): the database has {_listed(there)}.",
            name=option,
            value=None,
        )
    filled[option] = there[0]
    return (there[0],)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) if names else "none"


def missing_key_indexes(db: Database, selection: Selection) -> list[SchemaItem]:
    """Return the indexes on the key that the chosen labels lack."""
    indexed = {index.label for index in db.list_key_indexes() if index.property == selection.key}
    return [key_index(label, selection.key) for label in selection.node_labels if label not in indexed]


def require_key_index(db: Database, selection: Selection, *, mode: str = "read", create: bool = False) -> None:
    """Make sure that an index finds a vertex by its key; an estimate of a graph that is not large does without."""
    missing = missing_key_indexes(db, selection)
    if missing:
        _smallest_key(db, selection, db.count_keys(selection))  # no index helps if it cannot be a key
    if missing and mode == "estimate" and db.count_nodes(selection) <= MOST_SCANNED:
        log.warning(
            "%r has no index, which `annotate` needs to store anything; --create-index (in Python "
            "`create_index=True`) creates it. The time for writing is a guess here.",
            selection.key,
        )
        return
    if missing and create:
        db.ensure_schema(missing)
    elif missing:
        statements = [item.line() for item in missing]
        raise SchemaError(
            f"{selection.key!r} has no index, and without one each look-up scans all nodes with the label. Annotate "
            "with --create-index (in Python `create_index=True`), or ask an administrator to run this (a uniqueness "
            "constraint also works, if each value is unique):\n"
            + "\n".join(f"  {statement}" for statement in statements),
            statements=statements,
        )


def schema_statements(node_labels: Sequence[str] = (), key: str | None = None, *, drop: bool = False) -> list[str]:
    """Return the statements that create every index that `annotate.write` needs, each on one line.

    Returns:
        The statements, each ending in a semicolon.
    """
    if bool(node_labels) != (key is not None):
        raise ParameterError("Node labels and the key belong together.", name="key", value=key)
    indexes = [key_index(label, key) for label in one_or_more(node_labels)] if key is not None else []
    return [item.drop if drop else item.line() for item in (*OWN_SCHEMA, *indexes)]


def find_keys(db: Database, selection: Selection, vertices: Sequence[Key]) -> list[Key]:
    """Return the requested keys, each once; a number given as text becomes an integer if that is the graph's key.

    A command line passes text only: `105` means the integer 105 where the graph's keys are integers.
    """
    keys = [key_that_fits(vertex) for vertex in vertices]
    numbers: dict[Key, int] = {v: int(v) for v in keys if isinstance(v, str) and is_integer_key(v)}
    there = {key for key, _ in db.get_neighbours(selection, [*numbers, *numbers.values()])} if numbers else set()
    if both := [text for text, number in numbers.items() if {text, number} <= there]:
        raise KeyPropertyError(
            f"The property {selection.key!r} has {both[0]} as an integer and as a string. "
            "All keys must be of one kind.",
            example=both[0],
        )
    return list(dict.fromkeys(numbers[v] if numbers.get(v) in there else v for v in keys))


@contextmanager
def noting_kind(db: Database, selection: Selection) -> Iterator[None]:
    """Add to an error about a missing vertex that the graph's keys are of the other kind, if they are."""
    try:
        yield
    except NotFoundError as error:
        kind = "" if error.data["what"] != "vertex" else other_kind(db, selection, cast("Key", error.data["name"]))
        if not kind:
            raise
        raise NotFoundError(f"{str(error).removesuffix('.')}{kind}.", **error.data) from error


def other_kind(db: Database, selection: Selection, key: Key) -> str:
    """Return a clause that a graph's keys are of another kind than a missing key, or nothing if they are not."""
    if isinstance(key, str) and is_integer_key(key):  # a number as a command line passes it, which was looked for too
        return ""
    smallest: Key = -(2**63) if isinstance(key, str) else ""
    there = db.has_keys_from(selection, smallest)
    return of_other_kind(key) if there else ""


def read_graph(db: Database, selection: Selection, progress: Progress | None = None) -> StoredGraph:
    """Read the whole graph into arrays (ALGORITHM.md#the-graph, DATA-MODEL.md#reading).

    If the count store changes between start and end, the graph is read once more.
    """
    counts = [db.count_store(selection)]
    for _ in range(2):
        keys = db.count_keys(selection)
        smallest = _smallest_key(db, selection, keys)
        rows = db.stream_rows(selection, smallest)
        try:
            graph = graph_from_rows(_with_progress(rows, keys.nodes, progress))
        except KeyPropertyError as error:
            counts.append(db.count_store(selection))
            if counts[-1] == counts[-2] and "repeated" in error.data:
                raise _shared(db, selection, error) from error
            if counts[-1] == counts[-2]:
                raise
            continue  # a vertex created or deleted during the read looks like a bad key
        counts.append(db.count_store(selection))
        if counts[-1] == counts[-2]:
            return StoredGraph(graph, *counts[-1])
    raise GraphChangedError(
        f"The graph changed twice while it was being read: (nodes, relationships) went from {counts[0]} to {counts[1]} "
        f"to {counts[2]}. Try again when no one is writing to it.",
        counts=counts,
    )


def meant_key(db: Database, selection: Selection) -> str:
    """Ask, as `did_you_mean` does, about a key that these labels have an index on, unless they have one on this key."""
    indexed = [index.property for index in db.list_key_indexes() if index.label in selection.node_labels]
    return "" if selection.key in indexed else did_you_mean(selection.key, indexed)


def what_they_have(keys: KeyCounts) -> str:
    """Return a sentence that names the properties of a node without the key, one of which may be meant."""
    names = words(list(map(repr, keys.missing_has)), 12)
    return f" Such a node has the properties {names}." if names else ""


def _shared(db: Database, selection: Selection, error: KeyPropertyError) -> KeyPropertyError:
    """Return an error that names the property with shared values, and one that a constraint makes unique, if any."""
    indexes = [index for index in db.list_key_indexes() if index.unique]
    unique = [{index.property for index in indexes if index.label == label} for label in selection.node_labels]
    others = [repr(name) for name in sorted(set.intersection(*unique) - {selection.key})]
    values = counted(cast("int", error.data["repeated"]), "value of {} is", "values of {} are").format(
        repr(selection.key)
    )
    instead = f", such as {others[0]}" if others else ""
    return KeyPropertyError(
        f"{values} shared by several vertices, for example {error.data['example']!r}. "
        f"Choose a property that is unique{instead}.",
        **error.data,
    )


def _smallest_key(db: Database, selection: Selection, keys: KeyCounts) -> Key:
    """Check that all keys are of one usable kind, and return the smallest value of that kind."""
    name, labels = selection.key, ", ".join(selection.node_labels)
    other = keys.nodes - keys.integers - keys.strings - keys.missing
    if keys.nodes == 0:
        raise NotFoundError(f"No node is labelled {labels}.", what="vertices", name=labels)
    if keys.missing:
        raise KeyPropertyError(
            f"{keys.missing:,} of {keys.nodes:,} nodes with {labels} have no {name!r}, for example the one with "
            f"elementId {keys.missing_example!r}.{what_they_have(keys)} Every vertex needs a key: "
            f"set it, or choose a label that only nodes with a key have.{meant_key(db, selection)}",
            missing=keys.missing,
            example=keys.missing_example,
        )
    if other:
        raise KeyPropertyError(
            f"The property {name!r} of {other:,} of {keys.nodes:,} nodes is neither an integer nor a string, for "
            f"example {keys.example}. Choose another key with --key (in Python `key`).",
            other=other,
            example=keys.example,
        )
    if keys.integers and keys.strings:
        raise KeyPropertyError(
            f"The property {name!r} holds integers (nodes: {keys.integers:,}, for example {keys.integer_example}) and "
            f"strings (nodes: {keys.strings:,}, for example {keys.string_example!r}). All keys must be of one kind.",
            integers=keys.integers,
            strings=keys.strings,
        )
    return -(2**63) if keys.integers else ""


def _with_progress(
    rows: Iterable[tuple[Key, list[Key]]], total: int, progress: Progress | None
) -> Iterator[tuple[Key, list[Key]]]:
    """Pass rows on, and report progress every thousand."""
    done = 0
    for done, row in enumerate(rows, 1):
        yield row
        if progress and done % 1_000 == 0:
            progress("reading", done, total)
    if progress:
        progress("reading", done, total)
