"""Noisy counts as a property of the user's own vertices: the only change that a release may make to them.

DATA-MODEL.md#counts-on-your-nodes has the rules.

The record of a release holds the property's name and a hash of all keys and values. Values are ours while that hash
matches; only then may they be overwritten or removed. Record and values are written in one transaction, so neither
exists without the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, WriteMismatchError
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger
from pcneo.store.ledger_records import ReleaseRecord
from pcneo.store.lock import GraphLock
from pcneo.store.transaction import Row, Transaction, sample_names

T = TypeVar("T")

BATCH = 10_000
"""Vertices per statement that writes values; all statements share one transaction."""


def values_hash(values: Iterable[tuple[Key, object]]) -> str | None:
    """Return the SHA-256 of keys and counts, in any order; None if a key or value is of a kind that we never write."""
    pairs = list(values)
    if not all(isinstance(key, int | str) and type(value) is int for key, value in pairs):
        return None
    text = json.dumps(sorted(pairs, key=lambda pair: (isinstance(pair[0], str), pair[0], pair[1])))
    return hashlib.sha256(text.encode()).hexdigest()


def check_property(db: Database, graph: GraphRecord, name: str) -> None:
    """Refuse a property that a chosen vertex already has, unless all its values come from one recorded release."""
    _replaced(db, graph, name, _values(db.read, _names(graph.selection, name)))


def _replaced(db: Database, graph: GraphRecord, name: str, values: Sequence[tuple[Key, object]]) -> list[str]:
    """Return the releases whose record is wrong once the property is rewritten; refuse values that are not ours."""
    digest = values_hash(values)
    noted = [release for release in _noted(db) if release.property == name]
    if values and not any(_wrote(release, digest) for release in noted):
        raise GraphError(
            f"{len(values):,} vertices already have a property {name!r}, and its values are not those of one release. "
            "Name another property.",
            property=name,
        )
    return [release.id for release in noted if release.graph == graph.name or _wrote(release, digest)]


def _wrote(release: ReleaseRecord, digest: str | None) -> bool:
    """Whether values are those of a release; a record that has lost its hash, and values without one, prove nothing."""
    return digest is not None and digest == release.property_hash


def _noted(db: Database) -> list[ReleaseRecord]:
    return [release for release in list_ledger(db).releases if release.property is not None]


def write_property(db: Database, graph: GraphRecord, name: str, release: str, counts: Mapping[Key, int]) -> None:
    """Write noisy counts as a property, over those of an earlier release if there are any; all or nothing."""
    if any(not -(2**63) <= count < 2**63 for count in counts.values()):
        raise GraphError("A noisy count does not fit a Neo4j integer.", property=name)
    digest = values_hash(counts.items())
    if digest is None:
        raise GraphError("Only whole numbers can be written under keys.", property=name)
    names = _names(graph.selection, name)
    # Without the graph's lock two writers would both see the old values, and a wrong record would stay for good.
    with GraphLock(db, graph.name), db.transaction({}) as transaction:
        replaced = _replaced(db, graph, name, _values(transaction.run, names))
        transaction.run("retire_property", releases=replaced)
        noted = transaction.run("note_property", release=release, property=name, hash=digest)[0]["noted"]
        if noted != 1:
            raise WriteMismatchError(
                f"Release {release} is no longer in the ledger, so the property would have no owner.",
                sent=1,
                written=noted,
            )
        _set_values(transaction, names, counts)
        transaction.commit()


def remove_properties(db: Database, graph: GraphRecord, run: str | None = None) -> tuple[list[str], list[str]]:
    """Remove the properties that releases of a graph wrote, and update their records. Call it under the graph's lock.

    Returns:
        The properties removed, and those left alone because not all of their values are ours any more.
    """
    removed, left = [], []
    for release in _noted(db):
        if release.graph != graph.name or run not in (None, release.run) or release.property is None:
            continue
        names = _names(graph.selection, release.property)
        with db.transaction({}) as transaction:
            values = _values(transaction.run, names)
            if values and not _wrote(release, values_hash(values)):
                left.append(release.property)
                continue
            for part in _parts([key for key, _ in values]):
                transaction.run("remove_property", names, keys=part)
            transaction.run("retire_property", releases=[release.id])
            transaction.commit()
            removed.append(release.property)
    return removed, left


def _names(selection: Selection, name: str) -> dict[str, str | Sequence[str]]:
    return {**sample_names(selection, "Person", "id"), "noisy": name}


def _values(read: Callable[..., list[Row]], names: Mapping[str, str | Sequence[str]]) -> list[tuple[Key, object]]:
    """Return (key, value) of every chosen vertex that has the property."""
    return [(row["key"], row["value"]) for row in read("list_property_values", names)]


def _set_values(transaction: Transaction, names: Mapping[str, str | Sequence[str]], counts: Mapping[Key, int]) -> None:
    rows = [{"vertex": key, "count": count} for key, count in counts.items()]
    written = sum(transaction.run("set_property", names, rows=part)[0]["written"] for part in _parts(rows))
    if written != len(rows):
        raise WriteMismatchError(
            f"Only {written:,} of {len(rows):,} vertices were found again: the graph changed after it was read.",
            sent=len(rows),
            written=written,
        )


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
