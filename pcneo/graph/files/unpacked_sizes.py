"""How much a Parquet file says that it unpacks to: a column of equal values takes some bytes, however many they are."""

from __future__ import annotations

from typing import Any

from pcneo.basics.model import KeyArray

__all__ = ["unpacks_to_more"]

ROOM = 2**20
"""Bytes of a column that are not values."""


def unpacks_to_more(metadata: Any, keys: KeyArray, memberships: int) -> bool:
    """Return, before anything is unpacked, whether a column has more values or bytes than a graph's cohesions can have.

    Args:
        metadata: the file's.
        keys: those of the graph.
        memberships: of a row group, beside those of one cohesion more.
    """
    of_key = max((len(key.encode()) for key in keys.tolist()), default=0) if keys.dtype == object else 8
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            values, unpacked = column.num_values, column.total_uncompressed_size
            if not 0 <= values <= memberships + len(keys) or unpacked > (of_key + 8) * values + ROOM:
                return True
    return False
