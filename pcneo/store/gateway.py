"""Everything pcneo says to a Neo4j database: one method a statement.

Values go in as parameters, names as quoted tokens (`statements.py`); rows come out as plain Python values, never as
nodes, which the driver would keep. Reads run under read access, all sessions share the driver's bookmarks so that a
read on a follower sees our own write, and errors come out as ours (`failures.py`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, TypedDict

import neo4j

from pcneo.errors import DatabaseError, GraphError, RightsError, SchemaError, WriteMismatchError
from pcneo.model import Key, Run, Selection
from pcneo.store.failures import OUT_OF_MEMORY, translated
from pcneo.store.reading import GraphReader
from pcneo.store.schema import SchemaItem
from pcneo.store.statements import OWN_LABELS, OWN_TYPES, load_statement
from pcneo.store.transaction import Row, in_transaction, rows_of, sample_names

__all__ = ["CohesionRow", "Gateway", "GraphRecord", "KeyCounts", "KeyIndex", "graph_records"]

DELETE_BATCH = 2_000
"""Hubs a deleting transaction."""

INDEX_SECONDS = 300.0
"""How long an index may take to come online."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class KeyCounts:
    """How many nodes have which kind of key, with one of each; `example` is an unusable key as text."""

    nodes: int
    integers: int
    strings: int
    missing: int
    integer_example: int | None
    string_example: str | None
    missing_example: str | None
    example: str | None


@dataclass(frozen=True)
class KeyIndex:
    """A node property that can be looked up by an index of its own."""

    label: str
    property: str
    unique: bool


@dataclass(frozen=True)
class GraphRecord:
    """A `PCohesionGraph` node: a selection under the name its owner gave it."""

    name: str
    selection: Selection
    fingerprint_key: str


class CohesionRow(TypedDict):
    """One cohesion as the statement `create_cohesions` takes it; vertex and members by key."""

    vertex: Key
    size: int
    edges: int
    density: float
    members: list[Key]


