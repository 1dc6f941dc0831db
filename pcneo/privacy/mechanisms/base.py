"""What mechanisms have in common: parameters, a promise, what changes cost; and the form of those with one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal, localcontext
from fractions import Fraction
from typing import ClassVar

from pcneo.errors import ParameterError
from pcneo.privacy.composition import NOTHING, Cost
from pcneo.privacy.exact import positive
from pcneo.privacy.noise import Noise, add_noise, handed_scale
from pcneo.privacy.sensitivity import count_sensitivity

__all__ = ["OWNER", "Mechanism", "OneScale", "handed", "whole"]

OWNER = "the owner, who sees the whole graph"


@dataclass(frozen=True)
class Mechanism(ABC):
    """What every mechanism has.

    Attributes:
        k: vertices of the cliques that are counted, at least 3.
        epsilon: ε of one release.
    """

    k: int
    epsilon: Fraction

    name: ClassVar[str]
    run_by: ClassVar[str]
    promise: ClassVar[str]
    """One sentence, printed with every release."""
    needs_groups: ClassVar[bool]
    """Whether it rests on the stored cohesions of a run."""
    publishes_scale: ClassVar[bool]
    """Whether the scale may be published, with the standard error that follows from it."""

    def __post_init__(self) -> None:
        """Refuse what is out of range (GUARANTEE.md#refused), and keep ε as a fraction."""
        whole("k", self.k, at_least=3)
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @abstractmethod
    def cost(self, inside: int, outside: int = 0) -> Cost:
        """The privacy map: what a change of so many connections inside stored groups, and so many outside, costs."""

    def noisy_counts(self, counts: Sequence[int], scales: Sequence[Fraction], noise: Noise) -> list[int]:
        """Return Γ*(v) for each vertex, drawing once for each whose scale is not 0."""
        return add_noise(counts, scales, noise)


@dataclass(frozen=True)
class OneScale(Mechanism):
    """First a bound on common neighbours is found with ε1, then all counts get noise of one scale λ with ε2.

    Attributes:
        n: number of vertices, public.
        delta: the probability with which the bound may fail.
        epsilon_1: the part of ε that finds the bound.
    """

    n: int
    delta: Fraction
    epsilon_1: Fraction

    def __post_init__(self) -> None:
        """Refuse what is out of range, and keep δ and ε1 as fractions."""
        super().__post_init__()
        whole("n", self.n, at_least=1)
        object.__setattr__(self, "delta", positive(self.delta, "delta", below=1))
        object.__setattr__(self, "epsilon_1", positive(self.epsilon_1, "epsilon 1"))
        if not self.epsilon_1 < self.epsilon:
            raise ParameterError(
                f"epsilon 1 is a part of epsilon and must be below it: {self.epsilon_1} is not below {self.epsilon}.",
                name="epsilon 1",
                value=self.epsilon_1,
            )

    @property
    def epsilon_2(self) -> Fraction:
        """The part of ε that is left for the counts."""
        return self.epsilon - self.epsilon_1

    @property
    def least_scale(self) -> Fraction:
        """k/ε2: λ is never smaller, whatever the graph."""
        return self.k / self.epsilon_2

    @property
    def largest_scale(self) -> Fraction:
        """k·C(max(n-2, k-2), k-2)/ε2: λ is never larger, whatever the graph."""
        return count_sensitivity(self.n - 2, self.k) / self.epsilon_2

    @property
    @abstractmethod
    def scale_without_connections(self) -> Fraction:
        """λ of a graph without connections where all noise of the first phase is 0: public, and usually the least."""

    @property
    @abstractmethod
    def _first_scales(self) -> tuple[Fraction, ...]: ...

    def check_scales(self) -> None:
        """Refuse, before anything is spent, parameters with which a scale could turn out impossible to draw.

        Raises:
            ParameterError: a scale of the first phase, the least or the largest λ cannot be handed to the sampler.
        """
        # [scale-refused] λ is known only after the first draw, so its largest possible value decides.
        for scale in (*self._first_scales, self.least_scale, self.largest_scale):
            handed_scale(scale)

    @property
    def can_be_drawn(self) -> bool:
        """Whether `check_scales` passes; for a mechanism that is compared, not asked for."""
        try:
            self.check_scales()
        except ParameterError:
            return False
        return True

    def cost_of_any(self, connections: int) -> Cost:
        """Return (mε, δ(e^{mε}-1)/(e^ε-1)) for m connections wherever they are; δ rounded up, and 1 at most."""
        # [group-delta]
        if connections == 0:
            return NOTHING
        return Cost(connections * self.epsilon, _group_delta(self.delta, self.epsilon, connections))


def _group_delta(delta: Fraction, epsilon: Fraction, m: int) -> Fraction:
    """Return δ·Σ e^{iε} over 0 <= i < m, rounded up at 30 digits; exactly δ for one connection, and never above 1."""
    if m == 1:
        return delta
    if (m - 1) * epsilon > delta.denominator.bit_length() - delta.numerator.bit_length() + 1:
        return Fraction(1)  # the last term alone: e^{(m-1)ε} > 1/δ
    with localcontext(Context(prec=60 + len(str(int(1 / epsilon))))) as context:
        eps = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        powers = ((m * eps).exp() - 1) / (eps.exp() - 1)
        exact = powers * Decimal(delta.numerator) / Decimal(delta.denominator)
        context.prec, context.rounding = 30, ROUND_UP
        above = (+exact).next_plus()
    return min(Fraction(1), Fraction(above))


def handed(scale: Fraction) -> Fraction:
    """Return the scale that the sampler is really given, exactly."""
    # [pad-scale]
    return Fraction(handed_scale(scale))


def whole(name: str, value: int, *, at_least: int, at_most: int | None = None) -> None:
    """Refuse anything but a whole number in a range."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not (is_whole and at_least <= value and (at_most is None or value <= at_most)):
        bound = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise ParameterError(f"{name} must be a whole number {bound}, not {value!r}.", name=name, value=value)
