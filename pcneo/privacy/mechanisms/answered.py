"""The base class of mechanisms whose numbers are all computed from randomised answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from pcneo.privacy.mechanisms.base import Mechanism
from pcneo.privacy.randomised_response import Flips, threshold_of


@dataclass(frozen=True, kw_only=True, repr=False)
class Answered(Mechanism):
    """Pairs are answered by randomised response, and no other random number is drawn."""

    adds_noise = False

    @cached_property
    def flips(self) -> Flips:
        """The chance of a flip, and what follows from it."""
        return Flips(self.n, threshold_of(self.epsilon))

    @property
    def threshold(self) -> int:
        """a, out of 2^24: an answer is flipped if its coin is below a."""
        return self.flips.below

    @property
    def loss(self) -> float:
        """What each answered pair costs, ln((1-f)/f), whatever the graph."""
        return math.log((1 - self.flips.f) / self.flips.f)
