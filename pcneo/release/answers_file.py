"""Files of answers, compressed. Lines `# name: value` come first; then a line for each pair, in ascending order.

A file of `respond` has two keys for each pair that was answered yes, the smaller key first. A file of `critical` has
them for every pair inside groups, and 1 for yes or 0 for no. Integer keys are separated by a space; text keys are
quoted and separated by a comma, as in an edge list.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.bounded_file import bad_file, opened
from pcneo.basics.model import AnyPath, KeyArray
from pcneo.basics.pair_answers import PairAnswers
from pcneo.basics.visible import visible
from pcneo.basics.whole_file import whole_file
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.protected import Hull, pair_blocks
from pcneo.errors import FileFormatError, GraphError, NotFoundError
from pcneo.graph.arrays import places_in
from pcneo.privacy.exact import positive
from pcneo.privacy.facts import Answers
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.store.ledger_records import ReleaseRecord

_LEVEL = 3  # of gzip: half the time of the usual level, a tenth larger
_BLOCK = 2**20  # bytes of lines that are read together
_LONGEST_HEAD = 2**20
_SHOWN = 60  # characters of a line that is refused

Positions = NDArray[np.int64]


def answers_hash(keys_hash: str, answers: Answers) -> str:
    """Return the hexadecimal SHA-256 of the keys' hash and the answers.

    For each vertex, by position: how many yes-neighbours come after it (64 bits), and their positions, ascending (32
    bits); all unsigned and little-endian.
    """
    digest = hashlib.sha256(bytes.fromhex(keys_hash))
    for _, ys in answers.upper_rows():
        digest.update(len(ys).to_bytes(8, "little"))
        digest.update(ys.astype("<u4").tobytes())
    return digest.hexdigest()


def write_answers(
    path: Path, keys: KeyArray, answers: Answers, record: Mapping[str, object], mode: int = 0o666
) -> None:
    """Write a new file whole or not at all."""
    texts, between = _as_written(keys)
    firsts = [f"{text}{between}".encode() for text in texts]
    seconds = [f"{text}\n".encode() for text in texts]
    with _begun(path, record, mode) as packed:
        for x, ys in answers.upper_rows():
            if len(ys):
                first = firsts[x]
                packed.write(first + first.join(map(seconds.__getitem__, ys.tolist())))


@contextmanager
def _begun(path: Path, record: Mapping[str, object], mode: int) -> Iterator[gzip.GzipFile]:
    """Write a new file of answers whole or not at all; its first lines are there already."""
    with whole_file(path, replace=False, mode=mode) as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for name, value in record.items():
            packed.write(f"# {name}: {value}\n".encode())
        yield packed


def _as_written(keys: KeyArray) -> tuple[list[str], str]:
    """Return the text of each key, as CSV quotes it unless it is an integer, and what stands between two keys."""
    if keys.dtype != object:
        return list(map(str, keys.tolist())), " "
    return ['"' + key.replace('"', '""') + '"' for key in keys.tolist()], ","


def _most_bytes(keys: KeyArray) -> int:
    """Return how many bytes a key can take at most: in quotes, and twice as long if it is all quotes."""
    return 2 * max((len(str(key).encode()) for key in keys.tolist()), default=0) + 2


@dataclass(frozen=True)
class AnswersFile:
    """A file of answers whose first lines have been read; only the ledger can tell whether they are true.

    Attributes:
        path: the file.
        record: the values in its first lines, by name.
        head: how many these lines are.
    """

    path: Path
    record: Mapping[str, str] = field(repr=False, compare=False)
    head: int = field(repr=False, compare=False)

    @classmethod
    def open(cls, path: AnyPath) -> AnswersFile:
        """Read the first lines."""
        path = Path(path)
        if path.suffix.lower() in (".csv", ".json") and path.exists():
            raise FileFormatError(f"{path} holds counts, not answers; give a file NAME.answers.gz.", path=path)
        with opened(path, 4 * _LONGEST_HEAD) as file:
            lines = [line[2:].decode("utf-8", "replace").rstrip("\n") for line in _head(path, file)]
        record = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        answers = cls(path, record, len(lines))
        _ = answers.epsilon
        kind = MECHANISMS.get(answers.mechanism)
        if kind is not None and kind.adds_noise:  # a release of it would draw noise, and spend its ε
            raise FileFormatError(
                f"{path} is not a file of answers: it states the mechanism {kind.name}, which draws none.", path=path
            )
        return answers

    @property
    def mechanism(self) -> str:
        """The mechanism that drew the answers."""
        return self._value("mechanism")

    @cached_property
    def epsilon(self) -> Fraction:
        """ε of the answers, according to the file."""
        return positive(self._value("epsilon"), "epsilon")

    def graph_of(self, known: Sequence[ReleaseRecord]) -> str | None:
        """Return the name of the graph that these answers belong to by the hash in the file, which may be false."""
        said = self.record.get("answersHash")
        return next((release.graph for release in known if said is not None and release.answers_hash == said), None)

    def release_of(self, known: Sequence[ReleaseRecord]) -> ReleaseRecord:
        """Return the release that drew these answers by the hash in the file, which may be false."""
        said = self._value("answersHash")
        for release in known:
            if release.answers_hash == said:
                return release
        raise NotFoundError(
            f"The ledger has no release with the answers in {self.path}.", what="answers", name=str(self.path)
        )

    def _value(self, name: str) -> str:
        if name not in self.record:
            raise FileFormatError(
                f"{self.path} is not a file of answers: it does not state its {name}.", path=self.path
            )
        return self.record[name]

    def answers(self, keys: KeyArray) -> AnsweredPairs:
        """Read the pairs, using only as much memory as the answers themselves take, whatever the file holds."""
        read = self._integer_pairs if keys.dtype != object else self._text_pairs
        with _opened_behind_head(self.path, len(keys) ** 2 * (_most_bytes(keys) + 1)) as file:
            try:
                return AnsweredPairs.of_parts(len(keys), self._ascending(read(file, keys), len(keys)))
            except (ValueError, OverflowError, csv.Error) as error:
                raise bad_file(self.path, f"it cannot be read as answers: {error}") from error

    def _ascending(self, parts: Iterable[Positions], n: int) -> Iterator[Positions]:
        """Pass the pairs on; each must come after the one before, so a file cannot hold more pairs than there are."""
        last = -1
        for pairs in parts:
            x, y = pairs[:, 0], pairs[:, 1]
            if (x == y).any():
                raise ValueError("it pairs a vertex with itself")
            order = np.concatenate(([last], x * n + y))
            if (x > y).any() or (np.diff(order) <= 0).any():
                raise ValueError("its pairs are not in ascending order, the smaller key first")
            last = order[-1]
            yield pairs

    def _integer_pairs(self, file: io.BufferedReader, keys: KeyArray) -> Iterator[Positions]:
        before = self.head
        while lines := file.readlines(_BLOCK):
            try:
                numbers = np.array(b"".join(lines).split(), np.int64).reshape(-1, 2)
            except (ValueError, OverflowError):
                at, line = next((at, line) for at, line in enumerate(lines, before + 1) if not _has_two_numbers(line))
                what = "two whole numbers with a space between them"
                raise self._bad_line(at, what, line.decode("utf-8", "replace").rstrip("\n")) from None
            positions = places_in(keys, numbers)
            if (missing := positions < 0).any():
                raise self._unknown(int(numbers[missing][0]))
            before += len(lines)
            yield positions

    def _text_pairs(self, file: io.BufferedReader, keys: KeyArray) -> Iterator[Positions]:
        place = {key: i for i, key in enumerate(keys.tolist())}
        rows = self._rows_of_two(io.TextIOWrapper(file, "utf-8", newline=""))
        while some := list(islice(rows, _BLOCK // 16)):
            pairs = [[place.get(key, key) for key in row] for row in some]
            for unknown in (key for row in pairs for key in row if isinstance(key, str)):
                raise self._unknown(unknown)
            yield np.array(pairs, np.int64)

    def _rows_of_two(self, file: io.TextIOWrapper) -> Iterator[list[str]]:
        rows = csv.reader(file, strict=True)
        for row in rows:
            if len(row) != 2:
                what = "two keys in quotes with a comma between them"
                raise self._bad_line(self.head + rows.line_num, what, ",".join(row))
            yield row

    def _bad_line(self, line: int, expected: str, found: str) -> FileFormatError:
        shown = repr(found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…")
        return bad_file(self.path, f"it cannot be read as answers: {expected} are expected, not {shown}.", line)

    def _unknown(self, key: object) -> GraphError:
        return GraphError(
            f"{self.path} has answers about vertex {key!r}, which is not in the graph: they are for other vertices.",
            key=key,
        )


def _has_two_numbers(line: bytes) -> bool:
    """Whether a line has two numbers, or is empty, which does no harm."""
    try:
        return len(np.array(line.split(), np.int64)) in (0, 2)
    except (ValueError, OverflowError):
        return False


@contextmanager
def _opened_behind_head(path: Path, most: int) -> Iterator[io.BufferedReader]:
    """Open a file of answers after its first lines, to read at most `most` bytes."""
    with opened(path, _LONGEST_HEAD + most) as file:
        for _ in _head(path, file):
            pass
        yield file


def _head(path: Path, file: io.BufferedReader) -> Iterator[bytes]:
    """Yield the first lines, which begin with `# `, and leave the file positioned after them."""
    length = 0
    while file.peek(2).startswith(b"# "):
        line = file.readline(_LONGEST_HEAD)
        length += len(line)
        if length >= _LONGEST_HEAD:
            raise bad_file(path, "it is not a file of answers: its first lines have no end")
        yield line


# --- Answers of `critical`: which pairs there are follows from the groups and the vertices, so a reader knows how each
# line must begin


def pair_answers_hash(keys_hash: str, membership_hash: str, answers: PairAnswers) -> str:
    """Return the hexadecimal SHA-256 of the keys' hash, the membership hash and the answers, a bit for each pair."""
    digest = hashlib.sha256(bytes.fromhex(keys_hash) + bytes.fromhex(membership_hash))
    digest.update(np.packbits(answers.yes).tobytes())
    return digest.hexdigest()


