"""How `row` splits its ε by default (GUARANTEE.md#row)."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["split"]

_STEPS = 400
_THOUSANDTH = Fraction(1, 1000)


def split(
    epsilon: Fraction, epsilon_0: Fraction | None, epsilon_h: Fraction | None, epsilon_2: Fraction | None
) -> tuple[Fraction, Fraction, Fraction]:
    """Return ε0, ε_h and ε2 with those filled in that are None; a part that finds no room is 0 or less.

    ε0 = (sqrt(16+40ε)-4)/10; ε_h is the one of 400 equal steps up to ε-ε0 that minimises
    [f(1-f)/2 + 8/ε2²]/(1-2f)², the error per connection of a vertex, f = 1/(1+e^ε_h); ε2 is what is left. All are
    rounded down to 1/1000.
    """
    if epsilon_0 is None:
        if epsilon_h is not None and epsilon_2 is not None:
            epsilon_0 = _down(epsilon - epsilon_h - epsilon_2)
        else:
            epsilon_0 = Fraction(math.isqrt(math.floor(10_000 * (16 + 40 * epsilon))) - 400, 1000)
    rest = epsilon - epsilon_0
    if epsilon_h is None:
        epsilon_h = _down(rest - epsilon_2) if epsilon_2 is not None else _down(_best(rest))
    if epsilon_2 is None:
        epsilon_2 = _down(rest - epsilon_h)
    return epsilon_0, epsilon_h, epsilon_2


def _best(rest: Fraction) -> Fraction:
    steps = [rest * i / _STEPS for i in range(1, _STEPS)]
    return min(steps, key=lambda step: _error(float(step), float(rest - step))) if rest > 0 else Fraction(0)


def _error(epsilon_h: float, epsilon_2: float) -> float:
    f = 1 / (1 + math.exp(epsilon_h))
    return (f * (1 - f) / 2 + 8 / epsilon_2**2) / (1 - 2 * f) ** 2


def _down(x: Fraction) -> Fraction:
    return math.floor(x / _THOUSANDTH) * _THOUSANDTH
