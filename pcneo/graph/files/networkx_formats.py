"""GraphML, GML and GEXF, parsed by networkx.

- The key of a vertex is the identifier that the format gives it (`id`; in GML too, where `label` is a property like any
  other), unless the caller names an attribute that holds the keys.
- Scalar attributes (booleans, 64-bit integers, floats, strings) become properties. Others, such as the lists and the
  `viz` of GEXF, are dropped, and counted by name.
- What networkx refuses is refused: mixed directed and undirected edges, hyperedges, and a GML edge given twice without
  `multigraph 1`. If a GraphML file has several graphs, the first is read.
"""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import numpy as np

from pcneo.basics.bounded_file import bad_file, read_whole
from pcneo.basics.keys import INT64
from pcneo.basics.visible import is_utf8
from pcneo.graph.files.graph_file import LONGEST_KEY, GraphFile, graph_file, key_array
from pcneo.graph.files.line_blocks import ADVICE

if TYPE_CHECKING:
    import networkx as nx


FORMATS = (".graphml", ".gml", ".gexf")
_GML_POSITION = re.compile(r" at \((\d+), \d+\)")


def read_attributed(path: Path, suffix: str, key: str | None, most: int) -> GraphFile:
    """Read a GraphML, GML or GEXF file."""
    content = read_whole(path, most, ADVICE)
    graph = _parsed(path, suffix, content)
    dropped: Counter[str] = Counter()
    vertex_properties = [
        _properties(path, f"vertex {vertex!r}", attributes, dropped) for vertex, attributes in graph.nodes(data=True)
    ]
    edges = list(graph.edges(data=True))
    edge_properties = [_properties(path, f"edge {a!r}, {b!r}", attributes, dropped) for a, b, attributes in edges]
    position = {vertex: i for i, vertex in enumerate(graph)}
    ends = np.array([(position[a], position[b]) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2)
    texts = _key_texts(path, list(graph), vertex_properties, key)
    return graph_file(key_array(texts), ends, len(content.splitlines()), vertex_properties, edge_properties, dropped)


def _parsed(path: Path, suffix: str, content: bytes) -> nx.Graph[Any]:
    """Return the graph that networkx reads from the content; whatever its readers raise becomes a FileFormatError."""
    import networkx as nx

    name = suffix.removeprefix(".")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ports and untyped keys, which are not used here
            graph = _read(suffix, content)
    except ParseError as error:
        raise bad_file(path, f"not well-formed XML ({error.msg})", error.position[0]) from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise bad_file(path, f"byte 0x{content[error.start]:02x} is not UTF-8", line) from error
    except (nx.NetworkXException, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        place = _GML_POSITION.search(str(error))
        what = f"networkx cannot read it as {name}{_because(error)}"
        raise bad_file(path, what, int(place[1]) if place else None) from error
    if not len(graph):
        raise bad_file(path, f"it has no vertices when read as {name}")
    return graph


def _because(error: Exception) -> str:
    """Return networkx's reason in words for the person who wrote the file; an empty text if it gives none."""
    if isinstance(error, KeyError):
        name = error.args[0] if error.args else ""
        return f": it refers to {name!r}, which it does not declare" if name else ": a reference in it is empty"
    if isinstance(error, RuntimeError | AttributeError | TypeError | IndexError):
        return ": a part that the format requires is missing or wrong"  # networkx failed on it
    return f": {error}" if str(error) else ""


def _read(suffix: str, content: bytes) -> nx.Graph[Any]:
    import networkx as nx

    if suffix == ".graphml":
        return nx.read_graphml(io.BytesIO(content), node_type=_identifier)
    if suffix == ".gexf":
        return nx.read_gexf(io.BytesIO(content), node_type=_identifier)
    # Only at the ends of lines: `splitlines` also cuts texts at U+2028 and others.
    return nx.parse_gml(re.split(r"\r\n|\r|\n", content.decode("utf-8-sig")), label="id")


def _identifier(text: str | None) -> str:
    if text is None:
        raise ValueError("a node without an id, or an edge without a source or a target")
    return text


def _properties(path: Path, of: str, attributes: Mapping[str, object], dropped: Counter[str]) -> dict[str, Any]:
    """Return the scalar attributes; count the others in `dropped`."""
    properties: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name:
            raise bad_file(path, f"{of} has an attribute without a name")
        if isinstance(value, int) and value not in INT64:
            raise bad_file(
                path, f"attribute {name!r} of {of} is {value}, which does not fit in Neo4j's 64-bit integers"
            )
        if isinstance(value, str) and not is_utf8(value):
            raise bad_file(path, f"attribute {name!r} of {of} holds half a surrogate pair")
        if isinstance(value, bool | int | float | str):
            properties[name] = value
        elif value is not None:
            dropped[name] += 1
    return properties


def _key_texts(path: Path, identifiers: list[object], properties: list[dict[str, Any]], key: str | None) -> list[str]:
    """Return each vertex's key as text: its identifier, or the attribute `key`, which is then not a property."""
    values = identifiers
    if key is not None and any(key in of_vertex for of_vertex in properties):
        values = [of_vertex.pop(key, None) for of_vertex in properties]
    owner: dict[str, object] = {}
    for identifier, value in zip(identifiers, values, strict=True):
        what = f"vertex {identifier!r}" + (f", attribute {key!r}" if values is not identifiers else "")
        if value is None:
            raise bad_file(path, f"{what}: missing, although other vertices have this attribute, which holds the keys")
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise bad_file(path, f"{what}: {value!r} is not a key; keys are integers or non-empty strings")
        text = str(value)
        if len(text) > LONGEST_KEY:
            raise bad_file(
                path, f"a key of more than {LONGEST_KEY:,} characters, {text[:20]!r}..., is too long to index"
            )
        if not is_utf8(text):
            raise bad_file(path, f"{what}: {value!r} holds half a surrogate pair")
        if text in owner:
            raise bad_file(path, f"{what}: the key {text!r} is also that of vertex {owner[text]!r}")
        owner[text] = identifier
    return list(owner)
