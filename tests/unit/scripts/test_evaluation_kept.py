"""The folder of results: finished cells and arrays, damaged files, and the revisions of what cells compute."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluation.cells import (
    REVISIONS,
    AgainstCell,
    BesideCell,
    Cell,
    CliquesCell,
    CohesionsCell,
    CoverageCell,
    GraphCell,
    LossCell,
    OverlapCell,
    ReleaseCell,
    ScoresCell,
    SubsetsCell,
    ViewsCell,
    cell_of,
)
from evaluation.finished_cells import Finished
from evaluation.missing_cells import finish
from evaluation.results import from_plain, to_plain
from evaluation.results_folder import ResultsFolder
from evaluations import evaluated, result_of, small_cells, some_graph
from places import TESTS

from pcneo import __version__
from pcneo.search import search_all

pytestmark = pytest.mark.long


def test_what_is_finished_is_not_computed_again_and_reads_back_the_same(tmp_path: Path) -> None:
    graph = evaluated(some_graph())
    cells = small_cells(graph)
    kept = ResultsFolder(tmp_path)
    finish(cells, {graph.name: graph}, kept)
    again = ResultsFolder(tmp_path)
    assert again.faults == []
    steps: list[Any] = []
    finish(cells, {graph.name: graph}, again, progress=steps.append)
    assert {step.total for step in steps} == {0}
    assert Finished.of(cells, again).table() == Finished.of(cells, kept).table()
    assert not Finished.of(cells, again).missing


def test_the_same_seed_gives_the_same_data_in_another_folder_and_with_one_thread(tmp_path: Path) -> None:
    graph = evaluated(some_graph())
    cells = small_cells(graph)
    for name, concurrency in (("a", 1), ("b", 2)):
        finish(cells, {graph.name: graph}, ResultsFolder(tmp_path / name), concurrency=concurrency)
    tables = [Finished.of(cells, ResultsFolder(tmp_path / name)).table() for name in ("a", "b")]
    assert tables[0] == tables[1]


KILLED = """
import os
import evaluations
from pathlib import Path
from evaluation.missing_cells import finish
from evaluation.results import from_plain, to_plain
from evaluation.results_folder import ResultsFolder
graph = evaluations.evaluated(evaluations.some_graph())
def stop(step):
    if step.done == 9:
        os.kill(os.getpid(), 9)
finish(evaluations.small_cells(graph), {{graph.name: graph}}, ResultsFolder(Path({folder!r})), progress=stop)
"""


def test_an_evaluation_that_was_killed_goes_on_and_ends_with_the_same_table(tmp_path: Path) -> None:
    program = KILLED.format(folder=str(tmp_path / "killed"))
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, check=False)
    assert done.returncode == -9
    graph = evaluated(some_graph())
    cells = small_cells(graph)
    kept = ResultsFolder(tmp_path / "killed")
    left = len(Finished.of(cells, kept).missing)
    assert 0 < left < len(cells)
    finish(cells, {graph.name: graph}, kept)
    finish(cells, {graph.name: graph}, whole := ResultsFolder(tmp_path / "whole"))
    assert Finished.of(cells, ResultsFolder(tmp_path / "killed")).table() == Finished.of(cells, whole).table()


def spoil_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def spoil_number(path: Path) -> None:
    content = json.loads(path.read_text())
    content["parameters"]["epsilon"] = "11"
    path.write_text(json.dumps(content))


def spoil_digit(path: Path) -> None:
    text = path.read_text()
    at = text.index('"total": ') + len('"total": ')
    path.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :])


def spoil_result(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "result": {}}))


def spoil_digest(path: Path) -> None:
    content = json.loads(path.read_text())
    del content["sha256"]
    path.write_text(json.dumps(content))


def spoil_kind(path: Path) -> None:
    path.write_text("[1, 2]")


def spoil_name(path: Path) -> None:
    path.rename(path.with_name("release-0123.json"))


SPOILT = [spoil_cut, spoil_number, spoil_digit, spoil_result, spoil_digest, spoil_kind, spoil_name]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all small cells are finished."""
    folder = tmp_path_factory.mktemp("finished")
    graph = evaluated(some_graph())
    finish(small_cells(graph), {graph.name: graph}, ResultsFolder(folder))
    return folder


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_corrupt_or_foreign_cell_is_named_and_not_used(
    spoil: Callable[[Path], None], finished: Path, tmp_path: Path
) -> None:
    graph = evaluated(some_graph())
    cells = small_cells(graph)
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    before = ResultsFolder(tmp_path)
    expected = Finished.of(cells, before).table()
    victim = next(iter(sorted((tmp_path / "cells").glob("release-*"))))
    spoil(victim)
    again = ResultsFolder(tmp_path)
    (fault,) = again.faults
    assert fault[0].parent == tmp_path / "cells"
    assert fault[1]
    assert len(Finished.of(cells, again).missing) == 1
    finish(cells, {graph.name: graph}, again)
    assert Finished.of(cells, again).table() == expected


