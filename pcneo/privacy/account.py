"""What a graph's releases have spent and whether another one fits: exact sums and refusals (GUARANTEE.md#budget).

It is bookkeeping for an honest owner. Nothing here knows where events are kept.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pcneo.errors import BudgetError
from pcneo.privacy.composition import UNBOUNDED, Cost, compose, fits, left

__all__ = ["Account", "Spend", "bounded_cost", "check_spends", "missing_total"]


@dataclass(frozen=True)
class Spend:
    """One release as the ledger keeps it.

    Attributes:
        mechanism: its name.
        epsilon, delta: what it costs one connection that it protects.
        membership_hash: the set of memberships that a `critical` or `published` release rests on; None for others.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    membership_hash: str | None = None

    @property
    def cost(self) -> Cost:
        """(ε, δ), or unbounded for `published`, which promises nothing."""
        return UNBOUNDED if self.mechanism == "published" else Cost(self.epsilon, self.delta)


@dataclass(frozen=True)
class Account:
    """The ledger of one graph.

    Attributes:
        graph: the graph's name.
        total: what the owner allows; None where nothing was set.
        spends: every release, oldest first.
        is_known: whether pcneo knows the graph, so that `pcneo budget set` finds it; its first release makes it known.
    """

    graph: str
    total: Cost | None
    spends: tuple[Spend, ...] = ()
    is_known: bool = True

    @property
    def spent(self) -> Cost:
        """The sum over all releases: what a pair inside the groups of every set of memberships has spent."""
        return compose(spend.cost for spend in self.spends)

    @property
    def bounded(self) -> Cost:
        """The same without the releases that promise nothing."""
        return bounded_cost(self.spends)

    @property
    def sets(self) -> dict[str, Cost]:
        """What a pair inside the groups of one set of memberships alone has spent, by set, the first set first.

        Its `critical` releases, and all that protect or expose every pair: `edge`, `elv` and `published`.
        """
        sets = dict.fromkeys(s.membership_hash for s in self.spends if s.mechanism == "critical")
        return {
            digest: compose(s.cost for s in self.spends if s.mechanism != "critical" or s.membership_hash == digest)
            for digest in sets
            if digest is not None
        }


def check_spends(
    account: Account, asked: Sequence[Spend], *, other_groups: bool = False, no_promise: bool = False
) -> None:
    """Refuse releases that the account does not admit, all of them together, before anything is drawn.

    Args:
        account: the ledger as it stands, read under the graph's lock.
        asked: the releases.
        other_groups: the owner admits a set of memberships other than the first.
        no_promise: the owner admits releases that promise nothing, and any after one.

    Raises:
        BudgetError: says which rule stands against it and what is left.
    """
    _check_promises(account, asked, no_promise)
    _check_sets(account, asked, other_groups)
    if missing := missing_total(account, asked):
        raise BudgetError(missing, graph=account.graph)
    wanted = bounded_cost(asked)
    if account.total is not None and not fits(account.bounded + wanted, account.total):
        raise BudgetError(
            f"Graph {account.graph!r} has {left(account.bounded, account.total)} left of {account.total}; "
            f"this would spend {wanted}. Nothing was spent.",
            graph=account.graph,
        )


def missing_total(account: Account, asked: Sequence[Spend]) -> str | None:
    """Return how to set the total that these releases need; None where there is one or none is needed."""
    if account.total is not None or all(not spend.cost.is_bounded for spend in asked):
        return None
    wanted = bounded_cost(asked)
    delta = " --delta D" if wanted.delta else ""
    command = f"`pcneo budget set --graph {shlex.quote(account.graph)} --epsilon E{delta}`, or with "
    return (
        f"No total is set for graph {account.graph!r}. Set one with {command if account.is_known else ''}"
        f"--budget-epsilon E in the same call, whose total δ is what it spends; this would spend {wanted}."
    )


def bounded_cost(spends: Iterable[Spend]) -> Cost:
    """Return what releases cost together, those left out whose cost nothing bounds."""
    return compose(spend.cost for spend in spends if spend.cost.is_bounded)


def _check_promises(account: Account, asked: Sequence[Spend], no_promise: bool) -> None:
    if no_promise:
        return
    if any(not spend.cost.is_bounded for spend in asked):
        raise BudgetError("The mechanism published promises nothing. Give --no-promise if you mean it.")
    if not account.spent.is_bounded:
        raise BudgetError(
            f"What graph {account.graph!r} has spent is not bounded, since a release that promises nothing was made. "
            "Give --no-promise to go on all the same.",
            graph=account.graph,
        )


def _check_sets(account: Account, asked: Sequence[Spend], other_groups: bool) -> None:
    new = {spend.membership_hash for spend in asked if spend.mechanism == "critical"} - account.sets.keys()
    if new and len(new | account.sets.keys()) > 1 and not other_groups:
        raise BudgetError(
            f"Earlier critical releases of graph {account.graph!r} rest on another set of memberships. A pair inside "
            "the groups of several sets spends their sum, and a pair outside the groups of one is not protected in "
            "that one. Give --other-groups if you mean it.",
            graph=account.graph,
        )
