"""`pcneo serve`."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from pcneo.basics.config import ConnectionSettings, read_environment
from pcneo.cli.console import local_settings
from pcneo.cli.streams import say_verbatim

__all__ = ["serve"]

OTHER = {"config", "print_unit", "help"}
"""Options that a configuration file cannot have."""


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the defaults of the other options from a file; what stands on the command line counts more."""
    from pcneo.service.service_settings import read_configuration

    if path is not None:
        names = {parameter.name or "" for parameter in context.command.params} - OTHER
        context.default_map = {**(context.default_map or {}), **read_configuration(path, names)}
    return path


def serve(
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
    max_vertices: Annotated[int, typer.Option("--max-vertices", help="Keys that one request may name.")] = 1_000,
    max_run_vertices: Annotated[
        int, typer.Option("--max-run-vertices", help="Cohesions of a run of single vertices.")
    ] = 100_000,
    max_memberships: Annotated[
        int, typer.Option("--max-memberships", help="Memberships of a run of a whole graph, estimated.")
    ] = 5_000_000,
    max_waiting: Annotated[int, typer.Option("--max-waiting", help="Requests that may wait; one more fails.")] = 10_000,
    keep_days: Annotated[int, typer.Option("--keep-days", help="Days for which an answer is kept.")] = 7,
    keep_answers: Annotated[int, typer.Option("--keep-answers", help="Answers that are kept.")] = 10_000,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, help="Threads that search.", show_default="all cores")
    ] = None,
    grace: Annotated[
        float, typer.Option("--grace", help="Seconds for the request under way when the service is to end.")
    ] = 20.0,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", help="Answer /metrics and /healthz there, by default on loopback.", metavar="HOST:PORT"
        ),
    ] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log JSON, one object a line.")] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config", callback=_read_config, is_eager=True, help="TOML file with any of these options."),
    ] = None,
    print_unit: Annotated[bool, typer.Option("--print-unit", help="Print a systemd unit and exit.")] = False,
) -> None:
    """Answer requests, which are nodes: whoever may write to the database may ask, and reads the answer there.

    CREATE (:PCohesionRequest {command: 'annotate', graph: 'friends', p: '0.3', vertices: [58]}). Never a release, never
    a budget. On Neo4j Community whoever can log in may write anything; users who may only ask need Enterprise.

    Example: pcneo serve --graph friends --every 60s
    """
    from pcneo.service.service_settings import ServiceSettings, parse_duration
    from pcneo.service.serving import Service

    settings = ServiceSettings(
        graphs=tuple(graph or ()),
        allow_clean=allow_clean,
        every=None if every is None else parse_duration(every),
        max_vertices=max_vertices,
        max_run_vertices=max_run_vertices,
        max_memberships=max_memberships,
        max_waiting=max_waiting,
        keep_days=keep_days,
        keep_answers=keep_answers,
        concurrency=concurrency,
        grace=grace,
    )
    if print_unit:
        from pcneo.service.unit import systemd_unit

        arguments = [text for text in sys.argv[sys.argv.index("serve") + 1 :] if text != "--print-unit"]
        if config is not None:
            arguments = [text.replace(str(config), str(config.resolve())) for text in arguments]
        say_verbatim(systemd_unit(arguments, grace).rstrip())
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
    return read_environment(os.environ) or local_settings()


def _log_events(as_json: bool) -> None:
    from pcneo.service.events import EventFormatter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EventFormatter(as_json=as_json))
    logging.getLogger().handlers = [handler]
