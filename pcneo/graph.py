"""From rows of keys to arrays, and fingerprints of what was read (algorithms.md section 1).

Every check of a graph's keys and arrays is here, so the rooms below work on arrays they can trust.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphChangedError, GraphError, KeyPropertyError, ParameterError
from pcneo.kernels.cohesion import MAX_DEGREE
from pcneo.model import CohesionBatch, Graph, Key, KeyArray

if TYPE_CHECKING:
    import networkx

__all__ = [
    "MembershipHash",
    "PartialGraph",
    "fingerprint",
    "graph_from_edges",
    "graph_from_networkx",
    "graph_from_rows",
    "membership_hash",
]

_ROWS_AT_ONCE = 4096


# --- Building a graph


def graph_from_rows(rows: Iterable[tuple[Key, Sequence[Key]]]) -> Graph:
    """Build a graph from rows as a store streams them, each consumed as it comes.

    Args:
        rows: (key, keys of neighbours), one row a vertex, in any order. An edge may be given from one end or both,
            and more than once; direction is ignored, and self-loops are dropped.

    Raises:
        KeyPropertyError: a key is neither an integer of 64 bits nor a string, kinds are mixed, a key is listed twice,
            or a neighbour is never listed as a vertex.
        GraphError: a vertex has more than 2,097,151 neighbours (algorithms.md section 4).
    """
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)  # each key's number, by first appearance
    listed, lengths, neighbours = array("q"), array("q"), array("q")
    kinds: dict[type, Key] = {}
    rows = iter(rows)
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        keys, lists = zip(*batch, strict=True)
        _note_kinds(kinds, chain(keys, *lists))
        listed.extend(map(numbers.__getitem__, keys))
        lengths.extend(map(len, lists))
        neighbours.extend(map(numbers.__getitem__, chain.from_iterable(lists)))
    names, sources = list(numbers), np.asarray(listed)
    _check_listing(names, sources)
    return _build(names, np.repeat(sources, np.asarray(lengths)), np.asarray(neighbours))


def graph_from_edges(keys: Iterable[Key], sources: Iterable[Key], targets: Iterable[Key]) -> Graph:
    """Build a graph from its vertices and, in two columns of equal length, the ends of its edges.

    Args:
        keys: every vertex once, isolated ones too.
        sources, targets: the ends of each edge, by key; parallel edges count once, self-loops are dropped.

    Raises:
        KeyPropertyError: as in `graph_from_rows`.
        GraphError: as in `graph_from_rows`.
        ParameterError: the two columns differ in length.
    """
    names, tails, heads = _plain(keys), _plain(sources), _plain(targets)
    if len(tails) != len(heads):
        raise ParameterError(
            f"sources and targets must be of equal length, not {len(tails)} and {len(heads)}.",
            name="targets",
            value=len(heads),
        )
    kinds: dict[type, Key] = {}
    _note_kinds(kinds, chain(names, tails, heads))
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    listed = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
    ends = np.fromiter(map(numbers.__getitem__, chain(tails, heads)), np.int64, 2 * len(tails))
    _check_listing(list(numbers), listed)
    return _build(list(numbers), ends[: len(tails)], ends[len(tails) :])


def graph_from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Build a graph from a networkx graph, directed or with parallel edges too, whose nodes are its keys.

    Raises:
        KeyPropertyError: as in `graph_from_rows`.
        GraphError: as in `graph_from_rows`.
    """
    return graph_from_rows((vertex, list(neighbours)) for vertex, neighbours in graph.adjacency())


def _plain(keys: Iterable[Key]) -> list[Key]:
    """Return keys as Python's own integers and strings."""
    return keys.tolist() if isinstance(keys, np.ndarray) else list(keys)


def _note_kinds(kinds: dict[type, Key], keys: Iterable[Key]) -> None:
    """Refuse keys unless they, and those noted in `kinds` before, are all integers or all strings."""
    for kind, example in {type(key): key for key in keys}.items():
        kinds.setdefault(kind, example)
        if kind not in (int, str):
            raise KeyPropertyError(
                f"The key {example!r} is of type {kind.__name__}; keys must be integers or strings.",
                kind=kind.__name__,
                example=example,
            )
    if len(kinds) > 1:
        raise KeyPropertyError(
            f"Keys are of two kinds, such as the integer {kinds[int]!r} and the string {kinds[str]!r}; "
            "choose a key property that is of one kind for every vertex.",
            examples=(kinds[int], kinds[str]),
        )


