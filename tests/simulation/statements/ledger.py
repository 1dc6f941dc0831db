"""The ledger."""

from __future__ import annotations

from typing import Any

from simulation.database import Node
from simulation.statements.registry import Row, Statement, Transaction, statement_of

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)


@statement
def list_ledger(tx: Transaction) -> list[Row]:
    rows = []
    for label in ("PCohesionBudget", "PCohesionRelease", "PCohesionNote"):
        for node in tx.match(label):
            properties = [[name, value] for name, value in tx.props(node).items()]
            rows.append({"element": str(node.number), "labels": [label], "properties": properties})
            tx.breathe()
    return rows


@statement
def get_ledger_secret(tx: Transaction) -> list[Row]:
    return [{"secret": tx.props(node).get("secret")} for node in tx.match("PCohesionLedger", name="ledger")]


@statement
def merge_ledger_secret(tx: Transaction, secret: str) -> list[Row]:
    ledger, _ = tx.merge("PCohesionLedger", name="ledger")
    tx.lock(ledger)
    tx.set(ledger, secret=tx.props(ledger).get("secret") or secret)
    return [{"secret": tx.props(ledger).get("secret")}]


@statement
def create_budget(tx: Transaction, **values: Any) -> list[Row]:
    tx.create("PCohesionBudget", **values, at=tx.db.date(tx.now))
    return [{"created": 1}]


@statement
def create_release(tx: Transaction, release: str, **values: Any) -> list[Row]:
    node, is_new = tx.merge("PCohesionRelease", id=release)
    if is_new:
        tx.set(node, **values, at=tx.db.date(tx.now))
    return [{"created": 1}]


@statement
def create_note(tx: Transaction, **values: Any) -> list[Row]:
    tx.create("PCohesionNote", **values, at=tx.db.date(tx.now))
    return [{"created": 1}]


@statement
def move_ledger(tx: Transaction, graph: str, to: str, add: int) -> list[Row]:
    budgets, releases = _of(tx, graph)
    for budget in budgets:
        tx.breathe()
        tx.set(budget, graph=to, number=tx.props(budget)["number"] + add)
    for release in releases:
        tx.breathe()
        tx.set(release, graph=to)
    return [{"moved": len(budgets) + len(releases)}]


@statement
def delete_ledger(tx: Transaction, graph: str) -> list[Row]:
    budgets, releases = _of(tx, graph)
    for record in (*budgets, *releases):
        tx.breathe()
        tx.delete(record)
    return [{"forgotten": len(budgets) + len(releases)}]


def _of(tx: Transaction, graph: str) -> tuple[list[Node], list[Node]]:
    return tx.match("PCohesionBudget", graph=graph), tx.match("PCohesionRelease", graph=graph)
