"""What is written about vertices is read back as it was, whatever their keys: a function for each file."""

from __future__ import annotations

import csv
import io
import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np

import pcneo
from pcneo.basics.model import Graph, Key, KeyArray
from pcneo.basics.pair_answers import PairAnswers
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.cli.streams import csv_row
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.protected import Groups, Hull, protect
from pcneo.errors import GraphError
from pcneo.graph import graph_from_edges
from pcneo.graph.files.cohesion_file import CohesionFile, CohesionWriter
from pcneo.graph.files.cohesion_file_head import FileHead
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.release.answers_file import AnswersFile, read_pair_answers, write_answers, write_pair_answers
from pcneo.release.outputs import check_keys, public_record, public_text, write_public
from pcneo.search import search_all

__all__ = [
    "answers_of_critical",
    "answers_of_respond",
    "cohesions",
    "public_csv",
    "public_json",
    "ring",
    "rows_of_a_stream",
]

HEAD = {"mechanism": "respond", "epsilon": "1/3"}


def ring(keys: list[str]) -> Graph:
    """A graph of these keys, each with the two after it."""
    n = len(keys)
    edges = [(keys[i], keys[(i + step) % n]) for i in range(n) for step in (1, 2)]
    return graph_from_edges(keys, *zip(*edges, strict=True))


def _array(keys: list[str]) -> KeyArray:
    return np.array(keys, object)


def public_json(keys: list[str], folder: Path) -> Path:
    return _public(keys, folder / "counts.json")


def public_csv(keys: list[str], folder: Path) -> Path:
    return _public([key for key in keys if not _is_refused(key)], folder / "counts.csv")


def _is_refused(key: str) -> bool:
    try:
        check_keys([key], ".csv")
    except GraphError:
        return True
    return False


def _public(keys: list[str], path: Path) -> Path:
    counts: dict[Key, int] = {key: i - 3 for i, key in enumerate(keys)}
    record = public_record(MECHANISMS["edge"](k=3, epsilon="1", n=len(keys)), None, Fraction(2), counts)
    write_public(path, public_text(record, {"key": keys, "count": list(counts.values())}, path.suffix))
    assert pcneo.read_release(path).counts == counts
    assert pcneo.read_release(path).mechanism == "edge"
    return path


def answers_of_respond(keys: list[str], folder: Path) -> None:
    x, y = np.array(list(itertools.combinations(range(len(keys)), 2))[::3]).T
    answers = AnsweredPairs.of_parts(len(keys), [np.column_stack((x, y))])
    write_answers(folder / "respond.answers.gz", _array(keys), answers, HEAD)
    file = AnswersFile.open(folder / "respond.answers.gz")
    assert file.record == HEAD
    assert np.array_equal(file.answers(_array(keys)).rows, answers.rows)


def answers_of_critical(keys: list[str], folder: Path) -> None:
    """A key `a\\n# b` made answers that had been paid for unreadable."""
    whole = Groups(np.array([0, len(keys)]), np.arange(len(keys), dtype=np.uint32))
    hull = Hull(protect(ring(keys), whole, concurrency=1), concurrency=1)
    answers = PairAnswers(np.arange(hull.pair_count) % 3 == 0)
    path = folder / "critical.answers.gz"
    write_pair_answers(path, _array(keys), hull, answers, {"mechanism": "critical"}, 0o600)
    assert read_pair_answers(path, _array(keys), hull).yes.tolist() == answers.yes.tolist()


def cohesions(keys: list[str], folder: Path) -> None:
    graph = ring(keys)
    selection = Selection((keys[0] or "A",), (keys[1] or "B",), keys[-1])
    head = FileHead(Search("1/3"), "0", 1, selection, keys[2], "", "", len(keys), graph.edge_count, (1, 1))
    found = search_all(graph, "1/3")
    with (folder / "a.parquet").open("wb") as out, CohesionWriter(out, head, graph.keys) as writer:
        writer.write(found)
    file = CohesionFile(folder / "a.parquet")
    assert (file.head.selection, file.head.graph) == (selection, keys[2])
    groups = file.row_groups(graph.keys)
    read = itertools.chain.from_iterable(file.read(group.number, graph.keys).cohesions() for group in groups)
    assert list(read) == list(found.cohesions())


def rows_of_a_stream(keys: list[str], folder: Path) -> None:
    path = folder / "rows.csv"
    path.write_bytes("".join(csv_row([key, 1]) + "\r\n" for key in keys).encode())
    cells = [key for key, _ in csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert [cell.removeprefix("'") for cell in cells] == keys
