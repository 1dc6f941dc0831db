"""`pad` is minimal at random rational points, decided to 60 digits by the inequality itself and not by logarithms."""

from __future__ import annotations

from decimal import MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import examples

from pcneo.privacy.laplace import pad

scales = st.builds(lambda a, b, e: Fraction(a, b) * Fraction(10) ** e, *[st.integers(1, 10**6)] * 2, st.integers(-4, 6))
deltas = st.builds(
    lambda a, b, e: Fraction(min(a, b), a + b) * Fraction(10) ** -e, *[st.integers(1, 10**6)] * 2, st.integers(0, 30)
)


def excess(a: int, t: Fraction, delta: Fraction) -> Decimal:
    """exp(-(a+1)/t) / (δ(1 + exp(-1/t))) - 1 with 60 digits: positive where the pad a is too small."""
    with localcontext(Context(prec=80, Emin=MIN_EMIN)):
        rate = Decimal(t.denominator) / Decimal(t.numerator)
        bound = Decimal(delta.numerator) / Decimal(delta.denominator) * (1 + (-rate).exp())
        return (-(a + 1) * rate).exp() / bound - 1


@settings(max_examples=examples(600))
@given(scales, deltas)
def test_pad_holds_and_one_less_does_not(t: Fraction, delta: Fraction) -> None:
    a = pad(t, delta)
    assert excess(a, t, delta) < Decimal("-1e-60")
    assert a == 0 or excess(a - 1, t, delta) > Decimal("1e-60")


@settings(max_examples=examples(300))
@given(st.integers(1, 1000), st.integers(0, 5000), st.integers(8, 80), st.sampled_from([-1, 1]))
def test_pad_decides_next_to_its_steps(t: int, a: int, digits: int, side: int) -> None:
    """δ within 10^-digits of the value at which `a` just suffices: just above needs a, just below needs a + 1."""
    with localcontext(Context(prec=digits + 120, Emin=MIN_EMIN)):
        step = (Decimal(-(a + 1)) / t).exp() / (1 + (Decimal(-1) / t).exp())
    delta = Fraction(step) * (1 + side * Fraction(1, 10**digits))
    assert pad(Fraction(t), delta) == (a if side > 0 else a + 1)
