"""`pcneo load`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.cli.annotate import print_written
from pcneo.cli.console import Bars, connected, print_json, print_table
from pcneo.cli.options import Json, refuse
from pcneo.cli.streams import note
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.annotate.load import LoadResult


_OF_COHESIONS = ".parquet"


def load(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A graph: an edge list (space, tab or comma; .gz), GraphML, GML or GEXF. Or cohesions: every .parquet "
            "file of `annotate --to`.",
        ),
    ],
    node_label: Annotated[str | None, typer.Option("--node-label", help="For a graph: label of the new nodes.")] = None,
    relationship_type: Annotated[
        str | None, typer.Option("--relationship-type", help="For a graph: type of the new relationships.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="For a graph: property that holds the key; it is made unique.")
    ] = None,
    max_gib: Annotated[
        float | None,
        typer.Option(
            "--max-gib",
            min=0,
            help="For a graph: refuse more than this many GiB of text, unpacked; an eighth for GraphML, GML and GEXF.",
            show_default="2",
        ),
    ] = None,
    verify: Annotated[
        int | None,
        typer.Option(
            "--verify", metavar="N", min=0, help="For cohesions: search N vertices of each p again, drawn at random."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Load a graph file into the database, or files of cohesions into the standing runs of their graph.

    Loading a graph again adds nothing.

    Cohesions are stored as `annotate` would store them, all of them or none, and their graph must still be the one that
    they were computed from. Each is proved to be minimal there; that a search would find the same one is taken on trust
    from the file. `pcneo runs` and `pcneo check` note this about the run until `pcneo annotate` has searched all of it.

    Example: pcneo load friends.csv --node-label Person --relationship-type KNOWS --key id
    """
    of_graph = {
        "--node-label": node_label,
        "--relationship-type": relationship_type,
        "--key": key,
        "--max-gib": max_gib,
    }
    if any(file.suffix.lower() == _OF_COHESIONS for file in files):
        refuse(
            of_graph,
            f"A {_OF_COHESIONS} file holds cohesions, which know their graph. To load a graph, give an edge list, "
            "GraphML, GML or GEXF.",
        )
        from pcneo.annotate.load_cohesions import load_cohesions

        with connected() as db, Bars() as bars:
            written = load_cohesions(db, files, create_index=True, verify=verify or 0, progress=bars)
        print_json(written) if as_json else print_written(written)
        return
    if verify is not None:
        raise typer.BadParameter("Only cohesions (.parquet) can be searched again.", param_hint="--verify")
    missing = [option for option, value in of_graph.items() if value is None and option != "--max-gib"]
    if missing or node_label is None or relationship_type is None or key is None:
        raise ParameterError(
            f"Also give {_listed(missing)}; {'it names' if len(missing) == 1 else 'they name'} what pcneo creates from "
            "the file.",
            name="load",
        )
    if len(files) > 1:
        raise typer.BadParameter("A graph is one file; load several one by one.", param_hint="FILE")
    from pcneo.annotate.load import load as load_graph
    from pcneo.graph.files import MOST_BYTES

    with connected() as db, Bars() as bars:
        result = load_graph(
            db,
            files[0],
            node_label=node_label,
            relationship_type=relationship_type,
            key=key,
            max_bytes=MOST_BYTES if max_gib is None else int(min(2**30, max_gib) * 2**30),
            progress=bars,
        )
    print_json(result) if as_json else _print(result)


def _print(result: LoadResult) -> None:
    from pcneo.annotate.load import doubts, key_and_line

    table = result.as_columns()
    print_table(list(table), zip(*table.values(), strict=True), result.caption())
    if result.header is not None:
        note(f"The first line names the columns and was left out: {result.header}")
    for doubt in doubts(result):
        note(doubt)
    if result.numbers_as_text and result.text_key is not None:
        note(
            f"Keys that are numbers: {result.numbers_as_text:,} of {result.node_count:,}. The others are text (the "
            f"first is {key_and_line(result.text_key)}), and a graph has keys of one kind, so all are stored as text."
        )
    for count, what in (
        (result.self_loops_dropped, "self-loops dropped"),
        (result.parallel_dropped, "repeated edges dropped"),
        (result.lines_with_more_columns, "lines whose further columns were ignored"),
    ):
        if count:
            note(f"{what}: {count:,}")
    for name, count in result.attributes_dropped.items():
        note(f"attribute {name!r} was left out: it is neither text, a number, nor true or false ({count:,} times)")


def _listed(options: list[str]) -> str:
    *first, last = options
    return f"{', '.join(first)} and {last}" if first else last
