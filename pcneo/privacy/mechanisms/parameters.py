"""The parameters of mechanisms: as a person writes them, and as exact numbers in range (GUARANTEE.md#refused)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pcneo.errors import ParameterError
from pcneo.privacy.exact import decimal_text, positive

__all__ = ["MechanismRequest", "Parameters", "whole"]


@dataclass(frozen=True, kw_only=True)
class MechanismRequest:
    """A mechanism and its parameters as a person writes them; None stands for the mechanism's default.

    Attributes:
        mechanism: its name, one of `MECHANISMS`; there is no default, since each promises something else.
        k: vertices of the cliques.
        epsilon: ε, a number or its text; so are `delta` and `epsilon_1`.
        delta: δ.
        epsilon_1: ε1, the part of ε that finds the scale λ.
        h: how many vertices are asked for a closer bound.
        large: whether a graph is meant that is too large to be taken by mistake.
        clip: whether to add counts cut to what is possible.
        smooth: whether to add counts drawn towards those of vertices of like degree.
    """

    mechanism: str | None = None
    k: int = 3
    epsilon: object = None
    delta: object = None
    epsilon_1: object = None
    h: int | None = None
    large: bool | None = None
    clip: bool | None = None
    smooth: bool | None = None


@dataclass(frozen=True)
class Parameters:
    """Parameters in range, as far as that can be told without the graph.

    The names are those of a mechanism's own fields. None stands for a parameter that the mechanism does not have, and
    for a default that is not filled in yet.

    Attributes:
        k: vertices of the cliques, at least 3.
        epsilon: ε of one release.
        delta: δ, between 0 and 1.
        epsilon_1: ε1, below ε.
        h: how many vertices are asked for a closer bound; checked against the number of vertices.
        large: whether a graph is meant that is too large to be taken by mistake.
        clip, smooth: whether to add clipped and smoothed counts.
        epsilon_0: the part of ε that noisy degrees cost; no person gives it.
    """

    k: int
    epsilon: Fraction
    delta: Fraction | None = None
    epsilon_1: Fraction | None = None
    h: int | None = None
    large: bool | None = None
    clip: bool | None = None
    smooth: bool | None = None
    epsilon_0: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse what is out of range, and keep numbers of privacy as fractions.

        Raises:
            ParameterError: names the parameter and its value.
        """
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if self.delta is not None:
            object.__setattr__(self, "delta", positive(self.delta, "delta", below=1))
        if self.epsilon_1 is not None:
            object.__setattr__(self, "epsilon_1", positive(self.epsilon_1, "epsilon 1"))
            if not self.epsilon_1 < self.epsilon:
                raise ParameterError(
                    f"epsilon 1 is a part of epsilon and must be below it: {decimal_text(self.epsilon_1)} is not "
                    f"below {decimal_text(self.epsilon)}.",
                    name="epsilon 1",
                    value=self.epsilon_1,
                )
        whole("k", self.k, at_least=3)

    @property
    def spent_delta(self) -> Fraction:
        """δ as outputs and ledger have it: 0 for a mechanism without one."""
        return self.delta if self.delta is not None else Fraction(0)


def whole(name: str, value: int, *, at_least: int, at_most: int | None = None) -> None:
    """Refuse anything but a whole number in a range.

    Raises:
        ParameterError: names the parameter, its value and the range.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not (is_whole and at_least <= value and (at_most is None or value <= at_most)):
        bound = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise ParameterError(f"{name} must be a whole number {bound}, not {value!r}.", name=name, value=value)
