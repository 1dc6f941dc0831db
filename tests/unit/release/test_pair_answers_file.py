"""Answers of `critical` in files: what is written is read back, and a file from outside is read within bounds."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from pcneo.counting.protected import Groups, Hull, PairAnswers, protect
from pcneo.errors import FileFormatError, GraphError
from pcneo.graph import graph_from_edges
from pcneo.release.pair_answers_file import read_pair_answers, write_pair_answers

EDGES = [(0, 1), (1, 2), (2, 3)]
GRAPH = graph_from_edges(range(4), *zip(*EDGES, strict=True))
GROUPS = Groups(np.array([0, 3]), np.array([0, 1, 2], np.uint32))
HULL = Hull(protect(GRAPH, GROUPS, concurrency=1), concurrency=1)
ANSWERS = PairAnswers(np.array([True, False, True]))
BODY = b"0 1 1\n0 2 0\n1 2 1\n"


def read(path: Path) -> PairAnswers:
    return read_pair_answers(path, GRAPH.keys, HULL)


def packed(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "some.answers.gz"
    path.write_bytes(gzip.compress(content))
    return path


def test_answers_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "a.answers.gz"
    write_pair_answers(path, GRAPH.keys, HULL, ANSWERS, {"mechanism": "critical"}, 0o600)
    assert gzip.decompress(path.read_bytes()) == b"# mechanism: critical\n" + BODY
    assert read(path).yes.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "body", [BODY[:-6], BODY.replace(b"0 2", b"0 3"), BODY + b"2 3 1\n", BODY.replace(b"1\n", b"2\n")]
)
def test_answers_about_other_pairs_are_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(GraphError, match="answers about"):
        read(packed(tmp_path, body))


@pytest.mark.long
def test_first_lines_without_end_and_too_many_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="holds more than 1 MiB"):
        read(packed(tmp_path, b"# \n" * 2**20))
    with pytest.raises((FileFormatError, GraphError), match=r"holds more than|about more pairs"):
        read(packed(tmp_path, BODY + b"0" * 2**22))


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)
    with pytest.raises(FileFormatError, match="not a regular file"):
        read(pipe)
