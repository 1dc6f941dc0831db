"""Whether cohesions belong to the graph that they are counted in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.errors import ParameterError


def check_batch(graph: Graph, batch: CohesionBatch) -> None:
    """Refuse cohesions that cannot belong to this graph."""
    offsets, members = batch.offsets, batch.members.astype(np.int64)
    whole = len(offsets) == len(batch) + 1 and offsets[0] == 0 and offsets[-1] == len(members)
    if not (whole and (batch.sizes > 0).all() and _are_positions(graph, batch.vertices, members, offsets)):
        raise ParameterError(
            f"The cohesions do not belong to this graph of {graph.vertex_count:,} vertices: members must be positions "
            "in it, ascending within each cohesion. Use cohesions that were computed on it.",
            name="batch",
            value=len(batch),
        )


def _are_positions(
    graph: Graph, vertices: NDArray[np.int64], members: NDArray[np.int64], offsets: NDArray[np.int64]
) -> bool:
    """Return whether all of these are positions in the graph, and members ascend within each cohesion."""
    both = np.concatenate((vertices, members))
    same = np.ones(max(0, len(members) - 1), np.bool_)
    same[offsets[1:-1] - 1] = False
    ascending = bool((np.diff(members)[same] > 0).all())
    return ascending and both.min(initial=0) >= 0 and both.max(initial=-1) < graph.vertex_count
