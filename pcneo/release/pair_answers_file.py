"""The file of answers of `critical`: for every pair inside groups two keys, and 1 for yes or 0 for no, compressed.

The pairs follow from the groups and the vertices, so a reader works out what each line must begin with and compares.
Lines `# name: value` come first, as in a file of answers of `respond`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pcneo.basics.model import KeyArray
from pcneo.basics.visible import visible
from pcneo.counting.protected import Hull, PairAnswers, pair_blocks
from pcneo.errors import GraphError
from pcneo.release.answers_file import as_written, begun, most_bytes, opened_behind_head


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
    with begun(path, record, mode) as packed:
        for lines in _beginnings(keys, graph):
            ends = np.where(answers.yes[at : at + len(lines)], "1\n", "0\n").tolist()
            packed.write("".join([a + b for a, b in zip(lines, ends, strict=True)]).encode())
            at += len(lines)


def read_pair_answers(path: Path, keys: KeyArray, graph: Hull) -> PairAnswers:
    """Read the answers about the pairs inside the groups as they are now."""
    yes, at = np.empty(graph.pair_count, np.bool_), 0
    with opened_behind_head(path, graph.pair_count * (2 * most_bytes(keys) + 4) + 1) as file:
        for lines in _beginnings(keys, graph):
            for beginning in lines:
                start = beginning.encode()
                line = file.read(len(start) + 2)  # not up to the next newline: a text key may contain one
                if line[:-2] != start or line[-2:] not in (b"0\n", b"1\n"):
                    raise GraphError(
                        f"{path} has answers about other pairs than those inside the groups: the next pair must be "
                        f"{visible(beginning.rstrip(' ,'))}."
                    )
                yes[at] = line[-2:] == b"1\n"
                at += 1
        if file.read(1):
            raise GraphError(f"{path} has answers about more pairs than there are inside the groups.")
    return PairAnswers(yes)


def _beginnings(keys: KeyArray, graph: Hull) -> Iterator[list[str]]:
    """Yield what the line of each pair begins with, in blocks."""
    texts, between = as_written(keys)
    for u, v in pair_blocks(graph.protected):
        yield [texts[x] + between + texts[y] + between for x, y in zip(u.tolist(), v.tolist(), strict=True)]
