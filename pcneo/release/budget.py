"""The budget's use cases: set a graph's total, show what its releases have spent, forget both (GUARANTEE.md#budget).

The ledger lies in the same database as the graph. It is bookkeeping for an honest owner, who could restore a backup.
"""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, ParameterError
from pcneo.privacy.account import Account, Spend
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import fraction_text, positive
from pcneo.privacy.protection import Protects
from pcneo.store.chosen_graph import find_graph
from pcneo.store.count_property import remove_properties
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import (
    BudgetRecord,
    LedgerGateway,
    LedgerRecords,
    ReleaseRecord,
    ShareNodes,
    create_budget,
    delete_ledger,
    read_ledger,
)
from pcneo.store.lock import GraphLock
from pcneo.store.schema import OWN_SCHEMA

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Forgotten", "GraphBudget", "forget", "set_total", "show"]


@dataclass(frozen=True)
class GraphBudget:
    """The ledger of one graph, for a person.

    Attributes:
        graph: its name.
        account: total and spends.
        totals: every total that was set, oldest first.
        releases: every release, oldest first.
        lost: whether its own node is gone from the database; what was spent stands against every graph of its data.
    """

    graph: str
    account: Account
    totals: tuple[BudgetRecord, ...]
    releases: tuple[ReleaseRecord, ...]
    lost: bool = False


@dataclass(frozen=True)
class Forgotten:
    """What `forget` deleted of one graph.

    Attributes:
        records: how many totals and releases were deleted from the ledger.
        properties: those removed from the vertices: without the ledger, nothing says that a release wrote them.
        kept_properties: those left alone, because somebody else has changed some of their values.
    """

    records: int
    properties: tuple[str, ...]
    kept_properties: tuple[str, ...]


DAMAGED = "No pcneo writes that: somebody has changed the ledger, and nothing is released until that is put right."


