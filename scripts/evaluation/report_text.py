"""The report, as Markdown: the graphs, the claims, the advice, and every figure with its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.cells import RUNS, SEED, SWITCHES
from evaluation.claims import FAILS, HOLDS, UNKNOWN, UNSURE, Verdict
from evaluation.drawing import MEASURES, PROMISES, drawings
from evaluation.experiments import ALL, EXPERIMENTS
from evaluation.finished_cells import Finished
from evaluation.tables import RECONSTRUCTED, TABLES, claims_table
from evaluation.which_mechanism import advice
from pcneo.basics.config import __version__

__all__ = ["report"]


def report(done: Mapping[str, Finished], verdicts: Sequence[Verdict], command: str, largest_p: float | None) -> str:
    """Return the report.

    Args:
        done: the finished cells of every experiment.
        verdicts: on the claims.
        command: that made it.
        largest_p: beyond which cells are left out; None if none are.
    """
    missing = len({cell for finished in done.values() for cell in finished.missing})
    parts = [
        "# The paper's evaluation, again",
        f"Made by pcneo {__version__} with\n\n    {command}\n\nfrom cells that are kept as files; every number below "
        "is computed from them." + (f" Cells of p beyond {largest_p:g} are left out." if largest_p is not None else ""),
        _what_to_know(done),
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
    for name, finished in done.items():
        if name != "datasets" and len(finished):
            parts += _experiment(name, finished)
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _what_to_know(done: Mapping[str, Finished]) -> str:
    """What a reader must know of all figures: promises, noise, switches, samples, marks."""
    sampled = dict.fromkeys(
        f"{cell.graph} at p={needs.p}: {needs.sample:,} vertices"
        for finished in done.values()
        for cell, _ in finished
        if (needs := cell.needs) is not None and needs.sample is not None
    )
    return (
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
        "the 5 % and 95 % quantiles, points the extremes, the diamond the mean."
    )


def _tally(verdicts: Sequence[Verdict]) -> str:
    holds, fails, unsure, unknown = (
        sum(verdict.verdict == word for verdict in verdicts) for word in (HOLDS, FAILS, UNSURE, UNKNOWN)
    )
    switched = len(verdicts) - holds - fails - unsure - unknown
    text = f"Of {len(verdicts)} claims {holds} hold, {switched} hold with one of the paper's switches, "
    text += f"{fails} do not hold, {unsure} are {UNSURE}"
    return text + (f", {unknown} are not measured." if unknown else ".")


def _experiment(name: str, finished: Finished) -> list[str]:
    """The section of one experiment."""
    experiment = EXPERIMENTS[name]
    parts = [f"### {experiment.title}\n\n`{name}`, in the paper `{experiment.place}`"]
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
    if name in TABLES:
        parts.append(TABLES[name](finished))
    return parts


def _measured(picture: str) -> str:
    for measure, words in MEASURES.items():
        if picture.endswith(f"-{measure}"):
            return f": {words}"
    return ""


def _refusals(finished: Finished) -> str:
    reasons = {f"{cell.graph}, p={cell.needs.p if cell.needs else ''}: {why}" for cell, why in finished.refusals}
    return f"`critical` is refused for size at {'; '.join(sorted(reasons))}." if reasons else ""
