"""How far two graphs can be told apart by what is published, where groups and scales move with the connection.

For one set of scales the loss of a connection is a plain sum. Here each graph has the scales that its own memberships
give it: that is what the counts tell somebody to whom nothing is given. For the owner alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.facts import Facts

__all__ = ["RemovalEffect", "RemovalStudy", "phase_1_loss"]

Counts = NDArray[np.int64]


class RemovalEffect(NamedTuple):
    """What removing one connection changes.

    Attributes:
        scales: vertices whose scale changes, or what stands for one.
        mean: the average log-ratio of what is published, in favour of the truth; None where it is not computed.
        worst: the largest log-ratio of what is published or reported.
    """

    scales: int
    mean: float | None
    worst: float


@dataclass(frozen=True, eq=False)
class RemovalStudy:
    """How one mechanism's releases of two graphs that differ in one connection are compared.

    Attributes:
        promised: what the mechanism, or its paper, allows if the groups stay, which they need not here.
        meaning: what the figures say, in words.
        compare: takes the facts of the graph with the connection, and of the graph without it.
    """

    promised: Fraction
    meaning: str
    compare: Callable[[Facts, Facts], RemovalEffect]


def phase_1_loss(
    degrees: tuple[Counts, Counts],
    common: tuple[Counts, Counts],
    degree_scale: Fraction,
    common_scale: Fraction,
    h: int,
) -> float:
    """Return the largest log-ratio of what phase 1 of `elv` or `published` reports of one graph and of another.

    Each vertex reports its degree with noise of scale t_d, and any h vertices answer with noise of scale t_c: together
    Σ_v |change of the degree|/t_d, and the h largest |changes of the answer|/t_c. λ follows from the reports.

    Args:
        degrees: deg(v, R(v)) in the one graph and in the other, shape (n,).
        common: likewise c(v).
        degree_scale, common_scale: t_d and t_c.
        h: how many answer.
    """
    reports = int(np.abs(degrees[0] - degrees[1]).sum())
    answers = int(np.sort(np.abs(common[0] - common[1]))[::-1][:h].sum())
    return float(reports / degree_scale + answers / common_scale)
