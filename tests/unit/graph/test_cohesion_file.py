"""Files of cohesions: what others read from them, what we read back, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from pcneo.annotate.streaming import part_positions
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import FileFormatError
from pcneo.graph import graph_from_edges
from pcneo.graph.files import cohesion_file
from pcneo.graph.files.cohesion_file import CohesionFile, CohesionWriter
from pcneo.graph.files.cohesion_file_head import FileHead
from pcneo.search import search_all, search_batches

HEAD = FileHead(
    search=Search("1/3", "density"),
    pcneo="0.0",
    revision=1,
    selection=Selection(("Person",), ("KNOWS", "LIKES"), "id"),
    graph="friends",
    fingerprint="ab" * 32,
    fingerprint_key="",
    vertices=40,
    edges=110,
    part=(1, 1),
)


def made(texts: bool) -> tuple[Graph, naive.Graph]:
    rng = random.Random(5)
    keys: list[Any] = [rng.getrandbits(64) - 2**63 for _ in range(40)]
    if texts:
        keys = [f"ключ {key}\n" for key in keys]
    edges = [tuple(rng.sample(keys[1:], 2)) for _ in range(110)]
    return graph_from_edges(keys, *zip(*edges, strict=True)), naive.graph_of(edges, keys[:1])


def write(path: Path, graph: Graph, batches: Iterator[CohesionBatch], head: FileHead = HEAD) -> Path:
    with path.open("wb") as file, CohesionWriter(file, head, graph.keys) as writer:
        for batch in batches:
            writer.write(batch)
    return path


@pytest.fixture(params=[False, True], ids=["integers", "texts"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Graph, naive.Graph]:
    """A file of every cohesion of a graph, and the graph twice."""
    graph, plain = made(request.param)
    return write(tmp_path / "all.parquet", graph, search_batches(graph, Search("1/3", "density"))), graph, plain


# --- What others read


def by_pandas(path: Path) -> list[dict[str, Any]]:
    import pandas

    rows = pandas.read_parquet(path).to_dict("records")
    return [{**row, "members": row["members"].tolist()} for row in rows]


def by_polars(path: Path) -> list[dict[str, Any]]:
    import polars

    return polars.read_parquet(path).to_dicts()


def by_duckdb(path: Path) -> list[dict[str, Any]]:
    import duckdb

    table = duckdb.read_parquet(str(path))
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb])
def test_other_programs_read_what_the_twin_finds(read: Callable[[Path], list[dict[str, Any]]], both):
    path, _, plain = both
    expected = []
    for vertex in sorted(plain):
        members = naive.minimal_p_cohesion(plain, Fraction(1, 3), vertex, "density")
        size, edges = len(members), sum(len(plain[v] & members) for v in members) // 2
        density = 2 * edges / (size * (size - 1)) if size > 1 else 0.0
        row = {"vertex": vertex, "size": size, "edges": edges, "density": pytest.approx(density, rel=1e-15)}
        expected.append({**row, "proven": False, "best": False, "members": sorted(members)})
    assert read(path) == expected


def test_duckdb_reads_what_a_file_is_of(both):
    import duckdb

    rows = duckdb.execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(both[0])]).fetchall()
    said = {key.decode(): value.decode() for key, value in rows if key.startswith(b"pcneo.")}
    assert len(said.pop("pcneo.checksum")) == 64
    assert said == {
        "pcneo.format": "2",
        "pcneo.p": "1/3",
        "pcneo.search": "density",
        "pcneo.effort": "1",
        "pcneo.version": "0.0",
        "pcneo.revision": "1",
        "pcneo.node_labels": '["Person"]',
        "pcneo.relationship_types": '["KNOWS", "LIKES"]',
        "pcneo.key": "id",
        "pcneo.graph": "friends",
        "pcneo.fingerprint": "ab" * 32,
        "pcneo.fingerprint_key": "",
        "pcneo.vertices": "40",
        "pcneo.edges": "110",
        "pcneo.part": "1/1",
    }


# --- What we read back


def all_of(path: Path, graph: Graph) -> list[Any]:
    file = CohesionFile(path)
    groups = list(file.row_groups(graph.keys))
    return [c for group in groups for c in file.read(group.number, graph.keys).cohesions()]


def test_what_is_read_back_is_what_was_written(both):
    path, graph, _ = both
    assert CohesionFile(path).head == HEAD
    assert all_of(path, graph) == list(search_all(graph, "1/3", "density").cohesions())


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("memberships", [1, 25, 10**6])
def test_parts_together_are_the_whole_and_no_row_groups_overlap(parts, memberships, tmp_path, monkeypatch):
    monkeypatch.setattr(cohesion_file, "ROW_GROUP_MEMBERSHIPS", memberships)
    graph, _ = made(texts=False)
    cohesions = {}
    for i in range(1, parts + 1):
        batches = search_batches(graph, Search("1/3", "density"), vertices=part_positions(40, (i, parts)))
        head = replace(HEAD, part=(i, parts))
        path = write(tmp_path / f"{i}.parquet", graph, batches, head)
        for group in CohesionFile(path).row_groups(graph.keys):
            cohesions[group.first, group.last] = list(group.file.read(group.number, graph.keys).cohesions())
    ends = sorted(cohesions)
    assert all(last < first for (_, last), (first, _) in itertools.pairwise(ends))
    assert [c for end in ends for c in cohesions[end]] == list(search_all(graph, "1/3", "density").cohesions())


@pytest.mark.parametrize("part", [(0, 0), (0, 1), (2, 1), (-1, -1)])
def test_a_file_that_is_part_of_nothing_is_refused(part, tmp_path):
    path = write(tmp_path / "a.parquet", made(False)[0], iter(()), replace(HEAD, part=part))
    with pytest.raises(FileFormatError, match="damaged"):
        CohesionFile(path)


@pytest.mark.parametrize(("vertices", "parts"), [(0, 3), (1, 5), (100, 1), (1_000, 7), (12_345, 16)])
def test_parts_share_the_vertices_out_evenly_and_each_once(vertices, parts):
    shares = [part_positions(vertices, (i, parts)) for i in range(1, parts + 1)]
    assert sorted(np.concatenate(shares).tolist()) == list(range(vertices))
    assert all((np.diff(share) > 0).all() for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 16


def test_a_row_group_holds_no_more_than_it_may_and_waits_for_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(cohesion_file, "ROW_GROUP_MEMBERSHIPS", 40)
    graph, _ = made(texts=False)
    batches = [search_all(graph, "1/3", "density", vertices=[v]) for v in range(40)]
    file = pyarrow.parquet.ParquetFile(write(tmp_path / "x.parquet", graph, iter(batches)))
    members = [sum(file.read_row_group(i).column("size").to_pylist()) for i in range(file.num_row_groups)]
    assert len(members) > 3
    assert all(size >= 40 for size in members[:-1])
    assert max(members) < 40 + max(len(batch.members) for batch in batches)


@pytest.mark.long
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Forty million memberships, 160 MB as the search gives them and 320 as keys, within 64 MB."""
    n, size = 1_000_000, 40
    keys = np.arange(n) * 3
    graph = Graph(keys, np.zeros(n + 1, np.int64), np.empty(0, np.uint32))

    def batches() -> Iterator[CohesionBatch]:
        for start in range(0, n, 5_000):
            vertices = np.arange(start, start + 5_000)
            members = (vertices[:, None] + np.arange(size)).clip(max=n - 1).astype(np.uint32).ravel()
            offsets = np.arange(5_001) * size
            nothing = np.zeros(5_000, np.bool_)
            yield CohesionBatch(HEAD.search, vertices, offsets, members, vertices, keys, nothing, nothing)
            assert pyarrow.total_allocated_bytes() - before < 64 * 2**20

    before = pyarrow.total_allocated_bytes() + keys.nbytes
    path = write(tmp_path / "large.parquet", graph, batches())
    file = CohesionFile(path)
    assert file.cohesions == n
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 40


