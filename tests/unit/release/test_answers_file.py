"""Files of answers: what is written reads back as the same answers, and what is not such a file is refused."""

from __future__ import annotations

import gzip
import os
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from requested import requested

from pcneo.basics.pair_answers import PairAnswers
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.protected import Groups, Hull, protect
from pcneo.errors import FileFormatError, GraphError, NotFoundError, ParameterError
from pcneo.graph import graph_from_edges, keys_hash
from pcneo.privacy.mechanisms import MECHANISMS, Respond
from pcneo.release.answers_file import (
    AnswersFile,
    answers_hash,
    read_pair_answers,
    write_answers,
    write_pair_answers,
)
from pcneo.store.ledger_records import ReleaseRecord

RECORD = {"mechanism": "respond", "epsilon": "1/3", "promise": "Each pair."}
KEYS = {
    "integers": np.array([-7, 3, 5, 2**62]),
    "texts": np.array(["# mechanism: none", "1", 'a "b", c', "two\nlines"], object),
}


def answers(*pairs: tuple[int, int], n: int = 4) -> AnsweredPairs:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return AnsweredPairs.of_parts(n, [ends])


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("pairs", [(), ((0, 1),), ((0, 2), (1, 3), (2, 3))])
def test_answers_read_back(tmp_path: Path, keys: np.ndarray, pairs: tuple[tuple[int, int], ...]) -> None:
    path = tmp_path / "a.answers.gz"
    write_answers(path, keys, answers(*pairs), RECORD)
    file = AnswersFile.open(path)
    assert file.record == RECORD
    assert (file.mechanism, file.epsilon) == ("respond", Fraction(1, 3))
    assert np.array_equal(file.answers(keys).rows, answers(*pairs).rows)


def test_all_pairs_of_six_hundred_vertices_read_back_however_long_that_makes_the_file(tmp_path: Path) -> None:
    path, keys = tmp_path / "a.answers.gz", np.arange(100, 700)
    complete = AnsweredPairs.of_parts(600, [np.column_stack(np.triu_indices(600, 1))])
    write_answers(path, keys, complete, RECORD)
    assert np.array_equal(AnswersFile.open(path).answers(keys).rows, complete.rows)


def test_the_ledger_knows_of_which_release_and_graph_answers_are_by_their_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.answers.gz"
    write_answers(path, KEYS["integers"], answers((0, 1)), {**RECORD, "answersHash": "its"})
    file = AnswersFile.open(path)
    others = recorded("a", answers_hash=None), recorded("b", answers_hash="another's")
    known = recorded("c", answers_hash="its")
    assert file.release_of([*others, known]) is known
    assert (file.graph_of([*others, known]), file.graph_of(others)) == ("c", None)
    with pytest.raises(NotFoundError, match="no release with the answers in"):
        file.release_of(others)


def recorded(graph: str, **values: Any) -> ReleaseRecord:
    nothing = dict.fromkeys(field.name for field in fields(ReleaseRecord))
    return ReleaseRecord(**{**nothing, **values, "graph": graph})  # pyright: ignore[reportArgumentType]


def test_the_hash_knows_keys_and_answers() -> None:
    digest = keys_hash(KEYS["integers"])
    hashes = {
        answers_hash(digest, answers((0, 1))),
        answers_hash(digest, answers((0, 2))),
        answers_hash(digest, answers((1, 2))),
        answers_hash(digest, answers((0, 1), (0, 2))),
        answers_hash(digest, answers((0, 1), (1, 2))),
        answers_hash(keys_hash(KEYS["texts"]), answers((0, 1))),
        answers_hash(digest, answers((0, 1), n=5)),
    }
    assert len(hashes) == 7
    assert answers_hash(digest, answers((1, 0))) in hashes
    assert len({keys_hash(np.array(keys)) for keys in ([1], [1, 2], [2], [12])}) == 4


HEAD = b"# mechanism: respond\n# epsilon: 1/3\n"


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"# mechanism: respond\n1 2\n", FileFormatError, "does not state its epsilon"),
        (b"", FileFormatError, "does not state its"),
        (b"# mechanism: respond\n# epsilon: much\n", ParameterError, "epsilon"),
        *(
            (b"# mechanism: %b\n# epsilon: 1\n-7 3\n" % name.encode(), FileFormatError, f"{name}, which draws none")
            for name, kind in MECHANISMS.items()
            if kind.adds_noise
        ),
        (HEAD + b"-7 3\n5\n", FileFormatError, "cannot be read as answers"),
        (HEAD + b"-7 x\n", FileFormatError, "cannot be read as answers"),
        (HEAD + b"3 3\n", FileFormatError, "with itself"),
        (HEAD + b"3 -7\n", FileFormatError, "are not in ascending order"),
        (HEAD + b"3 5\n-7 3\n", FileFormatError, "are not in ascending order"),
        (HEAD + b"-7 3\n-7 3\n", FileFormatError, "are not in ascending order"),
        (HEAD + b"-7 99999999999999999999\n", FileFormatError, "cannot be read as answers"),
        (HEAD + b"-7 " + b"9" * 5_000 + b"\n", FileFormatError, "cannot be read as answers"),
        (b"# mechanism: respond\n# epsilon: 1e999999999\n", ParameterError, "more than 300 digits"),
        (HEAD + b"-7 4\n", GraphError, "vertex 4"),
        (HEAD + b"-7 9223372036854775807\n", GraphError, "vertex 9223372036854775807"),
    ],
)
def test_what_are_no_answers_of_this_graph_is_refused(
    tmp_path: Path, content: bytes, error: type[Exception], says: str
) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(error, match=says):
        AnswersFile.open(path).answers(KEYS["integers"])


