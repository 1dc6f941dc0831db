"""The paper's experiments as lists of cells: what each table and figure of its Section 6 is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from evaluation.cells import (
    INFERRED,
    PRINTED,
    AgainstCell,
    Cell,
    CliquesCell,
    CohesionsCell,
    CoverageCell,
    GraphCell,
    LossCell,
    OverlapCell,
    ReleaseCell,
    ScoresCell,
    SubsetsCell,
    Switches,
    ViewsCell,
)
from evaluation.datasets import DATASETS
from pcneo.privacy.mechanisms import mechanism_named

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

LARGEST_P_OF_CRITICAL = "0.4"
"""Of the figures by p: with larger groups a single release takes long."""

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
        place: where the paper has it: the figure's number and subject.
        cells: makes its cells for the graphs at hand.
    """

    name: str
    title: str
    place: str
    cells: Callable[[Contents], Sequence[Cell]]


# --- Sizes and densities


def _graphs(contents: Contents, names: Sequence[str] = ALL) -> list[Cell]:
    return [GraphCell(graph=name, content=contents[name]) for name in names if name in contents]


def _points(contents: Contents, swept: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Graph, p and sample: all graphs at p = 0.3, and some at every p."""
    points = [(name, "0.3") for name in ALL] + [(name, p) for name in swept for p in P_VALUES]
    return [(name, p, SAMPLED.get((name, p))) for name, p in dict.fromkeys(points) if name in contents]


def _by_score(contents: Contents) -> list[Cell]:
    cells: list[Cell] = []
    swept = ("Gnutella08", "HepPh")
    for name, p, sample in _points(contents, swept):
        content = contents[name]
        cells += [
            CohesionsCell(graph=name, content=content, p=p, score=score, sample=sample)
            for score in ("density", "degree")
        ]
        cells.append(ScoresCell(graph=name, content=content, p=p, sample=sample))
        if name in swept:
            cells.append(OverlapCell(graph=name, content=content, p=p, sample=sample))
    return cells


def _against_views(swept: Sequence[str]) -> Callable[[Contents], list[Cell]]:
    def cells(contents: Contents) -> list[Cell]:
        made: list[Cell] = [ViewsCell(graph=name, content=contents[name]) for name in ALL if name in contents]
        for name, p, sample in _points(contents, swept):
            made += [
                kind(graph=name, content=contents[name], p=p, score="density", sample=sample)
                for kind in (CohesionsCell, AgainstCell)
            ]
        return made

    return cells


# --- Releases


@dataclass(frozen=True)
class Settings:
    """The parameters at which releases are simulated, all combined with each other.

    Attributes:
        k: vertices of a clique.
        epsilons, ps, hs, epsilon_1s: the values of each parameter.
        single_switches: whether the paper's switches are simulated one by one, too.
    """

    k: int
    epsilons: Sequence[str]
    ps: Sequence[str] = ("0.1",)
    hs: Sequence[int] = (3,)
    epsilon_1s: Sequence[str | None] = (None,)
    single_switches: bool = False

    @property
    def switches(self) -> list[Switches]:
        """None of the paper's switches, those that it prints, all of them, and, where wanted, each alone."""
        together = INFERRED[self.k]
        singly = [(switch,) for switch in together if self.single_switches]
        return list(dict.fromkeys([(), PRINTED[self.k], together, *singly]))


WITH_BOUND = ("edge", "elv", "published")
"""The mechanisms that find one λ for all counts, from a bound of the local sensitivity."""


def _mechanisms(settings: Settings) -> Iterator[tuple[str, str | None, int | None, Switches]]:
    """Yield each mechanism with the ε1, h and switches that it has; the paper's switches are of its two phases."""
    yield "critical", None, None, ()
    yield "respond", None, None, ()
    yield "modelled", None, None, ()
    for epsilon_1 in settings.epsilon_1s:
        yield "edge", epsilon_1, None, ()
        for h, switches in product(settings.hs, settings.switches):
            yield "elv", epsilon_1, h, switches
            yield "published", epsilon_1, h, switches


def release_cells(contents: Contents, names: Iterable[str], settings: Settings) -> list[ReleaseCell]:
    """Return the release cells of all mechanisms that publish counts, each with the parameters that it has."""
    cells: dict[ReleaseCell, None] = {}  # a mechanism without groups has one cell for all p
    at_hand = [name for name in names if name in contents]
    for name, epsilon, p in product(at_hand, settings.epsilons, settings.ps):
        for mechanism, epsilon_1, h, switches in _mechanisms(settings):
            if mechanism == "critical" and p > LARGEST_P_OF_CRITICAL:
                continue
            needs_groups = mechanism_named(mechanism).needs_groups
            cell = ReleaseCell(
                graph=name,
                content=contents[name],
                mechanism=mechanism,
                k=settings.k,
                epsilon=epsilon,
                epsilon_1=epsilon_1,
                h=h,
                switches=switches,
                p=p if needs_groups else None,
                score="density" if needs_groups else None,
            )
            cells[cell] = None
    return list(cells)


def loss_cells(contents: Contents, names: Iterable[str], settings: Settings) -> list[LossCell]:
    """Return the loss cells of mechanisms with one λ; all of them have p and score, for the losses inside groups.

    With randomised response every pair loses the same, whatever the graph.
    """
    return [
        LossCell(
            graph=name,
            content=contents[name],
            mechanism=mechanism,
            k=settings.k,
            epsilon=epsilon,
            epsilon_1=epsilon_1,
            h=h,
            switches=switches,
            p=p,
            score="density",
        )
        for name in names
        if name in contents
        for epsilon, p in product(settings.epsilons, settings.ps)
        for mechanism, epsilon_1, h, switches in _mechanisms(settings)
        if mechanism in WITH_BOUND
    ]


def _releases(names: Sequence[str], settings: Settings) -> Callable[[Contents], Sequence[Cell]]:
    return lambda contents: [*release_cells(contents, names, settings), *_context(contents, names, settings)]


def _context(contents: Contents, names: Iterable[str], settings: Settings) -> Iterator[Cell]:
    """Yield what errors are seen against: how many cliques there are, and which connections `critical` protects."""
    for name in names:
        if name in contents:
            yield CliquesCell(graph=name, content=contents[name], k=settings.k)
            yield CoverageCell(graph=name, content=contents[name], p=settings.ps[0], score="density")


def _by_p(name: str, k: int, inside_from: str) -> Callable[[Contents], list[Cell]]:
    """Releases by p; and from some p on, whether local views lie inside the cohesions, as the paper says."""
    settings = Settings(k, EPSILONS_BY_P, P_VALUES, HS_BY_P)

    def cells(contents: Contents) -> list[Cell]:
        made: list[Cell] = [*_releases([name], settings)(contents)]
        if name in contents:
            ps = [p for p in P_VALUES if p >= inside_from]
            made += [SubsetsCell(graph=name, content=contents[name], p=p, score="density") for p in ps]
        return made

    return cells


def _h_cells(contents: Contents) -> list[Cell]:
    cells = release_cells(contents, ["Celegans"], Settings(3, EPSILONS_BY_H, hs=HS, single_switches=True))
    bounds = [cell for cell in cells if cell.mechanism in WITH_BOUND]
    return [*_graphs(contents, ["Celegans"]), *bounds]


def _losses(contents: Contents) -> list[LossCell]:
    """Losses as released and with all switches; and with λ4 = 4/3 λ3 alone, so that its loss is its own."""
    cells = [cell for k, epsilon in LOSSES for cell in loss_cells(contents, ALL, Settings(k, (epsilon,)))]
    alone = [replace(cell, switches=("four-thirds",)) for cell in cells if cell.switches == INFERRED[4]]
    return [*cells, *alone]


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("datasets", "The nine graphs, beside what the paper prints", "Table 2", _graphs),
        Experiment(
            "score-density",
            "Densities of minimal p-cohesions by score",
            "Fig. 2, density distribution of minimal p-cohesions under different score functions",
            _by_score,
        ),
        Experiment(
            "score-size",
            "Sizes of minimal p-cohesions by score",
            "Fig. 3, size distribution of minimal p-cohesions under different score functions",
            _by_score,
        ),
        Experiment(
            "view-density",
            "Densities of minimal p-cohesions and of extended local views",
            "Fig. 4, density distribution of minimal p-cohesion and ELV",
            _against_views(("USAirport", "SisterCity")),
        ),
        Experiment(
            "view-size",
            "Sizes of minimal p-cohesions and of extended local views",
            "Fig. 5, size distribution of minimal p-cohesion and ELV",
            _against_views(("WIKIVote", "Yeast")),
        ),
        Experiment(
            "p-hepth",
            "Errors by p: HepTh, k=3",
            "Fig. 6, p selection for 3-clique counting on HepTh",
            _by_p("HepTh", 3, "0.7"),
        ),
        Experiment(
            "h-celegans",
            "Bound of the local sensitivity by h: Celegans, k=3, p=0.1",
            "Fig. 7, h selection for 3-clique counting on Celegans",
            _h_cells,
        ),
        Experiment(
            "all-10",
            "Errors on all graphs: k=3, ε=10, h=3, p=0.1",
            "Fig. 8(a), all datasets, ε=10",
            _releases(ALL, Settings(3, ("10",), single_switches=True)),
        ),
        Experiment(
            "epsilon-usairport",
            "Errors by ε: USAirport, k=3, p=0.1",
            "Fig. 8(b) to (e), ε selection for 3-clique counting on USAirport",
            _releases(["USAirport"], Settings(3, EPSILONS, hs=HS_BY_EPSILON)),
        ),
        Experiment(
            "all-5",
            "Errors on all graphs: k=3, ε=5, h=3, p=0.1",
            "Fig. 9(a), all datasets, ε=5",
            _releases(ALL, Settings(3, ("5",), single_switches=True)),
        ),
        Experiment(
            "all-1",
            "Errors on all graphs: k=3, ε=1, h=3, p=0.1",
            "nothing like it",
            _releases(ALL, Settings(3, ("1",))),
        ),
        Experiment(
            "epsilon1-celegans",
            "Errors by ε1: Celegans, k=3, ε=5, p=0.1",
            "Fig. 9(b) to (e), ε1 selection for 3-clique counting on Celegans",
            _releases(["Celegans"], Settings(3, ("5",), hs=HS_BY_EPSILON_1, epsilon_1s=EPSILON_1S)),
        ),
        Experiment(
            "p-bitcoin",
            "Errors by p: Bitcoin, k=4",
            "Fig. 10, p selection for 4-clique counting on Bitcoin",
            _by_p("Bitcoin", 4, "0.8"),
        ),
        Experiment(
            "all-10-k4",
            "Errors on all graphs: k=4, ε=10, h=3, p=0.1",
            "Fig. 11(a), all datasets, k=4, ε=10",
            _releases(ALL, Settings(4, ("10",), single_switches=True)),
        ),
        Experiment(
            "epsilon-usairport-k4",
            "Errors by ε: USAirport, k=4, p=0.1",
            "Fig. 11(b) to (e), ε selection for 4-clique counting on USAirport",
            _releases(["USAirport"], Settings(4, EPSILONS, hs=HS_BY_EPSILON)),
        ),
        Experiment(
            "losses",
            "The worst loss of one connection: h=3, p=0.1",
            "nothing like it",
            _losses,
        ),
    )
}
"""All tables and figures, in the paper's order."""
