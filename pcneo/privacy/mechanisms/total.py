"""`total`: only the number of cliques, every connection protected, nothing given (GUARANTEE.md#total)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from pcneo.basics.frames import rounded
from pcneo.privacy.facts import Facts
from pcneo.privacy.mechanisms.base import Drawn, InShort, Once
from pcneo.privacy.mechanisms.edge import Edge
from pcneo.privacy.noise import Noise


@dataclass(frozen=True, kw_only=True, repr=False)
class Total(Edge):
    """Every connection is protected; only the number of the graph's cliques is published.

    >>> import pcneo
    >>> pcneo.Total(epsilon=1)
    Total(k=3, epsilon=1)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that is spent on the scale of the noise; None for the mechanism's default.
        clip: add the total cut at 0, which is biased.
    """

    name = "total"
    promise = (
        "For someone who knows all other connections, the published number of cliques, with the noise level, changes"
        " the odds that any one pair of vertices is connected by a factor of at most e^ε, except with probability δ"
        " (m connections that go together: e^(mε) and δ(e^(mε)-1)/(e^ε-1)); a person's connections are not protected"
        " as a whole."
    )
    in_short = InShort(
        promises="the same as edge, for the number of cliques in the whole graph; no vertex gets a count",
        exact="nothing",
        shows="next to nothing: one noisy number; at small ε with a far smaller error than sums of noisy counts",
    )
    of_columns = MappingProxyType({"total": "how many {k}-cliques the graph has, with noise: a whole number"})
    of_negatives = "Noise goes both ways, so the total can be below 0."
    # [total-change] For each clique, a connection changes k counts by 1 each, and the number of cliques by 1.
    counts_vertices = False
    without = frozenset({"smooth"})

    def draw(self, facts: Facts, noise: Noise, once: Once | None = None) -> Drawn:
        """Draw the noise of the total, and C* unless a release that shares with this one has drawn it."""
        scale = self.find_scale(facts, noise, once)
        (total,) = counts = self.noisy_counts(self.exact(facts), scale, noise)
        record: dict[str, object] = {"total": total}
        if self.clip:
            record |= {"clippedTotal": max(0, total), "note": "A total that is cut at 0 is biased."}
        if (error := self.error_of_total(scale)) > max(0, total):
            record["warning"] = f"This total is mostly noise: its standard error is {rounded(error, 3)}."
        return Drawn(counts, scale, {"total": counts}, record)
