"""Tables and the report, as Markdown, from finished cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.cells import RUNS, SEED, SWITCHES, Result
from evaluation.claims import FAILS, HOLDS, UNKNOWN, UNSURE, Verdict
from evaluation.claims.comparing import clearly
from evaluation.claims.judging import digits
from evaluation.datasets import DATASETS
from evaluation.drawing import MEASURES, PROMISES, drawings
from evaluation.experiments import ALL, EXPERIMENTS
from evaluation.finished_cells import Finished
from pcneo.config import __version__

__all__ = ["TABLES", "advice", "claims_table", "report"]


RECONSTRUCTED = "The older score (degree) is a reconstruction from its description."
"""To be said wherever it is reported."""


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)) + "\n"


# --- The graphs


def _datasets(finished: Finished) -> str:
    rows = []
    for dataset in DATASETS:
        found, paper = finished.one(kind="graph", graph=dataset.name), dataset.paper
        if found is None:
            continue
        pairs = [
            ("nodes", found["nodes"], paper.nodes, "{:,}"),
            ("edges", found["edges"], paper.edges, "{:,}"),
            ("mean degree", found["mean_degree"], paper.mean_degree, "{:.2f}"),
            ("largest degree", found["largest_degree"], paper.largest_degree, "{:,}"),
        ]
        shown = [form.format(ours) for _, ours, _, form in pairs]
        differing = [
            f"{what} {form.format(theirs)}"
            for (what, _, theirs, form), ours in zip(pairs, shown, strict=True)
            if form.format(theirs) != ours
        ]
        more = [f"{found[name]:,}" for name in ("triangles", "isolated", "largest_component")]
        rows.append([dataset.name, *shown, *more, ", ".join(differing) or "the same"])
    head = [
        "graph",
        "nodes",
        "edges",
        "mean degree",
        "largest degree",
        "triangles",
        "isolated",
        "largest component",
        "the paper prints",
    ]
    return _markdown(head, rows)


# --- Errors


def _over_graphs(finished: Finished) -> str:
    """Errors of the total, and which mechanism that promises something has the smallest."""
    rows = []
    (k,) = finished.values("k")
    variants = sorted({cell.switches for cell, _ in finished}, key=lambda switches: (len(switches), switches))
    columns: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in ("critical", "edge")]
    columns += [(name, switches) for switches in variants for name in ("elv", "published")]
    for name in finished.values("graph"):
        results = {each: finished.one(graph=name, mechanism=each[0], switches=each[1]) for each in columns}
        least = _least({mechanism: results[mechanism, ()] for mechanism in _PROMISING})
        rows.append([name, *(_error(results[each]) for each in columns), least])
    head = [f"k={k}", *(_column(*each) for each in columns), "least of critical, edge, elv"]
    return f"{PROMISES}\n\n{_markdown(head, rows)}"


_PROMISING = ("critical", "edge", "elv")


def _least(results: Mapping[str, Result | None]) -> str:
    """Return whose error of the total is clearly below that of every other that can be had, or why nobody's is."""
    if None in results.values():
        return "not compared"
    have = {name: result for name, result in results.items() if result is not None and "total" in result}
    for name, result in have.items():
        others = [other for each, other in have.items() if each != name]
        if all(clearly(result, other, among=max(1, len(others))) for other in others):
            return name
    return "not told apart"


def _column(mechanism: str, switches: tuple[str, ...]) -> str:
    return f"{mechanism}, {' + '.join(switches)}" if switches else mechanism


def _error(result: Result | None) -> str:
    if result is None:
        return "not measured"
    if "refused" in result:
        return f"refused: {result['refused']}"
    if "total" not in result:
        return "no clique"
    band = float(f"{1.96 * result['total_error']:.1g}")  # 50, where one digit alone would be written 5e+01
    return f"{result['total']:.3g} ± {band:g}"


# --- Losses


def _losses(finished: Finished) -> str:
    parts = []
    for k in finished.values("k"):
        for epsilon in finished.values("epsilon"):
            mine = finished.where(k=k, epsilon=epsilon)
            if len(mine):
                parts.append(f"k={k}, ε={epsilon}:\n\n{_losses_at(mine)}")
    return "\n".join([f"{PROMISES} {_LOSSES}\n", *parts])


_LOSSES = (
    "A loss is the log-ratio by which one connection, present or absent, can change the probability of what is "
    "published, at fixed noise: what finding the noise level costs is not in it. Each cell: all connections; pairs "
    "inside groups, connected or not; connections inside groups. For random λ it is the loss at its median, in "
    "brackets from its 5 % to its 95 % quantile. ∞ where a count that is published exactly changes, or a connection "
    "decides whether a count is published exactly."
)


def _losses_at(finished: Finished) -> str:
    switched = max((cell.switches for cell, _ in finished), key=len)
    columns = [
        ("critical", ()),
        ("edge", ()),
        ("elv", ()),
        ("elv", switched),
        ("published", ()),
        ("published", switched),
    ]
    rows = []
    for name in finished.values("graph"):
        row = [name]
        for mechanism, switches in columns:
            result = finished.one(graph=name, mechanism=mechanism, switches=switches)
            row.append(_loss(result))
        rows.append(row)
    promises = [_promise(finished, *each) for each in columns]
    return _markdown(["", *(_column(*each) for each in columns)], [["**promised**", *promises], *rows])


