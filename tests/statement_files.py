"""What must hold for a file under `cypher/`: its header is well formed, and agrees with the Cypher below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pcneo.errors import ParameterError
from pcneo.store.statements import (
    OWN_LABELS,
    OWN_TYPES,
    SECTION,
    SEVERAL,
    Statement,
    parse_statement,
    read_note,
)
from pcneo.store.tokens import Token, keys_of_maps, tokenize

NAME_KINDS = ("index", "label", "labels", "type", "types", "property")
TABLES = ("names", "parameters", "returns")

_RETURN_ENDS = frozenset({"ORDER", "SKIP", "OFFSET", "LIMIT", "UNION", "NEXT"})
_END = Token("name", "UNION")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def checked_statement(folder: str, name: str, source: str) -> Statement:
    """Parse a statement file; refuse a header that is not well formed, or that disagrees with the text."""
    try:
        _check_form(source)
        statement = parse_statement(folder, name, source)
        _check_notes(statement)
        spoken = [token for token in tokenize(statement.text) if not token.is_silent]
        _check_text(spoken)
        _check_parameters(statement, spoken)
        _check_names(statement, spoken)
        _check_columns(statement, spoken)
    except (ParameterError, ValueError) as error:
        raise ValueError(f"cypher/{folder}/{name}.cypher: {error}") from error
    return statement


# --- the header by itself


def _check_form(source: str) -> None:
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    current = summary
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        line = line[2:].removeprefix(" ").rstrip()
        section = SECTION.fullmatch(line)
        if section is None:
            current += [line] if line else []
            continue
        if section[1] in sections:
            raise ValueError(f"the header has the section {section[1]!r} twice")
        current = sections[section[1]] = [section[2]]
    if not summary or any(line.startswith(" ") for line in summary):
        raise ValueError("a header begins with a sentence that says what the statement does, followed by its sections")
    for section, lines in sections.items():
        if section in TABLES:
            _check_table(section, *lines)
        elif not read_note(lines):
            raise ValueError(f"the section {section!r} is empty: leave it out")


def _check_table(section: str, beside: str, *lines: str) -> None:
    if beside or not lines:
        raise ValueError(f"the entries of {section!r} belong on lines of their own below it")
    indent = _indent(lines[0])
    names: set[str] = set()
    for line in lines:
        if _indent(line) > indent:  # it continues the entry above
            continue
        entry = line.strip()
        cells = re.split(r"\s{2,}", entry, maxsplit=2)
        if len(cells) != 3:
            raise ValueError(f"an entry of {section!r} is a name, a kind and a meaning, two spaces apart: {entry!r}")
        if _indent(line) < indent:
            raise ValueError(f"entries of {section!r} are indented differently: {entry!r}")
        name, kind, _ = cells
        if section == "names" and kind not in NAME_KINDS:
            raise ValueError(f"the name {name} is of the kind {kind!r}; the kinds are {', '.join(NAME_KINDS)}")
        if (section == "parameters") != name.startswith("$"):
            raise ValueError(f"a parameter, and nothing else, is written with a $: {entry!r}")
        if name in names:
            raise ValueError(f"{section!r} declares a name twice")
        names.add(name)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _check_notes(statement: Statement) -> None:
    folder = statement.folder
    if folder == "write" and not statement.repeatable:
        raise ValueError("a statement that writes needs 'repeatable:', to say why running it twice does no harm")
    if folder in ("read", "queries") and statement.repeatable:
        raise ValueError("'repeatable:' is for statements that write")
    if (folder == "queries") != bool(statement.cost):
        raise ValueError("'cost:' belongs to every statement in queries/ and to no other")


# --- the header and the text, token by token


def _check_text(spoken: Sequence[Token]) -> None:
    if not spoken:
        raise ValueError("there is no statement below the header")
    if Token("symbol", ";") in spoken:
        raise ValueError("a file holds one statement, without a semicolon")
    if Token("symbol", "$") in spoken:
        raise ValueError("a dynamic label or type, $(...), turns a value into query text: declare a name instead")


def _check_parameters(statement: Statement, spoken: Iterable[Token]) -> None:
    declared = {f"${declaration.name}" for declaration in statement.parameters}
    _compare("parameter", declared, {token.text for token in spoken if token.kind == "parameter"})


def _check_names(statement: Statement, spoken: Sequence[Token]) -> None:
    """Check that all sample names are used, only where their kinds may stand, and other labels and types are ours."""
    kinds = {declaration.name: declaration.kind for declaration in statement.names}
    used: set[str] = set()
    ours = keys_of_maps(spoken, OWN_LABELS)
    for i, (token, before, after, inside) in enumerate(_surroundings(spoken)):
        if token.kind != "name" or i in ours:
            continue
        if token.text in kinds:
            if not _belongs(kinds[token.text], before, after):
                raise ValueError(
                    f"{token.text!r}, a sample of the kind {kinds[token.text]}, is something else here: "
                    f"{before}{token.text}{after}"
                )
            used.add(token.text)
        elif before == ":" and inside != "{" and token.text not in OWN_LABELS | OWN_TYPES:
            used.add(token.text)
    _compare("name", kinds, used)


def _surroundings(spoken: Sequence[Token]) -> Iterator[tuple[Token, str, str, str]]:
    """Yield each token with the text before it, the text after it, and its innermost open bracket, or ''."""
    open_brackets: list[str] = []
    texts = ["", *(token.text for token in spoken), ""]
    for i, token in enumerate(spoken):
        if token.text in _PAIRS.values() and open_brackets:
            open_brackets.pop()
        yield token, texts[i], texts[i + 2], open_brackets[-1] if open_brackets else ""
        if token.text in _PAIRS:
            open_brackets.append(token.text)


def _belongs(kind: str, before: str, after: str) -> bool:
    if kind == "property":
        return before == "." or (before in ("{", ",") and after == ":")
    if kind == "index":
        return before == "INDEX"
    if kind in SEVERAL:
        return before in (":", "|") and after != "&"  # next to & or !, alternatives bind differently from a single name
    return before in (":", "|", "&", "!")


def _check_columns(statement: Statement, spoken: Sequence[Token]) -> None:
    declared = [declaration.name for declaration in statement.columns]
    returned = list(_returned_columns(spoken))
    if declared and not returned:
        raise ValueError(f"the header declares the columns {declared}, and the text has no RETURN")
    for columns in returned:
        if columns != declared:
            raise ValueError(f"the header declares the columns {declared}, the text returns {columns}")


def _returned_columns(spoken: Sequence[Token]) -> Iterator[list[str]]:
    """Yield the columns of every RETURN outside brackets; a UNION has one per branch."""
    columns: list[str] | None = None
    expression: list[Token] = []
    for token, _, _, inside in _surroundings([*spoken, _END]):
        keyword = token.text.upper() if token.kind == "name" and not inside else ""
        if keyword == "RETURN":
            columns, expression = [], []
        elif columns is None or keyword == "DISTINCT":
            continue
        elif keyword in _RETURN_ENDS:
            yield [*columns, _column(expression)]
            columns = None
        elif token.text == "," and not inside:
            columns.append(_column(expression))
            expression = []
        else:
            expression.append(token)


def _column(expression: Sequence[Token]) -> str:
    """Return the name of a returned expression: its alias, or the variable itself."""
    if len(expression) == 1 and expression[0].kind == "name":
        return expression[0].text
    if len(expression) > 2 and expression[-2].text.upper() == "AS" and expression[-1].kind == "name":
        return expression[-1].text
    raise ValueError(f"a returned expression needs a name, AS ...: {' '.join(token.text for token in expression)}")


def _compare(what: str, declared: Iterable[str], used: Iterable[str]) -> None:
    if undeclared := sorted(set(used) - set(declared)):
        raise ValueError(f"the header does not declare the {what} {undeclared[0]}")
    if unused := sorted(set(declared) - set(used)):
        raise ValueError(f"the header declares the {what} {unused[0]}, which the text does not use")
