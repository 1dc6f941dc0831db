"""What each mechanism would promise, cost and show, from public numbers alone (GUARANTEE.md#utility)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pcneo.basics.frames import Table, columns_of, rounded
from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.composition import UNBOUNDED
from pcneo.privacy.exact import exact_text, positive, rounded_up
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism
from pcneo.privacy.mechanisms.parameters import whole
from pcneo.privacy.outlook import MOST_VERTICES, Public, stated_public
from pcneo.privacy.protection import Protects
from pcneo.privacy.randomised_response import LEAST_EPSILON, MOST_EPSILON, half_true_epsilon

_HALVINGS = 40  # of the range in which an ε is sought; its logarithm is then known to 10 digits
_NUMBERS = ("epsilon", "delta", "standard_error", "standard_error_of_total", "percent_true")


@dataclass(frozen=True, repr=False)
class Foreseen:
    """One mechanism, as far as public numbers describe it.

    Attributes:
        mechanism: its name.
        promises, exact, shows: one line each: its promise, what it publishes without noise, and what it gives away.
        epsilon, delta: what one release costs, exactly, as text; "not bounded" and None where it promises nothing, both
            None where it is refused.
        standard_error: a lower bound on that of a vertex's plain count, averaged over the vertices; None where it
            follows from groups or a model, and where vertices get no counts.
        standard_error_of_total: a lower bound on that of the total; None where public numbers do not determine it.
        percent_true: the percentage of yes-answers that would be connections; None without answers.
        takes: time and memory; empty where they do not matter.
        refused: why it would be refused; None where it is not.
    """

    mechanism: str
    promises: str
    exact: str
    shows: str
    epsilon: str | None = None
    delta: str | None = None
    standard_error: float | None = None
    standard_error_of_total: float | None = None
    percent_true: float | None = None
    takes: str = ""
    refused: str | None = None

    def __repr__(self) -> str:
        """Return its name and its numbers, or why it would be refused."""
        numbers = {name.replace("_", " "): getattr(self, name) for name in _NUMBERS}
        said = [
            f"{name} {number if isinstance(number, str) else rounded(number)}"
            for name, number in numbers.items()
            if number is not None
        ]
        return f"{self.mechanism}: {self.refused or ', '.join(said)}"


@dataclass(frozen=True)
class Wanted:
    """The error that a person asks for.

    Attributes:
        error: the largest standard error that is acceptable.
        of: `total` or `count`.
    """

    error: float
    of: str


@dataclass(frozen=True, repr=False)
class Advice(Table):
    """What can be said before anything is read.

    Attributes:
        vertices, mean_degree, k: as given.
        mean_count: the mean number of triangles of a vertex, as given; None where it was not given.
        epsilon: as given; None where an error was given, for which each mechanism then has its own ε.
        wanted: that error; None where ε was given.
        threshold: ln(n/d): once ε reaches this, at least half of the yes-answers are connections.
        mechanisms: one entry for each mechanism.
    """

    vertices: int
    mean_degree: float
    mean_count: float | None
    k: int
    epsilon: float | None
    wanted: Wanted | None
    threshold: float
    mechanisms: tuple[Foreseen, ...]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each mechanism: its cost, its errors, and why it would be refused."""
        names = ("mechanism", *_NUMBERS, "refused")
        return columns_of({name: getattr(one, name) for name in names} for one in self.mechanisms)

    def caption(self) -> str:
        """Return a line to print above the table."""
        given = f"{self.vertices:,} vertices, mean degree {self.mean_degree:g}, k={self.k}"
        if self.wanted is None:
            return f"{given}, ε={self.epsilon:g}"
        return f"{given}, for a standard error of the {self.wanted.of} of {rounded(self.wanted.error)}"

    def __repr__(self) -> str:
        """Return the caption, and a line for each mechanism."""
        return "\n".join([self.caption(), *(f"  {one!r}" for one in self.mechanisms)])


def advise(
    n: int,
    mean_degree: object,
    epsilon: object = None,
    k: int = 3,
    *,
    expect: object = None,
    error_of_total: object = None,
    error_of_count: object = None,
) -> Advice:
    """Say what each mechanism would promise, cost and show, from numbers that are public or guessed.

    >>> import pcneo
    >>> [one.mechanism for one in pcneo.advise(n=800, mean_degree=16, epsilon=1).mechanisms][:2]
    ['critical', 'respond']
    >>> wanted = pcneo.advise(n=800, mean_degree=16, expect=20, error_of_total="10%")
    >>> {one.mechanism: one.epsilon for one in wanted.mechanisms}["total"]
    '0.385'

    Args:
        n: number of vertices.
        mean_degree: d, or a guess at it: a number, also as text.
        epsilon: ε: a number, also as text; leave it out if you give an error.
        k: vertices in each clique.
        expect: the mean number of triangles of a vertex, or a guess at it: a number, also as text.
        error_of_total, error_of_count: the largest acceptable standard error, in place of ε: a number, also as text,
            or, for k = 3 and with `expect`, a share of the total or of the mean count, such as `10%`.

    Returns:
        What follows from these numbers; no graph is looked at.

    Raises:
        ParameterError: a number is out of range, or not exactly one of ε and the two errors is given.
    """
    whole("n", n, at_least=2, at_most=MOST_VERTICES)
    whole("k", k, at_least=3)
    public = stated_public(mean_degree, expect, n)
    if public.mean_degree > n - 1:
        raise ParameterError(
            f"The mean degree of {n:,} vertices is at most {n - 1:,}, not {public.mean_degree:g}.",
            name="mean degree",
            value=mean_degree,
        )
    error, of = (error_of_count, "count") if error_of_total is None else (error_of_total, "total")
    if [epsilon, error_of_total, error_of_count].count(None) != 2:
        raise ParameterError(
            "Give exactly one of epsilon, error_of_total and error_of_count.", name="epsilon", value=epsilon
        )
    exact_epsilon = None if epsilon is None else positive(epsilon, "epsilon")
    wanted = None if error is None else _wanted(error, of, n, k, public.mean_count)
    return Advice(
        vertices=n,
        mean_degree=public.mean_degree,
        mean_count=public.mean_count,
        k=k,
        epsilon=None if exact_epsilon is None else float(exact_epsilon),
        wanted=wanted,
        threshold=half_true_epsilon(n, public.mean_degree),
        mechanisms=tuple(_foreseen(kind, n, public, exact_epsilon, k, wanted) for kind in MECHANISMS.values()),
    )


