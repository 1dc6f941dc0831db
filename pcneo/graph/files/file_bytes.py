"""The bytes of a file, gzipped or not; every failure to read them is a FileFormatError."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pcneo.errors import FileFormatError
from pcneo.visible import visible

__all__ = ["bad_file", "file_bytes", "line_blocks"]

BLOCK_BYTES = 1 << 20

_FAULTS = (EOFError, zlib.error, OSError)


def bad_file(path: Path, what: str, line: int | None = None) -> FileFormatError:
    """Return the error for `path`: what is wrong, and the line (from 1) if there is one."""
    where = f"{path}, line {line:,}" if line else f"{path}"
    return FileFormatError(visible(f"{where}: {what}"), path=str(path), line=line)


def file_bytes(path: Path) -> bytes:
    """Return the whole content, decompressed if the name ends in `.gz`.

    Args:
        path: the file.

    Raises:
        FileFormatError: there is no such regular file, it may not be read, or its gzip data are damaged or cut short.
    """
    try:
        with _opened(path) as stream:
            return stream.read()
    except _FAULTS as error:
        raise bad_file(path, _what(error)) from error


def line_blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    r"""Yield (number of the first line, whole lines that each end in `\n`), about a mebibyte at a time.

    Line ends of Windows and old Macs become `\n`; a byte order mark is removed.

    Args:
        path: the file.

    Raises:
        FileFormatError: as in `file_bytes`; once reading has begun, `line` is the first line that could not be read.
    """
    number = 1
    try:
        with _opened(path) as stream:
            while block := stream.read(BLOCK_BYTES):
                block += stream.readline()
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                if number == 1:
                    block = block.removeprefix(b"\xef\xbb\xbf")
                if not block.endswith(b"\n"):
                    block += b"\n"
                yield number, block
                number += block.count(b"\n")
    except _FAULTS as error:
        raise bad_file(path, f"here or later, {_what(error)}" if number > 1 else _what(error), number) from error


def _opened(path: Path) -> BinaryIO:
    if not path.exists():
        raise bad_file(path, "there is no such file")
    if not path.is_file():
        raise bad_file(path, "not a regular file (and a pipe will not do: some files are read twice)")
    return cast(BinaryIO, gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _what(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the gzip data ends early: the file is cut short"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return f"the name says gzip, the content is not or is damaged ({error})"
    return f"the file cannot be read ({getattr(error, 'strerror', None) or error})"
