"""Graphs on which answers are compared, made or of a folder, with the group of each vertex where it is known."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from evaluation.datasets import DATASETS, Dataset, EvaluatedGraph, find_files, read_edges
from pcneo.basics.model import Graph
from pcneo.errors import GraphError, NotFoundError
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_networkx

_EMAIL_NAME = "email-Eu-core"
_EMAIL = "email_eu_core"
"""A file of edges and one of labels, a vertex and its department a line; snap.stanford.edu, email-Eu-core."""


@dataclass(frozen=True, eq=False)
class GroupedGraph:
    """A graph.

    Attributes:
        name: what reports call it.
        graph: its arrays.
        groups: int64, n, the group of each vertex; None where there is none to compare with.
    """

    name: str
    graph: Graph
    groups: NDArray[np.int64] | None = None


def graphs_of(folder: Path | None) -> dict[str, Callable[[], GroupedGraph]]:
    """Return what makes each graph or reads it: the made ones, email-Eu-core with its departments, and the paper's."""
    at_hand: dict[str, Callable[[], GroupedGraph]] = {"Les Misérables": _characters, "students": _students}
    at_hand |= {f"LFR, μ={mixing}": partial(_lfr, mixing) for mixing in (0.2, 0.4)}
    at_hand |= {f"planted, {outside}": partial(_planted, outside) for outside in (0.002, 0.006)}
    if folder is None:
        return at_hand
    edges, labels = folder / f"{_EMAIL}.edges.gz", folder / f"{_EMAIL}.labels.gz"
    if edges.is_file() and labels.is_file():
        at_hand[_EMAIL_NAME] = partial(_email, edges, labels)
    try:
        files = find_files(folder)
    except NotFoundError:
        if _EMAIL_NAME not in at_hand:
            raise
        files = {}
    return at_hand | {d.name: partial(_of_paper, d, files[d.name]) for d in DATASETS if d.name in files}


def _characters() -> GroupedGraph:
    return GroupedGraph("Les Misérables", graph_from_networkx(nx.les_miserables_graph()))


def _students() -> GroupedGraph:
    return GroupedGraph("students", read_edges(sample_path()))


def _lfr(mixing: float) -> GroupedGraph:
    made = nx.LFR_benchmark_graph(
        2000, 2.5, 1.5, mixing, average_degree=12, max_degree=60, min_community=15, max_community=100, seed=1
    )
    return _made(f"LFR, μ={mixing}", made, {v: min(made.nodes[v]["community"]) for v in made})


def _planted(outside: float) -> GroupedGraph:
    made = nx.planted_partition_graph(40, 25, 0.4, outside, seed=1)
    return _made(f"planted, {outside}", made, {v: v // 25 for v in made})


def _made(name: str, graph: nx.Graph[Any], groups: Mapping[int, int]) -> GroupedGraph:
    graph.remove_edges_from(nx.selfloop_edges(graph))
    arrays = graph_from_networkx(graph)
    return GroupedGraph(name, arrays, np.array([groups[v] for v in arrays.keys.tolist()], np.int64))


def _of_paper(dataset: Dataset, path: Path) -> GroupedGraph:
    return GroupedGraph(dataset.name, EvaluatedGraph.read(dataset, path).graph)


def _email(edges: Path, labels: Path) -> GroupedGraph:
    """Read email-Eu-core."""
    graph = read_edges(edges)
    with gzip.open(labels, "rt", encoding="utf-8") as lines:
        groups = {int(vertex): int(group) for vertex, group in map(str.split, lines)}
    if missing := [key for key in graph.keys.tolist() if key not in groups]:
        raise GraphError(f"{labels} has no department of vertex {missing[0]}.")
    return GroupedGraph(_EMAIL_NAME, graph, np.array([groups[key] for key in graph.keys.tolist()], np.int64))
