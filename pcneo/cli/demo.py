"""`pcneo demo`: start, load, annotate and query, on the graph that comes with the package."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from pcneo.basics.config import ConnectionSettings
from pcneo.basics.frames import rounded
from pcneo.cli.console import Bars, open_database, print_table, working
from pcneo.cli.server import describe, exports, telling_fetched
from pcneo.cli.streams import note, say, say_verbatim


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
    from pcneo.cli.walkthrough import DEMO_QUERIES, run_demo, start_demo_server
    from pcneo.server.servers import is_fetched

    fetched = is_fetched()
    if not fetched:
        note("Fetching Neo4j first (about 155 MB).")
    with working("starting Neo4j") as bars:
        server = start_demo_server(None if fetched else telling_fetched(bars))
    with open_database(ConnectionSettings(server.uri, server.username, server.password), local=True) as db:
        with Bars() as bars:
            result = run_demo(db, progress=bars)
        run = result.written.runs[0]
        members = run.summary.memberships / max(1, run.summary.cohesions)
        say(
            f"Stored the p-cohesion (p = {run.search.p}) of each of {run.summary.cohesions:,} students, with "
            f"{rounded(members, 2)} members on average."
        )
        for query in DEMO_QUERIES:
            table = result.tables[query.name]
            arguments = "".join(f" --param {name}={value}" for name, value in query.parameters.items())
            say(f"\n{query.question}")
            say_verbatim(f"  pcneo queries {query.name} --run{arguments}")
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
