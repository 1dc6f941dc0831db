"""Names of vertices in a picture: short, and told apart; titles that fit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import takewhile

from pcneo.basics.model import Key

__all__ = ["LONGEST_LABEL", "fitted", "labels", "plain"]

LONGEST_LABEL = 14
"""Letters of a label where there is room; longer keys are shortened."""
LETTER_INCHES = 0.085
"""The width of a usual letter of a title."""
LEAST_SHARED = 4
"""Letters that long keys must share at an end for it to be left out."""


def plain(text: str) -> str:
    """Return a text as matplotlib shows it: between two $ it reads mathematics."""
    return text.replace("$", r"\$")


def labels(keys: Iterable[Key], longest: int = LONGEST_LABEL) -> dict[Key, str]:
    """Return a label for each key, at most `longest` letters and no two alike.

    What all long keys share at their ends (`@example.org`, `https://example.org/`) is left out; what is still too long
    loses its middle.

    Args:
        keys: those of the drawn vertices.
        longest: letters, at least 5.
    """
    texts = {key: str(key) for key in keys}
    long = [text for text in texts.values() if len(text) > longest]
    before, after = _shared(long)
    made: dict[Key, str] = {}
    taken: set[str] = set()
    for key, text in texts.items():
        label = text if len(text) <= longest else _cut(text[before : len(text) - after], longest)
        number, unique = 2, label
        while unique in taken:
            ending = f"~{number}"
            unique, number = label[: longest - len(ending)] + ending, number + 1
        taken.add(unique)
        made[key] = plain(unique)
    return made


def _shared(texts: list[str]) -> tuple[int, int]:
    """How many letters all texts share at their beginning and at their end, and can be spared."""
    if len(texts) < 2:
        return 0, 0
    before = _alike(texts)
    before = before if before >= LEAST_SHARED else 0
    after = _alike([text[before:][::-1] for text in texts])
    after = after if after >= LEAST_SHARED else 0
    return (before, after) if all(len(text) > before + after for text in texts) else (0, 0)


def _alike(texts: list[str]) -> int:
    """How many letters all begin with, up to a sign: the digits of a number are not parted."""
    alike = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))
    return max((i + 1 for i, letter in enumerate(texts[0][:alike]) if not letter.isalnum()), default=0)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def fitted(text: str, inches: float) -> str:
    """Return a title in lines that fit into a width.

    Args:
        text: the title.
        inches: the width of the figure.
    """
    most = max(20, int(inches / LETTER_INCHES))
    return plain("\n".join("\n".join(textwrap.wrap(line, most)) for line in text.splitlines()))
