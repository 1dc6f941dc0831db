"""How far two graphs can be told apart by what is published, where groups and scales move with the connection.

For one set of scales the loss of a connection is a plain sum. Here each graph has the scales that its own memberships
give it: that is what the counts tell somebody to whom nothing is given. For the owner alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.facts import Facts

__all__ = ["RemovalEffect", "RemovalStudy", "phase_1_loss", "removal_loss"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


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


_LARGEST_RATE = 700.0  # of 1/t: beyond, the noise is 0 in doubles, as that of an exact count is


def removal_loss(counts: Counts, scales: Floats, after: Counts, later: Floats) -> tuple[float, float]:
    """Compare what is published of one graph with what is published of another.

    At one vertex let x and t be the count and the scale in the first graph, y and u those in the second, d = |x - y|.
    With t = u the log-ratio of an output's probabilities is at most d/t. With t != u it has no bound: far enough out,
    every output is more likely under the larger scale, by any factor. What the outputs of the first graph give away on
    average, the relative entropy, is finite all the same: as P[X=z] = tanh(1/2t)·e^(-|z|/t) and
    E|X+d| = d + e^(-d/t)/sinh(1/t), it is

        log tanh(1/2t) - log tanh(1/2u) + (d + e^(-d/t)/sinh(1/t))/u - 1/(t·sinh(1/t)).

    An exact count is the limit t = 0. Noises are independent, so that both figures add up over the vertices.

    Args:
        counts, scales: those of the first graph, shape (n,); 0 is the scale of an exact count.
        after, later: those of the second.

    Returns:
        mean: the average log-ratio over what the first graph publishes; inf where the second can never publish it.
        worst: the largest log-ratio of any output, in either direction; inf where a scale or an exact count changes.
    """
    d = np.abs(counts - after).astype(np.float64)
    noisy = later > 0
    if ((scales > 0) | (d > 0))[~noisy].any():
        return math.inf, math.inf
    with np.errstate(divide="ignore"):
        t, u = np.minimum(1 / scales[noisy], _LARGEST_RATE), 1 / later[noisy]
    d = d[noisy]
    spread = 1 / np.sinh(t)
    gains = np.log(np.tanh(t / 2)) - np.log(np.tanh(u / 2)) + (d + np.exp(-d * t) * spread) * u - t * spread
    worst = math.fsum(d * u) if (scales == later).all() else math.inf
    return max(0.0, math.fsum(gains)), worst


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
