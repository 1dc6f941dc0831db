"""A graph whose keys are hostile text, through every command that writes a file or prints rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import networkx
import pytest
from graphs import Database
from made_up_keys import HOSTILE_KEYS
from requested import requested

import pcneo as package
from pcneo import annotate
from pcneo.annotate.load_cohesions import load_cohesions
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError
from pcneo.release import Released, Terms, budget, release
from pcneo.release.checking import check
from pcneo.stored.exporting import NO_XML, export_run

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
KEYS = [key for key in HOSTILE_KEYS if len(key) < 8_000]  # which is as long as an index of Neo4j takes
EDGES = [(KEYS[i], KEYS[(i + step) % len(KEYS)]) for i in range(len(KEYS)) for step in (1, 2)]
RUN = "Person/KNOWS/id@1/2"


@pytest.fixture(name="db")
def annotated_hostile_keys(db: Database) -> Database:
    db.put(EDGES)
    annotate.write(db.store, p="1/2", **PERSONS)
    return db


def released(db: Database, to: Path, **asked: Any) -> tuple[Released, dict[Any, Any]]:
    request = requested(to=to, graph="Person/KNOWS/id", **asked)
    _, (made,) = release(db.store, requests=[request], terms=Terms(anyway=True))
    counts = package.read_release(made.public).counts
    assert set(counts) == set(KEYS)
    assert json.loads(made.reports[1].read_text())["notice"]
    assert made.reports[0].read_text()
    return made, counts


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_answers_that_were_paid_for_are_read_again(db: Database, tmp_path: Path, mechanism: str) -> None:
    budget.set_total(db.store, graph="Person/KNOWS/id", epsilon=9)
    tmp_path.chmod(0o700)
    kept, counts = released(db, tmp_path / "a.json", mechanism=mechanism, epsilon="9", answers="keep")
    _, again = released(db, tmp_path / "b.json", answers_from=kept.answers)
    assert again == counts
    assert budget.show(db.store)[0].account.spent.epsilon == 9


def test_cohesions_go_to_a_file_and_back(db: Database, tmp_path: Path) -> None:
    before = db.members(RUN)
    (file,) = annotate.to_parquet(db.store, p="1/2", to=tmp_path / "a.parquet", **PERSONS).files
    assert not load_cohesions(db.store, file.path, verify=9).runs[0].changed
    db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) DETACH DELETE n")
    load_cohesions(db.store, file.path)
    assert db.members(RUN) == before
    assert check(db.store).all_well


def test_rows_and_graphs_can_be_read_by_others(
    db: Database, tmp_path: Path, pcneo: Callable[..., tuple[int, str, str]]
) -> None:
    named = ("--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id", "-p", "1/2")
    code, out, _ = pcneo("annotate", "--mode", "stream", *named)
    assert code == 0
    rows = list(csv.reader(io.StringIO(out, newline="")))
    assert {row[0].removeprefix("'") for row in rows[1:]} == set(KEYS)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    export_run(db.store, run=RUN, path=tmp_path / "a.json")
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600
    graph = networkx.node_link_graph(json.loads((tmp_path / "a.json").read_text()), edges="edges")
    assert {key: set(graph[key]) for key in graph} == naive.graph_of(EDGES)
    with pytest.raises(GraphError, match="cannot be written in XML"):
        export_run(db.store, run=RUN, path=tmp_path / "a.graphml")
    db.run("MATCH (v:Person) WHERE v.id IN $keys DETACH DELETE v", keys=[key for key in KEYS if NO_XML.search(key)])
    annotate.write(db.store, p="1/2", **PERSONS)
    export_run(db.store, run=RUN, path=tmp_path / "b.graphml")
    assert set(networkx.read_graphml(tmp_path / "b.graphml")) == {key for key in KEYS if not NO_XML.search(key)}


@pytest.mark.parametrize("key", ["a\n# b", "\x1b[2J", "=1+1", "\u202egnp.exe"])
def test_one_vertex_is_shown_and_no_terminal_obeys_its_key(
    db: Database, pcneo: Callable[..., tuple[int, str, str]], key: str
) -> None:
    code, out, error = pcneo("show", key)
    assert code == 0, error
    assert not {"\x1b", "\u202e"} & set(out + error)
