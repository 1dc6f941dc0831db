"""A graph as one file that many processes map: offsets and neighbours, without keys."""

from __future__ import annotations

import mmap
import os
import platform
import re
import secrets
import stat
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pcneo.basics.model import Graph

_HEADER = 64
_TOKEN = 16
_NAME = "graph"
YOUNG_SECONDS = 60
"""An image that is no older than this may not be locked yet."""


class GraphImage:
    """A file with the arrays of a graph, in a folder that only its owner can enter; both are removed with this object.

    If the process is killed they stay, and the next image on this machine removes them: a file is locked for as long
    as its process lives.

    Attributes:
        token: 32 hexadecimal digits that no other image has.
        path: the file, below the system's temporary folder (`TMPDIR`).
    """

    def __init__(self, graph: Graph) -> None:
        """Write the file, after removing those that dead processes of this user on this machine have left."""
        _remove_left_behind()
        self.token = secrets.token_hex(_TOKEN)
        self.path = Path(tempfile.mkdtemp(prefix=_prefix())) / _NAME
        file = self.path.open("xb")
        weakref.finalize(self, _remove, file, self.path)
        _lock(file)
        sizes = np.array([graph.vertex_count, len(graph.neighbours)], np.int64)
        file.write((bytes.fromhex(self.token) + sizes.tobytes()).ljust(_HEADER, b"\0"))
        graph.offsets.astype(np.int64, copy=False).tofile(file)
        graph.neighbours.astype(np.uint32, copy=False).tofile(file)
        file.flush()


def _prefix() -> str:
    """Return what the names of this machine's folders begin with: locks may not be visible from another machine."""
    return f"pcneo-graph-{re.sub('[^A-Za-z0-9.]', '_', platform.node())}-"


def _lock(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open; return whether that could be done."""
    try:
        import fcntl  # not on Windows

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # another process has it, or the file system has no locks
        return False
    return True


def _remove_left_behind() -> None:
    """Best effort: remove images whose processes have died."""
    with suppress(OSError, AttributeError):  # Windows has no `getuid`
        for folder in Path(tempfile.gettempdir()).glob(_prefix() + "*"):
            with suppress(OSError):
                _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    state = folder.lstat()
    # A link would lead to a folder that does not belong to an image.
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
        return
    if time.time() - state.st_mtime > YOUNG_SECONDS:
        with suppress(OSError):
            folder.rmdir()  # left by a process that died before it had its file
            return
    with (folder / _NAME).open("r+b") as file:
        if time.time() - os.fstat(file.fileno()).st_mtime > YOUNG_SECONDS and _lock(file):
            _remove(file, folder / _NAME)


def _remove(file: BinaryIO, path: Path) -> None:
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        path.unlink()
        path.parent.rmdir()


def open_image(file: BinaryIO, token: str) -> Graph | None:
    """Map a graph from an open file; its keys are its positions. None if the file has another token.

    The mapping is copy-on-write, so that the arrays can be written to and nothing reaches the file. For read-only
    arrays numba compiles kernels separately, which takes minutes.
    """
    if file.read(_TOKEN) != bytes.fromhex(token):
        return None
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    n, arcs = np.frombuffer(mapped, np.int64, 2, _TOKEN).tolist()
    offsets = np.frombuffer(mapped, np.int64, n + 1, _HEADER)
    start = _HEADER + offsets.nbytes
    neighbours = np.frombuffer(mapped, np.uint32, arcs, start) if arcs else np.empty(0, np.uint32)
    return Graph(np.arange(n), offsets, neighbours)
