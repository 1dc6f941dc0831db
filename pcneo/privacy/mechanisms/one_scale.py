"""The base class of mechanisms that find one scale λ with ε1 and draw all counts with ε2 = ε - ε1."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.composition import Cost, cost_of_several
from pcneo.privacy.exact import decimal_text
from pcneo.privacy.facts import Facts
from pcneo.privacy.laplace import standard_error, variance
from pcneo.privacy.mechanisms.base import Drawn, Mechanism, Once
from pcneo.privacy.mechanisms.parameters import Exact, Switch
from pcneo.privacy.noise import Noise, handed_scale
from pcneo.privacy.outlook import USUAL_DEGREE, Foresight, Public, Utility
from pcneo.privacy.sensitivity import count_sensitivity
from pcneo.privacy.smoothing import BIASED, clipped, shrunk

USUAL_DELTA = Fraction(1, 10**6)
"""δ where none is given, except in graphs of more than a thousand vertices, where it is less."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OneScale(Mechanism):
    """First a bound on common neighbours is found with ε1, then all counts get noise of one scale λ with ε2.

    Attributes:
        delta: the probability with which the bound may fail.
        epsilon_1: the part of ε that finds the bound.
        clip: whether counts cut to what is possible are added.
        smooth: whether counts drawn towards their mean are added.
    """

    delta: Exact = Exact(below=1)
    epsilon_1: Exact = Exact()
    clip: Switch = Switch()
    smooth: Switch = Switch()

    def check(self) -> None:
        """Refuse an ε1 that leaves nothing of ε for the counts."""
        if self.epsilon_1 is not None and not self.epsilon_1 < self.epsilon:
            raise ParameterError(
                f"epsilon 1 is a part of epsilon and must be below it: {decimal_text(self.epsilon_1)} is not "
                f"below {decimal_text(self.epsilon)}.",
                name="epsilon 1",
                value=self.epsilon_1,
            )

    def complete(self) -> None:
        """Fill in δ = min(1e-6, 1/n²) and the usual ε1 (GUARANTEE.md#defaults)."""
        self.fill("delta", min(USUAL_DELTA, Fraction(1, self.n * self.n)))
        self.fill("epsilon_1", self.usual_epsilon_1(self.epsilon))

    @classmethod
    def usual_epsilon_1(cls, epsilon: Fraction) -> Fraction:
        """Return ε1 where none is given: the paper's ε/10."""
        return epsilon / 10

    @property
    def epsilon_2(self) -> Fraction:
        """The part of ε that is left for the counts."""
        return self.epsilon - self.epsilon_1

    @property
    def least_scale(self) -> Fraction:
        """k/ε2, or 1/ε2 where only the total is published: λ is never smaller, whatever the graph."""
        return self.covering(0)

    @property
    def largest_scale(self) -> Fraction:
        """λ for n-2 common neighbours: it is never larger, whatever the graph."""
        return self.covering(self.n - 2)

    def covering(self, common: int) -> Fraction:
        """Return the λ that suffices for two vertices that share `common` neighbours."""
        return Fraction(count_sensitivity(common, self.k) * self.times_counted, self.k) / self.epsilon_2

    @abstractmethod
    def expected_scale(self, common: int, degree: int = 1) -> Fraction:
        """Return λ if all noise on the way to it is 0."""

    @property
    @abstractmethod
    def _first_scales(self) -> tuple[Fraction, ...]: ...

    def check_drawable(self) -> None:
        """Refuse, before anything is counted, parameters with which a scale could turn out impossible to draw."""
        # [scale-refused] λ is known only after the first draw, so its largest possible value decides.
        for scale in (*self._first_scales, self.least_scale, self.largest_scale):
            handed_scale(scale)

    def draw(self, facts: Facts, noise: Noise, once: Once | None = None) -> Drawn:
        """Draw λ, then the counts; add clipped and smoothed ones, where asked for, computed from these and λ only."""
        scale = self.find_scale(facts, noise, once)
        counts = self.noisy_counts(self.exact(facts), scale, noise)
        if not (self.clip or self.smooth):
            return Drawn(counts, scale)
        columns: dict[str, Sequence[float]] = {"count": counts}
        largest = np.full(len(counts), float(math.comb(self.n - 1, self.k - 1)))
        if self.clip:
            columns["clipped"] = list(map(round, clipped(counts, largest)))
        if self.smooth:
            columns["smoothed"] = list(map(round, shrunk(counts, float(variance(scale)), largest)))
        return Drawn(counts, scale, columns, {"note": BIASED})

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return the cost of m = inside + outside connections: groups make no difference."""
        return cost_of_several(inside + outside, self.epsilon, self.delta)

    def utility(self, facts: Facts) -> Utility:
        """Return what holds for any graph; no fact is looked at."""
        return Utility(float(self.least_scale))

    def foresee(self, public: Public) -> Foresight:
        """Return the errors at the λ of a graph with as few common neighbours and as equal degrees as possible."""
        scale = self.expected_scale(public.common, math.ceil(public.mean_degree))
        error = standard_error(scale) if self.counts_vertices else None
        return Foresight(error, self.error_of_total(scale))

    def describe(self, utility: Utility, mean_degree: float = USUAL_DEGREE) -> str:
        """Say how small λ can be."""
        return (
            f"{self.heading}: the scale λ of the noise is itself found with noise, and known only after the spend. "
            f"It is at least {rounded(utility.least_scale)}."
        )


def handed(scale: Fraction) -> Fraction:
    """Return the scale that the sampler is actually given, exactly."""
    # [pad-scale]
    return Fraction(handed_scale(scale))
