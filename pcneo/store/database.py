"""A database, and what pcneo asks of it about graphs, runs and schema: a method for each statement.

Values are sent as parameters, names as quoted tokens (`statements.py`). Rows come back as plain Python values, not as
nodes, which the driver would keep in memory. `sessions.py` runs the statements.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import neo4j

from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, RightsError, SchemaError
from pcneo.store.run_reader import RunReader
from pcneo.store.schema import FORMAT, SchemaItem
from pcneo.store.statements import OWN_LABELS, OWN_TYPES
from pcneo.store.transaction import Row, rows_of
from pcneo.store.typed_rows import OwnNode, Properties, Property, properties_of, refusals

EARLIER_BATCH = 2_000
"""Hubs of an earlier format that one transaction deletes."""

INDEX_SECONDS = 300.0
"""How long an index may take to come online."""


@dataclass(frozen=True)
class KeyCounts:
    """Numbers of nodes by kind of key, with an example of each kind; `example` is an unusable key, as text."""

    nodes: int
    integers: int
    strings: int
    missing: int
    integer_example: int | None
    string_example: str | None
    missing_example: str | None
    missing_has: tuple[str, ...]
    example: str | None


@dataclass(frozen=True)
class KeyIndex:
    """A node property with a single-property range index."""

    label: str
    property: str
    unique: bool


@dataclass(frozen=True)
class GraphRecord:
    """A `PCohesionGraph` node: a selection under the name its owner gave it."""

    name: str
    selection: Selection
    fingerprint_key: str

    def check_stands_for(self, selection: Selection, instead: str) -> None:
        """Refuse the name for another part of the database."""
        if self.selection != selection:
            raise GraphError(
                f"The graph name {self.name!r} already stands for {self.selection.default_name}, not for "
                f"{selection.default_name}. {instead}",
                graph=self.name,
            )


class Database(RunReader):
    """One database of a server: a driver, its name and the server's version, but none of its content.

    `pcneo.connect` makes it. In a `with` block it is closed at the end. Every method raises DatabaseError or one of its
    subclasses; a method's docstring names what else it raises.
    """

    def __init__(
        self, driver: neo4j.Driver, name: str | None = None, *, owns_driver: bool = False, uri: str | None = None
    ) -> None:
        """Take a driver, which is closed with the database if the database owns it, and its address."""
        super().__init__(driver, name)
        self._owns_driver = owns_driver
        self._uri = uri

    def __enter__(self) -> Self:
        """Return the database."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self.close()

    def close(self) -> None:
        """Close the driver, unless it is someone else's."""
        if self._owns_driver:
            self.waits.close()
            self.driver.close()

    def __repr__(self) -> str:
        """Return what it is, without asking the server."""
        return f"<Database {self._name or 'home'}{'' if self._uri is None else f' at {self._uri}'}>"

    # --- what is there ----------------------------------------------------------------------------------------------

    def list_labels(self) -> list[str]:
        """Return the labels that some node has, ascending, without pcneo's own."""
        labels = [row["label"] for row in self.read("list_labels") if row["label"] not in OWN_LABELS]
        return [label for label in labels if self._count_label(label)]

    def list_relationship_types(self) -> list[str]:
        """Return the relationship types, ascending, without pcneo's own."""
        return [row["type"] for row in self.read("list_relationship_types") if row["type"] not in OWN_TYPES]

    def list_key_indexes(self) -> list[KeyIndex]:
        """Return the node properties with a range index of their own, our own labels left out."""
        return [
            KeyIndex(row["label"], row["properties"][0], row["unique"])
            for row in self.read("list_indexes")
            if row["label"] not in OWN_LABELS and len(row["properties"]) == 1
        ]

    def count_nodes(self, selection: Selection) -> int:
        """Return the number of nodes in the count store, summed over the chosen labels."""
        return sum(map(self._count_label, selection.node_labels))

    def _count_label(self, label: str) -> int:
        return self.read("count_nodes", {"Page": label})[0]["nodes"]

    def count_relationships(self, selection: Selection) -> int:
        """Return the number of relationships in the count store, summed over the chosen types and start labels."""
        return sum(
            self.read("count_relationships", {"Page": label, "KNOWS": type_})[0]["relationships"]
            for label in selection.node_labels
            for type_ in selection.relationship_types
        )

    def count_store(self, selection: Selection) -> tuple[int, int]:
        """Return the numbers of nodes and relationships of a selection in the count store."""
        return self.count_nodes(selection), self.count_relationships(selection)

    def count_keys(self, selection: Selection) -> KeyCounts:
        """Return the numbers of nodes by kind of key, summed over the chosen labels."""
        rows = [self.read("count_keys", {"Page": label, "id": selection.key})[0] for label in selection.node_labels]

        def example(column: str) -> Any:
            return next((row[column] for row in rows if row[column] is not None), None)

        return KeyCounts(
            nodes=sum(row["nodes"] for row in rows),
            integers=sum(row["integers"] for row in rows),
            strings=sum(row["strings"] for row in rows),
            missing=sum(row["missing"] for row in rows),
            integer_example=example("integerExample"),
            string_example=example("stringExample"),
            missing_example=example("missingExample"),
            missing_has=tuple(sorted(example("missingHas") or ())),
            example=example("example"),
        )

    # --- graphs -----------------------------------------------------------------------------------------------------

    def list_graphs(self) -> list[GraphRecord]:
        """Return the graphs that pcneo knows in this database, by name."""
        return graph_records(self.read("list_graphs"))

    def list_graph_names(self) -> list[str]:
        """Return the names of the graphs that pcneo knows here, even if someone has changed their other properties."""
        return [row["name"] for row in self.read("list_graphs")]

    def list_damage(self) -> list[GraphError]:
        """Return an error for each graph, run and version whose node pcneo cannot have written as it is."""
        graphs = refusals(_graph, self.read("list_graphs"))
        return [*graphs, *self.list_damaged_runs()]

    def merge_graph(self, name: str, selection: Selection, fingerprint_key: str) -> GraphRecord:
        """Record a graph under its name, or return the record that is there, with its own fingerprint key."""
        row = self.write(
            "merge_graph",
            name=name,
            nodeLabels=list(selection.node_labels),
            relationshipTypes=list(selection.relationship_types),
            key=selection.key,
            fingerprintKey=fingerprint_key,
            format=FORMAT,
        )[0]
        record = _graph({"name": name, **row})
        record.check_stands_for(selection, "Choose another name with --graph.")
        return record

    # --- standing runs; only the graph's writer may write, see `standing.py` ----------------------------------------

    def list_unfinished(self, graph: str) -> list[tuple[str, int]]:
        """Return the id and version of each run of a graph; version 0 is a run that no one sees."""
        return [(row["run"], row["version"]) for row in self.read("list_unfinished", graph=graph)]

    def list_remains(self, graph: str) -> list[tuple[str, str, int]]:
        """Return scope, id and version of the runs with remains of a writer that no one sees, whole graphs last."""
        return [(row["scope"], row["run"], row["version"]) for row in self.read("list_remains", graph=graph)]

    def merge_run(self, run: str, graph: str, scope: str, search: Search) -> int:
        """Enter a run unless it exists; return the version that readers go by, 0 if it is new."""
        named = {"p": float(search.p), "pText": str(search.p), "search": search.name}
        return self.write("merge_run", run=run, graph=graph, scope=scope, **named)[0]["version"]

    def count_retired(self, run: str) -> int:
        """Return how many members the hubs of a run have that its current version is without."""
        return self.read("count_retired", run=run)[0]["memberships"]

    def delete_earlier(self) -> int:
        """Delete the runs of earlier formats with their hubs; return the number of runs."""
        careful = self.waits.sees_strangers()
        while self.write("delete_earlier_cohesions", limit=EARLIER_BATCH, careful=careful)[0]["deleted"]:
            pass
        return self.write("delete_earlier_runs")[0]["deleted"]

    # --- schema -----------------------------------------------------------------------------------------------------

    def ensure_schema(self, wanted: Sequence[SchemaItem]) -> list[SchemaItem]:
        """Create those indexes and constraints that are missing, wait until they are online, and return them."""
        missing = made = self.missing_schema(wanted)
        try:
            for item in missing:
                self.committed(rows_of, item.statement, {}, is_schema=True)
        except RightsError as error:
            statements = "\n".join(f"  {item.line()}" for item in missing)
            raise RightsError(f"{error} An administrator can run this once:\n{statements}", **error.data) from error
        deadline = time.monotonic() + INDEX_SECONDS
        while missing and (missing := self.missing_schema(missing)):
            if time.monotonic() > deadline:
                names = ", ".join(item.place for item in missing)
                raise SchemaError(f"The index on {names} is not online yet. Try again later.", missing=names)
            time.sleep(0.1)
        return made

    def missing_schema(self, wanted: Sequence[SchemaItem]) -> list[SchemaItem]:
        """Return those indexes and constraints that are not there, or not online."""
        rows = self.read("list_indexes")
        there = {(row["label"], tuple(row["properties"]), row["unique"]) for row in rows}
        there |= {(label, properties, False) for label, properties, _ in there}
        return [item for item in wanted if (item.label, item.properties, item.unique) not in there]


_GRAPH: Properties = {
    **properties_of(GraphRecord, without=("selection",)),
    **properties_of(Selection),
    "format": Property("format", "int | None"),
}
_SECRET = re.compile("[0-9a-f]{64}")


def graph_records(rows: Sequence[Row]) -> list[GraphRecord]:
    """Turn rows of the statement `list_graphs` into records; refuse a node that pcneo cannot have written."""
    return list(map(_graph, rows))


def _graph(row: Row) -> GraphRecord:
    node = OwnNode("PCohesionGraph", repr(row["name"]), graph=row["name"])
    values = node.read(row, _GRAPH)
    for name in ("nodeLabels", "relationshipTypes"):
        if not row[name] or "" in row[name]:
            raise node.unknown(row, name)
    if not _SECRET.fullmatch(row["fingerprintKey"]):
        raise node.refusal("fingerprintKey", "has a fingerprintKey that is not 64 hexadecimal digits")
    selection = Selection(values["node_labels"], values["relationship_types"], values["key"])
    return GraphRecord(values["name"], selection, values["fingerprint_key"])
