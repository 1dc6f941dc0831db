"""`published`: the paper's Algorithm 3, which promises nothing (GUARANTEE.md#elv-and-published)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pcneo.privacy.composition import NOTHING, UNBOUNDED, Cost
from pcneo.privacy.facts import Facts, Integers
from pcneo.privacy.mechanisms.base import InShort
from pcneo.privacy.mechanisms.two_phases import TwoPhases
from pcneo.privacy.protection import Protects


@dataclass(frozen=True, kw_only=True, repr=False)
class Published(TwoPhases):
    """The paper's mechanism as printed, which promises nothing; only for comparison.

    Its two phases use cohesions: deg(v, MC(v)) and cn_in(v).

    >>> import pcneo
    >>> pcneo.Published(epsilon=1)
    Published(k=3, epsilon=1)

    Attributes:
        delta, epsilon_1, h: as for `Elv`.
        clip: add counts cut to what is possible, which are biased.
    """

    name = "published"
    promise = "This release promises nothing: the noise does not follow from what a connection can change."
    protects = Protects.NOTHING
    in_short = InShort(
        promises="nothing; it is the paper's Algorithm 3, for comparison",
        exact="nothing",
        shows="anything: its noise can be far too small for its ε",
    )
    needs_groups = True
    searches = ("density", "degree")  # as in the paper
    publishes_scale = False
    without = frozenset({"smooth"})

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return a cost that nothing bounds, unless nothing changes."""
        # [published-none]
        return UNBOUNDED if inside or outside else NOTHING

    @property
    def part_delta(self) -> Fraction:
        """δ' = δ/(2h+2), as in the paper."""
        return self.delta / (2 * self.h + 2)

    def view(self, facts: Facts) -> tuple[Integers, Integers]:
        """Return deg(v, MC(v)) and cn_in(v)."""
        return facts.inner_degrees(), facts.inner_common()

    def expected_scale(self, common: int, degree: int = 1) -> Fraction:
        """Return λ if all noise of phase 1 is 0 and every group is as small as possible."""
        return super().expected_scale(min(common, 1), min(degree, 1))
