"""Cypher as a sequence of tokens, and the only function that quotes an identifier."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from pcneo.errors import ParameterError

LONGEST_IDENTIFIER = 65_534

_TOKEN = re.compile(
    r"""
      (?P<space>     \s+ )
    | (?P<comment>   //[^\n]* | /\*.*?\*/ )
    | (?P<string>    '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<quoted>    `(?:[^`]|``)*+` )
    | (?P<parameter> \$(?:\w+|`(?:[^`]|``)*+`) )
    | (?P<number>    \d+(?:\.\d+)?\w* )
    | (?P<name>      [^\W\d]\w* )
    | (?P<unclosed>  ['"`] | /\* )
    | (?P<symbol>    ::|\.\.|. )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A token: its kind (a group of the pattern above) and its text, exactly as written."""

    kind: str
    text: str

    @property
    def is_silent(self) -> bool:
        """Whether it is white space or a comment, which Cypher ignores."""
        return self.kind in ("space", "comment")


def tokenize(text: str) -> list[Token]:
    """Split Cypher into tokens; their texts, joined, are `text` again.

    A string, a comment, a backtick identifier and a `$parameter` are one token each, whatever they contain.
    """
    tokens = [Token(str(match.lastgroup), match.group()) for match in _TOKEN.finditer(text)]
    for token in tokens:
        if token.kind == "unclosed":
            raise ParameterError(f"the text opens a {token.text} and never closes it", name="text", value=text)
    return tokens


def keys_of_maps(tokens: Sequence[Token], labels: Container[str]) -> set[int]:
    """Return the positions of the keys of maps right after any of the labels, such as `key` in `(:Label {key: 1})`."""
    keys: set[int] = set()
    maps: list[bool] = []
    spoken = [i for i, token in enumerate(tokens) if not token.is_silent]
    for before, here, after in zip([-1, *spoken], spoken, [*spoken[1:], -1], strict=False):
        if tokens[here].text == "{":
            maps.append(before >= 0 and tokens[before].text in labels)
        elif tokens[here].text == "}" and maps:
            maps.pop()
        elif maps and maps[-1] and tokens[here].kind == "name" and after >= 0 and tokens[after].text == ":":
            keys.add(here)
    return keys


def quote_identifier(name: str) -> str:
    r"""Return `name` in backticks, so that Cypher reads it as a single label, type or property, whatever it contains.

    Backticks are doubled. A backslash becomes its unicode escape, because Cypher replaces `\u0060` with a backtick
    before it looks for the closing one.
    """
    if not name:
        raise ParameterError("an empty name cannot be a label, relationship type or property", name="name", value=name)
    if "\0" in name:
        raise ParameterError(f"the name {name!r} contains a NUL, which Neo4j refuses", name="name", value=name)
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise ParameterError(f"the name {name!r} contains half a surrogate pair", name="name", value=name)
    if len(name) > LONGEST_IDENTIFIER:
        raise ParameterError(
            f"the name {name[:20]!r}... has {len(name):,} characters; the limit is {LONGEST_IDENTIFIER:,}",
            name="name",
            value=name,
        )
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"
