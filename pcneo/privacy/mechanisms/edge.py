"""`edge`: every connection protected, nothing given (GUARANTEE.md#edge)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pcneo.privacy.facts import Facts
from pcneo.privacy.laplace import pad
from pcneo.privacy.mechanisms.base import OWNER, InShort, Once
from pcneo.privacy.mechanisms.one_scale import OneScale, handed
from pcneo.privacy.noise import Noise
from pcneo.privacy.protection import Protects

_DIGITS = 10**9


@dataclass(frozen=True, kw_only=True, repr=False)
class Edge(OneScale):
    """Every connection is protected, and every vertex has a count.

    >>> import pcneo
    >>> pcneo.Edge(epsilon=1, delta="1e-6")
    Edge(k=3, epsilon=1, delta=1e-6)
    >>> pcneo.Edge(epsilon=1).on(2000)
    Edge(k=3, epsilon=1, n=2000, delta=2.5e-7, epsilon_1=0.36)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that is spent on the scale of the noise; None for the mechanism's default.
        clip: add counts cut to what is possible, which are biased.
        smooth: add counts drawn towards their mean, which are biased.
    """

    name = "edge"
    run_by = OWNER
    promise = (
        "For someone who knows all other connections, the published counts, with the noise level, change the odds that"
        " any one pair of vertices is connected by a factor of at most e^ε, except with probability δ (m connections"
        " that go together: e^(mε) and δ(e^(mε)-1)/(e^ε-1)); a person's connections are not protected as a whole."
    )
    protects = Protects.EVERY_CONNECTION
    in_short = InShort(
        promises="ε for any one connection, given all others; it may fail with probability δ",
        exact="nothing",
        shows="little, at a large error: the noise suits the connection that needs most, and is more than others need",
    )
    needs_groups = False
    publishes_scale = True
    shares_bound = True

    @classmethod
    def usual_epsilon_1(cls, epsilon: Fraction) -> Fraction:
        """Return floor(100/(1+sqrt(1+2ε))) percent of ε, one percent at least (GUARANTEE.md#defaults)."""
        root = math.isqrt(int((1 + 2 * epsilon) * _DIGITS**2))  # in integers: the same everywhere, and for any ε
        return epsilon * max(1, 100 * _DIGITS // (_DIGITS + root)) / 100

    @property
    def _first_scales(self) -> tuple[Fraction, ...]:
        return (1 / self.epsilon_1,)

    @cached_property
    def _pad(self) -> int:
        return pad(handed(1 / self.epsilon_1), self.delta)

    def expected_scale(self, common: int, degree: int = 1) -> Fraction:
        """Return λ for a C of `common` if the noise on C is 0; degrees make no difference."""
        return self.covering(self._clamped(common + self._pad))

    def bound(self, largest_common: int, noise: Noise) -> int:
        """Draw once and return C*."""
        # [edge-common] One connection changes C by at most 1, so noise of scale 1/ε1 is ε1-private.
        (x,) = noise.draw(1 / self.epsilon_1, 1)
        return self._clamped(int(largest_common) + x + self._pad)

    def check_facts(self, facts: Facts) -> None:
        """Count the cliques, and find C as the owner sees it."""
        super().check_facts(facts)
        facts.largest_common()

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        """Return the λ that C* asks for, drawing C* unless a release that shares with this one has drawn it."""
        return self.covering(self.one_bound(facts, noise, once))

    def one_bound(self, facts: Facts, noise: Noise, once: Once | None) -> int:
        """Return C*, drawing it unless a release that shares with this one has."""
        # [one-bound] C* does not depend on k: with one ε1 and one δ it is the same number for all.
        return (once or Once()).get("C*", lambda: self.bound(facts.largest_common(), noise))

    def _clamped(self, bound: int) -> int:
        # [public-clamp] Two of n vertices share at most n-2 neighbours, and n is public.
        return min(self.n - 2, bound)
