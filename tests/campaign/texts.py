"""Characters, names and numbers of all sorts."""

from __future__ import annotations

import random

__all__ = ["any_name", "damaged", "hostile_text", "is_harmless", "letters", "number_text", "one_of"]

_LETTERS = "abcXYZ019_ßéłжΩאم大あ🦑ﬁ𝔊"
_OBEYED = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u202a\u202b\u202d\u202e\u2066\u2067\u2069\u200f\u2028",
]
_HARD = [*_OBEYED, *"'\"`\\/,;={}[]()<>&%#$ \u00a0\u200b\ufeff\ufffe", "\U0010ffff", "\u0301", "=1+1", "');", "../"]
_NUMBERS = ["1", "0.5", "1/3", "3", "2.5", "1e-3", "0.1", "4", "1e-9"]
_NO_NUMBERS = [
    "0",
    "-1",
    "nan",
    "inf",
    "1/0",
    "",
    "x",
    "1e5000",
    "1e-9999",
    "9" * 5000,
    "٣",
    "0x1",
    "1,5",
    "--",
    "1e309",
]


def one_of(rng: random.Random, likely: list[str], unlikely: list[str], share: float = 0.15) -> str:
    """Something likely, and now and then something that is not."""
    return rng.choice(unlikely if rng.random() < share else likely)


def letters(rng: random.Random, most: int = 8) -> str:
    """A word of letters and digits of several scripts."""
    return "v" + "".join(rng.choices(_LETTERS, k=rng.randint(0, most)))


def hostile_text(rng: random.Random, most: int = 12) -> str:
    """Text with what terminals, shells, Cypher, XML, CSV and spreadsheets take for more than text."""
    drawn = [
        rng.choice(_HARD) if rng.random() < 0.5 else chr(rng.randrange(1, 0x3000)) for _ in range(rng.randint(0, most))
    ]
    return "".join(drawn)


def any_name(rng: random.Random, most: int = 12) -> str:
    """A name of characters from all of Unicode but surrogates and NUL, with or without hostile ones."""
    drawn = []
    for _ in range(rng.randint(1, most)):
        point = rng.randrange(1, 0x110000 - 0x800)
        drawn.append(chr(point if point < 0xD800 else point + 0x800))
    return hostile_text(rng) + "".join(drawn) if rng.random() < 0.3 else "".join(drawn)


def number_text(rng: random.Random, share: float = 0.15) -> str:
    """A number as people write it, now and then one that is none."""
    return one_of(rng, _NUMBERS, _NO_NUMBERS, share)


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Bytes with a few things done to them."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.choices(range(len(content) + 1), k=2))
        content = rng.choice(
            [
                content[:at],
                content[:at] + content[end:],
                content[:end] + content[at:],
                content[:at] + rng.randbytes(rng.randint(1, 4)) + content[at:],
                content[:at] + hostile_text(rng).encode() + content[at:],
                content[:at] + bytes(b ^ (1 << rng.randrange(8)) for b in content[at : at + 1]) + content[at + 1 :],
                content[:at] + content[at:end] * rng.randint(2, 50) + content[end:],
            ]
        )[:100_000]
    return content


def is_harmless(text: str) -> bool:
    """Whether a terminal shows all of a text, but for line ends."""
    return not set(text) & (set(_OBEYED) - {"\n"})
