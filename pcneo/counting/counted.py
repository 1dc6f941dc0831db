"""A graph, its groups if it has any, and what is counted on them, each number once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.memo import Memo
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.counting import cliques, common_neighbours
from pcneo.counting.answers import AnsweredPairs, answer_pairs
from pcneo.counting.protected import Groups, Hull, Protected, protect
from pcneo.errors import GraphError

Counts = NDArray[np.int64]


class CountedGraph:
    """What mechanisms, audits and the evaluation want to know about one graph: exact, and only for its owner.

    Attributes:
        graph: its arrays.
        groups: sets of vertices, by position in it; None for none.
        label: what messages call the groups.
    """

    def __init__(self, graph: Graph, groups: CohesionBatch | Groups | None = None, label: str = "the graph") -> None:
        """Take the arrays; nothing is computed before it is wanted."""
        self.graph, self.groups, self.label = graph, groups, label
        self._of_graph, self._of_groups = Memo(), Memo()

    def with_groups(self, groups: CohesionBatch | Groups, label: str) -> CountedGraph:
        """Return the same graph with these groups; what is known about the graph itself is shared."""
        grouped = CountedGraph(self.graph, groups, label)
        grouped._of_graph = self._of_graph
        return grouped

    # --- The graph itself

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return self.graph.vertex_count

    def degrees(self) -> Counts:
        """Return deg(v): int64, shape (n,)."""
        return self.graph.degrees

    def count(self, sizes: Iterable[int]) -> None:
        """Count the cliques of several sizes at once, which takes less time than one by one."""
        missing = {k for k in sizes if k not in self._of_graph}
        for k, counts in cliques.clique_counts_of_sizes(self.graph, missing).items():
            self._of_graph.put(k, counts)

    def counts(self, k: int) -> Counts:
        """Return Γ(v) over the whole graph: int64, shape (n,)."""
        return self._of_graph.get(k, lambda: cliques.clique_counts(self.graph, k))

    def common(self) -> Counts:
        """Return c(v), the largest |N(v) ∩ N(u)| over u != v, adjacent or not: int64, shape (n,)."""
        return self._largest_common()[0]

    def largest_common(self) -> int:
        """Return C, the largest c(v); 0 without vertices."""
        return self._largest_common()[1]

    def _largest_common(self) -> tuple[Counts, int]:
        return self._of_graph.get("c(v) and C", lambda: common_neighbours.largest_common(self.graph))

    def answers(self, below: int, coins: Callable[[int], bytes]) -> AnsweredPairs:
        """Answer every pair once, by randomised response; every call draws again."""
        return answer_pairs(self.graph, below, coins)

    # --- Its groups

    def inner_degrees(self) -> Counts:
        """Return deg(v, MC(v)) for each vertex: int64, shape (n,)."""
        return self._of_groups.get("degrees", lambda: common_neighbours.degrees_inside(self.graph, self._cohesions()))

    def inner_common(self) -> Counts:
        """Return cn_in(v) for each vertex: int64, shape (n,)."""
        return self._of_groups.get(
            "common", lambda: common_neighbours.largest_common_inside(self.graph, self._cohesions())
        )

    def protected(self) -> Protected:
        """Return P̂ and Ĝ, which are counted but not listed."""
        return self._of_groups.get("P̂ and Ĝ", lambda: protect(self.graph, self._sets()))

    def protected_graph(self) -> Hull:
        """Return P̂ and Ĝ with what is drawn and counted on them."""
        return self._of_groups.get("hull", lambda: Hull(self.protected(), self.label))

    def _sets(self) -> CohesionBatch | Groups:
        if self.groups is None:
            raise GraphError("There are no groups to count in: this mechanism needs a run.")
        return self.groups

    def _cohesions(self) -> CohesionBatch:
        groups = self._sets()
        if not isinstance(groups, CohesionBatch):
            raise GraphError("There are groups, but no cohesions of single vertices to count in.")
        return groups
