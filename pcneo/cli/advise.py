"""`pcneo advise`."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.console import print_json, print_table, say, without_empty
from pcneo.cli.options import Json

if TYPE_CHECKING:
    from pcneo.privacy.foresight import Advice

__all__ = ["advise"]


class Of(Enum):
    """What an error is of."""

    total = "total"
    count = "count"


def advise(
    n: Annotated[int, typer.Option("-n", help="How many vertices the graph has.")],
    mean_degree: Annotated[str, typer.Option("-d", help="Mean degree: connections of a vertex, or a guess.")],
    epsilon: Annotated[str | None, typer.Option("-e", "--epsilon", help="ε of one release.")] = None,
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    expect: Annotated[
        str | None, typer.Option("--expect", help="Mean number of triangles of a vertex, or a guess.")
    ] = None,
    error: Annotated[
        str | None,
        typer.Option("--error", help="Instead of ε, the error that you want, such as 25 or, with --expect, 10%."),
    ] = None,
    of: Annotated[Of, typer.Option("--of", help="What that error is of.")] = Of.total,
    as_json: Json = False,
) -> None:
    """Say what each mechanism would promise, cost and show, from public numbers alone; no database is needed.

    With --error, say at which ε each mechanism would err so little.

    Example: pcneo advise -n 10000 -d 5 -e 2
    """
    from pcneo.privacy.foresight import advise as advise_on

    advice = advise_on(n, mean_degree, epsilon, k, expect=expect, error=error, of=of.value)
    if as_json:
        print_json(advice)
    else:
        _print(advice)


def _print(advice: Advice) -> None:
    from pcneo.privacy.exact import decimal_text

    given = f"n={advice.vertices:,}, mean degree d={advice.mean_degree:g}, k={advice.k}"
    if advice.mean_count is not None:
        given += f", {advice.mean_count:g} triangles at a vertex"
    if advice.epsilon is not None:
        given += f", ε={advice.epsilon:g}"
    say(f"{given}: ln(n/d) is {advice.threshold:.1f}. No graph was looked at.")
    if advice.wanted is not None:
        say(f"The least ε at which the standard error of the {advice.wanted.of} may be {rounded(advice.wanted.error)}:")
    rows = [
        (
            advised.mechanism,
            advised.epsilon,
            None if advised.delta is None else decimal_text(Fraction(advised.delta)),
            None if advised.standard_error is None else rounded(advised.standard_error),
            None if advised.standard_error_of_total is None else rounded(advised.standard_error_of_total),
            None if advised.percent_true is None else f"{advised.percent_true:.3g} %",
            advised.refused,
        )
        for advised in advice.mechanisms
    ]
    columns = [
        "mechanism",
        "costs ε",
        "δ",
        "standard error, at least",
        "of the total",
        "yes-answers true",
        "refused",
    ]
    print_table(*without_empty(columns, rows))
    for advised in advice.mechanisms:
        lines = {"promises": advised.promises, "exact": advised.exact, "shows": advised.shows, "takes": advised.takes}
        say("\n".join([advised.mechanism, *(f"  {name:<9} {text}" for name, text in lines.items() if text)]))
    say(
        "At equal ε, mechanisms promise different things, and the one with the smallest error may show most. The error "
        "of a count of critical follows from the groups: see its dry run. What each would err by and show in your "
        "graph, for you alone: pcneo audit."
    )
