"""Unbiased counts of cliques from the answers of randomised response, and their standard errors (GUARANTEE.md#respond).

Counts are exact fractions until the end: numerators in Python's integers, over a power of 2^24 - 2a. Everything here is
computed from published answers, so no rounding could give anything away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.facts import Answers
from pcneo.privacy.randomised_response import COINS, Flips
from pcneo.privacy.smoothing import degree_bounds

Floats = NDArray[np.float64]

SAMPLED = 2**20
"""How many pairs are looked at for the standard errors where there are more: these are then known to 2 % or better."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the answers say about each vertex and about the whole graph.

    Attributes:
        degrees: unbiased estimates of deg(w).
        counts: unbiased estimates of Γ(w).
        errors: for each count an estimate of its standard error, usually too large; empty for k = 4.
        error_of_a_count: the root mean square of the true standard errors, estimated; for k = 4 from far below.
        total: Σ counts / k.
        error_of_total: the standard error of `total`, estimated; 0 for k = 4.
    """

    degrees: list[float]
    counts: list[float]
    errors: list[float]
    error_of_a_count: float
    total: float
    error_of_total: float


def estimate(answers: Answers, flips: Flips, k: int) -> Estimates:
    """Return what the answers say about degrees and k-cliques."""
    n, a, b = flips.n, flips.below, COINS
    yes_degrees = answers.degrees().tolist()
    degrees = [(d * b - (n - 1) * a) / (b - 2 * a) for d in yes_degrees]
    if k == 3:
        around = answers.around(answers.degrees() - 1)
        numerators, denominator = _triangles(answers, around.tolist(), flips), (b - 2 * a) ** 3
        errors = _errors(answers, np.array(degrees), around, flips)
        error_of_a_count, error_of_total = _likely_errors(answers, np.array(degrees), flips)
    else:
        # Σ_S v^|S|·c_S, a lower bound on the variance since c_S² >= c_S for a whole number: each answer weighs v more.
        shifted = replace(flips, below=round(COINS * -(flips.f**2) / (1 - 2 * flips.f)))
        (numerators, with_v), denominator = _four_cliques(answers, flips, shifted), (b - 2 * a) ** 6
        from_below = (sum(with_v) - sum(numerators)) / (n * denominator)
        errors, error_of_total = [], 0.0
        error_of_a_count = math.sqrt(max(flips.variance**6 * math.comb(n - 1, 3), from_below))
    counts = [numerator / denominator for numerator in numerators]
    total = sum(numerators) / (k * denominator)
    return Estimates(degrees, counts, errors, error_of_a_count, total, error_of_total)


# --- k = 3: the sum of (h_wx - f)(h_wy - f)(h_xy - f) over pairs {x, y} of other vertices; h is 1 for yes, else 0


def _triangles(answers: Answers, around: Sequence[int], flips: Flips) -> list[int]:
    """Return the sums times 2^72."""
    # [respond-unbiased] Three different pairs are answered independently, each with mean (1-2f)·A + f.
    n, a, b, yes = flips.n, flips.below, COINS, answers.yes_count

    def numerator(d: int, T: int, P: int) -> int:  # noqa: N803
        once = math.comb(d, 2) + P
        twice = d * (n - 2) + yes - d
        return T * b**3 - a * b**2 * once + a**2 * b * twice - a**3 * math.comb(n - 1, 2)

    return list(map(numerator, answers.degrees().tolist(), answers.triangles().tolist(), around))


def _errors(answers: Answers, degrees: Floats, around: NDArray[np.int64], flips: Flips) -> list[float]:
    """Return standard errors for k = 3 from upper estimates of the terms of the exact variances."""
    n, f, v = flips.n, flips.f, flips.variance
    yes = answers.degrees().astype(np.float64)
    d = degree_bounds(degrees.tolist(), flips)
    m = flips.connections(answers.yes_count) + 2 * math.sqrt(flips.pairs * v)
    expected = f * (n - 2) * yes + 2 * f * (answers.yes_count - yes) - f**2 * (n - 1) * (n - 2)
    paths = np.maximum((around - expected) / (1 - 2 * f) ** 2, 0)
    paths += 2 * np.sqrt(v * (2 * n * d.mean() ** 2 + n * d) + v**2 * n**2)
    squared = v * (d * (d - 1) / 2 + d * paths) + v**2 * ((n - 2) * d + m - d) + v**3 * math.comb(n - 1, 2)
    return np.sqrt(np.maximum(squared, 0)).tolist()


def _likely_errors(answers: Answers, degrees: Floats, flips: Flips) -> tuple[float, float]:
    """Return the root mean square standard error of a count of triangles, and that of the total, both estimated."""
    # [respond-errors] Each term of the exact variances is estimated without bias; none can be below 0.
    n, v = flips.n, flips.variance
    m = flips.connections(answers.yes_count)
    squares = max(0.0, _squares(answers, degrees, flips) - 2 * v * m * (n - 2) - v**2 * flips.pairs * (n - 2))
    two_paths = max(0.0, (float(degrees @ degrees) - n * (n - 1) * v) / 2 - m)
    of_edges, of_nothing = v**2 * max(0.0, m) * (n - 2), v**3 * math.comb(n, 3)
    of_counts = v * (two_paths + 2 * squares) + 3 * of_edges + 3 * of_nothing
    return math.sqrt(of_counts / n), math.sqrt(v * squares + of_edges + of_nothing)


def _squares(answers: Answers, degrees: Floats, flips: Flips) -> float:
    """Return Σ c̃(x,y)² over all pairs, where c̃ is the unbiased estimate of cn(x, y); for large n, from a sample."""
    n, f = flips.n, flips.f
    if flips.pairs <= SAMPLED:
        ends, others = np.triu_indices(n, 1)
        weights = np.ones(len(ends))
    else:
        # Pairs of vertices with many neighbours share the most. No secret rests on this generator: its seed is fixed,
        # so the same answers give the same figures.
        chances = 1 / (2 * n) + np.maximum(degrees, 0) / (2 * max(1.0, np.maximum(degrees, 0).sum()))
        chances /= chances.sum()
        ends, others = np.random.default_rng(0).choice(n, (2, SAMPLED), p=chances)
        apart = ends != others
        ends, others = ends[apart], others[apart]
        weights = 1 / (2 * SAMPLED * chances[ends] * chances[others])
    yes, shared = answers.shared_by(ends, others)
    yes_degrees = answers.degrees()
    beside = yes_degrees[ends] + yes_degrees[others] - 2 * yes
    common = (shared - f * beside + f**2 * (n - 2)) / (1 - 2 * f) ** 2
    return float(weights @ common**2)


# --- k = 4: the sum of (h_wx - f)(h_wy - f)(h_wz - f)(h_xy - f)(h_yz - f)(h_xz - f) over triples of other vertices


def _four_cliques(answers: Answers, *several: Flips) -> Iterator[list[int]]:
    """Yield the sums times 2^144, subtracting each of several chances f from the same answers."""
    triangles, degrees = answers.triangles(), answers.degrees()
    fours, beside = answers.cliques()
    all_triangles = int(triangles.sum()) // 3
    columns = (
        degrees.tolist(),
        triangles.tolist(),
        answers.around(degrees - 1).tolist(),
        answers.around(triangles).tolist(),
        fours.tolist(),
        beside.tolist(),
        answers.paths().tolist(),
    )
    rows = list(zip(*columns, strict=True))
    for flips in several:
        yield list(starmap(_FourCliques(flips, answers.yes_count, all_triangles).numerator, rows))


@dataclass(frozen=True)
class _FourCliques:
    """The sum for one vertex, multiplied out: triangles, two-paths, edges and a constant, each with its weights.

    A vertex x has the weight h_wx - f, in units of 2^-24: `i` among w's yes-neighbours, `o` elsewhere.
    """

    flips: Flips
    yes: int
    all_triangles: int

    def numerator(
        self,
        d: int,
        triangles: int,
        around: int,
        near: int,
        fours: int,
        beside: int,
        paths: Sequence[int],
    ) -> int:
        """Return the sum times 2^144."""
        a, b = self.flips.below, COINS
        i, o = b - a, -a
        others = self.flips.n - 1 - d
        t3 = fours
        t2 = beside - 3 * t3
        t1 = near - 2 * triangles - 2 * t2 - 3 * t3
        t0 = self.all_triangles - triangles - t1 - t2 - t3
        of_triangles = t3 * i**3 + t2 * i**2 * o + t1 * i * o**2 + t0 * o**3
        of_paths = sum(
            r * (both * i**2 + mixed * i * o + neither * o**2)
            for r, (both, mixed, neither) in ((i, paths[:3]), (o, paths[3:]))
        )
        rest = d * i + others * o
        e11 = triangles
        e10 = around - 2 * triangles
        e00 = self.yes - d - e11 - e10
        of_edges = e11 * i**2 * (rest - 2 * i) + e10 * i * o * (rest - i - o) + e00 * o**2 * (rest - 2 * o)
        of_nothing = sum(math.comb(d, j) * math.comb(others, 3 - j) * i**j * o ** (3 - j) for j in range(4))
        return b**3 * of_triangles - a * b**2 * of_paths + a**2 * b * of_edges - a**3 * of_nothing
