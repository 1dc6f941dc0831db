"""Names of vertices in a picture: short and distinct; titles that fit."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pcneo.basics.model import Key

LONGEST_LABEL = 14
"""Letters of a label if there is room; longer keys are shortened."""
LETTER_INCHES = 0.085
"""The width of a typical letter in a title."""
LEAST_SHARED = 4
"""Letters that long keys must share at one end before this end is left out."""
LONGEST_SHARED = 28
"""Letters in which the picture quotes an end that is left out."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TIE = "\u00a0"
"""A space at which `fitted` breaks no line."""


@dataclass(frozen=True)
class Labels:
    """The labels of vertices in a picture.

    Attributes:
        of: a label for each key, no two alike.
        without: beginnings and ends that many names share and that are left out, such as `person.` and `@example.org`.
        numbered: whether some labels differ only by a number.
    """

    of: dict[Key, str]
    without: tuple[str, ...]
    numbered: bool


def plain(text: str) -> str:
    """Return a text that matplotlib can draw, which reads text between two $ as mathematics, and that SVG can hold."""
    return _NOT_XML.sub("\ufffd", text).replace("$", r"\$")


def isolated(text: str) -> str:
    """Isolate text that is written from right to left, so that the words around it keep their order."""
    turns = any(unicodedata.bidirectional(letter) in {"R", "AL", "AN"} for letter in text)
    return f"\u2068{text}\u2069" if turns else text


def labels(keys: Iterable[Key], longest: int = LONGEST_LABEL) -> Labels:
    """Return a label for each key, at most `longest` letters and no two alike.

    An end that all long keys share (`@example.org`, `https://example.org/`) is left out of every key that has it. A
    label that is still too long loses its middle or, if that would make two alike, the parts that they share.
    """
    texts = {key: str(key) for key in keys}
    long = {text: None for text in texts.values() if len(text) > longest}
    before = _shared(list(long))
    after = _shared([text.removeprefix(before)[::-1] for text in long])[::-1]
    ends = len(before) + len(after)
    spared = {
        text: text.removeprefix(before).removesuffix(after)
        for text in texts.values()
        if text in long or (len(text) > ends and text.startswith(before) and text.endswith(after))
    }
    short = {text: text for text in texts.values() if text not in spared}
    wanted = short | dict(zip(spared, _made_distinct(list(spared.values()), longest), strict=True))
    made: dict[Key, str] = {}
    taken = set(short.values())
    for key, text in texts.items():
        number, unique = 2, wanted[text]
        while unique in taken and text not in short:
            ending = f"~{number}"
            unique, number = wanted[text][: longest - len(ending)] + ending, number + 1
        taken.add(unique)
        made[key] = unique
    return Labels(
        {key: plain(label) for key, label in made.items()},
        tuple(plain(_cut(end, LONGEST_SHARED)) for end in (before, after) if end),
        any(made[key] != wanted[text] for key, text in texts.items()),
    )


def _shared(texts: Sequence[str]) -> str:
    """Return the beginning that all texts share, up to a punctuation mark; empty if it is too short to leave out."""
    if len(texts) < 2:
        return ""
    alike = texts[0][: min(_alike(texts), min(map(len, texts)) - 1)]
    end = max((i + 1 for i, letter in enumerate(alike) if not letter.isalnum()), default=0)
    return alike[:end] if end >= LEAST_SHARED else ""


def _made_distinct(texts: Sequence[str], longest: int) -> list[str]:
    """Cut the middle out of long texts; from texts that would then be alike, cut away what they share instead."""
    cut = [_cut(text, longest) for text in texts]
    for label, count in Counter(cut).items():
        places = [i for i, other in enumerate(cut) if other == label]
        cores = _cores([texts[i] for i in places], longest) if count > 1 else []
        if len({_cut(core, longest) for core in cores}) > 1:
            for i, core in zip(places, _made_distinct(cores, longest), strict=True):
                cut[i] = core
    return cut


def _cores(texts: Sequence[str], longest: int) -> list[str]:
    """Return the parts in which texts differ, with "…" for what they share and as much of the beginning as will fit.

    A number is never split.
    """
    before = _alike(texts)
    after = _alike([text[before:][::-1] for text in texts])
    before -= min(map(len, texts)) == before + after
    while before and texts[0][before - 1].isdigit():
        before -= 1
    while after and texts[0][-after].isdigit():
        after -= 1
    cores = [text[before : len(text) - after] + "…" * (after > 0) for text in texts]
    room = longest - max(map(len, cores))
    beginning = texts[0][:before] if before <= room else texts[0][: max(0, room - 1)] + "…"
    return [beginning + core for core in cores]


def _alike(texts: Sequence[str]) -> int:
    """Return the length of the longest common beginning."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def fitted(text: str, inches: float) -> str:
    """Break a title into lines that fit a width."""
    most = max(20, int(inches / LETTER_INCHES))
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, most, break_on_hyphens=False)]
    return plain("\n".join(lines)).replace(TIE, " ")
