"""The paper's claims about sizes and densities of minimal p-cohesions, with their checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from evaluation.cells import Cell, Switches
from evaluation.claims.judging import Check, Claim, Outcome, series
from evaluation.experiments import ALL, P_VALUES
from evaluation.finished_cells import Finished, Selection
from evaluation.results import Comparison, Result

__all__ = ["COHESION_CLAIMS"]

_DENSITY = "density"

C = TypeVar("C", bound=Cell)
R = TypeVar("R", bound=Result)


def _by_graph(cells: Selection[C, R], names: Sequence[str] = ALL) -> list[tuple[str, R]] | None:
    """The results of graphs at p = 0.3; None if one is missing."""
    results = [(name, result) for name in names if (result := cells.only(graph=name, p="0.3")) is not None]
    return results if len(results) == len(names) else None


def _by_p(cells: Selection[C, R], name: str) -> list[R] | None:
    """The results of a graph at every p; None if one is missing."""
    results = [result for p in P_VALUES if (result := cells.only(graph=name, p=p)) is not None]
    return results if len(results) == len(P_VALUES) else None


def _denser_by_score(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.scores)
    if results is None:
        return None
    good = [
        name for name, r in results if r["mean_density_ratio"] > 1 and r["denser"] > 1 - r["denser"] - r["as_dense"]
    ]
    numbers = ", ".join(
        f"{name} {r['denser']:.0%} denser, {1 - r['denser'] - r['as_dense']:.0%} less, "
        f"means ×{r['mean_density_ratio']:.2f}"
        for name, r in results
    )
    return Outcome(len(good) == len(results), f"{len(good)} of {len(results)}: {numbers}")


def _all_denser_by_score(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.scores, ("Yeast", "HepTh"))
    if results is None:
        return None
    less = [(name, 1 - r["denser"] - r["as_dense"]) for name, r in results]
    numbers = ", ".join(
        f"{name}: {r['denser']:.1%} denser, {r['as_dense']:.1%} as dense, {share:.1%} less dense"
        for (name, r), (_, share) in zip(results, less, strict=True)
    )
    return Outcome(all(r["denser"] == 1 for _, r in results), numbers)


def _densities_converge(finished: Finished, _: Switches) -> Outcome | None:
    texts, good = [], True
    for name in ("Gnutella08", "HepPh"):
        results = _by_p(finished.scores, name)
        if results is None:
            return None
        distances = [r["density_distance"] for r in results]
        ratio = results[-1]["mean_density_ratio"]
        good = good and distances[-1] < distances[0] and abs(math.log(ratio)) < math.log(1.1)
        texts.append(f"{name}: distance of the distributions {series(distances)}; mean ratio at p=0.8 {ratio:.3f}")
    return Outcome(good, "; ".join(texts))


def _sets_alike(finished: Finished, _: Switches) -> Outcome | None:
    texts, good = [], True
    for name in ("Gnutella08", "HepPh"):
        results = _by_p(finished.overlap, name)
        if results is None:
            return None
        overlaps = [r["overlap"] for r in results]
        good = good and overlaps[-1] > overlaps[0] and overlaps[-1] >= 0.8
        texts.append(f"{name}: {series(overlaps)}")
    return Outcome(good, f"mean overlap of a vertex's two cohesions by p: {'; '.join(texts)}")


def _component_included(names: Sequence[str], scores: Sequence[str] = (_DENSITY,)) -> Check:
    def check(finished: Finished, _: Switches) -> Outcome | None:
        shares = []
        for name in names:
            for score in scores:
                result = finished.cohesions.only(graph=name, p="0.8", score=score)
                if result is None:
                    return None
                shares.append((f"{name}, {score} score" if len(scores) > 1 else name, result["of_component"]))
        text = "; ".join(f"{name} {share:.0%}" for name, share in shares)
        return Outcome(all(share >= 0.9 for _, share in shares), f"mean share of the component at p=0.8: {text}")

    return check


def _similar_sizes(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.scores)
    if results is None:
        return None
    near = [name for name, r in results if 0.8 <= r["mean_size_ratio"] <= 1.25]
    numbers = ", ".join(f"{name} ×{r['mean_size_ratio']:.2f}" for name, r in results)
    return Outcome(len(near) > len(results) / 2, f"{len(near)} of {len(results)}: mean sizes {numbers}")


def _much_smaller(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.scores, ("Yeast", "HepTh"))
    if results is None:
        return None
    numbers = ", ".join(f"{name} ×{r['mean_size_ratio']:.2f}" for name, r in results)
    return Outcome(all(r["mean_size_ratio"] <= 0.75 for _, r in results), f"mean sizes {numbers}")


def _sizes_grow(names: Sequence[str], scores: Sequence[str]) -> Check:
    def check(finished: Finished, _: Switches) -> Outcome | None:
        texts, good = [], True
        for name in names:
            for score in scores:
                results = _by_p(finished.cohesions.where(score=score), name)
                if results is None:
                    return None
                means = [r["sizes"]["mean"] for r in results]
                good = good and all(a < b for a, b in pairwise(means))
                texts.append(f"{name}, {score} score: {series(means)}")
        return Outcome(good, "; ".join(texts))

    return check


def _denser_than_views(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.against)
    if results is None:
        return None
    good = [name for name, r in results if round(r["mean_density_ratio"], 1) >= 2]
    numbers = ", ".join(f"{name} ×{r['mean_density_ratio']:.1f} ({r['denser']:.1%})" for name, r in results)
    return Outcome(
        len(good) == len(results), f"{len(good)} of {len(results)}: mean density (share of denser cohesions) {numbers}"
    )


def _all_denser_than_views(finished: Finished, _: Switches) -> Outcome | None:
    result = finished.against.only(graph="USAirport", p="0.3")
    if result is None:
        return None
    return Outcome(result["denser"] == 1, f"{result['denser']:.2%} are denser, {result['as_dense']:.2%} as dense")


def _views_by_p(low: str, high: str, holds: Callable[[Comparison], bool]) -> Check:
    """Whether something holds at every p from low to high on USAirport and SisterCity."""

    def check(finished: Finished, _: Switches) -> Outcome | None:
        texts, good = [], True
        for name in ("USAirport", "SisterCity"):
            results = _by_p(finished.against, name)
            if results is None:
                return None
            shown = [(p, r) for p, r in zip(P_VALUES, results, strict=True) if low <= p <= high]
            good = good and all(holds(r) for _, r in shown)
            shares = ", ".join(f"{p}: {r['denser']:.0%}" for p, r in shown)
            texts.append(f"{name}, share of denser cohesions: {shares}")
        return Outcome(good, "; ".join(texts))

    return check


def _density_falls(finished: Finished, _: Switches) -> Outcome | None:
    texts, good = [], True
    for name in ("USAirport", "SisterCity"):
        results = _by_p(finished.cohesions.where(score=_DENSITY), name)
        if results is None:
            return None
        means = [r["densities"]["mean"] for r in results]
        good = good and all(a > b for a, b in pairwise(means))
        texts.append(f"{name}: {series(means)}")
    return Outcome(good, "mean densities " + "; ".join(texts))


def _all_smaller_than_views(finished: Finished, _: Switches) -> Outcome | None:
    results = _by_graph(finished.against)
    if results is None:
        return None
    good = [name for name, r in results if r["smaller"] == 1]
    numbers = ", ".join(f"{name} {r['smaller']:.2%} smaller, {r['as_small']:.2%} as small" for name, r in results)
    return Outcome(len(good) == len(results), f"{len(good)} of {len(results)}: {numbers}")


def _larger_than_views(finished: Finished, _: Switches) -> Outcome | None:
    texts, good = [], True
    for name, beyond in (("WIKIVote", "0.5"), ("Yeast", "0.6")):
        results = _by_p(finished.against, name)
        if results is None:
            return None
        larger = [(p, 1 - r["smaller"] - r["as_small"]) for p, r in zip(P_VALUES, results, strict=True)]
        good = good and all((share > 0.5) == (p > beyond) for p, share in larger)
        texts.append(f"{name}, share of larger cohesions: " + ", ".join(f"{p}: {share:.0%}" for p, share in larger))
    return Outcome(good, "; ".join(texts))


COHESION_CLAIMS = (
    Claim(
        "At p=0.3 the density score gives denser cohesions than the degree score on all nine graphs (more of them "
        "denser than less dense, and a larger mean).",
        "Fig. 2(a)",
        _denser_by_score,
    ),
    Claim(
        "On Yeast and HepTh every cohesion of the density score is denser.",
        "Fig. 2(a)",
        _all_denser_by_score,
    ),
    Claim(
        "On Gnutella08 and HepPh the densities of the two scores become alike as p grows (their distributions nearer "
        "at p=0.8 than at 0.1, means within 10 %).",
        "Fig. 2(b), (c)",
        _densities_converge,
    ),
    Claim(
        "On Gnutella08 and HepPh the two scores come to comparable cohesions as p grows (shared members of a vertex's "
        "two cohesions over members of either, their mean larger at p=0.8 than at 0.1, and at least 0.8).",
        "Fig. 2(b), (c)",
        _sets_alike,
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
        _similar_sizes,
    ),
    Claim(
        "On Yeast and HepTh the density score finds much smaller cohesions (mean size at most 75 %).",
        "Fig. 3(a)",
        _much_smaller,
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
        _denser_than_views,
    ),
    Claim("On USAirport every minimal p-cohesion at p=0.3 is denser.", "Fig. 4(a)", _all_denser_than_views),
    Claim(
        "On USAirport and SisterCity many cohesions are denser than the view for p from 0.1 to 0.7 (at least half).",
        "Fig. 4(b), (c)",
        _views_by_p("0.1", "0.7", lambda r: r["denser"] >= 0.5),
    ),
    Claim(
        "On USAirport and SisterCity the density falls as p grows (the mean, at every step).",
        "Fig. 4(b), (c)",
        _density_falls,
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
        _all_smaller_than_views,
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
        _larger_than_views,
    ),
)
"""In the paper's order."""
