"""Groups of an earlier date on the graph as it is now (GUARANTEE.md#kept-groups)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import NoReturn

import numpy as np

from pcneo.basics.model import Graph, Key
from pcneo.basics.run_record import RunRecord
from pcneo.counting.protected import Groups
from pcneo.errors import GraphChangedError
from pcneo.graph import HubDigests, membership_hash
from pcneo.store.run_reader import KeptHub

log = logging.getLogger("pcneo")


def groups_now(graph: Graph, hubs: Iterable[KeptHub], version: RunRecord, fingerprint_key: bytes) -> Groups:
    """Return the groups of a kept version: the members of each that are still there, by position in the graph.

    Members that are gone drop out; vertices that came later are in no group. This checks what can be checked: every hub
    is there; a hub that lacks no one has the members that were written, and if no hub lacks anyone, all of them have
    the membership hash; other hubs lack no more members than are gone; and no vertex's key has changed.
    """
    place = {key: i for i, key in enumerate(graph.keys.tolist())}
    digests, stored = HubDigests(fingerprint_key), list(hubs)
    gone = {hub.owner for hub in stored if not hub.vertices}
    # [kept-returned] The groups no longer know it, and earlier releases protected its pairs.
    for key in graph.keys.tolist() if gone else ():
        if digests.owner(key) in gone:
            _refuse(version, f"vertex {key!r} was deleted and has come back, and is no longer in any group")
    whole = [row for hub in stored if (row := _checked(hub, len(gone), digests, version)) is not None]
    if len(stored) != version.cohesions:
        _refuse(version, f"it has {len(stored):,} of {version.cohesions:,} cohesions")
    if len(whole) == len(stored) and membership_hash(whole) != version.membership_hash:
        _refuse(version, "its memberships have changed")
    members = [sorted(place[key] for key in hub.members if key in place) for hub in stored]
    _say(graph, stored, place, version)
    return Groups(
        np.cumsum([0, *map(len, members)], dtype=np.int64),
        np.array([at for group in members for at in group], np.uint32),
    )


def _checked(hub: KeptHub, gone: int, digests: HubDigests, version: RunRecord) -> tuple[Key, list[Key]] | None:
    """Check one hub; return its owner and its members if it lacks no one."""
    vertices, members = list(_keys(hub.vertices, version)), list(_keys(hub.members, version))
    if len(vertices) > 1 or any(digests.owner(vertex) != hub.owner for vertex in vertices):
        _refuse(version, "the key of a vertex has changed")
    if len(members) != len(set(members)) or not hub.size - gone <= len(members) <= hub.size:
        _refuse(version, "members came or went, but not because vertices did")
    if not vertices or len(members) < hub.size:
        return None
    if digests.digest(vertices[0], members) != hub.digest:
        _refuse(version, "its memberships have changed")
    return vertices[0], members


def _keys(keys: Iterable[object], version: RunRecord) -> Iterator[Key]:
    for key in keys:
        if not isinstance(key, int | str):
            _refuse(version, "a vertex has lost its key")
        yield key


def _refuse(version: RunRecord, why: str) -> NoReturn:
    raise GraphChangedError(
        f"The groups of version {version.version} of run {version.id} are no longer those that were written: {why}. "
        "Annotate the graph again, and release on the new groups with --other-groups (in Python `other_groups=True`).",
        run=version.id,
        version=version.version,
    )


def _say(graph: Graph, hubs: list[KeptHub], place: dict[Key, int], version: RunRecord) -> None:
    """Log how far the graph has moved on; which vertices there are is public."""
    known = {key for hub in hubs for key in hub.vertices}
    log.info(
        "groups of version %d of run %s: %s of its %s vertices are still there, and %s came later, in no group",
        version.version,
        version.id,
        f"{len(place.keys() & known):,}",
        f"{version.cohesions:,}",
        f"{len(place.keys() - known):,}",
    )
