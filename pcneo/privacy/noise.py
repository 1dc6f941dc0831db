"""The only source of noise in a release (GUARANTEE.md#noise).

A release draws from OpenDP's exact discrete Laplace sampler and takes no seed. Tests, the audit and the evaluation
bring noise of another type, which `require_release_noise` refuses.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import final

import numpy as np

from pcneo.errors import AnswerError, ParameterError, PcneoError

_LARGEST_SCALE = 2**56
"""64 times this is 2^62: with a larger scale, the chance that a draw leaves 64 bits is no longer negligible."""


def handed_scale(scale: Fraction) -> float:
    """Return the binary64 scale that the sampler is given: the nearest double, or the next where that is smaller."""
    try:
        handed = scale.numerator / scale.denominator
    except OverflowError:
        handed = math.inf
    # [scale-rounded-up] Noise may be larger than the proof asks for, never smaller.
    if 0 < handed < math.inf and Fraction(handed) < scale:
        handed = math.nextafter(handed, math.inf)
    # [exact-branch] The sampler never sees a scale of 0, for which it would silently return exact values.
    if not 0 < handed < _LARGEST_SCALE:
        raise ParameterError(
            "The noise that this needs cannot be drawn: it would be next to nothing. Use a smaller epsilon."
            if handed == 0
            else "The noise that this needs cannot be drawn: its numbers would have 18 digits or more, far "
            "more than any count. Use a larger epsilon or epsilon 1, or a smaller k.",
            name="scale",  # without its value, which for some mechanisms follows from exact counts
        )
    return handed


def system_coins(size: int) -> bytes:
    """Return `size` random bytes from the operating system's generator."""
    # [respond-coins] Not a stream of our own: anyone who found its key could undo every flip.
    return os.urandom(size)


class Noise(ABC):
    """Independent draws from the discrete Laplace distribution, and the coins of randomised response.

    Attributes:
        draws: numbers drawn so far.
    """

    def __init__(self) -> None:
        """Begin with nothing drawn."""
        self.draws = 0

    def draw(self, scale: Fraction, size: int) -> list[int]:
        """Draw `size` numbers at one scale."""
        handed = handed_scale(scale)
        self.draws += size
        drawn = self._sample(handed, size)
        if len(drawn) != size:
            raise AnswerError(f"The source of noise was asked for {size} numbers and gave {len(drawn)}.")
        return [int(x) for x in drawn]

    def coins(self, size: int) -> bytes:
        """Return `size` bytes, each uniform on 0..255."""
        drawn = self._bytes(size)
        if len(drawn) != size:
            raise AnswerError(f"The source of coins was asked for {size} bytes and gave {len(drawn)}.")
        return drawn

    @abstractmethod
    def _sample(self, scale: float, size: int) -> Sequence[int]: ...

    def _bytes(self, size: int) -> bytes:
        """Return random bytes; a source that never answers a pair, as in some tests, needs none."""
        raise NotImplementedError


@final
class ReleaseNoise(Noise):
    """OpenDP's exact sampler, on a generator that the system seeds: the only source that a release accepts."""

    def __init__(self) -> None:
        """Load OpenDP, which takes most of a second."""
        super().__init__()
        try:
            from opendp.domains import atom_domain, vector_domain
            from opendp.measurements import make_laplace
            from opendp.metrics import l1_distance
            from opendp.mod import enable_features
        except Exception as error:  # when memory runs out, it raises errors of any class
            raise PcneoError(f"OpenDP, the source of noise, cannot be loaded. Nothing was spent. ({error})") from error

        enable_features("contrib")  # OpenDP's word for code without external review; the sampler's proof is published
        # [noise-i64] The default integers have 32 bits and saturate.
        self._space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
        self._make_laplace = make_laplace

    def _sample(self, scale: float, size: int) -> Sequence[int]:
        # [noise-alone] Noise is added to zeros: counts never enter 64 bits, and cannot saturate there.
        return self._make_laplace(*self._space, scale=scale)([0] * size)

    def _bytes(self, size: int) -> bytes:
        return system_coins(size)


class SimulatedNoise(Noise):
    """Noise for tests and simulations, from any function of a scale and a size; no release accepts it."""

    def __init__(
        self, sample: Callable[[float, int], Sequence[int]], coins: Callable[[int], bytes] | None = None
    ) -> None:
        """Draw from `sample(scale, size)`, and bytes from `coins(size)`; without `coins`, all bytes are 255."""
        super().__init__()
        self._sampler = sample
        self._coins = coins or (lambda size: b"\xff" * size)

    @classmethod
    def seeded(cls, seed: int) -> SimulatedNoise:
        """Return repeatable noise: the difference of two geometric numbers from numpy's generator, in doubles."""
        rng = np.random.default_rng(seed)

        def sample(scale: float, size: int) -> list[int]:
            success = -math.expm1(-1 / scale)
            return (rng.geometric(success, size) - rng.geometric(success, size)).tolist()

        return cls(sample, rng.bytes)

    def _sample(self, scale: float, size: int) -> Sequence[int]:
        return self._sampler(scale, size)

    def _bytes(self, size: int) -> bytes:
        return self._coins(size)


def require_release_noise(noise: Noise) -> None:
    """Refuse every source of noise but OpenDP's."""
    if type(noise) is not ReleaseNoise:
        raise ParameterError(
            f"A release draws its noise from OpenDP, not from {type(noise).__name__}, which is for simulations.",
            name="noise",
            value=noise,
        )


def add_noise(counts: Sequence[int], scale: Fraction, noise: Noise) -> list[int]:
    """Return Γ*(v) = Γ(v) + X_v for each vertex, in exact integers."""
    return [int(count) + x for count, x in zip(counts, noise.draw(scale, len(counts)), strict=True)]
