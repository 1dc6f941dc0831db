"""Graph files as vertices and edges: edge lists, GraphML, GML and GEXF, gzipped or not.

The suffix decides the format: `.graphml`, `.gml` or `.gexf`, each with or without `.gz`; anything else is an edge list.
`edge_list` explains how edge lists are read, `networkx_formats` how the others are.
"""

from __future__ import annotations

import os
from pathlib import Path

from pcneo.basics.bounded_file import bad_file
from pcneo.graph.files.edge_list import read_edge_list
from pcneo.graph.files.graph_file import GraphFile
from pcneo.graph.files.networkx_formats import FORMATS, read_attributed

__all__ = ["MOST_BYTES", "GraphFile", "read_graph_file"]


MOST_BYTES = 2 * 2**30
"""Of unpacked text. The shortest possible edges take about twenty times the memory of their text, others less."""
SHARE_OF_FORMATS = 8
"""GraphML, GML and GEXF are parsed as a whole, which takes more memory, so only an eighth as many bytes are read."""


def read_graph_file(path: str | os.PathLike[str], key: str | None = None, *, max_bytes: int = MOST_BYTES) -> GraphFile:
    """Read a whole file as an undirected simple graph (ALGORITHM.md#the-graph)."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    try:
        if suffixes and suffixes[-1] in FORMATS:
            return read_attributed(path, suffixes[-1], key, max_bytes // SHARE_OF_FORMATS)
        return read_edge_list(path, max_bytes)
    except MemoryError as error:
        raise bad_file(path, "not enough memory to read it as a graph") from error
