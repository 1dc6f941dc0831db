"""Hashes of a graph and of memberships: the same on every machine, in whatever order rows were read."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterable

from pcneo.model import CohesionBatch, Graph, Key, KeyArray

__all__ = ["MembershipHash", "fingerprint", "membership_hash"]


def fingerprint(graph: Graph, key: bytes) -> str:
    """Return the hexadecimal HMAC-SHA-256, under `key`, of the graph's keys and edges.

    It hashes the number of vertices, their keys in ascending order as `_encode` writes them, their degrees, and the
    places of each vertex's neighbours in that order, ascending. Numbers are unsigned and little-endian, places of 32
    bits, all others of 64.

    Args:
        graph: the graph.
        key: the secret of the HMAC.
    """
    digest = hmac.new(key, struct.pack("<Q", graph.vertex_count), hashlib.sha256)
    digest.update(b"".join(map(_encode, graph.keys.tolist())))
    digest.update(graph.degrees.astype("<u8").tobytes())
    digest.update(graph.neighbours.astype("<u4").tobytes())
    return digest.hexdigest()


def membership_hash(rows: Iterable[tuple[Key, Iterable[Key]]]) -> str:
    """Return the hexadecimal hash of memberships.

    It is the SHA-256 of the SHA-256 digests of all cohesions, in ascending order of their vertices. The digest of a
    cohesion covers its vertex, the number of its members (unsigned, little-endian, 64 bits) and its members, ascending.

    Args:
        rows: (key of the vertex, keys of the members), in any order.
    """
    digests = [(vertex, _digest(_encode(vertex), list(map(_encode, sorted(members))))) for vertex, members in rows]
    return hashlib.sha256(b"".join(digest for _, digest in sorted(digests))).hexdigest()


class MembershipHash:
    """Computes the `membership_hash` of cohesions that come in ascending order, without keeping them."""

    def __init__(self) -> None:
        """Start with no cohesions."""
        self._hash = hashlib.sha256()
        self._keys: KeyArray | None = None
        self._encoded: list[bytes] = []

    def update(self, batch: CohesionBatch) -> None:
        """Add a batch whose vertices ascend and are above those of earlier batches."""
        if batch.keys is not self._keys:
            self._keys, self._encoded = batch.keys, list(map(_encode, batch.keys.tolist()))
        members = list(map(self._encoded.__getitem__, batch.members.tolist()))
        bounds = batch.offsets.tolist()
        for i, vertex in enumerate(batch.vertices.tolist()):
            self._hash.update(_digest(self._encoded[vertex], members[bounds[i] : bounds[i + 1]]))

    def hexdigest(self) -> str:
        """Return the hash of all cohesions so far."""
        return self._hash.hexdigest()


def _digest(vertex: bytes, members: list[bytes]) -> bytes:
    """Return the digest of one cohesion from the encoded keys of its vertex and of its members, ascending."""
    return hashlib.sha256(b"".join((vertex, struct.pack("<Q", len(members)), *members))).digest()


def _encode(key: Key) -> bytes:
    """Return a key as bytes, its kind, length and content, that are the beginning of no other key's bytes."""
    if isinstance(key, str):
        text = key.encode("utf-8", "surrogatepass")
        return struct.pack("<cQ", b"s", len(text)) + text
    return struct.pack("<cQq", b"i", 8, key)
