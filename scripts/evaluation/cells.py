"""Cells: a cell is one point of one experiment, given by its parameters alone.

Each kind of cell is a frozen dataclass with the parameters that the kind has. The hash of the parameters names the file
of the cell's result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias, TypedDict, get_args

from pcneo.basics.config import __version__

SEED = 20260101
"""Of samples and of simulated noise; the stream of a cell's noise follows from it and the cell's parameters."""

_NOISE = "0.1.0/1"
"""Stands for the program's version where a stream is seeded: the noise is that of the kept report in later versions."""

RUNS = 100
"""Simulated releases of a cell, as in the paper."""

REVISIONS = {
    "graph": 1,  # statistics of a graph
    "views": 1,  # sizes and densities of extended local views
    "sets": 1,  # sizes and densities of cohesions
    "scores": 1,  # cohesions of the two scores, compared vertex by vertex
    "overlap": 1,  # members that a vertex's cohesions of the two scores share
    "against": 1,  # cohesions and extended local views, compared vertex by vertex
    "subsets": 1,  # extended local views inside cohesions
    "release": 5,  # errors of simulated releases
    "loss": 4,  # what the worst connection loses
    "cliques": 1,  # how many k-cliques there are
    "coverage": 1,  # connections inside groups
    "beside": 2,  # errors of simulated releases, run by run
}
"""The revision of each kind of cell: raise it when the same parameters would give another result. The arrays that many
cells need have revisions of their own, in `kept_arrays.REVISIONS`."""

Switches: TypeAlias = tuple[str, ...]
"""Names in `SWITCHES`, ascending."""

SWITCHES = {
    "inside": "noise only where a vertex's own view holds a clique (Γ_in > 0)",
    "unclamped": "no clamp of the bound at n-2",
    "four-thirds": "λ for k=4 is 4/3 of λ for k=3",
    "pads": "the pads of elv allow for δ/(2h+2), as those of published do, and not for sqrt(δ)/2",
}
"""The paper's variants of the two phases. They exist here only; no release has them."""

PRINTED: Mapping[int, Switches] = {3: ("pads", "unclamped"), 4: ("four-thirds", "pads", "unclamped")}
"""By k, what the paper's text prints: one δ' and no clamp in its Algorithm 3, and λ4 = 4/3 λ3 in its Section 6."""

INFERRED: Mapping[int, Switches] = {k: tuple(sorted((*switches, "inside"))) for k, switches in PRINTED.items()}
"""The same with `inside`, which the paper does not print: its figures suggest it, and its Section 5 contradicts it."""


class Parameters(TypedDict, total=False):
    """Parameters to select cells by."""

    graph: str
    p: str
    score: str
    k: int
    mechanism: str
    h: int
    epsilon: str
    epsilon_1: str | None
    switches: Switches


@dataclass(frozen=True)
class NeededCohesions:
    """The cohesions that a cell is computed from: those of every vertex, or of a sample, at one p."""

    p: str
    scores: tuple[str, ...]
    sample: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Cell:
    """What every cell has.

    Attributes:
        graph: the dataset's name.
        content: hash of the graph.
        seed: of samples and simulated noise.
        version: of the program, and the revision of the kind; given only when a cell is read from a file.
        memberships: hash of the stored cohesions that the cell is computed from; None where they are searched for, or
            the cell needs none.
    """

    kind: ClassVar[str]

    graph: str
    content: str
    seed: int = SEED
    version: str = ""
    memberships: str | None = None

    def __post_init__(self) -> None:
        """Complete the version."""
        object.__setattr__(self, "version", self.version or f"{__version__}/{REVISIONS[self.kind]}")

    @property
    def needs(self) -> NeededCohesions | None:
        """The cohesions that the cell is computed from, if any."""
        return None

    @property
    def parameters(self) -> dict[str, object]:
        """All parameters in the order of the files; None for those that the kind does not have."""
        values: dict[str, object] = {name: getattr(self, name, None) for name in _NAMES}
        values["switches"] = list(getattr(self, "switches", ()))
        if self.memberships is not None:
            values["memberships"] = self.memberships
        return values

    @property
    def identity(self) -> str:
        """The hash that names the cell's file."""
        return _hash(self.parameters)


@dataclass(frozen=True, kw_only=True)
class GraphCell(_Cell):
    """Statistics of a graph."""

    kind = "graph"


@dataclass(frozen=True, kw_only=True)
class ViewsCell(_Cell):
    """Sizes and densities of extended local views."""

    kind = "views"


@dataclass(frozen=True, kw_only=True)
class _BothScores(_Cell):
    """Compares the cohesions of the two scores; of `sample` vertices, or of all."""

    p: str
    sample: int | None = None

    @property
    def needs(self) -> NeededCohesions:
        return NeededCohesions(self.p, ("density", "degree"), self.sample)


@dataclass(frozen=True, kw_only=True)
class ScoresCell(_BothScores):
    """Sizes and densities of the cohesions of the two scores, vertex by vertex."""

    kind = "scores"


@dataclass(frozen=True, kw_only=True)
class OverlapCell(_BothScores):
    """Members that a vertex's cohesions of the two scores share."""

    kind = "overlap"


