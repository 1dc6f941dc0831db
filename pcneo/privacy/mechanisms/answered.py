"""The base class of mechanisms whose numbers are all computed from randomised answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pcneo.privacy.facts import Facts
from pcneo.privacy.mechanisms.base import Drawn, Mechanism, Once
from pcneo.privacy.mechanisms.parameters import whole
from pcneo.privacy.noise import Noise
from pcneo.privacy.outlook import is_mostly_noise
from pcneo.privacy.randomised_response import Flips, check_epsilon, threshold_of

NO_ERROR_WARNED = "not published for k = 4"
NO_ERROR = f"{NO_ERROR_WARNED}: counts can be mostly noise even without a warning"
MOSTLY_NOISE = "According to an estimate from the answers, these counts are mostly noise."


def without_errors(from_below: float, counts: Sequence[float]) -> dict[str, str]:
    """Return what a file says of its errors for k = 4, where only parts of them can be estimated from the answers."""
    if is_mostly_noise(from_below, counts):
        return {"standardErrorsAre": NO_ERROR_WARNED, "warning": MOSTLY_NOISE}
    return {"standardErrorsAre": NO_ERROR}


@dataclass(frozen=True, kw_only=True, repr=False)
class Answered(Mechanism):
    """Pairs are answered by randomised response, and no other random number is drawn."""

    adds_noise = False

    def check(self) -> None:
        """Refuse a k other than 3 and 4, and an ε for which three bytes are too few or a flip is nearly a fair coin."""
        whole("k", self.k, at_least=3, at_most=4)
        check_epsilon(self.epsilon, self.name)

    def draw(self, facts: Facts, noise: Noise, once: Once | None = None) -> Drawn:
        """Draw the answers once, and compute the counts from them."""
        return self.compute(self.answered(facts, noise), facts)

    @cached_property
    def flips(self) -> Flips:
        """The chance of a flip, and what follows from it."""
        return Flips(self.n, threshold_of(self.epsilon))

    @property
    def total_meaning(self) -> str:
        """Return what the total is: that of counts with all their digits."""
        sums = "so the counts add up to a slightly different one"
        return f"{super().total_meaning}; it is of counts before rounding, {sums}"

    @property
    def threshold(self) -> int:
        """a, out of 2^24: an answer is flipped if its coin is below a."""
        return self.flips.below

    @property
    def loss(self) -> float:
        """What each answered pair costs, ln((1-f)/f), whatever the graph."""
        return math.log((1 - self.flips.f) / self.flips.f)
