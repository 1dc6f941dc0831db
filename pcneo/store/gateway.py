"""Everything pcneo asks of a Neo4j database: a method for each statement.

Values are sent as parameters, names as quoted tokens (`statements.py`). Rows come back as plain Python values, not as
nodes, which the driver would keep in memory. Reads use read access; all sessions share the driver's bookmarks, so a
read on a follower sees our own writes; errors are translated into ours (`failures.py`).
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
"""Hubs per deleting transaction."""

INDEX_SECONDS = 300.0
"""How long an index may take to come online."""

log = logging.getLogger("pcneo")


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


class CohesionRow(TypedDict):
    """A cohesion in the form that the statement `create_cohesions` takes; vertex and members by key."""

    vertex: Key
    size: int
    edges: int
    density: float
    members: list[Key]


class Gateway(GraphReader):
    """Reads from and writes to one database.

    Every method raises DatabaseError or one of its subclasses; a method's docstring names what else it raises.
    """

    # --- what is there ----------------------------------------------------------------------------------------------

    def list_labels(self) -> list[str]:
        """Return the labels that some node has, ascending, without pcneo's own."""
        labels = [row["label"] for row in self._read("list_labels") if row["label"] not in OWN_LABELS]
        return [label for label in labels if self._count_label(label)]

    def list_relationship_types(self) -> list[str]:
        """Return the relationship types, ascending, without pcneo's own."""
        return [row["type"] for row in self._read("list_relationship_types") if row["type"] not in OWN_TYPES]

    def list_key_indexes(self) -> list[KeyIndex]:
        """Return the node properties with a single-property range index, without those of pcneo's own labels."""
        rows = self._read("list_key_indexes")
        return [KeyIndex(**row) for row in rows if row["label"] not in OWN_LABELS]

    def count_nodes(self, selection: Selection) -> int:
        """Return the number of nodes in the count store, summed over the chosen labels."""
        return sum(map(self._count_label, selection.node_labels))

    def _count_label(self, label: str) -> int:
        return self._read("count_nodes", {"Page": label})[0]["nodes"]

    def count_relationships(self, selection: Selection) -> int:
        """Return the number of relationships in the count store, summed over the chosen types and start labels."""
        return sum(
            self._read("count_relationships", {"Page": label, "KNOWS": type_})[0]["relationships"]
            for label in selection.node_labels
            for type_ in selection.relationship_types
        )

    def count_store(self, selection: Selection) -> tuple[int, int]:
        """Return the numbers of nodes and relationships of a selection in the count store."""
        return self.count_nodes(selection), self.count_relationships(selection)

    def count_keys(self, selection: Selection) -> KeyCounts:
        """Return the numbers of nodes by kind of key, summed over the chosen labels."""
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
        """Record a graph under its name, or return the record that is there, with its own fingerprint key.

        Args:
            name: the graph's name.
            selection: labels, types and key.
            fingerprint_key: used for a new record only.

        Raises:
            GraphError: the name belongs to other labels, types or another key.
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
        """Write hubs with their memberships, and return the number of memberships written.

        A batch that does not fit into the server's transaction memory is halved and tried again.

        Args:
            selection: labels, types and key.
            run: the run's identifier.
            p: stored on each hub, for filtering.
            score: stored on each hub.
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
        """Yield (vertex, members, edges) of every hub of one run; neither hubs nor members are in any order.

        It is a single stream: hubs of a complete run never change, and a server that breaks off raises an error.

        Args:
            selection: labels, types and key.
            run: the run's identifier.
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
        """Make runs invisible before their hubs are deleted."""
        self._write("retire_runs", runs=list(runs))

    def delete_run(self, run: str, progress: Callable[[int], None] | None = None) -> int:
        """Delete the hubs of one run in batches, then its record; return the number of hubs deleted.

        After a batch that does not fit into the server's transaction memory, all batches are half as large.

        Args:
            run: the run's identifier.
            progress: called with the number of hubs deleted so far.
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
        """End the transaction with this token if it is waiting for a lock; return whether it was."""
        text = load_statement("terminate_waiting").render({})
        with translated(), self._session(neo4j.WRITE_ACCESS) as session:
            return bool(in_transaction(session, rows_of, text, {"token": token}))

    # --- schema -----------------------------------------------------------------------------------------------------

    def ensure_schema(self, wanted: Sequence[SchemaItem]) -> None:
        """Create the missing ones among some indexes and constraints, and wait until they are online.

        Args:
            wanted: the indexes and constraints.

        Raises:
            RightsError: the user may not; the message holds the statements for an administrator.
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
        """Return (members, edges) of a vertex's hub in a run, members in no order; None if it has none.

        A member that has lost its key since is None.
        """
        rows = self._read("get_cohesion", sample_names(selection, "Person", "id"), run=run, vertex=vertex)
        return (rows[0]["members"], rows[0]["edges"]) if rows else None


def graph_records(rows: Sequence[Row]) -> list[GraphRecord]:
    """Turn rows of the statement `list_graphs` into records."""
    return [
        GraphRecord(
            name=row["name"],
            selection=Selection(tuple(row["nodeLabels"]), tuple(row["relationshipTypes"]), row["key"]),
            fingerprint_key=row["fingerprintKey"],
        )
        for row in rows
    ]


def _all_or_nothing(tx: neo4j.Transaction, text: LiteralString, parameters: Row, sent: Row) -> Row:
    """Write, and compare the counters inside the transaction, so that a mismatch leaves nothing behind."""
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
