"""Options that several commands share, each with one spelling and one help text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.completion import complete_runs

NodeLabels = Annotated[
    list[str] | None, typer.Option("--node-label", help="Label of the vertices; may be given several times.")
]
RelationshipTypes = Annotated[
    list[str] | None, typer.Option("--relationship-type", help="Type of the edges; may be given several times.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines: names in camelCase, numbers not rounded.")]
RunOrGraph = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN|GRAPH",
        help="A run's id, the beginning of one, or a graph's name.",
        autocompletion=complete_runs,
    ),
]
ExportTo = Annotated[
    Path | None, typer.Option("--to", help="A new file for other programs, .graphml or .json; only you can read it.")
]


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse those of these options that were given: ignored in silence, they would seem to have an effect."""
    if named := given(options):
        raise typer.BadParameter(why, param_hint=named)


def given(options: Mapping[str, object]) -> str:
    """Return the names of the options that were given, separated by commas; empty if none was."""
    return ", ".join(name for name, value in options.items() if not (value is None or value is False or value == []))
