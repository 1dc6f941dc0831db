"""Properties of our own nodes as values, read without trusting that only pcneo has written them.

What a property must be follows from the field of the record that it becomes: its name in camelCase, and its kind as the
field is annotated, such as `str | None`.
"""

from __future__ import annotations

import reprlib
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from neo4j.time import DateTime

from pcneo.basics.json_form import camel
from pcneo.errors import GraphError
from pcneo.store.transaction import Row


class Property(NamedTuple):
    """What a property of a node becomes.

    Attributes:
        field: the name of the field.
        kind: what the field is annotated as.
    """

    field: str
    kind: str


Properties = Mapping[str, Property]


def properties_of(record: type, *, without: Collection[str] = ()) -> dict[str, Property]:
    """Return the properties from which the fields of a dataclass are read, by name."""
    return {
        camel(field.name): Property(field.name, str(field.type))
        for field in fields(record)
        if field.name not in without
    }


def fits(value: object, kind: str) -> bool:
    """Whether a property has a value of this kind. An empty text is accepted only where the property may be missing."""
    kind, _, may_lack = kind.partition(" | ")
    if value is None:
        return bool(may_lack)
    match kind:
        case "str":
            return isinstance(value, str) and bool(value or may_lack)
        case "int":
            return type(value) is int
        case "float":
            return type(value) in (int, float)
        case "bool":
            return type(value) is bool
        case "tuple[str, ...]":
            return isinstance(value, list) and all(isinstance(text, str) for text in value)
        case _:
            return isinstance(value, DateTime) and value.tzinfo is not None


def misfits(row: Mapping[str, Any], properties: Properties) -> list[str]:
    """Return the names of the properties that are missing or of another kind."""
    return [name for name, wanted in properties.items() if not fits(row.get(name), wanted.kind)]


def what_is_wrong(row: Mapping[str, Any], name: str) -> str:
    """Say what is wrong with a property that does not fit, as the end of a sentence that begins with its node."""
    return f"has no {name}" if row.get(name) is None else f"has a {name} of another kind"


def values_of(row: Mapping[str, Any], properties: Properties) -> dict[str, Any]:
    """Return values by the name of their field."""
    return {wanted.field: _value(row.get(name)) for name, wanted in properties.items()}


def _value(value: object) -> object:
    if isinstance(value, DateTime):
        return value.to_native()
    return tuple(value) if isinstance(value, list) else value


def refusals(read: Callable[[Row], object], rows: Iterable[Row]) -> Iterator[GraphError]:
    """Yield the error of each row that is refused."""
    for row in rows:
        try:
            read(row)
        except GraphError as error:
            yield error


@dataclass(frozen=True)
class OwnNode:
    """A node of a graph, run, version or cohesion that is being read: how it is named, and what to do about it.

    Attributes:
        label: its label.
        name: what identifies it, in words.
        graph, run: the graph and the run that it names, if they can be read.
    """

    label: str
    name: str
    graph: object = None
    run: object = None

    def read(self, row: Mapping[str, Any], properties: Properties) -> dict[str, Any]:
        """Return the values of its properties by the name of their field, or refuse the first that does not fit."""
        for name in misfits(row, properties):
            raise self.refusal(name, what_is_wrong(row, name))
        values = values_of(row, properties)
        for name, wanted in properties.items():
            if wanted.kind.startswith("int") and (values[wanted.field] or 0) < 0:
                raise self.unknown(row, name)
        return values

    def unknown(self, row: Mapping[str, Any], name: str) -> GraphError:
        """Return the error for a property with a value of the right kind that pcneo does not know."""
        return self.refusal(name, f"has {reprlib.repr(row[name])} as its {name}")

    def refusal(self, name: str, why: str) -> GraphError:
        """Return the error for one of its properties; `why` ends a sentence that begins with the node."""
        can_go = isinstance(self.run, str) and isinstance(self.graph, str) and name not in ("id", "graph")
        if self.label == "PCohesion":
            what = "If it is a current one, annotate again to rewrite it"
        elif can_go:
            clean = f"`pcneo clean {shlex.quote(str(self.run))}`"
            what = f"Set the property again in the database, or remove the run with {clean} and annotate again"
        else:
            what = "Set the property again in the database"
        return GraphError(
            f"{self.label} {self.name} {why}. No version of pcneo writes that: someone has changed the node. {what}; "
            "`pcneo check` shows what else was changed.",
            label=self.label,
            name=self.name,
            property=name,
            graph=self.graph,
            run=self.run if can_go else None,
        )
