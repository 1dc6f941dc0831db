"""What runs at a vertex: it takes that vertex's own view and returns a noisy report, or answers.

In the two-phase mechanisms nothing but a `Report` leaves the vertex. The noise is the vertex's own; because it has the
same scale everywhere, the simulation draws it for all vertices in one call and hands each vertex its number. Under
`respond` nothing but `Answered` leaves it, made with the vertex's own coins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NewType

import numpy as np

from pcneo.basics.model import Key
from pcneo.errors import GraphError, NotFoundError
from pcneo.privacy.asked_pairs import AskedKeys
from pcneo.privacy.randomised_response import threshold_of

# [two-rooms]
Report = NewType("Report", int)
"""A noisy integer that a vertex has sent. Only this module makes reports, and the collector takes nothing else."""


def report_degree(degree: int, noise: int, pad: int) -> Report:
    """Phase 1: deg(v, R) + X(t_d) + pad(t_d, δ'), above the truth except with probability δ'."""
    return Report(degree + noise + pad)


def report_common(common: int, noise: int, pad: int) -> Report:
    """Phase 1, for the h vertices that are asked: c(v) + X(t_c) + pad(t_c, δ')."""
    return Report(common + noise + pad)


def report_count(count: int, noise: int) -> Report:
    """Phase 2: Γ(v) + X(λ)."""
    return Report(count + noise)


# --- `respond` between parties

# [party-rooms]
Answered = NewType("Answered", bytes)
"""One bit for each pair that a vertex answers for, in the order of keys, the lowest bit of a byte first; the last byte
is filled with zeros. Only this module makes them, and the collector takes nothing else."""

_threshold = lru_cache(8)(threshold_of)


@dataclass(frozen=True)
class OwnRow:
    """What a vertex knows about the graph.

    Attributes:
        key: the vertex's own key.
        neighbours: the keys of its neighbours.
    """

    key: Key
    neighbours: Collection[Key]


def answer(key: Key, row: OwnRow, key_list: AskedKeys, epsilon: Fraction, coins: Callable[[int], bytes]) -> Answered:
    """Answer for those pairs of a vertex that it must answer for: what its row says, flipped by chance."""
    if row.key != key:
        raise GraphError(f"The row is that of vertex {row.key!r}, not of {key!r}.", key=row.key)
    at = key_list.place(key)
    if at is None:
        raise NotFoundError(f"Vertex {key!r} is not in the list of vertices that are asked.", what="key", name=key)
    partners = key_list.partners(at)
    connected = np.zeros(len(key_list), bool)
    connected[key_list.places(row.neighbours)] = True
    drawn = np.frombuffer(coins(3 * len(partners)), np.uint8).reshape(-1, 3).astype(np.int64)
    # [party-flip] As in `respond`: one coin per pair, and nothing else is drawn.
    flipped = (drawn[:, 0] << 16 | drawn[:, 1] << 8 | drawn[:, 2]) < _threshold(epsilon)
    return Answered(np.packbits(connected[partners] ^ flipped, bitorder="little").tobytes())
