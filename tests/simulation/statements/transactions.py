"""The server's list of transactions, and those that are ended."""

from __future__ import annotations

from simulation.statements.registry import Row, Statement, Transaction, statement_of

NAME = "neo4j"
"""The database's name, as the simulated driver reports it."""

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)


def _ended(tx: Transaction, names: list[str]) -> list[Row]:
    tx.breathe()
    return [{"ended": name} for name in names]


@statement
def list_transactions(tx: Transaction, database: str) -> list[Row]:
    assert database == NAME
    return [
        {
            "transaction": other.name,
            "token": other.metadata.get("pcneo"),
            "writer": other.metadata.get("pcneoWriter"),
            "status": other.status,
            "user": "neo4j",
            "client": other.process.name,
            "since": "2026",
            "locks": len(other.locks),
        }
        for other in tx.db.open
    ]


@statement
def terminate_transaction(tx: Transaction, token: str, blocked: bool) -> list[Row]:
    return _ended(
        tx,
        tx.db.terminate(
            lambda other: other.metadata.get("pcneo") == token and (not blocked or other.status.startswith("Blocked"))
        ),
    )


@statement
def terminate_claim(tx: Transaction, token: str) -> list[Row]:
    return _ended(tx, tx.db.terminate(lambda other: other.metadata.get("pcneoRequest") == token))


@statement
def terminate_late(tx: Transaction, graph: str, writer: str, database: str) -> list[Row]:
    assert database == NAME

    def is_late(other: Transaction) -> bool:
        metadata = other.metadata
        return metadata.get("pcneoGraph") == graph and metadata.get("pcneoWriter") not in (None, writer)

    return _ended(tx, tx.db.terminate(is_late))
