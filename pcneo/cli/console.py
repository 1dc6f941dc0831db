"""What commands share: the connection, progress on standard error, tables and JSON on standard output."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.console import Group as RenderGroup
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from pcneo.basics.config import ConnectionSettings, read_environment
from pcneo.basics.frames import is_number, words
from pcneo.basics.json_form import json_form
from pcneo.basics.progress_bars import ProgressBars
from pcneo.basics.visible import visible
from pcneo.cli.streams import can_ask, filled, note, output, takes_all_text
from pcneo.errors import ConnectionFailedError

if TYPE_CHECKING:
    from pcneo.basics.run_record import RunRecord
    from pcneo.store.database import Database
    from pcneo.stored.exporting import ExportResult


def note_run(run: RunRecord, further: str = "", *, moved: bool) -> None:
    """Note which run an answer comes from, whether the graph has changed since, and whether its groups are rough."""
    note(f"Run {run.id}, version {run.version}{further}")
    if moved:
        note("The graph has changed since this run: members are as they were then, connections as they are now.")
    if run.scope == "answers":
        note("Its groups were computed from randomised answers, so they resemble the graph's own only roughly.")


def exported(result: ExportResult) -> str:
    """Return a line about a file that was written for other programs."""
    held = f"{result.nodes:,} nodes, {result.edges:,} edges"
    if result.memberships:  # one cohesion is written without any: its members are the nodes
        held += f", {result.memberships:,} memberships"
    return f"{result.path}: {held}, {decimal(result.bytes)}"


_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+(e[+-]?\d+)?( ?%)?")
"""A number that became text before it came into a table."""


class Bars(ProgressBars):
    """Bars that leave standard output alone: its rows are for programs, even on a terminal."""

    redirects = False


@contextmanager
def connected() -> Iterator[Database]:
    """Open the database that the environment names, or the running local server, and note which on standard error."""
    named = named_settings(_ask_password if can_ask() else None)
    with open_database(named or local_settings(), local=named is None) as db:
        yield db


@contextmanager
def open_database(settings: ConnectionSettings, *, local: bool = False) -> Iterator[Database]:
    """Open a database, note which it is, and close it afterwards."""
    from pcneo.store.connection import connect_to

    with connect_to(settings) as db:
        which = "the running local server, " if local else ""
        note(f"Using {which}{settings.uri}, database {db.name} (Neo4j {db.version})")
        yield db


@contextmanager
def working(stage: str) -> Iterator[Bars]:
    """Show how long a stage takes whose steps cannot be counted."""
    with Bars() as bars:
        bars(stage, 0, None)
        yield bars
        bars(stage, 1, 1)


_chosen: dict[str, Path] = {}


def choose_server(data: Path | None) -> None:
    """Choose the local server for this command: the one on a data folder, or with None any that is found."""
    _chosen.clear()
    if data is not None:
        _chosen["data"] = data


def chosen_folder() -> Path | None:
    """The data folder that `pcneo --data FOLDER` names, or None."""
    return _chosen.get("data")


def named_settings(ask: Callable[[str], str] | None = None) -> ConnectionSettings | None:
    """Return how to reach the server that the environment names, if it names one and --data none."""
    return read_environment(os.environ, ask) if chosen_folder() is None else None


def local_settings() -> ConnectionSettings:
    """Return how to reach the running local server."""
    from pcneo.server.servers import find_running, status

    named = chosen_folder()
    server = find_running() if named is None else status(named)
    if server is None and named is not None:
        start = f"pcneo --data {shlex.quote(str(named))} server start"
        raise ConnectionFailedError(f"No local server runs on {named}; `{start}` starts one.")
    if server is None:
        raise ConnectionFailedError(
            "No database: set NEO4J_URI (and NEO4J_USERNAME, NEO4J_PASSWORD), or start a local one with "
            "`pcneo server start`."
        )
    return ConnectionSettings(server.uri, server.username, server.password)


def _ask_password(username: str) -> str:
    try:
        return typer.prompt(visible(f"Password of {username}"), hide_input=True, err=True)
    except typer.Abort as error:
        raise KeyboardInterrupt from error


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None, *, names: Collection[str] = ()
) -> None:
    """Print a table for a person, numbers to the right.

    It is 200 columns wide if standard output is not a terminal and COLUMNS is not set. No word is broken: if the
    terminal is too narrow for that, each row becomes a paragraph of names and values.

    Numbers are shown with commas at the thousands, floats with three decimals, None as nothing. Numbers in the columns
    `names`, such as keys and versions, are shown as a person types them.
    """
    values = [list(row) for row in rows]
    cells = [[_cell(value, name in names) for name, value in zip(columns, row, strict=True)] for row in values]
    heads = list(map(visible, columns))
    console = Console(markup=False, emoji=False, highlight=False)
    if not (console.is_terminal or "COLUMNS" in os.environ):
        console.width = 200
    borders = 3 * len(heads) + 1
    widths = _widths(list(zip(heads, *cells, strict=True)), console.width - borders)
    heading = title and filled(visible(title), sum(widths) + borders if widths else console.width)
    with output():
        console.print(_table(heads, values, cells, widths, heading) if widths else _paragraphs(heads, cells, heading))


def without_empty(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows for `print_table`, without the columns that no row has a value in."""
    kept = [name for name in (rows[0] if rows else ()) if any(row[name] is not None for row in rows)]
    return kept, [[row[name] for name in kept] for row in rows]


def _cell(value: Any, is_name: bool) -> str:
    is_count = isinstance(value, int) and is_number(value) and not is_name
    return f"{value:,}" if is_count else visible(words(value))


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return widths of columns that break no word and use the room there is; None if there is too little.

    Rich would go below the least width that it is given, and cut words.
    """
    widths = [max(map(_longest_word, column)) for column in columns]
    missing = [max(map(cell_len, column)) - width for column, width in zip(columns, widths, strict=True)]
    room -= sum(widths)
    if room < 0:
        return None
    for done, i in enumerate(sorted(range(len(widths)), key=missing.__getitem__)):
        more = min(missing[i], room // (len(widths) - done))
        widths[i] += more
        room -= more
    return widths


def _table(
    names: Sequence[str], values: Sequence[Sequence[Any]], cells: Iterable[Sequence[str]], widths: Sequence[int],
    title: str | None,
) -> Table:  # fmt: skip
    table = Table(title=title and Text(title), title_justify="left")
    for i, name in enumerate(names):
        written = [cell for cell in (row[i] for row in values) if cell is not None]
        numbers = any(map(is_number, written))  # the others are None, or text such as "over 2"
        numbers = numbers or (bool(written) and all(_NUMBER.fullmatch(str(cell)) for cell in written))
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold", width=widths[i])
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _paragraphs(names: Sequence[str], cells: Iterable[Sequence[str]], title: str | None) -> RenderableType:
    parts: list[RenderableType] = [Text(title)] if title else []
    for row in cells:
        grid = Table.grid(padding=(0, 2))
        for name, cell in zip(names, row, strict=True):
            grid.add_row(Text(name), Text(cell, overflow="fold"))
        parts += [grid, ""]
    return RenderGroup(*(parts or [", ".join(names)]))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def print_json(value: Any) -> None:
    """Print a result as one line of JSON with Neo4j's camelCase names."""
    with output():
        print(json.dumps(json_form(value), ensure_ascii=not takes_all_text()))


def note_kept(properties: Iterable[str]) -> None:
    """Note which properties of a release were not removed with it."""
    for name in properties:
        note(f"The property {name} stays: some of its values are no longer those of a release.")
