"""Mechanisms as an owner names them: checked when they are made, and complete before the number of vertices is known.

Each stands for a class of `mechanisms/`, of the same name, which fills in what follows from the number of vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from pcneo.errors import ParameterError
from pcneo.privacy.exact import positive, typed_text
from pcneo.privacy.mechanisms import MechanismRequest, mechanism_named
from pcneo.privacy.mechanisms.parameters import whole

__all__ = ["AnyNumber", "Critical", "Edge", "Elv", "MechanismValue", "Modelled", "Published", "Respond", "Total"]

AnyNumber = int | float | str | Decimal | Fraction
"""A number of privacy: as text, `"0.5"` or `"1/3"`, or as a number that Python reads so."""


@dataclass(frozen=True, kw_only=True, repr=False)
class MechanismValue:
    """How a release is made private, and what it may spend.

    Attributes:
        epsilon: ε of the release, exactly.
        k: vertices of the cliques that are counted; one release may count several.
    """

    epsilon: AnyNumber
    k: int | Sequence[int] = 3

    name: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse what is out of range, and keep numbers of privacy as fractions."""
        ks = self.k if isinstance(self.k, Sequence) and not isinstance(self.k, str) else (self.k,)
        object.__setattr__(self, "k", tuple(ks))
        if not self.ks or len(set(self.ks)) < len(self.ks):
            raise ParameterError(f"k must be one number or several different ones, not {ks!r}.", name="k", value=ks)
        for name in ("epsilon", "delta", "epsilon_1"):
            value = getattr(self, name, None)
            if value is not None or name == "epsilon":
                exact = positive(value, name.replace("_", " "), below=1 if name == "delta" else None)
                object.__setattr__(self, name, exact)
        for name in ("large", "clip", "smooth"):
            if not isinstance(value := getattr(self, name, False), bool):
                raise ParameterError(f"{name} is True or False, not {value!r}.", name=name, value=value)
        if (h := getattr(self, "h", None)) is not None:
            whole("h", h, at_least=0)
        for k in self.ks:
            mechanism_named(self.name).parameters_of(MechanismRequest(k=k, **self.parameters))

    @property
    def ks(self) -> tuple[int, ...]:
        """Every k."""
        return self.k if isinstance(self.k, tuple) else (self.k,)  # pyright: ignore[reportReturnType]

    @property
    def parameters(self) -> dict[str, Any]:
        """The mechanism's name and all parameters but k, as a request takes them."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "k"}
        exact = {name: typed_text(value) if isinstance(value, Fraction) else value for name, value in named.items()}
        return {"mechanism": self.name, **{name: None if value is False else value for name, value in exact.items()}}

    def __repr__(self) -> str:
        """Return it as it is written, without what is left to the mechanism."""
        ks = self.ks[0] if len(self.ks) == 1 else self.ks
        given = {name: value for name, value in self.parameters.items() if name != "mechanism" and value is not None}
        texts = [f"{name}={value}" for name, value in {"k": ks, **given}.items()]
        return f"{type(self).__name__}({', '.join(texts)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Critical(MechanismValue):
    """Pairs inside stored groups are protected, given the groups and all other connections; the rest is exact.

    >>> import pcneo
    >>> pcneo.Critical(k=(3, 4), epsilon=1)
    Critical(k=(3, 4), epsilon=1)

    Attributes:
        clip: add counts cut to what is possible, which are biased.

    Raises:
        ParameterError: ε is not positive, or too large or too small for answers; k is neither 3 nor 4.
    """

    clip: bool = False

    name = "critical"


@dataclass(frozen=True, kw_only=True, repr=False)
class Respond(MechanismValue):
    """Every connection is protected, and nobody is trusted: each pair is answered for by one of its ends.

    >>> import pcneo
    >>> pcneo.Respond(epsilon="1/2").epsilon
    Fraction(1, 2)

    Attributes:
        large: allow more than 65,536 vertices.
        clip: add counts cut to what is possible, which are biased.
        smooth: add counts drawn towards those of vertices of like degree, which are biased.
    """

    large: bool = False
    clip: bool = False
    smooth: bool = False

    name = "respond"


@dataclass(frozen=True, kw_only=True, repr=False)
class Total(MechanismValue):
    """Every connection is protected; the number of the graph's cliques is published alone.

    >>> import pcneo
    >>> pcneo.Total(epsilon=1)
    Total(k=3, epsilon=1)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that finds the scale of the noise; None for the mechanism's own rule.
        clip: add counts cut to what is possible, which are biased.
    """

    delta: AnyNumber | None = None
    epsilon_1: AnyNumber | None = None
    clip: bool = False

    name = "total"


@dataclass(frozen=True, kw_only=True, repr=False)
class Edge(MechanismValue):
    """Every connection is protected, and every vertex has a count.

    >>> import pcneo
    >>> pcneo.Edge(epsilon=1, delta="1e-6")
    Edge(k=3, epsilon=1, delta=1e-6)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that finds the scale of the noise; None for the mechanism's own rule.
        clip: add counts cut to what is possible, which are biased.
        smooth: add counts drawn towards their mean, which are biased.
    """

    delta: AnyNumber | None = None
    epsilon_1: AnyNumber | None = None
    clip: bool = False
    smooth: bool = False

    name = "edge"


@dataclass(frozen=True, kw_only=True, repr=False)
class Modelled(MechanismValue):
    """Every connection is protected, and counts of vertices follow from noisy degrees.

    >>> import pcneo
    >>> pcneo.Modelled(epsilon=2)
    Modelled(k=3, epsilon=2)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that finds the scale of the noise; None for the mechanism's own rule.
    """

    delta: AnyNumber | None = None
    epsilon_1: AnyNumber | None = None

    name = "modelled"


@dataclass(frozen=True, kw_only=True, repr=False)
class Elv(MechanismValue):
    """Every connection is protected, with a scale for each vertex, which the vertices find themselves.

    >>> import pcneo
    >>> pcneo.Elv(epsilon=1, h=3)
    Elv(k=3, epsilon=1, h=3)

    Attributes:
        delta: δ; None for min(1e-6, 1/n²).
        epsilon_1: the part of ε that finds the scales; None for the mechanism's own rule.
        h: how many vertices are asked for a closer bound; None for min(3, n).
        clip: add counts cut to what is possible, which are biased.
        smooth: add counts drawn towards their mean, which are biased.
    """

    delta: AnyNumber | None = None
    epsilon_1: AnyNumber | None = None
    h: int | None = None
    clip: bool = False
    smooth: bool = False

    name = "elv"


@dataclass(frozen=True, kw_only=True, repr=False)
class Published(MechanismValue):
    """The mechanism of the paper as printed, which promises nothing; to compare with alone.

    >>> import pcneo
    >>> pcneo.Published(epsilon=1)
    Published(k=3, epsilon=1)

    Attributes:
        delta, epsilon_1, h: as of `Elv`.
        clip: add counts cut to what is possible, which are biased.
    """

    delta: AnyNumber | None = None
    epsilon_1: AnyNumber | None = None
    h: int | None = None
    clip: bool = False

    name = "published"