@pytest.mark.parametrize(
    ("keys", "lines", "says"),
    [
        ("integers", b"-7 3\n0,1\n", "line 4: .*two whole numbers with a space between them are expected, not '0,1'"),
        ("integers", b"\n-7 3\n5\n3 5\n", "line 5: .*two whole numbers .*, not '5'"),
        ("integers", b"-7 99999999999999999999\n", "line 3: .*two whole numbers .*, not '-7 99999999999999999999'"),
        ("integers", b"-7 " + b"9" * 5_000 + b"\n", "line 3: .*two whole numbers .*, not '-7 9{57}…'"),
        ("texts", b'"1","two\nlines"\n"1"\n', "line 5: .*two keys in quotes with a comma between them .*, not '1'"),
        ("texts", b'"1","1","1"\n', "line 3: .*two keys in quotes .*, not '1,1,1'"),
        ("texts", b"1 2\n", "line 3: .*two keys in quotes .*, not '1 2'"),
    ],
)
def test_a_line_that_is_no_pair_is_named_with_what_was_expected(
    tmp_path: Path, keys: str, lines: bytes, says: str
) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(HEAD + lines))
    with pytest.raises(FileFormatError, match=says):
        AnswersFile.open(path).answers(KEYS[keys])


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(HEAD + b"-7 3\n")[:-4]], ids=["text", "cut"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(FileFormatError, match="gzip"):
        AnswersFile.open(tmp_path / "a.gz").answers(KEYS["integers"])
    with pytest.raises(FileFormatError, match="no such file"):
        AnswersFile.open(tmp_path / "missing.gz")


def test_a_request_takes_mechanism_and_epsilon_of_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.answers.gz"
    write_answers(path, KEYS["integers"], answers(), RECORD)
    request = requested(to="b.csv", answers_from=path)
    assert request.mechanism == Respond(epsilon="1/3")
    request.check_answers_from()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mechanism": "edge"}, r"leave mechanism out \(on the command line --mechanism\)"),
        ({"epsilon": "1/2"}, r"leave epsilon out \(on the command line -e\)"),
    ]
    for given, says in wrong:
        with pytest.raises(ParameterError, match=says):
            requested(to="b.csv", answers_from=path, **given).check_answers_from()


# --- Answers of `critical`

EDGES = [(0, 1), (1, 2), (2, 3)]
GRAPH = graph_from_edges(range(4), *zip(*EDGES, strict=True))
GROUPS = Groups(np.array([0, 3]), np.array([0, 1, 2], np.uint32))
HULL = Hull(protect(GRAPH, GROUPS, concurrency=1), concurrency=1)
ANSWERS = PairAnswers(np.array([True, False, True]))
BODY = b"0 1 1\n0 2 0\n1 2 1\n"


def read_pairs(path: Path) -> PairAnswers:
    return read_pair_answers(path, GRAPH.keys, HULL)


def packed(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "some.answers.gz"
    path.write_bytes(gzip.compress(content))
    return path


def test_answers_about_pairs_inside_groups_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.answers.gz"
    write_pair_answers(path, GRAPH.keys, HULL, ANSWERS, {"mechanism": "critical"}, 0o600)
    assert gzip.decompress(path.read_bytes()) == b"# mechanism: critical\n" + BODY
    assert read_pairs(path).yes.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "body", [BODY[:-6], BODY.replace(b"0 2", b"0 3"), BODY + b"2 3 1\n", BODY.replace(b"1\n", b"2\n")]
)
def test_answers_about_other_pairs_are_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(GraphError, match=r"does not match the pairs inside the groups|has answers about more pairs"):
        read_pairs(packed(tmp_path, body))


@pytest.mark.long
def test_first_lines_without_end_and_too_many_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="holds more than 1 MiB"):
        read_pairs(packed(tmp_path, b"# \n" * 2**20))
    with pytest.raises((FileFormatError, GraphError), match=r"holds more than|about more pairs"):
        read_pairs(packed(tmp_path, BODY + b"0" * 2**22))


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)
    with pytest.raises(FileFormatError, match="not a regular file"):
        read_pairs(pipe)
