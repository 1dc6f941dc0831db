"""What `pcneo audit` prints from public numbers, without a graph."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pcneo.basics.frames import rounded
from pcneo.cli.console import print_table, without_empty
from pcneo.cli.streams import say

if TYPE_CHECKING:
    from pcneo.privacy.foresight import Advice


def print_advice(advice: Advice) -> None:
    """Print what each mechanism promises, costs and reveals."""
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
        lines = {"promises": advised.promises, "exact": advised.exact, "shows": advised.shows, "takes": advised.takes}
        say("\n".join([advised.mechanism, *(f"  {name:<9} {text}" for name, text in lines.items() if text)]))
    modelled = MECHANISMS["modelled"].of_single_counts
    say(
        "At equal ε, mechanisms promise different things, and the one with the smallest error may show the most. With "
        f"critical, the error of a count depends on the groups; a dry run prints it. About modelled: {modelled} `pcneo "
        "audit GRAPH` says, for you alone, how large the errors of each are in your graph, and what it reveals."
    )
