"""The statements of `cypher/`, by name, as the model answers them: the same rows from the same nodes and locks.

Each takes a transaction and the statement's parameters. Where the server may do something else between two reads or
writes of one statement, it calls `breathe`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from pcneo.store.statements import KEPT_PLANS, all_statements
from simulation.statements import graphs, ledger, requests, runs, transactions

__all__ = ["NAMES", "STATEMENTS", "name_of"]

STATEMENTS: dict[str, Callable[..., list[dict[str, Any]]]] = {
    name: statement
    for module in (graphs, ledger, requests, runs, transactions)
    for name, statement in module.STATEMENTS.items()
}

NAMES: Mapping[str, str | Sequence[str]] = {
    "Person": ["Person"],
    "Robot": ["Person"],
    "Page": "Person",
    "KNOWS": ["KNOWS"],
    "id": "id",
}
"""The names of the simulated graphs, by sample name: all lie over the same nodes, one with a type of its own."""


@cache
def _names() -> dict[str, str]:
    rendered = {}
    for statement in all_statements():
        if statement.name in STATEMENTS:
            names: dict[str, Any] = {declared.name: NAMES[declared.name] for declared in statement.names}
            several = [names]
            if statement.name == "count_relationships":
                several = [{**names, "KNOWS": type} for type in ("KNOWS", "LIKES")]
            for these in several:  # asked for the first time where plans are kept, each text would say so
                rendered[statement.render(these).removeprefix(KEPT_PLANS)] = statement.name
    return rendered


def name_of(text: str) -> str:
    """The name of the statement that a text is; those of the simulation's own go by their names."""
    text = text.removeprefix(KEPT_PLANS)
    return text if text in STATEMENTS else _names()[text]
