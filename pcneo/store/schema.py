"""The format of the data model, and the indexes: on our own labels, and on the key of each chosen label."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import LiteralString

from pcneo.store.statements import load_statement
from pcneo.store.tokens import tokenize

FORMAT = 3
"""The format of the data model. A run of this format names its `search`; in the first two it had a `score`."""


@dataclass(frozen=True)
class SchemaItem:
    """An index on properties of one label, or the constraint behind it, with the statement that creates it."""

    label: str
    properties: tuple[str, ...]
    unique: bool
    statement: LiteralString

    @property
    def drop(self) -> str:
        """The statement that drops it, on one line."""
        words = self.line().split()
        return f"DROP {words[1]} {words[2]} IF EXISTS;"

    @property
    def place(self) -> str:
        """The label and properties that it is on."""
        return f"{self.label}({', '.join(self.properties)})"

    def line(self) -> str:
        """Return the statement for people: on one line, with a semicolon; quoted names stay as they are."""
        return "".join(" " if token.kind == "space" else token.text for token in tokenize(self.statement)) + ";"


def _own(name: str, label: str, *properties: str) -> SchemaItem:
    statement = load_statement(name).render({})
    return SchemaItem(label, properties, "CREATE CONSTRAINT" in statement, statement)


OWN_SCHEMA = (
    _own("ensure_graph_name", "PCohesionGraph", "name"),
    _own("ensure_fence", "PCohesionFence", "graph", "number"),
    _own("ensure_run_id", "PCohesionRun", "id"),
    _own("ensure_run_graph", "PCohesionRun", "graph"),
    _own("ensure_version", "PCohesionVersion", "run", "version"),
    _own("ensure_cohesion_run", "PCohesion", "run"),
    _own("ensure_cohesion_from", "PCohesion", "run", "from"),
    _own("ensure_retired_until", "PCohesionRetired", "run", "until"),
    _own("ensure_release_id", "PCohesionRelease", "id"),
    _own("ensure_release_graph", "PCohesionRelease", "graph"),
    _own("ensure_budget_graph", "PCohesionBudget", "graph"),
    _own("ensure_ledger_name", "PCohesionLedger", "name"),
    _own("ensure_request_id", "PCohesionRequest", "id"),
    _own("ensure_request_status", "PCohesionRequest", "status"),
)


def key_index(label: str, key: str) -> SchemaItem:
    """Return the index on the key property of one label."""
    digest = hashlib.sha256(f"{label}\0{key}".encode()).hexdigest()[:8]
    names = {"pcneo_key": f"pcneo_key_{digest}", "Page": label, "id": key}
    return SchemaItem(label, (key,), False, load_statement("ensure_key_index").render(names))
