"""A vertex's own ledger: a file with the most it spends on one call, the most in all, and what it has answered for."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from pcneo.basics.model import Key
from pcneo.errors import BudgetError, BusyError, ParameterError
from pcneo.party.json_files import bad, keys_of, number_of, read_object, text_of, write_json
from pcneo.privacy.exact import exact_text


@dataclass(frozen=True)
class Spent:
    """One call that was answered.

    Attributes:
        release: the call's number, which the collector chose and which proves nothing.
        epsilon: ε.
        at: when, by this machine's clock.
    """

    release: str
    epsilon: Fraction
    at: str


@dataclass(frozen=True)
class OwnLedger:
    """What one vertex has answered for so far.

    Attributes:
        key: the vertex's key.
        limit: the most ε that it spends on one call, however often it answers that.
        total: the largest sum of ε over all calls.
        spends: every call that was answered, oldest first.
    """

    key: Key
    limit: Fraction
    total: Fraction
    spends: tuple[Spent, ...] = ()

    def with_spend(self, release: str, epsilon: Fraction) -> OwnLedger:
        """Return the ledger with one more call answered.

        A collector that asks again, with the same list or another, is answered with new coins, and the vertex spends
        again: under the same number up to its limit for one call, under others up to its total.
        """
        # [party-ledger]
        if not epsilon <= self.limit:
            raise BudgetError(
                f"The call has epsilon {exact_text(epsilon)}, but vertex {self.key!r} answers only up to "
                f"{exact_text(self.limit)}. Nothing was spent."
            )
        on_this = sum((spend.epsilon for spend in self.spends if spend.release == release), Fraction(0))
        if not on_this + epsilon <= self.limit:
            raise BudgetError(
                f"Vertex {self.key!r} has answered this call before, and spent {exact_text(on_this)} on it. Another "
                f"{exact_text(epsilon)} would pass its limit for one call, {exact_text(self.limit)}. Nothing was "
                "spent. If the message was lost, the vertex may raise `limit` in its ledger."
            )
        spent = sum((spend.epsilon for spend in self.spends), Fraction(0))
        if not spent + epsilon <= self.total:
            raise BudgetError(
                f"Vertex {self.key!r} has spent {exact_text(spent)} of {exact_text(self.total)}; this call would spend "
                f"{exact_text(epsilon)}. Nothing was spent."
            )
        at = datetime.now(UTC).isoformat(timespec="seconds")
        return replace(self, spends=(*self.spends, Spent(release, epsilon, at)))


def sole_file(path: Path) -> Path:
    """Follow every link in a ledger's path and return the file itself: one file has one lock and one sum."""
    try:
        real = path.resolve(strict=True)
        links = real.stat().st_nlink
    except (OSError, RuntimeError) as error:
        raise bad(path, getattr(error, "strerror", None) or "its links form a loop") from error
    if links > 1:
        raise bad(path, "it has a second name (a hard link), under which what was spent would not be seen")
    return real


def read_ledger(path: Path) -> OwnLedger:
    """Read a ledger; `spends` may be missing in one that its owner has just written."""
    fields = read_object(path, ("key", "limit", "total"), optional=("spends",))
    (key,) = keys_of(path, [fields["key"]])
    entries = fields.get("spends", [])
    if not isinstance(entries, list):
        raise bad(path, "spends must be a list")
    spends = [_spent(path, entry) for entry in entries]
    return OwnLedger(key, number_of(path, fields, "limit"), number_of(path, fields, "total"), tuple(spends))


def _spent(path: Path, entry: object) -> Spent:
    if not isinstance(entry, dict) or set(entry) != {"release", "epsilon", "at"}:
        raise bad(path, "each of its spends must have release, epsilon and at")
    return Spent(text_of(path, entry, "release"), number_of(path, entry, "epsilon"), text_of(path, entry, "at"))


def write_ledger(path: Path, ledger: OwnLedger) -> None:
    """Replace the ledger with this one, readable only by its owner; it is on disk when this returns."""
    spends = [{"release": s.release, "epsilon": exact_text(s.epsilon), "at": s.at} for s in ledger.spends]
    record = {
        "key": ledger.key,
        "limit": exact_text(ledger.limit),
        "total": exact_text(ledger.total),
        "spends": spends,
    }
    write_json(path, record, replace=True, mode=0o600, indent=1)


@contextmanager
def ledger_held(path: Path) -> Iterator[None]:
    """Keep every other pcneo process from spending in this ledger, by a lock on the file `NAME.lock` beside it."""
    place = path.with_name(f"{path.name}.lock")
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ParameterError(f"{place} cannot be created: {error.strerror}.", name="ledger", value=path) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(f"Another process is answering with {path}. Try again when it is done.") from error
        yield
    finally:
        os.close(handle)
