"""What releases cost together: basic composition of (ε, δ), in exact fractions (GUARANTEE.md#budget)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal, localcontext
from fractions import Fraction

from pcneo.privacy.exact import decimal_text, exact_text


@dataclass(frozen=True)
class Cost:
    """What a change, a release or several releases cost.

    Attributes:
        epsilon: ε; None where no ε bounds the loss.
        delta: δ; a sum of many may exceed 1, and then no longer means anything.
    """

    epsilon: Fraction | None
    delta: Fraction = Fraction(0)

    @property
    def is_bounded(self) -> bool:
        """Whether any ε bounds the loss."""
        return self.epsilon is not None

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both: the ε add up, and so do the δ."""
        # [basic-composition] Basic composition, in fractions: no order of adding and no rounding changes a total.
        if self.epsilon is None or other.epsilon is None:
            return UNBOUNDED
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)

    def __str__(self) -> str:
        """Return `ε = 0.3, δ = 1e-6`, or `not bounded`."""
        if self.epsilon is None:
            return "not bounded"
        return f"{_equation('ε', self.epsilon)}, {_equation('δ', self.delta)}"

    @property
    def without_zero(self) -> str:
        """The same text without a δ of 0, which may just not be known yet: `ε = 0.3`."""
        return str(self) if self.delta or self.epsilon is None else _equation("ε", self.epsilon)

    @property
    def plain(self) -> dict[str, object]:
        """ε and δ for programs: as numbers, and exactly as text; neither where the cost is not bounded."""
        if self.epsilon is None:
            return {"bounded": False}
        return {
            "bounded": True,
            "epsilon": float(self.epsilon),
            "epsilonExact": exact_text(self.epsilon),
            "delta": float(self.delta),
            "deltaExact": exact_text(self.delta),
        }


def _equation(name: str, number: Fraction) -> str:
    return f"{name} = {decimal_text(number)}".replace("= ≈", "≈ ")


NOTHING = Cost(Fraction(0))
UNBOUNDED = Cost(None, Fraction(1))


def compose(costs: Iterable[Cost]) -> Cost:
    """Return what all of them cost together."""
    return sum(costs, start=NOTHING)


def fits(cost: Cost, total: Cost) -> bool:
    """Return whether a cost stays within a total, in ε and in δ; an unbounded cost never does."""
    if cost.epsilon is None or total.epsilon is None:
        return False
    return cost.epsilon <= total.epsilon and cost.delta <= total.delta


def left(spent: Cost, total: Cost) -> Cost:
    """Return what is left of a total, at least 0; nothing is left after a spend that is not bounded."""
    if spent.epsilon is None or total.epsilon is None:
        return NOTHING
    return Cost(max(Fraction(0), total.epsilon - spent.epsilon), max(Fraction(0), total.delta - spent.delta))


def cost_of_several(connections: int, epsilon: Fraction, delta: Fraction) -> Cost:
    """Return (mε, δ(e^{mε}-1)/(e^ε-1)), what m connections cost at (ε, δ) each; δ is rounded up, to at most 1."""
    # [group-delta]
    if connections == 0:
        return NOTHING
    return Cost(connections * epsilon, _group_delta(delta, epsilon, connections) if delta else delta)


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
