"""The release itself, in the one order that is safe: check, read, count, record the spend, draw, write.

Everything that can fail is done before the spend, but for drawing and writing. Noise is drawn once: a write that failed
may be tried again in the same process, with the same numbers.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pcneo.errors import ParameterError, PcneoError
from pcneo.model import Key, Progress
from pcneo.privacy.account import Account
from pcneo.privacy.noise import Noise, ReleaseNoise, require_release_noise
from pcneo.privacy.outlook import describe_utility
from pcneo.release.budget import parse_total
from pcneo.release.choice import choose
from pcneo.release.outputs import public_record, public_text, total_of, write_private, write_public
from pcneo.release.owner_report import owner_markdown, owner_record
from pcneo.release.prepared import Prepared, prepare
from pcneo.release.request import Asked, check_destinations
from pcneo.release.spending import Terms, check_early, enter, spend
from pcneo.store.count_property import check_property, write_property
from pcneo.store.ledger import LedgerGateway
from pcneo.store.schema import OWN_SCHEMA

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Released", "release"]

log = logging.getLogger("pcneo")

Retry = Callable[[PcneoError], bool]
"""Asked after a write that failed: whether to try it again, with the same numbers."""


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


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The numbers of one release: the scale of each vertex, and the noisy counts by key."""

    one: Prepared
    scales: list[Fraction]
    counts: dict[Key, int]


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
    retry: Retry | None = None,
    progress: Progress | None = None,
) -> tuple[list[Prepared], list[Released]]:
    """Release noisy local clique counts; nothing is drawn unless all that are asked for are admitted.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        asked: one or several releases; they are checked together before anything is drawn.
        node_labels, relationship_types, key: choose the graph of releases that rest on no run.
        budget_epsilon: sets the graph's total ε in the same call, refused where one exists; its δ is what is asked.
        other_groups: admit another set of memberships than that of earlier `critical` releases.
        no_promise: admit `published`, which promises nothing.
        dry_run: stop before anything is spent; nothing is written then.
        write_property: also write the noisy counts to this property of the vertices; one release only.
        noise: the source of noise; a release accepts OpenDP's alone.
        retry: asked after a write that failed whether to try again, with the same numbers.
        progress: called with stage, done and total.

    Returns:
        What was prepared, and what was released: nothing after a dry run.

    Raises:
        ParameterError, NotFoundError, GraphError, BudgetError, BusyError: refused; nothing spent and no noise drawn.
        DatabaseError: while the spend was recorded; no noise was drawn, and the ledger says whether it counts.
        PcneoError: after the spend: the message says which release stays recorded and what became of its numbers.
    """
    total = None if budget_epsilon is None else parse_total(budget_epsilon, None)
    terms = Terms(total, other_groups, no_promise, dry_run)
    _check_call(asked, write_property, noise)
    check_destinations(asked)
    gateway = LedgerGateway(driver, database)
    chosen = choose(gateway, asked, (node_labels, relationship_types, key))
    check_early(gateway, chosen, terms)
    if write_property is not None:
        check_property(gateway, chosen[0].graph, write_property)
    if not dry_run:
        gateway.ensure_schema(OWN_SCHEMA)
    prepared = prepare(gateway, chosen, progress)
    for one in prepared:
        log.info("%s", describe_utility(one.mechanism, one.utility))
    if dry_run:
        return prepared, []

    source = noise or ReleaseNoise()
    check_destinations(asked)  # again: reading may have taken long enough for somebody else to write there
    enter(gateway, prepared)
    accounts = spend(gateway, prepared, terms)
    # [spend-first] From here on the spend stays, whatever happens.
    return prepared, _publish(gateway, [_draw(one, source) for one in prepared], accounts, write_property, retry)


def _check_call(asked: Sequence[Asked], write_property: str | None, noise: Noise | None) -> None:
    if not asked:
        raise ParameterError("Nothing is asked for.", name="asked", value=asked)
    if noise is not None:
        require_release_noise(noise)
    if write_property is not None and len(asked) != 1:
        raise ParameterError(
            "--write-property takes one release: a property holds one count.", name="write_property", value=len(asked)
        )


# --- After the spend: exact counts meet noise


def _draw(one: Prepared, noise: Noise) -> _Drawn:
    scales, noisy = one.draw(noise)
    return _Drawn(one, scales, dict(zip(one.source.graph.keys.tolist(), noisy, strict=True)))


def _publish(
    gateway: LedgerGateway,
    drawn: Sequence[_Drawn],
    accounts: dict[str, Account],
    property_name: str | None,
    retry: Retry | None,
) -> list[Released]:
    """Write every release; what fails does not hold up the rest.

    Raises:
        PcneoError: says of each release that is not whole what was written of it and what was not; its data has those
            whose public file was written as `released`.
    """
    released, failures = [], []
    for each in drawn:
        one = each.one
        parts = _parts(gateway, each, accounts[one.graph.name], property_name)
        failed = {name: error for name, write in parts.items() if (error := _tried(write, retry)) is not None}
        if failed:
            failures.append(_say_failed(one, list(parts), failed))
        if str(one.asked.public) not in failed:
            total = total_of(each.counts, one.mechanism.k)
            released.append(Released(one.id, one.asked.public, one.asked.reports, total, one.mechanism.promise))
    if failures:
        raise PcneoError(" ".join(failures), released=released)
    return released


def _parts(
    gateway: LedgerGateway, each: _Drawn, account: Account, property_name: str | None
) -> dict[str, Callable[[], None]]:
    """What is to be written of one release, by name."""
    one, (markdown, data) = each.one, each.one.asked.reports
    record = owner_record(one, each.scales, total_of(each.counts, one.mechanism.k), account)
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    parts: dict[str, Callable[[], None]] = {
        str(data): partial(write_private, data, text),
        str(markdown): partial(write_private, markdown, owner_markdown(record)),
    }
    if property_name is not None:
        name = f"the property {property_name!r}"
        parts[name] = partial(_write_property, gateway, each, property_name)
    # The public file comes last: where it is, nothing else is still to be written.
    public = public_record(one.mechanism, one.run.p_text if one.run else None, each.scales, each.counts)
    text = public_text(public, each.counts, one.asked.public.suffix)
    parts[str(one.asked.public)] = partial(write_public, one.asked.public, text)
    return parts


def _write_property(gateway: LedgerGateway, each: _Drawn, name: str) -> None:
    try:
        write_property(gateway, each.one.graph, name, each.one.id, each.counts)
    except PcneoError as error:
        raise PcneoError(f"The property {name!r} was not written: {error}") from error


def _tried(write: Callable[[], None], retry: Retry | None) -> PcneoError | None:
    """Write, again for as long as that is wanted; return why it failed, if it did."""
    while True:
        try:
            write()
        except PcneoError as error:
            if retry is None or not retry(error):
                return error
        else:
            return None


def _say_failed(one: Prepared, parts: Sequence[str], failed: Mapping[str, PcneoError]) -> str:
    written = [name for name in parts if name not in failed]
    lost = set(written) <= set(map(str, one.asked.reports))
    said = [
        *map(str, failed.values()),
        f"The spend of release {one.id} stays recorded{', and its numbers are lost' if lost else ''}.",
    ]
    if written:
        said.append(f"Written: {', '.join(written)}.")
    return " ".join(said)
