"""How a module of statements collects them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulation.database import Transaction

__all__ = ["Props", "Row", "Statement", "Transaction", "statement_of"]

Row = dict[str, Any]
Props = dict[str, Any]
Statement = Callable[..., list[Row]]


def statement_of(statements: dict[str, Statement]) -> Callable[[Statement], Statement]:
    """A decorator that enters a statement under its own name."""

    def enter(statement: Statement) -> Statement:
        statements[statement.__name__] = statement
        return statement

    return enter
