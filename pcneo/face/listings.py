"""Lists that are also tables: of runs, versions and differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from pcneo.basics.frames import Table, columns_of, counted
from pcneo.basics.run_record import RunRecord
from pcneo.errors import PcneoError

if TYPE_CHECKING:
    from pcneo.stored.versions import Difference


T = TypeVar("T")


class Listing(Table, Sequence[T], Generic[T]):
    """Several items of one kind, in order; pandas, polars and notebooks take them as a table.

    >>> db.runs()
    1 run: friends@3/10
    >>> len(db.runs()), db.runs()[0].id
    (1, 'friends@3/10')
    >>> db.runs().to_pandas()["cohesions"].tolist()
    [800]
    """

    def __init__(
        self, items: Iterable[T], row: Callable[[T], dict[str, Any]], columns: Sequence[str], what: str, named: str
    ) -> None:
        """Take the items, a function that makes a row of one, its columns, the noun for an item, and the attribute to
        show in the repr."""
        self._items = tuple(items)
        self._row = row
        self._columns = columns
        self._what = what
        self._named = named

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """Return one item by its position, or several by a slice."""
        return self._items[index]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each item."""
        return columns_of(map(self._row, self._items), self._columns)

    def __repr__(self) -> str:
        """Return the number of items, and name the first few."""
        named = ", ".join(str(getattr(item, self._named)) for item in self._items[:4])  # which needs no query
        more = ", …" if len(self) > 4 else ""
        return f"{counted(len(self), self._what)}{f': {named}{more}' if self else ''}"


def why_unread(error: PcneoError) -> str:
    """Return why a repr, which must not fail, cannot show more."""
    return "its connection is closed" if error.data.get("closed") else "the database cannot be read now"


RECORD_COLUMNS = (
    *("run", "p", "search", "effort"),
    *(field.name for field in fields(RunRecord) if field.name not in ("id", "search")),
)


def record_row(record: RunRecord) -> dict[str, Any]:
    """Return a row of a table of runs or versions."""
    search = {"p": str(record.search.p), "search": record.search.name, "effort": record.search.effort}
    return {"run": record.id, **asdict(record), **search}


DIFFERENCE_COLUMNS = (
    *("vertex", "before", "after", "edges_before", "edges_after"),
    *("best_before", "best_after", "came", "went"),
)


def difference_row(difference: Difference) -> dict[str, Any]:
    """Return a row of a table of differences."""
    before, after = difference.before, difference.after
    return {
        "vertex": difference.vertex,
        "before": None if before is None else len(before.members),
        "after": None if after is None else len(after.members),
        "edges_before": None if before is None else before.edges,
        "edges_after": None if after is None else after.edges,
        "best_before": None if before is None else before.best,
        "best_after": None if after is None else after.best,
        "came": difference.came,
        "went": difference.went,
    }
