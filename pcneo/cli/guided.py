"""The questions that plain `pcneo release` asks at a terminal."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from pcneo.basics.visible import visible
from pcneo.cli.console import Bars
from pcneo.cli.streams import note, note_verbatim
from pcneo.cli.typed_answers import (
    Left,
    asked,
    budget_for,
    epsilon_of,
    epsilon_or_error,
    mean_count,
    mean_degree,
    numbered_of,
    one_of,
    public_file,
)
from pcneo.errors import BudgetError, ParameterError

if TYPE_CHECKING:
    from pcneo.basics.selection import Selection
    from pcneo.release import Prepared, Source, Terms
    from pcneo.release.guidance import Make, Offer
    from pcneo.store.database import Database


class _Choice(NamedTuple):
    """A mechanism that is offered.

    Attributes:
        meaning: what it protects, and what each vertex gets.
        limits: what it does not protect, or what its counts are not; shown before the spend.
    """

    meaning: str
    limits: str


_CHOICES = {
    "critical": _Choice(
        "the critical connections: those inside the stored groups, the cohesions; no others",
        "Connections outside the groups are not protected, even where earlier releases protected them, and neither is "
        "what the groups themselves show.",
    ),
    "modelled": _Choice(
        "every connection, at a small ε or in a large graph, too; each vertex gets a typical count for vertices with "
        "about as many connections",
        "A count is what is usual for vertices with about as many connections, not this vertex's own; only `pcneo "
        "audit GRAPH` says how far off it is.",
    ),
    "respond": _Choice(
        "every connection; each vertex gets its own count, which at a small ε is mostly noise",
        "It does not hide what other connections show: in dense parts, one can be guessed from those around it.",
    ),
}
"""The choices by mechanism; the numbers to type follow this order."""


_DEGREE = "Connections of a vertex, on average (a guess will do)"
_TRIANGLES = "Triangles that a vertex is in, on average"


class Wanted(NamedTuple):
    """What the person has chosen.

    Attributes:
        source: the graph or run that is released.
        terms: what was asked about the graph, a budget if it has none, and whether noise is accepted; besides what
            options give.
        further: the options that do the same without questions.
    """

    source: Source
    mechanism: str
    epsilon: str
    to: Path
    terms: Terms
    further: Sequence[str]


def ask_what_to_release(db: Database, source: Source, selection: Selection, terms: Terms, make: Make) -> Wanted:
    """Ask what must be protected, how exactly or how strongly, and for the file; each until an answer can be used.

    The first question is which graph, if there are several; the last is a budget, if the graph has none. A graph that
    another pcneo is writing is refused before the other questions. `make` makes the mechanisms that are offered.
    """
    from pcneo.release.budget import account_of, check_holds_its_ledger
    from pcneo.release.choice import count_vertices, find_place
    from pcneo.release.guidance import Offer, check_not_being_written
    from pcneo.release.published_means import earlier_of
    from pcneo.store.ledger import list_ledger

    source = _which_graph(db, source, selection)
    runs = db.list_runs()
    graph, _ = find_place(db, source, runs, selection, with_run=source.names_run)  # refuses before any answer
    ledger = list_ledger(db)
    check_holds_its_ledger(ledger, graph.name)
    if not terms.dry_run:
        check_not_being_written(db, graph)
    account, n = account_of(ledger, graph.name), count_vertices(db, graph, None)
    left = None if terms.dry_run else account.left
    if left is not None and left.epsilon == 0:
        raise BudgetError(
            f"Graph {graph.name!r} has nothing left of {account.total}. `pcneo budget set` raises its total.",
            graph=graph.name,
        )
    ids = [run.id for run in runs if (run.scope, run.graph) == ("graph", graph.name)]
    total = None if terms.dry_run else account.total
    offers = [Offer(name, make, n, earlier_of(ledger, graph.name)) for name in _CHOICES]
    chosen = _ask_mechanism(offers, [offer.obstacle(graph.name, total, left, has_groups=bool(ids)) for offer in offers])
    if source.names_run and not chosen.needs_groups:
        note(f"This uses no stored groups, so it is released from the graph {graph.name}.")
        source = replace(source, run=None, p=None, search=None, graph=graph.name)
    if chosen.needs_groups and not source.names_run:
        source = _which_run(source, ids)
    meant = _ask_means(chosen, terms)
    allowed = left or terms.total
    most = None if allowed is None else Left(allowed, new=left is None)
    epsilon, meant = _ask_how(chosen, meant, most)
    to = asked("Public file, .csv or .json", free_name(), public_file)
    if terms.budget_epsilon is None and account.total is None:
        meant = replace(meant, budget_epsilon=_ask_budget(epsilon))
    further = ["--mechanism", chosen.mechanism, "-e", epsilon, "--to", str(to), *_added(terms, meant)]
    return Wanted(source, chosen.mechanism, epsilon, to, meant, further)


def _added(given: Terms, meant: Terms) -> list[str]:
    """Return the options for what was answered beyond what options gave."""
    values = {
        "--mean-degree": (given.mean_degree, meant.mean_degree),
        "--expect": (given.expect, meant.expect),
        "--budget-epsilon": (given.budget_epsilon, meant.budget_epsilon),
    }
    added = [part for option, (old, new) in values.items() if old is None and new for part in (option, str(new))]
    return added + ["--anyway"] * (meant.anyway and not given.anyway)


def _which_graph(db: Database, source: Source, selection: Selection) -> Source:
    """Ask for the graph if none is named and the database knows several."""
    names = [graph.name for graph in db.list_graphs()]
    if source.names_run or source.graph is not None or selection or len(names) < 2:
        return source
    note(f"Which graph? There are {', '.join(names)}.")
    return replace(source, graph=asked("Graph", None, partial(one_of, "graph", names)))


def _which_run(source: Source, ids: Sequence[str]) -> Source:
    """Ask for the run if several of the graph are stored."""
    if len(ids) < 2:
        return source
    note(f"The groups of which run? There are {', '.join(ids)}.")
    return replace(source, run=asked("Run", None, partial(one_of, "run", ids)))


def _ask_mechanism(offers: Sequence[Offer], obstacles: Sequence[str]) -> Offer:
    """Ask for a mechanism; an obstacle says what has to happen before one can be used."""
    if all(obstacles):
        raise ParameterError(" ".join(dict.fromkeys(obstacles)), name="mechanism", value=None)
    note("The file will say how many triangles each vertex is in, with noise. What must it protect?")
    for number, (offer, obstacle) in enumerate(zip(offers, obstacles, strict=True), 1):
        why = "; not here: type its number to see why" if obstacle else ""
        note(f"  {number}  {_CHOICES[offer.mechanism].meaning} ({offer.mechanism}){why}")
    note("For the number of all triangles alone, with far less noise:")
    note_verbatim("  pcneo release --mechanism total -e 0.5 --to total.csv")
    return asked("1, 2 or 3", None, partial(numbered_of, offers, obstacles))


def _ask_means(offer: Offer, terms: Terms) -> Terms:
    """Ask for the means by which noise is judged; what earlier releases have published of the degrees isn't asked."""
    from pcneo.privacy.outlook import USUAL_DEGREE

    if not offer.needs_groups and terms.mean_degree is None and offer.earlier.mean_degree is None:
        usual = f"{USUAL_DEGREE:g}"
        degree = asked(_DEGREE, usual, mean_degree)
        terms = terms if degree == usual else replace(terms, mean_degree=degree)
    if terms.expect is not None:
        return terms
    published = terms.known(offer.earlier).among(offer.vertices).mean_count
    guess = f"{float(f'{published:.3g}'):g}" if published else ""
    unsure = "a guess will do" if guess else "press Enter if you don't know"
    return replace(terms, expect=asked(f"{_TRIANGLES} ({unsure})", guess, partial(mean_count, offer.vertices)))


