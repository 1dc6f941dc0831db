"""p and the searches as values: made once from what a person writes, then passed on (ALGORITHM.md#p-cohesion).

Help, requests and pictures read the names here, so they need not load compiled code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Self

from pcneo.basics.exact_numbers import TooManyDigitsError, exact_number
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import ParameterError

AnyP = str | float | Fraction | Decimal
"""The types that p can be made from."""

_MISSED = 1e-12  # a relative difference that only rounding makes
_FLOAT_DIGITS = 6  # a float with more digits usually comes from a division, and is not the number that was meant


class P(Fraction):
    """The share of its neighbours that each member keeps, exactly as it was written.

    Two values are equal if the numbers are, however they were written. `str` gives the fraction `a/b` in lowest terms,
    which identifies a run; `text` is what was written.

    >>> P("0.3") == P("3/10"), str(P("0.3")), P("0.3").text
    (True, '3/10', '0.3')
    """

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, value: AnyP) -> Self:  # type: ignore[override]
        """Read p."""
        if isinstance(value, cls):
            return value
        self = super().__new__(cls, _share(value))
        self._text = float.__repr__(value) if isinstance(value, float) else str(value)
        return self

    @classmethod
    def from_float(cls, value: float) -> Fraction:  # type: ignore[override]  a comparison with a float calls it
        """Return the exact number that a float stands for.

        Args:
            value: the float.
        """
        return Fraction.from_float(value)

    @property
    def text(self) -> str:
        """The text that p was written as."""
        return self._text

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"P({self._text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the text in a pickle."""
        return type(self), (self._text,)

    def __copy__(self) -> Self:
        """Return itself: it never changes."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself."""
        return self


def _share(value: object) -> Fraction:
    """Return a number between 0 and 1 as a fraction, or refuse it."""
    try:
        fraction = exact_number(value)
    except TooManyDigitsError as error:
        raise ParameterError(f"p {error}.", name="p", value=value) from error
    except ValueError:
        fraction = None
    if fraction is None and isinstance(value, Real) and 0 < float(value) < 1:  # NumPy's other floats
        raise ParameterError(
            f"p is {value!r}, which may not be exactly the number that it shows: write '{_shown(value)}'.",
            name="p",
            value=value,
        )
    if fraction is None or not 0 < fraction < 1:
        raise ParameterError(
            f"p must be a number between 0 and 1, both excluded, such as 0.3 or 1/3, not {value!r}.{_meant(value)}",
            name="p",
            value=value,
        )
    if isinstance(value, float) and len(Decimal(float.__repr__(value)).as_tuple().digits) > _FLOAT_DIGITS:
        raise ParameterError(
            f"p is {float.__repr__(value)}, a float with more than {_FLOAT_DIGITS} digits, which may not be the number "
            f"you meant: write '{_near(value)}'.",
            name="p",
            value=value,
        )
    return fraction


def _near(value: float) -> str:
    """Return the number that float arithmetic just missed, as 0.1 + 0.2 misses 0.3, or else the value itself."""
    decimal = f"{value:.{_FLOAT_DIGITS}g}"
    near = Fraction(value).limit_denominator(1_000)
    return next((str(it) for it in (decimal, near) if abs(float(it) - value) < _MISSED * value), float.__repr__(value))


def _shown(value: Any) -> str:
    """Return what a float of another type shows or, if that has many digits, a simple fraction that it stands for."""
    shown, near = str(value), Fraction(float(value)).limit_denominator(1_000)
    many = len(Decimal(shown).as_tuple().digits) > _FLOAT_DIGITS
    return str(near) if many and type(value)(float(near)) == value else shown


def _meant(value: object) -> str:
    """Return a hint where the value is something that people often write instead of p."""
    if isinstance(value, list | tuple | set):
        return " Here only one p is taken."
    if not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    if "," in text:
        return _meant_by_comma([part.strip() for part in text.split(",")])
    number = text.removesuffix("%").strip()
    try:
        hundredths = exact_number(number)
    except ValueError:
        return ""
    whole = hundredths.denominator == 1 and hundredths > 1
    if 0 < hundredths < 100 and (number != text or whole):
        return f" If you mean {number} per cent, write '{float(hundredths / 100):.{_FLOAT_DIGITS}g}'."
    return ""


def _meant_by_comma(parts: Sequence[str]) -> str:
    try:
        shares = [0 < exact_number(part) < 1 for part in parts]
    except ValueError:
        shares = [False]
    if not all(shares):
        return " Write it with a point, not a comma."
    return f" For several p, write {list(parts)} in Python, or -p {' -p '.join(parts)} on the command line."


def one_or_several(p: AnyP | Iterable[AnyP]) -> list[AnyP]:
    """Return one p or several as a list; a string is one p, not a sequence of letters."""
    return list(p) if isinstance(p, Iterable) and not isinstance(p, str) else [p]


SEARCHES = {
    "smallest": "few members, many connections among them",
    "density": "the paper's search",
    "degree": "a reconstruction of an older baseline",
}
"""The searches (ALGORITHM.md#scores), with a few words for help; `pcneo.search.cohesion.KERNELS` has the code of each.

`degree` is a reconstruction of the 2021 baseline; anything that reports it must call it that.
"""

DEFAULT_SEARCH = "smallest"
"""The search used where none is named; a run's id does not mention it."""

DEFAULT_P = P("0.3")
"""The p used where none is named and the graph has no standing run."""


def check_search(name: object) -> str:
    """Return the name of a search; refuse any other value."""
    if not isinstance(name, str) or name not in SEARCHES:
        near = did_you_mean(name, SEARCHES) if isinstance(name, str) else ""
        raise ParameterError(
            f"search must be one of {', '.join(SEARCHES)}, not {name!r}.{near}", name="search", value=name
        )
    return name


@dataclass(frozen=True, init=False)
class Search:
    """What is searched for, and how.

    >>> Search("0.3") == Search("3/10", "smallest")
    True

    Attributes:
        p: the share of its neighbours that each member keeps.
        name: the name of the search; `smallest` by default.
        effort: starts of a search that takes effort; 1 for any other.
    """

    p: P
    name: str
    effort: int

    def __init__(self, p: AnyP, name: str = DEFAULT_SEARCH, effort: int = 1) -> None:
        """Check each of them."""
        if type(effort) is not int or effort < 1:
            raise ParameterError(
                f"effort must be a whole number of at least 1, not {effort!r}.", name="effort", value=effort
            )
        if effort > 1 and check_search(name) != "smallest":
            raise ParameterError(
                f"Only the search smallest takes an effort above 1, not {name}.", name="effort", value=effort
            )
        object.__setattr__(self, "p", P(p))
        object.__setattr__(self, "name", check_search(name))
        object.__setattr__(self, "effort", effort)

    def __str__(self) -> str:
        """Return it as in a run's id: `3/10`, `3/10:degree`."""
        return str(self.p) if self.name == DEFAULT_SEARCH else f"{self.p}:{self.name}"
