"""Errors of all mechanisms beside what one fixed attacker finds: errors alone recommend the one that shows most.

It is no part of the paper. Releases have the product's own parameters, δ and ε1 among them, and simulated noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.cells import SEED
from evaluation.computed_once import computed_once
from evaluation.datasets import DATASETS
from evaluation.drawing.marks import ZEROS, Series, picture
from evaluation.kept_files import as_csv
from evaluation.simulated_releases import ONE_BY_ONE, affordable_runs, seconds_of_one
from pcneo import plots
from pcneo.basics.model import Graph
from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.attack import Seen
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism
from pcneo.privacy.mechanisms.answered import Answered
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import half_true_epsilon
from pcneo.release.audit.attacked import (
    Attack,
    Errors,
    Found,
    can_be_attacked,
    mean_errors,
    mean_found,
    simulated,
)
from pcneo.search import search_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes


EPSILONS = ("1", "2", "3", "5", "10")

_MOST, _FEWEST, _PAIRS = 20, 3, 200_000_000
"""Releases of a graph: as many as have so many pairs of vertices together. There is none where one is expected to
take longer than a cell of the evaluation may."""
_MOST_ATTACKED, _ATTACKED_PAIRS = 3, 1_000_000
"""How many of them are attacked, likewise; one at least."""

_NOTE = (
    "At equal ε, mechanisms promise different things: `critical` protects pairs inside groups only, given the groups; "
    "`published` promises nothing. The attacker's figure is a lower bound: one fixed attacker with the best of its "
    "weights (GUARANTEE.md, The attacker). It does not know the groups unless the row says so. It sees answers only "
    "where the row says that they are published. Of protected pairs: of the connections inside groups, among as many "
    "guesses inside groups. Clipped and smoothed counts have rows of their own; none is picked by the truth. The "
    "picture has plain counts, groups unknown. All pairs are ranked, so of graphs of more than 10,000 vertices there "
    "are errors alone."
)

_LEADING = (
    "Exact degrees, exact counts and nothing are what somebody would find without a release; where groups are known, "
    "the row *nothing* is what the groups show alone."
)

_PUBLISHED = "answers published"
_NOT_FOUND = Found(None, None, None)
_SHARES = {"alone": "", "with_groups": "groups known", "protected": "of protected pairs, groups known"}


@dataclass(frozen=True)
class Setting:
    """What all releases have in common: k, and of the groups p and the search."""

    k: int = 3
    p: str = "0.1"
    search: str = "density"


@dataclass(frozen=True)
class AttackedGraph:
    """What was measured on one graph.

    Attributes:
        graph: its name.
        vertices, connections: its size.
        zeros: mean absolute error of publishing zeros.
        alone: what the attacker finds without a release: knowing nothing, exact degrees, exact counts; empty where
            pairs are too many to be ranked.
        releases, attacked: simulated of each mechanism, and how many of them were attacked.
        errors: by mechanism and ε.
        found: by mechanism, or mechanism and what is published with it, and ε; empty like `alone`.
        left_out: why there are no releases, by mechanism and ε.
    """

    name: str
    vertices: int
    connections: int
    zeros: float
    alone: Mapping[str, Found]
    releases: int
    attacked: int
    errors: Mapping[tuple[str, str], Errors]
    found: Mapping[tuple[str, str], Found]
    left_out: Mapping[tuple[str, str], str]

    @property
    def threshold(self) -> float:
        """ln(n/d), d the mean degree."""
        return half_true_epsilon(self.vertices, 2 * self.connections / self.vertices)

    @property
    def epsilons(self) -> list[str]:
        """ε of the releases."""
        return list(dict.fromkeys(epsilon for _, epsilon in self.errors))

    @property
    def mechanisms(self) -> list[str]:
        """Those that could be had."""
        return list(dict.fromkeys(mechanism for mechanism, _ in self.errors))

    def found_at(self, epsilon: str) -> dict[str, Found]:
        """What is found without a release, and with one at ε, by what is seen."""
        return {**self.alone, **{name: found for (name, at), found in self.found.items() if at == epsilon}}


def find(
    name: str,
    graph: Graph,
    epsilons: Sequence[str] = EPSILONS,
    setting: Setting = Setting(),
    note: Callable[[str], None] = lambda _: None,
) -> AttackedGraph:
    """Simulate releases of each mechanism that publishes counts, and attack them where all pairs can be ranked."""
    n = graph.vertex_count
    facts = CountedGraph(graph, search_all(graph, setting.p, setting.search))
    releases = max(_FEWEST, min(_MOST, _PAIRS // math.comb(n, 2)))
    attacked = max(1, min(_MOST_ATTACKED, _ATTACKED_PAIRS // math.comb(n, 2))) if can_be_attacked(n) else 0
    attack = Attack(facts) if attacked else None
    errors: dict[tuple[str, str], Errors] = {}
    found: dict[tuple[str, str], Found] = {}
    left_out: dict[tuple[str, str], str] = {}
    for made, epsilon in _mechanisms(n, epsilons, setting.k):
        note(f"{name}, {made.name}, ε={epsilon}")
        try:
            if made.name in ONE_BY_ONE:
                affordable_runs(releases, seconds_of_one(made, graph.edge_count, facts))
            drawn = list(simulated(facts, made, SimulatedNoise.seeded(SEED), releases))
        except GraphError as error:
            left_out[made.name, epsilon] = str(error)
            continue
        errors[made.name, epsilon] = mean_errors(facts, drawn)
        if attack is not None:
            shown = drawn[:attacked]
            found[made.name, epsilon] = mean_found([attack.of_release(one) for one in shown])
            if isinstance(made, Answered):
                published = mean_found([attack.of_release(one, published=True) for one in shown])
                found[f"{made.name}, {_PUBLISHED}", epsilon] = published
    seen = {"nothing": Seen(n), "exact degrees": Seen(n, degrees=facts.degrees())}
    seen["exact counts"] = Seen(n, counts=facts.counts(setting.k))
    alone = {what: attack.of(view) for what, view in seen.items()} if attack is not None else {}
    zeros = float(facts.counts(setting.k).mean())
    return AttackedGraph(name, n, graph.edge_count, zeros, alone, releases, attacked, errors, found, left_out)


def find_once(
    folder: Path, name: str, graph: Graph, epsilons: Sequence[str], setting: Setting, note: Callable[[str], None]
) -> AttackedGraph:
    """Return what `find` measures; what the folder holds of the same graph and settings is not measured again."""

    def compute() -> dict[str, Any]:
        plain = asdict(find(name, graph, epsilons, setting, note))
        by_mechanism = ("errors", "found", "left_out")
        return plain | {part: [[*at, values] for at, values in plain[part].items()] for part in by_mechanism}

    plain = computed_once(folder, graph, [name, list(epsilons), asdict(setting)], compute)
    return AttackedGraph(
        **{
            **plain,
            "alone": {what: Found(**values) for what, values in plain["alone"].items()},
            "errors": {(mechanism, epsilon): Errors(**values) for mechanism, epsilon, values in plain["errors"]},
            "found": {(mechanism, epsilon): Found(**values) for mechanism, epsilon, values in plain["found"]},
            "left_out": {(mechanism, epsilon): reason for mechanism, epsilon, reason in plain["left_out"]},
        }
    )


def _mechanisms(n: int, epsilons: Sequence[str], k: int) -> Iterator[tuple[Mechanism, str]]:
    """Yield each mechanism with counts at each ε, with clipped and smoothed counts where it has them."""
    for kind in MECHANISMS.values():
        for epsilon in epsilons if kind.counts_vertices else ():
            try:
                yield kind.taking(k=k, epsilon=epsilon, n=n, clip=True, smooth=k == 3), epsilon
            except ParameterError:
                continue  # counts of 4-cliques are not modelled in small graphs


def attack_text(graphs: Sequence[AttackedGraph], command: str, setting: Setting = Setting()) -> str:
    """Return the tables in Markdown."""
    absent = ", ".join(dataset.name for dataset in DATASETS if dataset.name not in {graph.name for graph in graphs})
    lines = [
        "# Errors beside what an attacker finds",
        "",
        f"Made by `{command}`. k={setting.k}; groups of p={setting.p}, found by `{setting.search}`. "
        "Noise is simulated." + (f" Not measured: {absent}; `--name` adds one." if absent else ""),
        "",
        _NOTE,
        "",
        "![errors and shares](attacker.svg)",
        "",
        "The numbers, as CSV: [attacker.csv](attacker.csv).",
        *_all_at_once(graphs),
    ]
    for graph in graphs:
        lines += ["", f"## {graph.name}", "", *_table(graph)]
    return "\n".join(lines) + "\n"


def attack_csv(graphs: Iterable[AttackedGraph]) -> str:
    """Return all numbers as CSV, a row for each graph, mechanism and ε; first what needs no release, without an ε."""
    columns = ["graph", "mechanism", "epsilon", "share", "share_with_groups", "share_of_protected"]
    columns += ["error", "error_of_total", "error_clipped", "error_smoothed"]
    rows: list[list[object]] = []
    for graph in graphs:
        rows.append([graph.name, "zeros", "", "", "", "", graph.zeros, "", "", ""])
        for what, found in graph.alone.items():
            rows.append([graph.name, what, "", *vars(found).values(), "", "", "", ""])
        for mechanism, epsilon in dict.fromkeys([*graph.errors, *graph.found]):
            shares = vars(graph.found.get((mechanism, epsilon), _NOT_FOUND)).values()
            errors = graph.errors.get((mechanism, epsilon))
            values = ["", ""] if errors is None else [errors.count, errors.total]
            biased = ["" if errors is None else errors.biased.get(name, "") for name in ("clipped", "smoothed")]
            rows.append([graph.name, mechanism, epsilon, *shares, *values, *biased])
    return as_csv(columns, rows)


def _all_at_once(graphs: Sequence[AttackedGraph]) -> list[str]:
    """Errors, and what is found, at the smallest ε: a column for each graph."""
    epsilon = min((epsilon for graph in graphs for epsilon in graph.epsilons), key=float)
    head = " | ".join(graph.name for graph in graphs)
    errors = [{name: graph.errors.get((name, epsilon)) for name in graph.mechanisms} for graph in graphs]
    columns = [{name: error and error.count for name, error in column.items()} for column in errors]
    lines = ["", f"## All graphs, at ε={epsilon}", "", _LEADING, "", f"| mean absolute error of a count | {head} |"]
    lines += ["|---|" + "---|" * len(graphs), _row("zeros", [graph.zeros for graph in graphs], "{:.3g}")]
    lines += _rows(columns, "", "{:.3g}")
    found = [graph.found_at(epsilon) for graph in graphs]
    if any(found):
        lines += ["", f"| connections that the attacker finds | {head} |", "|---|" + "---|" * len(graphs)]
    for attribute, words in _SHARES.items():
        lines += _rows([{name: getattr(each, attribute) for name, each in column.items()} for column in found], words)
    return lines


def _rows(columns: Sequence[Mapping[str, float | None]], words: str, form: str = "{:.1%}") -> Iterator[str]:
    """Yield a row for each name of the columns that has a value in one of them."""
    for name in dict.fromkeys(name for column in columns for name in column):
        values = [column.get(name) for column in columns]
        if any(value is not None for value in values):
            yield _row(", ".join(filter(None, [name, words])), values, form)


def _table(graph: AttackedGraph) -> list[str]:
    epsilons = graph.epsilons
    head = " | ".join(f"ε={epsilon}" for epsilon in epsilons)
    lines = [
        f"{graph.vertices:,} vertices, {graph.connections:,} connections, ln(n/d) = {graph.threshold:.1f}; publishing "
        f"zeros has an error of {graph.zeros:.1f}. Releases simulated of each: {graph.releases}, of which "
        f"{graph.attacked} were attacked.{_left_out(graph)}",
        "",
        f"| mean absolute error of a count | {head} |",
        "|---|" + "---|" * len(epsilons),
    ]
    for mechanism in graph.mechanisms:
        of_each = [graph.errors.get((mechanism, epsilon)) for epsilon in epsilons]
        lines.append(_row(mechanism, [errors and errors.count for errors in of_each], "{:.3g}"))
        kinds = dict.fromkeys(kind for errors in of_each if errors for kind in errors.biased)
        biased = {kind: [errors and errors.biased[kind] for errors in of_each] for kind in kinds}
        lines += [_row(f"{mechanism}, {kind}", errors, "{:.3g}") for kind, errors in biased.items()]
    lines += ["", f"| mean absolute error of the total | {head} |", "|---|" + "---|" * len(epsilons)]
    for mechanism in graph.mechanisms:
        of_each = [graph.errors.get((mechanism, epsilon)) for epsilon in epsilons]
        lines.append(_row(mechanism, [errors and errors.total for errors in of_each], "{:.3g}"))
    return lines + ([*_shares(graph, head)] if graph.alone else [])


def _left_out(graph: AttackedGraph) -> str:
    reasons = [f"`{name}`, ε={epsilon}: {reason}" for (name, epsilon), reason in graph.left_out.items()]
    return f" Not simulated: {'; '.join(reasons)}." if reasons else ""


def _shares(graph: AttackedGraph, head: str) -> Iterator[str]:
    yield from ("", f"| connections that the attacker finds | {head} |", "|---|" + "---|" * len(graph.epsilons))
    found = [graph.found_at(epsilon) for epsilon in graph.epsilons]
    for attribute, words in _SHARES.items():
        yield from _rows([{name: getattr(each, attribute) for name, each in one.items()} for one in found], words)


def _row(name: str, values: Iterable[float | None], form: str) -> str:
    return f"| {name} | " + " | ".join("" if value is None else form.format(value) for value in values) + " |"


def draw_attacks(graphs: Sequence[AttackedGraph], path: Path, setting: Setting = Setting()) -> None:
    """Draw errors and shares along ε, a row of panels for each graph, with ln(n/d) marked."""
    heading = f"Errors beside what an attacker finds: k={setting.k}, p={setting.p} (groups of critical)"
    with picture(path, heading, len(graphs), 2, height=1.2 + 1.9 * len(graphs)) as places:
        for graph, row in zip(graphs, places, strict=True):
            _draw(graph, *row)


def _draw(graph: AttackedGraph, errors: Axes, shares: Axes) -> None:
    for mechanism in graph.mechanisms:
        style = {**plots.look(mechanism).line, "label": Series(mechanism).label}
        had = [epsilon for epsilon in graph.epsilons if (mechanism, epsilon) in graph.errors]
        along = [float(epsilon) for epsilon in had]
        errors.plot(along, [graph.errors[mechanism, epsilon].count or 0.0 for epsilon in had], **style)
        if graph.alone:
            of_each = [graph.found[mechanism, epsilon].alone or 0.0 for epsilon in had]
            shares.plot(along, [100 * share for share in of_each], **style)
    errors.axhline(graph.zeros, **{**plots.look("other").line, "marker": "", "label": ZEROS})
    errors.set_yscale("log")
    if graph.alone:
        style = {**plots.look("exact").line, "marker": "", "label": "exact counts alone"}
        shares.axhline(100 * (graph.alone["exact counts"].alone or 0.0), **style)
    else:
        shares.set_axis_off()
        shares.text(0.5, 0.5, "too many pairs to rank", transform=shares.transAxes, ha="center", color="#666666")
    panels = [(errors, "mean error of a count"), (shares, "connections found, %")]
    for place, label in panels if graph.alone else panels[:1]:
        place.axvline(graph.threshold, color="#999999", linewidth=0.8)
        place.set_ylabel(label)
        place.set_xlabel("ε")
        place.set_title(f"{graph.name}; grey: ln(n/d)")
