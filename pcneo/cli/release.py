"""`pcneo release` and `pcneo budget`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pcneo.cli.annotate import Json, NodeLabels, RelationshipTypes
from pcneo.cli.console import Bars, connected, note, print_json, print_table
from pcneo.errors import PcneoError

if TYPE_CHECKING:
    from pcneo.privacy.account import Account
    from pcneo.release import Prepared, Released, ReleaseRequest
    from pcneo.release.budget import GraphBudget

__all__ = [
    "CloserBounds",
    "Delta",
    "EpsilonOne",
    "GraphName",
    "RunName",
    "RunP",
    "RunScore",
    "budget",
    "release",
]

budget = typer.Typer(
    help="What a graph's releases may spend, and have spent.\n\nExample: pcneo budget set --graph friends --epsilon 3",
    no_args_is_help=True,
)
Graph = Annotated[str, typer.Option("--graph", help="The graph's name, as `pcneo runs` shows it.")]
RunName = Annotated[str | None, typer.Option("--run", help="The run with the groups, or latest.")]
GraphName = Annotated[str | None, typer.Option("--graph", help="The graph, where more than one fits.")]
RunP = Annotated[str | None, typer.Option("-p", help="The run's p, where more than one fits.")]
RunScore = Annotated[str | None, typer.Option("--score", help="The run's score, where more than one fits.")]
Delta = Annotated[
    str | None, typer.Option("--delta", help="δ of edge, elv and published.", show_default="min(1e-6, 1/n²)")
]
EpsilonOne = Annotated[
    str | None, typer.Option("--epsilon-1", help="The part of ε that finds the noise level.", show_default="ε/10")
]
CloserBounds = Annotated[
    int | None,
    typer.Option("--h", help="How many vertices elv and published ask for a closer bound.", show_default="3"),
]


def release(
    to: Annotated[Path | None, typer.Option("--to", help="The public file, .csv or .json.")] = None,
    epsilon: Annotated[
        list[str] | None, typer.Option("-e", "--epsilon", help="ε; several for several releases.")
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", help="Vertices of the cliques; several for several releases.", show_default="3"),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", help="critical, edge, elv or published.", show_default="critical")
    ] = None,
    run: RunName = None,
    graph: GraphName = None,
    p: RunP = None,
    score: RunScore = None,
    delta: Delta = None,
    epsilon_1: EpsilonOne = None,
    h: CloserBounds = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            help="CSV file with a header, one release a row. Columns: to, epsilon, and any of mechanism, k, delta, "
            "epsilon_1, h, graph, p, score, run.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="The owner's report, .md; beside the file.")] = None,
    budget_epsilon: Annotated[
        str | None,
        typer.Option("--budget-epsilon", help="Set the graph's total ε in the same call; total δ is what it spends."),
    ] = None,
    other_groups: Annotated[
        bool, typer.Option("--other-groups", help="Admit groups other than those of earlier releases; costs add up.")
    ] = False,
    no_promise: Annotated[bool, typer.Option("--no-promise", help="Admit published, which promises nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Stop before anything is spent.")] = False,
    write_property: Annotated[
        str | None, typer.Option("--write-property", help="Also write the noisy counts to this property.")
    ] = None,
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[str | None, typer.Option("--key", help="Key of a graph without a run.")] = None,
    as_json: Json = False,
) -> None:
    """Release noisy local k-clique counts; the mechanism's promise is printed with them.

    Several -k and -e are released together; then --to is a name to which k and ε are added.

    Example: pcneo release -k 3 -e 1.0 --to counts.csv --budget-epsilon 3
    """
    from pcneo.release import GraphNames, ReleaseRequest, Terms, read_batch
    from pcneo.release import release as release_counts

    if batch is not None:
        _refuse_beside_batch(
            {
                "to": to,
                "epsilon": epsilon,
                "k": k,
                "mechanism": mechanism,
                "delta": delta,
                "epsilon_1": epsilon_1,
                "h": h,
                "graph": graph,
                "p": p,
                "score": score,
                "run": run,
                "report": report,
            }
        )
        requests = read_batch(batch)
    elif to is None or not epsilon:
        raise typer.BadParameter("Name the public file and at least one ε.", param_hint="--to, -e")
    else:
        request = ReleaseRequest(
            to=to,
            mechanism=mechanism or ReleaseRequest.mechanism,
            delta=delta,
            epsilon_1=epsilon_1,
            h=h,
            graph=graph,
            p=p,
            score=score,
            run=run,
            report=report,
        )
        requests = _each(request, k or [ReleaseRequest.k], epsilon)
    terms = Terms(
        budget_epsilon=budget_epsilon,
        other_groups=other_groups,
        no_promise=no_promise,
        dry_run=dry_run,
        write_property=write_property,
    )
    try:
        with connected() as (driver, database), Bars() as bars:
            prepared, released = release_counts(
                driver,
                database,
                requests=requests,
                names=GraphNames(node_label or (), relationship_type or (), key),
                terms=terms,
                retry=partial(_ask_again, bars) if sys.stdin.isatty() else None,
                progress=bars,
            )
    except PcneoError as error:
        if made := error.data.get("released"):
            _print_released(cast("list[Released]", made), as_json)
        raise
    if dry_run:
        _print_prepared(prepared, as_json)
    else:
        _print_released(released, as_json)


def _print_released(released: list[Released], as_json: bool) -> None:
    if as_json:
        print_json(released)
        return
    for release in released:
        print(f"{release.public}: noisy total {release.total:,.2f}")
        print(f"  {release.promise}")
        note(f"For you alone: {release.reports[0]} and {release.reports[1].name}")


def _refuse_beside_batch(options: Mapping[str, object]) -> None:
    """Refuse what the batch file says: an option that is dropped looks as if it had been heeded."""
    given = [name.replace("_", "-") for name, value in options.items() if value not in (None, [])]
    if given:
        named = ", ".join(f"-{name}" if name in ("k", "p") else f"--{name}" for name in given)
        raise typer.BadParameter(
            f"The file says what is released, how, and where to; leave {named} out.", param_hint="--batch"
        )


def _each(request: ReleaseRequest, ks: list[int], epsilons: list[str]) -> list[ReleaseRequest]:
    """Each k with each ε."""
    pairs = [(k, epsilon) for k in ks for epsilon in epsilons]
    if request.report is not None and len(pairs) > 1:
        raise typer.BadParameter("One report is for one release; leave it out.", param_hint="--report")
    return [
        replace(request, to=request.to if len(pairs) == 1 else _numbered(request.to, k, epsilon), k=k, epsilon=epsilon)
        for k, epsilon in pairs
    ]


def _numbered(to: Path, k: int, epsilon: str) -> Path:
    """`counts.csv` as `counts-k3-e0.5.csv`, and a fraction's stroke as a low line."""
    return to.with_name(f"{to.stem}-k{k}-e{epsilon.replace('/', '_')}{to.suffix}")