def test_a_damaged_file_of_arrays_is_named_and_computed_again(tmp_path: Path) -> None:
    graph = evaluated(some_graph())
    cell = ViewsCell(graph=graph.name, content=graph.content)
    finish([cell], {graph.name: graph}, ResultsFolder(tmp_path))
    (victim,) = (tmp_path / "arrays").glob("*views*.npz")
    spoil_cut(victim)
    (next((tmp_path / "cells").glob("views-*"))).unlink()
    again = ResultsFolder(tmp_path)
    finish([cell], {graph.name: graph}, again)
    assert [path for path, _ in again.faults] == [victim]
    assert ResultsFolder(tmp_path).result(cell) == again.result(cell)


def test_a_file_of_arrays_with_any_one_byte_changed_is_not_used(tmp_path: Path) -> None:
    folder = ResultsFolder(tmp_path)
    folder.write_arrays("some", {"a": np.arange(5), "b": np.ones((2, 3))})
    (path,) = (tmp_path / "arrays").iterdir()
    content = path.read_bytes()
    with np.load(path) as archive:  # still numpy's own format
        assert archive["a"].tolist() == [0, 1, 2, 3, 4]
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        assert folder.arrays("some") is None, at
    assert len(folder.faults) == len(content)
    path.write_bytes(content)
    arrays = folder.arrays("some")
    assert arrays is not None
    assert {name: array.tolist() for name, array in arrays.items()} == {"a": [0, 1, 2, 3, 4], "b": [[1] * 3] * 2}


def test_a_cell_of_another_graph_with_the_same_name_is_another_cell(tmp_path: Path) -> None:
    first, second = evaluated(some_graph()), evaluated(some_graph(seed=4))
    folder = ResultsFolder(tmp_path)
    finish([GraphCell(graph=first.name, content=first.content)], {first.name: first}, folder)
    assert folder.result(GraphCell(graph=second.name, content=second.content)) is None


def mean_size(folder: ResultsFolder, cell: Cell) -> float:
    result = folder.result(cell)
    assert result is not None
    assert "sizes" in result
    return result["sizes"]["mean"]


def test_stored_cohesions_share_nothing_with_others_that_are_stored_or_searched_for(tmp_path: Path) -> None:
    graph = evaluated(some_graph())
    folder = ResultsFolder(tmp_path)
    cell = CohesionsCell(graph=graph.name, content=graph.content, p="0.4", score="density")
    finish([cell], {graph.name: graph}, folder)
    means = [mean_size(folder, cell)]
    for p, memberships in (("0.1", "a"), ("0.9", "b")):
        other = replace(cell, memberships=memberships)
        finish(
            [other],
            {graph.name: graph},
            folder,
            stored=lambda graph, _, score, p=p: search_all(graph.graph, p, score),
            memberships={(graph.name, "0.4", "density"): memberships},
        )
        means.append(mean_size(folder, other))
    assert len(set(means)) == 3
    again = ResultsFolder(tmp_path)
    assert again.faults == []
    assert mean_size(again, cell) == means[0]


CRITICAL = ReleaseCell(
    graph="Celegans", content="c", p="0.4", score="density", k=3, mechanism="critical", epsilon="5", runs=10
)


def test_noise_is_the_same_for_stored_cohesions_and_for_those_searched_for() -> None:
    cell = CRITICAL
    stored = replace(cell, memberships="a")
    assert (stored.stream, stored.identity == cell.identity) == (cell.stream, False)
    assert "memberships" not in cell.parameters


def test_noise_is_the_same_in_every_version_of_the_program() -> None:
    assert replace(CRITICAL, version="7.0/1").stream == CRITICAL.stream
    assert CRITICAL.stream == 0x59FB8689253A46E6808652CFA1530966  # as 0.1.0 had it


def test_infinite_results_are_kept_as_json_can_say_them() -> None:
    result = {"a": math.inf, "b": [1.5, -math.inf], "c": {"d": "text"}, "e": None}
    assert from_plain(json.loads(json.dumps(to_plain(result), allow_nan=False))) == result


