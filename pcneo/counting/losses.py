"""The loss of each pair of vertices at fixed scales (GUARANTEE.md#loss-of-one-connection).

For a pair e, connected or not, the loss is Σ_v Δ_v(e)/t_v, where Δ_v(e) is the number of k-cliques that contain v and
e, in the graph where e is an edge. It is infinite if an exact count changes. It does not include what finding the
scales costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.cliques import check_clique_size
from pcneo.errors import GraphError, ParameterError
from pcneo.kernels import cliques as clique_kernels
from pcneo.kernels import losses as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.degeneracy import Dag, by_core
from pcneo.kernels.threads import run_ranges

__all__ = ["AFFORDABLE", "ORDER_SEED", "PairLosses", "pair_losses"]

AFFORDABLE = 20_000_000_000
"""Steps for k >= 4, about a minute on one core, after which the losses are those of a sample of the pairs."""

ORDER_SEED = 1
"""Seeds the order in which pairs are taken for k >= 4. It decides which pairs a sample holds; reports name it."""

_FIRST_PART = 64  # pairs; each part is twice as long as the one before

_LOSSES = "the losses"

Ends = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairLosses:
    """The losses of all given pairs, or of a sample of them.

    Attributes:
        places: int64, ascending; the places of these pairs among the given ones.
        losses: float64, one per place; inf where an exact count changes.
        whole: whether these are all pairs. If not, they are the first in an order drawn with `ORDER_SEED`.
    """

    places: NDArray[np.int64]
    losses: NDArray[np.float64]
    whole: bool


def pair_losses(
    graph: Graph,
    sources: Ends,
    targets: Ends,
    k: int,
    rates: NDArray[np.float64],
    *,
    affordable: int = AFFORDABLE,
    concurrency: int | None = None,
) -> PairLosses:
    """Return the loss of each pair. With every rate 1 it is k·support_k(e), in the graph where e is an edge.

    Sums are doubles: a loss is off by about as many units in its last place as the pair has common neighbours.

    Args:
        graph: the graph.
        sources, targets: int64; the ends of each pair, by position, adjacent or not, never the same. For k = 3 it is
            fastest when pairs with the same source follow each other.
        k: vertices of a clique, 3 or more.
        rates: float64, shape (n,); 1/t_v, inf for an exact count.
        affordable: steps to take for k >= 4; pairs that are not done by then are left out. No limit for k = 3.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: k or concurrency is out of range, or pairs or rates do not fit the graph.
        GraphError: a pair is in 2^63 cliques or more.
    """
    k = check_clique_size(k)
    _check(graph, sources, targets, rates)
    if k == 3:
        return _triangle_losses(graph, sources, targets, rates, concurrency)
    common = _count_common(graph, sources, targets, concurrency)
    losses = np.zeros(len(sources))
    if common.max(initial=0) < k - 2:
        return PairLosses(np.arange(len(sources)), losses, True)
    walk = _Walk.over(graph, k, rates, concurrency)
    order = np.random.default_rng(ORDER_SEED).permutation(len(sources))
    done, length, left = 0, _FIRST_PART, affordable
    while done < len(order):
        part = order[done : done + length]
        part_losses, looked = walk.losses(sources[part], targets[part], common[part], left)
        left -= looked
        if left < 0:
            break
        losses[part] = part_losses
        done, length = done + len(part), 2 * length
    places = np.sort(order[:done])
    return PairLosses(places, losses[places], done == len(order))


def _check(graph: Graph, sources: Ends, targets: Ends, rates: NDArray[np.float64]) -> None:
    n = graph.vertex_count
    ends = np.concatenate((sources, targets))
    if len(sources) != len(targets) or ends.min(initial=0) < 0 or ends.max(initial=-1) >= n:
        raise ParameterError(f"The ends of the pairs must be positions from 0 to {n - 1}.", name="sources", value=None)
    if (sources == targets).any():
        raise ParameterError("A pair has two different ends.", name="targets", value=None)
    if len(rates) != n or not (rates >= 0).all():
        raise ParameterError(f"There must be a rate of 0 or more for each of {n} vertices.", name="rates", value=None)


def _triangle_losses(
    graph: Graph, sources: Ends, targets: Ends, rates: NDArray[np.float64], concurrency: int | None
) -> PairLosses:
    losses = np.zeros(len(sources))

    def find(_: None, start: int, end: int) -> None:
        kernels.triangle_losses(graph.offsets, graph.neighbours, sources, targets, rates, start, end, losses)

    degrees, costs = graph.degrees, np.ones(len(sources), np.int64)
    of_sources = np.add.reduceat(np.append(degrees[graph.neighbours], 0), graph.offsets[:-1]) * (degrees > 0)
    costs[:1] += of_sources[sources[:1]]
    costs[1:] += of_sources[sources[1:]] * (sources[1:] != sources[:-1])
    with compilation_announced(_LOSSES):
        run_ranges(costs, lambda: None, find, concurrency)
    return PairLosses(np.arange(len(sources)), losses, True)


def _degree_sums(graph: Graph, sources: Ends, targets: Ends) -> NDArray[np.int64]:
    degrees = graph.degrees
    return degrees[sources] + degrees[targets] + 1


def _count_common(graph: Graph, sources: Ends, targets: Ends, concurrency: int | None) -> NDArray[np.int64]:
    common = np.zeros(len(sources), np.int64)

    def count(_: None, start: int, end: int) -> None:
        kernels.count_common(graph.offsets, graph.neighbours, sources, targets, start, end, common)

    with compilation_announced(_LOSSES):
        run_ranges(_degree_sums(graph, sources, targets), lambda: None, count, concurrency)
    return common


@dataclass(frozen=True, eq=False)
class _Walk:
    """What every part of the losses for k >= 4 needs."""

    graph: Graph
    dag: Dag
    k: int
    rates: NDArray[np.float64]
    concurrency: int | None

    @classmethod
    def over(cls, graph: Graph, k: int, rates: NDArray[np.float64], concurrency: int | None) -> _Walk:
        with compilation_announced(_LOSSES):
            dag = by_core(graph.offsets, graph.neighbours)
        return cls(graph, dag, k, rates, concurrency)

    def losses(
        self, sources: Ends, targets: Ends, common: NDArray[np.int64], limit: int
    ) -> tuple[NDArray[np.float64], int]:
        """Return the losses, and the steps taken: more than `limit` if it gave up, and then the losses are meaningless.

        The total number of steps decides. It follows from pairs, graph and k, not from the number of threads.
        """
        graph, k, largest = self.graph, self.k, int(common.max(initial=0))
        losses = np.zeros(len(sources))
        chosen = clique_kernels.binomials(largest, k - 1)
        looked: list[int] = []

        def find(work: clique_kernels.Workspace, start: int, end: int) -> None:
            left = limit - sum(looked)
            if left < 0:
                return
            rows, pairs = (graph.offsets, graph.neighbours), (sources, targets, self.rates)
            fits, more = kernels.clique_losses(self.dag, k, *rows, *pairs, start, end, chosen, left, work, losses)
            looked.append(more)
            if not fits:
                raise GraphError(f"A pair is in more than {2**63 - 1:,} {k}-cliques; choose a smaller k.", k=k)

        with compilation_announced(_LOSSES):
            run_ranges(
                common**2 + _degree_sums(graph, sources, targets),
                lambda: clique_kernels.workspace(graph.vertex_count, largest, k - 1),
                find,
                self.concurrency,
            )
        return losses, sum(looked)
