"""Cohesions to files and from files into standing runs, on a real Neo4j."""

from __future__ import annotations

import json
import os
import random
import resource
import stat
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from graphs import Database

from pcneo import annotate
from pcneo.annotate import streaming
from pcneo.annotate.load_cohesions import load_cohesions
from pcneo.basics.model import CohesionBatch
from pcneo.basics.searches import P
from pcneo.basics.selection import Selection
from pcneo.errors import FileFormatError, GraphChangedError, ParameterError, PcneoError
from pcneo.graph.files.cohesion_file import CohesionFile, CohesionWriter
from pcneo.release.checking import check
from pcneo.stored.showing import show
from pcneo.stored.versions import history

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}


@pytest.fixture(name="db")
def random_graph(db: Database) -> Database:
    rng = random.Random(3)
    db.put([(rng.randrange(60), rng.randrange(60)) for _ in range(140)], isolated=[*range(60), 100, 101, 102, -7])
    return db


def parts_of(db: Database, folder: Path, parts: int, p: Any = "1/3", **options: Any) -> list[Path]:
    folder.mkdir(exist_ok=True)
    results = [
        annotate.to_parquet(db.store, p=p, to=folder, part=(i, parts), **{**PERSONS, **options})
        for i in range(1, parts + 1)
    ]
    return [file.path for result in results for file in result.files]


def load(db: Database, *files: Path, **options: Any) -> annotate.WriteResult:
    return load_cohesions(db.store, list(files), **options)


def own_nodes(db: Database) -> int:
    return db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion|PCohesionGraph) RETURN count(n)")[0][0]


@pytest.mark.parametrize("known", [False, True], ids=["a graph unknown so far", "one with a name"])
def test_parts_loaded_in_any_order_leave_what_annotate_writes(known, db, tmp_path):
    if known:
        annotate.write(db.store, p="0.9", graph="friends", **PERSONS)
    files = parts_of(db, tmp_path / "parts", 3, p=["1/3", "0.6"])
    assert own_nodes(db) == (67 if known else 0)  # 64 hubs, run, version and graph: files add none
    random.Random(1).shuffle(files)
    loaded = load(db, *files)
    assert {run.search.p for run in loaded.runs} == {P("1/3"), P("3/5")}
    assert loaded.graph == ("friends" if known else "Person/KNOWS/id")
    from_files, members = db.contents(), {run.run: db.members(run.run) for run in loaded.runs}
    assert all(run.graph_same and run.memberships_same for run in db.verified())
    again = annotate.write(db.store, p=["1/3", "0.6"], graph=loaded.graph, **PERSONS)
    assert [(run.changed, run.added, run.retired) for run in again.runs] == [(True, 0, 0)] * 2  # searched, and the same
    assert not any(run.changed for run in load(db, *files).runs)
    assert members == {run.run: db.members(run.run) for run in loaded.runs}
    db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) DETACH DELETE n")
    annotate.write(db.store, p=["1/3", "0.6"], graph=loaded.graph, **PERSONS)
    assert [row for row in from_files if "9/10" not in row[0]] == db.contents()
    assert members == {run.run: db.members(run.run) for run in loaded.runs}


