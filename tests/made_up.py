"""Mechanisms that exist only in tests, each as one class: what a new file in `privacy/mechanisms` must contain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from pcneo.errors import ParameterError
from pcneo.privacy.composition import NOTHING, UNBOUNDED, Cost
from pcneo.privacy.facts import Facts
from pcneo.privacy.mechanisms import InShort, Mechanism, Once
from pcneo.privacy.mechanisms.parameters import Exact
from pcneo.privacy.noise import Noise
from pcneo.privacy.protection import Protects

__all__ = ["Shrug", "Worst"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Worst(Mechanism):
    """Protects every connection with the scale of a complete graph, the same for each vertex; needs no run, no δ."""

    name = "worst"
    run_by = "the owner, who sees the whole graph"
    promise = "Whatever else is known, the counts change the odds of any one connection by at most a factor e^ε."
    in_short = InShort("ε for any one connection", "nothing", "very little")
    protects = Protects.EVERY_CONNECTION
    needs_groups = False
    publishes_scale = True

    def check(self) -> None:
        if self.k > 4:
            raise ParameterError("worst counts up to k = 4.", name="k", value=self.k)

    def complete(self) -> None:
        if self.n > 1_000:
            raise ParameterError("worst is for small graphs.", name="n", value=self.n)

    def cost(self, inside: int, outside: int = 0) -> Cost:
        return Cost((inside + outside) * self.epsilon)

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        return self.k * comb(max(self.n - 2, self.k - 2), self.k - 2) / self.epsilon


@dataclass(frozen=True, kw_only=True, repr=False)
class Shrug(Mechanism):
    """Promises nothing: all counts get noise of scale 1; rests on groups, and has a δ that means nothing."""

    delta: Exact = Exact(below=1)

    name = "shrug"
    run_by = "nobody in particular"
    promise = "This promises nothing."
    in_short = InShort("nothing", "nothing", "anything")
    protects = Protects.NOTHING
    needs_groups = True

    def complete(self) -> None:
        self.fill("delta", Fraction(1, 7))

    def cost(self, inside: int, outside: int = 0) -> Cost:
        return UNBOUNDED if inside or outside else NOTHING

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        return Fraction(1)