def _ask_how(offer: Offer, terms: Terms, left: Left | None) -> tuple[str, Terms]:
    """Ask for ε, or for an error of the total from which it follows; again if that is noise and not meant.

    Return it with the terms, to which is added whether noise is accepted.
    """
    noise = offer.noise(terms)
    default, hint = noise.offered, noise.sentence
    if default is not None and offer.why_noisy(default, terms):
        default = None
    if left is not None and default is not None and not left.allows(Fraction(default)):
        default, hint = None, f"{hint} {left.sentence}"
    known = "the groups and " if offer.needs_groups else ""
    note(
        "How strongly? Type ε: the smaller it is, the stronger the protection and the larger the noise. For someone "
        f"who knows {known}all other connections, the file changes the odds of one protected connection by a factor of "
        f"at most 1.65 if ε is 0.5, 2.72 if it is 1, 20.1 if it is 3. {hint}".rstrip()
    )
    if not offer.needs_groups:
        note("Or type how far off the number of all triangles may be, such as ±400 or ±5%.")
    while True:
        epsilon = _ask_epsilon(offer, terms, default, left)
        why = offer.why_noisy(epsilon, terms)
        if not why:
            return epsilon, terms
        note(f"{why} Nothing has been spent yet.")
        if typer.confirm(visible(f"Take ε = {epsilon} anyway?"), err=True):
            return epsilon, replace(terms, anyway=True)


