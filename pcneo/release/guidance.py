"""The logic behind a guided release: what to refuse before asking, which ε to suggest, what to expect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.account import ONLY_INSIDE, command_to_set, delta_to_allow
from pcneo.privacy.composition import Cost, compose
from pcneo.privacy.exact import typed_text
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, Respond
from pcneo.privacy.outlook import USUAL_DEGREE, Earlier, Public
from pcneo.release.beforehand import advised, foreseen, is_far_below, noisy
from pcneo.release.budget import account_of, ledger_locked
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import list_ledger

NO_BUDGET = "This graph has no budget yet (the ε that all its releases may spend together)."


def check_not_being_written(db: Database, graph: GraphRecord) -> None:
    """Refuse a graph that another pcneo is writing, before any answer; the spend would refuse it after all of them."""
    if any(known.name == graph.name for known in db.list_graphs()):
        with ledger_locked(db, [graph]):
            pass  # held for a moment, with nothing written; if it is taken later, the spend is refused


Make: TypeAlias = Callable[[str, str], Sequence[Mechanism]]
"""Makes the mechanism of a name at an ε, one for each k, with the parameters that the command line gives."""


@dataclass(frozen=True)
class Offer:
    """A mechanism that is offered for a graph, before there is an ε.

    Attributes:
        mechanism: its name.
        make: see `Make`.
        vertices: of the graph, by the count store.
        earlier: what earlier releases of the graph have published about it.
    """

    mechanism: str
    make: Make
    vertices: int
    earlier: Earlier

    @property
    def needs_groups(self) -> bool:
        """Whether it rests on stored groups, from which its errors follow."""
        return MECHANISMS[self.mechanism].needs_groups

    def obstacle(self, graph: str, total: Cost | None, left: Cost | None, *, has_groups: bool) -> str:
        """Return what has to happen before it can release the graph, a sentence; empty if it can.

        `total` is the graph's budget and `left` what is left of it, None where nothing bounds them.
        """
        if self.needs_groups and not has_groups:
            return "There are no stored groups yet: `pcneo annotate` stores them, in seconds or minutes."
        try:
            made = self._at("1")
        except ParameterError as refused:
            return str(refused)
        needed = sum((each.entry[1] for each in made), Fraction(0))
        if total is None or total.epsilon is None or left is None or needed <= left.delta:
            return ""
        has = f"only δ = {typed_text(left.delta)} left, and this takes {typed_text(needed)}" if total.delta else "no δ"
        enough = delta_to_allow(total.delta - left.delta, needed)
        return (
            f"{self.mechanism} also spends δ, a probability with which its promise may fail, but the budget of graph "
            f"{graph!r} has {has}. Allow δ = {typed_text(enough)} with {command_to_set(graph, total.epsilon, enough)}."
        )

    def check(self, epsilon: str) -> None:
        """Raise a ParameterError for an ε that it does not take."""
        self.make(self.mechanism, epsilon)

    def noise(self, terms: Terms) -> Noise:
        """Return what is mostly noise, for `respond` alone; what others need depends on their δ as well."""
        if self.mechanism != Respond.name:
            return Noise(None)
        public = self._public(terms)
        likely, given = "probably ", f"if a vertex has {rounded(public.mean_degree)} connections"
        if public.mean_count is not None:
            likely, given = "", f"if a vertex is in {rounded(public.mean_count)} triangles on average"
        error = public.mean_count or public.likely
        try:
            _, least = advised(self.mechanism, self.vertices, public, error_of_count=error)
        except ParameterError:  # no ε makes the error so small
            return Noise("", likely, given)
        return Noise(least, likely, given)

    def why_noisy(self, epsilon: str, terms: Terms) -> str:
        """Return why this ε is expected to leave mostly noise, a sentence; empty if it is not, or if groups decide."""
        if terms.anyway or self.needs_groups:
            return ""
        made, noise = self._at(epsilon), self.noise(terms)
        why = [text for each in made for text in (each.doubt, noisy(each, terms, self.earlier)) if text]
        if not why and noise.below and made[0].epsilon < Fraction(noise.below):
            return noise.sentence
        return " ".join(why)

    def epsilon_for(self, error: str, terms: Terms) -> tuple[str, str]:
        """Return the smallest ε at which the total has so small an error, and a sentence on it.

        It raises a ParameterError if no ε does that.
        """
        public = self._public(terms)
        off, epsilon = advised(self.mechanism, self.vertices, public, error_of_total=error)
        return epsilon, (
            f"ε = {epsilon}: with a smaller one, the total would typically be off by more than {rounded(off)}, if a "
            f"vertex has {rounded(public.mean_degree)} connections on average."
        )

    def _at(self, epsilon: str) -> list[Mechanism]:
        return [each.on(self.vertices) for each in self.make(self.mechanism, epsilon)]

    def _public(self, terms: Terms) -> Public:
        return terms.known(self.earlier).among(self.vertices)


class Noise(NamedTuple):
    """What is mostly noise, as far as public numbers tell.

    Attributes:
        below: the ε below which counts are; "" where every ε leaves noise, None where nothing is known.
        likely: "probably " if that rests on a mean degree alone.
        given: what it rests on, to end a sentence with.
    """

    below: str | None
    likely: str = ""
    given: str = ""

    @property
    def sentence(self) -> str:
        """A sentence for the person; empty where nothing is known."""
        if self.below is None:
            return ""
        if not self.below:
            return f"Here, counts are mostly noise at any ε, {self.given}."
        fewer = " If few of someone's connections know each other, it takes more." if self.likely else ""
        return f"Here, less than about {self.below} {self.likely}leaves mostly noise, {self.given}.{fewer}"

    @property
    def offered(self) -> str | None:
        """An ε to offer; None where the usual one leaves mostly noise."""
        if self.below is None:
            return "1"
        return "3" if self.below and Fraction(self.below) <= 3 else None


def price(db: Database, prepared: Sequence[Prepared], terms: Terms) -> str:
    """Return a sentence about what the release spends, for all its k, and what it leaves."""
    release, cost = prepared[0], compose(each.spend.cost for each in prepared)
    spends, total = f"this release spends {cost.without_zero}", terms.total
    account = account_of(list_ledger(db), release.graph.name)
    if total is not None and account.total is None:
        which = "all of which this release spends" if total.epsilon == cost.epsilon else f"of which {spends}"
        inside = f" {ONLY_INSIDE}" if release.spend.protected_set else "."
        return f"{NO_BUDGET} It will be set to {total.without_zero}, {which}{inside}"
    if account.left is None:
        return f"There is no bound on what this graph has spent; {spends} more."
    afterwards = replace(account, spends=(*account.spends, *(each.spend for each in prepared)))
    inside = f" {ONLY_INSIDE}" if afterwards.sets else "."
    return f"This graph has {account.left} left; {spends} and leaves {afterwards.left}{inside}"


def what_to_expect(release: Prepared, terms: Terms) -> str:
    """Return a sentence about how exact the release will be, as far as public numbers or groups tell in advance."""
    seen, n, count = foreseen(release, terms), release.source.graph.vertex_count, terms.public.mean_count
    parts, where = [], "" if count is None else f", where the mean is {rounded(count, 3)}"
    if (most := release.utility.most_error) is not None:
        few, many = rounded(seen.error, 2), rounded(most, 2)
        return (
            f"For you alone: expect a count of triangles to be off by at least {few} and at most {many}{where} (one "
            "standard error; which of the two is nearer depends on the connections inside the groups)."
        )
    if seen.error is not None:
        parts.append(f"a count to be off by {rounded(seen.error, 2)} or more{where}")
    if seen.error_of_total is not None:
        share = "" if count is None else f" ({rounded(300 * seen.error_of_total / (count * n), 2)} %)"
        parts.append(f"the number of all triangles to be off by {rounded(seen.error_of_total, 2)}{share} or more")
    if not parts:
        return "How exact the counts will be cannot be said in advance."
    often = "; it is often many times as much" if is_far_below(release, terms.known(release.earlier)) else ""
    unknown = seen.error is not None and count is None
    noise = " If a vertex is in fewer triangles than that on average, counts are mostly noise." if unknown else ""
    is_guess = terms.mean_degree is None and release.earlier.mean_degree is None
    assumed = f" This assumes {rounded(USUAL_DEGREE)} connections per vertex." if is_guess else ""
    return f"Expect {', and '.join(parts)} (one standard error{often}).{noise}{assumed}"
