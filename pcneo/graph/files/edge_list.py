"""Edge lists: one edge per line, two keys separated by spaces, tabs or commas.

- Empty lines and lines that begin with `#` or `%` are skipped. Text is UTF-8.
- The first edge decides the separator: a comma, if it has one and does not begin with two integers separated by blanks;
  else any run of spaces and tabs. A line that disagrees is refused. With commas, keys may contain blanks, and
  `"quotes"` may enclose a comma (`""` is a quote); no key spans two lines.
- Columns after the second (weights, times) are ignored, and so is the `{...}` that networkx writes: the search uses
  neither properties nor weights.
- A first line that names its columns in the usual words (`source,target`; HEADERS lists them) is skipped. Any other
  first line is an edge, but is refused as an unknown header if all keys except its own two are integers. Where keys are
  text, it is noted as a possible header if no other line has either of its keys.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.bounded_file import bad_file
from pcneo.basics.keys import is_integer_key
from pcneo.graph.files.graph_file import LONGEST_KEY, GraphFile, KeysOfLine, graph_file, key_array
from pcneo.graph.files.line_blocks import line_blocks

HEADERS = frozenset(
    {
        ("source", "target"),
        ("src", "dst"),
        ("src", "tgt"),
        ("from", "to"),
        ("start", "end"),
        ("fromnodeid", "tonodeid"),
        ("node1", "node2"),
        ("node_1", "node_2"),
        ("id1", "id2"),
        ("id_1", "id_2"),
        (":start_id", ":end_id"),
    }
)

_INDEX_OF_PANDAS = "; a column without a name is probably pandas' index: write the file with index=False"
_BLANKS = re.compile(r"[ \t]+")
_INTEGER = rb"(?:0|-?[1-9][0-9]{0,17})"
_PLAIN_PAIR = {
    ",": _INTEGER + rb"[ \t]*,[ \t]*" + _INTEGER,
    " ": _INTEGER + rb"[ \t]+" + _INTEGER,
}
_PLAIN_MORE = {
    ",": rb"[ \t]*,[ \t!#-~]*",
    " ": rb"[ \t]+[!#-~][ \t!#-~]*",
}


def read_edge_list(path: Path, most: int) -> GraphFile:
    """Read an edge list as integers or, if some key is not an integer, again from the start as text."""
    return _read_integers(path, most) or _read_texts(path, most)


def _read_integers(path: Path, most: int) -> GraphFile | None:
    lines = _Lines(path)
    pieces = [np.empty(0, dtype=np.int64)]
    for number, block in line_blocks(path, most):
        plain = lines.plain_pairs(number, block)
        if plain is not None:
            pieces.append(np.fromstring(plain.replace(b",", b" ").decode("ascii"), dtype=np.int64, sep=" "))
            continue
        texts = [text for pair in lines.pairs(number, block) for text in pair]
        if not all(map(is_integer_key, texts)):
            return None
        pieces.append(np.array(list(map(int, texts)), dtype=np.int64))
    keys, ends = np.unique(np.concatenate(pieces), return_inverse=True)
    return lines.graph_file(keys, ends)


def _read_texts(path: Path, most: int) -> GraphFile:
    lines = _Lines(path)
    codes: dict[str, int] = {}
    ends = array("q")
    first_text: KeysOfLine | None = None
    for number, block in line_blocks(path, most):
        for pair in lines.pairs(number, block):
            if first_text is None and (of_pair := [text for text in pair if not is_integer_key(text)]):
                first_text = KeysOfLine(lines.count, (of_pair[0],))
            ends.extend(codes.setdefault(text, len(codes)) for text in pair)
    texts = list(codes)
    if len(texts) > 2 and not any(map(is_integer_key, texts[:2])) and all(map(is_integer_key, texts[2:])):
        raise bad_file(
            path,
            f"{texts[0]!r} and {texts[1]!r} look like a header, as every other key is an integer; "
            "delete the line or begin it with #",
            lines.first_edge,
        )
    numbers = np.frombuffer(ends, dtype=np.int64)
    is_alone = not any(map(is_integer_key, texts[:2])) and _shares_no_key(numbers)
    possible_header = KeysOfLine(lines.first_edge, tuple(texts[:2])) if is_alone else None
    file = lines.graph_file(key_array(texts), numbers)
    return replace(file, first_text=first_text, possible_header=possible_header)


def _shares_no_key(ends: NDArray[np.int64]) -> bool:
    """Whether the first of several edges has two keys that no other edge has; keys are numbered as they appear."""
    return len(ends) > 2 and ends[1] == 1 and int(ends[2:].min()) > 1


class _Lines:
    """The lines of one file: their separator, which the first edge decides, and what is left out of the graph."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.separator = ""
        self.first_edge = 0
        self.count = 0
        self.header: str | None = None
        self.more_columns = 0

    def plain_pairs(self, number: int, block: bytes) -> bytes | None:
        """Return `block` without further columns if all keys are integers of at most 18 digits, else None.

        It does what `pairs` does at the speed of a regular expression; files of ten million edges look like this.
        """
        if not self.separator:
            return None
        pair, more = _PLAIN_PAIR[self.separator], _PLAIN_MORE[self.separator]
        if not re.fullmatch(rb"(?>" + pair + rb"\n)*+", block):
            if not re.fullmatch(rb"(?>" + pair + rb"(?:" + more + rb")?[ \t]*\n)*+", block):
                return None
            block, lines_with_more = re.subn(rb"(?m)^(" + pair + rb")" + more, rb"\1", block)
            self.more_columns += lines_with_more
        self.count = number - 1 + block.count(b"\n")
        return block

    def pairs(self, number: int, block: bytes) -> Iterator[tuple[str, str]]:
        """Yield the two keys of each edge in `block`, whose first line has the given number."""
        for at, line in enumerate(self._text(number, block).split("\n")[:-1], number):
            begins_with_tab = line.startswith("\t")
            line = line.strip(" \t")
            self.count = at
            if not line or line[0] in "#%":
                if line.startswith("%%MatrixMarket"):
                    raise self._bad(at, "a Matrix Market file: delete this line and the line of sizes")
                continue
            if not self.separator:
                self.separator = _separator(line)
            pair = self._pair(at, line)
            if not self.first_edge and not self.header and tuple(map(str.lower, pair)) in HEADERS:
                if begins_with_tab:
                    raise self._bad(at, f"a first column without a name{_INDEX_OF_PANDAS}")
                self.header, self.more_columns = line, 0
                continue
            self.first_edge = self.first_edge or at
            yield pair

    def graph_file(self, keys: NDArray[np.int64] | NDArray[np.object_], ends: NDArray[np.int64]) -> GraphFile:
        """Put the graph together; `ends` are positions in `keys`, two per edge."""
        if not len(keys):
            raise bad_file(self.path, "it has no edges")
        file = graph_file(keys, ends.reshape(-1, 2), self.count)
        return replace(file, header=self.header, lines_with_more_columns=self.more_columns)

    def _text(self, number: int, block: bytes) -> str:
        if b"\0" in block:
            raise self._bad(number + block[: block.index(b"\0")].count(b"\n"), "a NUL byte: not UTF-8 text")
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError as error:
            at = number + block[: error.start].count(b"\n")
            raise self._bad(at, f"byte 0x{block[error.start]:02x} is not UTF-8") from error

    def _pair(self, at: int, line: str) -> tuple[str, str]:
        fields = self._comma_fields(at, line) if self.separator == "," else self._blank_fields(at, line)
        if len(fields) < 2:
            raise self._bad(
                at, f"only one column, {line[:40]!r}, but an edge needs two keys; separate them by {self._by()}"
            )
        if not fields[0] or not fields[1]:
            may_be_header = not (self.first_edge or self.header or fields[0]) and len(fields) > 2
            raise self._bad(at, f"an empty key in {line[:40]!r}{_INDEX_OF_PANDAS if may_be_header else ''}")
        if max(map(len, fields[:2])) > LONGEST_KEY:
            raise self._bad(at, f"a key of more than {LONGEST_KEY:,} characters, too long for Neo4j's index")
        self.more_columns += len(fields) > 2
        return fields[0], fields[1]

    def _comma_fields(self, at: int, line: str) -> list[str]:
        if '"' not in line:
            return [field.strip(" \t") for field in line.split(",")]
        try:
            return [field.strip(" \t") for field in next(csv.reader([line], skipinitialspace=True, strict=True))]
        except csv.Error as error:
            raise self._bad(at, f"quotes that do not close or do not end a field ({error})") from error

    def _blank_fields(self, at: int, line: str) -> list[str]:
        fields = _BLANKS.split(line)
        if line.endswith("}") and len(fields) > 2 and fields[2].startswith("{"):
            return [*fields[:2], "{}"]
        if len(fields) > 2 and "\t" in line:
            self._refuse_blanks_in_keys(at, line, fields)
        for field in fields[:2]:
            if "," in field or field[0] == '"':
                raise self._bad(
                    at, f"{field[:40]!r} has a comma or a quote, but blanks separate the keys of the first edge"
                )
        return fields

    def _refuse_blanks_in_keys(self, at: int, line: str, fields: list[str]) -> None:
        """Refuse `Ann Lee<tab>Bob Ray`, which would be read as an edge from Ann to Lee."""
        by_tab = [field.strip(" ") for field in line.split("\t")[:2]]
        if any(" " in field for field in by_tab) and not all(map(is_integer_key, fields[:2])):
            raise self._bad(at, f"tabs and spaces both separate {line[:40]!r}; use commas if keys contain spaces")

    def _by(self) -> str:
        return "a comma, as in the first edge" if self.separator == "," and self.first_edge else "a space, tab or comma"

    def _bad(self, at: int, what: str) -> Exception:
        return bad_file(self.path, what, at)


def _separator(line: str) -> str:
    """Return a comma, or a space for any run of blanks."""
    fields = _BLANKS.split(line.partition("{")[0])
    begins_with_integers = len(fields) > 1 and all(map(is_integer_key, fields[:2]))
    return "," if not begins_with_integers and any("," in field for field in fields) else " "
