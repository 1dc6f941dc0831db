"""Graphs on which answers are compared, made or of a folder, with the group of each vertex where it is known."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from evaluation.datasets import DATASETS, EvaluatedGraph, find_files
from pcneo.basics.model import Graph
from pcneo.errors import GraphError
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.graph.files import read_graph_file

__all__ = ["GroupedGraph", "graphs_of"]

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


def graphs_of(folder: Path | None) -> Iterator[GroupedGraph]:
    """Yield the made graphs, and those that the folder has: email-Eu-core with its departments, and the paper's."""
    yield GroupedGraph("Les Misérables", graph_from_networkx(nx.les_miserables_graph()))
    for mixing in (0.2, 0.4):
        made = nx.LFR_benchmark_graph(
            2000, 2.5, 1.5, mixing, average_degree=12, max_degree=60, min_community=15, max_community=100, seed=1
        )
        yield _made(f"LFR, μ={mixing}", made, {v: min(made.nodes[v]["community"]) for v in made})
    for outside in (0.002, 0.006):
        made = nx.planted_partition_graph(40, 25, 0.4, outside, seed=1)
        yield _made(f"planted, {outside}", made, {v: v // 25 for v in made})
    if folder is not None:
        yield from _email(folder)
        for dataset in DATASETS:
            if path := find_files(folder).get(dataset.name):
                yield GroupedGraph(dataset.name, EvaluatedGraph.read(dataset, path).graph)


def _made(name: str, graph: nx.Graph[Any], groups: Mapping[int, int]) -> GroupedGraph:
    graph.remove_edges_from(nx.selfloop_edges(graph))
    arrays = graph_from_networkx(graph)
    return GroupedGraph(name, arrays, np.array([groups[v] for v in arrays.keys.tolist()], np.int64))


def _email(folder: Path) -> Iterator[GroupedGraph]:
    """Yield email-Eu-core if both its files are there.

    Raises:
        GraphError: a vertex has no department.
    """
    edges, labels = folder / f"{_EMAIL}.edges.gz", folder / f"{_EMAIL}.labels.gz"
    if not (edges.is_file() and labels.is_file()):
        return
    file = read_graph_file(edges)
    sources, targets = (file.keys[ends].tolist() for ends in (file.sources, file.targets))
    graph = graph_from_edges(file.keys.tolist(), sources, targets)
    with gzip.open(labels, "rt", encoding="utf-8") as lines:
        groups = {int(vertex): int(group) for vertex, group in map(str.split, lines)}
    if missing := [key for key in graph.keys.tolist() if key not in groups]:
        raise GraphError(f"{labels} has no department of vertex {missing[0]}.")
    yield GroupedGraph("email-Eu-core", graph, np.array([groups[key] for key in graph.keys.tolist()], np.int64))
