"""Which ε the questions of `pcneo release` offer, and which follows from an error that a person types."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pcneo.basics.frames import rounded
from pcneo.cli.streams import note
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.privacy.outlook import Earlier, Public
    from pcneo.release import Terms
    from pcneo.store.database import Database, GraphRecord


def noisy_below(
    db: Database, mechanism: str, graph: GraphRecord, terms: Terms, earlier: Earlier
) -> tuple[str | None, str]:
    """Return an ε to offer, and a sentence on which leave mostly noise; none is offered where the usual one does."""
    n, public = _known(db, graph, terms, earlier)
    usual, given = "probably ", f"if a vertex has {rounded(public.mean_degree)} connections"
    if public.mean_count is not None:
        usual, given = "", f"if a vertex is in {rounded(public.mean_count)} triangles on average"
    try:  # in most social networks a vertex is in a third, or more, of the triangles that it could be in
        _, advised = _advise(mechanism, n, public, error_of_count=public.mean_count or public.most / 3)
    except ParameterError:  # no ε makes the error so small
        return None, f" Here, counts are mostly noise at any ε, {given}."
    offered = "3" if Fraction(advised) <= 3 else None
    return offered, f" Here, less than about {advised} {usual}leaves mostly noise, {given}."


def epsilon_for(db: Database, mechanism: str, graph: GraphRecord, error: str, terms: Terms, earlier: Earlier) -> str:
    """Return the smallest ε at which the total has so small an error; raise a ParameterError if no ε does that."""
    n, public = _known(db, graph, terms, earlier)
    off, epsilon = _advise(mechanism, n, public, error_of_total=error)
    note(
        f"ε = {epsilon}: with a smaller one, the total would typically be off by more than {rounded(off)}, if a vertex "
        f"has {rounded(public.mean_degree)} connections on average."
    )
    return epsilon


def _known(db: Database, graph: GraphRecord, terms: Terms, earlier: Earlier) -> tuple[int, Public]:
    """Return the number of vertices, and what is stated or published about their connections."""
    from pcneo.release.choice import count_vertices

    n, public = count_vertices(db, graph, None), terms.known(earlier)
    return n, public._replace(mean_degree=min(public.mean_degree, n - 1))


def _advise(mechanism: str, n: int, public: Public, **error: Any) -> tuple[float | None, str]:
    """Return an error as a number, and the smallest ε with so small a one; raise a ParameterError if none has."""
    from pcneo.privacy.foresight import advise

    advice = advise(n, public.mean_degree, expect=public.mean_count, **error)
    (advised,) = (one for one in advice.mechanisms if one.mechanism == mechanism)
    if advised.refused is not None or not advised.epsilon:
        raise ParameterError(advised.refused or "", name="error", value=error)
    return advice.wanted and advice.wanted.error, advised.epsilon
