"""`pcneo budget set | show | forget | mend | same | apart`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.exact_numbers import exact_number
from pcneo.basics.frames import counted
from pcneo.basics.json_form import camel
from pcneo.basics.visible import csv_row
from pcneo.cli.console import connected, note_kept, print_json, print_table, without_empty
from pcneo.cli.help_text import Command, Group
from pcneo.cli.options import Json, complete_graphs, refuse
from pcneo.cli.streams import note, say
from pcneo.errors import BudgetError, ParameterError

if TYPE_CHECKING:
    from pcneo.privacy.account import Account
    from pcneo.release.budget import GraphBudget
    from pcneo.store.ledger_records import BudgetRecord, ReleaseRecord


app = typer.Typer(
    cls=Group,
    help="What a graph's releases may spend, and what they have spent.\n\n"
    "Example: pcneo budget set friends --epsilon 3",
    no_args_is_help=True,
)
Graph = Annotated[
    str,
    typer.Argument(
        help="The graph's name, as `pcneo runs` shows it.", autocompletion=complete_graphs, show_default=False
    ),
]


@app.command("set", cls=Command)
def set_budget(
    graph: Graph,
    epsilon: Annotated[str, typer.Option("--epsilon", help="Total ε.")],
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta", help="Total δ; modelled, total, edge and elv need some.", show_default="as before, or 0"
        ),
    ] = None,
) -> None:
    """Set a graph's total; raising it later is recorded in the ledger.

    Example: pcneo budget set friends --epsilon 3 --delta 1e-5
    """
    from pcneo.privacy.composition import fits
    from pcneo.release.budget import parse_total, set_total

    wanted = parse_total(epsilon, delta)
    with connected() as db:
        account = set_total(db, graph=graph, epsilon=wanted.epsilon, delta=None if delta is None else wanted.delta)
    say(_title(graph, account))
    if account.total is not None and not fits(account.bounded, account.total):
        note("More than that has already been spent; every release will be refused until you raise the total.")
    if account.total is not None and not account.total.delta:
        note(
            "`modelled`, `total`, `edge` and `elv` need some δ, so none of them can be released with δ = 0; --delta "
            "sets it, such as --delta 1e-5."
        )


@app.command("show", cls=Command)
def show_budget(
    graph: Annotated[
        str | None, typer.Argument(help="One graph.", show_default="all of them", autocompletion=complete_graphs)
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print every total and release as CSV, with everything that is recorded.")
    ] = False,
) -> None:
    """Show every total with its date and who set it, and what was spent, release by release.

    Example: pcneo budget show
    """
    from pcneo.release.budget import how_to_mend, show

    if as_json:
        refuse({"--csv": as_csv}, "Both are formats; give one of them.")
    with connected() as db:
        budgets = show(db, graph=graph)
    if as_json:
        print_json(list(map(_plain, budgets)))
    elif as_csv:
        _print_csv(budgets)
    else:
        _print_budgets(budgets)
    damaged = {record: how_to_mend(record, budget.graph) for budget in budgets for record in budget.damaged}
    for record, what in damaged.items():
        note(f"Counted neither as spent nor as a total: {record} {what}")
    if damaged:
        raise typer.Exit(BudgetError.exit_code)


def _print_budgets(budgets: list[GraphBudget]) -> None:
    from pcneo.privacy.plain_words import of_all
    from pcneo.release.budget import recorded_cost

    if not budgets:
        say("No graph has a total or a release; `pcneo budget set` sets a total.")
    for budget in budgets:
        account = budget.account
        title = _title(budget.graph, account, unread=len(budget.damaged))
        if budget.releases:
            say(title)
            print_table(*without_empty(list(map(_row, budget.releases))), names=["k"])
        else:
            say(f"{title}; nothing released yet")
        for record in budget.totals:
            say(f"  {record.at:%Y-%m-%d}, {record.who or 'unknown'}: total set to {recorded_cost(record)}")
        if any(release.answers not in (None, release.id) for release in budget.releases):
            say("  A release from the answers of an earlier one costs only what it adds, which can be ε = 0.")
        if budget.lost:
            say("  pcneo no longer knows this graph; what it spent still counts against every graph with its data.")
        is_one_sum = len(account.sets) < 2 and not budget.damaged
        if is_one_sum and (means := of_all(account.spent, only_groups=bool(account.sets))):
            say(f"  {means}")
        for line in _sets_lines(account):
            say(f"  {line}")
        for entry in budget.notes:
            say(f"  {entry.at:%Y-%m-%d}, {entry.who}: {entry.what}")
    note(
        "The ledger is bookkeeping for an honest owner: anyone who restores a backup or may delete nodes can undo it. "
        "Do not publish it."
    )


def _title(graph: str, account: Account, *, unread: int = 0) -> str:
    total = f"{graph}: total {account.total or 'not set'}, spent"
    if unread:
        return f"{total} {account.spent} and what is in records that cannot be read ({unread:,})"
    return f"{total} {account.spent}{'' if account.left is None else f', left {account.left}'}"


_WIDE = 20  # characters of a name, so that a line with all columns fits 80


def _row(r: ReleaseRecord) -> dict[str, object]:
    from pcneo.privacy.exact import decimal_text

    delta = exact_number(r.delta)
    return {
        "date": f"{r.at:%Y-%m-%d}",
        "mechanism": r.mechanism,
        "k": r.k,
        "ε": decimal_text(exact_number(r.epsilon)),
        "δ": decimal_text(delta) if delta else None,
        "who": _short(r.who, _WIDE // 2),
        "file": _short(r.file or r.id, _WIDE),
    }


def _short(text: str | None, most: int) -> str | None:
    """Return a name cut to the room there is; its end is kept, because the end of a file's name says most."""
    return text if text is None or len(text) <= most else f"…{text[1 - most :]}"


