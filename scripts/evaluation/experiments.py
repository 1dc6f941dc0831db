"""The paper's experiments as lists of cells: what each table and figure of its Section VI is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from evaluation.cells import RUNS, Cell
from evaluation.datasets import DATASETS

__all__ = [
    "ALL",
    "EPSILONS",
    "EPSILONS_BY_H",
    "EPSILONS_BY_P",
    "EPSILON_1S",
    "EXPERIMENTS",
    "HS",
    "HS_BY_EPSILON",
    "HS_BY_EPSILON_1",
    "HS_BY_P",
    "LOSSES",
    "P_VALUES",
    "SAMPLED",
    "Experiment",
    "paper_switches",
    "release_cells",
]

ALL = tuple(dataset.name for dataset in DATASETS)

P_VALUES = tuple(f"0.{i}" for i in range(1, 9))

HS_BY_P, EPSILONS_BY_P = (1, 3, 10), ("3", "10")
"""The panels of the figures by p."""

HS, EPSILONS_BY_H = tuple(range(1, 13)), ("1", "3", "5", "10")
"""Values, and panels, of the figure by h."""

EPSILONS, HS_BY_EPSILON = tuple(str(i) for i in range(1, 13)), (1, 3, 5, 10)
"""Values, and panels, of the figures by ε."""

EPSILON_1S, HS_BY_EPSILON_1 = tuple(f"{i // 10}.{i % 10}" for i in range(1, 50)), (3, 5, 7, 10)
"""Values, and panels, of the figure by ε1."""

LOSSES = ((3, "5"), (3, "10"), (4, "10"))
"""k and ε of the losses."""

SAMPLED = {("HepPh", p): 1_000 for p in P_VALUES[3:]}
"""Where all vertices would cost too much, a random sample of so many stands for them."""

Contents = Mapping[str, str]
"""The hash of each graph at hand, by name."""


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes:
        name: as the command line calls it.
        title: what it shows, in a line.
        place: the labels that the paper's source gives it.
        cells: makes its cells for the graphs at hand.
    """

    name: str
    title: str
    place: str
    cells: Callable[[Contents], list[Cell]]


# --- Structure


def _graphs(contents: Contents) -> list[Cell]:
    return [Cell("graph", name, contents[name]) for name in ALL if name in contents]


