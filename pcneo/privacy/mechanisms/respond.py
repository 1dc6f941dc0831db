"""`respond`: each pair of vertices is answered once by randomised response (GUARANTEE.md#respond)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pcneo.errors import ParameterError
from pcneo.privacy.answer_counts import estimate
from pcneo.privacy.composition import Cost
from pcneo.privacy.facts import Answers, Facts
from pcneo.privacy.mechanisms.answered import Answered, without_errors
from pcneo.privacy.mechanisms.base import OWNER, Drawn, InShort, Mechanism
from pcneo.privacy.mechanisms.parameters import Switch
from pcneo.privacy.noise import Noise
from pcneo.privacy.outlook import (
    ESTIMATE,
    GUESSED_DEGREE,
    UPPER_ESTIMATE,
    USUAL_DEGREE,
    Foresight,
    Public,
    Utility,
    noise_warning,
)
from pcneo.privacy.protection import Protects
from pcneo.privacy.randomised_response import WARNING, Flips, Yes, shown
from pcneo.privacy.smoothing import BIASED, clipped, degree_bounds, largest_counts, smoothed, variances

LARGEST = 65_536
"""The most vertices that a graph may have unless `large` is set."""

_LINE_BYTES = 13
"""About the size of a yes-answer in the file before compression."""

_IF_SEEN = "Counts show about as much as exact ones would. If you publish the answers, or vertices answer themselves: "


@dataclass(frozen=True, kw_only=True, repr=False)
class Respond(Answered):
    """Every connection is protected: each pair is answered once, by the owner or by one of its ends.

    >>> import pcneo
    >>> pcneo.Respond(epsilon="1/2").epsilon
    Fraction(1, 2)

    Attributes:
        large: allow more than 65,536 vertices.
        clip: add counts cut to what is possible, which are biased.
        smooth: for k = 3, add counts drawn towards those of vertices of like degree, which are biased.
    """

    large: Switch = Switch()
    clip: Switch = Switch()
    smooth: Switch = Switch()

    name = "respond"
    run_by = OWNER
    promise = (
        "Whether a pair of vertices is connected was answered once for each pair, by randomised response: for someone"
        " who knows all other connections, everything computed from the answers changes the odds that any one pair is"
        " connected by a factor of at most e^ε (m pairs that go together: e^(mε)). It does not hide what the answers"
        " of other pairs show: in dense parts a connection can be guessed from those around it."
    )
    protects = Protects.EVERY_CONNECTION
    between_parties = True
    in_short = InShort(
        promises="ε for any one connection, given all others; no δ",
        exact="nothing; there is one randomised answer for every pair, from which all numbers follow",
        shows="about as much as exact counts; if you publish the answers, nearly the graph once ε reaches "
        "ln(n/mean degree)",
    )
    needs_groups = False
    of_columns = MappingProxyType(
        {
            **Mechanism.of_columns,
            "degree": "how many neighbours the vertex has, estimated from randomised answers: a whole number",
            "count": "how many {k}-cliques contain the vertex, estimated from randomised answers: a whole number",
            "standardError": f"of count; {UPPER_ESTIMATE}",
            "smoothed": "count, drawn towards those of vertices of like degree: closer to the truth, but biased",
        }
    )
    of_negatives = (
        "Estimates can be off either way, so a count can be below 0. Leave it as it is: cut at 0, the counts add up to"
        " too much."
    )

    def check(self) -> None:
        """Refuse also to smooth counts other than those of triangles."""
        super().check()
        if self.smooth and self.k != 3:
            raise ParameterError("Only counts of triangles (k = 3) can be smoothed.", name="smooth", value=self.k)

    def complete(self) -> None:
        """Refuse graphs without a pair, and those that take hours unless `large` is set, by the number of vertices."""
        flips = self.flips
        if flips.n < 2:
            raise ParameterError("Answers are about pairs, and the graph has only one vertex.", name="n", value=flips.n)
        if flips.n > LARGEST and not self.large:
            raise ParameterError(
                f"The graph has {flips.n:,} vertices, and each of their {flips.pairs:,} pairs is answered. "
                f"{_means(flips, self.k)} Give --large (in Python `large=True`) if you mean it.",
                name="n",
                value=flips.n,
            )

    def cost(self, inside: int, outside: int = 0) -> Cost:
        """Return (mε, 0) for m = inside + outside pairs: groups make no difference."""
        return Cost((inside + outside) * self.epsilon)

    def answered(self, facts: Facts, noise: Noise) -> Answers:
        """Draw the answers, once."""
        # [respond-flip] One coin for every pair, connected or not; nothing else is drawn, here or later.
        return facts.answers(self.flips.below, noise.coins)

    def compute(self, answers: Answers, facts: Facts) -> Drawn:
        """Compute the counts from nothing but the answers."""
        return self.computed(answers)

    def computed(self, answers: Answers) -> Drawn:
        """Return the counts, degrees and standard errors that follow from the answers and public numbers alone."""
        # [respond-afterwards] No fact of the graph is available here.
        estimates, yes = estimate(answers, self.flips, self.k), Yes(self.flips, answers.yes_count)
        record = {
            "promise": f"{self.promise} About {yes.share_true:.0f} % of the {yes.count:,} pairs answered yes are "
            "connections.",
            "total": round(estimates.total),
            **self.of_answers(yes),
        }
        # [answers-whole]
        counts = list(map(round, estimates.counts))
        columns: dict[str, Sequence[float]] = {"degree": list(map(round, estimates.degrees)), "count": counts}
        if self.k == 3:
            columns["standardError"] = list(map(_three_digits, estimates.errors))
            record |= {
                "standardErrorOfTotal": _three_digits(estimates.error_of_total),
                "standardErrorOfACount": _three_digits(estimates.error_of_a_count),
                "standardErrorsAre": ESTIMATE,
                "warning": noise_warning(estimates.error_of_a_count, counts, ESTIMATE),
            }
        else:
            record |= without_errors(estimates.error_of_a_count, counts)
        largest = largest_counts(degree_bounds(estimates.degrees, self.flips), self.n, self.k)
        if self.clip:
            columns["clipped"] = list(map(round, clipped(estimates.counts, largest)))
        if self.smooth:
            least = variances(estimates.degrees, self.flips)
            columns["smoothed"] = list(map(round, smoothed(estimates.counts, estimates.degrees, least, largest)))
        if self.clip or self.smooth:
            record["note"] = BIASED
        return Drawn(counts, None, columns, record, self.shown_by(yes))

    def of_answers(self, yes: Yes) -> dict[str, object]:
        """Return what is published about the answers as a whole."""
        return {
            "vertices": self.n,
            "threshold": self.threshold,
            "yesAnswers": yes.count,
            "estimatedConnections": round(yes.connections),
            "percentOfYesAnswersTrue": yes.share_true,
            "logOfVerticesOverMeanDegree": math.log(self.n / yes.mean_degree),
        }

    def answers_show(self, yes: Yes) -> str:
        """Say what answers show, by the mean degree that they estimate."""
        return self.answers_would_show(yes.mean_degree, "the mean degree that the answers estimate,")

    def shown_by(self, yes: Yes) -> str:
        """Say what the answers show, with the warning only where it was not printed before the spend."""
        text = self.answers_show(yes)  # before the spend the mean degree was guessed
        return text if WARNING not in self.answers_would_show() else text.removesuffix(WARNING)

    def foresee(self, public: Public) -> Foresight:
        """Return the least that the errors can be, over graphs like this, and what the answers would show."""
        n, d, v, flips = self.n, min(public.mean_degree, self.n - 1), self.flips.variance, self.flips
        yes = flips.f * (n - 1 - d) + (1 - flips.f) * d
        if self.k == 3:
            # For each vertex on average: two-paths, and Σ cn(x, y)² over pairs. cn² >= cn, and where the number of
            # triangles is known, Cauchy-Schwarz says more about connected pairs: they share 2t/d on average. A guess
            # of d that leaves no room for t triangles is too small, and would make that too large.
            paths, t = max(0.0, d * (d - 1) / 2), public.mean_count or 0.0
            room = max(d, (1 + math.sqrt(1 + 8 * t)) / 2)
            squares = max(t, 2 * t**2 / room) + max(0.0, paths - t)
            of_edges = v**2 * (n * d / 2) * (n - 2)
            total = v * n * squares + of_edges + v**3 * math.comb(n, 3)
            count = v * (paths + 2 * squares) + 3 * of_edges / n + v**3 * math.comb(n - 1, 2)
            error, error_of_total = math.sqrt(count), math.sqrt(total)
        else:
            error, error_of_total = (math.sqrt(v**6 * math.comb(size, k)) for size, k in ((n - 1, 3), (n, 4)))
        return Foresight(
            error=error,
            error_of_total=error_of_total,
            shows=_IF_SEEN + shown(self.epsilon, n, d),
            percent_true=100 * (1 - flips.f) * d / yes,
            takes=_means(flips, self.k, d),
        )

    def describe(self, utility: Utility, mean_degree: float = USUAL_DEGREE) -> str:
        """Say what follows from n, ε and a public mean degree: how many answers, time and memory."""
        return f"{self.heading}: {_means(self.flips, self.k, mean_degree)}"

    def answers_would_show(self, mean_degree: float = USUAL_DEGREE, degree_is: str = GUESSED_DEGREE) -> str:
        """Say from which ε on the answers nearly are the graph, for a public mean degree: the graph's is private."""
        return shown(self.epsilon, self.n, mean_degree, degree_is)


