"""Hashes of a graph and of memberships: the same on every machine, in whatever order rows were read."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterable, Iterator
from functools import cache

from pcneo.basics.model import CohesionBatch, Graph, Key, KeyArray


def fingerprint(graph: Graph, key: bytes) -> str:
    """Return the hexadecimal HMAC-SHA-256, under `key`, of the graph's keys and edges.

    It hashes the number of vertices, their keys in ascending order as `_encode` writes them, their degrees, and the
    places of each vertex's neighbours in that order, ascending. Numbers are unsigned and little-endian; places
    have 32 bits, all others 64.
    """
    digest = hmac.new(key, struct.pack("<Q", graph.vertex_count), hashlib.sha256)
    digest.update(b"".join(map(_encode, graph.keys.tolist())))
    digest.update(graph.degrees.astype("<u8").tobytes())
    digest.update(graph.neighbours.astype("<u4").tobytes())
    return digest.hexdigest()


def keys_hash(keys: KeyArray) -> str:
    """Return the hexadecimal SHA-256 of the number of keys and the keys, as in `fingerprint`."""
    digest = hashlib.sha256(struct.pack("<Q", len(keys)))
    digest.update(b"".join(map(_encode, keys.tolist())))
    return digest.hexdigest()


def keys_fingerprint(hash_of_keys: str, secret: bytes) -> str:
    """Return the `secret_mark` and the hexadecimal HMAC-SHA-256, under `secret`, of a `keys_hash`."""
    return secret_mark(secret) + hmac.new(secret, bytes.fromhex(hash_of_keys), hashlib.sha256).hexdigest()


def secret_mark(secret: bytes) -> str:
    """Return a mark that tells one secret from another without giving it away."""
    return hashlib.sha256(secret).hexdigest()[:12] + ":"


def membership_hash(rows: Iterable[tuple[Key, Iterable[Key]]]) -> str:
    """Return the hexadecimal hash of memberships.

    It is the SHA-256 of the SHA-256 digests of all cohesions, in ascending order of their vertices. The digest of a
    cohesion covers its vertex, the number of its members (unsigned, little-endian, 64 bits) and its members, ascending.
    """
    digests = [(vertex, _digest(_encode(vertex), list(map(_encode, sorted(members))))) for vertex, members in rows]
    return hashlib.sha256(b"".join(digest for _, digest in sorted(digests))).hexdigest()


class _Encoder:
    """Turns the keys of batches into bytes, those of one graph only once."""

    def __init__(self) -> None:
        self._keys: KeyArray | None = None
        self._encoded: list[bytes] = []

    def cohesions(self, batch: CohesionBatch) -> Iterator[tuple[bytes, list[bytes]]]:
        """Yield the encoded keys of each cohesion's vertex and, ascending, of its members."""
        if batch.keys is not self._keys:
            self._keys, self._encoded = batch.keys, list(map(_encode, batch.keys.tolist()))
        members = list(map(self._encoded.__getitem__, batch.members.tolist()))
        bounds = batch.offsets.tolist()
        for i, vertex in enumerate(batch.vertices.tolist()):
            yield self._encoded[vertex], members[bounds[i] : bounds[i + 1]]


def hash_of_batches(batches: Iterable[CohesionBatch]) -> str:
    """Return the `membership_hash` of batches whose vertices ascend, within each and from one to the next."""
    encoder, digest = _Encoder(), hashlib.sha256()
    for batch in batches:
        for vertex, members in encoder.cohesions(batch):
            digest.update(_digest(vertex, members))
    return digest.hexdigest()


class HubHasher:
    """Computes the digests of hubs, and the `membership_hash` of all of them, as batches of cohesions pass."""

    def __init__(self, key: bytes) -> None:
        """Start with no cohesions; `key` is the graph's fingerprint key."""
        self._key = key
        self._memberships = hashlib.sha256()
        self._encoder = _Encoder()

    def digests(self, batch: CohesionBatch) -> list[bytes]:
        """Return the digest of each hub, 128 bits of the vertex's key and its members' keys in order."""
        digests = []
        for vertex, members in self._encoder.cohesions(batch):
            self._memberships.update(_digest(vertex, members))
            digests.append(_hub_hash(vertex, members, self._key).digest())
        return digests

    def membership_hash(self) -> str:
        """Return the `membership_hash` of all cohesions so far."""
        return self._memberships.hexdigest()


class HubDigests:
    """Computes hashes of single hubs from keys; each key is turned into bytes only once."""

    def __init__(self, key: bytes) -> None:
        """Start with no hubs; `key` is the graph's fingerprint key."""
        self._key = key
        self._bytes = cache(_encode)

    def digest(self, vertex: Key, members: Iterable[Key]) -> str:
        """Return the digest of a hub, as in `HubHasher`, as 32 hexadecimal digits; members in any order."""
        return _hub_hash(self._bytes(vertex), list(map(self._bytes, sorted(members))), self._key).hexdigest()


def owner_hash(vertex: Key, key: bytes) -> int:
    """Return the hash by which a hub knows its owner: 64 bits, made from the owner's key, as a signed integer.

    It is keyed, as digests are, so that no one without `key` can guess vertices.
    """
    digest = hashlib.blake2b(_encode(vertex), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _hub_hash(vertex: bytes, members: list[bytes], key: bytes) -> hashlib.blake2b:
    """Hash a hub by the encoded keys of its vertex and of its members, ascending."""
    return hashlib.blake2b(b"".join((vertex, *members)), key=key, digest_size=16)


def _digest(vertex: bytes, members: list[bytes]) -> bytes:
    """Return the digest of one cohesion from the encoded keys of its vertex and of its members, ascending."""
    return hashlib.sha256(b"".join((vertex, struct.pack("<Q", len(members)), *members))).digest()


def _encode(key: Key) -> bytes:
    """Return a key as bytes: its kind, length and content. No other key's bytes begin with them."""
    if isinstance(key, str):
        text = key.encode("utf-8", "surrogatepass")
        return struct.pack("<cQ", b"s", len(text)) + text
    return struct.pack("<cQq", b"i", 8, key)