@pytest.mark.long
def test_more_parts_than_files_may_be_open_are_loaded(db, tmp_path):
    """Two thousand files; a process has often 1,024 at most, and this one has few."""
    (whole,) = parts_of(db, tmp_path, 1)
    keys = np.array(sorted(row[0] for row in db.run("MATCH (v:Person) RETURN v.id")), np.int64)
    file = CohesionFile(whole)
    batch = file.read(0, keys)
    files = []
    for i in range(1, 2_001):
        files.append(tmp_path / f"{i}.parquet")
        head = replace(file.head, part=(i, 2_000))
        with files[-1].open("wb") as part, CohesionWriter(part, head, keys) as writer:
            for position in streaming.part_positions(len(keys), (i, 2_000)).tolist():
                writer.write(batch.part(position, position + 1))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/dev/fd").iterdir())) + 100, limits[1]))
    try:
        load(db, *files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert not load(db, whole).runs[0].changed


def test_the_fingerprint_is_the_graphs_own_where_it_has_a_name(db, tmp_path):
    annotate.write(db.store, p="0.9", graph="friends", **PERSONS)
    (file,) = parts_of(db, tmp_path, 1)
    head = CohesionFile(file).head
    assert (head.graph, head.fingerprint, head.fingerprint_key) == ("friends", db.contents()[0][3], "")


def test_a_name_that_is_asked_for_is_kept_though_nobody_knows_it_yet(db, tmp_path):
    annotate.write(db.store, p="0.9", graph="friends", **PERSONS)
    (file,) = parts_of(db, tmp_path, 1, graph="study")
    assert CohesionFile(file).head.graph == "study"
    assert [run.run for run in load(db, file).runs] == ["study@1/3"]
    assert set(db.versions()) == {"friends@9/10", "study@1/3"}


def test_without_a_name_each_file_has_a_key_of_its_own(db, tmp_path):
    first, second = (CohesionFile(file).head for file in parts_of(db, tmp_path, 2))
    assert (first.graph, second.graph) == ("", "")
    assert first.fingerprint_key != second.fingerprint_key
    assert first.fingerprint != second.fingerprint


def test_only_the_owner_can_read_a_file(db, tmp_path):
    before = os.umask(0)
    try:
        (file,) = parts_of(db, tmp_path, 1)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.name == "cohesions-1-3-smallest.parquet"


def test_a_change_is_loaded_as_a_version_in_which_only_what_differs_is_new(db, tmp_path):
    load(db, *parts_of(db, tmp_path / "a", 2))
    db.run("MATCH (a:Person)-[e:KNOWS]->(b) WITH e ORDER BY a.id, b.id LIMIT 1 DELETE e")
    (run,) = load(db, *parts_of(db, tmp_path / "b", 2)).runs
    assert (run.version, run.changed) == (2, True)
    assert 0 < run.added < 64
    assert not load(db, *sorted((tmp_path / "b").iterdir())).runs[0].changed


# --- What is refused, and leaves nothing


def refused(db: Database, error: type[PcneoError], match: str, *files: Path) -> None:
    before = own_nodes(db), db.contents()
    with pytest.raises(error, match=match):
        load(db, *files)
    assert (own_nodes(db), db.contents()) == before


@pytest.mark.parametrize("known", [False, True])
def test_files_of_another_state_of_the_graph_are_refused(known, db, tmp_path):
    if known:
        annotate.write(db.store, p="0.9", **PERSONS)
    old = parts_of(db, tmp_path / "old", 2)
    db.run("MATCH (a:Person {id: 100}), (b:Person {id: -7}) CREATE (a)-[:KNOWS]->(b)")
    new = parts_of(db, tmp_path / "new", 2)
    refused(db, GraphChangedError, "it is from another graph, or the graph has changed", *old)
    between = "changed between one of these files" if known else "from another graph"
    refused(db, GraphChangedError, between, old[0], new[1])
    load(db, *new)


def test_missing_and_repeated_parts_are_refused(db, tmp_path):
    files = parts_of(db, tmp_path, 3)
    refused(db, ParameterError, r"Missing: part 2/3\.", files[0], files[2])
    refused(db, ParameterError, r"Missing: part 2/3, 3/3\.", files[0])
    refused(db, ParameterError, r"Given more than once: part 2/3\.", *files, files[1])
    refused(db, ParameterError, "at least one file")
    halves = parts_of(db, tmp_path / "halves", 2)
    refused(db, ParameterError, "divisions into 2 and 3 parts", *files, *halves)
    twice = [file for file in (*files, *halves) if CohesionFile(file).cohesions]
    assert len(twice) == 5


def test_as_many_rows_as_vertices_do_not_make_up_for_one_that_is_missing(db, tmp_path):
    """One of two parts twice: 64 rows, of which half are missing."""
    files = parts_of(db, tmp_path, 2)
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(files[0].read_bytes())
    assert CohesionFile(files[0]).cohesions * 2 == 64
    refused(db, ParameterError, "hold some of the same vertices", files[0], copy)


def test_a_file_that_says_of_its_graph_what_is_not_so_is_not_taken_for_complete(db, tmp_path):
    (whole,) = parts_of(db, tmp_path, 1)
    keys = np.array(sorted(row[0] for row in db.run("MATCH (v:Person) RETURN v.id")), np.int64)
    file = CohesionFile(whole)
    short = tmp_path / "short.parquet"
    head = replace(file.head, vertices=len(keys) - 1)
    with short.open("wb") as part, CohesionWriter(part, head, keys) as writer:
        writer.write(file.read(0, keys).part(0, len(keys) - 1))
    refused(db, ParameterError, "these files hold 63 cohesions, but the graph has 64 vertices", short)


def test_files_of_different_searches_are_refused(db, tmp_path):
    files = parts_of(db, tmp_path, 1) + parts_of(db, tmp_path, 1, search="degree")
    refused(db, ParameterError, "searches", *files)


def test_files_of_another_search_are_refused(db, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "REVISION", 0)
    refused(db, ParameterError, "Write them again", *parts_of(db, tmp_path, 1))


def replaced(file: Path, to: Path, place: int, members: list[int], edges: int) -> Path:
    """The file with another cohesion at a place."""
    table = pyarrow.parquet.read_table(file)
    rows = table.to_pylist()
    rows[place] |= {"members": members, "size": len(members), "edges": edges}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, table.schema), to)
    return to


def test_what_is_no_cohesion_of_the_graph_is_refused(db, tmp_path):
    (file,) = parts_of(db, tmp_path, 1)
    rows = pyarrow.parquet.read_table(file).to_pylist()
    pairs = db.run("MATCH (a:Person)-[:KNOWS]->(b) RETURN a.id, b.id")
    graph = naive.graph_of(pairs, [*range(60), 100, 101, 102, -7])
    place = next(i for i, row in enumerate(rows) if len(graph[row["vertex"]]) > 3)
    vertex, members, edges = (rows[place][name] for name in ("vertex", "members", "edges"))
    wrong = tmp_path / "wrong.parquet"
    refused(db, FileFormatError, "fewer neighbours than it needs", replaced(file, wrong, place, [vertex], 0))
    others = [v for v in members if v != vertex]
    refused(db, FileFormatError, "changed", replaced(file, wrong, place, others, edges))
    refused(db, FileFormatError, "edge counts", replaced(file, wrong, place, members, edges + 1))
    everything = sorted(v for v in graph if graph[v])
    count = sum(map(len, graph.values())) // 2
    larger = replaced(file, wrong, place, everything, count)
    with pytest.raises(FileFormatError, match=r"can do without|does not connect"):
        load(db, larger)
    load(db, replaced(file, wrong, place, members, edges))


