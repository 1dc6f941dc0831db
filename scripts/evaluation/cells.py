"""A cell: one point of one experiment, as plain parameters; its result is one small file named by their hash."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from pcneo.config import __version__

__all__ = [
    "REVISIONS",
    "RUNS",
    "SEED",
    "SWITCHES",
    "Cell",
    "Result",
    "from_plain",
    "given",
    "number_of",
    "text_of",
    "to_plain",
]

Result = dict[str, Any]
"""Plain values by name: numbers, texts, lists of numbers, None."""

SEED = 20260101
"""Of samples and of simulated noise; a cell's own stream follows from it and the cell's parameters."""

RUNS = 100
"""Simulated releases a cell, as in the paper."""

REVISIONS = {
    "graph": 1,  # statistics of a graph
    "views": 1,  # sizes and densities of extended local views
    "sets": 1,  # sizes and densities of minimal p-cohesions
    "scores": 1,  # minimal p-cohesions of the two scores, vertex by vertex
    "overlap": 1,  # members that a vertex's sets of the two scores share
    "against": 1,  # minimal p-cohesions against extended local views, vertex by vertex
    "subsets": 1,  # extended local views inside minimal p-cohesions
    "release": 1,  # errors of simulated releases
    "loss": 2,  # what the worst connection loses
}
"""Of what each kind of cell computes: raise a kind's when the same parameters would give another result. The revisions
of arrays that many cells need are beside what computes them."""

SWITCHES = {
    "inside": "noise only where a vertex's own view holds a clique (Γ_in > 0)",
    "unclamped": "no clamp of the bound at n-2",
    "four-thirds": "λ for k=4 is 4/3 of λ for k=3",
}
"""The paper's variants of the two phases. They exist here only; no release has them."""


@dataclass(frozen=True)
class Cell:
    """The parameters of one cell; those that a kind does not have are None.

    Attributes:
        kind: one of `REVISIONS`.
        graph: the dataset's name.
        content: hash of the graph.
        p: text such as `0.3`.
        score: that ranks the expansion.
        sample: how many vertices are drawn, with `seed`; None for all.
        k: vertices of a clique.
        mechanism: its name.
        h: how many vertices are asked for a closer bound.
        epsilon, epsilon_1: texts such as `0.5`.
        switches: names in `SWITCHES`, ascending.
        runs: simulated releases.
        seed: of samples and simulated noise.
        version: of the program, and the kind's revision; given only where a cell is read.
        memberships: hash of the stored cohesions that it rests on; None where they are searched for, or it has none.
    """

    kind: str
    graph: str
    content: str
    p: str | None = None
    score: str | None = None
    sample: int | None = None
    k: int | None = None
    mechanism: str | None = None
    h: int | None = None
    epsilon: str | None = None
    epsilon_1: str | None = None
    switches: tuple[str, ...] = ()
    runs: int | None = None
    seed: int = SEED
    version: str = ""
    memberships: str | None = None

    def __post_init__(self) -> None:
        """Complete the version."""
        object.__setattr__(self, "version", self.version or f"{__version__}/{REVISIONS[self.kind]}")

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON has them; memberships only where they are stored ones."""
        given = {**asdict(self), "switches": list(self.switches)}
        if self.memberships is None:
            del given["memberships"]
        return given

    @property
    def identity(self) -> str:
        """The hash that names the cell's file."""
        return _hash(self.parameters)

    @property
    def stream(self) -> int:
        """What seeds the cell's noise: switches share it, so that they are compared under the same noise.

        So do cells of stored cohesions and of those that are searched for.
        """
        return int(_hash(replace(self, switches=(), memberships=None).parameters), 16)


def _hash(parameters: dict[str, Any]) -> str:
    text = json.dumps(parameters, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def text_of(value: str | None) -> str:
    """Return a text that every cell of a kind has."""
    return given(value)


def number_of(value: int | None) -> int:
    """Return a whole number that every cell of a kind has."""
    return given(value)


def given(value: Any) -> Any:
    """Return what every cell of a kind has.

    Raises:
        ValueError: this one does not.
    """
    if value is None:
        raise ValueError("A parameter that this kind of cell needs is None.")
    return value


def to_plain(value: Any) -> Any:
    """Return a result as JSON can say it, which knows no infinity."""
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return value


def from_plain(value: Any) -> Any:
    """Undo `to_plain`."""
    if isinstance(value, dict):
        return {name: from_plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [from_plain(each) for each in value]
    if value in ("infinite", "-infinite"):
        return math.inf if value == "infinite" else -math.inf
    return value
