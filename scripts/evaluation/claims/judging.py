"""Judges a claim by its check: as mechanisms are released, as the paper prints its own, then with an inference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.cells import INFERRED, PRINTED, RUNS, Switches
from evaluation.finished_cells import Finished

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not measured"

AS_PRINTED = "holds as printed"
"""Not as the mechanisms are released, but with the switches that are the paper's printed text."""

UNPRINTED = "holds, not as printed"
"""As the mechanisms are released, and not with the switches that are the paper's printed text."""

SAID = "said"
"""Of a claim that Section 6 makes in words."""

UNSURE = f"undecided at {RUNS} runs"
"""The answer is within the noise of the simulated runs."""


@dataclass(frozen=True)
class Outcome:
    """Whether a claim holds in one variant.

    Attributes:
        holds: whether it does, beyond the noise of the runs.
        numbers: the evidence, for a person.
        clear: whether the answer is beyond the noise of the runs; always where `holds` is true.
    """

    holds: bool
    numbers: str
    clear: bool = True

    @classmethod
    def of(cls, signs: Sequence[int], numbers: str) -> Outcome:
        """Combine the parts of a claim: 1 for a part that clearly holds, -1 for one that clearly does not, else 0."""
        holds = all(sign > 0 for sign in signs)
        return cls(holds, numbers, holds or min(signs) < 0)


Check = Callable[[Finished, Switches], Outcome | None]
"""Takes finished cells and switches; returns None if cells that it needs are not finished."""


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: in our words, with the threshold if we had to set one.
        place: the figure or section where a reader of the paper finds it.
        check: decides the claim.
        k: of the releases that the claim is about; None if no switch has an effect on it.
        singly: whether there are cells with single switches, too.
        source: `SAID`, or else where it comes from: such claims are not counted with those of Section 6.
    """

    text: str
    place: str
    check: Check
    k: int | None = None
    singly: bool = False
    source: str = SAID


@dataclass(frozen=True)
class Verdict:
    """A claim, the verdict, and the numbers: as released, and with the switches that were tried."""

    claim: Claim
    verdict: str
    numbers: str


def judge(claim: Claim, finished: Finished) -> Verdict:
    """Judge a claim: as the mechanisms are released, as printed, then with single switches and the inference."""
    with np.errstate(divide="ignore", invalid="ignore"):  # errors are 0 where a switch leaves no count noisy
        return _judge(claim, finished)


def _judge(claim: Claim, finished: Finished) -> Verdict:
    released = claim.check(finished, ())
    if released is None:
        return Verdict(claim, UNKNOWN, "cells are missing")
    if claim.k is None:
        return Verdict(claim, HOLDS if released.holds else FAILS, released.numbers)
    printed = claim.check(finished, PRINTED[claim.k])
    if released.holds:
        fails = printed is not None and not printed.holds and printed.clear
        return Verdict(claim, UNPRINTED if fails else HOLDS, _numbers(released, "As printed", printed))
    if printed is not None and printed.holds:
        return Verdict(claim, AS_PRINTED, _numbers(released, "As printed", printed))
    verdict, switches, outcome = _with_inference(claim, finished, FAILS if released.clear else UNSURE)
    numbers = _numbers(released, "As printed", printed)
    return Verdict(claim, verdict, f"{numbers}{_also('With ' + ' + '.join(switches), outcome)}")


def _with_inference(claim: Claim, finished: Finished, otherwise: str) -> tuple[str, Switches, Outcome | None]:
    """The verdict with the fewest switches that make the claim hold; else another, with all switches."""
    together = INFERRED[claim.k or 3]
    tried = [*((switch,) for switch in together if claim.singly), together]
    outcomes = [(switches, claim.check(finished, switches)) for switches in tried]
    for switches, outcome in outcomes:
        if outcome is not None and outcome.holds:
            return f"holds with {' + '.join(switches)}", switches, outcome
    return otherwise, *outcomes[-1]


def _numbers(released: Outcome, name: str, other: Outcome | None) -> str:
    return released.numbers + _also(name, None if other is not None and other.numbers == released.numbers else other)


def _also(name: str, outcome: Outcome | None) -> str:
    return "" if outcome is None else f". {name}: {outcome.numbers}"


def series(values: Sequence[float]) -> str:
    """Return numbers as a list for a person, with three digits."""
    return ", ".join(map(digits, values))


def digits(value: float) -> str:
    """Return a number with three digits as a person writes it: 34,400 and not 3.44e+04."""
    return "∞" if math.isinf(value) else f"{float(f'{value:.3g}'):,.10g}"
