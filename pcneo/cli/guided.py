"""The questions of a `pcneo release` that names nothing, at a terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import typer

from pcneo.basics.visible import visible
from pcneo.cli.console import Bars, note
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.release import Prepared, Terms

__all__ = ["Wanted", "agrees", "ask_what_to_release"]

_Answer = TypeVar("_Answer")

_PROTECTED = {
    "1": ("critical", "the critical connections: those inside stored cohesions; all others count exactly"),
    "2": ("edge", "every connection; you see the graph and add the noise"),
    "3": ("respond", "every connection, with nobody trusted: the noise is in each answer"),
}


class Wanted(NamedTuple):
    """What was answered."""

    mechanism: str
    epsilon: str
    to: Path


def ask_what_to_release() -> Wanted:
    """Ask what must be protected, how strongly, and which file; each until there is an answer that can be used."""
    note("What must be protected?")
    for number, (name, meaning) in _PROTECTED.items():
        note(f"  {number}  {meaning} ({name})")
    mechanism = _asked("1, 2 or 3", None, _mechanism)
    note(
        "How strong must the promise be? A smaller ε promises more, and its counts are noisier. One protected "
        "connection can change the odds of what is published at most 1.6 times at ε = 0.5, 2.7 times at 1, 20 at 3."
    )
    epsilon = _asked("ε", "1", _epsilon)
    return Wanted(mechanism, epsilon, _asked("Public file, .csv or .json", "counts.csv", _public_file))


def agrees(prepared: Sequence[Prepared], wanted: Wanted, terms: Terms, bars: Bars) -> bool:
    """Say what would be released, at what price and by which command, and ask; anything but a yes is a no."""
    bars.rest()
    release = prepared[0]
    note(f"Graph {release.graph.name}, {release.source.graph.vertex_count:,} vertices: {release.mechanism.heading}.")
    note(release.promise)
    note(release.mechanism.in_plain_words)
    further = ["--mechanism", wanted.mechanism, "-e", wanted.epsilon, "--to", str(wanted.to)]
    if terms.budget_epsilon is not None:
        note(f"The graph has no total yet: it becomes ε = {terms.budget_epsilon}. `pcneo budget set` changes it later.")
        if "--budget-epsilon" not in sys.argv:
            further += ["--budget-epsilon", str(terms.budget_epsilon)]
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


def _epsilon(text: str) -> str:
    from pcneo.privacy.exact import positive

    positive(text, "epsilon")
    return text


def _public_file(text: str) -> Path:
    from pcneo.release import Destination
    from pcneo.release.request import check_destinations

    check_destinations([Destination(to=Path(text))])
    return Path(text)