class Gateway(GraphReader):
    """The way in and out of one database of one driver.

    Raises (every method): DatabaseError and its kinds; what else a method raises it says itself.
    """

    # --- what is there ----------------------------------------------------------------------------------------------

    def list_labels(self) -> list[str]:
        """Return the labels of the user's own that some node carries, ascending."""
        labels = [row["label"] for row in self._read("list_labels") if row["label"] not in OWN_LABELS]
        return [label for label in labels if self._count_label(label)]

    def list_relationship_types(self) -> list[str]:
        """Return the user's own relationship types, ascending."""
        return [row["type"] for row in self._read("list_relationship_types") if row["type"] not in OWN_TYPES]

    def list_key_indexes(self) -> list[KeyIndex]:
        """Return the node properties with a range index of their own, our own labels left out."""
        rows = self._read("list_key_indexes")
        return [KeyIndex(**row) for row in rows if row["label"] not in OWN_LABELS]

    def count_nodes(self, selection: Selection) -> int:
        """Return the count store's nodes, added up over the chosen labels."""
        return sum(map(self._count_label, selection.node_labels))

    def _count_label(self, label: str) -> int:
        return self._read("count_nodes", {"Page": label})[0]["nodes"]

    def count_relationships(self, selection: Selection) -> int:
        """Return the count store's relationships, added up over the chosen types and their start labels."""
        return sum(
            self._read("count_relationships", {"Page": label, "KNOWS": type_})[0]["relationships"]
            for label in selection.node_labels
            for type_ in selection.relationship_types
        )

    def count_store(self, selection: Selection) -> tuple[int, int]:
        """Return the count store's nodes and relationships of a selection."""
        return self.count_nodes(selection), self.count_relationships(selection)

    def count_keys(self, selection: Selection) -> KeyCounts:
        """Return how many nodes have which kind of key, added up over the chosen labels."""
        rows = [self._read("count_keys", {"Page": label, "id": selection.key})[0] for label in selection.node_labels]

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
            example=example("example"),
        )

    # --- graphs and runs --------------------------------------------------------------------------------------------

    def list_graphs(self) -> list[GraphRecord]:
        """Return the graphs that pcneo knows in this database, by name."""
        return graph_records(self._read("list_graphs"))

    def merge_graph(self, name: str, selection: Selection, fingerprint_key: str) -> GraphRecord:
        """Enter a graph under its name, or find it there with the fingerprint key it was entered with.

        Raises:
            GraphError: the name stands for other labels, types or another key.
        """
        row = self._write(
            "merge_graph",
            name=name,
            nodeLabels=list(selection.node_labels),
            relationshipTypes=list(selection.relationship_types),
            key=selection.key,
            fingerprintKey=fingerprint_key,
        )[0]
        stored = Selection(tuple(row["nodeLabels"]), tuple(row["relationshipTypes"]), row["key"])
        if stored != selection:
            raise GraphError(
                f"The graph name {name!r} stands for {stored.default_name} already, not for "
                f"{selection.default_name}. Choose another name with --graph.",
                graph=name,
            )
        return GraphRecord(name, stored, row["fingerprintKey"])

    def list_runs(self) -> list[Run]:
        """Return every run of the database, oldest first."""
        return [
            Run(
                id=row["id"],
                graph=row["graph"],
                scope=row["scope"],
                p_text=row["pText"],
                score=row["score"],
                status=row["status"],
                node_count=row["nodeCount"],
                relationship_count=row["relationshipCount"],
                vertices=row["vertices"],
                edges=row["edges"],
                memberships=row["memberships"],
                fingerprint=row["fingerprint"],
                membership_hash=row["membershipHash"],
                version=row["version"],
                started_at=row["startedAt"].to_native(),
                finished_at=row["finishedAt"] and row["finishedAt"].to_native(),
            )
            for row in self._read("list_runs")
        ]

    def create_run(self, run: str, graph: str, scope: str, p: float, p_text: str, score: str, version: str) -> None:
        """Record a run before its first hub is written."""
        self._write("create_run", run=run, graph=graph, scope=scope, p=p, pText=p_text, score=score, version=version)

    def create_cohesions(
        self, selection: Selection, run: str, p: float, score: str, rows: Sequence[CohesionRow]
    ) -> int:
        """Write hubs with their memberships; return the memberships written.

        A batch that does not fit into the server's transaction memory is halved and tried again.

        Args:
            selection: labels, types and key.
            run: the run's identifier.
            p: for filtering.
            score: the score's name.
            rows: the cohesions.

        Raises:
            WriteMismatchError: the counters differ from what was sent.
        """
        text = load_statement("create_cohesions").render(sample_names(selection, "Person", "id"))
        parameters = {"run": run, "p": p, "score": score}
        return self._create_or_halve(text, parameters, rows)

    def _create_or_halve(self, text: LiteralString, parameters: Row, rows: Sequence[CohesionRow]) -> int:
        sent = {"cohesions": len(rows), "memberships": sum(len(row["members"]) for row in rows)}
        try:
            with translated(), self._session(neo4j.WRITE_ACCESS) as session:
                written = in_transaction(session, _all_or_nothing, text, {**parameters, "rows": rows}, sent)
        except DatabaseError as error:
            if len(rows) < 2 or error.data.get("code") != OUT_OF_MEMORY:
                raise
            log.debug("%d hubs at once do not fit into the server's transaction memory, so half of them", len(rows))
            middle = len(rows) // 2
            return sum(self._create_or_halve(text, parameters, half) for half in (rows[:middle], rows[middle:]))
        return written["memberships"]

    def stream_cohesions(self, selection: Selection, run: str) -> Iterator[tuple[Key, list[Key], int]]:
        """Yield (vertex, members, edges) of every hub of one run, in no order; members in no order either.

        The read is one stream: hubs of a complete run never change, and a server that cannot go on says so.
        """
        text = load_statement("stream_cohesions").render(sample_names(selection, "Person", "id"))
        with (
            translated(),
            self._session(neo4j.READ_ACCESS) as session,
            session.begin_transaction(timeout=0) as opened,
        ):
            for record in opened.run(text, {"run": run}):
                yield record["vertex"], record["members"], record["edges"]

    def retire_runs(self, runs: Sequence[str]) -> None:
        """Take runs out of sight before their hubs are deleted."""
        self._write("retire_runs", runs=list(runs))

    def delete_run(self, run: str, progress: Callable[[int], None] | None = None) -> int:
        """Delete the hubs of one run in batches, then its record; return the hubs deleted.

        A batch that does not fit into the server's transaction memory is halved, and so are those after it.
        """
        total, limit, deleted = 0, DELETE_BATCH, 1
        while deleted:
            try:
                deleted = self._write("delete_cohesions", run=run, limit=limit)[0]["deleted"]
            except DatabaseError as error:
                if limit < 2 or error.data.get("code") != OUT_OF_MEMORY:
                    raise
                log.debug("%d hubs at once do not fit into the server's transaction memory, so half of them", limit)
                limit //= 2
                continue
            total += deleted
            if progress and deleted:
                progress(total)
        self._write("delete_run", run=run)
        return total

    def terminate_waiting(self, token: str) -> bool:
        """End the transaction that carries this token if it waits for a lock; return whether one was ended."""
        text = load_statement("terminate_waiting").render({})
        with translated(), self._session(neo4j.WRITE_ACCESS) as session:
            return bool(in_transaction(session, rows_of, text, {"token": token}))

    # --- schema -----------------------------------------------------------------------------------------------------

    def ensure_schema(self, wanted: Sequence[SchemaItem]) -> None:
        """Create what is missing of some indexes and constraints, and wait until it is online; else do nothing.

        Raises:
            RightsError: the user may not; the message holds the statements for somebody who may.
            SchemaError: an index is not online after `INDEX_SECONDS`.
        """
        missing = self._missing(wanted)
        try:
            with translated(), self._session(neo4j.WRITE_ACCESS) as session:
                for item in missing:
                    in_transaction(session, rows_of, item.statement, {})
        except RightsError as error:
            statements = "\n".join(f"  {item.line()}" for item in missing)
            raise RightsError(f"{error} An administrator can run this once:\n{statements}", **error.data) from error
        deadline = time.monotonic() + INDEX_SECONDS
        while missing and (missing := self._missing(missing)):
            if time.monotonic() > deadline:
                names = ", ".join(f"{item.label}({item.property})" for item in missing)
                raise SchemaError(f"The index on {names} is not online yet. Try again later.", missing=names)
            time.sleep(0.1)

    def _missing(self, wanted: Sequence[SchemaItem]) -> list[SchemaItem]:
        rows = self._read("list_key_indexes")
        there = {(row["label"], row["property"], row["unique"]) for row in rows}
        there |= {(label, property_, False) for label, property_, _ in there}
        return [item for item in wanted if (item.label, item.property, item.unique) not in there]

    # --- one cohesion -----------------------------------------------------------------------------------------------

    def get_cohesion(self, selection: Selection, run: str, vertex: Key) -> tuple[list[Key], int] | None:
        """Return (members, edges) of the hub that a run has for a vertex, members in no order; None without a hub.

        A member that has lost its key since is None.
        """
        rows = self._read("get_cohesion", sample_names(selection, "Person", "id"), run=run, vertex=vertex)
        return (rows[0]["members"], rows[0]["edges"]) if rows else None


def graph_records(rows: Sequence[Row]) -> list[GraphRecord]:
    """Return the rows of the statement `list_graphs` as records."""
    return [
        GraphRecord(
            name=row["name"],
            selection=Selection(tuple(row["nodeLabels"]), tuple(row["relationshipTypes"]), row["key"]),
            fingerprint_key=row["fingerprintKey"],
        )
        for row in rows
    ]


def _all_or_nothing(tx: neo4j.Transaction, text: LiteralString, parameters: Row, sent: Row) -> Row:
    """Compare the counters inside the transaction, so that a mismatch leaves nothing behind."""
    written = rows_of(tx, text, parameters)[0]
    if written != sent:
        raise WriteMismatchError(
            f"The database wrote {written['cohesions']} hubs and {written['memberships']} memberships of "
            f"{sent['cohesions']} and {sent['memberships']} sent: vertices are gone, or keys are repeated. "
            "Nothing of this run is visible; run it again.",
            sent=sent,
            written=written,
        )
    return written
