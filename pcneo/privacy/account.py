"""What a graph's releases have spent, and whether another one fits: exact sums and refusals (GUARANTEE.md#budget).

This is bookkeeping for an honest owner. Nothing here knows where the records are stored.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from pcneo.errors import BudgetError
from pcneo.privacy.composition import UNBOUNDED, Cost, compose, fits, left
from pcneo.privacy.exact import rounded_up, typed_text
from pcneo.privacy.mechanisms import MECHANISMS, RETIRED, protection_of
from pcneo.privacy.mechanisms.one_scale import USUAL_DELTA
from pcneo.privacy.protection import Protects

ONLY_INSIDE = "for pairs inside the groups. Nothing bounds what this graph's releases show of other pairs."
"""The end of a sentence on what is left, where a release protects pairs inside groups alone."""

_ALLOW = "Give --no-promise (in Python `no_promise=True`)"


@dataclass(frozen=True)
class Spend:
    """One release as recorded in the ledger.

    Attributes:
        mechanism: its name; another version of pcneo may have written one that this version does not know.
        epsilon, delta: what it costs one connection that it protects.
        membership_hash: the set of memberships that a release with groups rests on; None for others.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    membership_hash: str | None = None

    @property
    def cost(self) -> Cost:
        """(ε, δ); not bounded for a mechanism that promises nothing, or that this version does not know."""
        return UNBOUNDED if self.protects is Protects.NOTHING else Cost(self.epsilon, self.delta)

    @property
    def protects(self) -> Protects:
        """The kind of promise that the mechanism makes; none for one that this version does not know."""
        return protection_of(self.mechanism)

    @property
    def is_known(self) -> bool:
        """Whether this version knows the mechanism."""
        return self.mechanism in MECHANISMS or self.mechanism in RETIRED

    @property
    def protected_set(self) -> str | None:
        """The set of memberships whose groups it protects, and nothing else; None for a release without groups."""
        return self.membership_hash if self.protects is Protects.PAIRS_INSIDE_GROUPS else None


