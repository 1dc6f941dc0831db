"""The graphs that are compared on: the paper's nine, and four that other papers of private counting use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.datasets import DATASETS, Counts, Dataset, EvaluatedGraph, find_files, read_edges
from pcneo.errors import GraphError

_SNAP = "snap.stanford.edu, "

PUBLIC = (
    Dataset(
        "wiki-Vote",
        "wiki_vote_snap",
        Counts(7115, 100762, 1065, 608389),
        None,
        _SNAP + "wiki-Vote",
        "votes among Wikipedia users",
    ),
    Dataset(
        "ego-Facebook",
        "ego_facebook",
        Counts(4039, 88234, 1045, 1612010),
        None,
        _SNAP + "ego-Facebook",
        "friendships around ten people",
    ),
    Dataset(
        "ca-HepPh",
        "ca_hepph",
        Counts(12008, 118489, 491, 3358499),
        None,
        _SNAP + "ca-HepPh",
        "co-authorship of papers",
    ),
    Dataset(
        "Enron",
        "email_enron",
        Counts(36692, 183831, 1383, 727044),
        None,
        _SNAP + "email-Enron",
        "mail between addresses",
    ),
)

GRAPHS = (*PUBLIC, *DATASETS)


def check_graph(graph: EvaluatedGraph) -> None:
    """Refuse a graph on which there is nothing to compare: it has fewer than three vertices, or no triangle."""
    counts = graph.dataset.counts
    if counts.nodes < 3 or not counts.triangles:
        raise GraphError(
            f"{graph.name} has {counts.nodes:,} vertices and {counts.triangles:,} triangles: to compare errors of the "
            "number of triangles takes three vertices and one triangle at least.",
            vertices=counts.nodes,
            triangles=counts.triangles,
        )


def graphs_at_hand(folder: Path, names: Sequence[str] = ()) -> dict[str, EvaluatedGraph]:
    """Read the graphs of a folder, or those named, in the order of `GRAPHS`.

    A name is that of a graph here, or of any edge list in the folder, without its suffix.
    """
    if not names:
        files = find_files(folder, GRAPHS)
        found = [EvaluatedGraph.read(d, files[d.name]) for d in GRAPHS if d.name in files]
    else:
        found = [_named(folder, name) for name in dict.fromkeys(names)]
    for graph in found:
        check_graph(graph)
    return {graph.name: graph for graph in found}


def _named(folder: Path, name: str) -> EvaluatedGraph:
    known = {dataset.name: dataset for dataset in GRAPHS}
    dataset = known.get(name, Dataset(name, name, Counts(0, 0, 0, 0), None, "a file of one's own"))
    path = find_files(folder, [dataset])[name]
    if name in known:
        return EvaluatedGraph.read(dataset, path)
    graph = read_edges(path)
    return EvaluatedGraph.of(replace(dataset, counts=Counts.of(graph)), graph)
