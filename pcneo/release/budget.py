"""The budget's use cases: set a graph's total, show what its releases have spent, forget both (GUARANTEE.md#budget).

The ledger lies in the same database as the graph. It is bookkeeping for an honest owner, who could restore a backup.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

from pcneo.basics.exact_numbers import exact_number
from pcneo.basics.frames import counted
from pcneo.basics.selection import Selection
from pcneo.basics.user import user
from pcneo.errors import BudgetError, ParameterError
from pcneo.privacy.account import Account, Spend
from pcneo.privacy.composition import Cost, compose
from pcneo.privacy.exact import fraction_text, positive, typed_text
from pcneo.privacy.mechanisms import protection_of
from pcneo.privacy.protection import Protects
from pcneo.store.chosen_graph import find_graph
from pcneo.store.count_property import remove_properties
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import create_budget, create_note, delete_ledger, list_ledger, read_ledger, share_nodes
from pcneo.store.ledger_records import (
    LARGEST_NUMBER,
    BudgetRecord,
    DamagedRecord,
    LedgerRecords,
    NoteRecord,
    ReleaseRecord,
    ShareNodes,
)
from pcneo.store.lock import GraphLock
from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.transaction import Transaction


@dataclass(frozen=True)
class GraphBudget:
    """The ledger of one graph, for a person.

    Attributes:
        graph: its name.
        account: total and spends, without those of damaged records.
        totals: every total that was set, oldest first.
        releases: every release, oldest first.
        damaged: records that belong, or may belong, to this graph, from which nothing can be computed.
        lost: whether its own node is gone from the database; what was spent counts against every graph with its data.
        notes: what its owner did to its ledger by hand, oldest first.
    """

    graph: str
    account: Account
    totals: tuple[BudgetRecord, ...]
    releases: tuple[ReleaseRecord, ...]
    damaged: tuple[DamagedRecord, ...]
    lost: bool
    notes: tuple[NoteRecord, ...]

    def __repr__(self) -> str:
        """Return one line; the fields have the rest."""
        damaged = f", {counted(len(self.damaged), 'damaged record')}" if self.damaged else ""
        return f"Budget of {self.graph!r}: {self.account.in_words()}, {counted(len(self.releases), 'release')}{damaged}"


@dataclass(frozen=True)
class Forgotten:
    """What `forget` deleted of one graph.

    Attributes:
        records: how many totals and releases were deleted from the ledger.
        properties: removed from the vertices: without the ledger, nothing shows that a release wrote them.
        kept_properties: left alone, because someone else has changed some of their values.
    """

    records: int
    properties: tuple[str, ...]
    kept_properties: tuple[str, ...]


def parse_total(epsilon: object, delta: object | None) -> Cost:
    """Return a total from what a person wrote; δ is 0 by default, which admits only mechanisms without δ."""
    total_delta = Fraction(0) if delta is None else positive(delta, "delta", below=1, or_zero=True)
    return Cost(positive(epsilon, "epsilon"), total_delta)


def account_of(ledger: LedgerRecords, graph: str) -> Account:
    """Return the account of one graph: a plain spend for each release, whatever mechanism made it."""
    for damaged in ledger.damaged_of(graph):
        raise BudgetError(f"{damaged} {how_to_mend(damaged, graph)}", graph=graph, record=damaged.record)
    return _account(ledger, graph)


def _account(ledger: LedgerRecords, graph: str) -> Account:
    totals = [budget for budget in ledger.budgets if budget.graph == graph]
    total = recorded_cost(totals[-1]) if totals else None
    return Account(graph, total, tuple(_spend(release) for release in ledger.releases if release.graph == graph))


def how_to_mend(damaged: DamagedRecord, graph: str) -> str:
    """Say what to do about a damaged record."""
    name = shlex.quote(damaged.graph or graph)
    its_delta = "" if damaged.delta is None else f" --delta {typed_text(damaged.delta)}"
    return (
        "No version of pcneo writes that: someone has changed the ledger, and nothing is released until it is put "
        "right. Record what it spent, or allowed, with "
        f"`pcneo budget mend {shlex.quote(damaged.record)} {name} --epsilon E{its_delta}`."
    )


def _spend(release: ReleaseRecord) -> Spend:
    cost, groups = recorded_cost(release), release.membership_hash
    if groups is None and protection_of(release.mechanism) is Protects.PAIRS_INSIDE_GROUPS:
        groups = f"unknown, {release.id}"  # which never match those of another release
    return Spend(release.mechanism, cost.epsilon or Fraction(0), cost.delta, groups)


def recorded_cost(record: BudgetRecord | ReleaseRecord) -> Cost:
    """Return what a total allows, or what a release has spent."""
    return Cost(exact_number(record.epsilon), exact_number(record.delta))


def check_sole_names(ledger: LedgerRecords, graphs: Sequence[GraphRecord]) -> None:
    """Refuse a ledger to a second name over the same data: with two totals, neither would protect it.

    Two names have the same data if they share a relationship type, and either a label or two nodes that carry a label
    of each. A graph whose own node someone has deleted is known by its releases; those that an earlier pcneo wrote may
    not record which labels and types it had, and count against every other name.
    """
    moved = {name for name in ledger.names if ledger.holder(name) != name}
    used = ledger.used | moved | {graph.name for graph in graphs}
    known = {graph.name: graph for graph in (*graphs, *ledger.graphs)}
    for graph in graphs:
        for other in known.values():
            if other.name != graph.name and other.name in used and _share_data(graph, other, ledger.share_nodes):
                raise BudgetError(
                    f"Graph {graph.name!r} shares data with graph {other.name!r}, and only one of the two names can "
                    f"have a budget and releases. Use the name {shlex.quote(other.name)}.",
                    graph=graph.name,
                    other=other.name,
                )
        for release in ledger.lost:
            lost = _lost_graph(release)
            if release.graph not in known and (lost is None or _share_data(graph, lost, ledger.share_nodes)):
                raise BudgetError(
                    f"Graph {release.graph!r}, from which release {release.id} was made, is gone from the database, "
                    f"and {'may have had' if lost is None else 'had'} data in common with graph {graph.name!r}. What "
                    f"it has spent stays spent: continue under its name, {shlex.quote(release.graph)}"
                    f"{_or_count_it(ledger, graph.name, release.graph)}.",
                    graph=graph.name,
                    other=release.graph,
                )


def _or_count_it(ledger: LedgerRecords, graph: str, other: str) -> str:
    if graph not in ledger.names:
        return ""
    return f", or count it as this graph's with `pcneo budget same {shlex.quote(graph)} {shlex.quote(other)}`"


def check_holds_its_ledger(ledger: LedgerRecords, graph: str) -> None:
    """Refuse a graph whose ledger its owner has moved to another name, where it would begin with nothing spent."""
    if (holder := ledger.holder(graph)) != graph:
        raise BudgetError(
            f"Graph {graph!r} is counted as graph {holder!r}, as `pcneo budget same` has stated: what it has spent is "
            "in the ledger of that name. Use that name, or take the ledger back with `pcneo budget same "
            f"{shlex.quote(graph)} {shlex.quote(holder)}`. If this is another graph, give it another name. Nothing was "
            "spent or changed.",
            graph=graph,
            other=holder,
        )


def check_not_renamed(ledger: LedgerRecords, graph: GraphRecord, fingerprint: str | None = None) -> None:
    """Refuse a graph that may be another one under a new name: it would begin with nothing spent.

    This refuses a graph whose ledger its owner has moved to another name, one whose keys are those of another graph's
    release, and any graph while one with a ledger has lost all its nodes or relationships, since renaming a label or a
    type leaves that behind.
    """
    # [renamed-graph]
    check_holds_its_ledger(ledger, graph.name)
    for release in ledger.releases:
        is_other = release.graph != graph.name and not ledger.are_apart(graph.name, release.graph)
        if is_other and fingerprint is not None and release.keys_fingerprint == fingerprint:
            is_known = graph.name in ledger.names
            first = "" if is_known else " (A dry run does not enter this graph; run the release first, which does.)"
            raise _which_graph(graph, release.graph, f"has the vertices of graph {{}}, which has releases.{first}")
    for other in ledger.graphs:
        is_other = other.name != graph.name and not ledger.are_apart(graph.name, other.name)
        if is_other and other.name in ledger.used and ledger.is_empty(other.selection):
            what = (
                "may be graph {}, which has lost all its nodes or relationships, as happens when a label or a type is "
                "renamed."
            )
            raise _which_graph(graph, other.name, what)


def check_not_twins(ledger: LedgerRecords, fingerprints: Mapping[str, str]) -> None:
    """Refuse two graphs of one call that have the same keys, by `fingerprints`: each would begin with nothing spent."""
    for one, other in combinations(sorted(fingerprints), 2):
        if fingerprints[one] == fingerprints[other] and not ledger.are_apart(one, other):
            raise BudgetError(
                f"Graphs {one!r} and {other!r} have the same vertices. If they are the same graph, use one of the "
                f"names; if not, release {one!r} alone first, and run `pcneo budget apart {shlex.quote(one)} "
                f"{shlex.quote(other)}`. Nothing was spent.",
                graph=one,
                other=other,
            )


def _which_graph(graph: GraphRecord, other: str, what: str) -> BudgetError:
    name = shlex.quote(graph.name)
    return BudgetError(
        f"Graph {graph.name!r} {what.format(repr(other))} If they are the same graph, run `pcneo budget same {name} "
        f"{shlex.quote(other)}`, so that its past spends count under the new name; if not, run `pcneo budget "
        f"apart {name} {shlex.quote(other)}`. Nothing was spent.",
        graph=graph.name,
        other=other,
    )


def _lost_graph(release: ReleaseRecord) -> GraphRecord | None:
    """Return the graph of a release whose own node is gone; None where the release does not record what it was."""
    if release.node_labels is None or release.relationship_types is None:
        return None
    return GraphRecord(release.graph, Selection(release.node_labels, release.relationship_types, ""), "")


def _share_data(graph: GraphRecord, other: GraphRecord, share_nodes: ShareNodes) -> bool:
    first, second = graph.selection, other.selection
    if not set(first.relationship_types) & set(second.relationship_types):
        return False
    return bool(set(first.node_labels) & set(second.node_labels)) or share_nodes(first, second)


@contextmanager
def ledger_locked(db: Database, graphs: Sequence[GraphRecord]) -> Iterator[dict[str, GraphLock]]:
    """Hold the locks of graphs and of every other name over their data; yield the locks by name."""
    # [ledger-lock] Every writer that adds to a ledger holds all names that `check_sole_names` compares.
    names = _names_over(db, graphs)
    while True:
        with ExitStack() as stack:
            # All processes lock in the same order, so no two wait for each other.
            locks = {name: stack.enter_context(GraphLock(db, name)) for name in sorted(names)}
            # While this waited for them, someone may have entered another name, and may hold only that one by now.
            entered = _names_over(db, graphs)
            if entered <= names:
                yield locks
                return
        names = entered


def _names_over(db: Database, graphs: Sequence[GraphRecord]) -> set[str]:
    """Return the names of graphs, and every known name over the same data."""
    names = {
        other.name
        for other in db.list_graphs()
        for graph in graphs
        if _share_data(other, graph, partial(share_nodes, db.read))
    }
    return names | {graph.name for graph in graphs}  # also graphs that the database has lost: locking reports it


@contextmanager
def last_writes_of(names: Iterable[str], locks: Mapping[str, GraphLock]) -> Iterator[dict[str, Transaction]]:
    """Yield the transactions of some names, which are committed after those of the other locks.

    The other transactions write nothing: if one of them cannot be committed, its lock was lost, and someone may have
    added to that name's ledger.
    """
    with ExitStack() as commits:
        writing = {name: commits.enter_context(locks[name].last_writes()) for name in names}
        for name in sorted(locks.keys() - writing.keys()):
            commits.enter_context(locks[name].last_writes())
        yield writing


def set_total(db: Database, *, graph: str, epsilon: object, delta: object | None = None) -> Account:
    """Set a graph's total (ε, δ). Setting it again, even higher, is recorded in the ledger.

    A total below what is already spent admits no further release.

    Returns:
        The graph's account with the new total.
    """
    wanted = parse_total(epsilon, delta)
    record = find_graph(db, graph)
    db.ensure_schema(OWN_SCHEMA)
    with ledger_locked(db, [record]) as locks, last_writes_of([graph], locks) as writing:
        transaction = writing[graph]
        ledger = read_ledger(transaction, db)
        check_holds_its_ledger(ledger, graph)
        check_sole_names(ledger, [record])
        account = account_of(ledger, graph)
        total = Cost(wanted.epsilon, account.total.delta) if delta is None and account.total else wanted
        create_budget(transaction, graph, next_number(ledger, graph), total_texts(total), user())
        return account_of(read_ledger(transaction, db), graph)


def next_number(ledger: LedgerRecords, graph: str) -> int:
    """Return the number of a new total: the last total counts, whatever others have deleted or added."""
    number = ledger.last_number(graph) + 1
    if number >= LARGEST_NUMBER:
        raise BudgetError(
            f"A total of graph {graph!r} has the number {number - 1}, and no number can follow. No version of "
            "pcneo wrote that: delete its node.",
            graph=graph,
        )
    return number


def total_texts(total: Cost) -> tuple[str, str]:
    """Return ε and δ of a total as they are stored."""
    if total.epsilon is None:
        raise ParameterError("A total must be a number.", name="epsilon", value=None)
    return fraction_text(total.epsilon), fraction_text(total.delta)


def show(db: Database, *, graph: str | None = None) -> list[GraphBudget]:
    """Return the ledger of one graph, or of every graph that pcneo knows or has made releases of, by name."""
    ledger = list_ledger(db)
    known = [record.name for record in ledger.graphs]
    named = {record.graph for record in (*ledger.notes, *ledger.damaged) if record.graph is not None}
    lost = sorted((ledger.used | named) - set(known))
    names = [*known, *lost] if graph is None else [graph]
    if graph is not None and graph not in lost:
        find_graph(db, graph)
    return [
        GraphBudget(
            name,
            _account(ledger, name),
            tuple(budget for budget in ledger.budgets if budget.graph == name),
            tuple(release for release in ledger.releases if release.graph == name),
            ledger.damaged_of(name),
            name in lost,
            tuple(note for note in ledger.notes if name in (note.graph, note.other)),
        )
        for name in names
    ]


def to_forget(db: Database, graph: str) -> str:
    """Say what `forget` would delete."""
    return _forgotten(list_ledger(db), find_graph(db, graph).name)[0]


def forget(db: Database, *, graph: str, again: str) -> Forgotten:
    """Delete the totals and releases of one graph from the ledger, and the properties that these releases wrote.

    Published files stay published.
    """
    if graph != again:
        raise ParameterError(f"{again!r} is not {graph!r}; nothing was forgotten.", name="graph", value=again)
    record = find_graph(db, graph)
    with GraphLock(db, graph) as lock:
        removed, kept = remove_properties(db, record)
        with lock.last_writes() as transaction:
            ledger = read_ledger(transaction, db)
            records = delete_ledger(transaction, graph)
            if records:
                what, texts = _forgotten(ledger, graph)
                create_note(transaction, "forgotten", graph, f"forgot {what}", records=texts)
    return Forgotten(records, tuple(removed), tuple(kept))


def _forgotten(ledger: LedgerRecords, graph: str) -> tuple[str, list[str]]:
    """Return what is deleted: a summary of it, and every record as JSON."""
    gone = [record for record in (*ledger.budgets, *ledger.releases) if record.graph == graph]
    damaged = [record for record in ledger.damaged if record.graph == graph]
    spent = compose(_spend(record).cost for record in gone if isinstance(record, ReleaseRecord))
    releases = sum(isinstance(record, ReleaseRecord) for record in gone)
    texts = [*(as_json(asdict(record)) for record in gone), *(as_json(record.properties) for record in damaged)]
    others = counted(len(texts) - releases, "other record")
    what = f"{counted(releases, 'release')}, which had spent {spent}, and {others}"
    return what, texts


def as_json(values: Mapping[str, object]) -> str:
    """Return a record as JSON, with values that JSON cannot hold as text."""
    return json.dumps({name: value for name, value in values.items() if value is not None}, default=str, sort_keys=True)
