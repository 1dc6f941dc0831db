"""The paper's claims about sizes and densities of minimal p-cohesions, with their checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import TypeVar

from evaluation.cells import Cell
from evaluation.claims.judging import Check, Claim, Outcome, series
from evaluation.claims.settings import at_settings
from evaluation.experiments import ALL, P_VALUES
from evaluation.finished_cells import Finished, Selection
from evaluation.results import Comparison, Overlap, Result, Sizes

_DENSITY = "density"

C = TypeVar("C", bound=Cell)
R = TypeVar("R", bound=Result)


def _by_p(cells: Selection[C, R], name: str) -> list[R] | None:
    """The results of a graph at every p; None if one is missing."""
    results = [result for p in P_VALUES if (result := cells.only(graph=name, p=p)) is not None]
    return results if len(results) == len(P_VALUES) else None


def _along_p(
    names: Sequence[str],
    cells: Callable[[Finished], Selection[C, R]],
    outcome: Callable[[list[tuple[str, list[R]]]], Outcome],
) -> Check:
    """Decide on the results of graphs at every p."""
    return at_settings(names, lambda finished, name: _by_p(cells(finished), name), outcome)


# --- The two scores


def _scores(outcome: Callable[[list[tuple[str, Comparison]]], Outcome], names: Sequence[str] = ALL) -> Check:
    """Decide on the comparisons of the two scores at p = 0.3."""
    return at_settings(names, lambda finished, name: finished.scores.only(graph=name, p="0.3"), outcome)


def _denser_by_score(results: list[tuple[str, Comparison]]) -> Outcome:
    good = [
        name for name, r in results if r["mean_density_ratio"] > 1 and r["denser"] > 1 - r["denser"] - r["as_dense"]
    ]
    numbers = ", ".join(
        f"{name} {r['denser']:.0%} denser, {1 - r['denser'] - r['as_dense']:.0%} less, "
        f"means ×{r['mean_density_ratio']:.2f}"
        for name, r in results
    )
    return Outcome(len(good) == len(results), f"{len(good)} of {len(results)}: {numbers}")


def _all_denser_by_score(results: list[tuple[str, Comparison]]) -> Outcome:
    numbers = ", ".join(
        f"{name}: {r['denser']:.1%} denser, {r['as_dense']:.1%} as dense, "
        f"{1 - r['denser'] - r['as_dense']:.1%} less dense"
        for name, r in results
    )
    return Outcome(all(r["denser"] == 1 for _, r in results), numbers)


def _densities_converge(by_graph: list[tuple[str, list[Comparison]]]) -> Outcome:
    texts, good = [], True
    for name, results in by_graph:
        distances = [r["density_distance"] for r in results]
        ratio = results[-1]["mean_density_ratio"]
        good = good and distances[-1] < distances[0] and abs(math.log(ratio)) < math.log(1.1)
        texts.append(f"{name}: distance of the distributions {series(distances)}; mean ratio at p=0.8 {ratio:.3f}")
    return Outcome(good, "; ".join(texts))


def _sets_alike(by_graph: list[tuple[str, list[Overlap]]]) -> Outcome:
    texts, good = [], True
    for name, results in by_graph:
        overlaps = [r["overlap"] for r in results]
        good = good and overlaps[-1] > overlaps[0] and overlaps[-1] >= 0.8
        texts.append(f"{name}: {series(overlaps)}")
    return Outcome(good, f"mean overlap of a vertex's two cohesions by p: {'; '.join(texts)}")


def _similar_sizes(results: list[tuple[str, Comparison]]) -> Outcome:
    near = [name for name, r in results if 0.8 <= r["mean_size_ratio"] <= 1.25]
    numbers = ", ".join(f"{name} ×{r['mean_size_ratio']:.2f}" for name, r in results)
    return Outcome(len(near) > len(results) / 2, f"{len(near)} of {len(results)}: mean sizes {numbers}")


def _much_smaller(results: list[tuple[str, Comparison]]) -> Outcome:
    numbers = ", ".join(f"{name} ×{r['mean_size_ratio']:.2f}" for name, r in results)
    return Outcome(all(r["mean_size_ratio"] <= 0.75 for _, r in results), f"mean sizes {numbers}")


# --- Cohesions alone


def _component_included(names: Sequence[str], scores: Sequence[str] = (_DENSITY,)) -> Check:
    def outcome(results: list[tuple[tuple[str, str], Sizes]]) -> Outcome:
        text = "; ".join(
            f"{f'{name}, {score} score' if len(scores) > 1 else name} {r['of_component']:.0%}"
            for (name, score), r in results
        )
        holds = all(r["of_component"] >= 0.9 for _, r in results)
        return Outcome(holds, f"mean share of the component at p=0.8: {text}")

    return at_settings(
        list(product(names, scores)),
        lambda finished, at: finished.cohesions.only(graph=at[0], p="0.8", score=at[1]),
        outcome,
    )


def _sizes_grow(names: Sequence[str], scores: Sequence[str]) -> Check:
    def outcome(results: list[tuple[tuple[str, str], list[Sizes]]]) -> Outcome:
        means = {at: [r["sizes"]["mean"] for r in of_each] for at, of_each in results}
        good = all(a < b for values in means.values() for a, b in pairwise(values))
        texts = [f"{name}, {score} score: {series(values)}" for (name, score), values in means.items()]
        return Outcome(good, "; ".join(texts))

    return at_settings(
        list(product(names, scores)),
        lambda finished, at: _by_p(finished.cohesions.where(score=at[1]), at[0]),
        outcome,
    )


def _density_falls(by_graph: list[tuple[str, list[Sizes]]]) -> Outcome:
    means = {name: [r["densities"]["mean"] for r in results] for name, results in by_graph}
    good = all(a > b for values in means.values() for a, b in pairwise(values))
    return Outcome(good, "mean densities " + "; ".join(f"{name}: {series(values)}" for name, values in means.items()))


# --- Cohesions beside local views


def _views(outcome: Callable[[list[tuple[str, Comparison]]], Outcome], names: Sequence[str] = ALL) -> Check:
    """Decide on the comparisons of cohesions and local views at p = 0.3."""
    return at_settings(names, lambda finished, name: finished.against.only(graph=name, p="0.3"), outcome)


def _denser_than_views(results: list[tuple[str, Comparison]]) -> Outcome:
    good = [name for name, r in results if round(r["mean_density_ratio"], 1) >= 2]
    numbers = ", ".join(f"{name} ×{r['mean_density_ratio']:.1f} ({r['denser']:.1%})" for name, r in results)
    return Outcome(
        len(good) == len(results), f"{len(good)} of {len(results)}: mean density (share of denser cohesions) {numbers}"
    )


def _all_denser_than_views(results: list[tuple[str, Comparison]]) -> Outcome:
    ((_, result),) = results
    return Outcome(result["denser"] == 1, f"{result['denser']:.2%} are denser, {result['as_dense']:.2%} as dense")


def _views_by_p(low: str, high: str, holds: Callable[[Comparison], bool]) -> Check:
    """Whether something holds at every p from low to high on USAirport and SisterCity."""

    def outcome(by_graph: list[tuple[str, list[Comparison]]]) -> Outcome:
        texts, good = [], True
        for name, results in by_graph:
            shown = [(p, r) for p, r in zip(P_VALUES, results, strict=True) if low <= p <= high]
            good = good and all(holds(r) for _, r in shown)
            shares = ", ".join(f"{p}: {r['denser']:.0%}" for p, r in shown)
            texts.append(f"{name}, share of denser cohesions: {shares}")
        return Outcome(good, "; ".join(texts))

    return _along_p(("USAirport", "SisterCity"), lambda finished: finished.against, outcome)


def _all_smaller_than_views(results: list[tuple[str, Comparison]]) -> Outcome:
    good = [name for name, r in results if r["smaller"] == 1]
    numbers = ", ".join(f"{name} {r['smaller']:.2%} smaller, {r['as_small']:.2%} as small" for name, r in results)
    return Outcome(len(good) == len(results), f"{len(good)} of {len(results)}: {numbers}")


def _larger_than_views(by_graph: list[tuple[str, list[Comparison]]]) -> Outcome:
    texts, good = [], True
    for (name, results), beyond in zip(by_graph, ("0.5", "0.6"), strict=True):
        larger = [(p, 1 - r["smaller"] - r["as_small"]) for p, r in zip(P_VALUES, results, strict=True)]
        good = good and all((share > 0.5) == (p > beyond) for p, share in larger)
        texts.append(f"{name}, share of larger cohesions: " + ", ".join(f"{p}: {share:.0%}" for p, share in larger))
    return Outcome(good, "; ".join(texts))


COHESION_CLAIMS = (
    Claim(
        "At p=0.3 the density score gives denser cohesions than the degree score on all nine graphs (more of them "
        "denser than less dense, and a larger mean).",
        "Fig. 2(a)",
        _scores(_denser_by_score),
    ),
    Claim(
        "On Yeast and HepTh every cohesion of the density score is denser.",
        "Fig. 2(a)",
        _scores(_all_denser_by_score, ("Yeast", "HepTh")),
    ),
    Claim(
        "On Gnutella08 and HepPh the densities of the two scores become alike as p grows (their distributions nearer "
        "at p=0.8 than at 0.1, means within 10 %).",
        "Fig. 2(b), (c)",
        _along_p(("Gnutella08", "HepPh"), lambda finished: finished.scores, _densities_converge),
    ),
    Claim(
        "On Gnutella08 and HepPh the two scores come to comparable cohesions as p grows (shared members of a vertex's "
        "two cohesions over members of either, their mean larger at p=0.8 than at 0.1, and at least 0.8).",
        "Fig. 2(b), (c)",
        _along_p(("Gnutella08", "HepPh"), lambda finished: finished.overlap, _sets_alike),
    ),
    Claim(
        "At the largest p almost the whole component is in a cohesion, of either score, on Gnutella08 and HepPh (90 % "
        "of it).",
        "Fig. 2(b), (c)",
        _component_included(("Gnutella08", "HepPh"), (_DENSITY, "degree")),
    ),
    Claim(
        "At p=0.3 the two scores give cohesions of similar size on most graphs (mean sizes within 25 %).",
        "Fig. 3(a)",
        _scores(_similar_sizes),
    ),
    Claim(
        "On Yeast and HepTh the density score finds much smaller cohesions (mean size at most 75 %).",
        "Fig. 3(a)",
        _scores(_much_smaller, ("Yeast", "HepTh")),
    ),
    Claim(
        "On Gnutella08 and HepPh the sizes of both scores grow with p.",
        "Fig. 3(b), (c)",
        _sizes_grow(("Gnutella08", "HepPh"), ("density", "degree")),
    ),
    Claim(
        "At p=0.3 minimal p-cohesions are significantly denser than local views on all graphs (twice the mean, to a "
        "tenth).",
        "Fig. 4(a)",
        _views(_denser_than_views),
    ),
    Claim(
        "On USAirport every minimal p-cohesion at p=0.3 is denser.",
        "Fig. 4(a)",
        _views(_all_denser_than_views, ("USAirport",)),
    ),
    Claim(
        "On USAirport and SisterCity many cohesions are denser than the view for p from 0.1 to 0.7 (at least half).",
        "Fig. 4(b), (c)",
        _views_by_p("0.1", "0.7", lambda r: r["denser"] >= 0.5),
    ),
    Claim(
        "On USAirport and SisterCity the density falls as p grows (the mean, at every step).",
        "Fig. 4(b), (c)",
        _along_p(
            ("USAirport", "SisterCity"), lambda finished: finished.cohesions.where(score=_DENSITY), _density_falls
        ),
    ),
    Claim(
        "On USAirport and SisterCity most cohesions are less dense than the view for p beyond 0.7.",
        "Fig. 4(b), (c)",
        _views_by_p("0.8", "0.8", lambda r: 1 - r["denser"] - r["as_dense"] > 0.5),
    ),
    Claim(
        "There, the reason is that a large p takes in nearly the entire graph (90 % of the component).",
        "Fig. 4(b), (c)",
        _component_included(("USAirport", "SisterCity")),
    ),
    Claim(
        "At p=0.3, on all graphs and for all vertices, the cohesion is smaller than the view.",
        "Fig. 5(a)",
        _views(_all_smaller_than_views),
    ),
    Claim(
        "On WIKIVote and Yeast the sizes grow with p.",
        "Fig. 5(b), (c)",
        _sizes_grow(("WIKIVote", "Yeast"), ("density",)),
    ),
    Claim(
        "The cohesions are larger than the views for p beyond 0.5 on WIKIVote and beyond 0.6 on Yeast (for more than "
        "half of the vertices, and not before).",
        "Fig. 5(b), (c)",
        _along_p(("WIKIVote", "Yeast"), lambda finished: finished.against, _larger_than_views),
    ),
)
"""In the paper's order."""
