"""What cells need of a graph alone, whatever its cohesions: computed when first needed, and once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation import local_views
from evaluation.datasets import EvaluatedGraph
from evaluation.kept_arrays import Announce, KeptArrays
from evaluation.results_folder import ResultsFolder
from pcneo.counting import cliques, common_neighbours

Counts = NDArray[np.int64]


class GraphArrays:
    """A graph, and the arrays that follow from it."""

    def __init__(self, evaluated: EvaluatedGraph, folder: ResultsFolder, announce: Announce) -> None:
        """Take the graph; computes nothing yet."""
        self.evaluated, self.graph = evaluated, evaluated.graph
        self.folder, self.announce = folder, lambda name: announce(f"{evaluated.name}, {name}")
        self._arrays = KeptArrays(folder, evaluated.content, self.announce)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """Which vertices have a neighbour: figures of sizes and densities leave out the others."""
        return self.graph.degrees > 0

    @cached_property
    def components(self) -> Counts:
        """Size of each vertex's component."""
        return local_views.component_sizes(self.graph)

    @property
    def view_sizes(self) -> Counts:
        """Vertices of each extended local view."""
        return self._arrays.get("views", self._measure_views)["sizes"]

    @property
    def view_edges(self) -> Counts:
        """Edges of each extended local view."""
        return self._arrays.get("views", self._measure_views)["edges"]

    def _measure_views(self) -> dict[str, Counts]:
        return {"sizes": local_views.view_sizes(self.graph), "edges": local_views.view_edges(self.graph)}

    def counts(self, k: int) -> Counts:
        """Γ(v)."""
        return self._arrays.get(f"counts{k}", lambda: {"counts": cliques.clique_counts(self.graph, k)})["counts"]

    @property
    def common(self) -> Counts:
        """c(v)."""
        return self._arrays.get("common", lambda: {"common": common_neighbours.largest_common(self.graph)[0]})["common"]

    def largest_change(self, k: int) -> int:
        """Return the largest k·support_k(e) over all connections: what removing one changes in all counts together."""

        def compute() -> dict[str, Counts]:
            return {"largest": np.array([cliques.clique_supports(self.graph, k).max(initial=0)])}

        return k * int(self._arrays.get(f"supports{k}", compute)["largest"][0])