def _promise(finished: Finished, mechanism: str, switches: tuple[str, ...]) -> str:
    """What a mechanism promises at fixed noise, the same on all graphs."""
    results = [result for _, result in finished.where(mechanism=mechanism, switches=switches)]
    for name, whom in (("promised", "every connection"), ("promised_inside", "every pair inside groups")):
        promised = {result[name] for result in results if result.get(name) is not None}
        if promised:
            return f"{whom} at most {_number(promised.pop())}"
    return "nothing"


def _loss(result: Result | None) -> str:
    if result is None:
        return "not measured"
    if "refused" in result:
        return "refused"
    connections = _number(result["connections"])
    if "connections_low" in result and connections != "∞":
        connections += f" [{_number(result['connections_low'])} to {_number(result['connections_high'])}]"
    inside = [_number(result.get(name)) for name in ("inside", "connections_inside")]
    return "; ".join([connections, *inside]) + (" (of a sample)" if result["sampled"] else "")


def _number(value: Any) -> str:
    if value is None:
        return "groups refused for size"
    return digits(value)


TABLES: Mapping[str, Callable[[Finished], str]] = {
    "datasets": _datasets,
    "all-10": _over_graphs,
    "all-5": _over_graphs,
    "all-10-k4": _over_graphs,
    "losses": _losses,
}
"""What makes the table of a target, for those that have one."""