def user() -> str:
    """Return the name of the operating system's user, for the record; `unknown` where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def parse_total(epsilon: object, delta: object | None) -> Cost:
    """Return a total from what a person wrote; without δ it is 0, which admits only mechanisms that have none.

    Raises:
        ParameterError: ε is not positive and finite, or δ not below 1.
    """
    total_delta = Fraction(0) if delta is None else positive(delta, "delta", below=1, or_zero=True)
    return Cost(positive(epsilon, "epsilon"), total_delta)


def account_of(ledger: LedgerRecords, graph: str) -> Account:
    """Return the account of one graph."""
    totals = [budget for budget in ledger.budgets if budget.graph == graph]
    total = _recorded_cost(totals[-1], f"The last total of graph {graph!r}") if totals else None
    return Account(graph, total, tuple(_spend(release) for release in ledger.releases if release.graph == graph))


def _spend(release: ReleaseRecord) -> Spend:
    cost = _recorded_cost(release, f"Release {release.id}")
    spend = Spend(release.mechanism, cost.epsilon or Fraction(0), cost.delta, release.membership_hash)
    if spend.protects is Protects.PAIRS_INSIDE_GROUPS and release.membership_hash is None:
        raise BudgetError(f"Release {release.id} does not say on which groups it rests. {DAMAGED}", graph=release.graph)
    return spend


def _recorded_cost(record: BudgetRecord | ReleaseRecord, what: str) -> Cost:
    """Read ε and δ of a record as somebody must who is not sure that pcneo alone has written it."""
    try:
        epsilon, delta = Fraction(record.epsilon), Fraction(record.delta)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise BudgetError(f"{what} has no number for ε or δ. {DAMAGED}", graph=record.graph) from error
    if epsilon < 0 or not 0 <= delta < 1:
        raise BudgetError(f"{what} has ε = {epsilon} and δ = {delta}. {DAMAGED}", graph=record.graph)
    return Cost(epsilon, delta)


def check_sole_names(ledger: LedgerRecords, graphs: Sequence[GraphRecord]) -> None:
    """Refuse a ledger to a second name over the same data: with two totals, neither would protect it.

    Two names have the same data where they share a relationship type, and a label or two nodes that carry a label of
    each. A graph whose own node somebody has deleted is known by its releases; those of pcneo 0.2.0 and before do not
    say which labels and types it had, and stand against every other name.

    Args:
        ledger: as it stands.
        graphs: those that are to have a total or a release, all of them together.

    Raises:
        BudgetError: another such graph has a total or a release, or is to have one, or had one.
    """
    used = {record.graph for record in (*ledger.budgets, *ledger.releases)} | {graph.name for graph in graphs}
    known = {graph.name: graph for graph in (*graphs, *ledger.graphs)}
    for graph in graphs:
        for other in known.values():
            if other.name != graph.name and other.name in used and _share_data(graph, other, ledger.share_nodes):
                raise BudgetError(
                    f"Graph {graph.name!r} shares data with graph {other.name!r}, and one name alone can have a budget "
                    f"and releases. Use one of them, --graph {shlex.quote(other.name)}.",
                    graph=graph.name,
                    other=other.name,
                )
        for release in ledger.lost:
            lost = _lost_graph(release)
            if release.graph not in known and (lost is None or _share_data(graph, lost, ledger.share_nodes)):
                raise BudgetError(
                    f"Graph {release.graph!r}, of which release {release.id} was made, is gone from the database, and "
                    f"{'may have had' if lost is None else 'had'} data of graph {graph.name!r}. What it has spent "
                    f"stays spent: go on under its name, --graph {shlex.quote(release.graph)}.",
                    graph=graph.name,
                    other=release.graph,
                )


def _lost_graph(release: ReleaseRecord) -> GraphRecord | None:
    """Return the graph of a release whose own node is gone; None where the release does not say what it was."""
    if release.node_labels is None or release.relationship_types is None:
        return None
    return GraphRecord(release.graph, Selection(release.node_labels, release.relationship_types, ""), "")


def _share_data(graph: GraphRecord, other: GraphRecord, share_nodes: ShareNodes) -> bool:
    first, second = graph.selection, other.selection
    if not set(first.relationship_types) & set(second.relationship_types):
        return False
    return bool(set(first.node_labels) & set(second.node_labels)) or share_nodes(first, second)


@contextmanager
def ledger_locked(gateway: LedgerGateway, graphs: Sequence[GraphRecord]) -> Iterator[dict[str, GraphLock]]:
    """Hold the locks of graphs and of every other name over their data; yields the locks by name.

    Raises:
        BusyError: somebody is writing one of them.
        NotFoundError: one of the graphs is gone.
    """
    # [ledger-lock] Whoever adds to a ledger holds all names that `check_sole_names` compares.
    names = {
        other.name
        for other in gateway.list_graphs()
        for graph in graphs
        if _share_data(other, graph, gateway.share_nodes)
    }
    names |= {graph.name for graph in graphs}  # a graph that the database has lost too: locking it says so
    with ExitStack() as stack:
        # Everybody locks in the same order, so no two processes wait for each other.
        yield {name: stack.enter_context(GraphLock(gateway, name)) for name in sorted(names)}


def set_total(
    driver: Driver, database: str | None = None, *, graph: str, epsilon: object, delta: object | None = None
) -> Account:
    """Set a graph's total (ε, δ). Setting it again, even higher, is recorded in the ledger.

    A total below what is spent already admits no further release.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        graph: the graph's name.
        epsilon: ε, a number or its text.
        delta: δ likewise; None keeps the present δ, 0 at first.

    Returns:
        The graph's account with the new total.

    Raises:
        ParameterError: ε or δ is out of range.
        NotFoundError: there is no such graph.
        BudgetError: the graph shares data with another graph that has a ledger.
        BusyError: another writer holds the graph.
    """
    wanted = parse_total(epsilon, delta)
    gateway = LedgerGateway(driver, database)
    record = find_graph(gateway, graph)
    gateway.ensure_schema(OWN_SCHEMA)
    with ledger_locked(gateway, [record]) as locks, locks[graph].last_writes() as transaction:
        ledger = read_ledger(transaction)
        check_sole_names(ledger, [record])
        account = account_of(ledger, graph)
        total = Cost(wanted.epsilon, account.total.delta) if delta is None and account.total else wanted
        create_budget(transaction, graph, *total_texts(total), user())
    return replace(account, total=total)


def total_texts(total: Cost) -> tuple[str, str]:
    """Return ε and δ of a total as they are stored."""
    if total.epsilon is None:
        raise ParameterError("A total is a number.", name="epsilon", value=None)
    return fraction_text(total.epsilon), fraction_text(total.delta)


def show(driver: Driver, database: str | None = None, *, graph: str | None = None) -> list[GraphBudget]:
    """Return the ledger of one graph, or of every graph that pcneo knows or has made releases of, by name.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        graph: the graph's name; None for all.

    Raises:
        NotFoundError: there is no such graph.
    """
    gateway = LedgerGateway(driver, database)
    ledger = gateway.list_ledger()
    lost = sorted({release.graph for release in ledger.lost})
    if graph is None:
        names = [*(known.name for known in ledger.graphs), *lost]
    else:
        names = [graph if graph in lost else find_graph(gateway, graph).name]
    return [
        GraphBudget(
            name,
            account_of(ledger, name),
            tuple(budget for budget in ledger.budgets if budget.graph == name),
            tuple(release for release in ledger.releases if release.graph == name),
            name in lost,
        )
        for name in names
    ]


def forget(driver: Driver, database: str | None = None, *, graph: str, again: str) -> Forgotten:
    """Delete the totals and releases of one graph from the ledger, and the properties that these releases wrote.

    Published files stay published.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        graph: the graph's name.
        again: the same name, typed a second time.

    Raises:
        ParameterError: the two names differ.
        NotFoundError: there is no such graph.
        BusyError: another writer holds the graph.
    """
    if graph != again:
        raise ParameterError(f"{again!r} is not {graph!r}; nothing was forgotten.", name="graph", value=again)
    gateway = LedgerGateway(driver, database)
    record = find_graph(gateway, graph)
    with GraphLock(gateway, graph) as lock:
        removed, kept = remove_properties(gateway, record)
        with lock.last_writes() as transaction:
            records = delete_ledger(transaction, graph)
    return Forgotten(records, tuple(removed), tuple(kept))
