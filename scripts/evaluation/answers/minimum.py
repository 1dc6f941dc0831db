"""The size of the smallest p-cohesion around a vertex, and the most connections at that size, by OR-tools' CP-SAT.

A vertex set without connectivity suffices: the component of q in it is a p-cohesion, too, and no larger. Only vertices
that can be in a set as small as the known one take part: those whose need is below its size, peeled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph

SECONDS = 2.0
"""Of the solver's deterministic time, for each of the two questions; about as many seconds of one core."""


_LARGEST = 60_000
"""Neighbours in all rows of a model; larger ones take longer to be written down than to be given up."""


@dataclass(frozen=True)
class Minimum:
    """What is proved of the p-cohesions around a vertex; None where the limit came first, or the model is too large.

    Attributes:
        size: members of the smallest.
        edges: the most edges inside one of that size.
    """

    size: int | None
    edges: int | None


def smallest_around(
    graph: Graph, need: NDArray[np.int64], q: int, known: NDArray[np.int64], seconds: float = SECONDS
) -> Minimum:
    """Prove the smallest size around q, then the most edges at that size, each in so many seconds.

    `known` has the members of some p-cohesion around q, which bounds the size and is where the solver begins.
    """
    if len(known) == 1:
        return Minimum(1, 0)
    candidates, rows = _candidates(graph, need, q, len(known))
    if sum(map(len, rows.values())) > _LARGEST:
        return Minimum(None, None)
    model, inside = _model(candidates, rows, need, q, known)
    total = sum(inside.values())
    model.add(total <= len(known))
    model.minimize(total)
    solver = _solved(model, seconds)
    if solver is None:
        return Minimum(None, None)
    size = round(solver.objective_value)
    hint = [v for v in candidates if solver.value(inside[v])]
    model, inside = _model(candidates, rows, need, q, np.array(hint))
    model.add(sum(inside.values()) == size)
    edges = []
    for v in candidates:
        for w in rows[v]:
            if v < w:
                edge = model.new_bool_var("")
                model.add_implication(edge, inside[v])
                model.add_implication(edge, inside[w])
                edges.append(edge)
    model.maximize(sum(edges))
    solver = _solved(model, seconds)
    return Minimum(size, None if solver is None else round(solver.objective_value))


def _candidates(graph: Graph, need: NDArray[np.int64], q: int, size: int) -> tuple[list[int], dict[int, list[int]]]:
    """Return who can be with q in a p-cohesion of at most `size` members, and their neighbours among these."""
    alive = need < size
    sources = np.repeat(np.arange(graph.vertex_count), graph.degrees)
    while True:
        left = np.bincount(sources[alive[graph.neighbours]], minlength=graph.vertex_count)
        falling = alive & (left < need)
        if not falling.any():
            break
        alive &= ~falling
    reached, edge = {q}, [q]
    rows: dict[int, list[int]] = {}
    for _ in range(size):  # everybody is within as many steps
        further = []
        for v in edge:
            row = graph.neighbours_of(v)
            rows[v] = row[alive[row]].tolist()
            further += [w for w in rows[v] if w not in reached]
            reached.update(rows[v])
        edge = list(dict.fromkeys(further))
    for v in reached - rows.keys():
        row = graph.neighbours_of(v)
        rows[v] = [w for w in row.tolist() if w in reached]
    return sorted(reached), rows


def _model(
    candidates: list[int], rows: dict[int, list[int]], need: NDArray[np.int64], q: int, hint: NDArray[np.int64]
) -> tuple[Any, dict[int, Any]]:
    """Return a model whose solutions are the sets around q that meet every need, and its variables by vertex."""
    from ortools.sat.python import cp_model  # pyright: ignore[reportMissingImports] - the extra `answers` installs it

    model: Any = cp_model.CpModel()
    inside = {v: model.new_bool_var("") for v in candidates}
    model.add(inside[q] == 1)
    hinted = set(hint.tolist())
    for v in candidates:
        model.add(sum(inside[w] for w in rows[v]) >= int(need[v]) * inside[v])
        model.add_hint(inside[v], v in hinted)
    return model, inside


def _solved(model: Any, seconds: float) -> Any:
    """Return the solver where it has proved its solution, else None."""
    from ortools.sat.python import cp_model  # pyright: ignore[reportMissingImports]

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = seconds
    return solver if solver.solve(model) == cp_model.OPTIMAL else None