def _check_listing(names: list[Key], listed: NDArray[np.int64]) -> None:
    """Refuse a vertex listed more than once or, among all `names`, never."""
    times = np.bincount(listed, minlength=len(names))
    if len(times) and times.max() > 1:
        repeated = [names[i] for i in np.flatnonzero(times > 1)]
        raise KeyPropertyError(
            f"{len(repeated)} key(s) belong to more than one vertex, for example {repeated[0]!r}; "
            "choose a key property that is unique.",
            count=len(repeated),
            example=repeated[0],
        )
    if len(times) and times.min() == 0:
        unlisted = [names[i] for i in np.flatnonzero(times == 0)]
        raise KeyPropertyError(
            f"{len(unlisted)} neighbour(s) are not among the vertices, for example {unlisted[0]!r}; "
            "both ends of every edge must be vertices of the graph.",
            count=len(unlisted),
            example=unlisted[0],
        )


def _key_array(names: list[Key]) -> KeyArray:
    """Return keys of one kind as an array: int64, or str objects."""
    if names and isinstance(names[0], str):
        return np.array(names, np.object_)
    try:
        return np.array(names, np.int64)
    except OverflowError:
        example = next(key for key in names if not -(2**63) <= int(key) < 2**63)
        raise KeyPropertyError(f"The key {example} does not fit a signed 64-bit integer.", example=example) from None


def _build(names: list[Key], sources: NDArray[np.int64], targets: NDArray[np.int64]) -> Graph:
    """Build a graph from checked names and edges between their numbers, as a store gave them."""
    keys, position = _sorted_keys(names)
    a, b = position[sources], position[targets]
    graph = Graph(keys, *_compressed(np.concatenate((a, b)), np.concatenate((b, a)), len(names)))
    _check_degrees(graph)
    return graph


def _sorted_keys(names: list[Key]) -> tuple[KeyArray, NDArray[np.int64]]:
    """Return the names as ascending keys, and for each name its position among them."""
    keys = _key_array(names)
    by_key = np.argsort(keys)
    position = np.empty(len(names), np.int64)
    position[by_key] = np.arange(len(names))
    return keys[by_key], position


