"""What each mechanism would promise, cost and show, from public numbers alone (GUARANTEE.md#utility)."""

from __future__ import annotations

from dataclasses import dataclass

from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.composition import UNBOUNDED
from pcneo.privacy.exact import exact_text, positive
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, MechanismRequest
from pcneo.privacy.mechanisms.parameters import whole
from pcneo.privacy.protection import Protects
from pcneo.privacy.randomised_response import half_true_epsilon

__all__ = ["Advice", "Foreseen", "advise"]

_MOST_VERTICES = 10**9


@dataclass(frozen=True)
class Foreseen:
    """One mechanism, as far as public numbers tell.

    Attributes:
        mechanism: its name.
        promises, exact, shows: a line each: its promise, what it publishes without noise, and what it gives away.
        epsilon, delta: what one release costs, exactly, as text; "not bounded" where it promises nothing, None where it
            is refused.
        standard_error: of a plain count of a vertex with as many connections as the mean; None where it follows from
            groups, and where no vertex has a count.
        standard_error_is: what that figure is.
        standard_error_of_total: None where public numbers do not tell it.
        percent_true: how many percent of the yes-answers would be connections; None without answers.
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
    standard_error_is: str = ""
    standard_error_of_total: float | None = None
    percent_true: float | None = None
    takes: str = ""
    refused: str | None = None


@dataclass(frozen=True)
class Advice:
    """What can be told before anything is read.

    Attributes:
        vertices, mean_degree, k, epsilon: as given.
        threshold: ln(n/d): from this ε on, half of the yes-answers or more are connections.
        mechanisms: all of them.
    """

    vertices: int
    mean_degree: float
    k: int
    epsilon: float
    threshold: float
    mechanisms: tuple[Foreseen, ...]


def advise(n: int, mean_degree: object, epsilon: object, k: int = 3) -> Advice:
    """Say of each mechanism what it would promise, cost and show, from numbers that are public or guessed.

    >>> import pcneo
    >>> [one.mechanism for one in pcneo.advise(n=800, mean_degree=16, epsilon=1).mechanisms][:2]
    ['critical', 'respond']

    Args:
        n: number of vertices.
        mean_degree: d, or a guess of it: a number or its text.
        epsilon: ε, likewise.
        k: vertices of the cliques.

    Returns:
        What follows from these four numbers; no graph is looked at.

    Raises:
        ParameterError: a number is out of range.
    """
    whole("n", n, at_least=2, at_most=_MOST_VERTICES)
    whole("k", k, at_least=3)
    degree, exact_epsilon = positive(mean_degree, "mean degree"), positive(epsilon, "epsilon")
    if degree > n - 1:
        raise ParameterError(
            f"The mean degree of {n:,} vertices is at most {n - 1:,}, not {float(degree):g}.",
            name="mean degree",
            value=mean_degree,
        )
    mean = float(degree)
    return Advice(
        vertices=n,
        mean_degree=mean,
        k=k,
        epsilon=float(exact_epsilon),
        threshold=half_true_epsilon(n, mean),
        mechanisms=tuple(_foreseen(kind, n, mean, exact_epsilon, k) for kind in MECHANISMS.values()),
    )


def _foreseen(kind: type[Mechanism], n: int, mean_degree: float, epsilon: object, k: int) -> Foreseen:
    try:
        # A graph that takes long is refused by default; here it is told how long.
        large = True if "large" in kind.parameter_names() else None
        request = MechanismRequest(mechanism=kind.name, k=k, epsilon=epsilon, large=large)
        mechanism = kind.of(kind.parameters_of(request), n)
        mechanism.check_drawable()
    except (ParameterError, GraphError) as error:
        return Foreseen(kind.name, *kind.in_short, refused=str(error))
    cost, delta = kind.entry(mechanism.parameters)
    seen, bounded = mechanism.foresee(mean_degree), kind.protects is not Protects.NOTHING
    return Foreseen(
        mechanism=kind.name,
        promises=kind.in_short.promises,
        exact=kind.in_short.exact,
        shows=seen.shows or kind.in_short.shows,
        epsilon=exact_text(cost) if bounded else str(UNBOUNDED),
        delta=exact_text(delta) if bounded else None,
        standard_error=seen.error,
        standard_error_is=seen.error_is,
        standard_error_of_total=seen.error_of_total,
        percent_true=seen.percent_true,
        takes=seen.takes,
    )
