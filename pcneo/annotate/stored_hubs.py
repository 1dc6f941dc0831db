"""Compares the current hubs of a run with the results of a search, to see which hubs may stay.

For a whole graph, hubs are compared by their digests, which takes about forty bytes a vertex however large the
cohesions are. Where vertices were named, the members themselves are compared.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from itertools import compress
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph, Key, KeyArray, densities
from pcneo.basics.selection import Selection
from pcneo.graph import owner_hash
from pcneo.graph.arrays import places_in
from pcneo.search.tally import Summary
from pcneo.store.database import Database
from pcneo.store.reading import PAGE
from pcneo.store.run_reader import HubColumns, StoredHub

KEYS_A_CALL = 10_000
DIGEST = re.compile("[0-9a-f]{32}")
DIGESTS = np.dtype("V16")
PAGES_AHEAD = 8
"""Pages of hubs to read while the graph is being read: a little over a megabyte each."""
MOST_AHEAD = PAGES_AHEAD * PAGE
"""Hubs of a run to read ahead; more would only wait for the graph, and be read again where it has changed."""


@contextmanager
def pages_ahead(pages: Generator[HubColumns, None, None]) -> Iterator[Iterator[HubColumns]]:
    """Yield the pages, which a thread reads from now on, a few ahead. After the block, nothing more is read."""
    with closing(pages), ThreadPoolExecutor(1, thread_name_prefix="pcneo-hubs") as pool:

        def asked() -> Future[HubColumns | None]:
            return pool.submit(copy_context().run, next, pages, None)  # which heeds what ends the caller's patience

        waiting = deque(asked() for _ in range(PAGES_AHEAD))

        def taken() -> Iterator[HubColumns]:
            while page := waiting.popleft().result():
                waiting.append(asked())
                yield page

        try:
            yield taken()
        finally:
            for future in waiting:
                future.cancel()


class HubsOfGraph:
    """The current hubs of a run of a whole graph, by position in the graph's keys.

    Attributes:
        strays: number of hubs whose vertex is gone, or is no longer a vertex of the graph.
    """

    def __init__(self, graph: Graph) -> None:
        """Begin with no hubs."""
        n = graph.vertex_count
        self._graph = graph
        self._count = np.zeros(n, np.int64)
        self._whole = np.zeros(n, bool)
        self._digests = np.zeros(n, DIGESTS)
        self._sizes = np.zeros(n, np.int64)
        self._edges = np.zeros(n, np.int64)
        self._flags = np.zeros((n, 2), bool)
        self.strays = 0

    @classmethod
    def read(
        cls,
        db: Database,
        selection: Selection,
        graph: Graph,
        run: str,
        version: int,
        key: bytes,
        pages: Iterable[HubColumns] | None = None,
    ) -> HubsOfGraph:
        """Read the hubs of a run at its current version, and find those that cannot stay.

        A hub that lacks members or an owner cannot stay. Nor can a hub with a member whose own hub shows that its key
        or its label has changed: its digest would agree with members that it no longer has.
        """
        hubs = cls(graph)
        if version == 0 or graph.vertex_count == 0:
            return hubs
        suspects: list[Key] = []
        current = 0
        for page in db.stream_hubs(selection, run, version) if pages is None else pages:
            current += len(page.vertices)
            suspects += hubs._put(page, key)
        hubs._whole &= hubs._count == 1
        suspects += graph.keys[hubs._count != 1].tolist()
        hubs.strays = db.count_current(run, version)[0] - current
        beside = db.list_beside_strays(selection, run, version) if hubs.strays else []
        for start in range(0, len(suspects), KEYS_A_CALL):
            beside += db.list_containing(selection, run, version, suspects[start : start + KEYS_A_CALL])
        damaged = _positions(graph.keys, beside)
        hubs._whole[damaged[damaged >= 0]] = False
        return hubs

    def _put(self, page: HubColumns, key: bytes) -> list[Key]:
        """Add some hubs; return the vertices whose hub was written for a different key from the one they have now."""
        at = _positions(self._graph.keys, page.vertices)
        known = at >= 0
        owners, has_owner = _integers(page.owners)
        sizes, has_size = _integers(page.sizes)
        edges, has_edges = _integers(page.edges)
        wanted = [owner_hash(v, key) if there else 0 for v, there in zip(page.vertices, known.tolist(), strict=True)]
        fits = known & has_owner & (owners == np.array(wanted, np.int64))
        marked = np.fromiter((isinstance(d, str) and DIGEST.fullmatch(d) is not None for d in page.digests), bool)
        has_members = has_size & (sizes == page.memberships) & (np.array(page.owned) == 1)
        flags = np.array([page.proven, page.best], object).T
        has_flags = np.array([type(a) is bool and type(b) is bool for a, b in flags], bool)
        whole = fits & marked & has_members & has_edges & has_flags
        np.add.at(self._count, at[known], 1)
        self._whole[at[whole]] = True
        digests = "".join(map(str, compress(page.digests, whole)))
        self._digests[at[whole]] = np.frombuffer(bytes.fromhex(digests), DIGESTS)
        self._sizes[at[whole]] = sizes[whole]
        self._edges[at[whole]] = edges[whole]
        self._flags[at[whole]] = flags[whole].astype(bool)
        return list(compress(page.vertices, ~fits))

    @property
    def summary(self) -> Summary | None:
        """Sizes and densities if every vertex has exactly one hub, as it was written, and there are no other hubs.

        None where a search has to tell.
        """
        if self.strays or not self._whole.all():
            return None
        return Summary.of(self._sizes, densities(self._sizes, self._edges))

    def agree(self, batch: CohesionBatch, digests: Sequence[bytes]) -> NDArray[np.bool_]:
        """Return, for each cohesion of a batch, whether its hub equals what the search found: bool, shape (count,).

        Digest, size, edges and flags are compared: an edge can disappear, inside or outside, while the members stay.
        """
        at, flags = batch.vertices, np.stack((batch.proven, batch.best), axis=1)
        return (
            self._whole[at]
            & (self._sizes[at] == np.diff(batch.offsets))
            & (self._edges[at] == batch.edges)
            & (self._flags[at] == flags).all(axis=1)
            & (self._digests[at] == np.frombuffer(b"".join(digests), DIGESTS))
        )


class HubsOfVertices:
    """The current hubs of some vertices, by key, with their members; a search has to tell their summary."""

    summary = None

    def __init__(self, hubs: dict[Key, list[StoredHub]]) -> None:
        """Keep the hubs of each vertex that has any."""
        self._hubs = hubs

    @classmethod
    def read(
        cls, db: Database, selection: Selection, vertices: Sequence[Key], run: str, version: int
    ) -> HubsOfVertices:
        """Read the hubs of some vertices at the run's current version; version 0 has none."""
        hubs: dict[Key, list[StoredHub]] = {}
        for start in range(0, len(vertices) if version else 0, KEYS_A_CALL):
            part = vertices[start : start + KEYS_A_CALL]
            for hub in db.get_cohesions(selection, run, version, part, as_it_is=True):
                hubs.setdefault(hub.vertex, []).append(hub)
        return cls(hubs)

    def agree(self, batch: CohesionBatch, digests: Sequence[bytes]) -> NDArray[np.bool_]:
        """Compare members, edges and flags."""
        return np.fromiter((self._agrees(batch, i) for i in range(len(digests))), bool, len(digests))

    def _agrees(self, batch: CohesionBatch, i: int) -> bool:
        (vertex,) = batch.keys[batch.vertices[i : i + 1]].tolist()
        stored = self._hubs.get(vertex, [])
        members = batch.keys[batch.members_of(i)].tolist()
        values = [int(batch.edges[i]), bool(batch.proven[i]), bool(batch.best[i])]
        # Equal values of other kinds, such as 3.0, are refused by readers.
        if len(stored) != 1 or list(map(type, stored[0][2:])) != list(map(type, values)):
            return False
        there = stored[0].members
        return list(stored[0][2:]) == values and len(there) == len(members) and set(there) == set(members)


CurrentHubs: TypeAlias = HubsOfGraph | HubsOfVertices


def _integers(column: Sequence[object]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a column as integers, with 0 for other values, and a mask of the values that are integers."""
    are = np.fromiter((type(value) is int for value in column), bool, len(column))
    return np.array([value if type(value) is int else 0 for value in column], np.int64), are


def _positions(keys: KeyArray, wanted: Sequence[Key]) -> NDArray[np.int64]:
    """Return the position of each key; -1 for a key that is newer than the graph that was read, or of another kind."""
    kind = str if keys.dtype == object else int
    of_kind = np.array([isinstance(key, kind) for key in wanted], bool)
    at = places_in(keys, np.array([key if isinstance(key, kind) else kind() for key in wanted], keys.dtype))
    return np.where(of_kind, at, -1)