def _ask_again(bars: Bars, error: PcneoError) -> bool:
    """Whether to try a failed write again; the numbers stay the same, and are lost when this process ends."""
    bars.rest()
    try:
        return typer.confirm(f"{error} The spend stays recorded. Try again with the same numbers?", err=True)
    except typer.Abort:  # other releases are still to be written, and what became of this one is still to be said
        return False


def _print_prepared(prepared: list[Prepared], as_json: bool) -> None:
    """What may be said before anything is spent; the last four columns follow from groups, for the owner alone."""
    from pcneo.release import DIFFERENT_PROMISES

    rows = [
        {
            "mechanism": release.mechanism.name,
            "k": release.mechanism.k,
            "epsilon": str(release.mechanism.epsilon),
            "delta": str(release.spend.delta),
            "run": release.run.id if release.run else None,
            "leastScale": release.utility.least_scale,
            "usualScale": release.utility.usual_scale,
            "standardErrorAtUsualScale": release.utility.usual_standard_error,
            "standardErrorOfTotal": release.utility.standard_error,
            "standardErrorWithEdge": release.utility.with_edge,
            "exactCounts": release.utility.exact_counts,
            "exactSupports": release.utility.exact_supports,
        }
        for release in prepared
    ]
    note(f"Nothing was spent. The figures are for the owner alone. {DIFFERENT_PROMISES}")
    if as_json:
        print_json(rows)
    elif rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])


