"""The current hubs of a run, held against what a search finds: which of them may stay.

Of a whole graph hubs are known by their digests, which takes about forty bytes a vertex, however large the cohesions
are. Where vertices were named their members themselves are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph, Key, KeyArray, Selection
from pcneo.graph import HubHashes, owner_hash
from pcneo.store.gateway import Gateway
from pcneo.store.run_reader import StoredHub

__all__ = ["CurrentHubs", "HubsOfGraph", "HubsOfVertices"]

NONE, WHOLE, DAMAGED = 0, 1, 2
"""No current hub; one that is as it was written; anything else, which is written anew."""

KEYS_A_CALL = 10_000
DIGEST = re.compile("[0-9a-f]{32}")


class CurrentHubs(Protocol):
    """The hubs that a run has now."""

    def agree(self, batch: CohesionBatch, i: int, hashes: HubHashes) -> bool:
        """Return whether the hub of the i-th cohesion of a batch says just what the search found."""
        ...

    def has_hub(self, batch: CohesionBatch, i: int) -> bool:
        """Return whether its vertex has any current hub."""
        ...


class HubsOfGraph:
    """The current hubs of a run of a whole graph, by position in the graph's keys.

    Attributes:
        strays: hubs whose vertex is gone, or is no vertex of the graph any more.
    """

    def __init__(self, graph: Graph) -> None:
        """Begin with no hubs."""
        n = graph.vertex_count
        self._graph = graph
        self._state = np.zeros(n, np.uint8)
        self._digests = np.zeros((n, 2), np.uint64)
        self._sizes = np.zeros(n, np.int64)
        self._edges = np.zeros(n, np.int64)
        self.strays = 0

    @classmethod
    def read(
        cls, gateway: Gateway, selection: Selection, graph: Graph, run: str, version: int, key: bytes
    ) -> HubsOfGraph:
        """Read the hubs of a run at the version that readers go by, and find those that cannot stay.

        A hub that lacks members or an owner cannot. Nor can the hubs that have a vertex as a member whose own hub shows
        that its key or its label has changed: their digests would agree with other members than they have.

        Args:
            gateway: the database.
            selection: labels, types and key.
            graph: as it was read now.
            run, version: the run; at version 0 it has none.
            key: the graph's fingerprint key.
        """
        hubs = cls(graph)
        if version == 0 or graph.vertex_count == 0:
            return hubs
        suspects: list[Key] = []
        current = 0
        smallest = graph.keys[:1].tolist()[0]
        streamed = gateway.stream_hubs(selection, run, version, smallest)
        while part := list(islice(streamed, KEYS_A_CALL)):
            positions = _positions(graph.keys, [vertex for vertex, _ in part])
            for (vertex, stored), position in zip(part, positions, strict=True):
                current += len(stored)
                owner = owner_hash(vertex, key)
                if [hub.owner for hub in stored] != [owner]:
                    suspects.append(vertex)
                if position is not None:
                    hubs._put(position, stored, owner)
        hubs.strays = gateway.count_current(run, version)[0] - current
        beside = gateway.list_beside_strays(selection, run, version) if hubs.strays else []
        for start in range(0, len(suspects), KEYS_A_CALL):
            beside += gateway.list_containing(selection, run, version, suspects[start : start + KEYS_A_CALL])
        for position in _positions(graph.keys, beside):
            if position is not None:
                hubs._state[position] = DAMAGED
        return hubs

    def _put(self, position: int, stored: Sequence[StoredHub], owner: int) -> None:
        if not stored:
            return
        hub = stored[0]
        if not (len(stored) == 1 and hub.is_whole and hub.owner == owner and DIGEST.fullmatch(str(hub.digest))):
            self._state[position] = DAMAGED
            return
        self._state[position] = WHOLE
        self._digests[position] = _halves(hub.digest)
        self._sizes[position] = hub.size
        self._edges[position] = hub.edges if isinstance(hub.edges, int) else -1  # which no answer has

    @property
    def all_whole(self) -> bool:
        """Whether every vertex has one hub, as it was written, and there are no others."""
        return self.strays == 0 and bool((self._state == WHOLE).all())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each hub, int64, shape (n,)."""
        return self._sizes

    @property
    def edges(self) -> NDArray[np.int64]:
        """Edges inside each, int64, shape (n,)."""
        return self._edges

    def agree(self, batch: CohesionBatch, i: int, hashes: HubHashes) -> bool:
        """Compare digest, size and edges: an edge inside can go and the members stay."""
        at = int(batch.vertices[i])
        return bool(
            self._state[at] == WHOLE
            and self._sizes[at] == batch.offsets[i + 1] - batch.offsets[i]
            and self._edges[at] == batch.edges[i]
            and tuple(self._digests[at].tolist()) == _halves(hashes.digest)
        )

    def has_hub(self, batch: CohesionBatch, i: int) -> bool:
        """Return whether the vertex has any current hub."""
        return bool(self._state[batch.vertices[i]] != NONE)


class HubsOfVertices:
    """The current hubs of some vertices, by key, with their members."""

    def __init__(self, hubs: dict[Key, list[tuple[int, list[Key | None]]]]) -> None:
        """Take of each vertex with hubs the edges and members of each."""
        self._hubs = hubs

    @classmethod
    def read(
        cls, gateway: Gateway, selection: Selection, vertices: Sequence[Key], run: str, version: int
    ) -> HubsOfVertices:
        """Read the hubs of some vertices at the version that readers go by; at version 0 there are none."""
        hubs: dict[Key, list[tuple[int, list[Key | None]]]] = {}
        for start in range(0, len(vertices) if version else 0, KEYS_A_CALL):
            part = vertices[start : start + KEYS_A_CALL]
            for key, edges, members in gateway.get_cohesions(selection, run, version, part):
                hubs.setdefault(key, []).append((edges, members))
        return cls(hubs)

    def agree(self, batch: CohesionBatch, i: int, hashes: HubHashes) -> bool:
        """Compare members and edges."""
        stored = self._hubs.get(_key(batch, i), [])
        members = batch.keys[batch.members[batch.offsets[i] : batch.offsets[i + 1]]].tolist()
        return len(stored) == 1 and stored[0][0] == batch.edges[i] and _same(stored[0][1], members)

    def has_hub(self, batch: CohesionBatch, i: int) -> bool:
        """Return whether the vertex has any current hub."""
        return _key(batch, i) in self._hubs


def _key(batch: CohesionBatch, i: int) -> Key:
    at = int(batch.vertices[i])
    return batch.keys[at : at + 1].tolist()[0]


def _same(stored: list[Key | None], members: list[Key]) -> bool:
    return len(stored) == len(members) and set(stored) == set(members)


def _halves(digest: str) -> tuple[int, int]:
    return int(digest[:16], 16), int(digest[16:], 16)


def _positions(keys: KeyArray, wanted: Sequence[Key]) -> list[int | None]:
    """Return where each key stands; None for one that came since the graph was read, or is of another kind."""
    kind = str if keys.dtype == object else int
    known = [key if isinstance(key, kind) else kind() for key in wanted]
    at = np.minimum(np.searchsorted(keys, np.array(known, keys.dtype)), len(keys) - 1)
    stand = keys[at].tolist()
    return [place if key == there else None for place, key, there in zip(at.tolist(), wanted, stand, strict=True)]
