"""What cells need of one graph's cohesions at one p and score: computed when first needed, and once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import KeptArrays, RefusedError
from pcneo.basics.model import CohesionBatch
from pcneo.basics.searches import Search
from pcneo.counting import cliques, common_neighbours
from pcneo.counting.protected import Hull, Protected, protect
from pcneo.errors import GraphError
from pcneo.search import search_all, search_batches

Counts = NDArray[np.int64]


class CohesionArrays:
    """The cohesions of one p and score, and the arrays that follow from them.

    Attributes:
        of: the graph and what follows from it alone.
        vertices: positions of the vertices whose cohesions these are, ascending.
    """

    def __init__(
        self,
        of: GraphArrays,
        p: str,
        score: str,
        *,
        sample: int | None = None,
        seed: int = 0,
        stored: Callable[[], CohesionBatch] | None = None,
        memberships: str | None = None,
    ) -> None:
        """Take the parameters; computes nothing yet.

        Cohesions are those of all vertices, or of a `sample` of those with a neighbour, drawn from `seed`; `stored`
        reads them instead of searching for them. Their hash, `memberships`, is part of the names of the kept arrays, so
        that other cohesions have other arrays.
        """
        self.of, self.p, self.score = of, p, score
        self._stored = stored
        self._sampled = sample is not None
        self.vertices = np.arange(of.graph.vertex_count)
        if sample is not None:
            linked = np.flatnonzero(of.linked)
            rng = np.random.default_rng(seed)
            self.vertices = np.sort(rng.choice(linked, min(sample, len(linked)), replace=False))
        drawn = f"-{sample}of{seed}" if sample is not None else ""
        origin = f"-stored{memberships}" if memberships is not None else ""
        stem = f"{of.evaluated.content}-{p}-{score}{drawn}{origin}"
        self._arrays = KeptArrays(of.folder, stem, lambda name: of.announce(f"p={p}, {score} score, {name}"))

    @cached_property
    def batch(self) -> CohesionBatch:
        """The cohesions with their members; too large to keep in a file."""
        if self._stored is not None:
            return self._stored()
        self.of.announce(f"p={self.p}, {self.score} score, cohesions")
        vertices = self.vertices.tolist() if self._sampled else None
        return search_all(self.of.graph, self.p, self.score, vertices=vertices)

    @property
    def sizes(self) -> Counts:
        """Members of each cohesion."""
        return self._arrays.get("sets", self._measure)["sizes"]

    @property
    def edges(self) -> Counts:
        """Edges inside each cohesion."""
        return self._arrays.get("sets", self._measure)["edges"]

    def _measure(self) -> dict[str, Counts]:
        if self._stored is not None or "batch" in self.__dict__:
            return {"sizes": self.batch.sizes, "edges": self.batch.edges}
        vertices = self.vertices.tolist() if self._sampled else None
        batches = search_batches(self.of.graph, Search(self.p, self.score), vertices=vertices)
        sizes, edges = (np.concatenate(parts) for parts in zip(*((b.sizes, b.edges) for b in batches), strict=True))
        return {"sizes": sizes, "edges": edges}

    @property
    def inner_degrees(self) -> Counts:
        """deg(v, MC(v))."""
        return self._arrays.get("phases", self._look_inside)["degrees"]

    @property
    def inner_common(self) -> Counts:
        """cn_in(v)."""
        return self._arrays.get("phases", self._look_inside)["common"]

    def _look_inside(self) -> dict[str, Counts]:
        graph, batch = self.of.graph, self.batch
        return {
            "degrees": common_neighbours.degrees_inside(graph, batch),
            "common": common_neighbours.largest_common_inside(graph, batch),
        }

    def inside(self, k: int) -> Counts:
        """Γ_in(v)."""

        def compute() -> dict[str, Counts]:
            return {"inside": cliques.cliques_inside(self.of.graph, self.batch, k)}

        return self._arrays.get(f"inside{k}", compute)["inside"]

    @cached_property
    def protected(self) -> Protected:
        """The protected pairs and the protected graph; refused where they are too large, by the rule of a release."""
        try:
            return protect(self.of.graph, self.batch)
        except GraphError as error:
            raise RefusedError(str(error)) from error

    @cached_property
    def hull(self) -> Hull:
        """What `critical` draws and counts on."""
        return Hull(self.protected)

    def touched(self, k: int) -> NDArray[np.bool_]:
        """Return which vertices share a k-clique of the graph with a connection inside groups: bool, shape (n,)."""
        return self.of.counts(k) > cliques.clique_counts(self.hull.outside, k)

    @cached_property
    def connections_inside(self) -> frozenset[tuple[int, int]]:
        """The connections u < v inside groups."""
        u, v = (ends[self.protected.inside].tolist() for ends in cliques.edge_ends(self.of.graph))
        return frozenset(zip(u, v, strict=True))

    def largest_change_of_connections(self, k: int) -> int:
        """Return the largest k·support_k(e) over the connections inside groups."""

        def compute() -> dict[str, NDArray[Any]]:
            try:
                supports = cliques.clique_supports(self.of.graph, k)[self.protected.inside]
            except RefusedError as error:
                return {"refused": np.array(str(error))}
            return {"largest": np.array([supports.max(initial=0)])}

        arrays = self._arrays.get(f"connected{k}", compute)
        if "refused" in arrays:
            raise RefusedError(str(arrays["refused"]))
        return k * int(arrays["largest"][0])


CohesionsOf = Callable[[str], CohesionArrays]
"""Takes a score, and returns the cohesions at the cell's p."""
