"""The bytes of a file, gzipped or not; every failure to read them is a FileFormatError."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pcneo.basics.visible import visible
from pcneo.errors import FileFormatError

__all__ = ["bad_file", "file_bytes", "line_blocks"]

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 1 << 20

_FAULTS = (EOFError, zlib.error, OSError)


def bad_file(path: Path, what: str, line: int | None = None) -> FileFormatError:
    """Return the error for `path`: what is wrong, and the line (from 1) if there is one."""
    where = f"{path}, line {line:,}" if line else f"{path}"
    return FileFormatError(visible(f"{where}: {what}"), path=str(path), line=line)


def file_bytes(path: Path, most: int) -> bytes:
    """Return the whole content, decompressed if the name ends in `.gz`.

    Args:
        path: the file.
        most: bytes of content beyond which it is refused; no more than that is held.

    Raises:
        FileFormatError: there is no such regular file, it may not be read, it holds more than `most`, or its gzip data
            are damaged or cut short.
    """
    pieces: list[bytes] = []
    try:
        with _opened(path) as stream:
            pieces.extend(_pieces(path, stream, most))
    except _FAULTS as error:
        raise bad_file(path, _what(error)) from error
    return b"".join(pieces)


def line_blocks(path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    r"""Yield (number of the first line, whole lines that each end in `\n`), about a mebibyte at a time.

    Line ends of Windows and old Macs become `\n`; a byte order mark is removed.

    Args:
        path: the file.
        most: bytes of content beyond which it is refused.

    Raises:
        FileFormatError: as in `file_bytes`, or a line is longer than a mebibyte; once reading has begun, `line` is the
            first line that could not be read.
    """
    number = 1
    try:
        with _opened(path) as stream:
            for block in _cut_at_line_ends(_pieces(path, stream, most)):
                if number == 1:
                    block = block.removeprefix(b"\xef\xbb\xbf")
                if not block.endswith(b"\n"):
                    block += b"\n"
                yield number, block
                number += block.count(b"\n")
    except _TooLongError as error:
        raise bad_file(path, f"a line of more than {LONGEST_LINE:,} bytes, too long for an edge", number) from error
    except _FAULTS as error:
        raise bad_file(path, f"here or later, {_what(error)}" if number > 1 else _what(error), number) from error


class _TooLongError(Exception):
    """The line after those that were yielded is too long."""


def _pieces(path: Path, stream: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield the content, a mebibyte at a time; some kilobytes of gzip may hold any amount of it."""
    read = 0
    while piece := stream.read(BLOCK_BYTES):
        read += len(piece)
        if read > most:
            raise bad_file(
                path,
                f"it holds more than {most / 2**30:.3g} GiB{' unpacked' if _is_packed(path) else ''}, the most that is "
                "read; --max-gib, or max_bytes, raises that, where there is the memory",
            )
        yield piece


def _cut_at_line_ends(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the same bytes cut behind line ends, each of them `\n`."""
    rest = b""
    for piece in pieces:
        rest += piece
        cut = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, -1)) + 1  # a `\r` at the end may be half of a line end
        if cut:
            yield rest[:cut].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            rest = rest[cut:]
        if len(rest) > LONGEST_LINE:
            raise _TooLongError
    if rest:
        yield rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _opened(path: Path) -> BinaryIO:
    if not path.exists():
        raise bad_file(path, "there is no such file")
    if not path.is_file():
        raise bad_file(path, "not a regular file (and a pipe will not do: some files are read twice)")
    return cast(BinaryIO, gzip.open(path)) if _is_packed(path) else path.open("rb")


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _what(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the gzip data ends early: the file is cut short"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return f"the name says gzip, the content is not or is damaged ({error})"
    return f"the file cannot be read ({getattr(error, 'strerror', None) or error})"
