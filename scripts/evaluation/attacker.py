"""Errors of all mechanisms beside what one fixed attacker finds: errors alone recommend the one that shows most.

It is no part of the paper. Releases have the product's own parameters, δ and ε1 among them, and simulated noise.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.cells import SEED
from evaluation.drawing.marks import ZEROS, Series, legend
from pcneo import plots
from pcneo.basics.model import Graph
from pcneo.counting.counted import CountedGraph
from pcneo.privacy.attack import MOST_VERTICES
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, MechanismRequest
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import half_true_epsilon
from pcneo.release.audit.attacked import Attacked, Exact, attack_exact, attack_release, release_errors
from pcneo.search import search_all

__all__ = ["EPSILONS", "AttackedGraph", "attack_csv", "attack_text", "draw_attacks", "find"]

EPSILONS = ("1", "2", "3", "5", "10")
K, P = 3, "0.1"

_DRAWS, _PAIRS = 5, 2_000_000
"""Releases of a small graph; fewer where their pairs together would be more than this."""

_NOTE = (
    "At equal ε, mechanisms promise different things: `critical` protects pairs inside groups only, given the groups; "
    "`published` promises nothing. The attacker's figure is a lower bound: one fixed attacker with the best of its "
    "weights (GUARANTEE.md, The attacker). Errors of `respond` are those of plain, clipped and smoothed "
    "counts; none is picked by the truth. The picture has plain counts. All pairs are ranked, so of graphs of more "
    "than 10,000 vertices there are errors alone."
)


_ALONE = {"guessing": "guessing", "degrees": "exact degrees", "counts": "exact counts"}


@dataclass(frozen=True)
class AttackedGraph:
    """What was measured on one graph.

    Attributes:
        graph: its name.
        vertices, connections: its size.
        zeros: mean absolute error of publishing zeros.
        exact: what the attacker finds without a release; None where pairs are too many to be ranked.
        draws: simulated releases of each mechanism.
        of: by mechanism and ε; with shares that are NaN where pairs are not ranked.
    """

    name: str
    vertices: int
    connections: int
    zeros: float
    exact: Exact | None
    draws: int
    of: Mapping[tuple[str, str], Attacked]

    @property
    def threshold(self) -> float:
        """ln(n/d), d the mean degree."""
        return half_true_epsilon(self.vertices, 2 * self.connections / self.vertices)


def find(
    name: str, graph: Graph, epsilons: Sequence[str] = EPSILONS, note: Callable[[str], None] = lambda _: None
) -> AttackedGraph:
    """Simulate releases of each mechanism that publishes counts, and attack them where all pairs can be ranked.

    Args:
        name: of the graph.
        graph: the graph.
        epsilons: ε of the releases.
        note: called with what is done next.
    """
    n = graph.vertex_count
    facts = CountedGraph(graph, search_all(graph, P, "density"))
    draws = max(1, min(_DRAWS, _PAIRS // math.comb(n, 2)))
    of: dict[tuple[str, str], Attacked] = {}
    for mechanism, kind in MECHANISMS.items():
        for epsilon in epsilons if kind.counts_vertices else ():
            note(f"{name}, {mechanism}, ε={epsilon}")
            biased = True if "smooth" in kind.parameter_names() else None
            request = MechanismRequest(mechanism=mechanism, k=K, epsilon=epsilon, clip=biased, smooth=biased)
            made = kind.of(kind.parameters_of(request), n)
            of[mechanism, epsilon] = _attacked(facts, made, draws)
    exact = attack_exact(facts, K) if n <= MOST_VERTICES else None
    return AttackedGraph(name, n, graph.edge_count, float(facts.counts(K).mean()), exact, draws, of)


def _attacked(facts: CountedGraph, mechanism: Mechanism, draws: int) -> Attacked:
    noise = SimulatedNoise.seeded(SEED)
    if facts.vertex_count <= MOST_VERTICES:
        return attack_release(facts, mechanism, noise, draws)
    errors = release_errors(facts, mechanism, noise, draws)
    return Attacked(math.nan, None, errors.pop("count"), errors)


def attack_text(graphs: Iterable[AttackedGraph], command: str) -> str:
    """Return the tables in Markdown."""
    lines = [
        "# Errors beside what an attacker finds",
        "",
        f"Made by `{command}`. k={K}; groups of p={P}. Noise is simulated.",
        "",
        _NOTE,
        "",
        "![errors and shares](attacker.svg)",
        "",
        "The numbers, as CSV: [attacker.csv](attacker.csv).",
    ]
    for graph in graphs:
        lines += ["", f"## {graph.name}", "", *_table(graph)]
    return "\n".join(lines) + "\n"


def attack_csv(graphs: Iterable[AttackedGraph]) -> str:
    """Return all numbers as CSV, a row for each graph, mechanism and ε; first what needs no release, without an ε."""
    text = io.StringIO()
    columns = [
        "graph",
        "mechanism",
        "epsilon",
        "share",
        "share_with_groups",
        "error",
        "error_clipped",
        "error_smoothed",
    ]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for graph in graphs:
        alone = vars(graph.exact) if graph.exact else {}
        writer.writerow([graph.name, "zeros", "", "", "", graph.zeros, "", ""])
        writer.writerows([graph.name, _ALONE[name], "", share, "", "", "", ""] for name, share in alone.items())
        for (mechanism, epsilon), result in graph.of.items():
            biased = [result.biased_errors.get(name, "") for name in ("clipped", "smoothed")]
            grouped = "" if result.with_groups is None else result.with_groups
            share = "" if math.isnan(result.share) else result.share
            writer.writerow([graph.name, mechanism, epsilon, share, grouped, result.error, *biased])
    return text.getvalue()


def _table(graph: AttackedGraph) -> list[str]:
    epsilons = list(dict.fromkeys(epsilon for _, epsilon in graph.of))
    lines = [
        f"{graph.vertices:,} vertices, {graph.connections:,} connections, ln(n/d) = {graph.threshold:.1f}; publishing "
        f"zeros has an error of {graph.zeros:.1f}. {_without_a_release(graph.exact)} "
        f"Releases simulated of each: {graph.draws}.",
        "",
        "| mean absolute error of a count | " + " | ".join(f"ε={epsilon}" for epsilon in epsilons) + " |",
        "|---|" + "---|" * len(epsilons),
    ]
    mechanisms = list(dict.fromkeys(mechanism for mechanism, _ in graph.of))
    for mechanism in mechanisms:
        lines.append(_row(mechanism, [graph.of[mechanism, epsilon].error for epsilon in epsilons], "{:.3g}"))
        for kind in graph.of[mechanism, epsilons[0]].biased_errors:
            errors = [graph.of[mechanism, epsilon].biased_errors[kind] for epsilon in epsilons]
            lines.append(_row(f"{mechanism}, {kind}", errors, "{:.3g}"))
    if graph.exact is None:
        return lines
    lines += [
        "",
        "| connections that the attacker finds | " + " | ".join(f"ε={epsilon}" for epsilon in epsilons) + " |",
        "|---|" + "---|" * len(epsilons),
    ]
    for mechanism in mechanisms:
        lines.append(_row(mechanism, [graph.of[mechanism, epsilon].share for epsilon in epsilons], "{:.1%}"))
        grouped = [graph.of[mechanism, epsilon].with_groups for epsilon in epsilons]
        if grouped[0] is not None:
            lines.append(_row(f"{mechanism}, its groups known", grouped, "{:.1%}"))
    return lines


def _without_a_release(exact: Exact | None) -> str:
    if exact is None:
        return "Its pairs are too many to be ranked by the attacker."
    return (
        f"Without a release the attacker finds {exact.guessing:.1%} by guessing, {exact.degrees:.1%} with exact "
        f"degrees, {exact.counts:.1%} with exact counts."
    )


def _row(name: str, values: Iterable[float | None], form: str) -> str:
    return f"| {name} | " + " | ".join("" if value is None else form.format(value) for value in values) + " |"


def draw_attacks(graphs: Sequence[AttackedGraph], path: Path) -> None:
    """Draw errors and shares along ε, a row of panels for each graph, with ln(n/d) marked."""
    with plots.new_figure(len(graphs), 2, height=1.2 + 1.9 * len(graphs)) as (figure, places):
        for graph, row in zip(graphs, places.reshape(len(graphs), 2), strict=True):
            mechanisms = list(dict.fromkeys(mechanism for mechanism, _ in graph.of))
            epsilons = list(dict.fromkeys(epsilon for _, epsilon in graph.of))
            for mechanism in mechanisms:
                results = [graph.of[mechanism, epsilon] for epsilon in epsilons]
                along = [float(epsilon) for epsilon in epsilons]
                style = {**plots.look(mechanism).line, "label": Series(mechanism).label}
                row[0].plot(along, [result.error for result in results], **style)
                if graph.exact is not None:
                    row[1].plot(along, [100 * result.share for result in results], **style)
            row[0].axhline(graph.zeros, **{**plots.look("other").line, "marker": "", "label": ZEROS})
            if graph.exact is None:
                row[1].set_axis_off()
                row[1].text(
                    0.5, 0.5, "too many pairs to rank", transform=row[1].transAxes, ha="center", color="#666666"
                )
            else:
                alone = {**plots.look("exact").line, "marker": "", "label": "exact counts alone"}
                row[1].axhline(100 * graph.exact.counts, **alone)
            row[0].set_yscale("log")
            labels = ("mean error of a count", "connections found, %")
            for place, label in zip(row[: 1 if graph.exact is None else 2], labels, strict=False):
                place.axvline(graph.threshold, color="#999999", linewidth=0.8)
                place.set_ylabel(label)
                place.set_xlabel("ε")
                place.set_title(f"{graph.name}; grey: ln(n/d)")
        panels = [place for row in places.reshape(len(graphs), 2) for place in row]
        named = (zip(*place.get_legend_handles_labels(), strict=True) for place in panels)
        handles = {text: handle for pairs in named for handle, text in pairs}
        figure.suptitle(f"Errors beside what an attacker finds: k={K}, p={P} (groups of critical)", fontsize=10)
        legend(figure, handles)
        plots.save_figure(figure, path)
