"""Small graphs to evaluate, and cells of them."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import naive
import networkx as nx
import numpy as np
from evaluation.cells import Cell, Result
from evaluation.cohesion_arrays import GraphArrays, SetArrays
from evaluation.computing import compute
from evaluation.datasets import DATASETS, Counts, Dataset, EvaluatedGraph
from evaluation.experiments import release_cells
from evaluation.results_folder import Kept
from evaluation.simulation import View

from pcneo.graph import graph_from_networkx

F = Fraction


def some_graph(n: int = 18, seed: int = 3) -> nx.Graph:
    """Communities with bridges, a vertex that hangs on by one edge, and two that are isolated."""
    graph = nx.connected_caveman_graph(n // 6, 6)
    rng = random.Random(seed)
    graph.remove_edges_from(rng.sample(sorted(graph.edges), len(graph.edges) // 6))
    graph.add_edge(0, n)
    graph.add_nodes_from([n + 1, n + 2])
    return graph


def twin_of(graph: nx.Graph) -> naive.Graph:
    return naive.graph_of(graph.edges, isolated=graph.nodes)


def evaluated(graph: nx.Graph, name: str = "Celegans") -> EvaluatedGraph:
    dataset = next(each for each in DATASETS if each.name == name)
    arrays = graph_from_networkx(graph)
    counts = Counts.of(arrays)
    return EvaluatedGraph.of(Dataset(name, dataset.file, counts, dataset.paper, ""), arrays)


def result_of(kind: str, graph: nx.Graph, folder: Path, **parameters: Any) -> Result:
    """Compute one cell of a graph."""
    one = evaluated(graph)
    arrays = GraphArrays(one, Kept(folder), lambda _: None)
    cell = Cell(kind, one.name, one.content, **parameters)
    p, sample = cell.p or "", cell.sample
    return compute(cell, arrays, lambda score: SetArrays(arrays, p, score, sample=sample, seed=cell.seed))


def views_of(graph: nx.Graph, p: str) -> dict[str, View]:
    twin = twin_of(graph)
    groups = {v: naive.minimal_p_cohesion(twin, F(p), v) for v in twin}
    return {
        "elv": View(np.array([len(twin[v]) for v in twin]), np.array([naive.largest_common(twin, v) for v in twin])),
        "published": View(
            np.array([len(twin[v] & groups[v]) for v in twin]),
            np.array([naive.largest_common_inside(twin, v, groups[v]) for v in twin]),
        ),
    }


def small_cells(one: EvaluatedGraph) -> list[Cell]:
    contents = {one.name: one.content}
    cells = release_cells(contents, [one.name], k=3, epsilons=("5", "10"), ps=("0.2", "0.4"), hs=(1, 3))
    made = partial(Cell, graph=one.name, content=one.content)
    return [made(kind="graph"), made(kind="views"), made(kind="sets", p="0.4", score="density"), *cells]


def of_mean(total: float, error: float) -> Result:
    return {"total": total, "total_error": error}
