"""S(e), by how much a pair e of P̂ can change the counts, and the largest for each vertex."""

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
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.running import compilation_announced, run_ranges

__all__ = ["AFFORDABLE", "LISTED", "LargestSupports", "largest_shared", "largest_supports"]

AFFORDABLE = 20_000_000_000
"""Pairs that exact supports for k >= 4 may look at before the bound is taken: about a minute of one core."""

LISTED = 10_000_000
"""Edges of Ĝ up to which exact supports for k >= 4 are tried, for which it is built: 1 GB at most with two threads."""


@dataclass(frozen=True, eq=False)
class LargestSupports:
    """What each vertex meets of S(e); divided by ε they are the scales.

    Attributes:
        k: vertices of a clique.
        per_vertex: int64, shape (n,); the largest S(e) over the pairs e of P̂ that count for v, 0 where none does.
        exact: whether S(e) is k·support_k(e, Ĝ), and the pairs that count for v are those in some k-clique of Ĝ with v.
            If not, S(e) is the bound k·C(cn(e, Ĝ), k-2), and e counts for its ends and all their common neighbours.
        looked: pairs looked at for exact supports; 0 where none were tried.
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

    For k = 3 it is exact: pairs are passed over vertex by vertex. For k >= 4 it is exact unless Ĝ has more than
    `listed` edges or counting would look at more than `affordable` pairs of vertices. All this follows from Ĝ and k,
    not from the graph, so that the choice gives nothing away.

    Args:
        protected: P̂ and Ĝ.
        k: vertices of a clique, 3 or more.
        shared: returns what `largest_shared` does, for callers that keep it.
        affordable: pairs of vertices that may be looked at for k >= 4.
        listed: edges that Ĝ may have for k >= 4.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: k or concurrency is out of range.
        GraphError: an S(e) is 2^63 or more.
        AnswerError: the supports do not add up.
    """
    k, looked = check_clique_size(k), 0
    if k > 3 and protected.edge_count <= listed:
        supports, looked = largest_listed(protected, k, affordable, concurrency)
        if looked <= affordable:
            return LargestSupports(k, _sensitivities(supports, k), True, looked)
    most = shared() if shared else largest_shared(protected, concurrency=concurrency)
    # [critical-bound] Neither C(cn, k-2) nor the ends with all common neighbours are less than what is exact; for k = 3
    # both are just that.
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
    """Return for each vertex the most common neighbours in Ĝ of a pair of P̂ that it is an end or one of: int64, (n,).

    Args:
        protected: P̂ and Ĝ.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: concurrency is out of range.
        AnswerError: the answer cannot be right.
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
