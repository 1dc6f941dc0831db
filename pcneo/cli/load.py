"""`pcneo load`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.console import Bars, connected, note, print_json, print_table
from pcneo.cli.options import Json

__all__ = ["load"]


def load(
    file: Annotated[Path, typer.Argument(help="Edge list (space, tab or comma; .gz), GraphML, GML or GEXF.")],
    node_label: Annotated[str, typer.Option("--node-label", help="Label of the new nodes.")],
    relationship_type: Annotated[str, typer.Option("--relationship-type", help="Type of the new relationships.")],
    key: Annotated[str, typer.Option("--key", help="Property that holds the key; made unique.")],
    max_gib: Annotated[
        float,
        typer.Option(
            "--max-gib", min=0, help="Most GiB of text to read, unpacked; an eighth of it for GraphML, GML and GEXF."
        ),
    ] = 2,
    as_json: Json = False,
) -> None:
    """Load a graph file into the database; loading it again adds nothing.

    Example: pcneo load friends.csv --node-label Person --relationship-type KNOWS --key id
    """
    from pcneo.annotate.load import load as load_graph

    with connected() as db, Bars() as bars:
        result = load_graph(
            db,
            file,
            node_label=node_label,
            relationship_type=relationship_type,
            key=key,
            max_bytes=int(min(max_gib, 2**30) * 2**30),
            progress=bars,
        )
    if as_json:
        print_json(result)
        return
    print_table(
        ["", "in the file", "created", "already there"],
        [
            ("nodes", result.node_count, result.nodes_created, result.nodes_matched),
            ("relationships", result.relationship_count, result.relationships_created, result.relationships_matched),
        ],
        f"{file.name}: keys are {result.key_kind}s",
    )
    if result.header is not None:
        note(f"The first line names the columns and was left out: {result.header}")
    if result.numbers_as_text:
        note(
            f"Keys that are numbers: {result.numbers_as_text:,} of {result.node_count:,}. The others are text, and a "
            "graph has keys of one kind, so all are stored as text."
        )
    for count, what in (
        (result.self_loops_dropped, "self-loops dropped"),
        (result.parallel_dropped, "repeated edges dropped"),
        (result.lines_with_more_columns, "lines with more than two columns, the further ones ignored"),
    ):
        if count:
            note(f"{what}: {count:,}")
    for name, count in result.attributes_dropped.items():
        note(f"attribute {name!r} is no scalar and was left out, {count:,} times")
