"""What a person types at the questions of `pcneo release`: each function reads one answer, or says what to type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pcneo.basics.spelling import did_you_mean
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from fractions import Fraction


def one_of(what: str, names: Sequence[str], text: str) -> str:
    """Return the graph or run that was typed."""
    if text not in names:
        near = did_you_mean(text, names) or f" There are {', '.join(names)}."
        raise ParameterError(f"There is no {what} {text!r}.{near}", name=what, value=text)
    return text


def numbered_of(names: Sequence[str], text: str) -> str:
    """Return the mechanism that has the typed number or name."""
    for number, name in enumerate(names, 1):
        if text in (str(number), name):
            return name
    raise ParameterError(f"Type 1, 2 or 3, not {text!r}.", name="mechanism", value=text)


def epsilon_or_error(mechanism: str, text: str) -> tuple[str, str]:
    """Return ε, or else the error, which begins with ± or is a percentage."""
    also = ", or an error such as ±400 or ±5%"
    error = text.removeprefix("±").removeprefix("+-").removeprefix("+/-").replace(" ", "")
    if error == text and not text.endswith("%"):
        return epsilon_of(mechanism, text, also), ""
    _positive(error.removesuffix("%"), also)
    return "", error


def epsilon_of(mechanism: str, text: str, also: str = "") -> str:
    """Return an ε that the mechanism takes."""
    from pcneo.privacy.mechanisms import mechanism_of
    from pcneo.privacy.randomised_response import MOST_EPSILON

    written = text.removeprefix("ε").lstrip(" =")
    epsilon = _positive(written, also)
    if epsilon > MOST_EPSILON:
        raise ParameterError(f"ε must be at most {MOST_EPSILON}.", name="epsilon", value=text)
    mechanism_of(mechanism, epsilon=epsilon)
    return written


def mean_count(text: str) -> str:
    """Return a mean count as it was typed; empty if nothing was."""
    if text:
        _positive(text)
    return text


def budget_for(epsilon: str, text: str) -> str:
    """Return a budget that this release fits in."""
    from pcneo.privacy.exact import positive

    budget = text.removeprefix("ε").lstrip(" =")
    if _positive(budget) < positive(epsilon, "epsilon"):
        raise ParameterError(f"This release spends ε = {epsilon}: type that or more.", name="budget", value=text)
    return budget


def public_file(text: str) -> Path:
    """Return a file that can be written."""
    from pcneo.release import Destination
    from pcneo.release.request import check_destinations

    check_destinations([Destination(to=Path(text))])
    return Path(text)


def _positive(text: str, also: str = "") -> Fraction:
    from pcneo.privacy.exact import positive

    try:
        return positive(text, "it")
    except ParameterError as error:
        raise ParameterError(f"Type a positive number such as 0.5 or 1/3{also}.", **error.data) from None
