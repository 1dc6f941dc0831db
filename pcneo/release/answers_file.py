"""The file of answers that `respond` publishes: two keys a line for every pair that was answered yes, compressed.

Lines `# name: value` come first. Keys that are integers are separated by a blank; text is quoted and separated by a
comma, as in an edge list. Pairs ascend, the smaller key first.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

from pcneo.graph.files.whole_file import whole_file
from pcneo.model import KeyArray
from pcneo.privacy.facts import Answers

__all__ = ["write_answers"]

_LEVEL = 3  # of gzip: half the time of the usual level, a tenth larger


def write_answers(path: Path, keys: KeyArray, answers: Answers, record: Mapping[str, object]) -> None:
    """Write a new file whole or not at all.

    Args:
        path: the file.
        keys: of the vertices, by position.
        answers: the answers.
        record: what the lines before the pairs say.

    Raises:
        PcneoError: it cannot be written, or it exists.
    """
    integers = keys.dtype != object
    texts = [str(key) if integers else _quoted(key) for key in keys.tolist()]
    firsts = [f"{text}{' ' if integers else ','}".encode() for text in texts]
    seconds = [f"{text}\n".encode() for text in texts]
    with whole_file(path, replace=False) as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for name, value in record.items():
            packed.write(f"# {name}: {value}\n".encode())
        for x, ys in answers.upper_rows():
            if len(ys):
                first = firsts[x]
                packed.write(first + first.join(map(seconds.__getitem__, ys.tolist())))


def _quoted(key: str) -> str:
    return '"' + key.replace('"', '""') + '"'