def _wanted(error: object, of: str, n: int, k: int, mean_count: float | None) -> Wanted:
    """Read an error such as 25 or 10%."""
    text = str(error).strip()
    if not text.endswith("%"):
        wanted = float(positive(error, "error"))
        if of == "total" and wanted < 1:
            raise ParameterError(
                f"An error of the total of {text} is less than one clique; for a share of the total write "
                f"{100 * wanted:g}%.",
                name="error",
                value=error,
            )
        return Wanted(wanted, of)
    if mean_count is None or k != 3:
        raise ParameterError(
            "A share of the total or of a count needs the mean number of triangles, --expect, and k = 3.",
            name="error",
            value=error,
        )
    share = float(positive(text.removesuffix("%").strip(), "error")) / 100
    return Wanted(share * (mean_count if of == "count" else mean_count * n / 3), of)


def _foreseen(
    kind: type[Mechanism], n: int, public: Public, epsilon: Fraction | None, k: int, wanted: Wanted | None
) -> Foreseen:
    try:
        if epsilon is None and wanted is not None:
            epsilon = _epsilon_for(kind, n, public, k, wanted)
        mechanism = _made(kind, n, epsilon, k)
        mechanism.check_protects()
    except (ParameterError, GraphError) as error:
        return Foreseen(kind.name, *kind.in_short, refused=str(error))
    cost, delta = mechanism.entry
    seen, bounded = mechanism.foresee(public), kind.protects is not Protects.NOTHING
    return Foreseen(
        mechanism=kind.name,
        promises=kind.in_short.promises,
        exact=kind.in_short.exact,
        shows=seen.shows or kind.in_short.shows,
        epsilon=exact_text(cost) if bounded else str(UNBOUNDED),
        delta=exact_text(delta) if bounded else None,
        standard_error=seen.error,
        standard_error_of_total=seen.error_of_total,
        percent_true=seen.percent_true,
        takes=seen.takes,
    )


def _made(kind: type[Mechanism], n: int, epsilon: Fraction | None, k: int) -> Mechanism:
    # A graph that takes long is refused by default; here the time is reported instead.
    mechanism = kind.taking(k=k, epsilon=epsilon, n=n, large=True)
    mechanism.check_drawable()
    return mechanism


def _epsilon_for(kind: type[Mechanism], n: int, public: Public, k: int, wanted: Wanted) -> Fraction:
    """Return the smallest ε, to three digits, at which the error is foreseen to be small enough."""
    if kind.protects is Protects.NOTHING:
        raise ParameterError("It promises nothing at any ε.", name="error", value=wanted.error)

    def error_at(epsilon: Fraction) -> float:
        seen = _made(kind, n, epsilon, k).foresee(public)
        error = seen.error if wanted.of == "count" else seen.error_of_total
        if error is None:
            raise ParameterError(_why_none(kind), name="error", value=wanted.error)
        return error

    def is_enough(epsilon: Fraction) -> bool:
        try:
            return error_at(epsilon) <= wanted.error
        except ParameterError:  # at so small an ε the noise is too large to be drawn
            return False

    low, high = math.log(LEAST_EPSILON), math.log(MOST_EPSILON)
    if error_at(MOST_EPSILON) > wanted.error:
        raise ParameterError(
            f"Its error is larger for every ε up to {float(MOST_EPSILON):g}.", name="error", value=wanted.error
        )
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(_three_digits(middle)) else (middle, high)
    return _three_digits(high)


def _why_none(kind: type[Mechanism]) -> str:
    """Say why no error is foreseen."""
    if kind.needs_groups:
        return "The error follows from the groups; a dry run shows it."
    if not kind.counts_vertices:
        return f"`{kind.name}` gives no count per vertex."
    return kind.of_single_counts or "The error does not follow from public numbers."


def _three_digits(log_epsilon: float) -> Fraction:
    """Return e^x to three digits, rounded up."""
    return max(LEAST_EPSILON, min(MOST_EPSILON, rounded_up(Fraction(math.exp(log_epsilon)), 3)))
