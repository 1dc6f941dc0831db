"""Rows of our own nodes with one value of another kind: what is read is as pcneo writes it, and all else is named."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.time import DateTime

from pcneo.basics.run_record import RunRecord
from pcneo.errors import GraphError
from pcneo.store.database import GraphRecord, graph_records
from pcneo.store.run_reader import RunReader
from pcneo.store.typed_rows import fits, refusals

NOW = DateTime.from_iso_format("2026-01-02T03:04:05+00:00")
GRAPH: dict[str, Any] = {
    "name": "friends",
    "nodeLabels": ["Person"],
    "relationshipTypes": ["KNOWS"],
    "key": "id",
    "fingerprintKey": "0" * 64,
    "format": 3,
}
OF_RUN = {"id": "friends@1/2", "graph": "friends", "scope": "graph", "pText": "1/2", "search": "smallest"}
NUMBERS = "revision added retired cohesions memberships nodeCount relationshipCount vertices edges"
OF_VERSION: dict[str, Any] = {
    "version": 2,
    "readable": True,
    "pcneo": "0.3.0",
    "effort": 1,
    **dict.fromkeys(NUMBERS.split(), 5),
    "fingerprint": "f",
    "membershipHash": "m",
    "fromFiles": False,
    "startedAt": NOW,
    "finishedAt": NOW,
    "replacedAt": None,
}
ROW: dict[str, Any] = {**OF_RUN, **OF_VERSION, "format": 3, "current": 2}
VALUES = [None, "x", "", 7, -3, 0, 0.5, True, [], [1, 2], ["a"], [""], NOW, DateTime(2026, 1, 2), {"kind": "POINT"}]


class Rows(RunReader):
    """A database whose statements return these rows."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self._rows = list(rows)

    def read(self, *_: object, **__: object) -> list[dict[str, Any]]:  # type: ignore[override]
        return self._rows


def test_what_pcneo_writes_is_read() -> None:
    (graph,) = graph_records([GRAPH])
    assert isinstance(graph, GraphRecord)
    (run,) = Rows(ROW).list_runs()
    assert isinstance(run, RunRecord)
    assert (run.node_count, run.search.effort, run.finished_at) == (5, 1, NOW.to_native())
    assert Rows(ROW).list_versions(run.id) == [run]
    assert list(Rows(ROW).list_damaged_runs()) == []


@pytest.mark.parametrize("name", GRAPH)
def test_a_changed_graph_is_read_or_named(name: str) -> None:
    for value in VALUES:
        damage = list(refusals(lambda row: graph_records([row]), [{**GRAPH, name: value}]))
        if not damage:
            assert type(value) is type(GRAPH[name]) or (name, value) == ("format", None), value
            continue
        (error,) = damage
        assert (error.data["label"], error.data["property"]) == ("PCohesionGraph", name), value
        assert name in str(error)


@pytest.mark.parametrize("name", [*OF_RUN, "current"])
def test_a_changed_run_is_read_or_named(name: str) -> None:
    for value in VALUES:
        changed = Rows({**ROW, name: value})
        if name == "search" and value is None:  # as in the first formats
            continue
        damage = list(changed.list_damaged_runs())
        if not damage:
            assert type(value) is type(ROW[name]), value
            continue
        (error,) = damage
        assert (error.data["label"], error.data["property"]) == ("PCohesionRun", name.replace("current", "version"))
        assert ("pcneo clean" in str(error)) == (name not in ("id", "graph"))
        with pytest.raises(GraphError, match="someone has changed the node"):
            changed.list_runs()


@pytest.mark.parametrize("name", [name for name in OF_VERSION if name != "version"])
def test_a_changed_version_is_read_or_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcneo.store.run_reader._PAUSE_SECONDS", 0)
    for value in VALUES:
        changed = Rows({**ROW, name: value})
        damage = list(changed.list_damaged_runs())
        if not damage:
            is_optional = name == "replacedAt" and (value is None or value is NOW)
            assert type(value) is type(ROW[name]) or is_optional, value
            continue
        (error,) = damage
        assert (error.data["label"], error.data["property"]) == ("PCohesionVersion", name), value
        assert "2 of run 'friends@1/2'" in str(error)
        with pytest.raises(GraphError, match="pcneo clean friends@1/2"):
            changed.list_versions("friends@1/2")


def test_a_run_whose_version_has_no_record_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcneo.store.run_reader._PAUSE_SECONDS", 0)
    lost = {**ROW, **dict.fromkeys(OF_VERSION), "fromFiles": False}
    assert Rows(lost).list_runs() == []
    assert list(Rows(lost).list_damaged_runs()) == []


@pytest.mark.parametrize(
    ("value", "kind", "does"),
    [
        ("", "str", False),
        ("", "str | None", True),
        (True, "int", False),
        (1, "float | None", True),
        ([1], "tuple[str, ...]", False),
        (None, "datetime", False),
        (DateTime(2026, 1, 2), "datetime", False),
        (NOW, "datetime | None", True),
    ],
)
def test_a_value_fits_the_annotation_of_its_field(value: object, kind: str, does: bool) -> None:
    assert fits(value, kind) is does
