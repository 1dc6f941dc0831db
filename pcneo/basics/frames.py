"""Results as tables: pandas data frames, Arrow for polars and others, HTML for notebooks.

Nothing heavy is imported before it is needed. pandas and pyarrow come with the extra `frames`.
"""

from __future__ import annotations

import html
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pcneo.basics.visible import visible
from pcneo.errors import PcneoError, needs_extra

if TYPE_CHECKING:
    import pandas
    import pyarrow


SHOWN_ROWS = 20
SHOWN_ITEMS = 12
"""Items shown of a list in a cell."""


class Table(ABC):
    """A result with columns, which pandas, polars, DuckDB and notebooks take as it is."""

    @abstractmethod
    def as_columns(self) -> Mapping[str, Any]:
        """Return the columns by name, equally long: lists, tuples or arrays."""

    def caption(self) -> str:
        """Return a sentence to put above the table; empty for none."""
        return ""

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each row of this table."""
        try:
            import pandas
        except ImportError as error:
            raise PcneoError(needs_extra("Data frames need pandas", "frames")) from error
        return pandas.DataFrame({name: _plain(column) for name, column in self.as_columns().items()})

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table with a row for each row of this table."""
        try:
            import pyarrow
        except ImportError as error:
            raise PcneoError(needs_extra("Arrow needs pyarrow", "frames")) from error
        return pyarrow.table({name: _plain(column) for name, column in self.as_columns().items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a stream of Arrow's C interface, for `polars.DataFrame(result)` and others."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        columns = self.as_columns()
        rows = zip(*columns.values(), strict=True)
        return html_table(list(columns), rows, self.caption())


class TableByP(Table):
    """A table with a row for each p, and a line for each in its text; `as_row` and `in_words` of each are asked for."""

    _title: ClassVar[str]
    _holds: ClassVar[str] = "summaries"

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each p."""
        return columns_of({"p": p, **one.as_row()} for p, one in getattr(self, self._holds).items())

    def __repr__(self) -> str:
        """Return a heading and a line for each p."""
        lines = [f"  p={p}: {one.in_words()}" for p, one in getattr(self, self._holds).items()]
        return "\n".join([f"{self._title}: {self.caption()}", *lines])


def _plain(column: Sequence[Any]) -> Any:
    """Return arrays of objects and tuples as lists, whose type both libraries infer themselves."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    return list(column) if kind == "O" else column


def columns_of(rows: Iterable[Mapping[str, Any]], names: Iterable[str] = ()) -> dict[str, Sequence[Any]]:
    """Turn rows with the same names into columns, by default all; a table without rows has only those named here."""
    rows = list(rows)
    return {name: [row[name] for row in rows] for name in names or (rows[0] if rows else ())}


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Return a table for a notebook: the first rows, with a note if there are more."""
    rows = iter(rows)
    shown = list(itertools.islice(rows, SHOWN_ROWS))
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in shown)
    more = f"<p>The first {SHOWN_ROWS} rows.</p>" if next(rows, None) is not None else ""
    above = f"<p>{_text(caption)}</p>" if caption else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if getattr(value, "ndim", None) == 0:  # NumPy's own numbers and truth values
        value = value.item()
    align = "right" if is_number(value) else "left"
    return f'<td style="text-align: {align}">{_text(words(value, SHOWN_ITEMS))}</td>'


def is_number(value: Any) -> bool:
    """Whether a cell of a table holds a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def words(value: Any, most: int | None = None) -> str:
    """Return the text for a cell of a table, with at most `most` items of a list."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S %Z")
    if isinstance(value, list | tuple):
        some = ", ".join(words(item, most) for item in value[:most])
        return some if most is None or len(value) <= most else f"{some}, … ({len(value):,})"
    return str(value)


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun: `1 member`, `1,200 members`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def rounded(value: float | None, digits: int = 4) -> str:
    """Return a number rounded to `digits` digits, with commas at the thousands (`371.1`, `260,200`); empty for None."""
    if value is None:
        return ""
    text = f"{value:.{digits}g}"
    if min(1000, 10**digits) <= abs(float(text)) < 1e15:
        return f"{float(text):,.0f}"
    return text.replace("e-0", "e-")


def _text(text: str) -> str:
    return html.escape(visible(text))