def _compressed(
    sources: NDArray[np.int64], targets: NDArray[np.int64], vertex_count: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return offsets and neighbours of the arcs, each once, self-loops dropped."""
    arcs = (sources << 32 | targets)[sources != targets]
    arcs.sort()
    arcs = arcs[np.diff(arcs, prepend=-1) != 0]
    offsets = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(arcs >> 32, minlength=vertex_count), out=offsets[1:])
    return offsets, arcs.astype(np.uint32)


def _check_degrees(graph: Graph) -> None:
    """Refuse a vertex whose degree, to the third power, would not fit 64 bits."""
    degrees = graph.degrees
    if len(degrees) and degrees.max() > MAX_DEGREE:
        vertex = graph.keys.tolist()[int(degrees.argmax())]
        raise GraphError(
            f"Vertex {vertex!r} has {degrees.max():,} neighbours; at most {MAX_DEGREE:,} are supported.",
            vertex=vertex,
            degree=int(degrees.max()),
        )


# --- A graph that is being fetched


class PartialGraph:
    """The vertices whose neighbours have been fetched so far, and those known by name alone.

    Attributes:
        arc_count: neighbours fetched so far, repeated ones included.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._numbers: defaultdict[Key, int] = defaultdict(count().__next__)
        self._known: set[Key] = set()
        self._fetched = array("q")
        self._lengths = array("q")
        self._neighbours = array("q")
        self._kinds: dict[type, Key] = {}

    @property
    def arc_count(self) -> int:
        """How many neighbours have been fetched."""
        return len(self._neighbours)

    def __contains__(self, key: Key) -> bool:
        """Whether the neighbours of a vertex have been fetched."""
        return key in self._known

    def add(self, rows: Iterable[tuple[Key, Sequence[Key]]]) -> None:
        """Take whole neighbourhoods of vertices not fetched before.

        Raises:
            KeyPropertyError: a key is neither an integer of 64 bits nor a string, or kinds are mixed.
        """
        for key, neighbours in rows:
            _note_kinds(self._kinds, (key, *neighbours))
            self._known.add(key)
            self._fetched.append(self._numbers[key])
            self._lengths.append(len(neighbours))
            self._neighbours.extend(map(self._numbers.__getitem__, neighbours))

    def graph(self) -> tuple[Graph, NDArray[np.bool_]]:
        """Return what is known as a graph, and which of its vertices have been fetched; the others have no neighbours.

        Raises:
            KeyPropertyError: a vertex was fetched twice.
            GraphChangedError: of two fetched vertices only one has the other as its neighbour.
            GraphError: a vertex has more than 2,097,151 neighbours.
        """
        keys, position = _sorted_keys(list(self._numbers))
        fetched = position[np.asarray(self._fetched)]
        known = np.zeros(len(keys), np.bool_)
        known[fetched] = True
        a, b = np.repeat(fetched, np.asarray(self._lengths)), position[np.asarray(self._neighbours)]
        graph = Graph(keys, *_compressed(a, b, len(keys)))
        _check_degrees(graph)
        _check_symmetry(graph, known)
        return graph, known


def _check_symmetry(graph: Graph, known: NDArray[np.bool_]) -> None:
    """Refuse a graph in which, of two known vertices, only one has the other as its neighbour."""
    sources, targets = np.repeat(np.arange(graph.vertex_count), graph.degrees), graph.neighbours.astype(np.int64)
    both = known[targets]
    arcs = sources[both] << 32 | targets[both]
    reverse = np.sort(targets[both] << 32 | sources[both])
    if not np.array_equal(arcs, reverse):
        arc = int(np.setxor1d(arcs, reverse)[0])
        pair = graph.keys[[arc >> 32, arc & 0xFFFFFFFF]].tolist()
        raise GraphChangedError(
            f"The connection between {pair[0]!r} and {pair[1]!r} was there at one of its ends only; "
            "the graph changed while it was read, so run the query again.",
            pair=tuple(pair),
        )


# --- Fingerprints: the same bytes on every machine, whatever order the rows came in


def fingerprint(graph: Graph, key: bytes) -> str:
    """Return the hexadecimal HMAC-SHA-256, under `key`, of the graph's keys and edges.

    Hashed are the number of keys and the keys, ascending, as `_encoded` writes them, the n degrees, and for each vertex
    the places of its neighbours among those keys, ascending. All numbers are unsigned, little-endian, of 64 bits.
    """
    digest = hmac.new(key, struct.pack("<Q", graph.vertex_count), hashlib.sha256)
    digest.update(b"".join(map(_encoded, graph.keys.tolist())))
    digest.update(graph.degrees.astype("<u8").tobytes())
    digest.update(graph.neighbours.astype("<u8").tobytes())
    return digest.hexdigest()


def membership_hash(rows: Iterable[tuple[Key, Iterable[Key]]]) -> str:
    """Return the hexadecimal hash of memberships, given as (vertex, members) in any order.

    It is the SHA-256 of the SHA-256 digests of all cohesions in ascending order of their vertices. Of a cohesion are
    hashed its vertex, the number of its members (unsigned, little-endian, 64 bits) and its members, ascending.
    """
    digests = [(vertex, _cohesion_digest(_encoded(vertex), map(_encoded, sorted(members)))) for vertex, members in rows]
    return hashlib.sha256(b"".join(digest for _, digest in sorted(digests))).hexdigest()


class MembershipHash:
    """`membership_hash` of batches that come in ascending order, holding none of them."""

    def __init__(self) -> None:
        """Start with no cohesions."""
        self._digest = hashlib.sha256()
        self._graph: Graph | None = None
        self._keys: list[bytes] = []

    def update(self, graph: Graph, batch: CohesionBatch) -> None:
        """Add a batch computed on `graph`, its vertices ascending and beyond those of the batches before."""
        if graph is not self._graph:
            self._graph, self._keys = graph, [_encoded(key) for key in graph.keys.tolist()]
        members = batch.members.tolist()
        bounds = batch.offsets.tolist()
        for i, vertex in enumerate(batch.vertices.tolist()):
            inside = map(self._keys.__getitem__, members[bounds[i] : bounds[i + 1]])
            self._digest.update(_cohesion_digest(self._keys[vertex], inside))

    def hexdigest(self) -> str:
        """Return the hash of all cohesions so far."""
        return self._digest.hexdigest()


def _cohesion_digest(vertex: bytes, members: Iterator[bytes]) -> bytes:
    """Return the digest of one cohesion from the encoded keys of its vertex and its members, ascending."""
    encoded = list(members)
    return hashlib.sha256(b"".join((vertex, struct.pack("<Q", len(encoded)), *encoded))).digest()


def _encoded(key: Key) -> bytes:
    """Return a key as bytes that no other key begins with: its kind, its length, its content."""
    if isinstance(key, str):
        text = key.encode("utf-8", "surrogatepass")
        return struct.pack("<cQ", b"s", len(text)) + text
    return struct.pack("<cQq", b"i", 8, key)
