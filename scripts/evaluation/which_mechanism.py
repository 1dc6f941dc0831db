"""The report's advice: which mechanism the measured errors and losses speak for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.claims.comparing import clearly
from evaluation.finished_cells import Finished
from evaluation.results import Errors, Refused

__all__ = ["PROMISING", "advice", "least_error"]

PROMISING = ("critical", "edge", "elv")
"""The mechanisms that promise something."""

ByMechanism = Mapping[str, Errors | Refused | None]

_Compared = Mapping[str, Mapping[str, ByMechanism]]
"""The results of `PROMISING`, for each setting and graph."""


def least_error(results: ByMechanism) -> str:
    """Return the mechanism whose error of the total is clearly below that of every other, or why there is none."""
    if None in results.values():
        return "not compared"
    measured = {
        name: result
        for name, result in results.items()
        if result is not None and "refused" not in result and "total" in result
    }
    for name, result in measured.items():
        others = [other for rival, other in measured.items() if rival != name]
        if all(clearly(result, other, among=max(1, len(others))) for other in others):
            return name
    return "undecided"


def advice(done: Mapping[str, Finished]) -> str:
    """Return which mechanism to take, in sentences.

    Args:
        done: the finished cells of each experiment.
    """
    settings = {"k=3, ε=10": done["all-10"], "k=3, ε=5": done["all-5"], "k=4, ε=10": done["all-10-k4"]}
    compared = {
        setting: {
            graph: {name: finished.releases.only(graph=graph, mechanism=name, switches=()) for name in PROMISING}
            for graph in finished.graph_names
        }
        for setting, finished in settings.items()
    }
    by_p = [done[name] for name in ("p-hepth", "p-bitcoin")]
    sentences = _of_critical(compared), _of_larger_p(by_p), _of_edge(compared), _of_published(done["losses"])
    return " ".join(sentence for sentence in sentences if sentence)


def _of_critical(compared: _Compared) -> str:
    measured = [
        (f"{graph}, {setting}", results["critical"])
        for setting, graphs in compared.items()
        for graph, results in graphs.items()
        if results["critical"] is not None
    ]
    if not measured:
        return "`critical` was not measured at p=0.1."
    refused = [where for where, result in measured if "refused" in result]
    return (
        "Take `critical` where pairs inside groups are what must be protected, and the groups are small and sparse: "
        "at p=0.1 it has clearly the smallest error of the three that promise something on "
        f"({_where_least(compared, 'critical')})."
        + (f" It is refused for size at {'; '.join(refused)}." if refused else "")
    )


def _of_larger_p(sweeps: Sequence[Finished]) -> str:
    """From which p on groups are so large that `edge` has less noise, though it protects more."""
    places = []
    for finished in sweeps:
        for epsilon in finished.releases.values(lambda cell: cell.epsilon):
            edge = finished.releases.only(mechanism="edge", epsilon=epsilon)
            critical = finished.releases.where(mechanism="critical", epsilon=epsilon)
            worse = [
                cell
                for cell, result in critical
                if edge is not None
                and "refused" not in edge
                and "refused" not in result
                and "total" in result
                and clearly(edge, result, among=len(critical))
            ]
            if worse:
                first = min(worse, key=lambda cell: float(cell.p or 0))
                places.append(f"p={first.p} on {first.graph} with k={first.k}, ε={epsilon}")
    return (
        f"Its groups, and its error, grow with p: that of `edge` is clearly smaller from {'; from '.join(places)}."
        if places
        else ""
    )


def _of_edge(compared: _Compared) -> str:
    pairs = [
        (edge, elv)
        for graphs in compared.values()
        for edge, elv in ((results["edge"], results["elv"]) for results in graphs.values())
        if edge is not None and elv is not None and "total" in edge and "total" in elv
    ]
    better = sum(clearly(edge, elv) for edge, elv in pairs)
    return (
        "Take `edge` where every connection must be protected and an owner holds the graph: its error is clearly "
        f"smaller than that of `elv` in {better} of {len(pairs)} settings, and clearly the smallest that can be had on "
        f"({_where_least(compared, 'edge')}); `elv` is for vertices that trust nobody with the graph."
    )


def _where_least(compared: _Compared, mechanism: str) -> str:
    least = {
        setting: ", ".join(graph for graph, results in graphs.items() if least_error(results) == mechanism)
        for setting, graphs in compared.items()
    }
    return "; ".join(f"{setting}: {names or 'none'}" for setting, names in least.items())


def _of_published(losses: Finished) -> str:
    ratios = [
        (result["connections"] / (0.9 * float(cell.epsilon)), cell)
        for cell, result in losses.losses.where(mechanism="published", switches=())
        if "connections" in result
    ]
    if not ratios:
        return ""
    largest, cell = max(ratios, key=lambda pair: pair[0])
    beyond = sum(ratio > 1 for ratio, _ in ratios)
    return (
        "Do not take `published` for its smaller errors: its worst connection loses more than ε2 in "
        f"{beyond} of {len(ratios)} settings, up to {largest:.3g} times ε2 ({cell.graph}, k={cell.k}, "
        f"ε={cell.epsilon})."
    )
