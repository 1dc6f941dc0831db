"""The header of a statement file, the comment above its Cypher, as data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import dedent

SECTION = re.compile(r"(names|parameters|returns|repeatable|cost|scan):(?:\s+|$)(.*)")
"""The line with which a section begins; its first entry may follow the colon."""


@dataclass(frozen=True)
class Declaration:
    """One entry of a header's table.

    Attributes:
        name: the sample name, the parameter without its `$`, or the column.
        kind: the kind of name, or the type and range of the value, as written: `integer 1..`.
        meaning: a description for people.
    """

    name: str
    kind: str
    meaning: str


def split_file(source: str) -> tuple[str, dict[str, list[str]], str]:
    """Return a statement file's sentence, the lines of its sections, the first beside the colon, and the Cypher."""
    lines = source.splitlines()
    header = list(takewhile(lambda line: line.startswith("//"), lines))
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    current = summary
    for line in filter(None, (line[2:].removeprefix(" ").rstrip() for line in header)):
        section = SECTION.fullmatch(line)
        if section is None:
            current.append(line)
        else:
            current = sections[section[1]] = [section[2]]
    return " ".join(summary), sections, "\n".join(lines[len(header) :]).strip()


def read_table(lines: Sequence[str]) -> tuple[Declaration, ...]:
    """Return the entries of a section; a line indented more deeply than the others continues the one above."""
    entries = re.sub(r"\n +", " ", dedent("\n".join(lines[1:]))).splitlines()
    cells = [re.split(r"\s{2,}", entry, maxsplit=2) for entry in entries]
    return tuple(Declaration(name.removeprefix("$"), kind, meaning) for name, kind, meaning in cells)


def read_note(lines: Sequence[str]) -> str:
    """Return what a section says, on one line."""
    return " ".join(map(str.strip, lines)).strip()
