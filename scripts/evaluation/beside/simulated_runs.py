"""Simulated releases of one mechanism on one graph, run by run."""

from __future__ import annotations

import math

import numpy as np

from evaluation.beside.oriented import draw_total
from evaluation.beside.pairs_of_neighbours import sum_of_squared_common
from evaluation.cell_facts import CellFacts
from evaluation.cells import BesideCell
from evaluation.cohesion_arrays import CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Beside, Refused
from pcneo.basics.model import Graph
from pcneo.errors import GraphError
from pcneo.privacy.mechanisms import Drawn, Mechanism, mechanism_named
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips, threshold_of

K = 3
ORIENTED = "oriented"


def made(name: str, epsilon: str, n: int) -> Mechanism:
    """Return a mechanism of ours as the product makes it, with its own δ, ε0 and ε1."""
    return mechanism_named(name)(k=K, epsilon=epsilon, n=n)


def total_of(drawn: Drawn) -> float:
    """Return the number of triangles that a release publishes, or that its counts add up to."""
    total = drawn.record.get("total")
    return float(total) if isinstance(total, int) else sum(drawn.counts) / K


def run_by_run(cell: BesideCell, graph: GraphArrays, cohesions: CohesionsOf) -> Beside | Refused:
    """Simulate releases on a graph with three vertices and one triangle at least."""
    counts = graph.counts(K)
    true = sum(counts.tolist()) // K
    if cell.mechanism == ORIENTED:
        rng = np.random.default_rng(cell.stream)
        totals = [draw_total(graph.graph, float(cell.epsilon), rng) for _ in range(cell.runs)]
        return {"totals": [total / true - 1 for total in totals]}
    facts = CellFacts(graph, None if cell.score is None else cohesions(cell.score))
    mechanism, noise = made(cell.mechanism, cell.epsilon, facts.vertex_count), SimulatedNoise.seeded(cell.stream)
    try:
        mechanism.check_facts(facts)
        releases = [mechanism.draw(facts, noise) for _ in range(cell.runs)]
    except (GraphError, RefusedError) as error:
        return {"refused": str(error)}
    result: Beside = {"totals": [total_of(drawn) / true - 1 for drawn in releases]}
    if mechanism.counts_vertices:
        result["vertices"] = [float(np.abs(np.array(drawn.counts) - counts).mean()) for drawn in releases]
    return result


def standard_error_of_respond(graph: Graph, epsilon: str) -> float:
    """Return the exact standard error of the total of `respond` for k = 3 (GUARANTEE.md#respond)."""
    n, m = graph.vertex_count, graph.edge_count
    v = Flips(n, threshold_of(made("respond", epsilon, n).epsilon)).variance
    return math.sqrt(v * sum_of_squared_common(graph) + v**2 * m * (n - 2) + v**3 * math.comb(n, 3))
