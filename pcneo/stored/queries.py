"""Use case: list, print and run the queries for analysts under `cypher/queries/`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pcneo.basics.frames import SHOWN_ITEMS, Table, counted, words
from pcneo.basics.keys import INT64, key_text, plain_key
from pcneo.basics.model import Key
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import AnyP
from pcneo.basics.selection import Selection
from pcneo.basics.spelling import did_you_mean
from pcneo.basics.visible import visible
from pcneo.errors import NotFoundError, ParameterError
from pcneo.store.chosen_graph import find_keys
from pcneo.store.database import Database
from pcneo.store.statements import Declaration, Statement, all_statements
from pcneo.store.tokens import tokenize
from pcneo.stored.runs import LATEST, StoredRun, find_run

DEFAULT_LIMIT = 10

_KEY = "integer | string"
_TYPES = {"integer": int, "string": str}


@dataclass(frozen=True)
class QueryResult(Table):
    """The table a query returned.

    Attributes:
        columns: the names of the columns, in order.
        rows: a tuple for each row; a node is given as its key, a relationship as its type.
        run: the run that was queried.
        keys: the columns that hold keys of vertices; numbers in other columns are counts.
        moved: whether the graph is known to have changed since the run.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    run: RunRecord
    keys: tuple[str, ...] = ()
    moved: bool = False

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns by name."""
        values = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return dict(zip(self.columns, map(list, values), strict=True))

    def __repr__(self) -> str:
        """Return a line that sums it up, and the first rows."""
        rows = f"{counted(len(self.rows), 'row')} of {', '.join(self.columns)}"
        shown = ["  ".join(visible(words(cell, SHOWN_ITEMS)) for cell in row) for row in self.rows[:DEFAULT_LIMIT]]
        more = ["…"] if len(self.rows) > DEFAULT_LIMIT else []
        return "\n  ".join([f"{rows}: run {self.run.id}, version {self.run.version}", *shown, *more])


class _Queries(tuple[Statement, ...]):
    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def list_queries() -> tuple[Statement, ...]:
    """Return the queries in order of name, each with a description, its parameters, its columns and its cost.

    >>> import pcneo
    >>> pcneo.list_queries()[0].name
    'cohesion_graph'
    """
    return _Queries(statement for statement in all_statements() if statement.folder == "queries")


def render_query(
    name: str,
    *,
    selection: Selection | None = None,
    values: Mapping[str, Key] | None = None,
) -> str:
    """Return one query ready to paste, with your names in place of :Person, :KNOWS and id.

    >>> import pcneo
    >>> print(pcneo.render_query("critical_connections", values={"id": 58}).splitlines()[-1])
    ORDER BY a.id, b.id

    Args:
        name: the query's name.
        selection: labels, types and key; where it leaves a name out, the sample name stays.
        values: values to write in place of parameters, by name without the `$`; other parameters stay.

    Returns:
        Cypher, with comments that state its purpose, parameters and cost.

    Raises:
        NotFoundError: there is no such query; the message lists the existing ones.
        ParameterError: Neo4j does not accept a name.
    """
    query = _find(name)
    written = {f"${parameter}": json.dumps(value) for parameter, value in (values or {}).items()}
    left = [
        f"${parameter.name}: {parameter.kind}, {parameter.meaning}"
        for parameter in query.parameters
        if f"${parameter.name}" not in written
    ]
    comments = [query.summary, *left, query.cost]
    rendered = query.render(_names(query, selection or Selection()))
    text = "".join(written.get(token.text, token.text) for token in tokenize(rendered))  # a string of JSON is Cypher's
    return "\n".join((*(f"// {comment}" for comment in comments), text, ""))


def run_query(
    db: Database,
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
) -> QueryResult:
    """Run one query on a database and return its table.

    Returns:
        The table, and the run that was queried.
    """
    query = _find(name)
    values, own = _read(query, parameters)
    _check_parameters(query, values)
    stored, vertices = _of_run(db, query, values, own, graph=graph, p=p, search=search)
    selection = stored.selection
    rows = db.run_statement(query, _names(query, selection), {**values, "run": stored.run.id, **vertices})
    if not rows:
        _check_vertices(db, selection, list(vertices.values()))
    return QueryResult(
        columns=tuple(column.name for column in query.columns),
        rows=[tuple(_cell(column, row[column.name], selection.key) for column in query.columns) for row in rows],
        run=stored.run,
        keys=tuple(column.name for column in query.columns if column.kind in ("node", _KEY)),
        moved=stored.moved,
    )


def render_for_run(
    db: Database,
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    graph: str | None = None,
) -> str:
    """Return one query with the names of a stored run's graph and the run's id in it, ready to paste.

    Returns:
        Cypher, as from `render_query`.
    """
    query = _find(name)
    values, own = _read(query, parameters)
    _check_given(query, values)
    stored, vertices = _of_run(db, query, values, own, graph=graph)
    return render_query(name, selection=stored.selection, values={**values, "run": stored.run.id, **vertices})


def _of_run(
    db: Database, query: Statement, values: Mapping[str, Any], own: str | None, **wanted: Any
) -> tuple[StoredRun, dict[str, Key]]:
    """Return the run that is queried, and the values that are keys of vertices, of the kind of its graph's keys."""
    keys = {name: values[name] for name in _keys(query) if name in values}
    stored = find_run(db, run=values["run"], vertex=next(iter(keys.values()), None), **wanted)
    key = stored.selection.key
    if own is not None and own != key:
        raise _takes_none(query, own, f" The key of a vertex is its `{key}` here.")
    return stored, {name: find_keys(db, stored.selection, [vertex])[0] for name, vertex in keys.items()}


