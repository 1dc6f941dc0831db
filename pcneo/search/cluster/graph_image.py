"""A graph as one file that many processes map: offsets and neighbours, without keys."""

from __future__ import annotations

import mmap
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pcneo.basics.model import Graph

__all__ = ["GraphImage", "open_image"]

_HEADER = 64
_TOKEN = 16


class GraphImage:
    """A file with the arrays of a graph, in a folder that only its owner can enter; both go with this object.

    Attributes:
        token: 32 hexadecimal digits that no other image has.
        path: the file, below the system's temporary folder (`TMPDIR`).
    """

    def __init__(self, graph: Graph) -> None:
        """Write the file."""
        self.token = secrets.token_hex(_TOKEN)
        folder = tempfile.mkdtemp(prefix="pcneo-graph-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / "graph"
        sizes = np.array([graph.vertex_count, len(graph.neighbours)], np.int64)
        with self.path.open("xb") as file:
            file.write((bytes.fromhex(self.token) + sizes.tobytes()).ljust(_HEADER, b"\0"))
            graph.offsets.astype(np.int64, copy=False).tofile(file)
            graph.neighbours.astype(np.uint32, copy=False).tofile(file)


def open_image(file: BinaryIO, token: str) -> Graph | None:
    """Map a graph from an open file; its keys are its positions. None where the file is of another token.

    The mapping is copy-on-write, so that the arrays can be written to and nothing reaches the file. numba compiles
    kernels for read-only arrays apart, which takes minutes.
    """
    if file.read(_TOKEN) != bytes.fromhex(token):
        return None
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    n, arcs = np.frombuffer(mapped, np.int64, 2, _TOKEN).tolist()
    offsets = np.frombuffer(mapped, np.int64, n + 1, _HEADER)
    start = _HEADER + offsets.nbytes
    neighbours = np.frombuffer(mapped, np.uint32, arcs, start) if arcs else np.empty(0, np.uint32)
    return Graph(np.arange(n), offsets, neighbours)
