"""Many releases at once, simulated: the mechanisms' formulas over whole arrays, with fast floating-point noise.

Nothing here can reach a release: the package does not import the evaluation, and a release draws from OpenDP alone.
Parameters, scales and pads come from the mechanisms themselves. Tests compare every scale and every noisy count with
the code that a release runs, at the same noise.

The noise of R runs over n vertices is an int64 array of shape (R, n); run r takes row r.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.privacy.laplace import pad
from pcneo.privacy.mechanisms import Edge, TwoPhases
from pcneo.privacy.noise import handed_scale
from pcneo.privacy.sensitivity import count_sensitivity

Counts = NDArray[np.int64]

Draw = Callable[[NDArray[np.float64], tuple[int, int]], Counts]
"""Takes positive scales that broadcast to a shape, and returns an array of that shape, drawn."""


def floating_point_noise(seed: int) -> Draw:
    """Return simulated discrete Laplace noise: the difference of two of numpy's geometric numbers, in doubles.

    It is fast and repeatable. It is open to the known attacks on floating-point noise, and so for simulations alone.
    """
    rng = np.random.default_rng(seed)

    def draw(scales: NDArray[np.float64], shape: tuple[int, int]) -> Counts:
        success = -np.expm1(-1 / scales)
        return rng.geometric(success, shape) - rng.geometric(success, shape)

    return draw


@dataclass(frozen=True, eq=False)
class View:
    """What the vertices see in phase 1 of `elv` or `published`.

    Attributes:
        degrees: deg(v, R(v)), shape (n,).
        common: c(v) or cn_in(v), shape (n,).
    """

    degrees: Counts
    common: Counts


def scales_of_phases(
    mechanism: TwoPhases, view: View, draw: Draw, runs: int, switches: Sequence[str] = ()
) -> list[Fraction]:
    """Run phase 1 many times, and return λ of each run; noise is drawn first of all degrees, then of the h answers."""
    degree_scale, common_scale = (Fraction(handed_scale(t)) for t in (mechanism.degree_scale, mechanism.common_scale))
    part = mechanism.delta / (2 * mechanism.h + 2) if "pads" in switches else mechanism.part_delta
    shape = runs, len(view.degrees)
    U = view.degrees + draw(np.array(float(degree_scale)), shape) + pad(degree_scale, part)  # noqa: N806
    chosen = np.argsort(-U, axis=1, kind="stable")[:, : mechanism.h]
    drawn = draw(np.array(float(common_scale)), (runs, mechanism.h))
    answers = view.common[chosen] + drawn + pad(common_scale, part)
    np.put_along_axis(U, chosen, np.minimum(np.take_along_axis(U, chosen, axis=1), answers), axis=1)
    largest = U.max(axis=1)
    if "unclamped" not in switches:
        largest = np.minimum(largest, mechanism.n - 2)
    return [_phase_sensitivity(bound, mechanism.k, switches) / mechanism.epsilon_2 for bound in largest.tolist()]


def _phase_sensitivity(bound: int, k: int, switches: Sequence[str]) -> Fraction:
    if "four-thirds" in switches:
        return Fraction(4, 3) * count_sensitivity(bound, 3)
    return Fraction(count_sensitivity(bound, k))


def scales_of_edge(mechanism: Edge, largest_common: int, draw: Draw, runs: int) -> list[Fraction]:
    """Find λ of `edge` many times."""
    scale = Fraction(handed_scale(1 / mechanism.epsilon_1))
    drawn = draw(np.array(float(scale)), (runs, 1))[:, 0] + pad(scale, mechanism.delta) + largest_common
    bounds = np.minimum(drawn, mechanism.n - 2).tolist()
    return [count_sensitivity(bound, mechanism.k) / mechanism.epsilon_2 for bound in bounds]


def noise_of_scales(
    scales: Sequence[Fraction], n: int, draw: Draw, *, where: NDArray[np.bool_] | None = None
) -> Counts:
    """Return the noise that the counts get in runs of one scale each: int64, shape (R, n).

    It is drawn for all vertices, whatever `where` is: the vertices whose counts get noise, for the switch `inside`.
    """
    handed = np.array([handed_scale(scale) for scale in scales])
    drawn = draw(handed[:, np.newaxis], (len(scales), n))
    return drawn if where is None else np.where(where, drawn, 0)