# --- Claims


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return what must be said, and a row for each claim: where, what, verdict, numbers."""
    rows = [
        [str(i), v.claim.text, f"`{v.claim.place}`", f"**{v.verdict}**", v.numbers] for i, v in enumerate(verdicts, 1)
    ]
    return f"{PROMISES} {RECONSTRUCTED}\n\n{_markdown(['', 'claim', 'where', 'verdict', 'numbers'], rows)}"


def _tally(verdicts: Sequence[Verdict]) -> str:
    holds, fails, unsure, unknown = (
        sum(v.verdict == each for v in verdicts) for each in (HOLDS, FAILS, UNSURE, UNKNOWN)
    )
    switched = len(verdicts) - holds - fails - unsure - unknown
    text = f"Of {len(verdicts)} claims {holds} hold, {switched} hold with one of the paper's switches, "
    text += f"{fails} do not hold, {unsure} are {UNSURE}"
    return text + (f", {unknown} are not measured." if unknown else ".")


# --- The report


def report(done: Mapping[str, Finished], verdicts: Sequence[Verdict], command: str, largest_p: float | None) -> str:
    """Return the report: graphs, claims, figures, losses."""
    missing = len({cell for finished in done.values() for cell in finished.missing})
    sampled = dict.fromkeys(
        f"{cell.graph} at p={cell.p}: {cell.sample:,} vertices"
        for finished in done.values()
        for cell, _ in finished
        if cell.sample is not None
    )
    parts = [
        "# The paper's evaluation, again",
        f"Made by pcneo {__version__} with\n\n    {command}\n\nfrom cells that are kept as files; every number below "
        "is computed from them." + (f" Cells of p beyond {largest_p:g} are left out." if largest_p is not None else ""),
        f"- **{PROMISES}** `critical`: pairs inside groups, given the groups and all other connections. `edge` and "
        "`elv`: every connection, nothing given. A smaller error is no better mechanism.\n"
        f"- Noise is simulated, in floating point: {RUNS} runs a cell, seed {SEED}. No release has such noise. "
        "δ = 1/n, as in the paper; ε1 = ε/10 where it is not swept.\n"
        "- `published` is the paper's Algorithm 3 over minimal p-cohesions, `elv` the same over extended local views; "
        "both with integer noise, a floor of λ and a clamp of the bound at n-2. The paper's switches exist here only: "
        + "; ".join(f"`{name}`: {what}" for name, what in SWITCHES.items())
        + ".\n"
        f"- {RECONSTRUCTED}\n"
        "- Isolated vertices count in n and are left out of sizes and densities."
        + (f" Samples, seed {SEED}: {', '.join(sampled)}." if sampled else "")
        + "\n"
        "- Bands and bars are 95 % confidence intervals of the mean over the runs. Boxes show the quartiles, whiskers "
        "the 5 % and 95 % quantiles, points the extremes, the diamond the mean.",
        *([f"**{missing:,} cells are not finished**: figures and tables show the others."] if missing else []),
        "The command writes the data of each figure beside it, as CSV.",
        "## The graphs",
        TABLES["datasets"](done["datasets"]),
        "## The claims",
        _tally(verdicts),
        claims_table(verdicts),
        "## Which mechanism",
        advice(done),
        "## The figures",
    ]
    for name, experiment in EXPERIMENTS.items():
        finished = done[name]
        if name in ("datasets",) or not len(finished):
            continue
        parts.append(f"### {experiment.title}\n\n`{name}`, in the paper `{experiment.place}`")
        missing = (
            [each for each in ALL if each not in finished.values("graph")] if len(finished.values("graph")) > 2 else []
        )
        if missing:
            parts.append(f"Not at hand: {', '.join(missing)}.")
        if refused := _refusals(finished):
            parts.append(refused)
        parts += [
            f"![{experiment.title}{_measured(picture)}](figures/{picture}.svg)" for picture in drawings(name, finished)
        ]
        if name.startswith("score-"):
            parts.append(RECONSTRUCTED)
        if name in TABLES:
            parts.append(TABLES[name](finished))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


_Compared = dict[str, dict[str, dict[str, Result | None]]]
"""Of each setting and each graph the results of `_PROMISING`."""


def advice(done: Mapping[str, Finished]) -> str:
    """Return which mechanism the data speak for, in sentences."""
    settings = {"k=3, ε=10": done["all-10"], "k=3, ε=5": done["all-5"], "k=4, ε=10": done["all-10-k4"]}
    compared = {
        setting: {
            graph: {name: finished.one(graph=graph, mechanism=name, switches=()) for name in _PROMISING}
            for graph in finished.values("graph")
        }
        for setting, finished in settings.items()
    }
    by_p = [done[name] for name in ("p-hepth", "p-bitcoin")]
    said = _of_critical(compared), _of_larger_p(by_p), _of_edge(compared), _of_published(done["losses"])
    return " ".join(sentence for sentence in said if sentence)


def _of_critical(compared: _Compared) -> str:
    at_hand = [
        (f"{graph}, {setting}", results["critical"])
        for setting, graphs in compared.items()
        for graph, results in graphs.items()
        if results["critical"] is not None
    ]
    if not at_hand:
        return "`critical` was not measured at p=0.1."
    refused = [where for where, result in at_hand if "refused" in result]
    return (
        "Take `critical` where pairs inside groups are what must be protected, and the groups are small and sparse: "
        "at p=0.1 it has clearly the smallest error of the three that promise something on "
        f"({_where_least(compared, 'critical')})."
        + (f" It is refused for size at {'; '.join(refused)}." if refused else "")
    )


def _of_larger_p(sweeps: Sequence[Finished]) -> str:
    """Say from which p on groups are so large that `edge` has less noise, though it protects more."""
    found = []
    for finished in sweeps:
        for epsilon in finished.values("epsilon"):
            edge = finished.one(mechanism="edge", epsilon=epsilon)
            critical = list(finished.where(mechanism="critical", epsilon=epsilon))
            worse = [
                cell
                for cell, result in critical
                if edge is not None and "total" in result and clearly(edge, result, among=len(critical))
            ]
            if worse:
                first = min(worse, key=lambda cell: float(cell.p or 0))
                found.append(f"p={first.p} on {first.graph} with k={first.k}, ε={epsilon}")
    return (
        f"Its groups, and its error, grow with p: that of `edge` is clearly smaller from {'; from '.join(found)}."
        if found
        else ""
    )


def _of_edge(compared: _Compared) -> str:
    both = [
        (edge, elv)
        for graphs in compared.values()
        for edge, elv in ((results["edge"], results["elv"]) for results in graphs.values())
        if edge is not None and elv is not None and "total" in edge
    ]
    better = sum(clearly(*pair) for pair in both)
    return (
        "Take `edge` where every connection must be protected and an owner holds the graph: its error is clearly "
        f"smaller than that of `elv` in {better} of {len(both)} settings, and clearly the smallest that can be had on "
        f"({_where_least(compared, 'edge')}); `elv` is for vertices that trust nobody with the graph."
    )


def _where_least(compared: _Compared, mechanism: str) -> str:
    least = {
        setting: ", ".join(graph for graph, results in graphs.items() if _least(results) == mechanism)
        for setting, graphs in compared.items()
    }
    return "; ".join(f"{setting}: {names or 'none'}" for setting, names in least.items())


def _of_published(losses: Finished) -> str:
    worst = [
        (result["connections"] / (0.9 * float(cell.epsilon or 0)), cell)
        for cell, result in losses.where(mechanism="published", switches=())
    ]
    if not worst:
        return ""
    ratio, cell = max(worst, key=lambda each: each[0])
    beyond = sum(each > 1 for each, _ in worst)
    return (
        "Do not take `published` for its smaller errors: its worst connection loses more than ε2 in "
        f"{beyond} of {len(worst)} settings, up to {ratio:.3g} times ε2 ({cell.graph}, k={cell.k}, ε={cell.epsilon})."
    )


def _measured(picture: str) -> str:
    for measure, words in MEASURES.items():
        if picture.endswith(f"-{measure}"):
            return f": {words}"
    return ""


def _refusals(finished: Finished) -> str:
    reasons = {f"{cell.graph}, p={cell.p}: {result['refused']}" for cell, result in finished if "refused" in result}
    return f"`critical` is refused for size at {'; '.join(sorted(reasons))}." if reasons else ""
