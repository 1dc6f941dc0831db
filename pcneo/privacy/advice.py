"""Which mechanism fits a graph, in words, from expected errors; for the owner alone (GUARANTEE.md#utility)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcneo.privacy.mechanisms import protection_of
from pcneo.privacy.protection import Protects

__all__ = ["Fit", "advise"]


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
        fits: of the mechanisms that can be had; at most one of them protects pairs inside groups, all others protect
            every connection.
        inside: the share of connections that lie inside groups; None without groups or connections.
        refused: why the one with groups cannot be had, where it was tried.

    Returns:
        Lines for the owner alone, without a last line break.
    """
    critical = next((fit for fit in fits if protection_of(fit.mechanism) is Protects.PAIRS_INSIDE_GROUPS), None)
    nothing_given = sorted((fit for fit in fits if fit is not critical), key=lambda fit: fit.expected)
    lines = [f"{fit.mechanism}: expected standard error of the total {_errors(fit)}." for fit in fits]
    if len(nothing_given) > 1:
        best, other, *more = nothing_given
        which, than_others = (f"{len(nothing_given)}", "most") if more else ("two", "more")
        lines.append(
            f"Of the {which} that protect every connection with nothing given, {best.mechanism} is expected to be the "
            f"{than_others} exact here, with {_share(best, other)} error."
        )
    if refused is None:
        lines.append(_verdict(critical, nothing_given[0] if nothing_given else None, inside or 0.0))
    else:
        lines.append(f"critical cannot be had. {refused}")
    lines.append("At equal ε, promises differ: critical takes the groups and all other connections as given.")
    return "\n".join(lines)


def _errors(fit: Fit) -> str:
    relative = "" if fit.relative is None else f", {fit.relative:.3%} of the total"
    if fit.usual is None:
        from_groups = protection_of(fit.mechanism) is Protects.PAIRS_INSIDE_GROUPS
        return f"{fit.expected:,.2f}{relative}{', which follows from the groups' if from_groups else ''}"
    return (
        f"{fit.expected:,.2f}{relative} ({fit.low:,.2f} to {fit.high:,.2f} in 90 % of the simulations; "
        f"{fit.usual:,.2f} for a graph without connections, all that can be said in public)"
    )


def _share(smaller: Fit, larger: Fit) -> str:
    part = smaller.expected / larger.expected if larger.expected > 0 else 1.0
    return f"{part:.1%} of {larger.mechanism}'s"


def _verdict(critical: Fit | None, best: Fit | None, inside: float) -> str:
    if critical is None:
        return "critical was not looked at: it rests on groups. Name a run, or its p, to compare."
    unprotected = f"It leaves {1 - inside:.1%} of the connections without any protection"
    if best is None:
        return f"critical alone can be had: the noise of edge and elv could be too large to be drawn. {unprotected}."
    if critical.expected >= best.expected:
        return (
            f"{best.mechanism} fits this graph. The groups have so many pairs, or these so many cliques, that critical "
            f"would need no less noise, and it would protect {inside:.1%} of the connections only."
        )
    return (
        f"critical fits this graph if it is the pairs inside groups that must be protected: with "
        f"{_share(critical, best)} error. {unprotected}; if those must be protected too, take {best.mechanism}."
    )
