"""The evaluation of a stored graph: the same numbers as from arrays, with the cohesions read from its run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from evaluation import cohesion_arrays, stored_graphs
from evaluation.datasets import DATASETS, Counts, Dataset, EvaluatedGraph
from evaluation.producing import evaluate
from evaluation.stored_graphs import StoredGraphs
from evaluations import triangles
from graphs import Database
from places import ROOT

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, GraphError, NotFoundError, ParameterError
from pcneo.graph import graph_from_networkx

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
GRAPH = nx.connected_caveman_graph(3, 6)
ISOLATED = 2  # which the database does not have
YEAST = next(dataset for dataset in DATASETS if dataset.name == "Yeast")


@pytest.fixture(name="db")
def annotated_dataset(db: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A small graph under the name of a dataset whose counts it has, annotated at two p."""
    counts = Counts(len(GRAPH) + ISOLATED, GRAPH.number_of_edges(), *_degree_and_triangles())
    dataset = Dataset("Yeast", YEAST.file, counts, YEAST.paper, "")
    monkeypatch.setattr(stored_graphs, "DATASETS", (dataset,))
    db.put(GRAPH.edges)
    for p in ("0.1", "0.4"):
        annotate.write(db.store, p=p, search="density", **PERSONS)
    return db


def _degree_and_triangles() -> tuple[int, int]:
    return max(degree for _, degree in GRAPH.degree), triangles(GRAPH)


def test_a_stored_graph_gives_the_numbers_that_arrays_give_without_a_search(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["view-size", "all-10-k4"]
    monkeypatch.setattr("evaluation.producing.drawings", lambda *_: {})  # pictures show the same numbers
    graph = EvaluatedGraph.of(stored_graphs.DATASETS[0], graph_from_networkx(GRAPH))
    evaluate(names, {"Yeast": graph}, tmp_path / "arrays", largest_p=0.4)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a search for cohesions that are stored")

    monkeypatch.setattr(cohesion_arrays, "search_all", refuse)
    monkeypatch.setattr(cohesion_arrays, "search_batches", refuse)
    read = StoredGraphs(db.store, {"Yeast": "Person/KNOWS/id"})
    assert read.graphs["Yeast"].content == graph.content
    assert set(read.memberships) == {("Yeast", "0.1", "density"), ("Yeast", "0.4", "density")}
    evaluate(names, read.graphs, tmp_path / "stored", stored=read.cohesions, memberships=read.memberships)
    from_arrays: dict[str, Any] = {}
    from_stored: dict[str, Any] = {}
    for name, results in (("arrays", from_arrays), ("stored", from_stored)):
        for path in (tmp_path / name / "cells").iterdir():
            content = json.loads(path.read_text())
            parameters = content["parameters"]
            memberships = parameters.pop("memberships", None)
            assert (memberships is not None) == (name == "stored" and parameters["p"] is not None)
            results[json.dumps(parameters, sort_keys=True)] = content["result"]
    assert {json.loads(parameters)["p"] for parameters in from_stored} == {None, "0.1", "0.4"}
    assert from_stored.items() <= from_arrays.items()


def test_cohesions_that_were_changed_are_not_evaluated(db: Database, tmp_path: Path) -> None:
    db.run("MATCH (:Person)-[m:IN_COHESION]->() WITH m LIMIT 1 DELETE m")
    read = StoredGraphs(db.store, {"Yeast": "Person/KNOWS/id"})
    with pytest.raises(GraphChangedError):
        evaluate(["all-10-k4", "view-size"], read.graphs, tmp_path, stored=read.cohesions, memberships=read.memberships)


def test_a_graph_that_is_not_there_or_not_the_dataset_is_refused(db: Database) -> None:
    with pytest.raises(NotFoundError, match="'Person/KNOWS/id'"):
        StoredGraphs(db.store, {"Yeast": "friends"})
    with pytest.raises(ParameterError, match="no dataset"):
        StoredGraphs(db.store, {"Celegans": "Person/KNOWS/id"})
    db.run("MATCH ()-[r:KNOWS]->() WITH r LIMIT 1 DELETE r")
    with pytest.raises(GraphError, match="is not Yeast"):
        StoredGraphs(db.store, {"Yeast": "Person/KNOWS/id"})


def test_the_command_says_what_is_wrong_with_its_graphs(server: Any, empty_database: str, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    environment = {**clean, **server.environment, "PYTHONPATH": str(ROOT / "scripts")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "evaluation", "make", "datasets", *arguments, "--to", str(tmp_path / "to")]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)

    (tmp_path / "celegans_metabolic.txt").write_text("1 2\n2 3\n")
    wrong = run("--graphs", str(tmp_path))
    assert (wrong.returncode, "is not Celegans" in wrong.stderr) == (4, True)
    missing = run("--stored", "Celegans=friends")
    assert (missing.returncode, "no graph 'friends'" in missing.stderr) == (4, True)
