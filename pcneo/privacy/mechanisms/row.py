"""`row`: each vertex counts its own row in the answers of all others (GUARANTEE.md#row)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

import numpy as np

from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import exact_text
from pcneo.privacy.facts import Answers, Facts
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.mechanisms.base import OWNER, InShort
from pcneo.privacy.mechanisms.parameters import Parameters, whole
from pcneo.privacy.mechanisms.respond import BIASED, Respond, check_size
from pcneo.privacy.mechanisms.scaling import Drawn
from pcneo.privacy.noise import Noise, add_noise, handed_scale
from pcneo.privacy.outlook import Foresight, Utility
from pcneo.privacy.randomised_response import COINS, LEAST_EPSILON, Flips, Yes, threshold_of
from pcneo.privacy.row_parts import split
from pcneo.privacy.smoothing import clipped, largest_counts, smoothed

__all__ = ["Row"]


@dataclass(frozen=True)
class Row(Respond):
    """Every connection is protected, nothing is given: answers, noisy degrees, and noisy counts in the answers.

    Attributes:
        epsilon_0: the part of ε that finds how many neighbours count.
        epsilon_h: the part that the answers cost.
        epsilon_2: the part that the counts cost.
    """

    epsilon_0: Fraction = Fraction(0)
    epsilon_h: Fraction = Fraction(0)
    epsilon_2: Fraction = Fraction(0)

    name = "row"
    run_by = OWNER
    promise = (
        "Each pair of vertices was answered once by randomised response, and each vertex's neighbours were counted in"
        " the answers, with noise: whatever else is known, all that is published changes the odds that any one pair is"
        " connected by at most a factor e^ε (m pairs that go together: e^(mε)). It does not hide what other pairs show:"
        " in dense parts a connection can be guessed from those around it."
    )

    in_short = InShort(
        promises="ε for any one connection, whatever else is known; no δ",
        exact="nothing, but one randomised answer for every pair at a part of ε, and a bound on each degree",
        shows="as respond, at the part of ε that its answers get; the noisy counts add to it",
    )
    reads_graph = True
    of_columns = MappingProxyType(
        {
            **Respond.of_columns,
            "count": "how many triangles contain the vertex, from its neighbours' answers, with noise: not whole, "
            "right on average for the triangles among the neighbours that count",
            "standardError": "of count, an upper bound for the triangles among the neighbours that count",
            "bound": "how many of its neighbours count at most",
            "scale": "of the noise in count, before it was divided",
        }
    )

    @classmethod
    def in_range(cls, parameters: Parameters) -> Parameters:
        """Refuse what the proof does not cover: k other than 3, and parts of ε that are none."""
        whole("k", parameters.k, at_least=3, at_most=3)
        parts = super().in_range(parameters).parts_of_row
        if any(part is not None and part <= 0 for part in parts) or sum(filter(None, parts)) > parameters.epsilon:
            named = ", ".join("-" if part is None else exact_text(part) for part in parts)
            raise ParameterError(
                f"The parts ε0, ε_h, ε2 of ε = {exact_text(parameters.epsilon)} must be positive, and at most ε "
                f"together: {named}.",
                name="epsilon 0",
                value=named,
            )
        return parameters

    @classmethod
    def completed(cls, parameters: Parameters, n: int) -> Parameters:
        """Fill in the parts of ε, and refuse graphs by the number of vertices alone."""
        epsilon_0, epsilon_h, epsilon_2 = split(parameters.epsilon, *parameters.parts_of_row)
        if min(epsilon_0, epsilon_2) <= 0 or epsilon_h < LEAST_EPSILON:
            raise ParameterError(
                f"ε = {exact_text(parameters.epsilon)} leaves no part for each of ε0, ε_h (0.001 at least) and ε2.",
                name="epsilon",
                value=parameters.epsilon,
            )
        if n < 1:
            raise GraphError("The graph has no vertices: there are no counts to release.")
        parameters = replace(parameters, epsilon_0=epsilon_0, epsilon_h=epsilon_h, epsilon_2=epsilon_2)
        check_size(Flips(n, threshold_of(epsilon_h)), parameters)
        return replace(
            parameters, large=bool(parameters.large), clip=bool(parameters.clip), smooth=bool(parameters.smooth)
        )

    @classmethod
    def entry(cls, parameters: Parameters) -> tuple[Fraction, Fraction]:
        """Return the sum of the three parts, which rounding may leave below ε, and no δ."""
        return sum(filter(None, parameters.parts_of_row), Fraction(0)), Fraction(0)

    @classmethod
    def entry_on_answers(cls, parameters: Parameters) -> tuple[Fraction, Fraction]:
        """Return ε0+ε2: the answers are paid for."""
        # [row-on-answers]
        epsilon, delta = cls.entry(parameters)
        return epsilon - (parameters.epsilon_h or Fraction(0)), delta

    @classmethod
    def epsilon_of_answers(cls, parameters: Parameters) -> Fraction:
        """Return ε_h."""
        return parameters.epsilon_h or Fraction(0)

    @cached_property
    def flips(self) -> Flips:
        """The chance of a flip at ε_h, and what follows from it."""
        return Flips(self.n, threshold_of(self.epsilon_h))

    @property
    def pad(self) -> int:
        """ceil(4/ε0), added to every noisy degree."""
        return math.ceil(4 / self.epsilon_0)

    @property
    def chance_of_a_cut(self) -> float:
        """P[X(2/ε0) < -ceil(4/ε0)]: that some neighbours of a vertex are left out of its count."""
        alpha = math.exp(-float(self.epsilon_0) / 2)
        return alpha ** (self.pad + 1) / (1 + alpha)

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return (m·(ε0+ε_h+ε2), 0) for m = inside + outside pairs."""
        return Cost((inside + outside) * self.entry(self.parameters)[0])

    def scale(self, bound: int) -> Fraction:
        """Return t_w = 2·2^24·max(1, D-1)/ε2 of a vertex whose first D neighbours count."""
        # [row-scale] D-1 pairs of T(w) have the vertex that comes or goes, and a swap moves each answer by 2^24.
        return 2 * COINS * max(1, bound - 1) / self.epsilon_2

    def check_drawable(self) -> None:
        """Refuse parameters with which a scale could turn out impossible to draw.

        Raises:
            ParameterError: a possible scale cannot be handed to the sampler.
        """
        for scale in (2 / self.epsilon_0, self.scale(1), self.scale(self.n - 1)):
            handed_scale(scale)

    def compute(self, answers: Answers, facts: Facts, noise: Noise) -> Drawn:
        """Draw the degrees' noise, then the counts'."""
        bounds = self.bounds(facts.degrees().tolist(), noise)
        inside, sizes = facts.answered_among(answers, np.array(bounds, np.int64))
        a, b = self.threshold, COINS
        scales = [self.scale(bound) for bound in bounds]
        # [row-count] Integers: b·(yes-answers among T(w)) - a·C(|T(w)|, 2), and noise of scale t_w.
        sums = [b * yes - a * math.comb(size, 2) for yes, size in zip(inside.tolist(), sizes.tolist(), strict=True)]
        noisy = add_noise(sums, scales, noise)
        return self._published(answers, bounds, scales, noisy)

    def bounds(self, degrees: list[int], noise: Noise) -> list[int]:
        """Return D(w) = min(n-1, max(1, deg(w) + X(2/ε0) + ceil(4/ε0))) of each vertex."""
        # [row-degrees] Two degrees change by 1: ε0/2 each. n is public, and so is 1.
        drawn = noise.draw(2 / self.epsilon_0, len(degrees))
        return [min(self.n - 1, max(1, d + x + self.pad)) for d, x in zip(degrees, drawn, strict=True)]

    def _published(self, answers: Answers, bounds: list[int], scales: list[Fraction], noisy: list[int]) -> Drawn:
        """Everything from here on follows from what was drawn."""
        a, b, v = self.threshold, COINS, self.flips.variance
        counts = [float(Fraction(Y, b - 2 * a)) for Y in noisy]
        degrees = [float(Fraction(d * b - (self.n - 1) * a, b - 2 * a)) for d in answers.degrees().tolist()]
        of_noise = {scale: (standard_error([scale]) / (b - 2 * a)) ** 2 for scale in set(scales)}
        squared = [of_noise[t] + v * math.comb(D, 2) for t, D in zip(scales, bounds, strict=True)]
        columns = {
            "degree": degrees,
            "count": counts,
            "standardError": [math.sqrt(x) for x in squared],
            "bound": bounds,
            "scale": [float(t) for t in scales],
        }
        yes = Yes(self.flips, answers.yes_count)
        record = {
            "promise": f"{self.promise} Of the {yes.count:,} pairs answered yes about {yes.share_true:.0f} % are "
            "connections.",
            "total": float(Fraction(sum(noisy), 3 * (b - 2 * a))),
            "standardErrorsAre": "upper bounds, for the triangles among the neighbours that count",
            "epsilon0": exact_text(self.epsilon_0),
            "epsilonH": exact_text(self.epsilon_h),
            "epsilon2": exact_text(self.epsilon_2),
            "chanceThatNeighboursAreLeftOut": self.chance_of_a_cut,
            **self.of_answers(yes),
        }
        largest = largest_counts(np.array(bounds, np.float64), self.n, 3)
        if self.clip:
            columns["clipped"] = clipped(counts, largest)
        if self.smooth:
            columns["smoothed"] = smoothed(counts, bounds, np.array(squared), largest)
        if self.clip or self.smooth:
            record["note"] = BIASED
        return Drawn(counts, [], columns, record, self.shown_by(yes))

    def foresee(self, mean_degree: float) -> Foresight:
        """Return the error of a vertex whose bound has no noise, and what the answers would show."""
        a, b = self.threshold, COINS
        bound = min(self.n - 1, math.ceil(mean_degree) + self.pad)
        noise = (standard_error([self.scale(bound)]) / (b - 2 * a)) ** 2
        error = math.sqrt(noise + self.flips.variance * math.comb(bound, 2))
        return super().foresee(mean_degree)._replace(error=error, error_is="about", error_of_total=None)

    def describe(self, utility: Utility) -> str:
        """Say what follows from n and ε, with the parts."""
        return f"{super().describe(utility)} {self._told_of_parts()}"

    def describe_from(self, release: str) -> str:
        """Say whose answers these are, with the parts."""
        return f"{super().describe_from(release)} {self._told_of_parts()}"

    def _told_of_parts(self) -> str:
        signed = zip(("ε0", "ε_h", "ε2"), (self.epsilon_0, self.epsilon_h, self.epsilon_2), strict=True)
        parts = ", ".join(f"{sign} = {exact_text(part)}" for sign, part in signed)
        return f"{parts}; for about {self.chance_of_a_cut:.0%} of the vertices some neighbours do not count."