@pytest.mark.long
@pytest.mark.parametrize("distinct", [2_000, 200_000], ids=["in a dictionary", "more than a dictionary holds"])
def test_texts_are_read_about_as_fast_as_integers(distinct, tmp_path):
    """A million members, of whom many are in several cohesions: looking each up each time took 12 times as long."""
    rng = np.random.default_rng(4)
    members = np.sort(rng.integers(0, distinct, (20_000, 50)), axis=1).astype(np.uint32)
    members[:, 1:] += np.arange(1, 50, dtype=np.uint32)  # ascending, each once
    n = int(members.max()) + 1
    vertices, offsets = np.arange(20_000), np.arange(20_001) * 50
    n = max(n, 20_000)
    seconds = {}
    for texts in (False, True):
        keys = np.array([f"person-{v:09}" for v in range(n)], object) if texts else np.arange(n)
        graph = Graph(keys, np.zeros(n + 1, np.int64), np.empty(0, np.uint32))
        nothing = np.zeros(20_000, np.bool_)
        batch = CohesionBatch(HEAD.search, vertices, offsets, members.ravel(), vertices, keys, nothing, nothing)
        file = CohesionFile(write(tmp_path / f"{texts}.parquet", graph, iter([batch])))
        assert np.array_equal(file.read(0, keys).members, batch.members)
        started = time.process_time()
        file.read(0, keys)
        seconds[texts] = time.process_time() - started
    if distinct == 2_000:
        assert seconds[True] < 4 * seconds[False]


