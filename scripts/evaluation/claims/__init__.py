"""What the paper's Section VI says of its figures, claim by claim, and what is measured here.

A claim's words are ours; its check is a function of finished cells that returns whether it holds and the numbers. Where
the paper's words leave open how much is meant ("many", "similar", "almost all"), the check takes a threshold, and the
claim's text names it. "Smaller errors" are smaller beyond the 95 % interval of their difference at 95 % of the points
at least, and larger beyond it at none. Where a check rests on simulated runs, their noise counts: a claim holds or
fails beyond it, else the runs do not tell (`UNSURE`). A claim about errors is checked on the relative error of the
total, as in the paper.
"""

from __future__ import annotations

from evaluation.claims.cohesion_claims import STRUCTURE
from evaluation.claims.judging import FAILS, HOLDS, UNKNOWN, UNSURE, Check, Claim, Outcome, Verdict, judge
from evaluation.claims.release_claims import RELEASES
from evaluation.finished_cells import Finished

__all__ = [
    "CLAIMS",
    "FAILS",
    "HOLDS",
    "UNKNOWN",
    "UNSURE",
    "Check",
    "Claim",
    "Outcome",
    "Verdict",
    "judge",
    "judge_all",
]

CLAIMS = (*STRUCTURE, *RELEASES)
"""In the paper's order."""


def judge_all(finished: Finished) -> list[Verdict]:
    """Judge every claim."""
    return [judge(claim, finished) for claim in CLAIMS]
