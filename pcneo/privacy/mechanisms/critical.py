"""`critical`: protected given the groups, the rest exact (GUARANTEE.md#critical)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.mechanisms.base import OWNER, Mechanism
from pcneo.privacy.noise import handed_scale

__all__ = ["Critical"]


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
    needs_groups = True
    publishes_scale = False  # it is a support divided by ε

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

    def check_scales(self, largest_per_vertex: Iterable[int]) -> None:
        """Refuse, before anything is spent, scales that cannot be drawn.

        Raises:
            ParameterError: a scale cannot be handed to the sampler.
        """
        for scale in set(self.scales(largest_per_vertex)) - {0}:
            handed_scale(scale)
