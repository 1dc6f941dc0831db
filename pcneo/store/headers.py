"""The header of a statement file, the comment above its Cypher, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NAME_KINDS = ("index", "label", "labels", "type", "types", "property")

_SECTIONS = ("names", "parameters", "returns", "repeatable", "cost", "scan")
_SECTION = re.compile(rf"({'|'.join(_SECTIONS)}):(?:\s+|$)(.*)")


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


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a statement file.

    Attributes:
        summary: a sentence that says what the statement does.
        names: the sample names, which the user's own names replace.
        parameters: the parameters.
        columns: the returned columns, in order; empty if it returns nothing.
        repeatable: why it may run twice; empty if the header does not say.
        cost: what it costs on a known graph; empty if the header does not say.
        scan: why it may scan a label; empty if it does not.
    """

    summary: str
    names: tuple[Declaration, ...]
    parameters: tuple[Declaration, ...]
    columns: tuple[Declaration, ...]
    repeatable: str
    cost: str
    scan: str


def read_header(source: str) -> tuple[Header, str]:
    """Split a statement file into its header, the `//` lines at its top, and the Cypher below."""
    lines = source.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    summary, sections = _cut([line[2:].removeprefix(" ").rstrip() for line in lines[:end]])
    header = Header(
        summary=summary,
        names=_read_table("names", sections),
        parameters=_read_table("parameters", sections),
        columns=_read_table("returns", sections),
        repeatable=_read_note("repeatable", sections),
        cost=_read_note("cost", sections),
        scan=_read_note("scan", sections),
    )
    return header, "\n".join(lines[end:]).strip()


def _cut(lines: list[str]) -> tuple[str, dict[str, list[str]]]:
    """Split a header into its sentence and the lines of each section; the first line is what follows the colon."""
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    current = summary
    for line in filter(None, lines):
        section = _SECTION.fullmatch(line)
        if section is None:
            current.append(line)
            continue
        if section[1] in sections:
            raise ValueError(f"the header has the section {section[1]!r} twice")
        current = sections[section[1]] = [section[2]]
    if not summary or any(line.startswith(" ") for line in summary):
        raise ValueError("a header begins with a sentence that says what the statement does, followed by its sections")
    return " ".join(summary), sections


def _read_table(section: str, sections: Mapping[str, list[str]]) -> tuple[Declaration, ...]:
    if section not in sections:
        return ()
    beside, *lines = sections[section]
    if beside or not lines:
        raise ValueError(f"the entries of {section!r} belong on lines of their own below it")
    entries: list[str] = []
    indent = _indent(lines[0])
    for line in lines:
        if _indent(line) > indent:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line.strip())
    table = tuple(_read_entry(section, entry) for entry in entries)
    if len({declaration.name for declaration in table}) < len(table):
        raise ValueError(f"{section!r} declares a name twice")
    return table


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _read_entry(section: str, entry: str) -> Declaration:
    cells = re.split(r"\s{2,}", entry, maxsplit=2)
    if len(cells) != 3:
        raise ValueError(f"an entry of {section!r} is a name, a kind and a meaning, two spaces apart: {entry!r}")
    name, kind, meaning = cells
    if section == "names" and kind not in NAME_KINDS:
        raise ValueError(f"the name {name} is of the kind {kind!r}; the kinds are {', '.join(NAME_KINDS)}")
    if (section == "parameters") != name.startswith("$"):
        raise ValueError(f"a parameter, and nothing else, is written with a $: {entry!r}")
    return Declaration(name.removeprefix("$"), kind, meaning)


def _read_note(section: str, sections: Mapping[str, list[str]]) -> str:
    note = " ".join(line.strip() for line in sections.get(section, [])).strip()
    if section in sections and not note:
        raise ValueError(f"the section {section!r} is empty: leave it out")
    return note
