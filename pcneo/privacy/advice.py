"""Which mechanism fits a graph, in words, from expected errors; for the owner alone (GUARANTEE.md#utility)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.protection import Protects

__all__ = ["Fit", "advise"]

_COMPARED = {name: mechanism.protects for name, mechanism in MECHANISMS.items() if mechanism.compared}
(_GROUPED,) = (name for name, protects in _COMPARED.items() if protects is Protects.PAIRS_INSIDE_GROUPS)
_OTHERS = [name for name, protects in _COMPARED.items() if protects is Protects.EVERY_CONNECTION]


@dataclass(frozen=True)
class Fit:
    """How exact the total would be with one mechanism.

    Attributes:
        mechanism: its name.
        usual: standard error of the total at the λ of a graph without connections, which is public; None where scales
            take no noise.
        low, expected, high: the same at the 5 %, 50 % and 95 % quantiles of simulated λ; all equal where scales take no
            noise.
        relative: `expected` as a share of the exact total; None where that is 0.
    """

    mechanism: str
    usual: float | None
    low: float
    expected: float
    high: float
    relative: float | None


def advise(fits: Sequence[Fit], inside: float | None, refused: str | None = None) -> str:
    """Say in words, a line each, how exact the mechanisms would be and which of them fits.

    Args:
        fits: of the mechanisms that are compared, as far as they can be had: one protects pairs inside groups, all
            others protect every connection.
        inside: the share of connections that lie inside groups; None without groups or connections.
        refused: why the one with groups cannot be had, where it was tried.

    Returns:
        Lines for the owner alone, without a last line break.
    """
    grouped = next((fit for fit in fits if fit.mechanism == _GROUPED), None)
    nothing_given = sorted((fit for fit in fits if fit is not grouped), key=lambda fit: fit.expected)
    lines = [f"{fit.mechanism}: expected standard error of the total {_errors(fit)}." for fit in fits]
    if len(nothing_given) > 1:
        best, other, *more = nothing_given
        which, than_others = (f"{len(nothing_given)}", "most") if more else ("two", "more")
        lines.append(
            f"Of the {which} that protect every connection, whatever else is known, {best.mechanism} is expected to be "
            f"the {than_others} exact here, with {_share(best, other)} error."
        )
    if refused is None:
        lines.append(_verdict(grouped, nothing_given[0] if nothing_given else None, inside or 0.0))
    else:
        lines.append(f"{_GROUPED} cannot be had. {refused}")
    lines.append(f"At equal ε, promises differ: {_GROUPED} takes the groups and all other connections as given.")
    return "\n".join(lines)


def _errors(fit: Fit) -> str:
    relative = "" if fit.relative is None else f", {fit.relative:.3%} of the total"
    if fit.usual is None:
        from_groups = ", which follows from the groups" if fit.mechanism == _GROUPED else ""
        return f"{fit.expected:,.2f}{relative}{from_groups}"
    low, high = f"{fit.low:,.2f}", f"{fit.high:,.2f}"
    spread = "the same" if low == high else f"{low} to {high}"
    return (
        f"{fit.expected:,.2f}{relative} ({spread} in 90 % of the simulations; "
        f"{fit.usual:,.2f} for a graph without connections, all that can be said in public)"
    )


def _share(smaller: Fit, larger: Fit) -> str:
    part = smaller.expected / larger.expected if larger.expected > 0 else 1.0
    return f"{part:.1%} of {larger.mechanism}'s"


def _verdict(grouped: Fit | None, best: Fit | None, inside: float) -> str:
    if grouped is None:
        return f"{_GROUPED} was not looked at: it rests on groups. Name a run, or its p, to compare."
    unprotected = f"It leaves {1 - inside:.1%} of the connections without any protection"
    if best is None:
        others = " and ".join(_OTHERS)
        return f"{_GROUPED} alone can be had: the noise of {others} could be too large to be drawn. {unprotected}."
    if grouped.expected >= best.expected:
        return (
            f"{best.mechanism} fits this graph. The groups have so many pairs, or these so many cliques, that "
            f"{_GROUPED} would need no less noise, and it would protect {inside:.1%} of the connections only."
        )
    return (
        f"{_GROUPED} fits this graph if it is the pairs inside groups that must be protected: with "
        f"{_share(grouped, best)} error. {unprotected}; if those must be protected too, take {best.mechanism}."
    )