def test_a_file_is_open_only_while_it_is_read_and_must_stay_the_same(both, tmp_path):
    path, graph, _ = both
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(path.read_bytes())
    before = len(list(Path("/dev/fd").iterdir()))
    file = CohesionFile(copy)
    file.row_groups(graph.keys)
    file.read(0, graph.keys)
    assert len(list(Path("/dev/fd").iterdir())) == before
    copy.unlink()
    copy.write_bytes(path.read_bytes())
    with pytest.raises(FileFormatError, match="has changed"):
        file.read(0, graph.keys)


# --- What is refused


def rewritten(path: Path, to: Path, **columns: Callable[[list[Any]], list[Any]]) -> Path:
    table = pyarrow.parquet.read_table(path)
    for name, change in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(
            place, table.schema.field(name), pyarrow.array(change(table[name].to_pylist()), table[name].type)
        )
    pyarrow.parquet.write_table(table, to)
    return to


@pytest.mark.parametrize(
    "changed",
    [
        {"size": lambda sizes: [sizes[0] + 1, *sizes[1:]]},
        {"members": lambda members: [members[0][:-1], *members[1:]]},
        {"members": lambda members: [*members[:-1], members[-1][::-1]]},
        {"members": lambda members: [*members[:-1], [members[-1][0]] * len(members[-1])]},
        {"vertex": lambda vertices: vertices[::-1]},
        {"vertex": lambda vertices: [vertices[0], vertices[0], *vertices[2:]]},
    ],
    ids=["a size", "a member gone", "members turned round", "a member repeated", "vertices turned round", "twice"],
)
def test_numbers_that_do_not_fit_each_other_are_refused(changed, both, tmp_path):
    path, graph, _ = both
    wrong = rewritten(path, tmp_path / "wrong.parquet", **changed)
    with pytest.raises(FileFormatError, match=r"wrong\.parquet"):
        all_of(wrong, graph)


@pytest.mark.parametrize("column", ["vertex", "members"])
def test_a_vertex_that_the_graph_does_not_have_is_refused(column, both):
    path, graph, _ = both
    keys = graph.keys[:-1] if column == "vertex" else np.concatenate([graph.keys[:20], graph.keys[21:]])
    with pytest.raises(FileFormatError, match="does not have"):
        all_of(path, replace(graph, keys=keys))


def test_a_file_of_texts_is_refused_for_a_graph_of_integers(both):
    path, graph, _ = both
    other, _ = made(texts=graph.keys.dtype != object)
    with pytest.raises(FileFormatError, match="does not have"):
        all_of(path, other)


@pytest.mark.parametrize(
    "name", ["format", "p", "search", "effort", "revision", "node_labels", "key", "fingerprint", "vertices", "part"]
)
def test_a_head_that_lacks_something_is_refused(name, both, tmp_path):
    table = pyarrow.parquet.read_table(both[0])
    metadata = {k: v for k, v in (table.schema.metadata or {}).items() if k != b"pcneo." + name.encode()}
    assert len(metadata) == 15
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "x.parquet")
    with pytest.raises(FileFormatError, match="is not a file of cohesions"):
        CohesionFile(tmp_path / "x.parquet")


def test_other_columns_are_refused(both, tmp_path):
    table = pyarrow.parquet.read_table(both[0])
    pyarrow.parquet.write_table(table.drop_columns(["edges"]), tmp_path / "x.parquet")
    with pytest.raises(FileFormatError, match="columns"):
        CohesionFile(tmp_path / "x.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1", json.dumps({"a": 1}).encode(), b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_what_is_no_parquet_is_refused(content, tmp_path):
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(FileFormatError, match="is not a file of cohesions"):
        CohesionFile(tmp_path / "x.parquet")


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"none\.parquet cannot be read"):
        CohesionFile(tmp_path / "none.parquet")
    with pytest.raises(FileFormatError, match=r"it is a folder; name the files in it: .*/\*\.parquet"):
        CohesionFile(tmp_path)


def test_a_flipped_byte_is_refused_or_changes_nothing_that_is_read(both, tmp_path):
    path, graph, _ = both
    content, refused, right = path.read_bytes(), 0, all_of(path, graph)
    for place in range(0, len(content), max(1, len(content) // 150)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "x.parquet").write_bytes(damaged)
        try:
            assert all_of(tmp_path / "x.parquet", graph) == right
        except FileFormatError:
            refused += 1
    assert refused > 50
