"""The claims of the paper's Section 6 about its figures, and what is measured here.

A claim's words are ours. Its check takes finished cells and returns whether the claim holds, with the numbers. The
paper's words may leave open how much is meant ("many", "similar", "almost all"): then the check has a threshold, and
the claim's text names it. "Smaller errors" are smaller beyond the 95 % interval of their difference at 95 % of the
points at least, and larger beyond it at none. A check of simulated runs allows for their noise: a claim holds or fails
beyond it, else the verdict is `UNSURE`. Errors are the relative errors of the total, as in the paper: what is expected
of them, which is in proportion to λ where every count gets noise; with the switch `inside` their means over the runs.

    cohesion_claims, release_claims    the claims, in the paper's order
    settings, comparing                `published` beside `elv`; means with their intervals
    error_checks, bound_checks, epsilon_checks, protection_checks   the checks of releases
    judging                            a claim's verdict
"""

from __future__ import annotations

from evaluation.claims.cohesion_claims import COHESION_CLAIMS
from evaluation.claims.judging import Verdict, judge
from evaluation.claims.release_claims import RELEASE_CLAIMS
from evaluation.finished_cells import Finished

__all__ = ["CLAIMS", "judge_all"]

CLAIMS = (*COHESION_CLAIMS, *RELEASE_CLAIMS)
"""In the paper's order."""


def judge_all(finished: Finished) -> list[Verdict]:
    """Judge every claim."""
    return [judge(claim, finished) for claim in CLAIMS]
