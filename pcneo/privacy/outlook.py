"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from pcneo.privacy.exact import exact_text
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.mechanisms import Critical, Edge, OneScale, make_mechanism

__all__ = ["DIFFERENT_PROMISES", "EdgeErrors", "Utility", "describe_utility", "utility_of_critical", "utility_of_scale"]

DIFFERENT_PROMISES = "At equal ε, mechanisms promise different things."


class EdgeErrors(NamedTuple):
    """The standard error of the total with `edge`, by how many neighbours two vertices share at most."""

    least: float
    expected: float
    most: float


@dataclass(frozen=True)
class Utility:
    """What may be said beforehand: of one scale, from public bounds; of `critical`, for the owner, from P̂ and Ĝ.

    Attributes:
        least_scale: λ is never smaller; None for `critical`.
        usual_scale: the λ of a graph without connections; None for `critical`.
        usual_standard_error: of the total, at the usual λ; None for `critical`.
        standard_error: of the total, with `critical`; None for the others.
        exact_counts: how many counts `critical` will publish exactly; None for the others.
        exact_supports: whether `critical`'s scales rest on exact supports, or on a bound; None for the others.
        with_edge: what `edge` would have in place of `critical`; None for the others, or where it cannot be drawn.
    """

    least_scale: float | None = None
    usual_scale: float | None = None
    usual_standard_error: float | None = None
    standard_error: float | None = None
    exact_counts: int | None = None
    exact_supports: bool | None = None
    with_edge: EdgeErrors | None = None


def utility_of_scale(mechanism: OneScale) -> Utility:
    """Return what holds whatever the graph is."""
    usual = mechanism.scale_without_connections
    error = standard_error([usual] * mechanism.n) / mechanism.k
    return Utility(float(mechanism.least_scale), float(usual), error)


def utility_of_critical(
    mechanism: Critical, scales: Sequence[Fraction], common: tuple[int, int], *, exact: bool
) -> Utility:
    """Return what follows from the groups and the connections outside them.

    Args:
        mechanism: with its parameters.
        scales: t_v by vertex.
        common: the least and the most that C, which decides `edge`'s noise, can be as far as P̂ and Ĝ tell.
        exact: whether the scales rest on exact supports.
    """
    return Utility(
        standard_error=standard_error(scales) / mechanism.k,
        exact_counts=sum(scale == 0 for scale in scales),
        exact_supports=exact,
        with_edge=_edge_errors(mechanism, len(scales), *common),
    )


def _edge_errors(mechanism: Critical, n: int, least: int, most: int) -> EdgeErrors | None:
    edge = make_mechanism("edge", k=mechanism.k, epsilon=mechanism.epsilon, n=n)
    if not isinstance(edge, Edge) or not edge.can_be_drawn:
        return None
    # C is not told before a spend, and `most` alone can never speak for `edge`: it bounds critical's noise as well.
    # The geometric mean is near the truth on the graphs that were tried, while the arithmetic one is near `most`.
    bounds = least, isqrt(least * most), most
    return EdgeErrors(*(standard_error([edge.expected_scale(C)] * n) / edge.k for C in bounds))


def describe_utility(mechanism: Critical | OneScale, utility: Utility) -> str:
    """Say it in words; what follows from groups is marked as the owner's."""
    asked = f"{mechanism.name}, k={mechanism.k}, ε={exact_text(mechanism.epsilon)}"
    if utility.standard_error is None:
        return (
            f"{asked}: the noise level λ is at least {utility.least_scale:,.4g}, and {utility.usual_scale:,.4g} for a "
            "graph without connections, the usual least."
        )
    text = (
        f"For the owner alone: {asked}: {utility.exact_counts:,} counts are published exactly; the standard error of "
        f"the total is {utility.standard_error:,.4g}"
    )
    if not utility.exact_supports:
        text += f" with scales from the bound {mechanism.k}·C(cn, {mechanism.k - 2}), exact supports being too dear"
    if utility.with_edge is None:
        return f"{text}. The noise of edge could be too large to be drawn."
    least, expected, most = utility.with_edge
    better = "critical" if utility.standard_error <= expected else "edge"
    return (
        f"{text}, and with edge between {least:,.4g} and {most:,.4g}. Less noise is expected from {better}, edge being "
        f"taken at {expected:,.4g}, the middle of what the groups leave open; `pcneo audit` has the real figure. "
        f"{DIFFERENT_PROMISES}"
    )
