"""Noisy counts as a property of the user's own vertices: the only change that a release may make to them.

DATA-MODEL.md#counts-on-your-nodes has the rules.

The record of a release holds the property's name and a hash of all keys and values. Values are ours while that hash
matches; only then may they be overwritten or removed. Record and values are written in one transaction, so neither
exists without the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from pcneo.basics.model import Key
from pcneo.errors import GraphError
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger, list_property_values, property_writer
from pcneo.store.ledger_records import ReleaseRecord
from pcneo.store.lock import GraphLock


def values_hash(values: Iterable[tuple[Key, object]]) -> str | None:
    """Return the SHA-256 of keys and counts, in any order; None if a key or value is of a kind that we never write."""
    pairs = list(values)
    if not all(isinstance(key, int | str) and type(value) is int for key, value in pairs):
        return None
    text = json.dumps(sorted(pairs, key=lambda pair: (isinstance(pair[0], str), pair[0], pair[1])))
    return hashlib.sha256(text.encode()).hexdigest()


def check_property(db: Database, graph: GraphRecord, name: str) -> None:
    """Refuse a property that a chosen vertex already has, unless all its values come from one recorded release."""
    _replaced(db, graph, name, list_property_values(db, graph.selection, name))


def _replaced(db: Database, graph: GraphRecord, name: str, values: Sequence[tuple[Key, object]]) -> list[str]:
    """Return the releases whose record is wrong once the property is rewritten; refuse values that are not ours."""
    digest = values_hash(values)
    noted = [release for release in _noted(db) if release.property == name]
    if values and digest not in [release.property_hash for release in noted]:
        raise GraphError(
            f"{len(values):,} vertices already have a property {name!r}, and its values are not those of one release. "
            "Name another property.",
            property=name,
        )
    return [release.id for release in noted if release.graph == graph.name or release.property_hash == digest]


def _noted(db: Database) -> list[ReleaseRecord]:
    return [release for release in list_ledger(db).releases if release.property is not None]


def write_property(db: Database, graph: GraphRecord, name: str, release: str, counts: Mapping[Key, int]) -> None:
    """Write noisy counts as a property, over those of an earlier release if there are any; all or nothing."""
    if any(not -(2**63) <= count < 2**63 for count in counts.values()):
        raise GraphError("A noisy count does not fit a Neo4j integer.", property=name)
    digest = values_hash(counts.items())
    if digest is None:
        raise GraphError("Only whole numbers can be written under keys.", property=name)
    # Without the graph's lock two writers would both see the old values, and a wrong record would stay for good.
    with GraphLock(db, graph.name), property_writer(db, graph.selection, name) as writer:
        writer.retire_property(_replaced(db, graph, name, writer.list_values()))
        writer.note_property(release, digest)
        writer.set_property(counts)


def remove_properties(db: Database, graph: GraphRecord, run: str | None = None) -> tuple[list[str], list[str]]:
    """Remove the properties that releases of a graph wrote, and update their records. Call it under the graph's lock.

    Returns:
        The properties removed, and those left alone because not all of their values are ours any more.
    """
    removed, left = [], []
    for release in _noted(db):
        if release.graph != graph.name or run not in (None, release.run) or release.property is None:
            continue
        with property_writer(db, graph.selection, release.property) as writer:
            values = writer.list_values()
            if values and values_hash(values) != release.property_hash:
                left.append(release.property)
                continue
            writer.remove_property([key for key, _ in values])
            writer.retire_property([release.id])
            removed.append(release.property)
    return removed, left
