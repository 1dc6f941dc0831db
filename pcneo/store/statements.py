"""The statements under `cypher/`: the only place where query text is made (DATA-MODEL.md#cypher-files).

A file holds one statement, without a semicolon, under a header of `//` lines:

    // One sentence, on one line or several.
    //
    // names:
    //   Person  labels    the chosen labels
    //   id      property  the key property
    // parameters:
    //   $from  integer | string  smallest key of the page
    // returns:
    //   key  integer | string  the vertex
    // repeatable: why running it twice does no harm (required in write/, allowed in schema/)
    // cost: rows or time on a known graph (required in queries/, refused elsewhere)
    // scan: why this statement may scan its label (where it does)

The cells of an entry are two or more spaces apart; a line indented more deeply than the first entry continues the entry
above. The folder decides the access mode: `read` and `queries` read, `write` writes, `schema` changes the schema.

`names` are samples that make the file valid Cypher as it stands; `Statement.render` puts the user's own in their place,
token by token. The kinds `label`, `type` and `property` take one name, `labels` and `types` one or several. A sample
stands for nothing else in its file: where `id` is the key property, no variable, column or other property is `id`,
except a property of ours in a map after one of our labels, `(:PCohesionRun {id: $run})`, which is left as it is.
Tests compare everything declared with the text (`tests/statement_files.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, takewhile
from operator import itemgetter
from pathlib import Path
from textwrap import dedent
from typing import LiteralString, cast

from pcneo.errors import NotFoundError, ParameterError
from pcneo.store.tokens import keys_of_maps, quote_identifier, tokenize

FOLDERS = ("schema", "read", "write", "queries")
SEVERAL = frozenset({"labels", "types"})
"""The kinds of sample names that several names may replace."""

OWN_LABELS = frozenset(
    {
        "PCohesion",
        "PCohesionBudget",
        "PCohesionFence",
        "PCohesionGraph",
        "PCohesionLedger",
        "PCohesionNote",
        "PCohesionRelease",
        "PCohesionRequest",
        "PCohesionRetired",
        "PCohesionRun",
        "PCohesionVersion",
    }
)
OWN_TYPES = frozenset({"HAS_COHESION", "IN_COHESION", "PRODUCED"})

SECTION = re.compile(r"(names|parameters|returns|repeatable|cost|scan):(?:\s+|$)(.*)")
"""The line of a header with which a section begins; its first entry may follow the colon."""

KEPT_PLANS: LiteralString = "CYPHER replan=skip "
"""The prefix of a statement whose plan must be kept."""

_options: ContextVar[LiteralString] = ContextVar("options", default="")


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
class Statement:
    """A statement file: its header and its Cypher.

    Attributes:
        name: the file's name without `.cypher`.
        folder: one of `FOLDERS`.
        summary: a sentence that says what the statement does.
        names: the sample names, which the user's own names replace.
        parameters: the parameters.
        columns: the returned columns, in order; empty if it returns nothing.
        repeatable: why it may run twice; empty if the header does not say.
        cost: what it costs on a known graph; empty if the header does not say.
        scan: why it may scan a label; empty if it does not.
        text: the Cypher below the header, valid as it stands.
    """

    name: str
    folder: str
    summary: str
    names: tuple[Declaration, ...]
    parameters: tuple[Declaration, ...]
    columns: tuple[Declaration, ...]
    repeatable: str
    cost: str
    scan: str
    text: LiteralString

    def __repr__(self) -> str:
        """Return its name and what it does, on one line."""
        return f"{self.name}: {self.summary}"

    def render(self, names: Mapping[str, str | Sequence[str]]) -> LiteralString:
        """Return the text with every sample name replaced by the user's own, in backticks.

        Several labels or types become alternatives: `A`|`B`. A name equal to its sample name stays as it is.

        Args:
            names: by sample name, the user's name, or several for the kinds `labels` and `types`.

        Raises:
            ParameterError: a sample name has no value, a value has no sample name, there are several values where one
                is allowed, or Neo4j does not accept a name.
        """
        if not (self.names or names):
            return _options.get() + self.text
        kinds = {declaration.name: declaration.kind for declaration in self.names}
        for name in sorted(kinds.keys() ^ names.keys()):
            problem = "needs a value for the name" if name in kinds else "declares no name"
            raise ParameterError(f"the statement {self.name} {problem} {name!r}", name=name, value=names.get(name))
        spelled = {name: _spell(name, kind, names[name]) for name, kind in kinds.items()}
        pieces = _pieces(self.text, frozenset(kinds))
        return _literal("".join([spelled[text] if is_sample else text for text, is_sample in pieces]))


@contextmanager
def kept_plans() -> Iterator[None]:
    """Have the server keep its plans for the statements on our own nodes that are rendered inside the block.

    Otherwise it would plan each one again whenever counts have changed much, as they do while a whole graph is written;
    on a busy server that takes longer than everything that one vertex needs. Other statements are planned again: while
    there is little data, some plans begin with all cohesions of a run.
    """
    before = _options.set(KEPT_PLANS)
    try:
        yield
    finally:
        _options.reset(before)


@cache
def load_statement(name: str) -> Statement:
    """Return the statement with this name, from any folder; it is read once per process."""
    for folder in FOLDERS:
        path = _root() / folder / f"{name}.cypher"
        if path.is_file():
            return parse_statement(folder, name, path.read_text(encoding="utf-8"))
    raise NotFoundError(f"there is no statement named {name!r}", what="statement", name=name)


@cache
def all_statements() -> tuple[Statement, ...]:
    """Return every statement, folder by folder in the order of `FOLDERS`, by name within each."""
    paths = [path for folder in FOLDERS for path in sorted((_root() / folder).glob("*.cypher"))]
    return tuple(load_statement(path.stem) for path in paths)


def parse_statement(folder: str, name: str, source: str) -> Statement:
    """Parse a statement file."""
    summary, sections, text = _split_file(source)
    names, parameters, columns = (_read_table(sections.get(part, ())) for part in ("names", "parameters", "returns"))
    repeatable, cost, scan = (read_note(sections.get(part, ())) for part in ("repeatable", "cost", "scan"))
    return Statement(
        name=name,
        folder=folder,
        summary=summary,
        names=names,
        parameters=parameters,
        columns=columns,
        repeatable=repeatable,
        cost=cost,
        scan=scan,
        text=_literal(text),
    )


def _split_file(source: str) -> tuple[str, dict[str, list[str]], str]:
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


def _read_table(lines: Sequence[str]) -> tuple[Declaration, ...]:
    """Return the entries of a section; a line indented more deeply than the others continues the one above."""
    entries = re.sub(r"\n +", " ", dedent("\n".join(lines[1:]))).splitlines()
    cells = [re.split(r"\s{2,}", entry, maxsplit=2) for entry in entries]
    return tuple(Declaration(name.removeprefix("$"), kind, meaning) for name, kind, meaning in cells)


def read_note(lines: Sequence[str]) -> str:
    """Return what a section says, on one line."""
    return " ".join(map(str.strip, lines)).strip()


def _root() -> Path:
    """Return the folder of statements: inside the installed package, or beside it in a checkout."""
    package = Path(str(files("pcneo")))
    installed = package / "cypher"
    return installed if installed.is_dir() else package.parent / "cypher"


@cache
def _pieces(text: str, samples: frozenset[str]) -> tuple[tuple[str, bool], ...]:
    """Split a statement into its sample names and what is between them; mark which pieces are sample names.

    A streamed vertex sends some statements dozens of times, and splitting one into tokens takes longer than its search.
    """
    tokens = tokenize(text)
    ours = keys_of_maps(tokens, OWN_LABELS)
    marked = [
        (token.text, token.kind == "name" and token.text in samples and i not in ours) for i, token in enumerate(tokens)
    ]
    return tuple(
        piece
        for is_sample, run in groupby(marked, key=itemgetter(1))
        for piece in (run if is_sample else [("".join(text for text, _ in run), False)])
    )


def _spell(name: str, kind: str, value: str | Sequence[str]) -> str:
    values = [value] if isinstance(value, str) else list(value)
    if not values or (len(values) > 1 and kind not in SEVERAL):
        wanted = "one name or several" if kind in SEVERAL else "exactly one name"
        raise ParameterError(f"{name} stands for {wanted}, not {len(values)}", name=name, value=value)
    return "|".join(chosen if chosen == name else quote_identifier(chosen) for chosen in values)


def _literal(text: str) -> LiteralString:
    """Vouch that a text consists of statement files and quoted names; the type checker lets no other text run."""
    return cast(LiteralString, text)