def _three_digits(error: float) -> float:
    return float(f"{error:.3g}")


def _means(flips: Flips, k: int, mean_degree: float = USUAL_DEGREE) -> str:
    """Say how much memory, disk space and time the answers take, from public numbers only."""
    connections = min(mean_degree, flips.n - 1) * flips.n / 2
    yes = connections + flips.f * (flips.pairs - 2 * connections)
    memory, written = _megabytes(flips.bytes), _megabytes(yes * _LINE_BYTES)
    takes = f"{memory} of memory and {written} of answers before compression"
    return (
        f"{flips.pairs:,} pairs, about {yes:,.0f} yes-answers; {takes}, about "
        f"{max(1.0, seconds_of(flips, yes, k) + 1e-6 * yes):,.0f} s on two cores."
    )


def _megabytes(size: float) -> str:
    return "less than 1 MB" if size < 1e6 else f"{size / 1e6:,.0f} MB"


def seconds_of(flips: Flips, yes: float, k: int) -> float:
    """Return about how many seconds drawing and counting take on two cores, in words of 64 answers.

    Writing a file of answers takes another 1 µs per yes-answer.
    """
    words, triangles = flips.n / 64, flips.f**3 * math.comb(flips.n, 3)
    seconds = 1e-8 * flips.pairs + 5e-10 * yes * words
    if k == 4:
        of_one = min(flips.n * words, (2 * yes / flips.n) * (words + 2 * yes / flips.n))
        seconds += 5e-10 * 3 * (triangles + yes) * words + 1e-9 * flips.n * of_one
    return seconds
