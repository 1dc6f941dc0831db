"""The lines of a file, gzipped or not, in blocks; every failure to read them is a FileFormatError."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pcneo.basics import bounded_file
from pcneo.basics.bounded_file import UnreadableError, bad_file, opened

LONGEST_LINE = 1 << 20
ADVICE = "raise that with --max-gib, or max_bytes, if there is enough memory"


def line_blocks(path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    r"""Yield (number of the first line, whole lines that each end in `\n`), about a mebibyte at a time.

    Line ends of Windows and old Macs become `\n`; a byte order mark is removed.
    """
    number = 1
    with opened(path, most, ADVICE) as stream:
        try:
            for block in _cut_at_line_ends(iter(lambda: stream.read(bounded_file.BLOCK_BYTES), b"")):
                if number == 1:
                    block = block.removeprefix(b"\xef\xbb\xbf")
                if not block.endswith(b"\n"):
                    block += b"\n"
                yield number, block
                number += block.count(b"\n")
        except _TooLongError as error:
            raise bad_file(path, f"a line of more than {LONGEST_LINE:,} bytes, too long for an edge", number) from error
        except UnreadableError as error:
            raise bad_file(path, f"here or later, {error}" if number > 1 else str(error), number) from error


class _TooLongError(Exception):
    """The line after those that were yielded is too long."""


def _cut_at_line_ends(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the same bytes, cut after line ends, each of which becomes `\n`."""
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
