"""The spend: checked against the ledger and recorded in one transaction under the graph's lock (GUARANTEE.md#budget).

Noise is drawn after that transaction, never before. After a crash in between, the spend stays and the numbers are lost.
"""

from __future__ import annotations

import logging
import math
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from pcneo.basics.config import __version__
from pcneo.basics.selection import Selection
from pcneo.basics.user import user
from pcneo.errors import BudgetError, BusyError, DatabaseError, GraphChangedError, NotFoundError, PcneoError
from pcneo.graph import keys_fingerprint, keys_hash
from pcneo.privacy.account import Account, Spend, bounded_cost, check_spends, missing_total
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import fraction_text
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.outlook import USUAL_DEGREE, Earlier, Public, stated_public
from pcneo.release.budget import (
    account_of,
    check_not_renamed,
    check_not_twins,
    check_sole_names,
    last_writes_of,
    ledger_locked,
    next_number,
    parse_total,
    total_texts,
)
from pcneo.release.choice import find_place
from pcneo.release.prepared import Prepared
from pcneo.release.request import Source
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import create_budget, create_release, get_secret, list_ledger, lock_ledger, read_ledger
from pcneo.store.ledger_records import LedgerRecords
from pcneo.store.transaction import Row, Transaction

log = logging.getLogger("pcneo")

_MOST_DELTA = Fraction(1, 1000)
"""The largest δ of a total that is set along with a release; an owner who wants a larger one must name it."""


@dataclass(frozen=True)
class Terms:
    """What the owner says about the budget, and about one call of `release`.

    Attributes:
        budget_epsilon: a total ε, a number or its text, to set in the same call; refused where the graph has another.
            The total δ admits as many releases like these as this ε does, but is at most 1/1000, or what these releases
            take if that is more. None to set none.
        other_groups: admit a set of memberships other than that of earlier releases with groups.
        no_promise: admit mechanisms that promise nothing, and any release after one.
        dry_run: stop before anything is spent or written; a total that is missing is reported, not refused.
        write_property: also write the noisy counts to this property of the vertices; for one release only.
        expect: the mean number of triangles of a vertex that the owner expects, a number or its text. If a count is
            expected to have a larger standard error, the release is refused. None for what an earlier release has
            published, except with groups.
        mean_degree: the mean number of connections of a vertex, as the owner states or guesses it; None for what an
            earlier release has published, or else 10.
        anyway: make such a release anyway, and any whose counts are known to be further off than zeros, or whose δ is
            above 1/n.
    """

    budget_epsilon: object = None
    other_groups: bool = False
    no_promise: bool = False
    dry_run: bool = False
    write_property: str | None = None
    expect: object = None
    mean_degree: object = None
    anyway: bool = False

    def __post_init__(self) -> None:
        """Refuse a total, a mean count or a mean degree that is out of range."""
        _ = self.total, self.public

    @cached_property
    def total(self) -> Cost | None:
        """The total to set, its δ still to be filled in; None to set none."""
        return None if self.budget_epsilon is None else parse_total(self.budget_epsilon, None)

    @cached_property
    def public(self) -> Public:
        """What the owner states about the graph."""
        return stated_public(USUAL_DEGREE if self.mean_degree is None else self.mean_degree, self.expect)

    def known(self, earlier: Earlier) -> Public:
        """Return what the owner states about the graph; where nothing is stated, what an earlier release published."""
        stated = self.public
        return Public(
            stated.mean_degree if self.mean_degree is not None else earlier.mean_degree or stated.mean_degree,
            stated.mean_count if self.expect is not None else earlier.mean_count,
        )


def check_early(db: Database, chosen: Sequence[Prepared], terms: Terms) -> LedgerRecords:
    """Return the ledger; refuse, before anything is read, what it does not admit as it stands.

    `spend` decides again, under the lock. A dry run is refused only once it has said what to expect.
    """
    ledger = list_ledger(db)
    if not terms.dry_run:
        _admit(ledger, _graphs(chosen), _spends(chosen), terms)
    return ledger


