"""What the evaluation found, and the size of the local errors: the report's opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.cells import ReleaseCell
from evaluation.claims.judging import digits
from evaluation.datasets import DATASETS
from evaluation.finished_cells import Finished
from evaluation.results import mean_of, mean_or_none
from evaluation.simulated_releases import LONGEST
from evaluation.tables import local_errors
from evaluation.which_mechanism import PROMISING, half_true, least_error, settings_of, unprotected

IN_FINDING = ("all-1", "all-10")
"""The figures whose tables of local errors open the report."""

_AIM = (
    "The paper wants to protect the *critical connections* of each vertex, those inside its minimal p-cohesion, and to "
    "publish useful counts of cliques."
)


def finding(done: Mapping[str, Finished]) -> str:
    """Return the finding, and the tables of local errors at the largest and the smallest ε."""
    parts = [f"{_AIM} {' '.join(filter(None, (_of_losses(done['losses']), _of_errors(done['all-10']))))}"]
    parts.append(" ".join(filter(None, (_of_critical(done), _of_promises(settings_of(done))))))
    tables = [local_errors(done[name]) for name in IN_FINDING if len(done[name].releases)]
    if tables:
        parts += ["## How large the local errors are", *tables, _of_empty_cells(done)]
        parts += [_of_totals(done["all-10"]), _of_answers(done["all-10"])]
    return "\n\n".join(part for part in parts if part)


def _errors(finished: Finished, mechanism: str) -> dict[str, float]:
    """The mean absolute error of a count, by graph."""
    return {
        graph: mean.value
        for graph in finished.graph_names
        if (result := finished.releases.only(graph=graph, mechanism=mechanism, switches=())) is not None
        and (mean := mean_or_none(result, "absolute")) is not None
    }


def _zeros(finished: Finished) -> dict[str, float]:
    """The mean absolute error of publishing zeros, by graph."""
    cliques = {graph: finished.cliques.only(graph=graph) for graph in finished.graph_names}
    return {graph: found["mean"] for graph, found in cliques.items() if found is not None}


def _nearer(errors: Mapping[str, float], others: Mapping[str, float]) -> str:
    """On how many graphs errors are below others."""
    both = errors.keys() & others.keys()
    return f"{sum(errors[graph] < others[graph] for graph in both)} of {len(both)} graphs"


def _ends(values: Sequence[float]) -> str:
    return f"{digits(min(values))} to {digits(max(values))}"


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
    kinds = ("connections_inside", "connections")
    inside, beyond = (sum(result.get(of, 0.0) > float(cell.parts[1]) for cell, result in losses) for of in kinds)
    return (
        "Its mechanism, here `published`, does not keep what it promises for them: at fixed noise a connection inside "
        f"a group loses more than ε2 in {inside} of {len(losses)} settings, any connection in {beyond}, and the worst "
        f"one {digits(most)} times ε2 ({worst.graph}, k={worst.k}, ε={worst.epsilon})."
    )


def _of_errors(finished: Finished) -> str:
    """How large the errors of the paper's mechanism are, and how much smaller with cohesions for local views."""
    errors = _errors(finished, "published")
    ratios = {
        graph: mean_of(elv, "bound").value / mean_of(published, "bound").value
        for graph in finished.graph_names
        if (elv := finished.releases.only(graph=graph, mechanism="elv", switches=_PADS)) is not None
        and (published := finished.releases.only(graph=graph, mechanism="published", switches=())) is not None
        and "bound" in elv
        and "bound" in published
    }
    if not errors or not ratios:
        return ""
    on_sister_city = ratios.get("SisterCity")
    orders = (
        f"; on SisterCity, where the paper reports two orders of magnitude, {digits(on_sister_city)} times"
        if on_sister_city is not None
        else ""
    )
    return (
        f"Nor are its counts useful: at k=3, p=0.1, ε=10 one is off by {_ends([*errors.values()])} in the mean, and "
        f"zeros would be nearer on {_nearer(_zeros(finished), errors)}. Over extended local views, `elv`, the same "
        f"mechanism expects errors {_ends([*ratios.values()])} times as large{orders}."
    )


_PADS = ("pads",)


def _of_critical(done: Mapping[str, Finished]) -> str:
    """What `critical` promises for the same pairs, and errs by at the smallest ε."""
    at_1, published = _errors(done["all-1"], "critical"), _errors(done["all-10"], "published")
    if not at_1 or not published:
        return ""
    return (
        "`critical` keeps the promise for every pair inside groups, given the groups and all other connections: ε for "
        f"one pair, with a proof. At k=3, p=0.1 and **ε=1** its counts are off by {_ends([*at_1.values()])} in the "
        f"mean, less than zeros on {_nearer(at_1, _zeros(done['all-1']))}, and less than `published` at ε=10 on "
        f"{_nearer(at_1, published)}. {unprotected(settings_of(done))}."
    )


def _of_promises(settings: Mapping[str, Finished]) -> str:
    """Where `critical` has the smallest error of those that the paper's mechanism could be compared with."""
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
        "Its error of the total at p=0.1 is clearly smaller than those of `edge` and `elv`, which protect every "
        f"connection, in {best} of {compared} settings."
    )


def _of_empty_cells(done: Mapping[str, Finished]) -> str:
    """Which releases are not in the tables, and why."""
    reasons = [
        f"`{cell.mechanism}` on {cell.graph}, ε={cell.epsilon} ({why})"
        for name in IN_FINDING
        for cell, why in done[name].refusals
        if isinstance(cell, ReleaseCell) and not cell.switches
    ]
    if not reasons:
        return ""
    return f"Empty: {'; '.join(reasons)}. What takes more than {LONGEST:g} s a release is left out."


def _of_totals(finished: Finished) -> str:
    """Why the tables have errors of counts beside those of totals."""
    if not _errors(finished, "published"):
        return ""
    return (
        "The error of the total, which the paper's figures show, hides how far a count is off: noise of n vertices "
        "adds up to √n times that of one, counts to n times."
    )


def _of_answers(finished: Finished) -> str:
    """Why the errors of `respond` say little alone."""
    thresholds = [
        half_true(dataset)
        for dataset in DATASETS
        if len(finished.releases.where(graph=dataset.name, mechanism="respond"))
    ]
    if not thresholds:
        return ""
    return (
        "`respond` protects every connection, as `edge`, `elv` and `modelled` do. But ln(n/d), d the mean degree, is "
        f"{min(thresholds):.1f} to {max(thresholds):.1f} on these graphs: where ε is larger, as at ε=10, its answers "
        "nearly are the graph, and its small errors say no more than that. Answers are destroyed unless their owner "
        "says otherwise. [What an attacker finds](../attacker_report/attacker.md) stands beside the errors for that "
        "reason."
    )
