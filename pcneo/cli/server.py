"""`pcneo server start | status | stop`: a local Neo4j to try things on."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from pcneo.basics.config import ConnectionSettings
from pcneo.basics.visible import visible
from pcneo.cli.console import Bars, chosen_folder, print_json, working
from pcneo.cli.help_text import Command, Group
from pcneo.cli.options import Json
from pcneo.cli.streams import note, say, say_verbatim
from pcneo.errors import LocalServerError, PcneoError

if TYPE_CHECKING:
    from pcneo.server.servers import LocalServer


app = typer.Typer(
    cls=Group,
    help="Run a local Neo4j Community, fetched when it is first needed; loopback only.\n\n"
    "`pcneo --data FOLDER server start` starts a separate server, which keeps its graph in that folder.\n\n"
    "Example: pcneo server start",
    no_args_is_help=True,
)


@app.command(cls=Command)
def start(
    browser: Annotated[
        bool, typer.Option("--browser", help="Also serve Neo4j Browser, over HTTP on a free port of this machine only.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Also run a service that answers requests; see `pcneo serve`.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local server; it runs until `pcneo server stop`.

    Example: pcneo --data ./graph server start
    """
    server = started(chosen_folder(), browser=browser, serve=serve)
    _print(server, as_json, "is already running" if server.already_running else "started")
    if browser and not as_json:
        say_verbatim(f"\n{_to_paste(server)}".removesuffix("\n"))


def started(folder: Path | None, *, browser: bool = False, serve: bool = False) -> LocalServer:
    """Start a local server, show how far that is, and note what has to be fetched first."""
    from pcneo.server.browser import browser_is_fetched
    from pcneo.server.servers import is_fetched, start

    missing = {} if is_fetched() else {"Neo4j": 155}
    if browser and not browser_is_fetched():
        missing["Neo4j Browser"] = 15
    if missing:
        note(f"Fetching {' and '.join(missing)} first (about {sum(missing.values())} MB).")
    with working("starting Neo4j") as bars:
        report = fetch_progress(bars, 2 if browser else 1) if missing else None
        return start(folder, browser=browser, serve=serve, progress=report)


def fetch_progress(bars: Bars, parts: int) -> Callable[[int, int], None]:
    """Return the callback for fetching jars: it moves a bar, and prints a line once the last of the parts is there."""
    left = parts

    def report(done: int, total: int) -> None:
        nonlocal left
        bars("fetching jars", done, total)
        left -= done == total
        if not left:
            note("All of it has been fetched; starting Neo4j.")

    return report


def _to_paste(server: LocalServer) -> str:
    """Return a query to paste into Neo4j Browser: a cohesion of the latest run that fits into a picture."""
    from pcneo.server.folders import data_option
    from pcneo.store.connection import connect_to
    from pcneo.stored.queries import render_query, run_query
    from pcneo.stored.runs import list_runs

    stored, rows = None, []
    try:
        with connect_to(ConnectionSettings(server.uri, server.username, server.password)) as db:
            stored = max(list_runs(db), key=lambda stored: stored.run.version, default=None)
            if stored is not None:
                rows = run_query(db, "densest_cohesions", parameters={"run": stored.run.id, "limit": 1}).rows
    except PcneoError as error:
        return f"No query to paste: {error}\n"
    if stored is None or not rows:
        named = data_option(server.data)
        return (
            f"Nothing is stored yet; after `pcneo{named} annotate`, start with --browser again for a query to paste.\n"
        )
    query = render_query("cohesion_graph", selection=stored.selection, values={"run": stored.run.id, "id": rows[0][0]})
    cypher = "".join(line for line in query.splitlines(keepends=True) if not line.startswith("//"))
    prefilled = f"{server.browser}&cmd=edit&arg={quote(cypher)}"
    return (
        "Log in with the password in that file, paste this query and run it; this address has it pasted already:\n\n"
        f"  {prefilled}\n\n{query}"
    )


@app.command(cls=Command)
def status(as_json: Json = False) -> None:
    """Show which local servers are running, and how to reach them; exit code 1 if there are none.

    Example: pcneo server status
    """
    from pcneo.server.servers import list_running, list_starting
    from pcneo.server.servers import status as server_status

    data = chosen_folder()
    servers = list_running() if data is None else list(filter(None, [server_status(data)]))
    starting = list_starting(data)
    for record in starting:
        note(f"Neo4j {record.version}, process {record.pid}, is starting on {visible(record.data)}.")
    if not servers:
        if not starting:
            note("No local server is running." if data is None else f"No local server runs on {data}.")
        raise typer.Exit(PcneoError.exit_code)
    for server in servers:
        _print(server, as_json, "running")


@app.command(cls=Command)
def stop() -> None:
    """Stop the local server; its data stays. Without --data, it is the one on the default folder, else the only one.

    Example: pcneo server stop
    """
    from pcneo.server.servers import find_running
    from pcneo.server.servers import status as server_status
    from pcneo.server.servers import stop as stop_server

    data = chosen_folder()
    server = find_running() if data is None else None
    folder = data if server is None else server.data
    running = server
    if folder is not None:
        with suppress(LocalServerError):  # it is stopped whatever its files say
            running = server_status(folder)
    if running is not None:
        beside = "" if running.service is None else f", and the service {running.service} first"
        note(f"Stopping Neo4j, process {running.pid}, on {visible(str(running.data))}{beside}; its data stays.")
    with working("stopping Neo4j"):
        stopped = stop_server(folder)
    where = "" if folder is None else f" on {visible(str(folder))}"
    say(f"stopped the server{where}" if stopped else f"no local server was running{where}")


def _print(server: LocalServer, as_json: bool, state: str) -> None:
    if as_json:
        from pcneo.server.data_folder import password_file

        print_json(
            {
                "uri": server.uri,
                "username": server.username,
                "passwordFile": password_file(server.data),
                "browser": server.browser,
                "service": server.service,
                "pid": server.pid,
                "data": server.data,
                "version": server.version,
                "state": state,
            }
        )
    else:
        new = " with a new, empty database" if server.is_new else ""
        say_verbatim(f"Neo4j {server.version} {state}{new}\n{describe(server)}")
        say_verbatim(f"To use it in this shell and from Python:\n{exports(server)}")


def exports(server: LocalServer) -> str:
    """Return lines for a shell that tell Python of this server; the password stays in its file."""
    from pcneo.server.data_folder import password_file

    return (
        f"  export NEO4J_URI={server.uri} NEO4J_USERNAME={server.username}\n"
        f"  export NEO4J_PASSWORD_FILE={shlex.quote(str(password_file(server.data)))}"
    )


def describe(server: LocalServer) -> str:
    """Say how to reach the server; the password stays in its file."""
    from pcneo.server.browser import style_file
    from pcneo.server.companion import service_log
    from pcneo.server.data_folder import password_file

    return (
        f"  address   {server.uri}\n"
        f"  user      {server.username}\n"
        f"  password  in {password_file(server.data)}\n"
        f"  data      {server.data}\n"
        f"  process   {server.pid}"
        + ("" if server.service is None else f"\n  service   {server.service}, its log in {service_log(server.data)}")
        + ("" if server.browser is None else f"\n  browser   {server.browser}\n  style     {style_file()}")
    )
