"""The questions of a `pcneo release` that names nothing, at a terminal."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import typer

from pcneo.basics.frames import rounded
from pcneo.basics.visible import visible
from pcneo.cli.console import Bars
from pcneo.cli.streams import note, note_verbatim
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.basics.selection import Selection
    from pcneo.release import Prepared, Source, Terms
    from pcneo.store.database import Database


_Answer = TypeVar("_Answer")


class _Choice(NamedTuple):
    """A mechanism that is offered.

    Attributes:
        meaning: what it is chosen for.
        limits: what it does not protect, or what its counts are not; said before the spend.
    """

    meaning: str
    limits: str


_CHOICES = {
    "critical": _Choice(
        "the critical connections: those inside the stored groups, the cohesions; all others stay visible",
        "Connections outside the groups are not protected, and neither is what the groups themselves show.",
    ),
    "modelled": _Choice(
        "every connection; a vertex gets the count that is usual for about as many connections as it has",
        "A count is what is usual for about as many connections, not what this vertex has; only `pcneo audit GRAPH` "
        "says how far off it is.",
    ),
    "respond": _Choice(
        "every connection; a vertex gets its own count, and the noise is the largest",
        "It does not hide what other connections show: in dense parts one can be guessed from those around it.",
    ),
}
"""By mechanism; the numbers to type are in this order."""


class Wanted(NamedTuple):
    """What was answered; ε is empty where an error of the total was named, until it follows from that.

    Attributes:
        error: the standard error that the total may have, a number or a share such as `5%`.
        expect: how many triangles a vertex is expected to be in; a share is of that.
    """

    mechanism: str
    epsilon: str
    error: str
    expect: str | None
    to: Path


def ask_what_to_release(expect: str | None) -> Wanted:
    """Ask what must be protected, how exactly or how strongly, and which file; each until an answer can be used."""
    note("The file will say how many triangles each vertex is in, with noise. What must it protect?")
    for number, choice in enumerate(_CHOICES.values(), 1):
        note(f"  {number}  {choice.meaning}")
    mechanism = _asked("1, 2 or 3", None, _mechanism)
    note(
        "How strongly? Type ε: the smaller it is, the stronger the protection and the larger the noise. The file "
        "changes anybody's odds that one protected connection exists by a factor of at most 1.6 if ε is 0.5, 2.7 if it "
        f"is 1, 20 if it is 3.{' Here, less than about 2 leaves mostly noise.' if mechanism == 'respond' else ''}"
    )
    if mechanism == "critical":  # whose errors follow from groups: no public number gives an ε for one
        epsilon, error = _asked("ε", "1", partial(_epsilon_of, mechanism)), ""
    else:
        note("Or type how far off the number of all triangles may be, such as ±400 or ±5%.")
        epsilon, error = _asked("ε or ±", "1", partial(_epsilon_or_error, mechanism))
    if error.endswith("%") and expect is None:
        expect = _asked("In how many triangles is a vertex, about", None, _positive)
    return Wanted(mechanism, epsilon, error, expect, _asked("Public file, .csv or .json", "counts.csv", _public_file))


def settled(db: Database, wanted: Wanted, source: Source, selection: Selection, terms: Terms) -> Wanted:
    """Return what is wanted with an ε: the smallest at which the total errs so little, or one that is typed instead."""
    from pcneo.privacy.foresight import advise
    from pcneo.privacy.mechanisms import MECHANISMS
    from pcneo.release.choice import count_vertices, find_place

    if wanted.epsilon:
        return wanted
    with_run = MECHANISMS[wanted.mechanism].needs_groups
    graph, run = find_place(db, source, db.list_runs(), selection, with_run=with_run)
    n, public = count_vertices(db, graph, run), terms.public
    advice = advise(n, str(min(public.mean_degree, n - 1)), expect=wanted.expect, error_of_total=wanted.error)
    (advised,) = (one for one in advice.mechanisms if one.mechanism == wanted.mechanism)
    if advised.refused is None and advised.epsilon:
        note(f"The total errs by {rounded(advice.wanted and advice.wanted.error)} or more at ε = {advised.epsilon}.")
        return wanted._replace(epsilon=advised.epsilon)
    note(f"No ε follows from that with {wanted.mechanism}. {advised.refused or ''} Type one; nothing is spent yet.")
    return wanted._replace(epsilon=_asked("ε", "1", partial(_epsilon_of, wanted.mechanism)))


@contextmanager
def warnings_alone(*, wanted: bool) -> Iterator[None]:
    """Log warnings alone inside the block: what a script's log says of figures, `agrees` says in words."""
    log = logging.getLogger("pcneo")
    level = log.level
    if wanted:
        log.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        log.setLevel(level)


