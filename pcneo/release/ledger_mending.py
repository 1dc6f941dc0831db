"""Use cases: the owner states what a damaged record of the ledger is, and whether two names stand for one graph.

Each of them leaves a note of what it has changed (GUARANTEE.md#budget).
"""

from __future__ import annotations

import logging
import secrets
import shlex
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from pcneo.errors import BudgetError, NotFoundError, ParameterError
from pcneo.graph import keys_fingerprint, keys_hash, secret_mark
from pcneo.privacy.account import Account
from pcneo.privacy.exact import decimal_text, fraction_text, positive
from pcneo.release.budget import account_of, as_json, check_holds_its_ledger, next_number
from pcneo.store.chosen_graph import find_graph, no_such_graph, read_graph
from pcneo.store.database import Database
from pcneo.store.ledger import create_note, lock_ledger, mark_releases, mend_record, move_ledger, read_ledger
from pcneo.store.ledger_records import LARGEST_NUMBER, DamagedRecord, LedgerRecords
from pcneo.store.lock import GraphLock
from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.transaction import Transaction

log = logging.getLogger("pcneo")

UNKNOWN = "unknown"
"""The mechanism of a release that no longer names its own: no promise of it is known."""


def mend(db: Database, *, record: str, graph: str, epsilon: object, delta: object | None = None) -> None:
    """Put a damaged record right: state which graph it belongs to, and the ε and δ that it spent, or allowed.

    Everything else in it that is sound stays. Without `delta` its δ stays too, and is 0 where it cannot be read. A
    release that does not name its mechanism promises nothing; one that does not state which groups it rests on counts
    as resting on a set of its own.
    """
    exact_epsilon = positive(epsilon, "epsilon", or_zero=True)
    stated = None if delta is None else positive(delta, "delta", below=1, or_zero=True)
    find_graph(db, graph)
    with GraphLock(db, graph) as lock, lock.last_writes() as transaction:
        ledger = read_ledger(transaction, db)
        check_holds_its_ledger(ledger, graph)
        found = next((damaged for damaged in ledger.damaged if damaged.record == record), None)
        if found is None:
            raise NotFoundError(f"The ledger has no damaged record {record!r}.", what="record", name=record)
        exact_delta = _kept_delta(found) if stated is None else stated
        numbers = {"epsilon": fraction_text(exact_epsilon), "delta": fraction_text(exact_delta)}
        values = {**found.sound(), "graph": graph, **numbers}
        if found.is_release:
            values = {"id": uuid.uuid4().hex, "mechanism": UNKNOWN, "membershipHash": f"unknown, {record}", **values}
        elif not 0 < values.get("number", 0) < LARGEST_NUMBER:
            values["number"] = next_number(ledger, graph)
        mend_record(transaction, found, values)
        what = f"{'release' if found.is_release else 'total'} {record}, which {found.why}, now says "
        what += f"ε = {decimal_text(exact_epsilon)}, δ = {decimal_text(exact_delta)}, as its owner stated"
        create_note(transaction, "mended", graph, what, records=[as_json(found.properties)])


def _kept_delta(damaged: DamagedRecord) -> Fraction:
    """Return the δ of a record whose owner states none, and log it: it must not become 0 unnoticed."""
    if damaged.delta is None:
        log.info("The δ of %s cannot be read; since none was stated, it counts as 0.", damaged.record)
        return Fraction(0)
    log.info("%s keeps its δ, %s, since no other was stated.", damaged.record, decimal_text(damaged.delta))
    return damaged.delta


