"""What a person types at a question: each function reads one answer, or says what to type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import typer

from pcneo.basics.spelling import did_you_mean
from pcneo.cli.streams import note
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.privacy.composition import Cost
    from pcneo.release.guidance import Offer

_Answer = TypeVar("_Answer")


def asked(question: str, default: str | None, read: Callable[[str], _Answer]) -> _Answer:
    """Ask until the answer can be read; typer's own prompt would break the lines of an error anywhere."""
    while True:
        try:
            return read(typer.prompt(question, default=default or "", show_default=bool(default), err=True).strip())
        except ParameterError as error:
            note(str(error))


def one_of(what: str, names: Sequence[str], text: str) -> str:
    """Return the graph or run that was typed."""
    if text not in names:
        near = did_you_mean(text, names) or f" There are {', '.join(names)}."
        raise ParameterError(f"There is no {what} {text!r}.{near}", name=what, value=text)
    return text


def numbered_of(offers: Sequence[Offer], obstacles: Sequence[str], text: str) -> Offer:
    """Return the mechanism that has the typed number or name, unless something has to happen first."""
    for number, (offer, obstacle) in enumerate(zip(offers, obstacles, strict=True), 1):
        if text in (str(number), offer.mechanism):
            if obstacle:
                again = "Then run `pcneo release` again, or choose another."
                raise ParameterError(f"{obstacle} {again}", name="mechanism", value=text)
            return offer
    raise ParameterError(f"Type 1, 2 or 3, not {text!r}.", name="mechanism", value=text)


def epsilon_or_error(read_epsilon: Callable[[str, str], str], text: str) -> tuple[str, str]:
    """Return ε, or else the error, which begins with ± or is a percentage."""
    also = ", or an error such as ±400 or ±5%"
    text = text.replace(" ", "")
    error = text.removeprefix("±").removeprefix("+-").removeprefix("+/-")
    if error == text and not text.endswith("%"):
        return read_epsilon(text, also), ""
    _positive(error.removesuffix("%"), also)
    return "", error


class Left(NamedTuple):
    """What a budget allows this release.

    Attributes:
        new: whether the budget is that of `--budget-epsilon`, which the graph does not have yet.
    """

    cost: Cost
    new: bool

    @property
    def sentence(self) -> str:
        """What is left, in words."""
        if self.new:
            return f"--budget-epsilon gives this graph {self.cost.without_zero}."
        return f"This graph has {self.cost.without_zero} left."

    def allows(self, epsilon: Fraction) -> bool:
        """Return whether a release may spend this ε."""
        return self.cost.epsilon is None or epsilon <= self.cost.epsilon


def epsilon_of(offer: Offer, left: Left | None, text: str, also: str = "") -> str:
    """Return an ε that the mechanism takes and that the graph has left."""
    from pcneo.privacy.randomised_response import MOST_EPSILON

    written = _without_name(text)
    epsilon = _positive(written, also)
    if epsilon > MOST_EPSILON:
        raise ParameterError(f"ε must be at most {MOST_EPSILON}.", name="epsilon", value=text)
    if left is not None and not left.allows(epsilon):
        more = "" if left.new else " `pcneo budget set` raises its budget."
        raise ParameterError(f"{left.sentence}{more}", name="epsilon", value=text)
    offer.check(written)
    return written


def mean_degree(text: str) -> str:
    """Return a mean degree as it was typed."""
    from pcneo.privacy.outlook import stated_public

    _positive(text)
    stated_public(text)
    return text


def mean_count(vertices: int, text: str) -> str | None:
    """Return a mean number of triangles as it was typed; None if nothing was."""
    from pcneo.privacy.outlook import check_possible

    if not text:
        return None
    check_possible(float(_positive(text)), vertices)
    return text


def budget_for(epsilon: str, text: str) -> str:
    """Return a budget that this release fits in."""
    from pcneo.privacy.exact import positive

    budget = _without_name(text)
    if _positive(budget) < positive(epsilon, "epsilon"):
        raise ParameterError(f"This release spends ε = {epsilon}: type that or more.", name="budget", value=text)
    return budget


def public_file(text: str) -> Path:
    """Return a file that can be written."""
    from pcneo.release import Destination
    from pcneo.release.request import check_destinations

    check_destinations([Destination(to=Path(text))])
    return Path(text)


def _without_name(text: str) -> str:
    """Return the number alone of an answer such as ε = 0.5."""
    return text.removeprefix("ε").lstrip(" =")


def _positive(text: str, also: str = "") -> Fraction:
    from pcneo.privacy.exact import positive

    try:
        return positive(text, "it")
    except ParameterError as error:
        raise ParameterError(f"Type a positive number such as 0.5 or 1/3{also}.", **error.data) from None
