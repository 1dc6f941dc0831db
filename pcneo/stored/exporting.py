"""Use case: write a stored run, or one cohesion, to a file that other programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.searches import AnyP
from pcneo.basics.whole_file import check_place, whole_file
from pcneo.errors import GraphError, ParameterError
from pcneo.stored.networks import Attributes, Network, network_of
from pcneo.stored.runs import LATEST, list_runs
from pcneo.stored.showing import read_cohesions, show

if TYPE_CHECKING:
    from pcneo.store.database import Database

__all__ = ["ExportResult", "export", "export_of"]

ENDINGS = (".graphml", ".json")
MOST_IN_GRAPHML = 5_000_000
"""Nodes, edges and memberships together: GraphML is built in memory, about a kilobyte for a node or edge."""
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes:
        path: the file.
        nodes, edges: how many.
        memberships: members listed in the nodes' attributes.
        bytes: the size of the file.
    """

    path: Path
    nodes: int
    edges: int
    memberships: int
    bytes: int


def export(
    db: Database,
    *,
    what: Key,
    path: AnyPath,
    run: str | None = None,
    graph: str | None = None,
    p: AnyP | None = None,
    search: str | None = None,
    progress: Progress | None = None,
) -> ExportResult:
    """Write a run, or the cohesion of one vertex, as GraphML or as JSON.

    The nodes, edges and attributes are those of `pcneo.to_networkx`. JSON is networkx's node-link format, written piece
    by piece, so that no run is too large; in GraphML a list of members is JSON text.

    Args:
        db: the database.
        what: a run's id or `latest` for the whole run, else the key of a vertex.
        path: a new file, `.graphml` or `.json`, which only its owner can read.
        run: for a vertex, the run its cohesion is of, as for `pcneo.show`.
        graph, p, search: what the run is of, where several fit.
        progress: called with stage, done and total.

    Returns:
        What was written.

    Raises:
        ParameterError: another ending, or the file exists or cannot be written.
        GraphError: a run too large for GraphML, or a key that XML cannot hold.
        NotFoundError, GraphChangedError: as in `show` and `read_cohesions`.
    """

    def read() -> Network:
        if what == LATEST or what in {stored.run.id for stored in list_runs(db)}:
            if run is not None:
                raise ParameterError("A run is exported whole; name no other beside it.", name="run", value=run)
            return network_of(read_cohesions(db, run=str(what), graph=graph, p=p, search=search, progress=progress))
        return network_of(show(db, vertex=what, run=run, graph=graph, p=p, search=search))

    return export_of(read, path, progress)


def export_of(read: Callable[[], Network], path: AnyPath, progress: Progress | None = None) -> ExportResult:
    """Write what `read` returns, which is called once the file is known to be a place to write to; errors as above."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"{path}: an export's name ends in {' or '.join(ENDINGS)}.", name="path", value=path)
    check_place(path, "path", replace=False)
    network = read()
    with whole_file(path, replace=False, mode=0o600) as file:  # it holds the graph, as cohesions in Parquet do
        (_write_graphml if path.suffix.lower() == ".graphml" else _write_json)(file, network, progress)
        written = file.tell()
    return ExportResult(path, network.node_count, network.edge_count, network.memberships, written)


def _write_json(file: BinaryIO, network: Network, progress: Progress | None) -> None:
    """Write networkx's node-link format, a node or an edge a line."""
    head = {"directed": False, "multigraph": False, "graph": network.attributes}
    file.write(json.dumps(head, ensure_ascii=False)[:-1].encode())
    nodes = ({**attributes, "id": key} for key, attributes in network.nodes())
    edges = ({**attributes, "source": a, "target": b} for a, b, attributes in network.edges())
    done, total = 0, network.node_count + network.edge_count
    for name, items in (("nodes", nodes), ("edges", edges)):
        file.write(f', "{name}": ['.encode())
        for number, item in enumerate(items):
            file.write(b",\n" if number else b"\n")
            file.write(json.dumps(item, ensure_ascii=False).encode())
            done += 1
            if progress and done % 10_000 == 0:
                progress("writing", done, total)
        file.write(b"\n]")
    file.write(b"}\n")
    if progress:
        progress("writing", total, total)


def _write_graphml(file: BinaryIO, network: Network, progress: Progress | None) -> None:
    import networkx

    size = network.node_count + network.edge_count + network.memberships
    if size > MOST_IN_GRAPHML:
        raise GraphError(
            f"{network.node_count:,} nodes, {network.edge_count:,} edges and {network.memberships:,} memberships are "
            f"more than the {MOST_IN_GRAPHML:,} that GraphML is put together from. Export to a .json file.",
            size=size,
        )
    graph = networkx.Graph(**network.attributes)
    graph.add_nodes_from((_xml_key(key), _plain(attributes)) for key, attributes in network.nodes())
    graph.add_edges_from(network.edges())
    if progress:
        progress("writing", 0, size)
    networkx.write_graphml_xml(graph, file)
    if progress:
        progress("writing", size, size)


def _xml_key(key: Key) -> Key:
    if isinstance(key, str) and NO_XML.search(key):
        raise GraphError(f"The key {key!r} cannot be written in XML. Export to a .json file.", key=key)
    return key


def _plain(attributes: Attributes) -> Attributes:
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
        for name, value in attributes.items()
    }
