"""`pcneo audit`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.advised import print_advice
from pcneo.cli.console import Bars, connected, print_json, print_table, without_empty
from pcneo.cli.options import Json, RunOrGraph
from pcneo.cli.streams import say

if TYPE_CHECKING:
    from pcneo.release.audit import AuditResult, AuditRow


class Of(Enum):
    """What an error is of."""

    total = "total"
    count = "count"


def audit(
    run: RunOrGraph = None,
    epsilon: Annotated[str | None, typer.Option("-e", "--epsilon", help="ε of one release.")] = None,
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    n: Annotated[int | None, typer.Option("-n", help="Without a graph: how many vertices it has.")] = None,
    mean_degree: Annotated[
        str | None,
        typer.Option("-d", "--mean-degree", help="With -n: connections of a vertex in the mean, or a guess."),
    ] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", help="With -n: mean number of triangles of a vertex, or a guess.")
    ] = None,
    error: Annotated[
        str | None,
        typer.Option("--error", help="With -n, in place of ε: the error that you want, 25 or, with --expect, 10%."),
    ] = None,
    of: Annotated[Of | None, typer.Option("--of", help="What that error is of.", show_default="total")] = None,
    as_json: Json = False,
) -> None:
    """Say what each mechanism promises, how large its errors are, and what it reveals: for you alone.

    One table of all mechanisms, beside zeros, exact degrees and exact counts. Releases are simulated. For graphs with
    more than 10,000 vertices it does not say what an attacker would find.

    With -n and -d it says so from public numbers alone, without a graph and a database; with --error, at which ε each
    mechanism has so small an error.

    Example: pcneo audit friends -e 1
    """
    given = {"-d": mean_degree, "--expect": expect, "--error": error, "--of": of}
    if n is not None:
        wanted = {f"error_of_{(of or Of.total).value}": error}
        _advise(run, n, mean_degree, epsilon, k, expect=expect, **wanted, as_json=as_json)
        return
    if any(value is not None for value in given.values()):
        named = ", ".join(option for option, value in given.items() if value is not None)
        raise typer.BadParameter("They stand in for a graph, with -n.", param_hint=named)
    from pcneo.privacy.exact import positive
    from pcneo.release import Source
    from pcneo.release.audit import audit as audit_graph
    from pcneo.stored.runs import run_or_graph

    if epsilon is None:
        raise typer.BadParameter("Name the ε of the releases that are compared.", param_hint="-e")
    exact = positive(epsilon, "epsilon")  # before a connection is made, which may take long or ask for a password
    with connected() as db, Bars() as bars:
        named = run_or_graph(db, run)
        source = Source(run=named.get("run"), graph=named.get("graph"))
        result = audit_graph(db, epsilon=exact, k=k, source=source, progress=bars)
    print_json(result) if as_json else _print(result)


def _advise(run: str | None, n: int, mean_degree: str | None, *figures: Any, as_json: bool, **wanted: Any) -> None:
    from pcneo.privacy.foresight import advise

    if run is not None:
        raise typer.BadParameter("It stands in for a graph; name one of them.", param_hint="-n")
    if mean_degree is None:
        raise typer.BadParameter("Name the mean degree, too, or a guess of it.", param_hint="-d")
    advice = advise(n, mean_degree, *figures, **wanted)
    print_json(advice) if as_json else print_advice(advice)


_COLUMNS = (
    "",
    "promises",
    "error of a count",
    "of the total",
    "found",
    "groups known",
    "of protected",
    "costliest connection",
    "refused",
)


def _print(result: AuditResult) -> None:
    say(result.notice)
    say("")
    rests = f", run {result.run} (p={result.p}, search {result.search})" if result.run else ""
    threshold = "" if result.threshold is None else f"; ln(n/d) is {result.threshold:.1f}"
    say(
        f"k={result.k}, ε={result.epsilon:g}, on {result.graph}{rests}: {result.vertices:,} vertices, "
        f"{result.connections:,} connections{threshold}. The total is {result.total:,}."
    )
    if result.inside is not None:
        say(f"{result.inside:.1%} of the connections lie inside groups.")
    title = (
        f"Mean absolute errors of {result.releases:,} simulated releases; what is found in {result.attacked:,} of them"
    )
    columns, rows = without_empty(_COLUMNS, [_row(row) for row in result.rows])
    print_table(columns, rows, title)
    if result.attacked:
        say(
            f"Found: the share of the {result.connections:,} connections that is among as many pairs, those that the "
            "attacker thinks likeliest. Of protected: the same inside groups, where the attacker knows these."
        )
    else:
        say("The graph has too many pairs of vertices for the attacker, who ranks all of them.")
    say(
        "Costliest connection: by how much its presence can move the log-odds of what is published, in ε; at the 5, 50 "
        "and 95 % quantiles of a scale that is found by noise, without what finding it costs."
    )
    say(result.meaning)


def _row(row: AuditRow) -> list[Any]:
    shares = (row.found, row.found_with_groups, row.found_of_protected)
    return [
        row.name,
        row.promise or None,
        None if row.error is None else rounded(row.error),
        None if row.error_of_total is None else rounded(row.error_of_total),
        *(None if share is None else f"{share:.0%}" for share in shares),
        None if row.costliest is None else ", ".join(dict.fromkeys(map(rounded, row.costliest))),
        row.refused,
    ]