def in_short(value: Any) -> Any:
    """A result with six digits a number: so many are the same on every machine."""
    if isinstance(value, dict):
        return {name: in_short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [in_short(part) for part in value]
    return f"{value:.6g}" if isinstance(value, float) else value


def digest_of(kind: str, folder: Path) -> str:
    groups: dict[str, Any] = {"p": "0.4", "score": "density"}
    common: dict[str, Any] = {"k": 3, "epsilon": "5", "runs": 10}
    parameters: dict[str, tuple[type[Cell], list[dict[str, Any]]]] = {
        "graph": (GraphCell, [{}]),
        "views": (ViewsCell, [{}]),
        "sets": (CohesionsCell, [groups]),
        "scores": (ScoresCell, [{"p": "0.4"}]),
        "overlap": (OverlapCell, [{"p": "0.4"}]),
        "against": (AgainstCell, [groups]),
        "subsets": (SubsetsCell, [groups]),
        "cliques": (CliquesCell, [{"k": 3}, {"k": 4}]),
        "coverage": (CoverageCell, [groups]),
        "release": (
            ReleaseCell,
            [
                {**common, "mechanism": "edge"},
                {**common, "mechanism": "elv", "h": 3, "switches": ("inside", "unclamped")},
                {**common, **groups, "mechanism": "published", "h": 3},
                {**common, **groups, "mechanism": "critical"},
                {**common, "mechanism": "respond"},
                {**common, "mechanism": "modelled"},
            ],
        ),
        "beside": (
            BesideCell,
            [
                {**common, **groups, "mechanism": "critical"},
                {**common, "mechanism": "oriented"},
                *({**common, "mechanism": name} for name in ("respond", "total", "modelled", "edge")),
            ],
        ),
        "loss": (
            LossCell,
            [
                {**common, **groups, "mechanism": "edge"},
                {**common, **groups, "mechanism": "elv", "h": 3, "switches": ("inside",)},
                {**common, **groups, "mechanism": "published", "h": 3},
            ],
        ),
    }
    cell, points = parameters[kind]
    results = [in_short(to_plain(result_of(cell, some_graph(), folder, **point))) for point in points]
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()[:16]


PINNED = {
    "graph": (1, "37e19eec33ba8ca3"),
    "views": (1, "889d73a1bd07f5ce"),
    "sets": (1, "f441805659751ce1"),
    "overlap": (1, "3816194f4b6fae8e"),
    "scores": (1, "4b2ca6610e49ad66"),
    "against": (1, "e367e3771e276bad"),
    "subsets": (1, "74aceb77a861560a"),
    "release": (5, "90a745a03c437421"),
    "loss": (4, "8bc7dd39f4706eb5"),
    "cliques": (1, "7928949588e6ca12"),
    "coverage": (1, "72c95e026867dce7"),
    "beside": (2, "4ddd587816742ccf"),
}
"""Revision of each kind of cell, and what it computes on a small graph."""


@pytest.mark.parametrize("kind", REVISIONS)
def test_a_kind_that_computes_something_else_has_another_revision(kind: str, tmp_path: Path) -> None:
    revision, digest = PINNED[kind]
    assert REVISIONS[kind] == revision
    assert digest_of(kind, tmp_path) == digest, f"raise the revision of {kind!r}, then pin what it computes now"


def test_the_version_of_a_cell_is_its_kind_s_and_one_that_was_read_keeps_its_own() -> None:
    assert ViewsCell(graph="Celegans", content="c").version == f"{__version__}/{REVISIONS['views']}"
    assert ViewsCell(graph="Celegans", content="c", version="0.0/7").version == "0.0/7"


def test_a_cell_is_made_of_its_parameters_again_and_of_no_others() -> None:
    assert cell_of(CRITICAL.parameters) == CRITICAL
    assert cell_of(json.loads(json.dumps(replace(CRITICAL, memberships="a").parameters))).memberships == "a"
    with pytest.raises(ValueError, match="other parameters"):
        cell_of({**CRITICAL.parameters, "sample": 5})
    with pytest.raises(ValueError, match="other parameters"):
        cell_of({**CRITICAL.parameters, "nonsense": None})
    with pytest.raises(ValueError, match="no kind 'nonsense'"):
        cell_of({**CRITICAL.parameters, "kind": "nonsense"})
    with pytest.raises(ValueError, match="epsilon"):
        cell_of({name: value for name, value in CRITICAL.parameters.items() if name != "epsilon"})
