"""The spend: checked against the ledger and recorded in one transaction under the graph's lock (GUARANTEE.md#budget).

Noise is drawn after that transaction and never before; after a crash in between the spend stays, the numbers are lost.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pcneo.config import __version__
from pcneo.errors import BudgetError, BusyError, DatabaseError
from pcneo.privacy.account import Account, Spend, bounded_cost, check_spends, missing_total
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import fraction_text
from pcneo.privacy.mechanisms import Critical, Elv, Published
from pcneo.release.budget import account_of, check_sole_names, ledger_locked, total_texts, user
from pcneo.release.choice import Chosen, spend_of
from pcneo.release.prepared import Prepared
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway, LedgerRecords, create_budget, create_release, read_ledger
from pcneo.store.transaction import Row, Transaction

__all__ = ["Terms", "check_early", "enter", "spend"]

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class Terms:
    """What the owner says about the budget.

    Attributes:
        budget_epsilon: the total ε to set where none is; None to set none.
        other_groups: admit a set of memberships other than that of earlier `critical` releases.
        no_promise: admit `published`, which promises nothing.
        dry_run: nothing will be spent: a total that is missing is said and not refused.
    """

    budget_epsilon: Cost | None
    other_groups: bool
    no_promise: bool
    dry_run: bool


def check_early(gateway: LedgerGateway, chosen: Sequence[Chosen], terms: Terms) -> None:
    """Refuse, before anything is read, what the ledger does not admit as it stands; `spend` decides, under the lock.

    Raises:
        BudgetError: says which rule stands against it.
    """
    spends: dict[str, list[Spend]] = {}
    for one in chosen:
        spends.setdefault(one.graph.name, []).append(spend_of(one.mechanism, one.run))
    _admit(gateway.list_ledger(), [one.graph for one in chosen], spends, terms)


def enter(gateway: LedgerGateway, prepared: Sequence[Prepared]) -> None:
    """Make the graphs known that pcneo does not know yet, so that they can be locked.

    Raises:
        BusyError: another process has just entered one.
    """
    for graph in {one.graph.name: one.graph for one in prepared}.values():
        stored = gateway.merge_graph(graph.name, graph.selection, graph.fingerprint_key)
        if stored.fingerprint_key != graph.fingerprint_key:
            raise BusyError(f"Another pcneo has just entered graph {graph.name!r}. Try again.", graph=graph.name)


def spend(gateway: LedgerGateway, prepared: Sequence[Prepared], terms: Terms) -> dict[str, Account]:
    """Record all releases, or none where the ledger does not admit them; return the accounts with them, by graph.

    Those of one graph are recorded in one transaction. Where there are several graphs and the database fails between
    two commits, some may be recorded and others not; no noise is drawn for any.

    Raises:
        BudgetError: says which rule stands against it; nothing was spent.
        BusyError: somebody is writing one of the graphs; nothing was spent.
        DatabaseError: the database failed; what was recorded then stays.
    """
    graphs = list({one.graph.name: one.graph for one in prepared}.values())
    spends = {graph.name: [one.spend for one in prepared if one.graph.name == graph.name] for graph in graphs}
    try:
        with ledger_locked(gateway, graphs) as locks, ExitStack() as commits:
            writing = {name: commits.enter_context(locks[name].last_writes()) for name in spends}
            # [spend-under-lock] What is read here nobody can add to before this transaction ends.
            ledger = read_ledger(next(iter(writing.values())))
            totals = _admit(ledger, graphs, spends, terms)
            for name, transaction in writing.items():
                _record(transaction, [one for one in prepared if one.graph.name == name], totals.get(name))
    except DatabaseError as error:
        ids = ", ".join(one.id for one in prepared)
        raise DatabaseError(
            f"{error} No noise was drawn. Where `pcneo budget show` lists release {ids}, that spend is recorded and "
            "stays, and running the command again is a new spend.",
            **error.data,
        ) from error
    for one in prepared:
        log.info("recorded the spend of release %s: %s of graph %s", one.id, one.spend.cost, one.graph.name)
    accounts = {name: account_of(ledger, name) for name in spends}
    return {
        name: replace(account, total=totals.get(name, account.total), spends=(*account.spends, *spends[name]))
        for name, account in accounts.items()
    }


def _admit(
    ledger: LedgerRecords, graphs: Sequence[GraphRecord], spends: Mapping[str, Sequence[Spend]], terms: Terms
) -> dict[str, Cost]:
    """Check each graph's releases against its account; return the totals to set."""
    check_sole_names(ledger, graphs)
    totals: dict[str, Cost] = {}
    for name, asked in spends.items():
        account = replace(account_of(ledger, name), is_known=name in {graph.name for graph in ledger.graphs})
        wanted = bounded_cost(asked)
        if terms.budget_epsilon is not None:
            if account.total is not None:
                raise BudgetError(
                    f"Graph {name!r} has a total already, {account.total}. Leave --budget-epsilon out, or change the "
                    "total with `pcneo budget set`.",
                    graph=name,
                )
            totals[name] = Cost(terms.budget_epsilon.epsilon, wanted.delta)
            account = replace(account, total=totals[name])
        elif terms.dry_run and (missing := missing_total(account, asked)):
            log.info("%s", missing)
            account = replace(account, total=account.bounded + wanted)  # so that all other rules are tried
        check_spends(account, asked, other_groups=terms.other_groups, no_promise=terms.no_promise)
    return totals


def _record(transaction: Transaction, prepared: Sequence[Prepared], total: Cost | None) -> None:
    if total is not None:
        create_budget(transaction, prepared[0].graph.name, *total_texts(total), user())
    for one in prepared:
        create_release(transaction, _values(one))


def _values(one: Prepared) -> Row:
    mechanism, run = one.mechanism, one.run
    return {
        "release": one.id,
        "graph": one.graph.name,
        "run": run and run.id,
        "mechanism": mechanism.name,
        "k": mechanism.k,
        "p": run and run.p_text,
        "score": run and run.score,
        "epsilon": fraction_text(mechanism.epsilon),
        "epsilonOne": None if isinstance(mechanism, Critical) else fraction_text(mechanism.epsilon_1),
        "delta": fraction_text(one.spend.delta),
        "h": mechanism.h if isinstance(mechanism, Elv | Published) else None,
        "membershipHash": run and run.membership_hash,
        "who": user(),
        "version": __version__,
    }
