"""Which hubs are looked for when versions are let go: only those between kept versions with others between them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.store.standing import OpenGraph


def looked_for(readable: dict[int, bool]) -> list[tuple[int, int]]:
    """The pairs of kept versions between which hubs are looked for, where these versions are on record."""
    looks: list[tuple[int, int]] = []
    opened: Any = object.__new__(OpenGraph)
    versions: Any = [SimpleNamespace(version=version, readable=kept) for version, kept in readable.items()]
    opened.hubs = SimpleNamespace(delete_between=lambda run, after, by: looks.append((after, by)) or 1)
    assert opened.delete_unkept("run", versions) == len(looks)
    return looks


@pytest.mark.parametrize(
    ("readable", "pairs"),
    [
        ({1: True}, []),
        ({1: True, 2: True, 3: True}, []),
        ({1: False, 2: True, 3: True}, [(0, 2)]),
        ({1: True, 2: False, 3: True}, [(1, 3)]),
        ({1: False, 3: False, 4: True, 6: True, 7: False, 8: False, 9: True}, [(0, 4), (6, 9)]),
    ],
)
def test_hubs_are_looked_for_where_a_version_was_let_go(readable, pairs):
    assert looked_for(readable) == pairs
