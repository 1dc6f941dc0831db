"""What runs at a vertex in the two-phase mechanisms: it takes that vertex's own view and returns a noisy report.

Nothing but a `Report` leaves. The noise is the vertex's own; because it has the same scale everywhere, the simulation
draws it for all vertices in one call and hands each vertex its number.
"""

from __future__ import annotations

from typing import NewType

__all__ = ["Report", "report_common", "report_count", "report_degree"]

# [two-rooms]
Report = NewType("Report", int)
"""A noisy integer that a vertex has sent. Only this module makes reports, and the collector takes nothing else."""


def report_degree(degree: int, noise: int, pad: int) -> Report:
    """Phase 1: deg(v, R) + X(t_d) + pad(t_d, δ'), above the truth but for a probability of δ'."""
    return Report(degree + noise + pad)


def report_common(common: int, noise: int, pad: int) -> Report:
    """Phase 1, for the h vertices that are asked: c(v) + X(t_c) + pad(t_c, δ')."""
    return Report(common + noise + pad)


def report_count(count: int, noise: int) -> Report:
    """Phase 2: Γ(v) + X(λ)."""
    return Report(count + noise)
