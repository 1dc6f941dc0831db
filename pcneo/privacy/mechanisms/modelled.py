"""`modelled`: counts of vertices modelled from noisy degrees and a noisy total (GUARANTEE.md#modelled)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.degree_model import DegreeModel
from pcneo.privacy.exact import decimal_text
from pcneo.privacy.facts import Facts
from pcneo.privacy.laplace import sum_half_width, variance
from pcneo.privacy.mechanisms.base import Drawn, InShort, Once
from pcneo.privacy.mechanisms.parameters import Exact, whole
from pcneo.privacy.mechanisms.total import Total
from pcneo.privacy.noise import Noise, add_noise
from pcneo.privacy.outlook import Foresight, Public

SMALL = 1_000
"""With fewer vertices degrees get less of ε, and counts of 4-cliques are not modelled."""

_OF_DEGREES_SMALL, _OF_DEGREES, _OF_BOUND = Fraction(6, 10), Fraction(8, 10), Fraction(3, 10)

OF_CLASSES = Fraction(3, 4)
"""The part of ε2 that is spent on the sums over classes, where there are classes."""

NOTE = (
    "The counts are modelled from the noisy degrees: they say what a vertex of that degree has on average, not what "
    "this vertex has. They are biased."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Modelled(Total):
    """Every connection is protected, and counts of vertices follow from noisy degrees and a noisy total.

    >>> import pcneo
    >>> pcneo.Modelled(epsilon=2)
    Modelled(k=3, epsilon=2)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that is spent on the scale of the noise; None for the mechanism's default.
        epsilon_0: the part of ε that is spent on degrees; None for the mechanism's default.
    """

    epsilon_0: Exact = Exact()

    name = "modelled"
    promise = (
        "For someone who knows all other connections, the published degrees and total, with the noise levels, and the"
        " counts that are modelled from them change the odds that any one pair of vertices is connected by a factor"
        " of at most e^ε, except with probability δ (m connections that go together: e^(mε) and δ(e^(mε)-1)/(e^ε-1));"
        " a person's connections are not protected as a whole."
    )
    in_short = InShort(
        promises="the same as edge; a count is what vertices of that degree have on average",
        exact="nothing",
        shows="what noisy degrees show, and next to nothing more",
    )
    of_columns = MappingProxyType(
        {
            "key": "the vertex's key",
            "degree": "how many neighbours the vertex has, with noise: a whole number",
            "count": "modelled: how many {k}-cliques a vertex of that degree is in, on average: a whole number",
        }
    )
    of_negatives = "Noise goes both ways, so a degree and the total can be below 0; modelled counts cannot."
    counts_vertices = True
    of_single_counts = (
        "A single count is the average for vertices of that degree; only `pcneo audit GRAPH` says how far off it is."
    )
    publishes_scale = False  # what follows from the scale of the total is not the error of a count
    without = frozenset({"clip", "smooth"})  # no count is below 0, or above what its degree allows
    loses_by_scale = False  # degrees and classes have their own scales

    def check(self) -> None:
        """Refuse a k for which the model has not been tried, and parts of ε that leave nothing for the total."""
        super().check()
        whole("k", self.k, at_least=3, at_most=4)
        epsilon_0, epsilon_1 = self.epsilon_0, self.epsilon_1 or Fraction(0)
        if epsilon_0 is not None and not epsilon_0 + epsilon_1 < self.epsilon:
            parts = f"{decimal_text(epsilon_0)} and {decimal_text(epsilon_1)} of {decimal_text(self.epsilon)}"
            raise ParameterError(
                f"epsilon 0 and epsilon 1 must leave a part of epsilon for the total: {parts} do not.",
                name="epsilon 0" if self.epsilon_1 is None else "epsilon 1",
                value=epsilon_0 if self.epsilon_1 is None else epsilon_1,
            )

    def complete(self) -> None:
        """Fill in ε0 = 0.6ε below 1,000 vertices, else 0.8ε, and ε1 = 0.3(ε-ε0); refuse k = 4 in small graphs."""
        if self.k == 4 and self.n < SMALL:
            raise ParameterError(
                f"Counts of 4-cliques are modelled only for {SMALL:,} vertices and more, not for {self.n:,}: zeros "
                "would be closer to the truth. Use k = 3.",
                name="k",
                value=self.k,
            )
        self.fill("epsilon_0", self.epsilon * (_OF_DEGREES_SMALL if self.n < SMALL else _OF_DEGREES))
        self.fill("epsilon_1", _OF_BOUND * (self.epsilon - self.epsilon_0))
        super().complete()
        self.check()

    @property
    def times_counted(self) -> int:
        """A clique is counted once in the number that gets noise, though vertices have counts."""
        return 1

    @property
    def size(self) -> int:
        """One number gets noise of scale λ: the total."""
        return 1

    @property
    def epsilon_2(self) -> Fraction:
        """The part of ε that is left for the total and the sums over classes."""
        return self.epsilon - self.epsilon_0 - self.epsilon_1

    def check_facts(self, facts: Facts) -> None:
        """Count the cliques and the degrees, and find C as the owner sees it."""
        super().check_facts(facts)
        facts.degrees()

    @property
    def degree_scale(self) -> Fraction:
        """2/ε0: one connection changes two degrees by 1 each."""
        # [modelled-degrees]
        return 2 / self.epsilon_0

    def class_scale(self, common: int) -> Fraction:
        """Return the scale of the sum over a class, for two vertices that share `common` neighbours."""
        # [modelled-classes] Each vertex is in one class, so the sums together change by no more than the counts do.
        return self.covering(common) * self.k / OF_CLASSES

    @property
    def largest_scale(self) -> Fraction:
        """The largest scale of a sum over a class; that of a total beside such sums is never larger, as k is 3 or 4."""
        return self.class_scale(self.n - 2)

    @property
    def _first_scales(self) -> tuple[Fraction, ...]:
        return (*super()._first_scales, self.degree_scale)

    def foresee(self, public: Public) -> Foresight:
        """Return the least error of the total; no public number shows that of a count, which depends on the model."""
        return Foresight(error_of_total=self.error_of_total(self.expected_scale(public.common)))

    @property
    def doubt(self) -> str:
        """Modelled counts of 4-cliques were further off than zeros on a graph where both were tried."""
        if self.k == 3:
            return ""
        return (
            f"{self.heading}: modelled counts of 4-cliques can be further off than zeros: on a graph of 9,877 authors "
            "by 41, where zeros are off by 27, even with exact degrees and an exact total."
        )

    def total_scale(self, bound: int, classes: int) -> Fraction:
        """Return the scale of the total, which gets all of ε2 where there are no classes."""
        return self.covering(bound) / (1 - OF_CLASSES if classes else 1)

    def _first_draws(self, facts: Facts, noise: Noise, once: Once | None) -> tuple[list[int], int]:
        """Return D and C*, drawing each unless a release that shares with this one has."""
        once = once or Once()
        degrees = once.get("D", lambda: add_noise(facts.degrees().tolist(), self.degree_scale, noise))
        return degrees, self.one_bound(facts, noise, once)

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        """Return the scale of the total, drawing degrees and C* unless a release that shares with this one has."""
        degrees, bound = self._first_draws(facts, noise, once)
        return self.total_scale(bound, len(self._classes(DegreeModel(degrees, self.k), bound)))

    def _classes(self, model: DegreeModel, bound: int) -> list[NDArray[np.int64]]:
        # [modelled-rule] Only from n, ε, D and C*.
        return model.classes(model.class_count(self.class_scale(bound)))

    def draw(self, facts: Facts, noise: Noise, once: Once | None = None) -> Drawn:
        """Draw degrees and C* unless a release that shares with this one has, the total and the sum over each class."""
        degrees, bound = self._first_draws(facts, noise, once)
        exact, model = facts.counts(self.k), DegreeModel(degrees, self.k)
        classes = self._classes(model, bound)
        scale = self.total_scale(bound, len(classes))
        (x,) = noise.draw(scale, 1)
        total = sum(exact.tolist()) // self.k + x
        counts = model.counts(total)
        if classes:
            of_class = self.class_scale(bound)
            held = [sum(exact[members].tolist()) for members in classes]
            sums = add_noise(held, of_class, noise)
            counts = model.shrunk(counts, classes, sums, float(variance(of_class)))
        # [modelled-afterwards] From here on no fact of the graph is used.
        return self._published(degrees, total, scale, len(classes), list(map(round, model.cut(counts).tolist())))

    def _published(self, degrees: list[int], total: int, scale: Fraction, classes: int, counts: list[int]) -> Drawn:
        record: dict[str, object] = {
            "total": total,
            "note": NOTE,
            "classes": classes,
            "scaleOfDegrees": float(self.degree_scale),
            "scale": float(scale),
            "standardErrorOfTotal": self.error_of_total(scale),
            "halfWidthOf95PercentInterval": sum_half_width(scale),
        }
        if (error := self.error_of_total(scale)) > max(0, total):
            record["warning"] = (
                f"These counts are mostly noise: the standard error of the total is {rounded(error, 3)}, and the "
                f"total is {total:,}."
            )
        return Drawn(counts, scale, {"degree": degrees, "count": counts}, record)

    @property
    def total_meaning(self) -> str:
        """Return what the total is."""
        return f"how many {self.k}-cliques the graph has, with noise; modelled counts need not add up to it"