def write_pair_answers(
    path: Path, keys: KeyArray, graph: Hull, answers: PairAnswers, record: Mapping[str, object], mode: int
) -> None:
    """Write a new file whole or not at all."""
    at = 0
    with _begun(path, record, mode) as packed:
        for lines in _beginnings(keys, graph):
            ends = np.where(answers.yes[at : at + len(lines)], "1\n", "0\n").tolist()
            packed.write("".join([a + b for a, b in zip(lines, ends, strict=True)]).encode())
            at += len(lines)


def read_pair_answers(path: Path, keys: KeyArray, graph: Hull) -> PairAnswers:
    """Read the answers about the pairs inside the groups as they are now."""
    yes, at = np.empty(graph.pair_count, np.bool_), 0
    with _opened_behind_head(path, graph.pair_count * (2 * _most_bytes(keys) + 4) + 1) as file:
        for lines in _beginnings(keys, graph):
            for beginning in lines:
                start = beginning.encode()
                line = file.read(len(start) + 2)  # not up to the next newline: a text key may contain one
                if line[:-2] != start or line[-2:] not in (b"0\n", b"1\n"):
                    raise GraphError(
                        f"{path} does not match the pairs inside the groups, or was cut short: its next pair must be "
                        f"{visible(beginning.rstrip(' ,'))}."
                    )
                yes[at] = line[-2:] == b"1\n"
                at += 1
        if file.read(1):
            raise GraphError(f"{path} has answers about more pairs than there are inside the groups.")
    return PairAnswers(yes)


def _beginnings(keys: KeyArray, graph: Hull) -> Iterator[list[str]]:
    """Yield what the line of each pair begins with, in blocks."""
    texts, between = _as_written(keys)
    for u, v in pair_blocks(graph.protected):
        yield [texts[x] + between + texts[y] + between for x, y in zip(u.tolist(), v.tolist(), strict=True)]