def _print_csv(budgets: list[GraphBudget]) -> None:
    rows = [
        {"record": kind, **_with_numbers(record)}
        for budget in budgets
        for kind, records in (("total", budget.totals), ("release", budget.releases))
        for record in records
    ]
    columns = list(dict.fromkeys(name for row in reversed(rows) for name in row)) or ["record", "graph"]
    say("\n".join(map(csv_row, [columns, *([_cell(row.get(name)) for name in columns] for row in rows)])))


def _cell(value: object) -> object:
    """Return a value for a cell; several, such as labels, are put into one."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else value


def _sets_lines(account: Account) -> list[str]:
    """Say which pairs the sum above is for, if not for all: some releases protect only pairs inside groups."""
    if not account.sets:
        return []
    if len(account.sets) == 1:
        return [
            "The sum is what a pair inside the groups has spent; releases with groups do not protect a pair outside "
            "them."
        ]
    return [
        *(f"a pair inside the groups of set {digest[:12]} only: {cost}" for digest, cost in account.sets.items()),
        "A pair inside the groups of all sets spends the sum above; a pair outside the groups of one of them is not "
        "protected in that one, so nothing bounds what it has spent.",
    ]


def _plain(budget: GraphBudget) -> dict[str, object]:
    account = budget.account
    return {
        "graph": budget.graph,
        "total": account.total.plain if account.total else None,
        "spent": account.spent.plain,
        "left": account.left.plain if account.left and not budget.damaged else None,
        "lost": budget.lost,
        "sets": {digest: cost.plain for digest, cost in account.sets.items()},
        "totals": list(map(_with_numbers, budget.totals)),
        "releases": list(map(_with_numbers, budget.releases)),
        "damaged": [{"record": damaged.record, "why": damaged.why} for damaged in budget.damaged],
        "notes": budget.notes,
    }


def _with_numbers(record: BudgetRecord | ReleaseRecord) -> dict[str, object]:
    """Return a record with ε, ε1 and δ as numbers, and beside them as exact text."""
    from pcneo.privacy.exact import exact_text

    plain: dict[str, object] = {}
    for field in fields(record):
        name, value = camel(field.name), getattr(record, field.name)
        if field.name in ("epsilon", "epsilon_1", "delta"):
            plain[name] = None if value is None else float(exact_number(value))
            plain[f"{name}Exact"] = value and exact_text(exact_number(value))
        else:
            plain[name] = value
    return plain


@app.command("forget", cls=Command)
def forget_budget(graph: Graph) -> None:
    """Forget a graph's totals and releases, and remove properties that releases wrote; published files stay published.

    It asks for the name again; a script gives it on standard input.

    Example: pcneo budget forget friends
    """
    from pcneo.release.budget import forget, to_forget

    with connected() as db:
        note(
            f"The ledger will forget {to_forget(db, graph)}. Answers that were kept can then no longer be used, and "
            "what was spent no longer counts, although the files stay public."
        )
        forgotten = forget(db, graph=graph, again=typer.prompt("Type the graph's name again", err=True))
    say(f"forgot {counted(forgotten.records, 'record')} of {graph}")
    for name in forgotten.properties:
        say(f"removed the property {name} that a release had written")
    note_kept(forgotten.kept_properties)


@app.command("mend", cls=Command)
def mend_record(
    record: Annotated[str, typer.Argument(help="The damaged record, or `secret`, as `pcneo check` names it.")],
    graph: Graph,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", help="The ε that it spent or, for a total, that it allows.", show_default=False),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta",
            help="The δ that it spent or, for a total, that it allows.",
            show_default="its own, or 0 if that cannot be read",
        ),
    ] = None,
) -> None:
    """State what a damaged record of the ledger stands for; the ledger keeps a note of what it was.

    If the ledger's secret was deleted or changed, `secret` stores the keys of a graph with its releases again, so that
    they are recognised under another name.

    Example: pcneo budget mend 3f2a9c41d07b friends --epsilon 1
    """
    from pcneo.release.ledger_mending import mend, mend_secret

    is_secret = record == "secret"
    if is_secret != (epsilon is None) or (is_secret and delta is not None):
        said = "A record needs --epsilon; `secret` takes neither --epsilon nor --delta."
        raise ParameterError(said, name="epsilon", value=epsilon)
    with connected() as db:
        if epsilon is None:
            marked = mend_secret(db, graph=graph)
            stored = f"stored the keys of {graph} with {counted(marked, 'release')}"
            say(stored if marked else "there was nothing to mend")
        else:
            mend(db, record=record, graph=graph, epsilon=epsilon, delta=delta)
            say(f"mended {record}, of {graph}")


@app.command("same", cls=Command)
def same_graph(graph: Graph, known_as: Annotated[str, typer.Argument(help="The name that it had before.")]) -> None:
    """Declare that a graph had another name before: what was spent under that name counts for the graph.

    Example: pcneo budget same customers friends
    """
    from pcneo.release.ledger_mending import same

    with connected() as db:
        account = same(db, graph=graph, known_as=known_as)
    say(_title(graph, account))


@app.command("apart", cls=Command)
def apart_graphs(graph: Graph, other: Annotated[str, typer.Argument(help="The other graph's name.")]) -> None:
    """Declare that two names stand for different graphs, each with its own budget.

    Example: pcneo budget apart customers friends
    """
    from pcneo.release.ledger_mending import apart

    with connected() as db:
        apart(db, graph=graph, other=other)
    say(f"{graph} and {other} are different graphs")
