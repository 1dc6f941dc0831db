"""A promise for people who decide, with its numbers (GUARANTEE.md#in-plain-words)."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction

from pcneo.privacy.composition import Cost, cost_of_several
from pcneo.privacy.exact import decimal_text, rounded_up
from pcneo.privacy.protection import Protects

_MANY = 10
_NO_PROTECTION = Fraction(10)  # which turns a suspicion of 1 % into one of 99.5 % and more
_NEARLY_ALWAYS = Fraction(9, 10)  # a bound that fails so often is not worth stating
_ROUNDING = 1e-9
_LARGEST = 700  # beyond this, e^ε does not fit a double


def in_plain_words(epsilon: Fraction, delta: Fraction, protects: Protects) -> str:
    """Return what (ε, δ) means for one connection and for a person's, in numbers; empty where nothing is promised."""
    if protects is Protects.NOTHING:
        return ""
    is_every = protects is Protects.EVERY_CONNECTION
    one, known = ("one connection", "") if is_every else ("one connection inside a group", "the groups and ")
    chance = f", except with a probability of {_two_digits(delta)}" if delta else ""
    half, hundredth = (_percent(_after(belief, float(epsilon))) for belief in (0.5, 0.01))
    uncovered = "" if is_every else " Connections outside the groups are not protected."
    return (
        f"For someone who knows {known}all other connections, these numbers change the odds of {one} by a factor of "
        f"at most {_times(epsilon)}{chance}: a suspicion of 50 % can become at most {half} %, one of 1 % at most "
        f"{hundredth} %{_judged(epsilon)}. Where connections go together, what the numbers show of the others adds to "
        f"that, and a person who has many connections is not hidden: {_of_ten(epsilon, delta)}.{uncovered}"
    )


def of_all(spent: Cost, *, only_groups: bool) -> str:
    """Return what all releases mean together for one connection, a sentence; empty where none is bounded."""
    if not spent.epsilon:
        return ""
    one = "one connection inside the groups" if only_groups else "one connection"
    chance = f", except with a probability of {_two_digits(spent.delta)}" if spent.delta else ""
    bound = f"{_times(spent.epsilon)}{_judged(spent.epsilon)}{chance}"
    return f"All releases together change the odds of {one} by a factor of at most {bound}."


def _of_ten(epsilon: Fraction, delta: Fraction) -> str:
    """Return what holds for ten connections that go together."""
    of_ten, fails = _MANY * epsilon, cost_of_several(_MANY, epsilon, delta).delta
    if fails > _NEARLY_ALWAYS:
        return "for ten together nothing is promised"
    judged = _judged(of_ten)
    but = "and even that fails" if judged else "except"
    chance = f", {but} with a probability of {_two_digits(fails)}" if fails else ""
    return f"ten together change the odds by a factor of at most {_times(of_ten)}{judged}{chance}"


def _judged(epsilon: Fraction) -> str:
    return ", which is no protection" if epsilon > _NO_PROTECTION else ""


def _after(belief: float, epsilon: float) -> float:
    """Return the belief after its odds have grown by a factor of e^ε."""
    return belief / (belief + (1 - belief) * math.exp(-min(epsilon, _LARGEST)))


def _percent(share: float) -> str:
    return _rounded_up(100 * share, 4 if share > 0.995 else 3)


def _times(epsilon: Fraction) -> str:
    """Return e^ε to three digits, or two where it is large, rounded up."""
    if epsilon > 20:
        digits_in_all = float(epsilon) / math.log(10)
        power, part = divmod(digits_in_all, 1)
        digits = _rounded_up(10 ** (part + max(_ROUNDING, 1e-15 * digits_in_all)), 2)
        return f"{digits}·10^{power:,.0f}" if digits != "10" else f"10^{power + 1:,.0f}"
    return _rounded_up(math.nextafter(math.exp(float(epsilon)), math.inf), 3)


def _rounded_up(value: float, digits: int) -> str:
    """Return a number rounded up: it stands behind "at most"."""
    above = Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(value)
    return f"{above.normalize():,f}"


def _two_digits(delta: Fraction) -> str:
    return decimal_text(rounded_up(delta, 2))
