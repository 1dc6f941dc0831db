"""The questions of a `pcneo release` that names nothing, at a terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import typer

from pcneo.basics.frames import rounded
from pcneo.basics.visible import visible
from pcneo.cli.console import Bars, note
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.basics.selection import Selection
    from pcneo.release import Prepared, Source, Terms
    from pcneo.store.database import Database

__all__ = ["Wanted", "agrees", "ask_what_to_release", "settled"]

_Answer = TypeVar("_Answer")

_PROTECTED = {
    "1": ("critical", "the critical connections: those inside stored cohesions; all others count exactly"),
    "2": ("modelled", "every connection; each count is what a vertex of that noisy degree has in the mean"),
    "3": ("respond", "every connection; each pair is answered once with noise, ε from about 2"),
}


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
    note("What must be protected?")
    for number, (name, meaning) in _PROTECTED.items():
        note(f"  {number}  {meaning} ({name})")
    mechanism = _asked("1, 2 or 3", None, _mechanism)
    note(
        "How strong must the promise be, or how exact the total? Type an ε: a smaller one promises more, and its "
        "counts are noisier. One protected connection can change the odds of what is published at most 1.6 times at "
        "ε = 0.5, 2.7 times at 1, 20 at 3. Or type by how much the total may be wrong, such as ±400 or ±5%."
    )
    epsilon, error = _asked("ε or ±", "1", _epsilon_or_error)
    if error.endswith("%") and expect is None:
        expect = _asked("In how many triangles is a vertex, about", None, _positive)
    return Wanted(mechanism, epsilon, error, expect, _asked("Public file, .csv or .json", "counts.csv", _public_file))


def settled(db: Database, wanted: Wanted, source: Source, selection: Selection, terms: Terms) -> Wanted:
    """Return what is wanted with an ε: the smallest at which the total errs so little, or one that is typed instead."""
    from pcneo.privacy.foresight import advise
    from pcneo.privacy.mechanisms import MECHANISMS
    from pcneo.release.choice import find_place

    if wanted.epsilon:
        return wanted
    with_run = MECHANISMS[wanted.mechanism].needs_groups
    n, public = find_place(db, source, db.list_runs(), selection, with_run=with_run).vertices, terms.public
    advice = advise(n, str(min(public.mean_degree, n - 1)), expect=wanted.expect, error_of_total=wanted.error)
    (advised,) = (one for one in advice.mechanisms if one.mechanism == wanted.mechanism)
    if advised.refused is None and advised.epsilon:
        note(f"The total errs by {rounded(advice.wanted and advice.wanted.error)} at ε = {advised.epsilon}.")
        return wanted._replace(epsilon=advised.epsilon)
    note(f"No ε follows from that with {wanted.mechanism}. {advised.refused or ''} Type one; nothing is spent yet.")
    return wanted._replace(epsilon=_asked("ε", "1", _positive))


def agrees(prepared: Sequence[Prepared], wanted: Wanted, terms: Terms, bars: Bars, *, is_named: bool) -> bool:
    """Say what would be released, at what price and by which command, and ask; anything but a yes is a no."""
    bars.rest()
    release = prepared[0]
    note(f"Graph {release.graph.name}, {release.source.graph.vertex_count:,} vertices: {release.mechanism.heading}.")
    note(release.promise)
    note(release.mechanism.in_plain_words)
    note(_to_be_expected(release, terms))
    further = ["--mechanism", wanted.mechanism, "-e", wanted.epsilon, "--to", str(wanted.to)]
    if wanted.expect is not None and "--expect" not in sys.argv:
        further += ["--expect", wanted.expect]
    if terms.budget_epsilon is not None:
        note(f"The graph has no total yet: it becomes ε = {terms.budget_epsilon}. `pcneo budget set` changes it later.")
        if "--budget-epsilon" not in sys.argv:
            further += ["--budget-epsilon", str(terms.budget_epsilon)]
    if not is_named:
        further.append(release.run.id if release.run else release.graph.name)
    note(f"The same without questions:\n  pcneo {shlex.join([*sys.argv[1:], *further])}")
    return typer.confirm(visible(f"Spend ε = {wanted.epsilon} and write {wanted.to}?"), err=True)


def _asked(question: str, default: str | None, read: Callable[[str], _Answer]) -> _Answer:
    while True:
        try:
            return read(typer.prompt(question, default=default, err=True).strip())
        except ParameterError as error:
            note(str(error))


def _mechanism(text: str) -> str:
    for number, (name, _) in _PROTECTED.items():
        if text in (number, name):
            return name
    raise ParameterError(f"Type 1, 2 or 3, not {text!r}.", name="mechanism", value=text)


def _epsilon_or_error(text: str) -> tuple[str, str]:
    """Return ε, or else the error: what begins with ±, or is a share."""
    bare = text.removeprefix("ε").lstrip(" =")
    error = text.removeprefix("±").removeprefix("+-").removeprefix("+/-").replace(" ", "")
    if error == text and not text.endswith("%"):
        return _positive(bare), ""
    _positive(error.removesuffix("%"))
    return "", error


def _positive(text: str) -> str:
    from pcneo.privacy.exact import positive

    positive(text, "it")
    return text


def _to_be_expected(release: Prepared, terms: Terms) -> str:
    """Say how exact the release will be, as far as public numbers, or groups, tell before the spend."""
    from pcneo.privacy.exact import exact_text
    from pcneo.release.beforehand import foreseen

    seen, n, count = foreseen(release, terms), release.source.graph.vertex_count, terms.public.mean_count
    share = "" if count is None or seen.error_of_total is None else f", {300 * seen.error_of_total / (count * n):.2g} %"
    parts = []
    if seen.error_of_total is not None:
        parts.append(f"the total to ±{rounded(seen.error_of_total, 2)}{share}")
    if seen.error is not None:
        where = "" if count is None else f" where the mean is {rounded(count, 3)}"
        parts.append(f"single counts to ±{rounded(seen.error, 2)}{where}")
    if not parts:
        return "Public numbers do not tell how exact it will be."
    start = f"With {n:,} vertices at ε = {exact_text(release.mechanism.epsilon)} you can publish "
    return start + " and ".join(parts) + ". These are standard errors, and the least to be expected."


def _public_file(text: str) -> Path:
    from pcneo.release import Destination
    from pcneo.release.request import check_destinations

    check_destinations([Destination(to=Path(text))])
    return Path(text)
