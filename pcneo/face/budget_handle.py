"""The ledger of one graph as its owner holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from pcneo.errors import PcneoError
from pcneo.face.listings import why_unread
from pcneo.privacy.account import Account
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import AnyNumber
from pcneo.release import budget
from pcneo.release.budget import Forgotten, GraphBudget
from pcneo.release.ledger_mending import apart, mend, same
from pcneo.store.database import Database


@dataclass(frozen=True)
class Budget:
    """What one graph's releases may spend, and have spent (GUARANTEE.md#budget).

    >>> account = friends.budget.set(epsilon=6, delta="1e-4")
    >>> friends.budget
    Budget of 'friends': spent ε = 0, δ = 0 of ε = 6, δ = 1e-4, 0 releases
    >>> friends.budget.show().releases
    ()

    Attributes:
        graph: the graph's name.
    """

    graph: str
    db: Database = field(kw_only=True, repr=False, compare=False)

    def set(self, epsilon: AnyNumber, delta: AnyNumber | None = None) -> Account:
        """Set the total (ε, δ). Setting it again, even higher, is recorded in the ledger."""
        return budget.set_total(self.db, graph=self.graph, epsilon=epsilon, delta=delta)

    def show(self) -> GraphBudget:
        """Return the whole ledger of this graph: totals, releases, and changes that its owner made by hand."""
        return budget.show(self.db, graph=self.graph)[0]

    @property
    def total(self) -> Cost | None:
        """What the owner allows; None if no total was set."""
        return self.show().account.total

    @property
    def spent(self) -> Cost:
        """What all releases have spent, without damaged records, which `show().damaged` lists."""
        return self.show().account.spent

    @property
    def left(self) -> Cost | None:
        """What may still be spent; None if no total was set, a release that promises nothing has spent anything, or a
        record is damaged.

        After a `critical` release this is about pairs inside its groups; nothing bounds what is shown of the others.

        >>> friends.budget.set(epsilon=6).left == friends.budget.left
        True
        """
        shown = self.show()
        return None if shown.damaged else shown.account.left

    def forget(self, again: str) -> Forgotten:
        """Delete the graph's totals and releases from the ledger; `again` is its name, typed a second time."""
        return budget.forget(self.db, graph=self.graph, again=again)

    def mend(self, record: str, epsilon: AnyNumber, delta: AnyNumber | None = None) -> None:
        """Declare what a damaged record spent or allowed; `record` is the name that `db.check()` prints.

        Without `delta` the record keeps its δ, which counts as 0 where it cannot be read.
        """
        mend(self.db, record=record, graph=self.graph, epsilon=epsilon, delta=delta)

    def same(self, known_as: str) -> Account:
        """State that this graph had another name before: what was spent under that name counts under this one."""
        return same(self.db, graph=self.graph, known_as=known_as)

    def apart(self, other: str) -> None:
        """State that this graph and another are different graphs."""
        apart(self.db, graph=self.graph, other=other)

    def __repr__(self) -> str:
        """Return what is spent, and of what total."""
        try:
            return repr(self.show())
        except PcneoError as error:
            return f"Budget of {self.graph!r} ({why_unread(error)})"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: it holds a connection."""
        raise TypeError("a budget holds a connection and cannot be pickled")
