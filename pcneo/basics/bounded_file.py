"""Files from outside, read within bounds: only regular files, and only up to a given size."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from pcneo.basics.visible import visible
from pcneo.errors import FileFormatError

BLOCK_BYTES = 1 << 20
FREELY_UNPACKED = 1 << 24
"""Unpacked bytes that a packed file of any size may hold."""
PADDING = 3 << 20
"""How many packed bytes may be read beyond the number unpacked so far."""
MOST_TIMES = 100
"""Beyond `FREELY_UNPACKED`, the unpacked bytes may be at most this many times the packed bytes read. Repetitive edge
lists reach about twenty, a file made to fill the memory a thousand."""


class UnreadableError(Exception):
    """The bytes of a file cannot be used; `opened` turns this into a FileFormatError."""


def bad_file(path: Path, what: str, line: int | None = None) -> FileFormatError:
    """Return the error for `path`: what is wrong, and the line (from 1) if it is known."""
    where = f"{path}, line {line:,}" if line else f"{path}"
    return FileFormatError(visible(f"{where}: {what}"), path=str(path), line=line)


@contextmanager
def opened(path: Path, most: int, advice: str = "") -> Iterator[io.BufferedReader]:
    """Open a regular file, decompressed if its name ends in `.gz`; reading beyond the bounds is refused."""
    try:
        with _regular(path) as file:
            content = _Content(path, file, most, advice)
            yield io.BufferedReader(content, BLOCK_BYTES)
    except UnreadableError as error:
        raise bad_file(path, str(error)) from error


def read_whole(path: Path, most: int, advice: str = "") -> bytes:
    """Return the whole content of a file as `opened` reads it; no more than `most` bytes are held."""
    with opened(path, most, advice) as stream:
        # A plain file is read into one buffer, where joined blocks take two. It may be longer than its status says: it
        # grows, or the kernel makes it as it is read.
        content = b"" if _is_packed(path) else stream.read(path.stat().st_size + 1)
        return b"".join([content, *iter(lambda: stream.read(BLOCK_BYTES), b"")])


def check_regular(path: Path) -> os.stat_result:
    """Return the status of a regular file; refuse any other."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UnreadableError("there is no such file") from error
    except OSError as error:
        raise UnreadableError(_what(error)) from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("it is not a regular file; a pipe or a device will not do")
    return status


def _regular(path: Path) -> BinaryIO:
    check_regular(path)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # not blocked by a pipe put there just now
    except OSError as error:
        raise UnreadableError(_what(error)) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnreadableError("it is not a regular file")
    return os.fdopen(handle, "rb")


class _Content(io.RawIOBase):
    """The content of a file, counted as it is read."""

    def __init__(self, path: Path, file: BinaryIO, most: int, advice: str) -> None:
        self._packed = _is_packed(path)
        self._file, self._most, self._advice, self._read = file, most, advice, 0
        self._stream = cast(BinaryIO, gzip.GzipFile(fileobj=cast(BinaryIO, self), mode="rb")) if self._packed else file
        if not self._packed and os.fstat(file.fileno()).st_size > most:
            raise self._too_much()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return packed bytes for the gzip reader, which would read any zeros after its data to the end."""
        if self._file.tell() > self._read + PADDING:
            raise UnreadableError("the gzip data are followed by more bytes than they hold")
        return self._file.read(size)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a BufferedReader passes a memoryview
        try:
            piece = self._stream.read(min(len(buffer), BLOCK_BYTES))
        except (EOFError, zlib.error, OSError) as error:
            raise UnreadableError(_what(error)) from error
        self._read += len(piece)
        if self._read > self._most:
            raise self._too_much()
        if self._packed and self._read > max(FREELY_UNPACKED, MOST_TIMES * self._file.tell()):
            raise UnreadableError(f"it unpacks to more than {MOST_TIMES} times its size, which no ordinary file does")
        buffer[: len(piece)] = piece
        return len(piece)

    def _too_much(self) -> UnreadableError:
        unpacked = " unpacked" if self._packed else ""
        more = f"; {self._advice}" if self._advice else ""
        return UnreadableError(f"it holds more than {_size(self._most)}{unpacked}, the most that is read{more}")


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _size(count: int) -> str:
    return f"{count / 2**20:,.3g} MiB" if count < 2**30 else f"{count / 2**30:,.3g} GiB"


def _what(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the gzip data end early: the file is cut short"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return f"its name says gzip, but its content is not gzip or is damaged ({error})"
    return f"the file cannot be read ({getattr(error, 'strerror', None) or error})"
