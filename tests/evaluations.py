"""Small graphs to evaluate, and cells made from them."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import naive
import networkx as nx
import numpy as np
from evaluation.cells import Cell, CohesionsCell, GraphCell, ViewsCell
from evaluation.cohesion_arrays import CohesionArrays, CohesionsOf
from evaluation.computing import compute
from evaluation.datasets import DATASETS, Counts, Dataset, EvaluatedGraph
from evaluation.experiments import Settings, release_cells
from evaluation.graph_arrays import GraphArrays
from evaluation.results import Comparison, Distribution, Errors, Losses, Sizes
from evaluation.results_folder import ResultsFolder
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


def triangles(graph: nx.Graph) -> int:
    return sum(len(clique) == 3 for clique in nx.enumerate_all_cliques(graph))


def evaluated(graph: nx.Graph, name: str = "Celegans") -> EvaluatedGraph:
    dataset = next(dataset for dataset in DATASETS if dataset.name == name)
    arrays = graph_from_networkx(graph)
    counts = Counts.of(arrays)
    return EvaluatedGraph.of(Dataset(name, dataset.file, counts, dataset.paper, ""), arrays)


def arrays_of(graph: nx.Graph, folder: Path) -> GraphArrays:
    return GraphArrays(evaluated(graph), ResultsFolder(folder), lambda _: None)


def cohesions_of(cell: Cell, arrays: GraphArrays) -> CohesionsOf:
    """The cohesions that a cell needs, searched for."""
    p, sample = (cell.needs.p, cell.needs.sample) if cell.needs else ("", None)
    return lambda score: CohesionArrays(arrays, p, score, sample=sample, seed=cell.seed)


def result_of(kind: type[Cell], graph: nx.Graph, folder: Path, **parameters: Any) -> dict[str, Any]:
    """Compute one cell of a graph."""
    arrays = arrays_of(graph, folder)
    cell = kind(graph=arrays.evaluated.name, content=arrays.evaluated.content, **parameters)
    return dict(compute(cell, arrays, cohesions_of(cell, arrays)))


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


def small_cells(graph: EvaluatedGraph) -> list[Cell]:
    settings = Settings(3, ("5", "10"), ("0.2", "0.4"), (1, 3))
    return [
        GraphCell(graph=graph.name, content=graph.content),
        ViewsCell(graph=graph.name, content=graph.content),
        CohesionsCell(graph=graph.name, content=graph.content, p="0.4", score="density"),
        *release_cells({graph.name: graph.content}, [graph.name], settings),
    ]


# --- Results that are made up


def errors_of(total: float, error: float = 0.0, **more: float) -> Errors:
    """Errors with the same mean and standard error for everything, but for what is named."""
    means = {"total": total, "total_error": error, "local": total, "local_error": error, "bound": total}
    means |= {"bound_error": error, "absolute": total, "absolute_error": error, "changed": 1.0}
    means |= {"expected": total, "expected_error": error}
    return cast("Errors", {**means, **more})


def comparison(**values: float) -> Comparison:
    """A comparison of equal families, but for what is named."""
    ratios = dict.fromkeys(("size_ratio", "mean_size_ratio", "mean_density_ratio"), 1.0)
    shares = {"denser": 0.0, "as_dense": 1.0, "smaller": 0.0, "as_small": 1.0}
    return cast(
        "Comparison", {"vertices": 9, **ratios, **shares, "size_distance": 0.0, "density_distance": 0.0, **values}
    )


def sizes_of(size: float, density: float, of_component: float) -> Sizes:
    """Sizes and densities that are the same for all vertices."""
    sizes, densities = (Distribution(quantiles=[value] * 7, mean=value) for value in (size, density))
    return {"vertices": 9, "sizes": sizes, "densities": densities, "of_component": of_component}


def losses_of(connections: float, **more: float | None) -> Losses:
    """The largest losses, of all pairs."""
    return cast("Losses", {"connections": connections, **more})
