"""One graph's minimal p-cohesions at one p and score, and all that cells need of them, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation import local_views
from evaluation.datasets import EvaluatedGraph
from evaluation.results_folder import Kept
from pcneo.config import __version__
from pcneo.counting import cliques, common_neighbours
from pcneo.counting.losses import pair_losses
from pcneo.counting.protected import Protected, largest_supports, protect, refused_memory
from pcneo.errors import GraphError
from pcneo.model import CohesionBatch
from pcneo.release.loss_summary import losses_inside
from pcneo.search import minimal_p_cohesions, search_batches

__all__ = ["REVISIONS", "GraphArrays", "RefusedError", "SetArrays", "Sets", "Told"]

Counts = NDArray[np.int64]

Told = Callable[[str], None]
"""Called with what is being computed."""

_LOSS_STEPS = 2_000_000_000  # for k >= 4; beyond, the losses of a sample of the pairs, drawn with the library's seed


REVISIONS = {
    "views": 1,
    "counts": 1,
    "common": 1,
    "supports": 1,
    "sets": 1,
    "phases": 1,
    "inside": 1,
    "critical": 1,
    "changes": 1,
    "connected": 1,
}
"""Of the arrays that are kept, by name without k: raise one when the same graph and cohesions would give others, and
with it the revisions of the cells that rest on it."""


class RefusedError(GraphError):
    """A mechanism that cannot be had here; the message says why."""


class _Arrays:
    """Arrays by name: taken from the folder, or computed and kept there."""

    def __init__(self, kept: Kept, stem: str, told: Told) -> None:
        self._kept, self._stem, self._told = kept, stem, told
        self._here: dict[str, Mapping[str, NDArray[Any]]] = {}

    def get(self, what: str, compute: Callable[[], Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
        if what not in self._here:
            name = f"{self._stem}-{what}-{__version__}-{REVISIONS[what.rstrip('0123456789')]}"
            found = self._kept.arrays(name)
            if found is None:
                self._told(what)
                found = compute()
                self._kept.keep_arrays(name, found)
            self._here[what] = found
        return self._here[what]


class GraphArrays:
    """What follows from a graph alone."""

    def __init__(self, evaluated: EvaluatedGraph, kept: Kept, told: Told) -> None:
        """Take the graph; nothing is computed before it is asked for."""
        self.evaluated, self.graph = evaluated, evaluated.graph
        self.kept, self.told = kept, lambda what: told(f"{evaluated.name}, {what}")
        self._arrays = _Arrays(kept, evaluated.content, self.told)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """Which vertices have a neighbour: the others are left out of figures of sizes and densities."""
        return self.graph.degrees > 0

    @cached_property
    def components(self) -> Counts:
        """Size of each vertex's component."""
        return local_views.component_sizes(self.graph)

    @property
    def view_sizes(self) -> Counts:
        """Vertices of each extended local view."""
        return self._arrays.get("views", self._views)["sizes"]

    @property
    def view_edges(self) -> Counts:
        """Edges of each extended local view."""
        return self._arrays.get("views", self._views)["edges"]

    def _views(self) -> dict[str, Counts]:
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

    def loss(self, k: int, rates: NDArray[np.float64]) -> tuple[float, bool]:
        """Return the largest loss over all connections at given rates, and whether all of them were looked at."""
        u, v = cliques.edge_ends(self.graph)
        found = pair_losses(self.graph, u, v, k, rates, affordable=_LOSS_STEPS)
        return float(found.losses.max(initial=0.0)), found.whole


