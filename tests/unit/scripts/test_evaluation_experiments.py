"""The paper's figures as lists of cells."""

from __future__ import annotations

from itertools import product

import pytest
from evaluation.cells import CohesionsCell, ReleaseCell, ViewsCell
from evaluation.datasets import DATASETS
from evaluation.experiments import EXPERIMENTS

NINE = {dataset.name for dataset in DATASETS}
TENTHS = {f"0.{i}" for i in range(1, 9)}
TO_12 = {str(i) for i in range(1, 13)}
RELEASED = {
    "p-hepth": ({"HepTh"}, {3}, TENTHS, {1, 3, 10}, {"3", "10"}, {None}),
    "h-celegans": ({"Celegans"}, {3}, {"0.1"}, set(range(1, 13)), {"1", "3", "5", "10"}, {None}),
    "all-10": (NINE, {3}, {"0.1"}, {3}, {"10"}, {None}),
    "epsilon-usairport": ({"USAirport"}, {3}, {"0.1"}, {1, 3, 5, 10}, TO_12, {None}),
    "all-5": (NINE, {3}, {"0.1"}, {3}, {"5"}, {None}),
    "all-1": (NINE, {3}, {"0.1"}, {3}, {"1"}, {None}),
    "epsilon1-celegans": ({"Celegans"}, {3}, {"0.1"}, {3, 5, 7, 10}, {"5"}, {f"{i / 10:.1f}" for i in range(1, 50)}),
    "p-bitcoin": ({"Bitcoin"}, {4}, TENTHS, {1, 3, 10}, {"3", "10"}, {None}),
    "all-10-k4": (NINE, {4}, {"0.1"}, {3}, {"10"}, {None}),
    "epsilon-usairport-k4": ({"USAirport"}, {4}, {"0.1"}, {1, 3, 5, 10}, TO_12, {None}),
}
"""Graphs, k, p, h, ε and ε1 of the figures of releases: the paper's, and those at ε = 1."""


@pytest.mark.parametrize("name", RELEASED)
def test_a_figure_of_releases_has_the_paper_s_settings(name: str) -> None:
    cells = [cell for cell in EXPERIMENTS[name].cells(dict.fromkeys(NINE, "c")) if isinstance(cell, ReleaseCell)]
    graphs, ks, ps, hs, epsilons, epsilon_1s = RELEASED[name]
    assert {cell.runs for cell in cells} == {100}
    printed = ("pads", "unclamped") if ks == {3} else ("four-thirds", "pads", "unclamped")
    for switches in ((), printed, tuple(sorted((*printed, "inside")))):
        switched = [cell for cell in cells if cell.switches == switches]
        published = {(c.graph, c.k, c.p, c.h, c.epsilon, c.epsilon_1) for c in switched if c.mechanism == "published"}
        elv = {(c.graph, c.k, c.h, c.epsilon, c.epsilon_1) for c in switched if c.mechanism == "elv"}
        assert published == set(product(graphs, ks, ps, hs, epsilons, epsilon_1s))
        assert elv == set(product(graphs, ks, hs, epsilons, epsilon_1s))
    answered = {(c.mechanism, c.graph, c.epsilon) for c in cells if c.mechanism == "respond"}
    names = set[str]() if name == "h-celegans" else {"respond"}
    assert answered == set(product(names, graphs, epsilons))
    edge = {(c.graph, c.k, c.epsilon, c.epsilon_1) for c in cells if c.mechanism == "edge"}
    assert edge == set(product(graphs, ks, epsilons, epsilon_1s))
    critical = {(c.graph, c.k, c.p, c.epsilon) for c in cells if c.mechanism == "critical"}
    half = {p for p in ps if p <= "0.4"}
    assert critical == (set() if name == "h-celegans" else set(product(graphs, ks, half, epsilons)))
    modelled = {(c.graph, c.epsilon) for c in cells if c.mechanism == "modelled"}
    assert modelled == (set() if name == "h-celegans" else set(product(graphs, epsilons)))


@pytest.mark.parametrize(
    ("name", "swept", "scores"),
    [
        ("score-density", {"Gnutella08", "HepPh"}, {"density", "degree"}),
        ("score-size", {"Gnutella08", "HepPh"}, {"density", "degree"}),
        ("view-density", {"USAirport", "SisterCity"}, {"density"}),
        ("view-size", {"WIKIVote", "Yeast"}, {"density"}),
    ],
)
def test_a_figure_of_cohesions_has_the_paper_s_settings(name: str, swept: set[str], scores: set[str]) -> None:
    cells = EXPERIMENTS[name].cells(dict.fromkeys(NINE, "c"))
    expected = set(product(NINE, {"0.3"}, scores)) | set(product(swept, TENTHS, scores))
    assert {(c.graph, c.p, c.score) for c in cells if isinstance(c, CohesionsCell)} == expected
    assert {c.graph for c in cells if isinstance(c, ViewsCell)} == (NINE if name.startswith("view") else set())
    sampled = {(c.graph, c.needs.p) for c in cells if c.needs and c.needs.sample}
    assert sampled <= {("HepPh", f"0.{i}") for i in range(4, 9)}


def test_every_experiment_has_cells_and_each_cell_is_made_once() -> None:
    contents = {dataset.name: "c" for dataset in DATASETS}
    for name, experiment in EXPERIMENTS.items():
        cells = experiment.cells(contents)
        assert cells, name
        assert len(set(cells)) == len(cells), name
        assert list(experiment.cells({})) == []
