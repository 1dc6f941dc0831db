"""`critical`: pairs inside groups are answered by randomised response, the rest is exact (GUARANTEE.md#critical)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import rounded
from pcneo.basics.pair_answers import PairAnswers
from pcneo.errors import GraphError
from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.facts import Facts
from pcneo.privacy.mechanisms.answered import Answered, without_errors
from pcneo.privacy.mechanisms.base import OWNER, Drawn, InShort, Mechanism
from pcneo.privacy.mechanisms.parameters import Switch
from pcneo.privacy.noise import Noise, SimulatedNoise
from pcneo.privacy.outlook import BOUND, ESTIMATE, USUAL_DEGREE, Utility, noise_warning
from pcneo.privacy.protection import Protects
from pcneo.privacy.smoothing import BIASED

EARLIER_GROUPS = "The groups are those of an earlier date; vertices that have come since are in no group."
"""Stated with the promise where a release names the version of its groups."""

SIMULATED = 8
"""Sets of answers that are simulated to find the errors of counts of 4-cliques."""

_NOTHING, _ALL, _TRUTH = (0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 1.0)
"""Weights of a pair of P̂ that is answered no, of one that is answered yes, and of a connection outside P̂."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Critical(Answered):
    """Pairs inside stored groups are protected, given the groups and all other connections; the rest is exact.

    >>> import pcneo
    >>> pcneo.Critical(k=(3, 4), epsilon=1)
    Critical(k=(3, 4), epsilon=1)

    Attributes:
        clip: add counts cut at 0, which are biased.

    Raises:
        ParameterError: ε is not positive, or too large or too small for answers; k is neither 3 nor 4.
    """

    clip: Switch = Switch()

    name = "critical"
    run_by = OWNER
    promise = (
        "Given the stored groups and all other connections, the published counts change the odds that any one pair"
        " inside a group is connected by a factor of at most e^ε (m pairs that go together: e^(mε)); what the groups"
        " themselves reveal, and connections outside groups, are not protected."
    )
    protects = Protects.PAIRS_INSIDE_GROUPS
    in_short = InShort(
        promises="ε for any one pair inside a stored group, given the groups and all other connections; no δ",
        exact="every count that does not depend on pairs inside a group",
        shows="connections outside the groups, without limit; what the groups reveal is not covered",
    )
    needs_groups = True
    of_columns = MappingProxyType(
        {
            **Mechanism.of_columns,
            "count": "how many {k}-cliques contain the vertex, exact or from randomised answers: a whole number",
        }
    )
    of_negatives = (
        "Counts from answers can be off either way, so a count can be below 0. Leave it as it is: cut at 0, the counts"
        " add up to too much."
    )

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return (mε, 0) for m pairs inside groups; nothing bounds the cost of a connection outside."""
        # [critical-groups]
        return UNBOUNDED if outside else Cost(inside * self.epsilon)

    def check_facts(self, facts: Facts) -> None:
        """Refuse groups that protect nothing, or too much to count on."""
        graph = facts.protected_graph()
        if not graph.pair_count:
            raise GraphError(
                "No pair of vertices lies inside a group: every count would be exact, and the promise would cover "
                "nothing."
            )
        graph.check(self.k)

    # --- Answers and counts

    @property
    def weights(self) -> tuple[float, float, float]:
        """The weights of a pair that is answered no, one that is answered yes, and a connection outside groups."""
        f = self.flips.f
        return -f / (1 - 2 * f), (1 - f) / (1 - 2 * f), 1.0

    def answered(self, facts: Facts, noise: Noise) -> PairAnswers:
        """Draw one answer for each pair of P̂, once."""
        return facts.protected_graph().answer(self.threshold, noise.coins)

    def compute(self, answers: PairAnswers, facts: Facts) -> Drawn:
        """Compute the counts from the answers, the groups and the connections outside them."""
        sums, variances = self.unrounded(answers, facts)
        # [answers-whole] With all its digits a sum gives the answers back to anyone who knows groups and connections
        # outside them.
        counts = [round(x) for x in sums.tolist()]
        record: dict[str, object] = {"total": round(math.fsum(sums.tolist()) / self.k)}
        columns = {"count": counts}
        if self.clip:
            columns["clipped"], record["note"] = [max(0, count) for count in counts], BIASED
        if variances is None:
            record |= without_errors(_root(self.least_variances(sums, answers, facts)) or 0.0, counts)
            return Drawn(counts, None, columns, record)
        error, how = _root(variances), ESTIMATE
        if error is None:
            error, how = self._errors(facts, _ALL)[0], BOUND
        record |= {"standardErrorOfACount": float(f"{error:.3g}"), "standardErrorsAre": how}
        if how is ESTIMATE and (warning := noise_warning(error, counts)):
            record["warning"] = warning
        return Drawn(counts, None, columns, record)

    def unrounded(self, answers: PairAnswers, facts: Facts) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the unbiased counts before rounding, which must not leave, and for k = 3 estimated variances."""
        graph, yes = facts.protected_graph(), answers.yes
        if self.k == 4:
            return graph.four_cliques(yes, self.weights), None
        (weighed,) = graph.triangles(yes, [self.weights], self.flips.variance)
        return weighed.sums, weighed.variances

    # --- How large the errors are

    def least_variances(self, sums: NDArray[np.float64], answers: PairAnswers, facts: Facts) -> NDArray[np.float64]:
        """Estimate, from the answers, a part of the variances of counts of 4-cliques; it must not leave."""
        # Σ_S v^|S|·c_S, a lower bound on the variance since c_S² >= c_S for a whole number: each answer weighs v more.
        no, yes, outside = self.weights
        v = self.flips.variance
        with_v = facts.protected_graph().four_cliques(answers.yes, (no + v, yes + v, outside))
        return with_v - sums

    def _errors(self, facts: Facts, *weights: tuple[float, float, float]) -> list[float]:
        """Return root mean square errors over the vertices, with weights in place of the connections inside groups."""
        graph = facts.protected_graph()
        every = np.zeros(graph.pair_count, np.bool_)
        weighed = graph.triangles(every, weights, self.flips.variance)
        return [_root(each.variances) or 0.0 for each in weighed]

    def utility(self, facts: Facts) -> Utility:
        """Return the least and the largest error that a count of triangles can have, whatever the groups hide."""
        # [critical-foresight] Only from P̂ and the connections outside it: a refusal is an output.
        least, most = self._errors(facts, _NOTHING, _ALL)
        return Utility(least_error=least, most_error=most)

    def describe(self, utility: Utility, mean_degree: float = USUAL_DEGREE) -> str:
        """Say how large the errors may be, from groups and the connections outside them only."""
        return (
            f"For the owner alone: {self.heading}: the standard error of a count of triangles is between "
            f"{rounded(utility.least_error)} and {rounded(utility.most_error)} (root mean square over the vertices), "
            "judging by the groups and the connections outside them. Connections outside the groups are not protected, "
            "even where earlier releases protected them."
        )

    def owner_figures(self, facts: Facts) -> Mapping[str, object]:
        """Return exact standard errors for k = 3, simulated ones for k = 4, and how many counts no pair can change."""
        graph = facts.protected_graph()
        if self.k == 3:
            (truth,) = graph.triangles(graph.connected, [_TRUTH], self.flips.variance)
            errors, of_total, how = np.sqrt(truth.variances), math.sqrt(truth.variance_of_total), "exact"
        else:
            errors, of_total, how = *self._simulated_errors(facts), f"simulated, {SIMULATED} sets of answers"
        return {
            "standardErrors": {
                "are": how,
                "mean": float(errors.mean()),
                "median": float(np.median(errors)),
                "largest": float(errors.max()),
            },
            "standardErrorOfTotal": of_total,
            "lossOfEachPair": self.loss,
            "countsWithoutProtectedPairs": graph.untouched(self.k),
        }

    def _simulated_errors(self, facts: Facts) -> tuple[NDArray[np.float64], float]:
        counts, simulated = facts.counts(self.k), SimulatedNoise.seeded(0)
        off = [self.unrounded(self.answered(facts, simulated), facts)[0] - counts for _ in range(SIMULATED)]
        totals = [each.sum() / self.k for each in off]
        return np.sqrt(np.mean(np.square(off), axis=0)), math.sqrt(np.mean(np.square(totals)))


def _root(variances: NDArray[np.float64]) -> float | None:
    """Return the root of the mean; None where the mean is not positive."""
    mean = float(variances.mean())
    return math.sqrt(mean) if mean > 0 else None
