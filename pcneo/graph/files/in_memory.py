"""A graph that a Python user has in memory, in the form that the reader of a file returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from pcneo.basics.keys import INT64
from pcneo.basics.visible import is_utf8
from pcneo.errors import ParameterError
from pcneo.graph.files.graph_file import LONGEST_KEY, GraphFile, Properties, graph_file
from pcneo.graph.given import GivenGraph, as_graph


def graph_in_memory(graph: GivenGraph, key: str) -> GraphFile:
    """Return a graph as if it had been read from a file; a networkx graph keeps those attributes that are scalars."""
    arrays = as_graph(graph)
    for name in arrays.keys.tolist():
        _check_text(name, "a key")
        if isinstance(name, str) and len(name) > LONGEST_KEY:
            raise ParameterError(
                f"A key of more than {LONGEST_KEY:,} characters, {name[:20]!r}..., is too long for Neo4j's index.",
                name="graph",
                value=name,
            )
    sources = np.repeat(np.arange(arrays.vertex_count), arrays.degrees)
    targets = arrays.neighbours.astype(np.int64)
    once = sources < targets
    sources, targets = sources[once], targets[once]
    vertices, edges = [], []
    dropped: Counter[str] = Counter()
    if hasattr(graph, "adjacency"):
        keys = arrays.keys.tolist()
        vertices = [_scalars({**graph.nodes[v], key: None}, dropped) for v in keys]
        ends = zip(arrays.keys[sources].tolist(), arrays.keys[targets].tolist(), strict=True)
        edges = [_scalars(_attributes(graph, a, b), dropped) for a, b in ends]
    return graph_file(arrays.keys, np.column_stack((sources, targets)), 0, vertices, edges, dropped)


def _attributes(graph: Any, a: Any, b: Any) -> Mapping[str, Any]:
    """Return the attributes of an edge, in either direction; of parallel edges, those of the first."""
    between = graph.get_edge_data(a, b) or graph.get_edge_data(b, a) or {}
    return next(iter(between.values()), {}) if graph.is_multigraph() else between


def _scalars(attributes: Mapping[Any, Any], dropped: Counter[str]) -> Properties:
    """Return the scalar attributes; count the others in `dropped`."""
    properties: dict[str, Any] = {}
    for name, given in attributes.items():
        value = given.item() if isinstance(given, np.generic) else given
        if isinstance(value, int) and value not in INT64:
            raise ParameterError(
                f"attribute {name!r} is {value}, which does not fit in Neo4j's 64-bit integers",
                name=str(name),
                value=value,
            )
        _check_text(name, "the name of an attribute")
        _check_text(value, f"attribute {name!r}")
        if name and isinstance(name, str) and isinstance(value, bool | int | float | str):
            properties[name] = value
        elif value is not None:
            dropped[str(name)] += 1
    return properties


def _check_text(value: object, what: str) -> None:
    if isinstance(value, str) and not is_utf8(value):
        raise ParameterError(
            f"{what[0].upper()}{what[1:]} has half of a surrogate pair, which UTF-8 cannot write: {value[:20]!r}.",
            name="graph",
            value=value,
        )