@budget.command("set")
def set_budget(
    graph: Graph,
    epsilon: Annotated[str, typer.Option("--epsilon", help="Total ε.")],
    delta: Annotated[
        str | None, typer.Option("--delta", help="Total δ; edge and elv need some.", show_default="as before, or 0")
    ] = None,
) -> None:
    """Set a graph's total; raising it later is an event in the ledger.

    Example: pcneo budget set --graph friends --epsilon 3 --delta 1e-5
    """
    from pcneo.release.budget import set_total

    with connected() as (driver, database):
        account = set_total(driver, database, graph=graph, epsilon=epsilon, delta=delta)
    print(f"{graph}: total {account.total}, spent {account.spent}")


@budget.command("show")
def show_budget(
    graph: Annotated[str | None, typer.Option("--graph", help="One graph.", show_default="all of them")] = None,
    as_json: Json = False,
) -> None:
    """Show totals and what was spent, release by release.

    Example: pcneo budget show
    """
    from pcneo.release.budget import show

    with connected() as (driver, database):
        budgets = show(driver, database, graph=graph)
    if as_json:
        print_json([_plain_budget(each) for each in budgets])
        return
    for each in budgets:
        account = each.account
        print_table(
            ["release", "when", "who", "mechanism", "k", "epsilon", "epsilon 1", "delta", "h", "run"],
            [(r.id, r.at, r.who, r.mechanism, r.k, r.epsilon, r.epsilon_1, r.delta, r.h, r.run) for r in each.releases],
            f"{each.graph}: total {account.total or 'not set'}, spent {account.spent}",
        )
        for line in _sets_lines(account):
            print(f"  {line}")
    note("The ledger is bookkeeping for an honest owner: restoring a backup of the database undoes it.")


def _sets_lines(account: Account) -> list[str]:
    """Whom the sum above is for, where it is not for every pair: `critical` protects pairs inside groups alone."""
    if not account.sets:
        return []
    if len(account.sets) == 1:
        return ["The sum is that of a pair inside the groups; critical does not protect a pair outside them."]
    return [
        *(f"a pair inside the groups of set {digest[:12]} alone: {cost}" for digest, cost in account.sets.items()),
        "A pair inside the groups of several sets spends their sum, with releases of other mechanisms in it once; "
        "a pair outside the groups of one of them is not protected in that one.",
    ]


def _plain_budget(budget: GraphBudget) -> dict[str, object]:
    account = budget.account
    return {
        "graph": budget.graph,
        "total": str(account.total) if account.total else None,
        "spent": str(account.spent),
        "sets": {digest: str(cost) for digest, cost in account.sets.items()},
        "totals": budget.totals,
        "releases": budget.releases,
    }


@budget.command("forget")
def forget_budget(
    graph: Graph,
    again: Annotated[str, typer.Option("--again", prompt="Type the graph's name again", help="The name again.")],
) -> None:
    """Forget a graph's totals and releases, and remove properties that these wrote; published files stay published.

    Example: pcneo budget forget --graph friends
    """
    from pcneo.release.budget import forget

    with connected() as (driver, database):
        forgotten = forget(driver, database, graph=graph, again=again)
    print(f"forgot {forgotten.records} records of {graph}")
    for name in forgotten.properties:
        print(f"removed the property {name} that a release had written")
    for name in forgotten.kept_properties:
        note(f"The property {name} stays: not all of its values are those of a release any more.")