def _read(query: Statement, parameters: Mapping[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    """Return the values with defaults, and the given name, if any, that may be the graph's own key property.

    A name may be if it is the only unknown one and exactly one key is missing: its value is then taken for that key,
    and `_of_run` compares the name later.
    """
    wanted = {parameter.name for parameter in query.parameters}
    defaults = {name: value for name, value in {"run": LATEST, "limit": DEFAULT_LIMIT}.items() if name in wanted}
    values = {**defaults, **{name: plain_key(value) for name, value in (parameters or {}).items()}}
    unknown, missing = [name for name in values if name not in wanted], [k for k in _keys(query) if k not in values]
    if len(unknown) != 1 or len(missing) != 1:
        return values, None
    values[missing[0]] = values.pop(unknown[0])
    return values, unknown[0]


def _keys(query: Statement) -> list[str]:
    """Return the parameters that are keys of vertices."""
    return [parameter.name for parameter in query.parameters if parameter.kind == _KEY]


def _find(name: str) -> Statement:
    queries = {query.name: query for query in list_queries()}
    if name not in queries:
        raise NotFoundError(
            f"There is no query {name!r}.{did_you_mean(name, queries)} The queries are {', '.join(queries)}.",
            what="query",
            name=name,
        )
    return queries[name]


def _names(query: Statement, selection: Selection) -> dict[str, str | Sequence[str]]:
    """Map the sample names of a query to the user's names, or to themselves where the user gave none."""
    given = {"labels": selection.node_labels, "types": selection.relationship_types, "property": selection.key}
    return {sample.name: given[sample.kind] or sample.name for sample in query.names}


def _check_parameters(query: Statement, parameters: Mapping[str, Any]) -> None:
    wanted = {declaration.name: declaration for declaration in query.parameters}
    for name in (name for name in wanted if name not in parameters):
        if wanted[name].kind == _KEY:
            what = f"a vertex: add --param {name}=KEY (in Python {name}=KEY)."
        else:
            what = f"the parameter {name}, {wanted[name].meaning}: add --param {name}=… (in Python {name}=…)"
        raise ParameterError(f"The query {query.name} needs {what}", name=name, value=None)
    _check_given(query, parameters)


def _check_given(query: Statement, parameters: Mapping[str, Any]) -> None:
    wanted = {declaration.name: declaration for declaration in query.parameters}
    for name, value in parameters.items():
        if name not in wanted:
            raise _takes_none(query, name)
        if isinstance(value, int) and value not in INT64:
            raise ParameterError(f"{name} is {value}, which does not fit in 64 bits.", name=name, value=value)
        if not _is_of_kind(value, wanted[name].kind):
            raise ParameterError(
                f"The parameter {name} ({wanted[name].meaning}) must be {_in_words(wanted[name].kind)}, not {value!r}.",
                name=name,
                value=value,
            )


def _takes_none(query: Statement, name: str, further: str = "") -> ParameterError:
    listed = ", ".join(parameter.name for parameter in query.parameters)
    text = f"The query {query.name} takes no parameter {name!r}. It takes {listed}.{further}"
    return ParameterError(text, name="parameters", value=name)


def _is_of_kind(value: object, kind: str) -> bool:
    """Whether a value is of a kind as headers write it: `string`, `integer | string`, `integer 1..`."""
    for alternative in kind.split(" | "):
        word, _, smallest = alternative.removesuffix("..").partition(" ")
        if isinstance(value, _TYPES[word]) and not isinstance(value, bool):
            return not smallest or (isinstance(value, int) and value >= int(smallest))
    return False


def _in_words(kind: str) -> str:
    """Return a kind of value in words."""
    if kind.endswith(".."):
        return f"a whole number of at least {kind.removesuffix('..').partition(' ')[2]}"
    return {"integer": "a whole number", "string": "text", _KEY: "a whole number or text"}[kind]


def _check_vertices(db: Database, selection: Selection, keys: Sequence[Key]) -> None:
    """Raise an error if an empty table is due to a vertex that does not exist."""
    there = {key for key, _ in db.get_neighbours(selection, keys)}
    for key in keys:
        if key not in there:
            raise NotFoundError(f"There is no vertex with the key {key_text(key)}.", what="vertex", name=key)


def _cell(column: Declaration, value: Any, key: str) -> Any:
    """Return a node as its key, and relationships as their types."""
    if column.kind == "node":
        return value[key]
    if column.kind == "path":
        return [value.start_node[key], *(relationship.type for relationship in value.relationships)]
    if column.kind == "list<relationship>":
        return [relationship.type for relationship in value]
    return value
