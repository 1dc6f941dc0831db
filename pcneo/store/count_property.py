"""Noisy counts as a property of the user's own vertices: the one thing of theirs that a release may write.

DATA-MODEL.md#counts-on-your-nodes has the rules.

A release notes the property's name and a hash of all keys and values. Values are ours while that hash fits: only then
may they be written over or removed. Note and values are written in one transaction, so neither is ever there alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from pcneo.errors import GraphError
from pcneo.model import Key
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway, ReleaseRecord
from pcneo.store.lock import GraphLock

__all__ = ["check_property", "remove_properties", "values_hash", "write_property"]


def values_hash(values: Iterable[tuple[Key, object]]) -> str | None:
    """Return the SHA-256 of keys and counts, whatever their order; None where a key or value is none that we write."""
    pairs = list(values)
    if not all(isinstance(key, int | str) and type(value) is int for key, value in pairs):
        return None
    text = json.dumps(sorted(pairs, key=lambda pair: (isinstance(pair[0], str), pair[0], pair[1])))
    return hashlib.sha256(text.encode()).hexdigest()


def check_property(gateway: LedgerGateway, graph: GraphRecord, name: str) -> None:
    """Refuse a property that a chosen vertex has, unless all its values come from one recorded release.

    Raises:
        GraphError: it is somebody else's.
        ParameterError: it is no name that Neo4j takes.
    """
    _replaced(gateway, graph, name, gateway.list_property_values(graph.selection, name))


def _replaced(gateway: LedgerGateway, graph: GraphRecord, name: str, values: Sequence[tuple[Key, object]]) -> list[str]:
    """The releases whose notes are wrong once the property has new values; refuses values that are not ours."""
    digest = values_hash(values)
    noted = [release for release in _noted(gateway) if release.property == name]
    if values and digest not in [release.property_hash for release in noted]:
        raise GraphError(
            f"{len(values)} vertices have a property {name!r} already, and its values are not those of one release. "
            "Name another property.",
            property=name,
        )
    return [release.id for release in noted if release.graph == graph.name or release.property_hash == digest]


def _noted(gateway: LedgerGateway) -> list[ReleaseRecord]:
    return [release for release in gateway.list_ledger().releases if release.property is not None]


def write_property(
    gateway: LedgerGateway, graph: GraphRecord, name: str, release: str, counts: Mapping[Key, int]
) -> None:
    """Write noisy counts as a property, over those of an earlier release if there are any; all or nothing.

    Raises:
        GraphError: the property is somebody else's by now, or a count does not fit a Neo4j integer.
        WriteMismatchError: vertices are gone or keys repeated since the graph was read, or the release is forgotten.
        BusyError: somebody is writing the graph.
    """
    if any(not -(2**63) <= count < 2**63 for count in counts.values()):
        raise GraphError("A noisy count does not fit a Neo4j integer.", property=name)
    digest = values_hash(counts.items())
    if digest is None:
        raise GraphError("Only whole numbers can be written under keys.", property=name)
    # Under the graph's lock, or two at once would both see the old values, and the note of one would stay for good.
    with GraphLock(gateway, graph.name), gateway.property_writer(graph.selection, name) as writer:
        writer.retire_property(_replaced(gateway, graph, name, writer.list_values()))
        writer.note_property(release, digest)
        writer.set_property(counts)


def remove_properties(
    gateway: LedgerGateway, graph: GraphRecord, run: str | None = None
) -> tuple[list[str], list[str]]:
    """Remove the properties that releases of a graph wrote, and note it on them; to be called under the graph's lock.

    Args:
        gateway: the database.
        graph: the graph.
        run: only those of releases that rest on this run.

    Returns:
        The properties removed, and those left alone because their values are no longer all ours.
    """
    removed, left = [], []
    for release in _noted(gateway):
        if release.graph != graph.name or run not in (None, release.run) or release.property is None:
            continue
        with gateway.property_writer(graph.selection, release.property) as writer:
            values = writer.list_values()
            if values and values_hash(values) != release.property_hash:
                left.append(release.property)
                continue
            writer.remove_property([key for key, _ in values])
            writer.retire_property([release.id])
            removed.append(release.property)
    return removed, left