def check_room(db: Database, source: Source, epsilons: Collection[Fraction], named: Selection, terms: Terms) -> None:
    """Refuse, before asking for a mechanism, an ε that does not fit the budget with any that promises something.

    Releases at one ε may be computed from the same answers, so each ε counts once.
    """
    if terms.dry_run or terms.no_promise:
        return
    runs = db.list_runs()
    try:
        graph, _ = find_place(db, source, runs, named, with_run=source.names_run)
    except PcneoError:
        return  # which graph is meant depends on the mechanism
    spends = [Spend(Respond.name, epsilon, Fraction(0)) for epsilon in set(epsilons)]
    _admit(list_ledger(db), [graph], {graph.name: spends}, terms)


def admit(db: Database, prepared: Sequence[Prepared], terms: Terms) -> None:
    """Refuse what the ledger does not admit as it stands, as `spend` would; nothing is recorded."""
    secret = get_secret(db)
    fingerprints = {} if secret is None else _fingerprints(_hashes(prepared), secret)
    _admit(list_ledger(db), _graphs(prepared), _spends(prepared), terms, fingerprints)


def enter(db: Database, prepared: Sequence[Prepared]) -> None:
    """Store the graphs that pcneo does not know yet, so that they can be locked."""
    for graph in _graphs(prepared):
        stored = db.merge_graph(graph.name, graph.selection, graph.fingerprint_key)
        if stored.fingerprint_key != graph.fingerprint_key:
            raise BusyError(f"Another pcneo has just entered graph {graph.name!r}. Try again.", graph=graph.name)


def spend(
    db: Database, prepared: Sequence[Prepared], terms: Terms, committing: Callable[[], object] = lambda: None
) -> dict[str, Account]:
    """Record all releases, or none of them where the ledger does not admit them.

    The releases of one graph are recorded in one transaction. Where there are several graphs and the database fails
    between two commits, some may be recorded and others not; no noise is drawn for any of them. `committing` is called
    just before the first commit; an interruption before that spends nothing.

    Returns:
        The account of each graph, with these releases, by the graph's name.
    """
    graphs = _graphs(prepared)
    of_graph = {graph.name: [release for release in prepared if release.graph.name == graph.name] for graph in graphs}
    spends, hashes = _spends(prepared), _hashes(prepared)
    try:
        with ledger_locked(db, graphs) as locks, last_writes_of(spends, locks) as writing:
            # [spend-under-lock] No one can add to what is read here before this transaction ends: not to these graphs,
            # and not to another one that has the same vertices under another name.
            first = next(iter(writing.values()))
            fingerprints = _fingerprints(hashes, lock_ledger(first, secrets.token_hex(32)))
            ledger = read_ledger(first, db)
            _check_given(prepared, ledger)
            totals = _admit(ledger, graphs, spends, terms, fingerprints)
            for name, transaction in writing.items():
                if name in totals:
                    number = next_number(ledger, name)
                    create_budget(transaction, name, number, total_texts(totals[name]), user())
                _check_versions(transaction, of_graph[name])
                for release in of_graph[name]:
                    create_release(transaction, _values(release, hashes[name], fingerprints[name]))
            committing()
    except DatabaseError as error:
        ids = ", ".join(release.id for release in prepared)
        raise DatabaseError(
            f"{error} No noise was drawn. If `pcneo budget show` lists release {ids}, that spend is recorded and "
            "stays, and running the command again spends again.",
            **error.data,
        ) from error
    for release in prepared:
        if release.spend.epsilon:
            said = f"spends {release.spend.cost.without_zero} (release {release.id})."
        else:
            said = f"spends nothing: release {release.id} uses answers that are already paid for."
        log.info("Entered in the ledger: %s %s", release.graph.name, said)
    accounts = {name: account_of(ledger, name) for name in spends}
    return {
        name: replace(account, total=totals.get(name, account.total), spends=(*account.spends, *spends[name]))
        for name, account in accounts.items()
    }


def _check_given(prepared: Sequence[Prepared], ledger: LedgerRecords) -> None:
    """Refuse answers whose release was forgotten meanwhile: nothing would show that they are paid for."""
    known = {release.id for release in ledger.releases}
    for release in prepared:
        if release.given is not None and release.answer_set not in known:
            raise NotFoundError(
                f"The ledger no longer has release {release.answer_set}, from whose answers {release.file} is made. "
                "Nothing was spent.",
                what="release",
                name=release.answer_set,
            )


def _graphs(prepared: Sequence[Prepared]) -> list[GraphRecord]:
    return list({release.graph.name: release.graph for release in prepared}.values())


