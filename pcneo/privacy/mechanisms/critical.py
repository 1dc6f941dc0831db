"""`critical`: protected given the groups, the rest exact (GUARANTEE.md#critical)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import rounded
from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.facts import Facts
from pcneo.privacy.laplace import standard_error
from pcneo.privacy.log_ratios import RemovalEffect, RemovalStudy, removal_loss
from pcneo.privacy.mechanisms.base import OWNER, InShort, Mechanism
from pcneo.privacy.mechanisms.edge import Edge
from pcneo.privacy.mechanisms.scaling import Scaling
from pcneo.privacy.noise import handed_scale
from pcneo.privacy.outlook import DIFFERENT_PROMISES, EdgeErrors, Utility
from pcneo.privacy.protection import Protects

__all__ = ["EARLIER_GROUPS", "Critical"]

EARLIER_GROUPS = "The groups are those of an earlier date; vertices that have come since are in none."
"""To be said with the promise where a release names the version of its groups."""


@dataclass(frozen=True)
class Critical(Mechanism):
    """Pairs inside stored groups are protected, given the groups and all other connections; the rest is exact."""

    name = "critical"
    run_by = OWNER
    promise = (
        "Given the stored groups and all other connections, the published counts change the odds that any one pair"
        " inside a group is connected by at most a factor e^ε (m pairs that go together: e^(mε)); what the groups or"
        " the noise levels themselves reveal, and connections outside groups, are not protected."
    )
    protects = Protects.PAIRS_INSIDE_GROUPS
    in_short = InShort(
        promises="ε for any one pair inside a stored group, given the groups and all other connections; no δ",
        exact="every count that no pair inside a group can change, which in sparse graphs are most",
        shows="connections outside the groups, without limit; what groups and noise levels reveal is not covered",
    )
    needs_groups = True
    of_columns = MappingProxyType(
        {
            **Mechanism.of_columns,
            "count": "how many {k}-cliques contain the vertex, exact or with noise: a whole number",
        }
    )
    publishes_scale = False  # it is a support divided by ε
    compared = True

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return (mε, 0) for m pairs inside groups; nothing bounds the cost of a connection outside."""
        # [critical-groups]
        return UNBOUNDED if outside else Cost(inside * self.epsilon)

    def scales(self, largest_per_vertex: Iterable[int]) -> list[Fraction]:
        """Return t_v for each vertex, 0 where its count is exact.

        Args:
            largest_per_vertex: for each vertex v the largest S(e) = k·support_k(e, Ĝ) over the pairs e inside groups
                that share a k-clique of Ĝ with v; 0 where there is none. Ĝ is the graph with all pairs inside groups.
        """
        # [critical-scale] From Ĝ, never from the graph: Ĝ stays the same when a pair inside a group is toggled.
        largest = [int(S) for S in largest_per_vertex]
        scale_of = {S: S / self.epsilon for S in set(largest)}
        return [scale_of[S] for S in largest]

    def scaling(self, facts: Facts) -> Scaling:
        """Return t_v for each vertex, from the supports in Ĝ.

        Raises:
            GraphError: the groups are too large, or an S(e) does not fit 64 bits.
            ParameterError: a scale cannot be handed to the sampler.
        """
        scales = self.scales(facts.largest_supports(self.k).per_vertex.tolist())
        for scale in set(scales) - {0}:
            handed_scale(scale)
        return Scaling.of_vertices(scales)

    def utility(self, facts: Facts, scaling: Scaling) -> Utility:
        """Return what follows from the groups and the connections outside them, and what `edge` would have instead."""
        scales = scaling.fixed or []
        return Utility(
            standard_error=standard_error(scales) / self.k,
            exact_counts=sum(scale == 0 for scale in scales),
            exact_supports=facts.largest_supports(self.k).exact,
            with_edge=self._edge_errors(len(scales), *facts.common_bounds()),
        )

    def _edge_errors(self, n: int, least: int, most: int) -> EdgeErrors | None:
        edge = Edge.make(k=self.k, epsilon=self.epsilon, n=n)
        if not edge.can_be_drawn:
            return None
        # C is not said before a spend, and `most` alone can never speak for `edge`: it bounds critical's noise as well.
        # The geometric mean is near the truth on the graphs that were tried, while the arithmetic one is near `most`.
        bounds = least, isqrt(least * most), most
        return EdgeErrors(*(standard_error({edge.expected_scale(C): n}) / edge.k for C in bounds))

    def describe(self, utility: Utility) -> str:
        """Say how many counts are exact, how large the error is, and whether `edge` would do better."""
        text = (
            f"For the owner alone: {self.heading}: {utility.exact_counts:,} counts are published exactly; the standard "
            f"error of the total is {rounded(utility.standard_error)}"
        )
        if not utility.exact_supports:
            text += f" with scales from the bound {self.k}·C(cn, {self.k - 2}), exact supports being too dear"
        if utility.with_edge is None or utility.standard_error is None:
            return f"{text}. The noise of edge could be too large to be drawn."
        better = self.name if utility.standard_error <= utility.with_edge.expected else Edge.name
        least, expected, most = map(rounded, utility.with_edge)
        with_edge, taken = f"with edge {least}", ""
        if least != most:
            with_edge = f"with edge between {least} and {most}"
            taken = f", edge being taken at {expected}, the middle of what the groups leave open"
        return (
            f"{text}, and {with_edge}. Less noise is expected from {better}{taken}; `pcneo audit` has the real figure. "
            f"{DIFFERENT_PROMISES}"
        )

    def removal_study(self) -> RemovalStudy:
        """Compare what is published, counts and scales, of the two graphs."""
        return RemovalStudy(self.epsilon, _REMOVED, self._compare)

    def _compare(self, before: Facts, after: Facts) -> RemovalEffect:
        supports = (facts.largest_supports(self.k).per_vertex.tolist() for facts in (before, after))
        scales, later = (_doubles(self.scales(largest)) for largest in supports)
        mean, worst = removal_loss(before.counts(self.k), scales, after.counts(self.k), later)
        return RemovalEffect(int((scales != later).sum()), mean, worst)


_REMOVED = (
    "Memberships, scales and counts of the graph with the connection against those of the graph without it: what the "
    "published counts tell somebody who knows everything else and is given no groups. mean: how much they favour the "
    "truth on average, as a log-ratio; infinite where the other graph can never publish them. worst: the largest "
    "log-ratio of any output; infinite as soon as one scale changes, since outputs far enough out favour the larger "
    "scale without limit, if rarely. No mechanism here promises anything for this."
)


def _doubles(scales: Sequence[Fraction]) -> NDArray[np.float64]:
    """Return scales in doubles; equal ones stay equal, and 0 stays 0."""
    return np.array([float(scale) for scale in scales], np.float64)
