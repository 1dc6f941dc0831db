"""What the questions of a guided release rest on: what is refused before them, which ε they offer, what follows."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from pcneo.basics.frames import rounded
from pcneo.errors import BudgetError, ParameterError
from pcneo.privacy.composition import Cost, compose
from pcneo.privacy.exact import typed_text
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.mechanisms.one_scale import USUAL_DELTA
from pcneo.privacy.outlook import USUAL_DEGREE, Earlier, Public
from pcneo.release.beforehand import advised, foreseen, is_far_below
from pcneo.release.budget import account_of, ledger_locked
from pcneo.release.choice import count_vertices
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger

NO_BUDGET = "This graph has no budget yet (the ε that all its releases may spend together)."


def check_not_being_written(db: Database, graph: GraphRecord) -> None:
    """Refuse a graph that another pcneo is writing, before any answer; the spend would refuse it after all of them."""
    if any(known.name == graph.name for known in db.list_graphs()):
        with ledger_locked(db, [graph]):
            pass  # held for a moment, with nothing written; if it is taken later, the spend is refused


def check_delta(mechanism: str, graph: GraphRecord, total: Cost) -> None:
    """Refuse a mechanism that spends δ before its questions, if the graph's total has none."""
    if total.delta or total.epsilon is None or "delta" not in MECHANISMS[mechanism].parameter_names():
        return
    given = shlex.join(["--epsilon", typed_text(total.epsilon), "--delta", typed_text(USUAL_DELTA)])
    raise BudgetError(
        f"{mechanism} also spends δ, a probability with which its promise may fail, but the budget of graph "
        f"{graph.name!r} has no δ. Nothing was spent. Allow δ = {typed_text(USUAL_DELTA)} with `pcneo budget set "
        f"{shlex.quote(graph.name)} {given}`.",
        graph=graph.name,
    )


def noisy_below(
    db: Database, mechanism: str, graph: GraphRecord, terms: Terms, earlier: Earlier
) -> tuple[str | None, str]:
    """Return an ε to offer, and a sentence on which leave mostly noise; none is offered where the usual one does."""
    n, public = _known(db, graph, terms, earlier)
    usual, given = "probably ", f"if a vertex has {rounded(public.mean_degree)} connections"
    if public.mean_count is not None:
        usual, given = "", f"if a vertex is in {rounded(public.mean_count)} triangles on average"
    try:
        _, least = advised(mechanism, n, public, error_of_count=public.mean_count or public.likely)
    except ParameterError:  # no ε makes the error so small
        return None, f" Here, counts are mostly noise at any ε, {given}."
    offered = "3" if Fraction(least) <= 3 else None
    return offered, f" Here, less than about {least} {usual}leaves mostly noise, {given}."


def epsilon_for(
    db: Database, mechanism: str, graph: GraphRecord, error: str, terms: Terms, earlier: Earlier
) -> tuple[str, str]:
    """Return the smallest ε at which the total has so small an error, and a sentence on it.

    It raises a ParameterError if no ε does that.
    """
    n, public = _known(db, graph, terms, earlier)
    off, epsilon = advised(mechanism, n, public, error_of_total=error)
    return epsilon, (
        f"ε = {epsilon}: with a smaller one, the total would typically be off by more than {rounded(off)}, if a vertex "
        f"has {rounded(public.mean_degree)} connections on average."
    )


def _known(db: Database, graph: GraphRecord, terms: Terms, earlier: Earlier) -> tuple[int, Public]:
    """Return the number of vertices, and what is stated or published about their connections."""
    n = count_vertices(db, graph, None)
    return n, terms.known(earlier).among(n)


def price(db: Database, prepared: Sequence[Prepared], terms: Terms) -> str:
    """Return a sentence about what the release spends, for all its k, and what it leaves."""
    release, cost = prepared[0], compose(each.spend.cost for each in prepared)
    spends, total = f"this release spends {cost.without_zero}", terms.total
    if total is not None:
        which = "all of which this release spends" if total.epsilon == cost.epsilon else f"of which {spends}"
        return f"{NO_BUDGET} It will be set to {total.without_zero}, {which}."
    account = account_of(list_ledger(db), release.graph.name)
    if account.left is None:
        return f"There is no bound on what this graph has spent; {spends} more."
    afterwards = replace(account, spends=(*account.spends, *(each.spend for each in prepared)))
    return f"This graph has {account.left} left; {spends} and leaves {afterwards.left}."


def what_to_expect(release: Prepared, terms: Terms) -> str:
    """Return a sentence about how exact the release will be, as far as public numbers or groups tell in advance."""
    seen, n, count = foreseen(release, terms), release.source.graph.vertex_count, terms.public.mean_count
    parts, where = [], "" if count is None else f", where the mean is {rounded(count, 3)}"
    if (most := release.utility.most_error) is not None:
        few, many = rounded(seen.error, 2), rounded(most, 2)
        return (
            f"For you alone: expect a count of triangles to be off by at least {few} and at most {many}{where} (one "
            "standard error; which of the two is nearer depends on the connections inside the groups)."
        )
    if seen.error is not None:
        parts.append(f"a count to be off by {rounded(seen.error, 2)} or more{where}")
    if seen.error_of_total is not None:
        share = "" if count is None else f" ({rounded(300 * seen.error_of_total / (count * n), 2)} %)"
        parts.append(f"the number of all triangles to be off by {rounded(seen.error_of_total, 2)}{share} or more")
    if not parts:
        return "How exact the counts will be cannot be said in advance."
    often = "; it is often many times as much" if is_far_below(release, terms.known(release.earlier)) else ""
    is_guess = terms.mean_degree is None and release.earlier.mean_degree is None
    assumed = f" This assumes {rounded(USUAL_DEGREE)} connections per vertex." if is_guess else ""
    return f"Expect {', and '.join(parts)} (one standard error{often}).{assumed}"