@dataclass(frozen=True, kw_only=True)
class _OneScore(_Cell):
    """Looks at the cohesions of one score; of `sample` vertices, or of all."""

    p: str
    score: str
    sample: int | None = None

    @property
    def needs(self) -> NeededCohesions:
        return NeededCohesions(self.p, (self.score,), self.sample)


@dataclass(frozen=True, kw_only=True)
class CohesionsCell(_OneScore):
    """Sizes and densities of cohesions."""

    kind = "sets"


@dataclass(frozen=True, kw_only=True)
class AgainstCell(_OneScore):
    """Sizes and densities of cohesions and of extended local views, vertex by vertex."""

    kind = "against"


@dataclass(frozen=True, kw_only=True)
class SubsetsCell(_OneScore):
    """Extended local views inside cohesions."""

    kind = "subsets"


@dataclass(frozen=True, kw_only=True)
class CliquesCell(_Cell):
    """How many k-cliques there are, and so what publishing zeros would cost."""

    kind = "cliques"

    k: int


@dataclass(frozen=True, kw_only=True)
class CoverageCell(_OneScore):
    """How many connections lie inside groups: those that `critical` protects."""

    kind = "coverage"


@dataclass(frozen=True, kw_only=True)
class _Simulated(_Cell):
    """Simulates releases of a mechanism.

    Attributes:
        mechanism: its name.
        k: vertices of a clique.
        epsilon, epsilon_1: texts such as `0.5`; the mechanism's own share for phase 1 where `epsilon_1` is None.
        h: how many vertices give a closer bound; None for a mechanism without phases.
        switches: the paper's variants.
        runs: simulated releases; fewer where one takes long, as the result then says.
    """

    mechanism: str
    k: int
    epsilon: str
    epsilon_1: str | None = None
    h: int | None = None
    switches: Switches = ()
    runs: int = RUNS

    @property
    def parts(self) -> tuple[Fraction, Fraction]:
        """ε1 and ε2: a tenth of ε for phase 1 unless said otherwise, as in the paper."""
        epsilon = Fraction(self.epsilon)
        epsilon_1 = epsilon / 10 if self.epsilon_1 is None else Fraction(self.epsilon_1)
        return epsilon_1, epsilon - epsilon_1

    @property
    def stream(self) -> int:
        """The seed of the cell's noise.

        Cells that differ in their switches share it, so that switches are compared under the same noise. So do cells of
        stored cohesions and of those that are searched for, and cells of all versions of the program.
        """
        return int(_hash(replace(self, switches=(), memberships=None, version=_NOISE).parameters), 16)


@dataclass(frozen=True, kw_only=True)
class _Released(_Simulated):
    """Simulates whole releases; `p` and `score` are None for a mechanism that needs no groups."""

    p: str | None = None
    score: str | None = None

    @property
    def needs(self) -> NeededCohesions | None:
        return None if self.p is None or self.score is None else NeededCohesions(self.p, (self.score,))


@dataclass(frozen=True, kw_only=True)
class ReleaseCell(_Released):
    """Errors of simulated releases, with the paper's δ and ε1."""

    kind = "release"


@dataclass(frozen=True, kw_only=True)
class BesideCell(_Released):
    """Errors of simulated releases, run by run, of a mechanism with its own parameters: the product's or a paper's."""

    kind = "beside"


@dataclass(frozen=True, kw_only=True)
class LossCell(_Simulated):
    """What the worst connection loses: a pair inside groups is one of these groups, whatever the mechanism."""

    kind = "loss"

    p: str
    score: str

    @property
    def needs(self) -> NeededCohesions:
        return NeededCohesions(self.p, (self.score,))


Cell: TypeAlias = (
    GraphCell
    | ViewsCell
    | CohesionsCell
    | ScoresCell
    | OverlapCell
    | AgainstCell
    | SubsetsCell
    | ReleaseCell
    | LossCell
    | CliquesCell
    | CoverageCell
    | BesideCell
)

_KINDS: Mapping[object, type[Cell]] = {kind.kind: kind for kind in get_args(Cell)}

_NAMES = (
    "kind",
    "graph",
    "content",
    "p",
    "score",
    "sample",
    "k",
    "mechanism",
    "h",
    "epsilon",
    "epsilon_1",
    "switches",
    "runs",
    "seed",
    "version",
)
"""All parameters, in the order of files and tables."""


def cell_of(parameters: Mapping[str, object]) -> Cell:
    """Return the cell with these `parameters`, read back from JSON; ValueError if no kind of cell has them."""
    kind = _KINDS.get(parameters.get("kind"))
    if kind is None:
        raise ValueError(f"there is no kind {parameters.get('kind')!r}")
    names = {field.name for field in fields(kind)} & set(parameters)
    values = {name: parameters[name] for name in names}
    if isinstance(switches := values.get("switches"), list):
        values["switches"] = tuple(switches)
    try:
        cell = kind(**values)  # pyright: ignore[reportArgumentType]  the next lines compare what it made of them
    except TypeError as error:
        raise ValueError(str(error)) from error
    if cell.parameters != parameters:
        raise ValueError(f"other parameters than a cell of kind {cell.kind!r} has")
    return cell


def _hash(parameters: Mapping[str, object]) -> str:
    text = json.dumps(parameters, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
