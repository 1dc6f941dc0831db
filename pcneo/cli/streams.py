"""Standard streams that may be closed, full, or limited to a small character set."""

from __future__ import annotations

import codecs
import io
import logging
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from pcneo.basics.visible import csv_row, visible
from pcneo.errors import OutputError, PcneoError

_LABEL = re.compile(r" *(?:[\w-]+ {2,})?")
"""The part of a line before its text: white space, and a word that is set apart, as in a list of meanings."""

_SIGN, _WHOLE_SIGN = re.compile(r" ([=≈]) "), re.compile(r"\u00a0([=≈])\u00a0")


def mend_streams() -> None:
    """Make sure that the three streams are there, and that no character keeps a line for people from being printed.

    A stream that the calling program has closed is replaced by the null device; otherwise the next file that is opened
    would become the stream.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - stays open
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - else `print` would take standard output
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: PTH123, SIM115 - for reading, so that writing fails, as it should
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def can_ask() -> bool:
    """Whether a person is there to answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def takes_all_text() -> bool:
    """Whether standard output can write every character."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def note(text: str) -> None:
    """Print a line for a person on standard error, broken as by `say`: standard output is for results only."""
    with suppress(OSError, ValueError):  # a line that cannot be printed must not undo what was done
        print("\n".join(_lines(visible(text, keep="\n"), sys.stderr)), file=sys.stderr, flush=True)


def note_verbatim(text: str) -> None:
    """Print text that a person copies on standard error, as it is: a line that a terminal wraps is copied as one."""
    with suppress(OSError, ValueError):
        print(visible(text, keep="\n"), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print sentences for a person on standard output; on a terminal lines break between words."""
    with output():
        print("\n".join(_lines(visible(text, keep="\n"), sys.stdout)))


def say_verbatim(text: str) -> None:
    """Print text that a person copies, such as a query, with its own line breaks; errors as with `say`."""
    with output():
        print(visible(text, keep="\n"))


def _lines(text: str, stream: TextIO | None) -> Iterator[str]:
    if stream is None or not stream.isatty():
        yield text
        return
    width = shutil.get_terminal_size().columns
    for line in text.split("\n"):
        if len(line) <= width:
            yield line
            continue
        yield filled(line, width, " " * (len(line) - len(_LABEL.sub("", line, count=1))))


def filled(line: str, width: int, indent: str = "") -> str:
    """Return a line broken between words, but not between a sign and its number; `indent` begins all further lines."""
    whole = _SIGN.sub("\u00a0\\1\u00a0", line)
    broken = textwrap.fill(whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return _WHOLE_SIGN.sub(r" \1 ", broken)


@contextmanager
def output() -> Iterator[None]:
    """Print a result inside the block; raise an OutputError if it cannot be written."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output cannot be written: {error.strerror or error}.") from error


def print_row(values: Sequence[Any]) -> None:
    """Print a row of CSV, for programs: every character as it is, or nothing."""
    row = csv_row(values)
    try:
        row.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError as error:
        raise PcneoError(
            f"Standard output takes only {error.encoding}, which has no {row[error.start]!a}. Set "
            "PYTHONIOENCODING=utf-8, or give --json."
        ) from error
    print(row)


class VisibleFormatter(logging.Formatter):
    """A formatter whose lines hold nothing that a terminal would obey."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return visible(super().format(record), keep="\n\t")
