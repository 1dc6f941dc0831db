"""`pcneo audit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.console import Bars, connected, print_json, print_table, without_empty
from pcneo.cli.options import Json, RunOrGraph, refuse
from pcneo.cli.streams import say

if TYPE_CHECKING:
    from pcneo.privacy.foresight import Advice
    from pcneo.release.audit import AuditResult, AuditRow


_EXACT = 3
"""The k for which the errors of `respond` are foreseen."""

_BOUND = "only a bound is known of them for this k, which can be hundreds of times too small"


class Of(Enum):
    """What an error refers to."""

    total = "total"
    count = "count"


def audit(
    run: RunOrGraph = None,
    epsilons: Annotated[list[str] | None, typer.Option("-e", "--epsilon", help="ε of one release.")] = None,
    k: Annotated[int, typer.Option("-k", help="Vertices in a clique.")] = 3,
    n: Annotated[int | None, typer.Option("-n", help="In place of a graph: how many vertices it has.")] = None,
    mean_degree: Annotated[
        str | None,
        typer.Option("-d", "--mean-degree", help="With -n: connections of a vertex on average, or a guess."),
    ] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", help="With -n: triangles that a vertex is in on average, or a guess.")
    ] = None,
    error: Annotated[
        str | None,
        typer.Option(
            "--error", help="With -n, in place of ε: the error that you want, such as 25 or, with --expect, 10%."
        ),
    ] = None,
    of: Annotated[Of | None, typer.Option("--of", help="What that error refers to.", show_default="total")] = None,
    as_json: Json = False,
) -> None:
    """Show the owner of a graph what each mechanism promises, how large its errors are, and what it reveals.

    It prints one table of all mechanisms, with zeros, exact degrees and exact counts for comparison. Releases are
    simulated. For graphs with more than 10,000 vertices it does not say what an attacker would find.

    With -n and -d it works from public numbers only, without a graph or a database; with --error, it says at which ε
    each mechanism has an error that small.

    Example: pcneo audit friends -e 1
    """
    if len(epsilons or []) > 1:
        raise typer.BadParameter("Give one; run it again for another.", param_hint="-e")
    epsilon = next(iter(epsilons or []), None)
    if n is not None:
        if mean_degree is not None and (epsilon is None) == (error is None):
            raise typer.BadParameter("Give either ε or the error that you want.", param_hint="-e, --error")
        if run is not None:
            raise typer.BadParameter("It replaces a graph; give only one of them.", param_hint="-n")
        if mean_degree is None:
            raise typer.BadParameter("Also give the mean degree, or a guess.", param_hint="-d")
        from pcneo.privacy.foresight import advise

        if error is None:
            refuse({"--of": of}, "It says what --error refers to; give both.")
        wanted = {f"error_of_{(of or Of.total).value}": error}
        advice = advise(n, mean_degree, epsilon, k, expect=expect, **wanted)
        print_json(advice) if as_json else _print_advice(advice)
        return
    beside = {"-d": mean_degree, "--expect": expect, "--error": error, "--of": of}
    refuse(beside, "They go with -n, in place of a graph.")
    from pcneo.privacy.exact import positive
    from pcneo.release import Source
    from pcneo.release.audit import audit as audit_graph
    from pcneo.stored.runs import run_or_graph

    if epsilon is None:
        raise typer.BadParameter("Give the ε of the releases to compare.", param_hint="-e")
    exact = positive(epsilon, "epsilon")  # before a connection is made, which may take long or ask for a password
    with connected() as db, Bars() as bars:
        source = Source(**run_or_graph(db, run))
        result = audit_graph(db, epsilon=exact, k=k, source=source, progress=bars)
    print_json(result) if as_json else _print(result)


def _print_advice(advice: Advice) -> None:
    from pcneo.privacy.exact import decimal_text
    from pcneo.privacy.mechanisms import MECHANISMS

    given = f"n={advice.vertices:,}, mean degree d={advice.mean_degree:g}, k={advice.k}"
    if advice.mean_count is not None:
        given += f", {advice.mean_count:g} triangles at a vertex"
    if advice.epsilon is not None:
        given += f", ε={advice.epsilon:g}"
    say(f"{given}: ln(n/d) is {advice.threshold:.1f}. No graph was read.")
    if advice.wanted is not None:
        say(
            f"The smallest ε at which the standard error of the {advice.wanted.of} can be as small as "
            f"{rounded(advice.wanted.error)}:"
        )
    rows = [
        {
            "mechanism": advised.mechanism,
            "costs ε": advised.epsilon,
            "δ": None if advised.delta is None else decimal_text(Fraction(advised.delta)),
            "standard error, at least": rounded(advised.standard_error) or None,
            "of the total": rounded(advised.standard_error_of_total) or None,
            "connections among yes-answers": None if advised.percent_true is None else f"{advised.percent_true:.3g} %",
            "why not": advised.refused,
        }
        for advised in advice.mechanisms
    ]
    print_table(*without_empty(rows))
    if advice.wanted is not None and advice.mean_count is None:
        say(
            "Without --expect, the error can be that small in a graph without triangles; real graphs, which have "
            "triangles, need a larger ε. Give --expect."
        )
    for advised in advice.mechanisms:
        lines = {
            "promises": advised.promises,
            "exact": advised.exact,
            "shows": advised.shows,
            "errors": _BOUND if advised.mechanism == "respond" and advice.k != _EXACT and not advised.refused else "",
            "takes": advised.takes,
        }
        say("\n".join([advised.mechanism, *(f"  {name:<9} {text}" for name, text in lines.items() if text)]))
    modelled = MECHANISMS["modelled"].of_single_counts
    say(
        "At equal ε, mechanisms promise different things, and the one with the smallest error may show the most. With "
        f"critical, the error of a count depends on the groups; a dry run prints it. About modelled: {modelled} `pcneo "
        "audit GRAPH` says, for you alone, how large the errors of each are in your graph, and what it reveals."
    )


def _print(result: AuditResult) -> None:
    say(result.notice)
    rests = f", run {result.run} (p={result.p}, search {result.search})" if result.run else ""
    inside = "" if result.inside is None else f", {result.inside:.1%} of them inside groups"
    threshold = "" if result.threshold is None else f" ln(n/d) is {result.threshold:.1f}."
    say(
        f"{result.graph}{rests}: {result.vertices:,} vertices, {result.connections:,} connections{inside}; "
        f"{result.total:,} {'triangles' if result.k == 3 else f'{result.k}-cliques'}.{threshold}"
    )
    say("")
    columns, rows = without_empty([_row(row) for row in result.rows if row.refused is None])
    print_table(
        columns, rows, f"{result.releases:,} simulated releases of each mechanism, k={result.k}, ε={result.epsilon:g}"
    )
    for line in _legend(result, columns):
        say(line)
    for row in result.rows:
        if row.refused is not None:
            say(f"{row.name} is not in the table: {row.refused}")
    say(result.meaning)


def _legend(result: AuditResult, columns: Sequence[str]) -> Iterator[str]:
    """Yield what the rows and columns of the table are."""
    yield (
        "zeros    with degrees and counts, which are both exact: what could be published in place of a release; "
        "+ answers: the mechanism above, with its answers published, too"
    )
    yield (
        f"promise  any: ε={result.epsilon:g} for any one connection; inside: the same for a pair inside a group, given "
        "the groups and all other connections; δ: except with that probability, a millionth or less; none: nothing is "
        "promised"
    )
    yield "error    how far a count, or the total, is off on average"
    if "found" in columns:
        yield (
            f"found    an attacker names the {result.connections:,} likeliest pairs of vertices: how many are "
            f"connections, as a mean over simulated releases ({result.attacked:,})"
        )
    if "groups known" in columns:
        yield "groups   known: the same if the attacker knows the groups; inside: then only of the pairs inside groups"
    if result.attacked == 0:
        yield "No attacker is simulated: there are too many pairs of vertices to rank."
    if "worst loss" in columns:
        yield (
            "worst    the most that one connection can move the log-odds, which ε bounds where there is a promise; "
            "where the scale of the noise is random, its 95th percentile, without what finding the scale costs"
        )


def _row(row: AuditRow) -> dict[str, Any]:
    """Return a row of the table, in words short enough for 80 columns; lines beneath the table explain them."""
    name, _, beside = row.name.partition(", ")
    return {
        "": "+ answers" if beside else name.removeprefix("exact "),
        "promise": _promise(name),
        "count error": rounded(row.error) or None,
        "total error": rounded(row.error_of_total) or None,
        "found": _percent(row.found),
        "groups known": _percent(row.found_with_groups),
        "inside groups": _percent(row.found_of_protected),
        "worst loss": row.costliest and rounded(row.costliest[-1], 2),
    }


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"


def _promise(name: str) -> str | None:
    """Return what the mechanism of a row protects, and whether except with probability δ."""
    from pcneo.privacy.mechanisms import MECHANISMS
    from pcneo.privacy.protection import Protects

    if name not in MECHANISMS:
        return None
    protects, has_delta = MECHANISMS[name].protects, "delta" in MECHANISMS[name].parameter_names()
    if protects is Protects.NOTHING:
        return "none"
    return "inside" if protects is Protects.PAIRS_INSIDE_GROUPS else f"any{', δ' if has_delta else ''}"
