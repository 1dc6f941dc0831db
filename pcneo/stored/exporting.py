"""Use case: write a stored run, or one cohesion, to a file that other programs read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.whole_file import check_place, whole_file
from pcneo.errors import GraphError, ParameterError
from pcneo.stored.networks import Network, as_scalars, network_of
from pcneo.stored.runs import find_run
from pcneo.stored.showing import read_cohesions

if TYPE_CHECKING:
    from pcneo.store.database import Database


ENDINGS = (".graphml", ".json")
MOST_IN_GRAPHML = 5_000_000
"""Nodes, edges and memberships together: GraphML is built in memory, with about a kilobyte for each node or edge."""
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes:
        path: the file.
        nodes, edges: how many there are.
        memberships: members listed in the nodes' attributes.
        bytes: the size of the file.
    """

    path: Path
    nodes: int
    edges: int
    memberships: int
    bytes: int


def export_run(
    db: Database, path: AnyPath, *, run: str | None = None, graph: str | None = None, progress: Progress | None = None
) -> ExportResult:
    """Write a run's whole graph with its cohesions."""
    path = check_export(path)
    return export_of(network_of(read_cohesions(db, find_run(db, run=run, graph=graph), progress)), path, progress)


def export_of(network: Network, path: AnyPath, progress: Progress | None = None) -> ExportResult:
    """Write a network as GraphML, in which a list of members is JSON text, or as networkx's node-link JSON.

    JSON is written piece by piece, so no run is too large for it.
    """
    path = check_export(path)
    with whole_file(path, replace=False, mode=0o600) as file:  # private, since it holds the graph, as Parquet files do
        (_write_graphml if path.suffix.lower() == ".graphml" else _write_json)(file, network, progress)
        written = file.tell()
    return ExportResult(path, network.node_count, network.edge_count, network.memberships, written)


def check_export(path: AnyPath) -> Path:
    """Check before long work that an export can be written at a path, and return that."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"{path}: an export's name must end in {' or '.join(ENDINGS)}.", name="to", value=path)
    check_place(path, "to", replace=False)
    return path


def _write_json(file: BinaryIO, network: Network, progress: Progress | None) -> None:
    """Write networkx's node-link format, with one node or edge a line."""
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
            f"more than the {MOST_IN_GRAPHML:,} for which GraphML is built in memory. Export to a .json file.",
            size=size,
        )
    graph = networkx.Graph(**network.attributes)
    graph.add_nodes_from((_xml_key(key), as_scalars(attributes)) for key, attributes in network.nodes())
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
