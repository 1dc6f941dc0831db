"""Stored cohesions in a graph where someone has since changed or removed keys."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pcneo.basics.model import FoundCohesion, Key
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, KeyPropertyError
from pcneo.store.run_reader import StoredHub
from pcneo.stored.showing import cohesion_of, read_around

RUN: Any = SimpleNamespace(id="friends@1/2", search=Search("1/2"))
PERSONS = Selection(("Person",), ("KNOWS",), "id")


def hub(*members: object) -> StoredHub:
    return StoredHub(2, cast("Any", members), 3, proven=True, best=True)


def test_a_stored_cohesion_has_its_members_ascending_and_all_of_them() -> None:
    assert cohesion_of(hub(3, 2, 1), RUN).members == (1, 2, 3)
    with pytest.raises(GraphChangedError, match=r"lost its key since run friends@1/2\. Annotate the graph again"):
        cohesion_of(hub(3, 2, None), RUN)


@pytest.mark.parametrize("key", ["one", [1], 7.0, True])
def test_a_key_of_another_kind_is_named_wherever_it_is(key: Any) -> None:
    with pytest.raises(
        KeyPropertyError, match=re.escape(f"A member of the cohesion of vertex 2 has the key {key!r}. All keys")
    ):
        cohesion_of(hub(3, 2, key), RUN)
    around: dict[Key, list[Any]] = {1: [2], 2: [1, key]}
    db: Any = SimpleNamespace(get_neighbours=lambda _, keys: [(v, around[v]) for v in keys])
    found = FoundCohesion(1, Search("1/2"), (1, 2), 1, proven=True, best=True)
    with pytest.raises(KeyPropertyError, match=re.escape(f"A neighbour of vertex 2 has the key {key!r}. All keys")):
        read_around(db, PERSONS, found)
