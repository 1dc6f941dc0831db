"""The base class of `elv` and `published`, two phases between `vertex` and `collector`.

Stated and proved in GUARANTEE.md#elv-and-published.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pcneo.privacy import collector, vertex
from pcneo.privacy.facts import Facts, Integers
from pcneo.privacy.laplace import pad
from pcneo.privacy.mechanisms.base import Once
from pcneo.privacy.mechanisms.one_scale import OneScale, handed
from pcneo.privacy.mechanisms.parameters import Vertices, whole
from pcneo.privacy.noise import Noise


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoPhases(OneScale):
    """Each vertex bounds what it sees, a collector computes λ from the bounds, each vertex reports its noisy count.

    Attributes:
        h: how many vertices the collector asks for a second, tighter bound.
    """

    h: Vertices = Vertices()

    run_by = "each vertex and a collector, simulated inside one trusted process"

    def check(self) -> None:
        """Refuse an h that no graph allows, or that this one does not."""
        super().check()
        if self.h is not None:
            whole("h", self.h, at_least=1, at_most=self.n)

    def complete(self) -> None:
        """Fill in h = min(3, n)."""
        super().complete()
        self.fill("h", min(3, self.n))

    @abstractmethod
    def view(self, facts: Facts) -> tuple[Integers, Integers]:
        """Return what each vertex sees: its degree and its largest common neighbourhood, int64, shape (n,) each."""

    def check_facts(self, facts: Facts) -> None:
        """Count the cliques, and find what each vertex sees."""
        super().check_facts(facts)
        self.view(facts)

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        """Run phase 1 on the vertices' views."""
        degrees, common = self.view(facts)
        return self.scale(degrees.tolist(), common.__getitem__, noise)

    @property
    def degree_scale(self) -> Fraction:
        """t_d = 4/ε1: one connection changes two degrees by 1 each, and degrees get half of ε1."""
        # [phase-degrees]
        return 4 / self.epsilon_1

    @property
    def common_scale(self) -> Fraction:
        """t_c = 2h/ε1: one connection changes each of h answers by at most 1, and answers get half of ε1."""
        # [phase-common]
        return 2 * self.h / self.epsilon_1

    @property
    @abstractmethod
    def part_delta(self) -> Fraction:
        """δ': the probability with which one padded report may be below the truth."""

    @cached_property
    def _pads(self) -> tuple[int, int]:
        degree, common = handed(self.degree_scale), handed(self.common_scale)
        return pad(degree, self.part_delta), pad(common, self.part_delta)

    @property
    def _first_scales(self) -> tuple[Fraction, ...]:
        return self.degree_scale, self.common_scale

    def expected_scale(self, common: int, degree: int = 1) -> Fraction:
        """Return λ if all noise of phase 1 is 0 and a vertex that is not asked has that degree, too."""
        degree_pad, common_pad = self._pads
        bound = degree + degree_pad
        if self.h == self.n:  # otherwise the bound of a vertex that is not asked stays
            bound = min(bound, common + common_pad)
        return self.covering(min(self.n - 2, bound))

    def scale(self, degrees: Sequence[int], common: Callable[[int], int], noise: Noise) -> Fraction:
        """Run phase 1, drawing n + h times, and return λ."""
        degree_pad, common_pad = self._pads
        drawn = noise.draw(self.degree_scale, len(degrees))
        reports = [vertex.report_degree(int(d), x, degree_pad) for d, x in zip(degrees, drawn, strict=True)]

        closer = collector.vertices_to_ask(reports, self.h)

        drawn = noise.draw(self.common_scale, len(closer))
        answers = {v: vertex.report_common(int(common(v)), x, common_pad) for v, x in zip(closer, drawn, strict=True)}

        return collector.noise_scale(reports, answers, k=self.k, epsilon_2=self.epsilon_2)

    def noisy_counts(self, counts: Sequence[int], scale: Fraction, noise: Noise) -> list[int]:
        """Run phase 2: each vertex reports its count with noise of scale λ, the same for all."""
        drawn = noise.draw(scale, len(counts))
        return [vertex.report_count(int(c), x) for c, x in zip(counts, drawn, strict=True)]
