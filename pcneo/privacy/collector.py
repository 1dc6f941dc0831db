"""What runs at the collector of the two-phase mechanisms: it takes noisy reports and public numbers, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from pcneo.privacy.sensitivity import count_sensitivity

if TYPE_CHECKING:
    from pcneo.privacy.vertex import Report

__all__ = ["noise_scale", "vertices_to_ask"]


def vertices_to_ask(degrees: Sequence[Report], h: int) -> list[int]:
    """Return T: the positions of the h vertices with the largest U, ties to the smaller identifier."""
    return sorted(range(len(degrees)), key=lambda v: (-degrees[v], v))[:h]


def noise_scale(degrees: Sequence[Report], common: Mapping[int, Report], *, k: int, epsilon_2: Fraction) -> Fraction:
    """Return λ = LS/ε2 from the reports.

    Args:
        degrees: U(v) of each vertex, by position.
        common: c*(v) of the vertices that were asked, by position; it replaces U(v) where it is smaller.
        k: vertices of the cliques.
        epsilon_2: ε2.
    """
    # [two-rooms]
    bounds = [min(U, common.get(v, U)) for v, U in enumerate(degrees)]
    # [public-clamp] Two of n vertices share at most n-2 neighbours, and n is public.
    largest = min(max(bounds), len(degrees) - 2)
    return count_sensitivity(largest, k) / epsilon_2
