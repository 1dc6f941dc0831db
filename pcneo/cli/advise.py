"""`pcneo advise`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

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
    say(
        f"n={advice.vertices:,}, mean degree d={advice.mean_degree:g}, k={advice.k}, ε={advice.epsilon:g}: "
        f"ln(n/d) is {advice.threshold:.1f}. No graph was looked at."
    )
    rows = [
        (
            one.mechanism,
            one.epsilon,
            "" if one.delta is None else f"{float(Fraction(one.delta)):.3g}",
            _short(one.standard_error),
            one.standard_error_is if one.refused is None else "refused",
            _short(one.standard_error_of_total),
            "" if one.percent_true is None else f"{one.percent_true:.3g} %",
        )
        for one in advice.mechanisms
    ]
    columns = ["mechanism", "costs ε", "δ", "standard error", "which is", "of the total", "yes-answers true"]
    print_table(columns, rows)
    for one in advice.mechanisms:
        lines = {"promises": one.promises, "exact": one.exact, "shows": one.shows, "takes": one.takes}
        lines["refused"] = one.refused or ""
        say("\n".join([one.mechanism, *(f"  {name:<9} {text}" for name, text in lines.items() if text)]))
    say(
        "At equal ε, mechanisms promise different things, and the one with the smallest error may show most. What an "
        "attacker would find in your graph, for you alone: pcneo audit --attack."
    )


def _short(error: float | None) -> str:
    return "" if error is None else f"{error:,.4g}"