def _ask_epsilon(offer: Offer, terms: Terms, default: str | None, left: Left | None) -> str:
    """Ask for ε, or for an error of the total from which one follows."""
    typed = partial(epsilon_of, offer, left)
    if offer.needs_groups:  # no public number gives an ε for an error
        return asked("ε", default, typed)
    epsilon, error = asked("ε or ±", default, partial(epsilon_or_error, typed))
    if not error:
        return epsilon
    try:
        epsilon, why = offer.epsilon_for(error, terms)
        note(why)
        return typed(epsilon)
    except ParameterError as refused:
        note(f"No ε follows from that with {offer.mechanism}. {refused} Type an ε; nothing has been spent yet.")
        return asked("ε", default, typed)


def _ask_budget(epsilon: str) -> str:
    from pcneo.release.guidance import NO_BUDGET

    note(f"{NO_BUDGET} `pcneo budget set` changes it later.")
    question = "Budget, how much ε all releases of this graph may spend together"
    return asked(question, epsilon, partial(budget_for, epsilon))


def free_name() -> str:
    """Return a name that no earlier release has taken."""
    from pcneo.release import Destination

    names = ("counts.csv" if number == 1 else f"counts-{number}.csv" for number in count(1))
    places = ((name, Destination(to=Path(name))) for name in names)
    return next(name for name, to in places if not any(map(os.path.lexists, (to.public, *to.reports))))


@contextmanager
def noting_that_nothing_is_spent() -> Iterator[None]:
    """Note that nothing was spent if the person leaves at a question inside the block."""
    try:
        yield
    except typer.Abort as left:
        note("\nNothing was spent.")
        if isinstance(left.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from left
        raise


@contextmanager
def warnings_alone(*, wanted: bool) -> Iterator[None]:
    """Log only warnings inside the block: the figures that a script finds in its log, `agrees` puts in words."""
    log = logging.getLogger("pcneo")
    level = log.level
    if wanted:
        log.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        log.setLevel(level)


def agrees(
    prepared: Sequence[Prepared], db: Database, wanted: Wanted, terms: Terms, bars: Bars, *, named: str | None
) -> bool:
    """Note what would be released, at what price and by which command, and ask; anything but a yes is a no.

    `named` is the graph or run that the command line names.
    """
    from pcneo.release.beforehand import doubts, far_off
    from pcneo.release.guidance import price, what_to_expect

    bars.rest()
    release = prepared[0]
    note(f"Graph {release.graph.name}: {release.source.graph.vertex_count:,} vertices.")
    note(release.in_plain_words)
    note(_CHOICES[wanted.mechanism].limits)
    if release.run is not None:
        inside = int(release.facts.protected_graph().connected.sum())
        outside = release.source.graph.edge_count - inside
        share = outside / max(1, release.source.graph.edge_count)
        note(f"For you alone: {outside:,} connections ({share:.0%}) are outside the groups.")
    note(what_to_expect(release, terms))
    if unlike := far_off(release, terms):
        note(unlike)
    further = list(wanted.further)
    if doubts(prepared, terms):  # which have been asked about
        further.append("--anyway")
    place = release.run.id if release.run else release.graph.name
    typed = sys.argv[2:]
    if named is None:
        further.append(place)
    elif named != place:  # from the end, where people type names: an option may have the same word as its value
        typed[len(typed) - 1 - typed[::-1].index(named)] = place
    note(release.naming)
    note(price(db, prepared, terms))
    note("To do the same without questions:")
    note_verbatim(f"  pcneo {shlex.join([*sys.argv[1:2], *typed, *further])}")
    with noting_that_nothing_is_spent():
        return typer.confirm(visible(f"Spend ε = {wanted.epsilon} and write {wanted.to}?"), err=True)
