"""Loading a graph into a database: a unique key, vertices and relationships."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import LiteralString

import neo4j

from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError, KeyPropertyError, ParameterError, SchemaError, WriteMismatchError
from pcneo.store.database import Database, KeyIndex
from pcneo.store.statements import OWN_LABELS, OWN_TYPES, load_statement
from pcneo.store.transaction import Row, in_halves, rows_of

_KEYS_REPEATED = frozenset(
    {
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        "Neo.DatabaseError.Schema.ConstraintCreationFailed",
    }
)
_INDEX_IN_THE_WAY = "Neo.ClientError.Schema.IndexAlreadyExists"


class GraphLoader:
    """Writes vertices with one label, and relationships of one type, into a database."""

    def __init__(self, db: Database, label: str, type_: str, key: str) -> None:
        """Put the names into the statements."""
        if label in OWN_LABELS or type_ in OWN_TYPES:
            name = label if label in OWN_LABELS else type_
            raise ParameterError(f"{name} is reserved for pcneo; load into another name.", name="name", value=name)
        self._db = db
        # A commit that waits may be left alone: it holds its vertices, for which loading again waits.
        self._metadata = {"pcneoWriter": uuid.uuid4().hex}
        vertex_names = {"Page": label, "id": key}
        self.selection = Selection((label,), (type_,), key)
        self._constraint: LiteralString = load_statement("ensure_vertex_key").render(vertex_names)
        self._vertices: LiteralString = load_statement("merge_vertices").render(vertex_names)
        self._hold: LiteralString = load_statement("hold_vertices").render({"Person": [label], "id": key})
        self._relationships: LiteralString = load_statement("merge_relationships").render(
            {**vertex_names, "KNOWS": type_}
        )

    def ensure_vertex_key(self) -> bool:
        """Make the key unique within the label; return whether that took a new constraint."""
        (label,), key = self.selection.node_labels, self.selection.key
        if KeyIndex(label, key, unique=True) in self._db.list_key_indexes():
            return False
        try:
            return self._db.committed(_constraints_added, self._constraint, is_schema=True) > 0
        except DatabaseError as error:
            raise self._explained(error) from error

    def _explained(self, error: DatabaseError) -> Exception:
        (label,), key = self.selection.node_labels, self.selection.key
        code = error.data.get("code")
        if code in _KEYS_REPEATED:
            return KeyPropertyError(
                f"Nodes labelled {label!r} share a value of {key!r}, so it cannot be their key. Nothing was loaded. "
                f"({error})",
                label=label,
                key=key,
            )
        if code == _INDEX_IN_THE_WAY:
            return SchemaError(
                f"An index on {key!r} of {label!r} is in the way of a uniqueness constraint. Drop it (SHOW INDEXES has "
                f"its name) and load again, which runs:\n{self._constraint}",
                statements=[self._constraint],
            )
        return error

    def merge_vertices(self, rows: Sequence[Row]) -> int:
        """Create the vertices that do not exist yet; return their number."""

        def merge(transaction: neo4j.Transaction, part: Sequence[Row]) -> int:
            return _merged(transaction, self._vertices, part, "nodes_created")

        return self._merge(merge, rows)

    def merge_relationships(self, rows: Sequence[Row]) -> int:
        """Connect the pairs that are not connected in either direction yet; return their number."""

        def merge(transaction: neo4j.Transaction, part: Sequence[Row]) -> int:
            if self._db.waits.sees_strangers():
                keys = sorted({row[end] for row in part for end in ("source", "target")})
                rows_of(transaction, self._hold, {"keys": keys})
            return _merged(transaction, self._relationships, part, "relationships_created")

        return self._merge(merge, rows)

    def _merge(self, merge: Callable[[neo4j.Transaction, Sequence[Row]], int], rows: Sequence[Row]) -> int:
        return sum(in_halves(partial(self._db.committed, merge, metadata=self._metadata), rows, "rows"))


def _constraints_added(tx: neo4j.Transaction, text: LiteralString) -> int:
    return tx.run(text).consume().counters.constraints_added


def _merged(tx: neo4j.Transaction, text: LiteralString, rows: Sequence[Row], counter: str) -> int:
    """Merge, compare inside the transaction, so that a mismatch leaves nothing behind, and return the counter."""
    result = tx.run(text, {"rows": rows})
    merged = result.single(strict=True)["merged"]
    if merged != len(rows):
        raise WriteMismatchError(
            f"The database merged {merged:,} of {len(rows):,} rows sent: the graph changed in the meantime. Load "
            "again; what is already there is left alone.",
            sent=len(rows),
            written=merged,
        )
    return getattr(result.consume().counters, counter)