def agrees(
    prepared: Sequence[Prepared], db: Database, wanted: Wanted, terms: Terms, bars: Bars, *, is_named: bool
) -> bool:
    """Say what would be released, at what price and by which command, and ask; anything but a yes is a no."""
    from pcneo.release.beforehand import far_off

    bars.rest()
    release = prepared[0]
    note(f"Graph {release.graph.name}: {release.source.graph.vertex_count:,} vertices.")
    note(release.mechanism.in_plain_words)
    note(_CHOICES[wanted.mechanism].limits)
    note(_to_be_expected(release, terms))
    if unlike := far_off(release, terms):
        note(unlike)
    further = ["--mechanism", wanted.mechanism, "-e", wanted.epsilon, "--to", str(wanted.to)]
    if wanted.expect is not None and "--expect" not in sys.argv:
        further += ["--expect", wanted.expect]
    if terms.budget_epsilon is not None and "--budget-epsilon" not in sys.argv:
        further += ["--budget-epsilon", str(terms.budget_epsilon)]
    if not is_named:
        further.append(release.run.id if release.run else release.graph.name)
    note(_price(db, release, terms))
    note("The same without questions:")
    note_verbatim(f"  pcneo {shlex.join([*sys.argv[1:], *further])}")
    return typer.confirm(visible(f"Spend ε = {wanted.epsilon} and write {wanted.to}?"), err=True)


def _price(db: Database, release: Prepared, terms: Terms) -> str:
    """Say what the release spends, and what is left then."""
    from pcneo.release.spending import account_now

    limit = "how much ε all its releases may spend together"
    spends, total = f"this release spends {release.spend.cost.without_zero}", terms.total
    if total is not None:
        which = "all of which this release spends" if total.epsilon == release.spend.epsilon else f"of which {spends}"
        return f"This graph has no budget yet, {limit}: it will be set to {total.without_zero}, {which}."
    account = account_now(db, release.graph.name)
    if account.left is None:
        return f"What this graph has spent is not bounded; {spends} more."
    afterwards = replace(account, spends=(*account.spends, release.spend))
    return f"This graph has {account.left} left; {spends} and leaves {afterwards.left}."


def _asked(question: str, default: str | None, read: Callable[[str], _Answer]) -> _Answer:
    while True:
        try:
            return read(typer.prompt(question, default=default, err=True).strip())
        except ParameterError as error:
            note(str(error))


def _mechanism(text: str) -> str:
    for number, name in enumerate(_CHOICES, 1):
        if text in (str(number), name):
            return name
    raise ParameterError(f"Type 1, 2 or 3, not {text!r}.", name="mechanism", value=text)


def _epsilon_or_error(mechanism: str, text: str) -> tuple[str, str]:
    """Return ε, or else the error: what begins with ±, or is a share."""
    also = ", or an error such as ±400 or ±5%"
    error = text.removeprefix("±").removeprefix("+-").removeprefix("+/-").replace(" ", "")
    if error == text and not text.endswith("%"):
        return _epsilon_of(mechanism, text, also), ""
    _positive(error.removesuffix("%"), also)
    return "", error


def _epsilon_of(mechanism: str, text: str, also: str = "") -> str:
    """Return an ε that the mechanism takes."""
    from pcneo.privacy.mechanisms import mechanism_of

    epsilon = _positive(text.removeprefix("ε").lstrip(" ="), also)
    mechanism_of(mechanism, epsilon=epsilon)
    return epsilon


def _positive(text: str, also: str = "") -> str:
    from pcneo.privacy.exact import positive

    try:
        positive(text, "it")
    except ParameterError as error:
        raise ParameterError(f"Type a positive number such as 0.5 or 1/3{also}.", **error.data) from None
    return text


def _to_be_expected(release: Prepared, terms: Terms) -> str:
    """Say how exact the release will be, as far as public numbers, or groups, tell before the spend."""
    from pcneo.release.beforehand import foreseen

    seen, n, count = foreseen(release, terms), release.source.graph.vertex_count, terms.public.mean_count
    parts = []
    if seen.error is not None:
        where = "" if count is None else f", where the mean is {rounded(count, 3)}"
        parts.append(f"a count to be off by {rounded(seen.error, 2)} or more{where}")
    if seen.error_of_total is not None:
        share = "" if count is None else f" ({rounded(300 * seen.error_of_total / (count * n), 2)} %)"
        parts.append(f"the number of all triangles to be off by {rounded(seen.error_of_total, 2)}{share} or more")
    if not parts:
        return "How exact the counts will be cannot be told beforehand."
    return f"Expect {', and '.join(parts)} (one standard error)."


def _public_file(text: str) -> Path:
    from pcneo.release import Destination
    from pcneo.release.request import check_destinations

    check_destinations([Destination(to=Path(text))])
    return Path(text)
