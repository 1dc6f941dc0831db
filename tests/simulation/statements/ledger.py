"""The ledger."""

from __future__ import annotations

from typing import Any

from simulation.statements.registry import Row, Statement, Transaction, statement_of

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)


def _whole(tx: Transaction, label: str) -> list[Row]:
    rows = []
    for node in tx.match(label):
        rows.append({"element": str(node.number), "properties": dict(tx.props(node))})
        tx.breathe()
    return rows


@statement
def list_budgets(tx: Transaction) -> list[Row]:
    return _whole(tx, "PCohesionBudget")


@statement
def list_releases(tx: Transaction) -> list[Row]:
    return _whole(tx, "PCohesionRelease")


@statement
def list_notes(tx: Transaction) -> list[Row]:
    return [{"properties": row["properties"]} for row in _whole(tx, "PCohesionNote")]


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
