"""`pcneo audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.console import Bars, connected, print_json, print_table, say, without_empty
from pcneo.cli.options import Delta, GraphName, Json, RunName, RunP, RunSearch

if TYPE_CHECKING:
    from pcneo.release.audit import AuditResult, AuditRow

__all__ = ["audit"]


def audit(
    epsilon: Annotated[str, typer.Option("-e", "--epsilon", help="ε of the releases that are compared.")],
    run: RunName = None,
    graph: GraphName = None,
    p: RunP = None,
    search: RunSearch = None,
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    delta: Delta = None,
    as_json: Json = False,
) -> None:
    """Show the owner what each mechanism would promise, err and show on this graph at this ε; nothing is spent.

    One table of all mechanisms, beside zeros, exact degrees and exact counts. Releases are simulated. Of graphs with
    more than 10,000 vertices it does not say what an attacker would find.

    Example: pcneo audit -e 1.0 -k 3
    """
    from pcneo.privacy.exact import positive
    from pcneo.release import GraphRequest
    from pcneo.release.audit import audit as audit_graph

    positive(epsilon, "epsilon")  # before a connection is made, which may take long or ask for a password
    request = GraphRequest(k=k, epsilon=epsilon, delta=delta, graph=graph, p=p, search=search, run=run)
    with connected() as db, Bars() as bars:
        result = audit_graph(db, request=request, progress=bars)
    if as_json:
        print_json(result)
    else:
        _print(result)


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
        say(f"Inside groups lie {result.inside:.1%} of the connections.")
    title = (
        f"Mean absolute errors of {result.releases:,} simulated releases; what is found in {result.attacked:,} of them"
    )
    columns, rows = without_empty(_COLUMNS, [_row(row) for row in result.rows])
    print_table(columns, rows, title)
    if result.attacked:
        say(
            f"Found: of {result.connections:,} connections, among as many pairs that the attacker thinks likeliest. Of "
            "protected: of the connections inside groups, among as many pairs inside groups, where it knows these."
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
