"""`pcneo mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from pcneo.cli.console import connected


def mcp(
    allow_requests: Annotated[
        bool,
        typer.Option("--allow-requests", help="Let agents place requests, which `pcneo serve` answers."),
    ] = False,
) -> None:
    """Answer agents over the Model Context Protocol, on standard input and output.

    They can list graphs and runs, read cohesions, run the shipped queries, estimate, and read answers to requests; they
    can never make a release or touch a budget. The client that starts it also ends it. It needs the extra mcp.

    Example: pcneo mcp --allow-requests
    """
    from pcneo.mcp import run_agent_server

    with connected() as db:
        run_agent_server(db, allow_requests=allow_requests)
