"""`pcneo advise`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.console import print_json, print_table, say
from pcneo.cli.options import Json

if TYPE_CHECKING:
    from pcneo.privacy.foresight import Advice

__all__ = ["advise"]


def advise(
    n: Annotated[int, typer.Option("-n", help="How many vertices the graph has.")],
    mean_degree: Annotated[str, typer.Option("-d", help="Mean degree: connections of a vertex, or a guess.")],
    epsilon: Annotated[str, typer.Option("-e", "--epsilon", help="ε of one release.")],
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    as_json: Json = False,
) -> None:
    """Say what each mechanism would promise, cost and show, from public numbers alone; no database is needed.

    Example: pcneo advise -n 10000 -d 5 -e 2
    """
    from pcneo.privacy.foresight import advise as advise_on

    advice = advise_on(n, mean_degree, epsilon, k)
    if as_json:
        print_json(advice)
    else:
        _print(advice)


def _print(advice: Advice) -> None:
    from pcneo.privacy.exact import decimal_text

    say(
        f"n={advice.vertices:,}, mean degree d={advice.mean_degree:g}, k={advice.k}, ε={advice.epsilon:g}: "
        f"ln(n/d) is {advice.threshold:.1f}. No graph was looked at."
    )
    rows = [
        (
            advised.mechanism,
            advised.epsilon,
            "" if advised.delta is None else decimal_text(Fraction(advised.delta)),
            rounded(advised.standard_error),
            advised.standard_error_is if advised.refused is None else "refused",
            rounded(advised.standard_error_of_total),
            "" if advised.percent_true is None else f"{advised.percent_true:.3g} %",
        )
        for advised in advice.mechanisms
    ]
    columns = ["mechanism", "costs ε", "δ", "standard error", "which is", "of the total", "yes-answers true"]
    print_table(columns, rows)
    for advised in advice.mechanisms:
        lines = {"promises": advised.promises, "exact": advised.exact, "shows": advised.shows, "takes": advised.takes}
        lines["refused"] = advised.refused or ""
        say("\n".join([advised.mechanism, *(f"  {name:<9} {text}" for name, text in lines.items() if text)]))
    say(
        "At equal ε, mechanisms promise different things, and the one with the smallest error may show most. What an "
        "attacker would find in your graph, for you alone: pcneo audit --attack."
    )
