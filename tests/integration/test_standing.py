"""What stands between tests is what pcneo itself makes: otherwise they could pass on indexes that no user has."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import Database, cycle
from standing import Schema

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.release import budget

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
DEFINITIONS = "SHOW INDEXES YIELD labelsOrTypes, properties, type, owningConstraint WHERE type <> 'LOOKUP' RETURN *"


def definitions(db: Database) -> list[str]:
    return sorted(map(str, db.run(DEFINITIONS)))


def test_the_first_write_and_the_first_total_make_the_schema_that_tests_find(db: Database, schema: Schema) -> None:
    usual = definitions(db)
    schema.clear("users")
    assert len(definitions(db)) == 1
    db.put(cycle(4))
    annotate.write(db.store, p="0.5", **PERSONS)
    budget.set_total(db.store, graph="Person/KNOWS/id", epsilon=1)
    assert definitions(db) == usual


@pytest.mark.parametrize("kind", ["users", "loaded", "bare", "usual"])
def test_what_a_test_adds_or_drops_is_gone_or_there_for_the_next(db: Database, schema: Schema, kind) -> None:
    schema.clear(kind)
    before = definitions(db)
    db.put(cycle(4), index=False)
    db.run("CREATE INDEX FOR (v:Robot) ON (v.name)")
    db.run("CREATE CONSTRAINT FOR (v:Robot) REQUIRE v.id IS UNIQUE")
    schema.clear(kind)
    assert definitions(db) == before
    assert db.run("MATCH (n) RETURN count(n)") == [[0]]
