"""The four mechanisms as frozen objects: their parameters, their promise, what changes cost, and how scales are found.

All arithmetic is in fractions. GUARANTEE.md#critical and the headings after it have each formula and its proof.
"""

from __future__ import annotations

from fractions import Fraction

from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.exact import positive
from pcneo.privacy.mechanisms.base import Mechanism, OneScale
from pcneo.privacy.mechanisms.critical import Critical
from pcneo.privacy.mechanisms.edge import Edge
from pcneo.privacy.mechanisms.two_phases import Elv, Published

__all__ = ["MECHANISMS", "Critical", "Edge", "Elv", "Mechanism", "OneScale", "Published", "make_mechanism"]

MECHANISMS: dict[str, type[Mechanism]] = {m.name: m for m in (Critical, Edge, Elv, Published)}


def make_mechanism(
    name: str,
    *,
    k: int,
    epsilon: object,
    n: int,
    delta: object | None = None,
    epsilon_1: object | None = None,
    h: int | None = None,
) -> Critical | Edge | Elv | Published:
    """Return a mechanism from what a person asked for, with the defaults (GUARANTEE.md#defaults) for the rest.

    Args:
        name: one of `MECHANISMS`.
        k: vertices of the cliques.
        epsilon: ε, a number or its text.
        n: vertices of the graph.
        delta: δ; unless given, min(1e-6, 1/n²).
        epsilon_1: ε1; unless given, a tenth of ε.
        h: unless given, min(3, n).

    Raises:
        ParameterError: something is out of range, or given to a mechanism that has no such parameter.
        GraphError: the graph has no vertices.
    """
    if name not in MECHANISMS:
        raise ParameterError(
            f"mechanism must be one of {', '.join(MECHANISMS)}, not {name!r}.", name="mechanism", value=name
        )
    if n < 1:
        raise GraphError("The graph has no vertices: there are no counts to release.")
    eps = positive(epsilon, "epsilon")
    if name == "critical":
        _none_given(name, {"delta": delta, "epsilon 1": epsilon_1, "h": h})
        return Critical(k, eps)
    dlt = min(Fraction(1, 10**6), Fraction(1, n * n)) if delta is None else positive(delta, "delta", below=1)
    eps_1 = eps / 10 if epsilon_1 is None else positive(epsilon_1, "epsilon 1")
    if name == "edge":
        _none_given(name, {"h": h})
        return Edge(k, eps, n, dlt, eps_1)
    return (Elv if name == "elv" else Published)(k, eps, n, dlt, eps_1, min(3, n) if h is None else h)


def _none_given(mechanism: str, parameters: dict[str, object | None]) -> None:
    """Refuse parameters that a mechanism has not: dropping them would look as if they had been heeded."""
    for name, value in parameters.items():
        if value is not None:
            raise ParameterError(f"The mechanism {mechanism} has no {name}; leave it out.", name=name, value=value)
