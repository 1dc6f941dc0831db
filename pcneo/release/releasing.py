"""The release itself, in the one order that is safe: prepare, record the spend, draw, publish.

The spend is recorded, under the graph's lock and in a transaction of its own, before any noise is drawn; after a crash
in between the spend stays and the numbers are lost (privacy.md, "Budget"). Noise is drawn once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcneo import __version__, cliques
from pcneo.budget import account_of, parse_total, user
from pcneo.errors import BudgetError, GraphError
from pcneo.model import Key, Progress
from pcneo.privacy.composition import Cost, compose
from pcneo.privacy.exact import decimal_text, fraction_text
from pcneo.privacy.laplace import standard_error, sum_half_width
from pcneo.privacy.ledger import Account, check_spends
from pcneo.privacy.mechanisms import Critical, Edge, Elv, Published
from pcneo.privacy.noise import Noise, ReleaseNoise, require_release_noise
from pcneo.release.asked import Asked, check_destinations
from pcneo.release.outputs import public_text, write_private, write_public
from pcneo.release.prepared import Prepared, prepare
from pcneo.release.report import owner_markdown, owner_record
from pcneo.store.ledger import LedgerGateway, create_budget, create_release
from pcneo.store.lock import GraphLock
from pcneo.store.transaction import Transaction

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Released", "release"]


@dataclass(frozen=True)
class Released:
    """A release that was made.

    Attributes:
        id: as the ledger has it.
        public: the public file.
        reports: the owner's report, Markdown and JSON.
        total: Σ Γ*(v) / k.
        promise: the mechanism's sentence.
    """

    id: str
    public: Path
    reports: tuple[Path, Path]
    total: float
    promise: str


def release(
    driver: Driver,
    database: str | None = None,
    *,
    asked: Sequence[Asked],
    node_labels: Sequence[str] = (),
    relationship_types: Sequence[str] = (),
    key: str | None = None,
    budget_epsilon: object = None,
    other_groups: bool = False,
    no_promise: bool = False,
    dry_run: bool = False,
    write_property: str | None = None,
    noise: Noise | None = None,
    progress: Progress | None = None,
) -> tuple[list[Prepared], list[Released]]:
    """Release noisy local clique counts, all that are asked for or none.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        asked: one or several releases; they are checked together before anything is drawn.
        node_labels, relationship_types, key: choose the graph of releases that rest on no run.
        budget_epsilon: sets the graph's total ε in the same call, refused where one exists; its δ is what is asked.
        other_groups: admit another set of memberships than that of earlier `critical` releases.
        no_promise: admit `published`, which promises nothing.
        dry_run: stop before anything is spent.
        write_property: also write the noisy counts to this property of the vertices; one release only.
        noise: the source of noise; a release accepts OpenDP's alone.
        progress: called with stage, done and total.

    Returns:
        What was prepared, and what was released: nothing after a dry run.

    Raises:
        ParameterError, NotFoundError, GraphError, BudgetError: refused; nothing was spent and no noise drawn.
        PcneoError: after the spend: the message says what was spent and lost.
    """
    check_destinations(asked)
    source = noise or ReleaseNoise()
    require_release_noise(source)
    gateway = LedgerGateway(driver, database)
    prepared = prepare(gateway, asked, (node_labels, relationship_types, key), progress)
    if write_property is not None:
        _check_property(gateway, prepared, write_property)
    with ExitStack() as stack:
        gateway.change_schema(gateway.own_schema())
        names = sorted({one.source.record.name for one in prepared})
        locks = {name: stack.enter_context(GraphLock(gateway, name)) for name in names}
        totals = {name: _admit(gateway, name, prepared, budget_epsilon, other_groups, no_promise) for name in names}
        if dry_run:
            return prepared, []
        for name, lock in locks.items():
            with lock.last_writes() as transaction:
                _record(transaction, name, prepared, totals[name])
    released = [_publish(gateway, one, source) for one in prepared]
    if write_property is not None:
        for one, counts in released:
            _write_property(gateway, one, write_property, counts)
    return prepared, [
        Released(one.id, one.asked.to, one.asked.reports, _total(one, counts), one.mechanism.promise)
        for one, counts in released
    ]


# --- Before the spend


def _admit(
    gateway: LedgerGateway,
    name: str,
    prepared: Sequence[Prepared],
    budget_epsilon: object,
    other_groups: bool,
    no_promise: bool,
) -> Cost | None:
    """Check one graph's releases against its ledger; return the total to set, None where it stands already."""
    spends = [one.spend for one in prepared if one.source.record.name == name]
    account = account_of(gateway, name)
    new = None
    if budget_epsilon is not None:
        if account.total is not None:
            raise BudgetError(
                f"Graph {name!r} has a total already, {account.total}. Leave --budget-epsilon out, or change the total "
                "with `pcneo budget set`.",
                graph=name,
            )
        delta = compose(spend.cost for spend in spends if spend.cost.is_bounded).delta
        new = parse_total(budget_epsilon, delta or None)
        account = Account(name, new, account.spends)
    check_spends(account, spends, other_groups=other_groups, no_promise=no_promise)
    return new


def _check_property(gateway: LedgerGateway, prepared: Sequence[Prepared], name: str) -> None:
    """Refuse a property that any chosen node has, unless all of its values come from our own recorded release."""
    if len(prepared) != 1:
        raise GraphError("--write-property takes one release; a property holds one count.", property=name)
    record = prepared[0].source.record
    values = gateway.property_values(record.selection, name)
    ours = {r.property_hash for r in gateway.list_releases() if (r.graph, r.property) == (record.name, name)}
    if values and _values_hash(values) not in ours:
        raise GraphError(
            f"{len(values)} vertices of graph {record.name!r} have a property {name!r} already, not from a release. "
            "Name another.",
            property=name,
        )