def planted(db: Database, file: Path) -> tuple[Path, int, list[int]]:
    """The file with another minimal cohesion of a vertex in the place of the one that the search finds."""
    rows = pyarrow.parquet.read_table(file).to_pylist()
    pairs = [(a, b) for a, b in db.run("MATCH (a:Person)-[:KNOWS]->(b) RETURN a.id, b.id")]
    graph = naive.graph_of(pairs, [*range(60), 100, 101, 102, -7])
    place, other = next(
        (place, other)
        for place, row in enumerate(rows)
        for other in rows
        if row["vertex"] in other["members"] and other["members"] != row["members"]
        if naive.is_minimal_p_cohesion(graph, Fraction(1, 3), row["vertex"], set(other["members"]))
    )
    made = replaced(file, file.with_name("planted.parquet"), place, other["members"], other["edges"])
    return made, rows[place]["vertex"], rows[place]["members"]


def test_a_planted_cohesion_is_found_by_a_sample_and_does_not_outlive_the_next_annotate(
    db, tmp_path, pcneo: Callable[..., tuple[int, str, str]]
):
    annotate.write(db.store, p="1/3", **PERSONS)
    (file,) = parts_of(db, tmp_path, 1)
    wrong, vertex, members = planted(db, file)
    run = "Person/KNOWS/id@1/3"
    before = db.members(run)
    with pytest.raises(FileFormatError, match="is not the one that the search finds"):
        load(db, wrong, verify=10**6)
    assert pcneo("load", wrong, "--verify", "-1")[0] == 2
    assert db.members(run) == before
    assert "files" not in pcneo("check")[1]
    assert not load(db, file, verify=5).runs[0].changed
    (loaded,) = load(db, wrong).runs  # though the graph is as it was when it was searched
    assert (loaded.added, loaded.retired) == (1, 1)
    assert db.members(run) != before
    assert [(version.from_files) for version in history(db.store, run=run)] == [False, True]
    (finding,) = check(db.store).findings
    assert "were loaded from files" in finding.what
    assert pcneo("check")[0] == 0
    assert "was loaded from files" in pcneo("runs")[2]
    assert json.loads(pcneo("runs", "--json")[1])[0]["run"]["fromFiles"]
    (again,) = annotate.write(db.store, p="1/3", **PERSONS).runs
    assert (again.version, again.added, again.retired) == (3, 1, 1)
    assert sorted(show(db.store, vertex=vertex, run=run).cohesion.members) == sorted(members)
    assert db.members(run) == before
    assert check(db.store).findings == ()
    assert not annotate.write(db.store, p="1/3", **PERSONS).runs[0].changed


def test_a_search_that_fails_leaves_no_file(db, tmp_path, monkeypatch):
    def fails(*_: Any) -> CohesionBatch:
        raise KeyboardInterrupt

    monkeypatch.setattr("pcneo.graph.files.cohesion_file.CohesionWriter.write", fails)
    with pytest.raises(KeyboardInterrupt):
        parts_of(db, tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("to", "p", "match"),
    [
        ("there.parquet", "1/3", "exists"),
        ("none/x.parquet", "1/3", "cannot be written"),
        ("x.csv", "1/3", r"does not end in \.parquet"),
        ("x.parquet", ["1/3", "1/2"], "need a folder"),
        ("with", "1/3", "exists"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_graph_is_read(to, p, match, db, tmp_path, monkeypatch):
    (tmp_path / "there.parquet").write_bytes(b"")
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "cohesions-1-3-smallest.parquet").write_bytes(b"")
    monkeypatch.setattr(streaming, "make_plan", None)
    with pytest.raises(ParameterError, match=match):
        annotate.to_parquet(db.store, p=p, to=tmp_path / to, **PERSONS)


@pytest.mark.parametrize("part", [(0, 1), (2, 1), (1, 0), (-1, -1)])
def test_parts_that_are_none_are_refused(part, db, tmp_path):
    with pytest.raises(ParameterError, match="A part is I/N"):
        annotate.to_parquet(db.store, p="1/3", to=tmp_path, part=part, **PERSONS)


def test_an_empty_part_is_a_file_without_rows(db, tmp_path):
    empty = annotate.to_parquet(db.store, p="1/3", to=tmp_path, part=(1, 80), **PERSONS).files[0].path
    assert CohesionFile(empty).cohesions == 0
    assert len(streaming.part_positions(64, (10**9, 10**9))) == 16  # however many, a part is found without the others
    load(db, empty, *parts_of(db, tmp_path, 1))
