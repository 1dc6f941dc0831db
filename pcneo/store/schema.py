"""The indexes that pcneo's statements start from: on our own labels, and on the key of each chosen label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from pcneo.store.statements import load_statement
from pcneo.store.tokens import tokenize

__all__ = ["OWN_SCHEMA", "SchemaItem", "key_index"]


@dataclass(frozen=True)
class SchemaItem:
    """An index on one property of one label, or a constraint with such an index, and the statement that creates it."""

    label: str
    property: str
    unique: bool
    statement: LiteralString

    def line(self) -> str:
        """Return the statement for people: on one line, with a semicolon; quoted names stay as they are."""
        return "".join(" " if token.kind == "space" else token.text for token in tokenize(self.statement)) + ";"


def _own(label: str, property_: str, name: str) -> SchemaItem:
    statement = load_statement(name).render({})
    return SchemaItem(label, property_, "CREATE CONSTRAINT" in statement, statement)


OWN_SCHEMA = (
    _own("PCohesionGraph", "name", "ensure_graph_name"),
    _own("PCohesionRun", "id", "ensure_run_id"),
    _own("PCohesionRun", "graph", "ensure_run_graph"),
    _own("PCohesion", "run", "ensure_cohesion_run"),
    _own("PCohesionRelease", "id", "ensure_release_id"),
    _own("PCohesionRelease", "graph", "ensure_release_graph"),
    _own("PCohesionBudget", "graph", "ensure_budget_graph"),
)


def key_index(label: str, key: str) -> SchemaItem:
    """Return the index on the key property of one label."""
    return SchemaItem(label, key, False, load_statement("ensure_key_index").render({"Page": label, "id": key}))
