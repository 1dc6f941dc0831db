"""The report, as Markdown: the finding, the advice, every figure with its table, the claims, and the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evaluation.cells import INFERRED, PRINTED, RUNS, SEED, SWITCHES, ReleaseCell
from evaluation.claims.judging import AS_PRINTED, FAILS, HOLDS, SAID, UNKNOWN, UNPRINTED, UNSURE, Verdict
from evaluation.drawing import MEASURES, PROMISES, drawings
from evaluation.experiments import ALL, EXPERIMENTS, LARGEST_P_OF_CRITICAL
from evaluation.finding import IN_FINDING, finding
from evaluation.finished_cells import Finished
from evaluation.simulated_releases import FEWEST, LONGEST, SECONDS
from evaluation.tables import RECONSTRUCTED, TABLES, claims_table, errors_of_totals
from evaluation.which_mechanism import advice
from pcneo.basics.config import __version__


def report(done: Mapping[str, Finished], verdicts: Sequence[Verdict], command: str, largest_p: float | None) -> str:
    """Return the report on the finished cells of every experiment, and the verdicts on the claims."""
    missing = len({cell for finished in done.values() for cell in finished.missing})
    parts = [
        "# The paper's evaluation, again",
        *([f"**{missing:,} cells are not finished**: figures and tables show the others."] if missing else []),
        finding(done),
        f"**{PROMISES}** `critical`: pairs inside groups, given the groups and all other connections. `edge` and "
        "`elv`: every connection, with a δ, and so `modelled`, whose counts tell what a vertex of that degree has in "
        "the mean; `respond`: every connection, without a δ. A smaller error is no better mechanism. What "
        "[one fixed attacker](../attacker_report/attacker.md) finds with each stands beside the errors there, for "
        "graphs of up to 10,000 vertices.",
        "## Which mechanism",
        advice(done),
        "## The figures",
    ]
    for name, finished in done.items():
        if name != "datasets" and len(finished):
            parts += _experiment(name, finished)
    parts += [
        "## The claims",
        tally(verdicts),
        _how_judged(),
        claims_table(verdicts),
        "## The settings",
        f"Made by pcneo {__version__} with\n\n    {command}\n\nfrom cells that are kept as files; every number above "
        "is computed from them." + (f" Cells of p beyond {largest_p:g} are left out." if largest_p is not None else ""),
        _settings(done),
        "### The graphs",
        "As the paper's Table 2, and what it prints where that differs.",
        TABLES["datasets"](done["datasets"]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _settings(done: Mapping[str, Finished]) -> str:
    """What a reader may want to know of how numbers came about: noise, switches, samples, marks."""
    sampled = dict.fromkeys(
        f"{cell.graph} at p={needs.p}: {needs.sample:,} vertices"
        for finished in done.values()
        for cell, _ in finished
        if (needs := cell.needs) is not None and needs.sample is not None
    )
    return (
        f"- Noise is simulated, in floating point: {RUNS} runs a cell, seed {SEED}. No release has such noise. "
        "δ = 1/n, as in the paper; ε1 = ε/10 where it is not swept, but in `modelled`, which has parts of its own.\n"
        f"{_fewer_runs(done)}"
        f"- `critical` is not simulated beyond p={LARGEST_P_OF_CRITICAL}, where one release takes long. Errors of "
        "`respond` are those of plain counts unless clipped or smoothed is said.\n"
        "- `published` is the paper's Algorithm 3 over minimal p-cohesions, `elv` the same over extended local views; "
        "both with integer noise, a floor of λ and a clamp of the bound at n-2. Their pads allow for δ/(2h+2), as the "
        "paper has it, in `published`, and for sqrt(δ)/2 in `elv`.\n"
        f"- Switches that exist here only: {'; '.join(f'`{name}`: {what}' for name, what in SWITCHES.items())}. "
        "`unclamped`, `pads` and `four-thirds` are the paper's printed text, its Algorithm 3 and its Section 6: "
        f'"as printed" is `{" + ".join(PRINTED[3])}` for k=3, `{" + ".join(PRINTED[4])}` for k=4. `inside` is inferred '
        "from the paper's figures, and its Section 5 contradicts it: every vertex reports Γ_in + Lap(λ) + Γ_out, "
        '"each vertex would report the subgraph number by injecting Laplace noise". It promises nothing.\n'
        "- Cohesions are found by the searches `density` and `degree`, as published. pcneo's default search, "
        "`smallest`, is not in this report.\n"
        f"- {RECONSTRUCTED}\n"
        "- Isolated vertices count in n and are left out of sizes and densities."
        + (f" Samples, seed {SEED}: {', '.join(sampled)}." if sampled else "")
        + "\n"
        "- Bands and bars are 95 % confidence intervals of the mean over the runs; in the figure of losses, bars reach "
        "from the 5 % to the 95 % quantile of λ. Boxes show the quartiles, whiskers the 5 % and 95 % quantiles, points "
        "the extremes, the diamond the mean.\n"
        "- Figures are numbered as in the paper, whose sections are numbered 1 to 8."
    )


def _fewer_runs(done: Mapping[str, Finished]) -> str:
    """Where a release takes so long that fewer were simulated, and where it takes too long for any."""
    runs: dict[str, dict[str, set[int]]] = {}
    for cell, result in (pair for finished in done.values() for pair in finished.releases):
        if "runs" in result:
            runs.setdefault(cell.mechanism, {}).setdefault(cell.graph, set()).add(result["runs"])
    if not runs:
        return ""
    by_mechanism = [
        f"`{mechanism}` on {', '.join(f'{graph} {_from_to(counts)}' for graph, counts in of_graphs.items())}"
        for mechanism, of_graphs in runs.items()
    ]
    return (
        f"- Where {RUNS} runs of a cell would take more than {SECONDS:g} s, by what the graph lets expect, there are "
        f"fewer, {FEWEST} at least: {'; '.join(by_mechanism)}. Intervals are then wider, by Student's t. Where one run "
        f"would take more than {LONGEST:g} s there is none.\n"
    )


def _from_to(counts: set[int]) -> str:
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def _how_judged() -> str:
    return (
        "Where two mechanisms draw the same noise and differ in λ alone, their expected errors are compared: these are "
        "the same multiple of λ, whose mean over the runs has far less noise than the errors. With the switch `inside` "
        "not all counts get noise, and the mean errors of the runs are compared. A claim is judged for the mechanisms "
        "as they are released here, then as the paper prints its own, then with single switches and with "
        f"`{' + '.join(INFERRED[3])}`, or `{' + '.join(INFERRED[4])}` for k=4. The settings say what these are."
    )


def tally(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims hold: those that Section 6 makes in words, then, apart, the rest."""
    said = [verdict.verdict for verdict in verdicts if verdict.claim.source == SAID]
    others = [verdict for verdict in verdicts if verdict.claim.source != SAID]
    text = f"Of {len(said)} claims that the paper's Section 6 makes, {_counted(said)}."
    if others:
        sources = Counter(verdict.claim.source for verdict in others)
        by_source = ", ".join(f"{count} {source}" for source, count in sources.items())
        text += f"\n\nApart from these, of {len(others)} others ({by_source}) {_counted([v.verdict for v in others])}."
    return text


