"""S(e), how far a pair e of P̂ can change the counts, and the largest S(e) that counts for each vertex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from pcneo.counting.cliques import check_clique_size
from pcneo.counting.protected.listed import largest_listed
from pcneo.counting.protected.pairs import PAIRS, Protected
from pcneo.counting.protected.tiles import Tile, by_degree, tiles
from pcneo.errors import AnswerError, GraphError
from pcneo.kernels import protected as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.threads import run_ranges

__all__ = ["AFFORDABLE", "LISTED", "LargestSupports", "largest_shared", "largest_supports"]

AFFORDABLE = 20_000_000_000
"""Pairs to look at for exact supports with k >= 4, about a minute on one core, before falling back to the bound."""

LISTED = 10_000_000
"""The most edges of Ĝ for which exact supports with k >= 4 are tried; Ĝ is built for them, in 1 GB with two threads."""


@dataclass(frozen=True, eq=False)
class LargestSupports:
    """The largest S(e) that counts for each vertex; divided by ε they are the scales.

    Attributes:
        k: vertices of a clique.
        per_vertex: int64, shape (n,); the largest S(e) over the pairs e of P̂ that count for v, 0 where none does.
        exact: whether S(e) is k·support_k(e, Ĝ), and a pair counts for v if some k-clique of Ĝ has both. If not, S(e)
            is the bound k·C(cn(e, Ĝ), k-2), and e counts for its ends and all their common neighbours.
        looked: pairs looked at for exact supports; 0 if they were not tried.
    """

    k: int
    per_vertex: NDArray[np.int64]
    exact: bool
    looked: int = 0


def largest_supports(
    protected: Protected,
    k: int,
    *,
    shared: Callable[[], NDArray[np.int64]] | None = None,
    affordable: int = AFFORDABLE,
    listed: int = LISTED,
    concurrency: int | None = None,
) -> LargestSupports:
    """Return for each vertex the largest S(e) that counts for it.

    For k = 3 it is exact, and computed vertex by vertex. For k >= 4 it is exact unless Ĝ has more than `listed` edges
    or counting would look at more than `affordable` pairs of vertices. The choice follows from Ĝ and k, not from the
    graph, so it gives nothing away.

    Args:
        protected: P̂ and Ĝ.
        k: vertices of a clique, 3 or more.
        shared: returns what `largest_shared` does, for callers that keep it between sizes.
        affordable: pairs of vertices that may be looked at for k >= 4.
        listed: edges that Ĝ may have for k >= 4.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: k or concurrency is out of range.
        GraphError: an S(e) is 2^63 or more.
        AnswerError: the supports fail their check.
    """
    k, looked = check_clique_size(k), 0
    if k > 3 and protected.edge_count <= listed:
        supports, looked = largest_listed(protected, k, affordable, concurrency)
        if looked <= affordable:
            return LargestSupports(k, _sensitivities(supports, k), True, looked)
    most = shared() if shared else largest_shared(protected, concurrency=concurrency)
    # [critical-bound] C(cn, k-2) is never below the exact support, and the ends with all common neighbours include
    # every vertex that the pair counts for; for k = 3 both are exact.
    return LargestSupports(k, _sensitivities(most, k, through=k - 2), k == 3, looked)


def _sensitivities(supports: NDArray[np.int64], k: int, through: int = 1) -> NDArray[np.int64]:
    """Return k·C(s, through) for each s."""
    values, places = np.unique(supports, return_inverse=True)
    sensitivities = [k * comb(s, through) for s in values.tolist()]
    if sensitivities and sensitivities[-1] >= 2**63:
        raise GraphError(
            f"A connection inside a group may be in so many {k}-cliques that its effect on the counts does not fit "
            "64 bits; choose a smaller k, or the mechanism `edge`.",
            k=k,
        )
    return np.array(sensitivities, np.int64)[places]


def largest_shared(protected: Protected, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return for each vertex the most common neighbours in Ĝ of a pair of P̂ that counts for it: int64, shape (n,).

    A pair counts for its ends and for their common neighbours.

    Args:
        protected: P̂ and Ĝ.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: concurrency is out of range.
        AnswerError: the numbers fail their check.
    """
    n, degrees, order = protected.graph.vertex_count, protected.degrees, by_degree(protected)
    rank, largest, settled = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    rank[order] = np.arange(n)
    for tile in tiles(protected, order, largest, settled, concurrency):

        def find(memory: tuple[Marks, NDArray[np.int64]], first: int, last: int, tile: Tile = tile) -> None:
            kernels.raise_largest(
                protected.rows,
                order,
                rank,
                tile.start,
                first,
                last,
                degrees,
                tile.at,
                tile.rows,
                tile.opened,
                settled,
                *memory,
            )

        with compilation_announced(PAIRS):
            memories = run_ranges(
                protected.costs[order[: tile.stop]],
                lambda: (marks_for(n), largest.copy()),
                find,
                concurrency,
            )
        np.maximum.reduce([largest, *(of_thread for _, of_thread in memories)], out=largest)
    most = int(largest.max(initial=0))
    if most > 0 and np.count_nonzero(largest == most) < most + 2:
        raise AnswerError("The largest support is at too few vertices: a fault in pcneo; please report it.")
    return largest
