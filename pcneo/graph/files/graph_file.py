"""The result of every reader: keys, edges as positions in them, properties, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.keys import is_integer_key
from pcneo.basics.model import Key, KeyArray
from pcneo.graph import arrays

LONGEST_KEY = 2_000
"""The most characters of a string key: each takes up to four bytes, and Neo4j's index holds about 8,160 bytes."""

Properties = Mapping[str, bool | int | float | str]

_EDGES_AT_ONCE = 65_536


@dataclass(frozen=True)
class KeysOfLine:
    """Keys that a message points to.

    Attributes:
        line: number of the line that they are in; None if the format has no such lines.
        keys: one or two.
    """

    line: int | None
    keys: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GraphFile:
    """The undirected simple graph in a file: n vertices and m edges, each edge once, from its smaller key.

    Attributes:
        keys: n keys, ascending and distinct; int64, or str in an object array.
        sources: int64, shape (m,); the position in `keys` of each edge's smaller key. Edges ascend by (source, target).
        targets: int64, shape (m,); the position of its larger key.
        vertex_properties: one mapping per vertex, or empty if no vertex has properties.
        edge_properties: one mapping per edge, or empty; of parallel edges, the properties of the first in the file.
        lines: number of lines in the file.
        self_loops_dropped: number of edges from a vertex to itself; the vertex stays.
        parallel_dropped: number of edges between two vertices that an earlier edge connects, in either direction.
        attributes_dropped: names of attributes that are not scalars, and how many vertices and edges have them.
        header: the first line of an edge list if it names its columns, else None.
        lines_with_more_columns: number of lines of an edge list with columns after the second, which are ignored.
        first_text: the first key of an edge list that is not an integer; None if all are.
        possible_header: the first edge of an edge list if its keys are text and no other line has either of them.
    """

    keys: KeyArray
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    vertex_properties: tuple[Properties, ...]
    edge_properties: tuple[Properties, ...]
    lines: int
    self_loops_dropped: int
    parallel_dropped: int
    attributes_dropped: Mapping[str, int] = field(default_factory=dict)
    header: str | None = None
    lines_with_more_columns: int = 0
    first_text: KeysOfLine | None = None
    possible_header: KeysOfLine | None = None

    @property
    def key_kind(self) -> Literal["integer", "string"]:
        """`integer` if every key in the file is an integer, else `string`."""
        return "integer" if self.keys.dtype == np.int64 else "string"

    @property
    def numbers_as_text(self) -> int:
        """How many keys would be integers if others were not text."""
        return sum(is_integer_key(str(key)) for key in self.keys.tolist()) if self.key_kind == "string" else 0

    @property
    def text_key(self) -> KeysOfLine | None:
        """A key that makes all of them text, with its line if the format has lines; None if every key is an integer."""
        if self.key_kind == "integer" or self.first_text is not None:
            return self.first_text
        texts = self.keys.tolist()  # in a graph from memory, all may look like integers
        first = next((key for key in texts if not is_integer_key(key)), next(iter(texts), ""))
        return KeysOfLine(None, (first,))

    @property
    def vertex_count(self) -> int:
        """Number of vertices n."""
        return len(self.keys)

    @property
    def edge_count(self) -> int:
        """Number of edges m."""
        return len(self.sources)

    def vertices(self) -> Iterator[tuple[Key, Properties]]:
        """Yield (key, properties) by ascending key."""
        properties = self.vertex_properties or ({},) * self.vertex_count
        yield from zip(self.keys.tolist(), properties, strict=True)

    def edges(self) -> Iterator[tuple[Key, Key, Properties]]:
        """Yield (smaller key, larger key, properties), ascending."""
        for start in range(0, self.edge_count, _EDGES_AT_ONCE):
            here = slice(start, start + _EDGES_AT_ONCE)
            sources = self.keys[self.sources[here]].tolist()
            targets = self.keys[self.targets[here]].tolist()
            properties = self.edge_properties[here] or ({},) * len(sources)
            yield from zip(sources, targets, properties, strict=True)


def key_array(texts: Sequence[str]) -> KeyArray:
    """Return `texts` as keys in the same order: integers if all are integer keys, else all strings."""
    return arrays.key_array(list(map(int, texts) if all(map(is_integer_key, texts)) else texts))


def graph_file(
    keys: KeyArray,
    ends: NDArray[np.int64],
    lines: int,
    vertex_properties: Sequence[Properties] = (),
    edge_properties: Sequence[Properties] = (),
    dropped: Mapping[str, int] | None = None,
) -> GraphFile:
    """Put a graph together from a reader's results."""
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    ranked = rank[ends]
    smaller, larger = ranked.min(axis=1), ranked.max(axis=1)
    proper = np.flatnonzero(smaller != larger)
    pairs, first = np.unique(smaller[proper] * len(keys) + larger[proper], return_index=True)
    return GraphFile(
        keys=keys[order],
        sources=pairs // len(keys),
        targets=pairs % len(keys),
        vertex_properties=tuple(vertex_properties[i] for i in order) if any(vertex_properties) else (),
        edge_properties=tuple(edge_properties[i] for i in proper[first]) if any(edge_properties) else (),
        lines=lines,
        self_loops_dropped=len(ends) - len(proper),
        parallel_dropped=len(proper) - len(pairs),
        attributes_dropped=dict(sorted((dropped or {}).items())),
    )
