"""Judges a claim by its check: as the mechanisms are released, then with the paper's switches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.cells import RUNS, Switches
from evaluation.experiments import paper_switches
from evaluation.finished_cells import Finished

__all__ = ["FAILS", "HOLDS", "UNKNOWN", "UNSURE", "Check", "Claim", "Outcome", "Verdict", "digits", "judge", "series"]

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not measured"

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
        place: the label of the figure in the paper's source, or the section.
        check: decides the claim.
        k: of the releases that the claim is about; None if no switch has an effect on it.
        singly: whether there are cells with single switches, too.
    """

    text: str
    place: str
    check: Check
    k: int | None = None
    singly: bool = False


@dataclass(frozen=True)
class Verdict:
    """A claim, the verdict, and the numbers: as released, and with the switches that were tried."""

    claim: Claim
    verdict: str
    numbers: str


def judge(claim: Claim, finished: Finished) -> Verdict:
    """Judge a claim: as the mechanisms are released, then with the paper's switches, fewest first."""
    with np.errstate(divide="ignore", invalid="ignore"):  # errors are 0 where a switch leaves no count noisy
        return _judge(claim, finished)


def _judge(claim: Claim, finished: Finished) -> Verdict:
    released = claim.check(finished, ())
    if released is None:
        return Verdict(claim, UNKNOWN, "cells are missing")
    if released.holds or claim.k is None:
        return Verdict(claim, HOLDS if released.holds else FAILS, released.numbers)
    together = paper_switches(claim.k)
    tried = [*((switch,) for switch in together if claim.singly), together]
    outcomes = [(switches, claim.check(finished, switches)) for switches in tried]
    holding = [(switches, outcome) for switches, outcome in outcomes if outcome is not None and outcome.holds]
    if holding:
        switches, outcome = holding[0]
        verdict = f"holds with {' + '.join(switches)}"
    else:
        switches, outcome = outcomes[-1]
        verdict = FAILS if released.clear else UNSURE
    if outcome is None:
        return Verdict(claim, verdict, released.numbers)
    return Verdict(claim, verdict, f"{released.numbers}. With {' + '.join(switches)}: {outcome.numbers}")


def series(values: Sequence[float]) -> str:
    """Return numbers as a list for a person, with three digits."""
    return ", ".join(map(digits, values))


def digits(value: float) -> str:
    """Return a number with three digits as a person writes it: 34,400 and not 3.44e+04."""
    return "∞" if math.isinf(value) else f"{float(f'{value:.3g}'):,.10g}"