def _record(transaction: Transaction, name: str, prepared: Sequence[Prepared], total: Cost | None) -> None:
    if total is not None and total.epsilon is not None:
        create_budget(transaction, name, fraction_text(total.epsilon), fraction_text(total.delta), user())
    for one in prepared:
        if one.source.record.name != name:
            continue
        mechanism = one.mechanism
        values = {
            "release": one.id,
            "graph": name,
            "run": one.run and one.run.id,
            "mechanism": mechanism.name,
            "k": mechanism.k,
            "p": one.run and one.run.p_text,
            "score": one.run and one.run.score,
            "epsilon": fraction_text(mechanism.epsilon),
            "epsilonOne": None if isinstance(mechanism, Critical) else fraction_text(mechanism.epsilon_1),
            "delta": fraction_text(one.delta or Fraction(0)),
            "h": mechanism.h if isinstance(mechanism, Elv | Published) else None,
            "membershipHash": one.run and one.run.membership_hash,
            "who": user(),
            "version": __version__,
        }
        create_release(transaction, values)


# --- After the spend: exact counts meet noise


def _draw(one: Prepared, noise: Noise) -> tuple[list[Fraction], list[int]]:
    """Return the scale and the noisy count of each vertex."""
    mechanism, graph = one.mechanism, one.source.graph
    counts = one.counts.tolist()
    if isinstance(mechanism, Critical):
        scales = one.scales or []
    elif isinstance(mechanism, Edge):
        _, largest = cliques.largest_common(graph)
        scales = [mechanism.scale(largest, noise)] * len(counts)
    else:
        degrees, common = _views(one)
        scales = [mechanism.scale(degrees.tolist(), common.__getitem__, noise)] * len(counts)
    return scales, mechanism.noisy_counts(counts, scales, noise)


def _views(one: Prepared) -> tuple[Any, Any]:
    """What each vertex sees in the two-phase mechanisms: its degree and its largest common neighbourhood, in R(v)."""
    graph = one.source.graph
    if isinstance(one.mechanism, Elv):
        common, _ = cliques.largest_common(graph)
        return graph.degrees, common
    groups = one.source.groups[one.run.id] if one.run else None
    if groups is None:
        raise GraphError("The mechanism published rests on a run.")
    return inner_degrees(one), cliques.largest_common_inside(graph, groups)


def inner_degrees(one: Prepared) -> np.ndarray:
    """Return deg(v, MC(v)) for each vertex, int64, shape (n,)."""
    graph = one.source.graph
    groups = one.source.groups[one.run.id] if one.run else None
    if groups is None:
        raise GraphError("The mechanism published rests on a run.")
    inner = np.zeros(graph.vertex_count, np.int64)
    for i, v in enumerate(groups.vertices.tolist()):
        members = groups.members[groups.offsets[i] : groups.offsets[i + 1]]
        inner[v] = len(np.intersect1d(graph.neighbours[graph.offsets[v] : graph.offsets[v + 1]], members, True))
    return inner


def _publish(gateway: LedgerGateway, one: Prepared, noise: Noise) -> tuple[Prepared, dict[Key, int]]:
    scales, noisy = _draw(one, noise)
    counts = dict(zip(one.source.graph.keys.tolist(), noisy, strict=True))
    account = account_of(gateway, one.source.record.name)
    record = owner_record(one, scales, _total(one, counts), account, {})
    markdown, data = one.asked.reports
    write_private(data, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    write_private(markdown, owner_markdown(record))
    write_public(one.asked.to, public_text(_public_record(one, scales, counts), counts, one.asked.to.suffix))
    return one, counts


def _total(one: Prepared, counts: dict[Key, int]) -> float:
    """Σ Γ*(v) / k, from unclipped values."""
    return float(Fraction(sum(counts.values()), one.mechanism.k))


def _public_record(one: Prepared, scales: Sequence[Fraction], counts: dict[Key, int]) -> dict[str, Any]:
    """All that is published beside the counts (privacy.md, "Two outputs")."""
    mechanism = one.mechanism
    record: dict[str, Any] = {
        "pcneo": __version__,
        "mechanism": mechanism.name,
        "promise": mechanism.promise,
        "k": mechanism.k,
        "p": one.run.p_text if one.run else None,
        "epsilon": decimal_text(mechanism.epsilon),
        "delta": decimal_text(one.delta) if one.delta is not None else "0",
        "h": mechanism.h if isinstance(mechanism, Elv | Published) else None,
        "vertices": len(counts),
        "total": _total(one, counts),
    }
    if mechanism.publishes_scale:
        record["scale"] = decimal_text(scales[0])
        record["standardErrorOfTotal"] = standard_error(scales) / mechanism.k
        record["halfWidthOf95PercentInterval"] = sum_half_width(scales) / mechanism.k
    return {name: value for name, value in record.items() if value is not None}


def _write_property(gateway: LedgerGateway, one: Prepared, name: str, counts: dict[Key, int]) -> None:
    if any(not -(2**63) <= count < 2**63 for count in counts.values()):
        raise GraphError(
            f"A noisy count does not fit a Neo4j integer; property {name!r} was not written.", property=name
        )
    gateway.note_property(one.id, name, _values_hash(counts))
    gateway.set_property(one.source.record.selection, name, counts)


def _values_hash(values: Any) -> str:
    text = json.dumps(sorted((str(type(key).__name__), key, value) for key, value in values.items()))
    return hashlib.sha256(text.encode()).hexdigest()
