"""What runs at the collector: it takes noisy reports or answers, public numbers, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted
from pcneo.errors import GraphError
from pcneo.privacy.asked_pairs import AskedKeys
from pcneo.privacy.sensitivity import count_sensitivity

if TYPE_CHECKING:
    from pcneo.privacy.vertex import Answered, Report


def vertices_to_ask(degrees: Sequence[Report], h: int) -> list[int]:
    """Return T: the positions of the h vertices with the largest U, ties to the smaller identifier."""
    return sorted(range(len(degrees)), key=lambda v: (-degrees[v], v))[:h]


def noise_scale(degrees: Sequence[Report], common: Mapping[int, Report], *, k: int, epsilon_2: Fraction) -> Fraction:
    """Return λ = LS/ε2 from the reports."""
    # [two-rooms]
    bounds = [min(U, common.get(v, U)) for v, U in enumerate(degrees)]
    # [public-clamp] Two of n vertices share at most n-2 neighbours, and n is public.
    largest = min(max(bounds), len(degrees) - 2)
    return count_sensitivity(largest, k) / epsilon_2


# --- `respond` between parties


def check_answered(key_list: AskedKeys, at: int, answered: Answered) -> None:
    """Refuse what cannot be one bit for each pair that a vertex answers for."""
    pairs = len(key_list.partners(at))
    bits = np.unpackbits(np.frombuffer(answered, np.uint8), bitorder="little")
    if len(answered) != -(-pairs // 8) or bits[pairs:].any():
        key = key_list.keys.tolist()[at]
        said = f"Vertex {key!r} answers for {counted(pairs, 'pair')}, but did not send exactly one bit for each."
        raise GraphError(said, key=key)


def put_together(key_list: AskedKeys, answered: Mapping[int, Answered]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the answers about pairs of which both ends have sent theirs.

    A vertex that sent nothing is taken out with all its pairs; the other ends' answers about it are dropped.

    Returns:
        The positions of the vertices that answered, ascending, shape (n,); and the answers between them as a symmetric
        matrix of bits, uint64, shape (n, ceil(n/64)): bit y % 64 of entry (x, y // 64) is the answer for {x, y}.
    """
    present = np.array(sorted(answered), np.int64)
    n, words = len(present), -(-len(present) // 64)
    place = np.full(len(key_list), -1, np.int64)
    place[present] = np.arange(n)
    rows, line = np.zeros((n, words), np.uint64), np.zeros(64 * words, bool)
    for x, at in enumerate(present.tolist()):
        partners = key_list.partners(at)
        bits = np.unpackbits(np.frombuffer(answered[at], np.uint8), bitorder="little", count=len(partners))
        # [party-silence] A vertex that sent nothing has no place, whatever others say about it.
        ys = place[partners[bits.astype(bool)]]
        ys = ys[ys >= 0]
        line[:] = False
        line[ys] = True
        rows[x] |= np.packbits(line, bitorder="little").view("<u8")
        rows[ys, x >> 6] |= np.uint64(1) << np.uint64(x & 63)
    return present, rows
