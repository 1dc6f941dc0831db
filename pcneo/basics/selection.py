"""The part of a database that is one graph, as a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def one_or_more(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single string is one name, not a sequence of letters."""
    listed = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"a label or type must be text, not {name!r}, which is {type(name).__name__}")
    return listed


@dataclass(frozen=True, init=False)
class Selection:
    """The part of a database that is one graph: labels, relationship types and the key property.

    Labels and types are kept sorted, so that the order in which a user names them makes no difference. Anything left
    out is filled in where the database has only one choice.

    >>> Selection("Person", "KNOWS", "id") == Selection(["Person"], ["KNOWS"], "id")
    True
    """

    node_labels: tuple[str, ...]
    relationship_types: tuple[str, ...]
    key: str

    def __init__(
        self,
        node_labels: str | Iterable[str] = (),
        relationship_types: str | Iterable[str] = (),
        key: str | None = None,
    ) -> None:
        """Sort the names and drop repetitions; a single string is one name."""
        object.__setattr__(self, "node_labels", tuple(sorted(set(one_or_more(node_labels)))))
        object.__setattr__(self, "relationship_types", tuple(sorted(set(one_or_more(relationship_types)))))
        object.__setattr__(self, "key", key or "")

    def __bool__(self) -> bool:
        """Whether anything was named."""
        return bool(self.node_labels or self.relationship_types or self.key)

    @property
    def default_name(self) -> str:
        """The graph's name unless its owner gives another: `Person/KNOWS/id`, distinct for distinct selections."""
        labels, types = "|".join(map(_plain, self.node_labels)), "|".join(map(_plain, self.relationship_types))
        return f"{labels}/{types}/{_plain(self.key)}"


def is_part_of(named: Selection, whole: Selection) -> bool:
    """Whether a graph has all that is named; what is left out fits any."""
    parts = ("node_labels", "relationship_types", "key")
    return all(getattr(named, part) in ((), "", getattr(whole, part)) for part in parts)


def _plain(name: str) -> str:
    return name if name.isidentifier() or not name else "`" + name.replace("`", "``") + "`"