def _structure(contents: Contents, swept: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Graph, p and sample: all graphs at p = 0.3, and some at every p."""
    points = [(name, "0.3") for name in ALL] + [(name, p) for name in swept for p in P_VALUES]
    return [(name, p, SAMPLED.get((name, p))) for name, p in dict.fromkeys(points) if name in contents]


def _by_score(contents: Contents) -> list[Cell]:
    cells, swept = [], ("Gnutella08", "HepPh")
    for name, p, sample in _structure(contents, swept):
        cells += [Cell("sets", name, contents[name], p, score, sample) for score in ("density", "degree")]
        cells.append(Cell("scores", name, contents[name], p, sample=sample))
        if name in swept:
            cells.append(Cell("overlap", name, contents[name], p, sample=sample))
    return cells


def _against_views(swept: Sequence[str]) -> Callable[[Contents], list[Cell]]:
    def cells(contents: Contents) -> list[Cell]:
        found = [Cell("views", name, contents[name]) for name in ALL if name in contents]
        for name, p, sample in _structure(contents, swept):
            found += [Cell(kind, name, contents[name], p, "density", sample) for kind in ("sets", "against")]
        return found

    return cells


# --- Releases


def paper_switches(k: int) -> tuple[str, ...]:
    """Return all of the paper's switches together."""
    return ("inside", "unclamped") if k == 3 else ("four-thirds", "inside", "unclamped")


def release_cells(
    contents: Contents,
    names: Iterable[str],
    *,
    k: int,
    epsilons: Sequence[str],
    ps: Sequence[str] = ("0.1",),
    hs: Sequence[int] = (3,),
    epsilon_1s: Sequence[str | None] = (None,),
    each_switch: bool = False,
    kind: str = "release",
) -> list[Cell]:
    """Return the cells of all four mechanisms, each with the parameters it has, and of the paper's switches.

    Args:
        contents: the graphs at hand.
        names: of which.
        k, epsilons, ps, hs, epsilon_1s: the parameters.
        each_switch: whether the switches are looked at one by one, too.
        kind: `release` or `loss`.
    """
    switched: list[tuple[str, ...]] = [(), paper_switches(k)]
    if each_switch:
        switched += [(switch,) for switch in paper_switches(k)]
    at_hand = [name for name in names if name in contents]
    cells: dict[Cell, None] = {}
    for name, epsilon, p in product(at_hand, epsilons, ps):
        groups: dict[str, Any] = {"p": p, "score": "density"}
        # A loss inside groups is one of the groups', whatever the mechanism.
        none = groups if kind == "loss" else {}
        made = partial(Cell, kind, name, contents[name], k=k, epsilon=epsilon, runs=RUNS)
        cells[made(mechanism="critical", **groups)] = None
        for epsilon_1 in epsilon_1s:
            cells[made(mechanism="edge", epsilon_1=epsilon_1, **none)] = None
            for h, switches in product(hs, switched):
                phases: dict[str, Any] = {"epsilon_1": epsilon_1, "h": h, "switches": switches}
                cells[made(mechanism="elv", **phases, **none)] = None
                cells[made(mechanism="published", **phases, **groups)] = None
    return list(cells)


def _releases(*names: str, **parameters: Any) -> Callable[[Contents], list[Cell]]:
    return lambda contents: release_cells(contents, names, **parameters)


def _by_p(name: str, k: int, inside_from: str) -> Callable[[Contents], list[Cell]]:
    """Releases by p; and from some p on, whether local views lie inside the cohesions, as the paper says."""

    def cells(contents: Contents) -> list[Cell]:
        found = release_cells(contents, [name], k=k, ps=P_VALUES, hs=HS_BY_P, epsilons=EPSILONS_BY_P)
        if name in contents:
            held = [p for p in P_VALUES if p >= inside_from]
            found += [Cell("subsets", name, contents[name], p, "density") for p in held]
        return found

    return cells


def _h_cells(contents: Contents) -> list[Cell]:
    cells = release_cells(contents, ["Celegans"], k=3, hs=HS, epsilons=EPSILONS_BY_H, each_switch=True)
    bounds = [cell for cell in cells if cell.mechanism != "critical"]  # which bounds nothing by noise
    return [*_graphs({name: contents[name] for name in ("Celegans",) if name in contents}), *bounds]


def _losses(contents: Contents) -> list[Cell]:
    """Losses as released and with all switches; and with λ4 = 4/3 λ3 alone, so that its loss is its own."""
    cells = [
        cell for k, epsilon in LOSSES for cell in release_cells(contents, ALL, k=k, epsilons=(epsilon,), kind="loss")
    ]
    alone = [replace(cell, switches=("four-thirds",)) for cell in cells if "four-thirds" in cell.switches]
    return [*cells, *alone]


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("datasets", "The nine graphs, beside what the paper prints", "tb:datasets", _graphs),
        Experiment("score-density", "Densities of minimal p-cohesions by score", "fig:eval:PCsDensity", _by_score),
        Experiment("score-size", "Sizes of minimal p-cohesions by score", "fig:eval:PCsSize", _by_score),
        Experiment(
            "view-density",
            "Densities of minimal p-cohesions and of extended local views",
            "fig:eval:PCELVDen",
            _against_views(("USAirport", "SisterCity")),
        ),
        Experiment(
            "view-size",
            "Sizes of minimal p-cohesions and of extended local views",
            "fig:eval:PCELVSize",
            _against_views(("WIKIVote", "Yeast")),
        ),
        Experiment(
            "p-hepth",
            "Errors by p: HepTh, k=3",
            "fig:eval:hepth:p",
            _by_p("HepTh", 3, "0.7"),
        ),
        Experiment("h-celegans", "Bound of the local sensitivity by h: Celegans, k=3", "fig:eval:wikivote_h", _h_cells),
        Experiment(
            "all-10",
            "Errors on all graphs: k=3, ε=10, h=3, p=0.1",
            "fig:eval:USAirport:all",
            _releases(*ALL, k=3, epsilons=("10",), each_switch=True),
        ),
        Experiment(
            "epsilon-usairport",
            "Errors by ε: USAirport, k=3, p=0.1",
            "fig:eval:USAirport_var",
            _releases("USAirport", k=3, epsilons=EPSILONS, hs=HS_BY_EPSILON),
        ),
        Experiment(
            "all-5",
            "Errors on all graphs: k=3, ε=5, h=3, p=0.1",
            "fig:eval1:all",
            _releases(*ALL, k=3, epsilons=("5",), each_switch=True),
        ),
        Experiment(
            "epsilon1-celegans",
            "Errors by ε1: Celegans, k=3, ε=5, p=0.1",
            "fig:eval1:celegan_var1",
            _releases("Celegans", k=3, epsilons=("5",), hs=HS_BY_EPSILON_1, epsilon_1s=EPSILON_1S),
        ),
        Experiment(
            "p-bitcoin",
            "Errors by p: Bitcoin, k=4",
            "fig:eval:Bitcoin:p",
            _by_p("Bitcoin", 4, "0.8"),
        ),
        Experiment(
            "all-10-k4",
            "Errors on all graphs: k=4, ε=10, h=3, p=0.1",
            "fig:eval:all",
            _releases(*ALL, k=4, epsilons=("10",), each_switch=True),
        ),
        Experiment(
            "epsilon-usairport-k4",
            "Errors by ε: USAirport, k=4, p=0.1",
            "fig:eval:Yeast_var",
            _releases("USAirport", k=4, epsilons=EPSILONS, hs=HS_BY_EPSILON),
        ),
        Experiment(
            "losses",
            "The worst loss of one connection: h=3, p=0.1",
            "not in the paper",
            _losses,
        ),
    )
}
"""All tables and figures, in the paper's order."""
