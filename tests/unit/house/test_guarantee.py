"""The document of the promises and the code cite each other: no mark is on one side only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pcneo

PACKAGE = Path(pcneo.__file__).parent
GUARANTEE = PACKAGE / "privacy" / "GUARANTEE.md"
MARK = re.compile(r"\[([a-z][a-z0-9]*(?:-[a-z0-9]+)+)\](?!\()")
COMMENT = re.compile(r"^\s*#\s(.*)$", re.MULTILINE)


def marks_in_code() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        for comment in COMMENT.findall(path.read_text(encoding="utf-8")):
            yield from MARK.findall(comment)


def test_every_mark_in_the_code_stands_in_the_document_and_the_other_way_round() -> None:
    in_document = set(MARK.findall(GUARANTEE.read_text(encoding="utf-8")))
    assert set(marks_in_code()) == in_document
    assert len(in_document) >= 20


def test_the_document_begins_with_what_is_not_promised() -> None:
    headings = re.findall(r"^## (.*)$", GUARANTEE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "What is not promised"
    assert {"`critical`", "`edge`", "`elv` and `published`", "`respond`"} <= set(headings)
