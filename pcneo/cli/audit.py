"""`pcneo audit`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import rounded
from pcneo.cli.console import Bars, connected, note, print_json, print_table, say
from pcneo.cli.options import Closer, Delta, EpsilonOne, GraphName, Json, RunName, RunP, RunSearch

if TYPE_CHECKING:
    from pcneo.release.audit import AttackResult, AuditResult, Losses, Removals

__all__ = ["audit"]

_RESAMPLE = 20


def audit(
    epsilon: Annotated[str, typer.Option("-e", "--epsilon", help="ε of the release that is weighed.")],
    run: RunName = None,
    graph: GraphName = None,
    p: RunP = None,
    search: RunSearch = None,
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", help="critical, modelled, total, edge, elv or published.", show_default="critical"),
    ] = None,
    delta: Delta = None,
    epsilon_1: EpsilonOne = None,
    h: Closer = None,
    resample: Annotated[
        int,
        typer.Option(
            "--resample", help="How many connections to remove, one at a time, computing the memberships anew."
        ),
    ] = _RESAMPLE,
    attack: Annotated[
        bool,
        typer.Option(
            "--attack", help="Instead, how many connections one fixed attacker would find with each mechanism."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the owner what a release would cost single connections, and which mechanism fits; nothing is spent.

    Example: pcneo audit -e 1.0 -k 3
    """
    from pcneo.release import GraphRequest
    from pcneo.release.audit import attack as attack_graph
    from pcneo.release.audit import audit as audit_graph
    from pcneo.release.choice import read_parameters

    request = GraphRequest(
        mechanism=mechanism or "critical",
        k=k,
        epsilon=epsilon,
        delta=delta,
        epsilon_1=epsilon_1,
        h=h,
        graph=graph,
        p=p,
        search=search,
        run=run,
    )
    if attack:
        if mechanism is not None or resample != _RESAMPLE:
            raise typer.BadParameter(
                "The attack takes every mechanism; leave --mechanism and --resample out.", param_hint="--attack"
            )
        with connected() as db, Bars() as bars:
            result = attack_graph(db, request=request, progress=bars)
        if as_json:
            print_json(result)
        else:
            _print_attack(result)
        return
    read_parameters(request)
    if mechanism is None:
        note("Auditing critical, the default; --mechanism modelled, total, edge, elv or published audits another.")
    with connected() as db, Bars() as bars:
        result = audit_graph(db, request=request, resample=resample, progress=bars)
    with connected() as db, Bars() as bars:
        result = audit_graph(db, request=request, resample=resample, progress=bars)
    if as_json:
        print_json(result)
    else:
        _print(result)


def _print_attack(result: AttackResult) -> None:
    say(result.notice)
    say("")
    rests = f", run {result.run} (p={result.p})" if result.run else ""
    threshold = "" if result.threshold is None else f"; ln(n/d) is {result.threshold:.1f}"
    say(
        f"k={result.k}, ε={result.epsilon:g}, on {result.graph}{rests}: {result.vertices:,} vertices, "
        f"{result.connections:,} connections{threshold}."
    )
    rows = [
        (
            attacked.mechanism,
            *map(_percent, (attacked.share, attacked.with_groups)),
            attacked.error,
            attacked.refused or "",
        )
        for attacked in result.attacked
    ]
    columns = ["mechanism", "connections found", "with the groups", "mean error of a count", "refused"]
    print_table(columns, rows, f"Of its {result.connections:,} best pairs; mean of {result.draws:,} simulated releases")
    exact = result.exact
    say(
        f"Without a release: guessing {_percent(exact.guessing)}, exact degrees {_percent(exact.degrees)}, exact "
        f"counts {_percent(exact.counts)}."
    )
    say(result.meaning)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _print(result: AuditResult) -> None:
    from pcneo.privacy.exact import decimal_text

    say(result.notice)
    say("")
    rests = f", run {result.run} (p={result.p}, search {result.search})" if result.run else ""
    delta = decimal_text(Fraction(str(result.delta)))
    say(f"{result.mechanism}, k={result.k}, ε={result.epsilon:g}, δ={delta}, on {result.graph}{rests}")
    say(result.promise)
    if result.covered is not None:
        share = f", {result.protected:.3%} of all pairs of vertices" if result.protected is not None else ""
        say(f"Inside groups: {result.covered:.1%} of the connections{share}.")
    if result.exact:
        say(f"Counts that no pair inside a group can change, published exactly: {result.exact:,}.")
    if result.scales is not None:
        low, middle, high = (float(scale) for scale in (result.scales.low, result.scales.median, result.scales.high))
        say(
            f"Scale λ in {result.scales.phases:,} simulations: {rounded(low)}, {rounded(middle)}, {rounded(high)} "
            "(5, 50, 95 %); losses are at the median, and leave out what finding λ costs."
        )
    kinds = [("pairs inside groups", result.inside), ("connections", result.connections)]
    shown = [(name, losses) for name, losses in kinds if losses is not None]
    _print_losses(shown, with_largest=result.scales is not None)
    for name, losses in shown:
        rows = [(*pair.pair, pair.connected, _number(pair.loss)) for pair in losses.worst]
        if rows:
            print_table(["a", "b", "connected", "loss"], rows, f"Costliest {name}", names=["a", "b"])
    if result.removals is not None:
        _print_removals(result.removals)
    say("")
    say(result.advice)


def _print_losses(kinds: Sequence[tuple[str, Losses]], *, with_largest: bool) -> None:
    columns = ["loss of", "pairs", "promised", "50 %", "90 %", "99 %", "largest"]
    rows: list[list[Any]] = []
    for name, losses in kinds:
        promised = "nothing" if losses.promised is None else _number(losses.promised)
        row = [name, f"{losses.pairs:,}", promised, *map(_number, losses.quantiles)]
        if losses.largest is not None:
            row.append(", ".join(map(_number, losses.largest)))
        rows.append(row)
    print_table([*columns, "largest at 5, 50, 95 %"] if with_largest else columns, rows)


def _print_removals(removals: Removals) -> None:
    say(
        f"{len(removals.removed):,} of {removals.connections:,} connections removed, each alone, drawn with seed "
        f"{removals.seed}, in {removals.seconds:,.1f} s; {_number(removals.promised)} is promised if groups stay, "
        "which they need not here."
    )
    rows = [
        (
            *removal.pair,
            removal.inside,
            removal.groups,
            removal.scales,
            "" if removal.mean is None else _number(removal.mean),
            _number(removal.worst),
        )
        for removal in removals.removed
    ]
    print_table(["a", "b", "inside", "groups changed", "scales changed", "mean", "worst"], rows, names=["a", "b"])
    say(removals.meaning)


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else rounded(value)
