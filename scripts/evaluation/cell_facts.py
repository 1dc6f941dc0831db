"""What mechanisms may ask about an evaluated graph (`pcneo.privacy.facts`), from arrays that the evaluation keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evaluation.cohesion_arrays import CohesionArrays
from evaluation.graph_arrays import GraphArrays
from pcneo.counting.answers import AnsweredPairs, answer_pairs
from pcneo.counting.protected import Hull

Counts = NDArray[np.int64]


class CellFacts:
    """The facts of one graph, and of its cohesions at one p and score where the mechanism needs groups."""

    def __init__(self, graph: GraphArrays, groups: CohesionArrays | None) -> None:
        """Take the arrays; computes nothing yet."""
        self._graph, self._groups = graph, groups

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return self._graph.graph.vertex_count

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return self._graph.graph.edge_count

    def degrees(self) -> Counts:
        """Return deg(v)."""
        return self._graph.graph.degrees

    def common(self) -> Counts:
        """Return c(v)."""
        return self._graph.common

    def largest_common(self) -> int:
        """Return C, the largest c(v)."""
        return int(self._graph.common.max(initial=0))

    def counts(self, k: int) -> Counts:
        """Return Γ(v)."""
        return self._graph.counts(k)

    def answers(self, below: int, coins: Callable[[int], bytes]) -> AnsweredPairs:
        """Answer every pair once, by randomised response."""
        return answer_pairs(self._graph.graph, below, coins)

    def inner_degrees(self) -> Counts:
        """Return deg(v, MC(v))."""
        return self._cohesions().inner_degrees

    def inner_common(self) -> Counts:
        """Return cn_in(v)."""
        return self._cohesions().inner_common

    def protected_graph(self) -> Hull:
        """Return P̂ and Ĝ, or refuse groups that are too large."""
        return self._cohesions().hull

    def holds_clique(self, k: int) -> NDArray[np.bool_]:
        """Return whether the view of each vertex holds a clique with it, for the switch `inside`: bool, shape (n,).

        The view is the vertex's cohesion where there are groups, else its extended local view, which holds every clique
        of the vertex.
        """
        return (self._groups.inside(k) if self._groups is not None else self.counts(k)) > 0

    def _cohesions(self) -> CohesionArrays:
        if self._groups is None:
            raise ValueError("The mechanism was said to need no groups, and looks for them.")
        return self._groups