def mend_secret(db: Database, *, graph: str) -> int:
    """Make a graph recognisable under other names again, after the ledger's secret was deleted or changed.

    Its present keys are stored, under the present secret, with those of its releases that have another secret.

    Returns:
        The number of these releases.
    """
    record = find_graph(db, graph)
    db.ensure_schema(OWN_SCHEMA)
    with GraphLock(db, graph) as lock:
        of_keys = keys_hash(read_graph(db, record.selection).graph.keys)
        with lock.last_writes() as transaction:
            secret = lock_ledger(transaction, secrets.token_hex(32))
            marked = mark_releases(transaction, graph, keys_fingerprint(of_keys, secret), secret_mark(secret))
            if marked:
                what = f"stored the keys of {graph} anew with its releases ({marked:,}): their secret was gone"
                create_note(transaction, "mended", graph, what)
    return marked


def same(db: Database, *, graph: str, known_as: str) -> Account:
    """State that a graph is the one that had another name: what that has spent, and its total, become the graph's own.

    If the graph has a total of its own, its last one still counts.

    Returns:
        The graph's account.
    """
    with _held(db, graph, known_as) as transaction:
        ledger = read_ledger(transaction, db)
        if known_as not in ledger.used:
            raise NotFoundError(f"The ledger has nothing of graph {known_as!r}.", what="graph", name=known_as)
        _check_there_is(ledger, graph, known_as)
        if ledger.holder(graph) != known_as:
            check_holds_its_ledger(ledger, graph)
        account_of(ledger, known_as)
        add = max(0, ledger.last_number(known_as) + 1)
        if ledger.last_number(graph):
            move_ledger(transaction, graph, graph, add)
        moved = move_ledger(transaction, known_as, graph, 0)
        what = f"what was spent under {known_as} now counts for {graph} ({moved:,} records)"
        create_note(transaction, "same", graph, what, other=known_as)
        return account_of(read_ledger(transaction, db), graph)


def apart(db: Database, *, graph: str, other: str) -> None:
    """State that two names stand for different graphs, so that neither is taken for the other again.

    Two that were said to be the same stay so: otherwise the one that the ledger was moved from would begin anew.
    """
    with _held(db, graph, other) as transaction:
        ledger = read_ledger(transaction, db)
        if (holder := ledger.holder(graph)) == ledger.holder(other):
            raise BudgetError(
                f"Graphs {graph!r} and {other!r} were said to be the same, with `pcneo budget same`, and their spends "
                "are counted together. Saying the opposite does not undo that; only `pcneo budget forget "
                f"{shlex.quote(holder)}` does, which forgets what was spent. Nothing was changed.",
                graph=graph,
                other=other,
            )
        if not {graph, other} & ledger.used:
            raise NotFoundError(f"The ledger has nothing of graph {other!r}.", what="graph", name=other)
        _check_there_is(ledger, graph, other)
        _check_there_is(ledger, other, graph)
        what = f"{graph} and {other} are different graphs"
        create_note(transaction, "apart", graph, what, other=other)


def _check_there_is(ledger: LedgerRecords, graph: str, other: str) -> None:
    """Refuse a graph of which nothing is known, unless it can be the other one renamed, which has lost its data."""
    if graph in ledger.names | ledger.used:
        return
    known = {record.name: record for record in ledger.graphs}
    if other in known and not ledger.is_empty(known[other].selection):
        raise NotFoundError(no_such_graph(graph, list(known)), what="graph", name=graph)


@contextmanager
def _held(db: Database, graph: str, other: str) -> Iterator[Transaction]:
    """Hold two graphs, known to pcneo or not, and yield the transaction that writes."""
    if graph == other:
        raise ParameterError(f"{graph!r} was given twice; two different names are needed.", name="graph", value=graph)
    db.ensure_schema(OWN_SCHEMA)
    known = sorted({record.name for record in db.list_graphs()} & {graph, other})
    if not known:
        raise NotFoundError(f"There is no graph {graph!r} and no graph {other!r}.", what="graph", name=graph)
    with GraphLock(db, known[0]) as lock, lock.last_writes() as transaction:
        # In one transaction: a process that waits for either name goes on when both have their records. A name that no
        # graph has is held too, since the server locks the place that its uniqueness constraint would give it.
        transaction.touch_graph(other if known[0] == graph else graph)
        yield transaction
