"""The command line. A command parses its options, calls one public function and prints the result.

Each command has a file of the same name; `console.py` and `options.py` hold what they share.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pcneo.cli import (
    annotate,
    audit,
    budget,
    check,
    clean,
    demo,
    load,
    mcp,
    party,
    queries,
    release,
    runs,
    serve,
    server,
    show,
)
from pcneo.cli.console import choose_server
from pcneo.cli.help_text import Command, Group
from pcneo.cli.streams import VisibleFormatter

__all__ = ["app"]

EXIT_CODES = """
Exit codes:
  0  done
  1  other error
  2  wrong argument
  3  unreadable file
  4  graph unfit, changed or not found
  5  database (connection, rights, schema)
  6  another writer
  7  local server
  8  failed self-check
  9  budget
 10  done, but the answer could not be printed
 11  cluster
130  interrupted (129, 143 by SIGHUP, SIGTERM)
"""

app = typer.Typer(
    name="pcneo",
    cls=Group,
    help="Find and store the critical connections of a Neo4j graph: minimal p-cohesions.\n\n"
    "Connection: NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD (or NEO4J_PASSWORD_FILE, or a prompt), NEO4J_DATABASE; "
    "without NEO4J_URI, the running local server.\n\n"
    "Example: pcneo demo",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="demo", cls=Command)(demo.demo)
app.command(name="load", cls=Command)(load.load)
app.command(name="annotate", cls=Command)(annotate.annotate)
app.command(name="mcp", cls=Command)(mcp.mcp)
app.command(name="queries", cls=Command)(queries.queries)
app.command(name="show", cls=Command)(show.show)
app.command(name="runs", cls=Command)(runs.runs)
app.command(name="check", cls=Command)(check.check)
app.command(name="clean", cls=Command)(clean.clean)
app.command(name="release", cls=Command)(release.release)
app.add_typer(party.app, name="party")
app.command(name="audit", cls=Command)(audit.audit)
app.add_typer(budget.app, name="budget")
app.command(name="serve", cls=Command)(serve.serve)
app.add_typer(server.app, name="server")


def _show_version(wanted: bool) -> None:
    if wanted:
        from pcneo.basics.config import __version__

        typer.echo(f"pcneo {__version__}")
        raise typer.Exit


class _StandardErrorAsItIs(logging.StreamHandler[TextIO]):
    """Looks up standard error for each line: while bars are drawn, it is a stream that prints above them."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


@app.callback()
def _main(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log each step on standard error.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Use the local server on this folder, even if NEO4J_URI is set."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    choose_server(data)
    context.call_on_close(lambda: choose_server(None))  # a later call in this process may use another
    handler = _StandardErrorAsItIs()
    handler.setFormatter(VisibleFormatter("%(asctime)s %(name)s: %(message)s" if verbose else "pcneo: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler])
    # The driver logs every message it sends, values included; our own log says what matters.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    logging.getLogger("numba").setLevel(logging.WARNING)
    logging.getLogger("pcneo").setLevel(logging.DEBUG if verbose else logging.INFO)
