"""The report's advice: which mechanism the measured errors and losses speak for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.claims.comparing import clearly
from evaluation.datasets import DATASETS, Dataset
from evaluation.finished_cells import Finished
from evaluation.results import Errors, Quantity, Refused, mean_or_none
from pcneo.privacy.randomised_response import half_true_epsilon

PROTECTING_ALL = ("edge", "elv", "respond", "modelled")
"""The mechanisms that protect every connection, with nothing given."""

PROMISING = ("critical", *PROTECTING_ALL)
"""The mechanisms that promise something."""

_ALWAYS = ("critical", "edge", "elv")
"""Those without which nothing is compared; `respond` and `modelled` are beside them where they were measured."""

_MEASURES: Mapping[Quantity, str] = {"total": "the total", "absolute": "local counts"}

ByMechanism = Mapping[str, Errors | Refused | None]

_Compared = Mapping[str, Mapping[str, ByMechanism]]
"""The results of `PROMISING`, for each setting and graph."""


def clearly_less(smaller: Errors, larger: Errors, quantity: Quantity, among: int = 1) -> bool:
    """Whether an error is clearly smaller: by λ where both find one for all counts, else by the runs."""
    by_scale = "bound" in smaller and "bound" in larger
    return clearly(smaller, larger, "bound" if by_scale else quantity, among=among)


def least_error(results: ByMechanism, quantity: Quantity = "total") -> str:
    """Return the mechanism whose error is clearly below that of every other, or why there is none.

    Results are of one setting and graph; the error of `respond` is that of plain counts.
    """
    if any(name in results and results[name] is None for name in _ALWAYS):
        return "not compared"
    measured = {
        name: result
        for name, result in results.items()
        if result is not None and "refused" not in result and mean_or_none(result, quantity) is not None
    }
    for name, result in measured.items():
        others = [other for rival, other in measured.items() if rival != name]
        if all(clearly_less(result, other, quantity, max(1, len(others))) for other in others):
            return name
    return "undecided"


def settings_of(done: Mapping[str, Finished]) -> dict[str, Finished]:
    """Return the cells of the figures that show all graphs, by their setting."""
    return {
        "k=3, ε=10": done["all-10"],
        "k=3, ε=5": done["all-5"],
        "k=3, ε=1": done["all-1"],
        "k=4, ε=10": done["all-10-k4"],
    }


def advice(done: Mapping[str, Finished]) -> str:
    """Return which mechanism to take, in sentences."""
    settings = settings_of(done)
    compared = {
        setting: {
            graph: {name: finished.releases.only(graph=graph, mechanism=name, switches=()) for name in PROMISING}
            for graph in finished.graph_names
        }
        for setting, finished in settings.items()
    }
    by_p = [done[name] for name in ("p-hepth", "p-bitcoin")]
    paragraphs = (
        f"{_of_critical(compared, settings)} {_of_larger_p(by_p)}",
        _of_all_connections(compared, settings),
        _of_zeros(compared, settings),
    )
    return "\n\n".join(paragraph.strip() for paragraph in paragraphs if paragraph.strip())


def _of_critical(compared: _Compared, settings: Mapping[str, Finished]) -> str:
    measured = [
        (f"{graph}, {setting}", results["critical"])
        for setting, graphs in compared.items()
        for graph, results in graphs.items()
        if results["critical"] is not None
    ]
    if not measured:
        return "`critical` was not measured at p=0.1."
    refused = [where for where, result in measured if "refused" in result]
    least = _by_measure(
        {quantity: f"on ({_where_least(compared, 'critical', _ALWAYS, quantity)})" for quantity in _MEASURES}
    )
    return (
        "Take `critical` where pairs inside groups are all that must be protected, and choose p by how many that are. "
        f"At p=0.1 its error is clearly smaller than those of `edge` and `elv`: {least}."
        + (f" It is refused for size at {'; '.join(refused)}." if refused else "")
    )


def _by_measure(texts: Mapping[Quantity, str]) -> str:
    """Say something of the total and of local counts, once where it is the same."""
    first, *others = texts.values()
    if all(other == first for other in others):
        return f"of {' and of '.join(_MEASURES[quantity] for quantity in texts)} {first}"
    return "; ".join(f"of {_MEASURES[quantity]} {text}" for quantity, text in texts.items())


def unprotected(settings: Mapping[str, Finished]) -> str:
    """Return what `critical` leaves unprotected, as a sentence without its full stop."""
    left, sizes = "It protects no other connection", {dataset.name: dataset.counts.nodes for dataset in DATASETS}
    outside = [
        1 - result["inside"] / result["connections"]
        for cell, result in settings["k=3, ε=10"].coverage
        if cell.p == "0.1" and "inside" in result and result["connections"]
    ]
    if outside:
        left += f" (at p=0.1 that leaves out {_range(outside)} of the connections of a graph)"
    exact = [
        result["exact"] / sizes[cell.graph]
        for cell, result in settings["k=3, ε=10"].releases.where(mechanism="critical")
        if "exact" in result and cell.graph in sizes
    ]
    of_counts = f" ({_range(exact)} of them)" if exact else ""
    return f"{left} and publishes exactly every count that no pair inside groups can change{of_counts}"


def _range(shares: Sequence[float]) -> str:
    ends = [f"{share:.0%}" for share in (min(shares), max(shares))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix('%')} to {ends[1].replace('%', ' %')}"


def _of_larger_p(sweeps: Sequence[Finished]) -> str:
    """From which p on groups are so large that `edge` has less noise, though it protects more."""
    places: dict[Quantity, str] = {
        quantity: f"from {'; from '.join(of_measure)}"
        for quantity in _MEASURES
        if (of_measure := [place for finished in sweeps for place in _larger_p(finished, quantity)])
    }
    if not places:
        return ""
    return f"Its groups, and its error, grow with p: that of `edge` is clearly smaller, {_by_measure(places)}."


def _larger_p(finished: Finished, quantity: Quantity) -> list[str]:
    places = []
    for epsilon in finished.releases.values(lambda cell: cell.epsilon):
        edge = finished.releases.only(mechanism="edge", epsilon=epsilon)
        critical = finished.releases.where(mechanism="critical", epsilon=epsilon)
        worse = [
            cell
            for cell, result in critical
            if edge is not None
            and mean_or_none(edge, quantity) is not None
            and mean_or_none(result, quantity) is not None
            and "refused" not in edge
            and "refused" not in result
            and clearly_less(edge, result, quantity, len(critical))
        ]
        if worse:
            first = min(worse, key=lambda cell: float(cell.p or 0))
            places.append(f"p={first.p} on {first.graph} with k={first.k}, ε={epsilon}")
    return places


def _of_all_connections(compared: _Compared, settings: Mapping[str, Finished]) -> str:
    pairs = [
        (results["edge"], results["elv"])
        for graphs in compared.values()
        for results in graphs.values()
        if results["edge"] is not None and results["elv"] is not None
    ]
    better = sum("bound" in edge and "bound" in elv and clearly_less(edge, elv, "total") for edge, elv in pairs)
    least: dict[Quantity, str] = {
        quantity: ", ".join(f"with `{name}` on ({where})" for name, where in places)
        for quantity in _MEASURES
        if (places := _least_of_all(compared, quantity))
    }
    smallest = f"Clearly the smallest is the error {_by_measure(least)}. " if least else ""
    return (
        "Where every connection must be protected, take the mechanism with the smallest error that shows no more than "
        f"you accept. {smallest}An owner of the graph never needs `elv`: the expected error of `edge` is clearly "
        f"smaller in {better} of {len(pairs)} settings; `elv` is simulated in one process, and vertices that trust "
        f"nobody with the graph take `respond`. {_respond(compared)}The small errors of `respond` at a large ε are no "
        "gift to those whose answers others see, a collector or the public: from ε = ln(n/d) on, d the mean degree, "
        "the answers nearly are the graph, and [one fixed attacker](../attacker_report/attacker.md) finds most of its "
        "connections. "
        f"{_before_half_are_true(compared, settings)}Choose by both figures."
    )


def half_true(dataset: Dataset) -> float:
    """Return ln(n/d) of a graph, the ε from which on half of the yes-answers or more are connections."""
    return half_true_epsilon(dataset.counts.nodes, 2 * dataset.counts.edges / dataset.counts.nodes)


def _before_half_are_true(compared: _Compared, settings: Mapping[str, Finished]) -> str:
    """Where ε is below ln(n/d), and how often `respond` has the smallest local errors there."""
    thresholds = {dataset.name: half_true(dataset) for dataset in DATASETS}
    below: dict[str, list[str]] = {}
    for setting, graphs in compared.items():
        for epsilon in settings[setting].releases.values(lambda cell: cell.epsilon):
            measured = [graph for graph, results in graphs.items() if results["respond"] is not None]
            if lower := [graph for graph in measured if float(epsilon) < thresholds[graph]]:
                below[setting] = lower
    least = [
        least_error({name: compared[setting][graph][name] for name in PROTECTING_ALL}, "absolute") == "respond"
        for setting, graphs in below.items()
        for graph in graphs
    ]
    if not least:
        return ""
    where = "; ".join(f"{setting}: {_names(graphs, list(compared[setting]))}" for setting, graphs in below.items())
    return (
        f"ε is below that on ({where}); there the local errors of `respond` are clearly the smallest of those that "
        f"protect every connection in {sum(least)} of {len(least)} settings. "
    )


def _respond(compared: _Compared) -> str:
    """In how many settings `respond` has smaller local errors than `critical`, which protects less."""
    smaller = [
        clearly_less(respond, critical, "absolute")
        for graphs in compared.values()
        for results in graphs.values()
        if (respond := results["respond"]) is not None and "refused" not in respond
        if (critical := results["critical"]) is not None and "refused" not in critical
    ]
    if not smaller:
        return ""
    return f"`respond` has smaller local errors than `critical`, too, in {sum(smaller)} of {len(smaller)} settings. "


def _least_of_all(compared: _Compared, quantity: Quantity) -> list[tuple[str, str]]:
    """Where each of those that protect every connection has the smallest error, if anywhere."""
    places = [(name, _where_least(compared, name, PROTECTING_ALL, quantity)) for name in PROTECTING_ALL]
    return [(name, where) for name, where in places if any(not part.endswith("none") for part in where.split("; "))]


def _where_least(compared: _Compared, mechanism: str, rivals: Sequence[str], quantity: Quantity) -> str:
    def is_least(results: ByMechanism) -> bool:
        return least_error({name: results[name] for name in rivals}, quantity) == mechanism

    least = {
        setting: _names([graph for graph, results in graphs.items() if is_least(results)], list(graphs))
        for setting, graphs in compared.items()
    }
    return "; ".join(f"{setting}: {names}" for setting, names in least.items())


def _names(graphs: Sequence[str], among: Sequence[str]) -> str:
    """Name graphs, or those that are missing where these are few."""
    others = [graph for graph in among if graph not in graphs]
    if len(others) < len(graphs) / 2:
        return f"all but {', '.join(others)}" if others else f"all {len(among)}"
    return ", ".join(graphs) or "none"


def _of_zeros(compared: _Compared, settings: Mapping[str, Finished]) -> str:
    """Where zeros would be nearer than what a mechanism publishes."""
    worse: dict[str, list[bool]] = {name: [] for name in PROMISING}
    for setting, finished in settings.items():
        for graph, results in compared[setting].items():
            cliques = finished.cliques.only(graph=graph)
            for name, result in results.items():
                mean = None if result is None else mean_or_none(result, "absolute")
                if cliques is not None and mean is not None:
                    worse[name].append(mean.value > cliques["mean"])
    parts = [f"`{name}` in {sum(places)} of {len(places)}" for name, places in worse.items() if places]
    if not parts:
        return ""
    return (
        "For local counts, look first whether there is anything to see: zeros in place of them would have a smaller "
        f"mean error than {', '.join(parts)} settings."
    )
