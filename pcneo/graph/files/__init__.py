"""Graph files as vertices and edges: edge lists, GraphML, GML and GEXF, each also gzipped.

The format follows from the name's suffix: `.graphml`, `.gml` and `.gexf`, each with or without `.gz`; anything else is
an edge list. `edge_list` says how one is read, `networkx_formats` how the other three are.
"""

from __future__ import annotations

import os
from pathlib import Path

from pcneo.graph.files.edge_list import read_edge_list
from pcneo.graph.files.graph_file import GraphFile, Scalar, is_integer_key
from pcneo.graph.files.networkx_formats import FORMATS, read_attributed

__all__ = ["GraphFile", "Scalar", "is_integer_key", "read_graph_file"]


def read_graph_file(path: str | os.PathLike[str], key: str | None = None) -> GraphFile:
    """Read a whole file as an undirected simple graph (ALGORITHM.md#the-graph).

    Args:
        path: a regular file; the suffix chooses the format, `.gz` at the end is taken off first.
        key: name of the key property. Where the vertices of a GraphML, GML or GEXF file carry an attribute of this
            name, its values are the keys, so that the property means in the database what it means in the file;
            otherwise, and in edge lists, the file's own identifiers are.

    Raises:
        FileFormatError: the file cannot be read as a graph; names the line wherever there is one.
    """
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        return read_attributed(path, suffixes[-1], key)
    return read_edge_list(path)
