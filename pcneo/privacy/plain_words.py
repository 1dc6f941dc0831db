"""A promise for people who decide, with its numbers (GUARANTEE.md#in-plain-words)."""

from __future__ import annotations

import math
from fractions import Fraction

from pcneo.privacy.exact import decimal_text
from pcneo.privacy.protection import Protects

_MANY = 10
_NO_PROTECTION = Fraction(10)  # which turns a suspicion of 1 % into one of 99.5 % and more
_LARGEST = 700  # beyond this, e^ε does not fit a double


def in_plain_words(epsilon: Fraction, delta: Fraction, protects: Protects) -> str:
    """Return what (ε, δ) means for one connection and for a person's, in numbers; empty where nothing is promised."""
    if protects is Protects.NOTHING:
        return ""
    is_every = protects is Protects.EVERY_CONNECTION
    one, known = ("one connection", "") if is_every else ("one connection inside a group", "the groups and ")
    chance = f", except with a probability of {_rounded(delta)}" if delta else ""
    half, hundredth = (_percent(_after(belief, float(epsilon))) for belief in (0.5, 0.01))
    odds = f"change the odds of {one} by a factor of at most {_times(epsilon)}{chance}"
    return (
        f"For someone who knows {known}all other connections, these numbers {odds}: "
        f"a suspicion of 50 % can become at most {half} %, one of 1 % at most {hundredth} %. Where connections go "
        "together, what the numbers show of the others adds to that, and a person who has many connections is not "
        f"hidden: ten together change the odds by a factor of at most {_times(_MANY * epsilon)}"
        f"{', which is no protection' if _MANY * epsilon > _NO_PROTECTION else ''}."
    )


def _after(belief: float, epsilon: float) -> float:
    """Return the belief after its odds have grown by a factor of e^ε."""
    return belief / (belief + (1 - belief) * math.exp(-min(epsilon, _LARGEST)))


def _percent(share: float) -> str:
    if share > 0.99995:
        return "100"
    return f"{100 * share:.4g}" if share > 0.995 else f"{100 * share:.2g}"


def _times(epsilon: Fraction) -> str:
    """Return e^ε to two digits."""
    if epsilon > 20:
        return f"10^{math.ceil(float(epsilon) / math.log(10)):,}"
    value = math.exp(float(epsilon))
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    digits = round(value / step) * step
    return f"{digits:,.0f}" if digits >= 9.95 else f"{digits:.1f}"


def _rounded(delta: Fraction) -> str:
    """Return δ to two digits."""
    return decimal_text(Fraction(f"{float(delta):.2g}"))
