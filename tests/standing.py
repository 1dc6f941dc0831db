"""The database between tests: nothing that they wrote stays, but the indexes that nearly all of them need do.

Every change of constraints and indexes makes the server plan all statements again, which takes longer than most tests.
"""

from __future__ import annotations

from typing import Literal

import neo4j
from graphs import Database, quoted

from pcneo.store.schema import OWN_SCHEMA

Index = tuple[str, str, tuple[str, ...], tuple[str, ...], str | None]
"""Its name, type, labels, properties and constraint."""
Kind = Literal["usual", "rings", "users", "loaded", "bare"]
"""Ours and an index of `Person` on `id`; two more of `Ring` and `Other`; the index of `Person` alone; ours and a
constraint, as `pcneo load` makes it; none."""

OURS = [item.statement for item in OWN_SCHEMA]
INDEX = "CREATE INDEX FOR (v:Person) ON (v.id)"
STANDING: dict[Kind, list[str]] = {
    "usual": [*OURS, INDEX],
    "rings": [*OURS, *(INDEX.replace("Person", label) for label in ("Person", "Ring", "Other"))],
    "users": [INDEX],
    "loaded": [*OURS, "CREATE CONSTRAINT FOR (v:Person) REQUIRE v.id IS UNIQUE"],
    "bare": [],
}


class Schema:
    """The constraints and indexes of a database under test."""

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        self._db = Database(driver, database)
        self._known: dict[Kind, set[Index]] = {"bare": set()}

    def clear(self, kind: Kind = "usual") -> None:
        """Remove every node, and every constraint and index but those of this kind, which are there afterwards."""
        with self._db.driver.session(database=self._db.name) as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()
        wanted, there = self._known.get(kind), self._indexes()
        if wanted == there:
            return
        # Where one of ours is missing all are made anew: a test's own may stand in its place, under another name.
        self._drop(there - wanted if wanted and wanted <= there else there)
        if wanted is None or not wanted <= there:
            for statement in STANDING[kind]:
                self._db.run(statement)
            self._db.run("CALL db.awaitIndexes(60)")
            self._known[kind] = self._indexes()

    def _indexes(self) -> set[Index]:
        """Those that are not the server's own; every constraint of a Community server has one of its name.

        Names alone do not tell: an index may stand under the name of a constraint of ours.
        """
        rows = self._db.run(
            "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, owningConstraint WHERE type <> 'LOOKUP' "
            "RETURN name, type, labelsOrTypes, properties, owningConstraint"
        )
        return {(name, kind, tuple(labels), tuple(keys), owner) for name, kind, labels, keys, owner in rows}

    def _drop(self, indexes: set[Index]) -> None:
        for name, *_, owner in indexes:
            self._db.run(f"DROP {'INDEX' if owner is None else 'CONSTRAINT'} {quoted(name)}")
