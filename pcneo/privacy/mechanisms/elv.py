"""`elv`: every connection protected, the scale found by the vertices (GUARANTEE.md#elv-and-published)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from pcneo.privacy.facts import Facts, Integers
from pcneo.privacy.mechanisms.base import InShort
from pcneo.privacy.mechanisms.two_phases import TwoPhases
from pcneo.privacy.protection import Protects

_DIGITS = 10**9


@dataclass(frozen=True, kw_only=True, repr=False)
class Elv(TwoPhases):
    """Every connection is protected, with one scale, which the vertices find themselves.

    The two phases use extended local views: deg(v), and c(v), the largest |N(v) ∩ N(u)| over u != v.

    >>> import pcneo
    >>> pcneo.Elv(epsilon=1, h=3)
    Elv(k=3, epsilon=1, h=3)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that is spent on the scale of the noise; None for the mechanism's default.
        h: how many vertices are asked for a closer bound; None for min(3, n).
        clip: add counts cut to what is possible, which are biased.
        smooth: add counts drawn towards their mean, which are biased.
    """

    name = "elv"
    promise = (
        "For someone who knows all other connections, all that the vertices report, and what is published of it,"
        " changes the odds that any one pair of vertices is connected by a factor of at most e^ε, except with"
        " probability δ (m connections that go together: e^(mε) and δ(e^(mε)-1)/(e^ε-1)); it does not protect"
        " against the process that simulates the vertices."
    )
    protects = Protects.EVERY_CONNECTION
    in_short = InShort(
        promises="the same as edge, for all that vertices send to a collector; simulated in one process",
        exact="nothing",
        shows="little, at an error usually larger than that of edge; for a few dozen vertices it can be smaller",
    )
    needs_groups = False
    publishes_scale = True

    @property
    def part_delta(self) -> Fraction:
        """δ', the largest multiple of 1/(2·10⁹b) for δ = a/b with (2δ')² <= δ: both ends of a connection must fail."""
        # [elv-delta] Rounded down in integers, so never above sqrt(δ)/2.
        a, b = self.delta.as_integer_ratio()
        return Fraction(math.isqrt(a * b * _DIGITS**2), 2 * b * _DIGITS)

    def view(self, facts: Facts) -> tuple[Integers, Integers]:
        """Return deg(v) and c(v)."""
        return facts.degrees(), facts.common()
