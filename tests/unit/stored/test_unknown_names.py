"""What is said of a name that is neither that of a graph nor fits the id of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.errors import NotFoundError
from pcneo.stored.runs import run_or_graph, runs_named

DB: Any = SimpleNamespace(list_runs=list, list_graphs=lambda: [SimpleNamespace(name="friends")])
"""A database that knows a graph, and no runs."""


def test_a_name_is_that_of_a_graph_or_may_be_the_id_of_a_run() -> None:
    assert run_or_graph(DB, None) == {}
    assert run_or_graph(DB, "friends") == {"graph": "friends"}
    assert run_or_graph(DB, "latest") == {"run": "latest"}
    assert run_or_graph(DB, "others@1/2") == {"run": "others@1/2"}


@pytest.mark.parametrize("asked", [run_or_graph, lambda db, name: runs_named(db, name, None)])
def test_where_a_graph_would_do_neither_is_found(asked: Any) -> None:
    with pytest.raises(NotFoundError, match=r"There is no run or graph 'nograph'; none is stored\."):
        asked(DB, "nograph")


def test_of_a_graph_without_runs_only_the_run_is_missing() -> None:
    with pytest.raises(NotFoundError, match="There is no run 'friends'; none is stored"):
        runs_named(DB, "friends", None)