def _spends(releases: Sequence[Prepared]) -> dict[str, list[Spend]]:
    spends: dict[str, list[Spend]] = {}
    for release in releases:
        spends.setdefault(release.graph.name, []).append(release.spend)
    return spends


def _hashes(prepared: Sequence[Prepared]) -> dict[str, str]:
    """Return the hash of each graph's keys, by the graph's name."""
    keys = {release.graph.name: release.source.graph.keys for release in prepared}
    return {name: keys_hash(of_graph) for name, of_graph in keys.items()}


def _fingerprints(hashes: Mapping[str, str], secret: bytes) -> dict[str, str]:
    """Return each of these hashes under the ledger's secret."""
    return {name: keys_fingerprint(of_keys, secret) for name, of_keys in hashes.items()}


def _admit(
    ledger: LedgerRecords,
    graphs: Sequence[GraphRecord],
    spends: Mapping[str, Sequence[Spend]],
    terms: Terms,
    fingerprints: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Cost]:
    """Check each graph's releases against its account; return the totals to set."""
    check_sole_names(ledger, graphs)
    check_not_twins(ledger, fingerprints)
    for graph in graphs:
        check_not_renamed(ledger, graph, fingerprints.get(graph.name))
    totals: dict[str, Cost] = {}
    for name, wanted in spends.items():
        account = replace(account_of(ledger, name), is_known=name in ledger.names)
        cost = bounded_cost(wanted)
        if terms.total is not None and account.total is not None:
            if account.total.epsilon != terms.total.epsilon:  # the same again is a call made twice
                raise BudgetError(
                    f"Graph {name!r} already has another total, {account.total}. Leave --budget-epsilon out, or change "
                    "the total with `pcneo budget set`.",
                    graph=name,
                )
        elif terms.total is not None:
            totals[name] = _with_delta(terms.total, cost)
            account = replace(account, total=totals[name])
        elif terms.dry_run and (missing := missing_total(account, wanted)):
            log.info("%s", missing)
            account = replace(account, total=account.bounded + cost)  # so that all other rules are tried
        check_spends(account, wanted, other_groups=terms.other_groups, no_promise=terms.no_promise)
    return totals


def _with_delta(total: Cost, cost: Cost) -> Cost:
    """Return a total with as much δ as is taken by all the releases like these that its ε admits, within a limit."""
    if not (total.epsilon and cost.epsilon and cost.delta):
        return Cost(total.epsilon, cost.delta)
    times = max(1, math.ceil(total.epsilon / cost.epsilon))
    return Cost(total.epsilon, min(times * cost.delta, max(cost.delta, _MOST_DELTA)))


def _check_versions(transaction: Transaction, releases: Sequence[Prepared]) -> None:
    """Refuse to spend on a version whose hubs are no longer kept; from here on the ledger keeps those it rests on."""
    # All processes lock versions in this order, so that no two wait for each other.
    for run, version in sorted({(release.run.id, release.run.version) for release in releases if release.run}):
        if not transaction.is_readable(run, version):
            raise GraphChangedError(
                f"Version {version} of run {run} is no longer kept. Nothing was spent; run the command again.",
                run=run,
                version=version,
            )


def _values(release: Prepared, hash_of_keys: str, fingerprint: str) -> Row:
    mechanism, run = release.mechanism, release.run
    epsilon_1 = mechanism.parameter("epsilon_1")
    source, draws = release.source, release.draws_answers
    return {
        "release": release.id,
        "graph": release.graph.name,
        "nodeLabels": list(release.graph.selection.node_labels),
        "relationshipTypes": list(release.graph.selection.relationship_types),
        "run": run and run.id,
        "runVersion": run and run.version,
        "mechanism": mechanism.name,
        "k": mechanism.k,
        "p": run and str(run.search.p),
        "search": run and run.search.name,
        "epsilon": fraction_text(release.spend.epsilon),
        "epsilonOne": None if epsilon_1 is None else fraction_text(epsilon_1),
        "delta": fraction_text(release.spend.delta),
        "h": mechanism.parameter("h"),
        "membershipHash": run and run.membership_hash,
        "answers": release.answer_set,
        "threshold": mechanism.threshold if draws else None,
        "vertices": source.graph.vertex_count if draws else None,
        "keysHash": hash_of_keys if draws else None,
        "fingerprint": source.fingerprint if draws or release.kept else None,
        "keysFingerprint": fingerprint,
        "file": release.file or None,
        "who": user(),
        "version": __version__,
    }
