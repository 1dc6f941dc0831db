"""What the evaluation found, in three sentences, and the size of the local errors: the report's opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.claims.judging import digits
from evaluation.datasets import DATASETS
from evaluation.finished_cells import Finished
from evaluation.results import Mean, mean_of, mean_or_none
from evaluation.tables import local_errors
from evaluation.which_mechanism import PROMISING, half_true, least_error, settings_of

__all__ = ["finding"]


def finding(done: Mapping[str, Finished]) -> str:
    """Return the finding, and the table of local errors.

    Args:
        done: the finished cells of each experiment.
    """
    sentences = _of_errors(done["all-10"]), _of_losses(done["losses"]), _of_promises(settings_of(done))
    parts = [" ".join(sentence for sentence in sentences if sentence)]
    for setting, finished in settings_of(done).items():
        if len(finished.releases) and (local := _of_local(finished, setting)):
            parts += ["## How large the local errors are", local]
            parts += [local_errors(finished), _of_answers(finished, setting)]
            break
    return "\n\n".join(part for part in parts if part)


def _of_errors(finished: Finished) -> str:
    """How much smaller the expected errors of the paper's mechanism are, with cohesions for local views."""
    ratios = {
        graph: mean_of(elv, "bound").value / mean_of(published, "bound").value
        for graph in finished.graph_names
        if (elv := finished.releases.only(graph=graph, mechanism="elv", switches=())) is not None
        and (published := finished.releases.only(graph=graph, mechanism="published", switches=())) is not None
        and "bound" in elv
        and "bound" in published
    }
    if not ratios:
        return ""
    least, most = min(ratios.values()), max(ratios.values())
    on_sister_city = ratios.get("SisterCity")
    orders = (
        f" on SisterCity, where the paper reports two orders of magnitude, {digits(on_sister_city)} times"
        if on_sister_city is not None
        else ""
    )
    return (
        f"Over minimal p-cohesions the paper's mechanism, here `published`, expects errors {digits(least)} to "
        f"{digits(most)} times smaller than over extended local views, `elv` (k=3, ε=10, p=0.1, {len(ratios)} graphs)"
        f"{';' if orders else ''}{orders}."
    )


def _of_losses(finished: Finished) -> str:
    """What the worst connection loses with the paper's mechanism."""
    losses = [
        (cell, result)
        for cell, result in finished.losses.where(mechanism="published", switches=())
        if "connections" in result
    ]
    if not losses:
        return ""
    worst, most = max(
        ((cell, result["connections"] / float(cell.parts[1])) for cell, result in losses), key=lambda pair: pair[1]
    )
    inside = sum(result.get("connections_inside", 0.0) > float(cell.parts[1]) for cell, result in losses)
    return (
        "It does not keep what it promises for them: at fixed noise a connection inside a group, which it is made to "
        f"protect, loses more than ε2 in {inside} of {len(losses)} settings, and the worst connection of all up to "
        f"{digits(most)} times ε2 ({worst.graph}, k={worst.k}, ε={worst.epsilon})."
    )


def _of_promises(settings: Mapping[str, Finished]) -> str:
    """Where `critical`, which keeps a promise for the same pairs, has the smallest error."""
    best = compared = 0
    for finished in settings.values():
        for graph in finished.graph_names:
            results = {
                name: finished.releases.only(graph=graph, mechanism=name, switches=())
                for name in PROMISING
                if name in ("critical", "edge", "elv")
            }
            least = least_error(results)
            compared += least != "not compared"
            best += least == "critical"
    if not compared:
        return ""
    return (
        "`critical` keeps a promise for those pairs, and at p=0.1 has a clearly smaller error of the total than `edge` "
        f"and `elv`, which protect every connection, in {best} of {compared} settings."
    )


def _of_local(finished: Finished, setting: str) -> str:
    """How large the errors of the paper's mechanism are, beside the counts themselves."""
    pairs = [
        (mean, cliques["mean"])
        for graph in finished.graph_names
        if (result := finished.releases.only(graph=graph, mechanism="published", switches=())) is not None
        and (mean := mean_or_none(result, "absolute")) is not None
        and (cliques := finished.cliques.only(graph=graph)) is not None
    ]
    if not pairs:
        return ""
    errors, counts = [mean for mean, _ in pairs], [count for _, count in pairs]
    nearer = sum(count < mean.value for mean, count in pairs)
    return (
        f"What the paper releases is a count of every vertex. With `published` at {setting} such a count is off by "
        f"{_ends(errors)} in the mean, where a vertex is in {digits(min(counts))} to {digits(max(counts))} cliques in "
        f"the mean: publishing zeros would be nearer on {nearer} of {len(pairs)} graphs. The error of the total, which "
        "the paper's figures show, hides that: noise of n vertices adds up to √n times that of one, counts to n times."
    )


def _of_answers(finished: Finished, setting: str) -> str:
    """Why the errors of `respond` say little alone."""
    thresholds = [
        half_true(dataset)
        for dataset in DATASETS
        if len(finished.releases.where(graph=dataset.name, mechanism="respond"))
    ]
    if not thresholds:
        return ""
    return (
        "`respond` protects every connection, as `edge` and `elv` do. But ln(n/d), d the mean degree, is "
        f"{min(thresholds):.1f} to {max(thresholds):.1f} on these graphs: where ε is larger, as at {setting}, the "
        "answers that `respond` publishes nearly are the graph, and its small errors say no more than that. [What an "
        "attacker finds](../attacker_report/attacker.md) stands beside the errors for that reason."
    )


def _ends(means: Sequence[Mean]) -> str:
    values = [mean.value for mean in means]
    return f"{digits(min(values))} to {digits(max(values))}"
