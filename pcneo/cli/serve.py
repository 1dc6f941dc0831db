"""`pcneo serve`."""

from __future__ import annotations

import logging
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from pcneo.basics.config import ConnectionSettings
from pcneo.cli.console import local_settings, named_settings
from pcneo.cli.streams import say_verbatim

OTHER = {"config", "print_unit", "help"}
"""Options that a configuration file cannot set."""


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read limits and the defaults of the other options from a file; the command line takes precedence."""
    from pcneo.service.service_settings import LIMITS, read_configuration

    if path is not None:
        options = {parameter.name or "" for parameter in context.command.params} - OTHER
        named = read_configuration(path, {*options, *LIMITS})
        context.meta[__name__] = {name: value for name, value in named.items() if name in LIMITS}
        of_options = {name: value for name, value in named.items() if name in options}
        if isinstance(of_options.get("graph"), str):  # as one --graph on the command line
            of_options["graph"] = [of_options["graph"]]
        context.default_map = {**(context.default_map or {}), **of_options}
    return path


def serve(
    context: typer.Context,
    graph: Annotated[
        list[str] | None,
        typer.Option(
            "--graph", help="Answer for this graph; may be given several times.", show_default="all that are known"
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            help="Also bring whole graphs up to date at this interval: 60s, 5m, 1h (or seconds).",
            metavar="TIME",
        ),
    ] = None,
    allow_clean: Annotated[
        bool, typer.Option("--allow-clean", help="Let requests remove runs that no release rests on.")
    ] = False,
    max_memberships: Annotated[
        int,
        typer.Option("--max-memberships", help="Most memberships, by estimate, that a run of a whole graph may have."),
    ] = 5_000_000,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Answer /metrics and /healthz at this address, by default on loopback.",
            metavar="HOST:PORT",
        ),
    ] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log JSON, one object per line.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            callback=_read_config,
            is_eager=True,
            help="TOML file with any of these options, and with limits that only it can set: max-vertices, "
            "max-run-vertices, max-waiting, keep-days, keep-answers, concurrency, grace (see the guide).",
        ),
    ] = None,
    print_unit: Annotated[bool, typer.Option("--print-unit", help="Print a systemd unit and exit.")] = False,
) -> None:
    """Answer requests, which are nodes: anyone who can write to the database can ask, and read the answer there.

    CREATE (:PCohesionRequest {command: 'annotate', graph: 'friends', p: '0.3', vertices: [58]}). A request never makes
    a release or touches a budget. On Neo4j Community everyone who can log in can write anything; to let users
    only ask, you need Enterprise.

    Example: pcneo serve --graph friends --every 60s
    """
    from pcneo.service.service_settings import ServiceSettings, parse_duration
    from pcneo.service.serving import Service

    settings = ServiceSettings(
        graphs=tuple(graph or ()),
        allow_clean=allow_clean,
        every=None if every is None else parse_duration(every),
        max_memberships=max_memberships,
        **context.meta.get(__name__, {}),
    )
    if print_unit:
        from pcneo.service.unit import systemd_unit

        arguments = [text for text in sys.argv[1:] if text != "--print-unit"]
        say_verbatim(systemd_unit(arguments, settings.grace).rstrip())
        return
    _log_events(log_json)
    service = Service(settings, _connection)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.end())
    if metrics is None:
        monitor = nullcontext()
    else:
        from pcneo.service.monitoring import monitored

        monitor = monitored(service, metrics)
    with monitor:
        service.run()


def _connection() -> ConnectionSettings:
    return named_settings() or local_settings()


def _log_events(as_json: bool) -> None:
    from pcneo.service.events import EventFormatter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EventFormatter(as_json=as_json))
    logging.getLogger().handlers = [handler]