@dataclass(frozen=True)
class Account:
    """The ledger of one graph.

    Attributes:
        graph: the graph's name.
        total: what the owner allows; None where no total was set.
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
    def left(self) -> Cost | None:
        """What a pair inside the groups of every set may still spend; None without a total or a bound."""
        return left(self.spent, self.total) if self.total is not None and self.spent.is_bounded else None

    def in_words(self) -> str:
        """Return what was spent, and of what."""
        return f"spent {self.spent} of {'no total yet' if self.total is None else self.total}"

    @property
    def bounded(self) -> Cost:
        """The sum over all releases but those that promise nothing."""
        return bounded_cost(self.spends)

    @property
    def sets(self) -> dict[str, Cost]:
        """What a pair inside the groups of only one set of memberships has spent, by set, the first set first.

        With several sets this is not bounded: the releases that protect the pairs of one set may expose a pair that
        lies outside its groups.
        """
        digests = dict.fromkeys(spend.protected_set for spend in self.spends if spend.protected_set is not None)
        return {digest: UNBOUNDED if len(digests) > 1 else self.spent for digest in digests}


def check_spends(
    account: Account, wanted: Sequence[Spend], *, other_groups: bool = False, no_promise: bool = False
) -> None:
    """Refuse releases that the account does not admit, all of them together, before anything is drawn."""
    _check_promises(account, wanted, no_promise)
    _check_sets(account, wanted, other_groups)
    if missing := missing_total(account, wanted):
        raise BudgetError(missing, graph=account.graph)
    cost = bounded_cost(wanted)
    if account.total is not None and not fits(account.bounded + cost, account.total):
        delta, needed = "", account.bounded.delta + cost.delta
        if needed >= 1:
            delta = " No total δ is large enough: it must be below 1."
        elif needed > account.total.delta and fits(replace(account.bounded + cost, delta=Fraction(0)), account.total):
            enough = delta_to_allow(account.bounded.delta, cost.delta)
            command = command_to_set(account.graph, account.total.epsilon or Fraction(0), enough)
            lacks = "Its total δ is too small" if account.total.delta else "Its ε is enough, but it has no δ"
            delta = f" {lacks}: {command} raises it."
        room = left(account.bounded, account.total)
        raise BudgetError(
            f"Graph {account.graph!r} has {room if account.total.delta else room.without_zero} left of "
            f"{account.total.without_zero}; this would spend {cost.without_zero}. Nothing was spent."
            f"{delta or _how_to_fit(account, wanted)}",
            graph=account.graph,
        )


def delta_to_allow(spent: Fraction, wanted: Fraction) -> Fraction:
    """Return a total δ to advise: one for ten such releases while that is small, lest the next one be refused, too."""
    for_ten = rounded_up(spent + 10 * wanted, 1)
    return for_ten if for_ten <= 100 * USUAL_DELTA else _one_digit(spent + wanted)


def command_to_set(graph: str, epsilon: Fraction | str, delta: Fraction | str = "") -> str:
    """Return the command that gives a graph this total."""
    epsilon, delta = (text if isinstance(text, str) else typed_text(text) for text in (epsilon, delta))
    return f"`pcneo budget set {shlex.quote(graph)} --epsilon {epsilon}{delta and f' --delta {delta}'}`"


def _one_digit(delta: Fraction) -> Fraction:
    """Return a δ that a person would type: rounded up to one digit, where that is below 1."""
    above = rounded_up(delta, 1)
    return above if above < 1 else delta


def _how_to_fit(account: Account, wanted: Sequence[Spend]) -> str:
    """Say which ε still fits, if any does, and which command makes room for all of this."""
    total, needed = account.total, account.bounded + bounded_cost(wanted)
    if total is None or total.epsilon is None or needed.epsilon is None or account.bounded.epsilon is None:
        return ""
    room = total.epsilon - account.bounded.epsilon
    is_enough = room > 0 and len(wanted) == 1 and needed.delta <= total.delta
    smaller = f"Release with -e {typed_text(room)} or less, or raise" if is_enough else "Raise"
    allow = delta_to_allow(account.bounded.delta, bounded_cost(wanted).delta) if needed.delta > total.delta else ""
    return f" {smaller} the total: {command_to_set(account.graph, needed.epsilon, allow)}."


def missing_total(account: Account, wanted: Sequence[Spend]) -> str | None:
    """Return how to set the budget that these releases need; None where it is set or not needed."""
    if account.total is not None or all(not spend.cost.is_bounded for spend in wanted):
        return None
    cost = bounded_cost(wanted)
    spends = cost if cost.delta else f"ε = {typed_text(cost.epsilon or Fraction(0))}"
    command = f" (or with {command_to_set(account.graph, 'E', 'D' if cost.delta else '')})"
    return (
        f"Graph {account.graph!r} has no budget yet: how much ε all its releases together may spend. Set it to E "
        f"with --budget-epsilon E (in Python `budget_epsilon=E`) in this call{command if account.is_known else ''}; "
        f"this would spend {spends}."
    )


def bounded_cost(spends: Iterable[Spend]) -> Cost:
    """Return what releases cost together, leaving out those whose cost is not bounded."""
    return compose(spend.cost for spend in spends if spend.cost.is_bounded)


def _check_promises(account: Account, wanted: Sequence[Spend], no_promise: bool) -> None:
    if no_promise:
        return
    for spend in wanted:
        if not spend.cost.is_bounded:
            raise BudgetError(
                f"The mechanism {spend.mechanism} promises nothing. {_ALLOW} if you mean it.",
                graph=account.graph,
            )
    if unknown := sorted({spend.mechanism for spend in account.spends if not spend.is_known}):
        raise BudgetError(
            f"What graph {account.graph!r} has spent cannot be bounded by this version of pcneo: its ledger has "
            f"releases of the mechanism {', '.join(unknown)}, which only another version knows. Use that version. "
            f"{_ALLOW} to go on anyway.",
            graph=account.graph,
        )
    if not account.spent.is_bounded:
        raise BudgetError(
            f"What graph {account.graph!r} has spent is not bounded, since it has had a release that promises nothing. "
            f"{_ALLOW} to go on anyway.",
            graph=account.graph,
        )


def _check_sets(account: Account, wanted: Sequence[Spend], other_groups: bool) -> None:
    new = {spend.protected_set for spend in wanted} - {None} - account.sets.keys()
    if new and len(new | account.sets.keys()) > 1 and not other_groups:
        names = dict.fromkeys(s.mechanism for s in (*account.spends, *wanted) if s.protected_set is not None)
        raise BudgetError(
            f"Earlier {' and '.join(names)} releases of graph {account.graph!r} rest on another set of memberships. A "
            "pair inside the groups of several sets spends their sum; a pair outside the groups of one set is not "
            "protected by that set's releases. "
            "Give --groups VERSION to keep the earlier groups, or --other-groups to use others (in Python "
            "`groups=VERSION` and `other_groups=True`).",
            graph=account.graph,
        )
