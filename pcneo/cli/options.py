"""Options that several commands have, each with its one spelling and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.basics.searches import P
from pcneo.cli.completion import complete_graphs, complete_runs

__all__ = [
    "Closer",
    "Delta",
    "EpsilonOne",
    "ExportTo",
    "GraphName",
    "Json",
    "NodeLabels",
    "RelationshipTypes",
    "RunName",
    "RunOrGraph",
    "RunP",
    "RunSearch",
]

NodeLabels = Annotated[
    list[str] | None, typer.Option("--node-label", help="Label of the vertices; may be given several times.")
]
RelationshipTypes = Annotated[
    list[str] | None, typer.Option("--relationship-type", help="Type of the edges; may be given several times.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines: names in camelCase, numbers not rounded.")]
RunName = Annotated[
    str | None,
    typer.Option(
        "--run",
        help="The run's id (friends@3/10), enough of its beginning to be unique, or its graph's name.",
        show_default="the latest",
        autocompletion=complete_runs,
    ),
]
RunOrGraph = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN|GRAPH]",
        help="A run's id, what it begins with, or a graph's name.",
        autocompletion=complete_runs,
    ),
]
ExportTo = Annotated[
    Path | None, typer.Option("--to", help="A new file for other programs, .graphml or .json; only you can read it.")
]
GraphName = Annotated[
    str | None,
    typer.Option("--graph", help="The graph, where more than one fits.", autocompletion=complete_graphs),
]
RunP = Annotated[
    P | None, typer.Option("-p", parser=P, metavar="FRACTION", help="The run's p, where more than one fits.")
]
RunSearch = Annotated[str | None, typer.Option("--search", help="The run's search, where more than one fits.")]
Delta = Annotated[
    str | None,
    typer.Option("--delta", help="δ of modelled, total, edge, elv and published.", show_default="min(1e-6, 1/n²)"),
]
EpsilonOne = Annotated[
    str | None,
    typer.Option(
        "--epsilon-1",
        help="The part of ε that finds the scale λ.",
        show_default="chosen from ε for edge and total, else ε/10",
    ),
]
Closer = Annotated[
    int | None,
    typer.Option("--h", help="How many vertices elv and published ask for a closer bound.", show_default="3"),
]
