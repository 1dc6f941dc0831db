"""Files that come from others: answers, public files, cohesions, batches; whole, damaged, or made to fill memory."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from campaign.texts import damaged, number_text
from pcneo import read_release
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import PcneoError
from pcneo.graph import graph_from_edges
from pcneo.graph.files.cohesion_file import CohesionFile, CohesionWriter
from pcneo.graph.files.cohesion_file_head import FileHead
from pcneo.release.answers_file import AnswersFile
from pcneo.release.request import read_batch
from pcneo.search import search_all

__all__ = ["try_outside"]

KEYS = np.array([1, 2, 3, 5, 8, 13])
PAIRS = [(1, 2), (1, 3), (2, 3), (3, 5), (5, 8), (8, 13)]
MIB = 2**20
HOSTILE = ["1e999999999", "1e-999999999", "9" * 30, "9" * 5_000, "1/0", "nan", "-1", "", "0x1", "1_0"]


def try_outside(rng: random.Random, folder: Path) -> bool:
    """Read a file of some kind; whether it was accepted."""
    make, read = rng.choice(KINDS)
    path = make(rng, folder)
    match rng.randint(0, 9):
        case 0 | 1:
            path.write_bytes(damaged(rng, path.read_bytes()))
        case 2:
            path.unlink()
            os.mkfifo(path)
        case 3:
            path.unlink()
            path.symlink_to("/dev/zero")
        case 4:
            with path.open("ab") as file:
                file.truncate(2**36)
        case _:
            pass
    try:
        read(path)
    except PcneoError:
        return False
    return True


def _number(rng: random.Random) -> str:
    return rng.choice(HOSTILE) if rng.random() < 0.2 else number_text(rng, 0.1)


def _answers(rng: random.Random, folder: Path) -> Path:
    lines = [f"{a} {b}\n" for a, b in sorted(rng.sample(PAIRS, rng.randint(0, 6)))]
    if rng.random() < 0.2:
        lines.insert(rng.randint(0, len(lines)), rng.choice(["", "7 8\n", "1\n", f"{_number(rng)} 2\n"]))
    filling = rng.choice([b"1 2\n", b"\n", b"1", b"# a: b\n"]) * (64 * MIB // 4) if rng.random() < 0.1 else b""
    head = f"# mechanism: respond\n# epsilon: {_number(rng)}\n"
    path = folder / "a.answers.gz"
    path.write_bytes(gzip.compress(head.encode() + "".join(lines).encode() + filling, 1))
    return path


def _read_answers(path: Path) -> None:
    AnswersFile.open(path).answers(KEYS)


def _public(rng: random.Random, folder: Path) -> Path:
    said: dict[str, object] = {
        "mechanism": "edge",
        "promise": "all",
        "k": "3",
        "epsilon": _number(rng),
        "delta": "0",
        "total": _number(rng),
    }
    if rng.random() < 0.5:
        path = folder / "a.csv"
        rows = "".join(f"{key},{_number(rng) if rng.random() < 0.1 else key}\n" for key in KEYS)
        path.write_text("".join(f"# {name}: {value}\n" for name, value in said.items()) + "key,count\n" + rows)
    else:
        path = folder / "a.json"
        if rng.random() < 0.2:
            said[rng.choice(list(said))] = rng.choice([None, 7, 0.5, True, [1], {"a": 1}, "7"])
        path.write_text(json.dumps({**said, "counts": [{"key": int(key), "count": 1} for key in KEYS]}))
    return path


def _cohesions(rng: random.Random, folder: Path) -> Path:
    graph = graph_from_edges(KEYS.tolist(), *zip(*PAIRS, strict=True))
    head = FileHead(
        Search("1/3"),
        "0",
        1,
        Selection(("A",), ("B",), "id"),
        "",
        "",
        "",
        6,
        6,
        rng.choice([(1, 1), (1, 1), (0, 0), (2, 1)]),
    )
    path = folder / "a.parquet"
    with path.open("wb") as file, CohesionWriter(file, head, graph.keys) as writer:
        writer.write(search_all(graph, "1/3"))
    return path


def _read_cohesions(path: Path) -> None:
    file = CohesionFile(path)
    for group in file.row_groups(KEYS):
        file.read(group.number, KEYS)


def _batch(rng: random.Random, folder: Path) -> Path:
    path = folder / "a.csv"
    path.write_text(f"mechanism,epsilon,k,to\nedge,{_number(rng)},{rng.choice(['3', '', _number(rng)])},x.csv\n")
    return path


KINDS: list[tuple[Callable[[random.Random, Path], Path], Callable[[Path], object]]] = [
    (_answers, _read_answers),
    (_public, read_release),
    (_cohesions, _read_cohesions),
    (_batch, read_batch),
]
