"""Tables as Markdown: what figures show, in numbers, and the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluation.cells import INFERRED, PRINTED, LossCell, Switches
from evaluation.claims.judging import SAID, Verdict, digits
from evaluation.datasets import DATASETS
from evaluation.drawing import PROMISES
from evaluation.drawing.marks import CONFIDENCE
from evaluation.finished_cells import Finished, Selection
from evaluation.results import Errors, Losses, Quantity, Refused, mean_or_none
from evaluation.which_mechanism import PROMISING, least_error

RECONSTRUCTED = "The degree score is a reconstruction from its description."
"""Stands wherever results of that score are reported."""


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)) + "\n"


# --- The graphs


def _datasets(finished: Finished) -> str:
    rows = []
    for dataset in DATASETS:
        counts, paper = finished.graphs.only(graph=dataset.name), dataset.paper
        if counts is None or paper is None:
            continue
        ours = _printed(counts["nodes"], counts["edges"], counts["mean_degree"], counts["largest_degree"])
        theirs = _printed(paper.nodes, paper.edges, paper.mean_degree, paper.largest_degree)
        differing = [f"{name} {value}" for name, value in theirs.items() if value != ours[name]]
        more = [f"{count:,}" for count in (counts["triangles"], counts["isolated"], counts["largest_component"])]
        rows.append([dataset.name, dataset.what, *ours.values(), *more, ", ".join(differing) or "the same"])
    head = ["graph", "of", *_printed(0, 0, 0, 0), "triangles", "isolated", "largest component", "the paper prints"]
    return markdown(head, rows)


def _printed(nodes: int, edges: int, mean_degree: float, largest_degree: int) -> dict[str, str]:
    """What the paper prints of a graph, in its digits."""
    return {
        "nodes": f"{nodes:,}",
        "edges": f"{edges:,}",
        "mean degree": f"{mean_degree:.2f}",
        "largest degree": f"{largest_degree:,}",
    }


# --- Errors


def _over_graphs(finished: Finished) -> str:
    """Errors of the total and of local counts, and which mechanism that promises something has the smallest."""
    return f"{PROMISES}\n\n{errors_of_totals(finished)}\n{local_errors(finished)}"


def errors_of_totals(finished: Finished) -> str:
    """Return the relative errors of the total with their intervals, switches apart, as a table."""
    rows = []
    releases = finished.releases
    (k,) = releases.values(lambda cell: cell.k)
    variants = sorted({cell.switches for cell, _ in releases}, key=lambda switches: (len(switches), switches))
    columns: list[tuple[str, Switches]] = [(name, ()) for name in ("critical", "edge", "respond", "modelled")]
    columns += [(name, switches) for switches in variants for name in ("elv", "published")]
    for graph in finished.graph_names:
        results = {
            (mechanism, switches): releases.only(graph=graph, mechanism=mechanism, switches=switches)
            for mechanism, switches in columns
        }
        least = least_error({mechanism: results.get((mechanism, ())) for mechanism in PROMISING})
        rows.append([graph, *(_error(results[column]) for column in columns), least])
    head = [f"k={k}, total", *(_column(*column) for column in columns), "least that promises something"]
    return markdown(head, rows)


_LOCAL: Sequence[tuple[str, str, Quantity]] = (
    ("critical", "critical", "absolute"),
    ("edge", "edge", "absolute"),
    ("elv", "elv", "absolute"),
    ("respond", "respond", "absolute"),
    ("respond, clipped", "respond", "clipped"),
    ("respond, smoothed", "respond", "smoothed"),
    ("modelled", "modelled", "absolute"),
    ("published", "published", "absolute"),
)
"""The columns of local errors; smoothed counts are for k = 3."""


def local_errors(finished: Finished) -> str:
    """Return the mean absolute errors of a count beside those of publishing zeros, as a table."""
    (k,) = finished.releases.values(lambda cell: cell.k)
    shown = [column for column in _LOCAL if k == 3 or column[2] != "smoothed"]
    rows = []
    for graph in finished.graph_names:
        cliques = finished.cliques.only(graph=graph)
        cells = ["not measured" if cliques is None else digits(cliques["mean"])]
        results = {name: finished.releases.only(graph=graph, mechanism=name, switches=()) for _, name, _ in _LOCAL}
        for _, name, quantity in shown:
            result = results[name]
            mean = None if result is None else mean_or_none(result, quantity)
            cells.append("" if mean is None else digits(mean.value))
        least = least_error({mechanism: results[mechanism] for mechanism in PROMISING}, "absolute")
        rows.append([graph, *cells, least])
    head = [f"k={k}, error of a count", "zeros", *(name for name, _, _ in shown), "least that promises something"]
    return markdown(head, rows)


def _column(mechanism: str, switches: Switches) -> str:
    return f"{mechanism}, {' + '.join(switches)}" if switches else mechanism


def _error(result: Errors | Refused | None) -> str:
    if result is None:
        return "not measured"
    if "refused" in result:
        return "refused"
    mean = mean_or_none(result)
    if mean is None:
        return "no clique"
    band = float(f"{CONFIDENCE * mean.error:.1g}")  # 50, which .1g alone would write as 5e+01
    return f"{mean.value:.3g} ± {band:g}"


# --- Losses


_LOSSES = (
    "A loss is the log-ratio by which one connection, present or absent, can change the probability of what is "
    "published, at fixed noise: what finding the scale costs is not in it. Each cell: all connections; connections "
    "inside groups. For random λ it is the loss at its median, in "
    "brackets from its 5 % to its 95 % quantile. ∞ where a count that is published exactly changes, or a connection "
    "decides whether a count is published exactly."
)


def _losses(finished: Finished) -> str:
    parts = []
    cells = finished.losses
    for k in cells.values(lambda cell: cell.k):
        for epsilon in cells.values(lambda cell: cell.epsilon):
            at_setting = cells.where(k=k, epsilon=epsilon)
            if len(at_setting):
                parts.append(f"k={k}, ε={epsilon}:\n\n{_losses_at(at_setting)}")
    return "\n".join([f"{PROMISES} {_LOSSES}\n", *parts])


def _losses_at(cells: Selection[LossCell, Losses | Refused]) -> str:
    """The table of one k and ε."""
    (k,) = cells.values(lambda cell: cell.k)
    variants: list[Switches] = [(), PRINTED[k], INFERRED[k]]
    columns: list[tuple[str, Switches]] = [("edge", ())]
    columns += [(mechanism, switches) for mechanism in ("elv", "published") for switches in variants]
    rows = []
    for graph in cells.values(lambda cell: cell.graph):
        results = [cells.only(graph=graph, mechanism=mechanism, switches=switches) for mechanism, switches in columns]
        rows.append([graph, *map(_loss, results)])
    promises = [_promise(cells, *column) for column in columns]
    return markdown(["", *(_column(*column) for column in columns)], [["**promised**", *promises], *rows])


def _promise(cells: Selection[LossCell, Losses | Refused], mechanism: str, switches: Switches) -> str:
    """What a mechanism promises at fixed noise, the same on all graphs."""
    results = [result for _, result in cells.where(mechanism=mechanism, switches=switches) if "refused" not in result]
    for promise in (result.get("promised") for result in results):
        if promise is not None:
            return f"every connection at most {digits(promise)}"
    return "nothing"


def _loss(result: Losses | Refused | None) -> str:
    if result is None:
        return "not measured"
    if "refused" in result:
        return "refused"
    connections = digits(result["connections"])
    if "connections_low" in result and "connections_high" in result and connections != "∞":
        connections += f" [{digits(result['connections_low'])} to {digits(result['connections_high'])}]"
    return f"{connections}; {_inside_groups(result.get('connections_inside'))}"


def _inside_groups(loss: float | None) -> str:
    return "groups refused for size" if loss is None else digits(loss)


TABLES: Mapping[str, Callable[[Finished], str]] = {
    "datasets": _datasets,
    "all-10": _over_graphs,
    "all-5": _over_graphs,
    "all-1": _over_graphs,
    "all-10-k4": _over_graphs,
    "losses": _losses,
}
"""What makes the table of a target, for the targets that have one."""


# --- Claims


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return the tables of the claims, what Section 6 says and the rest apart, after what must stand with them."""
    numbered = [(i, verdict) for i, verdict in enumerate(verdicts, 1)]
    said = [(i, verdict) for i, verdict in numbered if verdict.claim.source == SAID]
    others = [(i, verdict) for i, verdict in numbered if verdict.claim.source != SAID]
    parts = [f"{PROMISES} {RECONSTRUCTED}", _claims(said)]
    if others:
        parts += ["What Section 6 does not say in words:", _claims(others)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _claims(verdicts: Sequence[tuple[int, Verdict]]) -> str:
    rows = [[str(i), v.claim.text, v.claim.place, f"**{v.verdict}**", v.numbers] for i, v in verdicts]
    return markdown(["", "claim", "where", "verdict", "numbers"], rows)