def _counted(verdicts: Sequence[str]) -> str:
    words = {
        HOLDS: ("holds", "hold"),
        AS_PRINTED: ("holds only as the paper prints its mechanism", "hold only as the paper prints its mechanism"),
        UNPRINTED: ("holds, but not as printed", "hold, but not as printed"),
        "": ("holds only with other switches", "hold only with other switches"),
        FAILS: ("does not hold", "do not hold"),
        UNSURE: (f"is {UNSURE}", f"are {UNSURE}"),
        UNKNOWN: ("is not measured", "are not measured"),
    }
    counts = Counter(verdict if verdict in words else "" for verdict in verdicts)
    parts = [f"{count} {words[verdict][count > 1]}" for verdict in words if (count := counts[verdict])]
    return ", ".join(parts) or "none is there"


def _experiment(name: str, finished: Finished) -> list[str]:
    """The section of one experiment."""
    experiment = EXPERIMENTS[name]
    parts = [f"### {experiment.title}\n\nIn the paper: {experiment.place}. Data: [{name}.csv](figures/{name}.csv)."]
    graphs = finished.graph_names
    if len(graphs) > 2 and (absent := [graph for graph in ALL if graph not in graphs]):
        parts.append(f"Not at hand: {', '.join(absent)}.")
    if refused := _refusals(finished):
        parts.append(refused)
    parts += [
        f"![{experiment.title}{_measured(picture)}](figures/{picture}.svg)" for picture in drawings(name, finished)
    ]
    if name.startswith("score-"):
        parts.append(RECONSTRUCTED)
    if name in IN_FINDING:
        parts.append(f"{PROMISES} The errors of a count stand [above](#how-large-the-local-errors-are).")
        parts.append(errors_of_totals(finished))
    elif name in TABLES:
        parts.append(TABLES[name](finished))
    return parts


def _measured(picture: str) -> str:
    for measure, words in MEASURES.items():
        if picture.endswith(f"-{measure}"):
            return f": {words}"
    return ""


def _refusals(finished: Finished) -> str:
    reasons = {
        f"`{cell.mechanism}` on {cell.graph}{f', p={cell.p}' if cell.p else ''}, ε={cell.epsilon}: {why}"
        for cell, why in finished.refusals
        if isinstance(cell, ReleaseCell) and not cell.switches
    }
    return f"Not simulated: {'; '.join(sorted(reasons))}." if reasons else ""
