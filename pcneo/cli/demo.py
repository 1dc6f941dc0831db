"""`pcneo demo`: start, load, annotate and query, on the graph that comes with the package."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.config import ConnectionSettings
from pcneo.basics.frames import rounded
from pcneo.basics.selection import Selection
from pcneo.cli.console import Bars, open_database, print_table
from pcneo.cli.server import describe, exports, started
from pcneo.cli.streams import say, say_verbatim

if TYPE_CHECKING:
    from pcneo.annotate import UpdatedRun
    from pcneo.store.database import Database
    from pcneo.stored.queries import QueryResult


_QUERIES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("critical_connections", "Which connections hold student 58's cohesion together?", {"id": 58}),
    ("most_needed_vertices", "Which students do the most cohesions rest on?", {"limit": 5}),
    ("densest_cohesions", "Whose cohesions are the densest?", {"limit": 5}),
)
"""The queries of the demo: name, what it answers here, and all parameters but the run."""


def demo(
    notebook: Annotated[
        Path | None,
        typer.Option("--notebook", help="Only write the tutorial for Jupyter to this new .ipynb file."),
    ] = None,
) -> None:
    """Start a local Neo4j, load the friendships of 800 students, annotate them and run three queries.

    The server has its own data folder and never touches the database that NEO4J_URI names.

    Example: pcneo demo
    """
    if notebook is not None:
        _write_notebook(notebook)
        return
    from pcneo.server.folders import data_folder

    server = started(data_folder().with_name("demo"))
    with open_database(ConnectionSettings(server.uri, server.username, server.password), local=True) as db:
        with Bars() as bars:
            run, tables = _annotate_and_ask(db, bars)
        members = run.summary.memberships / max(1, run.summary.cohesions)
        say(
            f"Stored the p-cohesion (p = {run.search.p}) of each of {run.summary.cohesions:,} students, with "
            f"{rounded(members, 2)} members on average."
        )
        for (name, question, parameters), table in zip(_QUERIES, tables, strict=True):
            arguments = "".join(f" --param {parameter}={value}" for parameter, value in parameters.items())
            say(f"\n{question}")
            say_verbatim(f"  pcneo queries {name} --run{arguments}")
            print_table(table.columns, table.rows, names=table.keys)
    say("\nThe server keeps running:")
    say_verbatim(describe(server))
    say(
        "Ask more from a shell that has pcneo (in a checkout: . .venv/bin/activate), or connect Neo4j Browser, Desktop "
        "or cypher-shell to that address:"
    )
    say_verbatim(
        f"{exports(server)}\n"
        "See a cohesion: pcneo show 58\n"
        "Draw it (extra plot): pcneo show 58 --plot 58.svg\n"
        "Go on in a notebook: pcneo demo --notebook tutorial.ipynb\n"
        f"Stop it: pcneo --data {shlex.quote(str(server.data))} server stop"
    )


def _annotate_and_ask(db: Database, bars: Bars) -> tuple[UpdatedRun, list[QueryResult]]:
    """Load the shipped friendships and annotate them; return what was stored, and the answers to `_QUERIES`."""
    from pcneo import annotate
    from pcneo.annotate.load import load
    from pcneo.face.first_steps import sample_path
    from pcneo.stored.queries import run_query

    load(db, sample_path(), node_label="Person", relationship_type="KNOWS", key="id", progress=bars)
    selection = Selection("Person", "KNOWS", "id")
    (run,) = annotate.write(db, p="0.3", graph="friends", selection=selection, progress=bars).runs  # as in the guide
    return run, [run_query(db, name, parameters={"run": run.run, **given}) for name, _, given in _QUERIES]


def _write_notebook(path: Path) -> None:
    from pcneo.basics.whole_file import check_place, whole_file
    from pcneo.cli.sample import tutorial_path

    if path.suffix != ".ipynb":
        raise typer.BadParameter(f"{path}: a notebook's name ends in .ipynb.", param_hint="--notebook")
    check_place(path, "notebook", replace=False)
    with whole_file(path, replace=False) as file:
        file.write(tutorial_path().read_bytes())
    say_verbatim(f"{path}: the tutorial. Open it in Jupyter:\n  jupyter lab {shlex.quote(str(path))}")
    say_verbatim("It needs the extra notebook. In a checkout:\n  pip install '.[notebook]' jupyterlab")