class SetArrays:
    """What follows from the cohesions of one p and score.

    Attributes:
        of: the graph and what follows from it alone.
        vertices: positions of those whose cohesions these are, ascending.
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
        """Take the parameters; nothing is computed before it is asked for.

        Args:
            of: the graph.
            p, score: as the search takes them.
            sample: how many of the vertices with a neighbour are drawn; None for all vertices.
            seed: of the draw.
            stored: reads the cohesions of all vertices instead of searching for them.
            memberships: their hash, where they are stored: what is kept of them is not what is kept of others.
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
        held = f"-stored{memberships}" if memberships is not None else ""
        stem = f"{of.evaluated.content}-{p}-{score}{drawn}{held}"
        self._arrays = _Arrays(of.kept, stem, lambda what: of.told(f"p={p}, {score} score, {what}"))

    @cached_property
    def batch(self) -> CohesionBatch:
        """The cohesions with their members: the only part that is large, and never kept in a file."""
        if self._stored is not None:
            return self._stored()
        self.of.told(f"p={self.p}, {self.score} score, cohesions")
        vertices = self.vertices.tolist() if self._sampled else None
        return minimal_p_cohesions(self.of.graph, self.p, self.score, vertices=vertices)

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
        parts = [(b.sizes, b.edges) for b in search_batches(self.of.graph, self.p, self.score, vertices=vertices)]
        sizes, edges = (np.concatenate(each) for each in zip(*parts, strict=True))
        return {"sizes": sizes, "edges": edges}

    @property
    def inner_degrees(self) -> Counts:
        """deg(v, MC(v))."""
        return self._arrays.get("phases", self._phases)["degrees"]

    @property
    def inner_common(self) -> Counts:
        """cn_in(v)."""
        return self._arrays.get("phases", self._phases)["common"]

    def _phases(self) -> dict[str, Counts]:
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
        """P̂ and Ĝ.

        Raises:
            RefusedError: they are too large, as for a release.
        """
        needed = refused_memory(self.of.graph, self.batch, concurrency=1)  # the same on every machine
        if needed is not None:
            raise RefusedError(f"groups of {len(self.batch.members):,} members in all, about {needed / 1e9:.1f} GB")
        return protect(self.of.graph, self.batch)

    def supports(self, k: int) -> Counts:
        """Return the largest S(e) of each vertex for `critical`.

        Raises:
            RefusedError: `critical` cannot be had.
        """

        def compute() -> dict[str, NDArray[Any]]:
            try:
                return {"supports": largest_supports(self.protected, k).per_vertex}
            except GraphError as error:
                return {"refused": np.array(str(error))}

        found = self._arrays.get(f"critical{k}", compute)
        if "refused" in found:
            raise RefusedError(str(found["refused"]))
        return found["supports"]

    def loss_inside(self, k: int, rates: NDArray[np.float64]) -> tuple[float, bool]:
        """Return the largest loss over the pairs inside groups at given rates, and whether all were looked at.

        Raises:
            RefusedError: the groups are too large, as for a release.
        """
        found = losses_inside(self.of.graph, self.protected, k, rates, _LOSS_STEPS)
        return max((loss for _, _, loss in found.worst), default=0.0), found.counted == found.pairs

    def loss_of_connections(self, k: int, rates: NDArray[np.float64]) -> tuple[float, bool]:
        """Return the largest loss over the connections inside groups at given rates, and whether all were looked at.

        Raises:
            RefusedError: the groups are too large, as for a release.
        """
        u, v = (ends[self.protected.inside] for ends in cliques.edge_ends(self.of.graph))
        found = pair_losses(self.of.graph, u, v, k, rates, affordable=_LOSS_STEPS)
        return float(found.losses.max(initial=0.0)), found.whole

    @cached_property
    def connections_inside(self) -> frozenset[tuple[int, int]]:
        """The connections u < v inside groups.

        Raises:
            RefusedError: the groups are too large, as for a release.
        """
        u, v = (ends[self.protected.inside].tolist() for ends in cliques.edge_ends(self.of.graph))
        return frozenset(zip(u, v, strict=True))

    def largest_change(self, k: int) -> tuple[int, bool]:
        """Return the largest k·support_k(e) over the pairs inside groups, each made an edge, and whether over all.

        Raises:
            RefusedError: the groups are too large, as for a release.
        """

        return self._largest(f"changes{k}", lambda rates: self.loss_inside(k, rates))

    def largest_change_of_connections(self, k: int) -> tuple[int, bool]:
        """Return the largest k·support_k(e) over the connections inside groups, and whether over all of them.

        Raises:
            RefusedError: the groups are too large, as for a release.
        """
        return self._largest(f"connected{k}", lambda rates: self.loss_of_connections(k, rates))

    def _largest(self, what: str, loss: Callable[[NDArray[np.float64]], tuple[float, bool]]) -> tuple[int, bool]:
        """The largest loss at rates of 1, which is a whole number."""

        def compute() -> dict[str, NDArray[Any]]:
            try:
                largest, whole = loss(np.ones(self.of.graph.vertex_count))
            except RefusedError as error:
                return {"refused": np.array(str(error))}
            return {"largest": np.array([largest, whole])}

        found = self._arrays.get(what, compute)
        if "refused" in found:
            raise RefusedError(str(found["refused"]))
        return round(found["largest"][0]), bool(found["largest"][1])


Sets = Callable[[str], SetArrays]
"""Takes a score, and returns the cohesions at the p that is looked at."""
