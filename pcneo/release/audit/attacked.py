"""What the fixed attacker finds in simulated releases of a graph at hand (GUARANTEE.md#the-attacker)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import pair_blocks
from pcneo.errors import ParameterError
from pcneo.privacy.attack import MOST_VERTICES, Attacker, Block, Seen, blocks
from pcneo.privacy.facts import Answers
from pcneo.privacy.mechanisms import Drawn, Mechanism, Respond
from pcneo.privacy.noise import Noise
from pcneo.privacy.randomised_response import Flips

__all__ = ["Attacked", "Exact", "attack_exact", "attack_release", "check_attackable", "release_errors"]

_PAIRS = 2**21  # inside groups that lie in memory together

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Attacked:
    """What the attacker finds in releases of one mechanism.

    Attributes:
        share: of connections among its m best pairs, with what is published.
        with_groups: the same where the groups are known too, as the promise takes them to be; None without groups.
        error: mean absolute error of a plain count of a vertex; None where none is published.
        biased_errors: that of clipped and of smoothed counts, by those names, where the mechanism was asked for them.
    """

    share: float
    with_groups: float | None
    error: float | None
    biased_errors: Mapping[str, float]


@dataclass(frozen=True)
class Exact:
    """What the attacker finds without any release: by guessing, with exact degrees, and with exact counts."""

    guessing: float
    degrees: float
    counts: float


def check_attackable(n: int) -> None:
    """Refuse, by the number of vertices alone, graphs whose pairs are too many to be ranked.

    Raises:
        ParameterError: there are more than 10,000 vertices, or fewer than two.
    """
    if not 2 <= n <= MOST_VERTICES:
        raise ParameterError(
            f"The attacker ranks all pairs of 2 to {MOST_VERTICES:,} vertices; the graph has {n:,}.", name="n", value=n
        )


def attack_exact(facts: CountedGraph, k: int) -> Exact:
    """Return what exact degrees, and exact counts, show on their own."""
    n = facts.vertex_count
    seen = (Seen(n), Seen(n, degrees=facts.degrees()), Seen(n, counts=facts.counts(k)))
    return Exact(*(_share(facts, view, None, None) for view in seen))


def attack_release(facts: CountedGraph, mechanism: Mechanism, noise: Noise, draws: int = 1) -> Attacked:
    """Simulate releases, and return what the attacker finds in them, on average.

    Args:
        facts: the graph, with groups where the mechanism rests on them.
        mechanism: with its parameters.
        noise: simulated.
        draws: how many releases, at least 1.

    Raises:
        ParameterError, GraphError: the mechanism is refused, as for a release.
    """
    together = _inside_groups(facts) if mechanism.needs_groups else None
    shares, grouped, errors = list[float](), list[float](), list[Mapping[str, float]]()
    for answers, drawn in _drawn(facts, mechanism, noise, draws):
        degrees = drawn.columns.get("degree")
        counts = drawn.counts if mechanism.counts_vertices else None
        seen = partial(_seen, facts.vertex_count, mechanism, answers, degrees, counts)
        shares.append(_share(facts, seen(grouped=False), answers, None))
        if together is not None:
            grouped.append(_share(facts, seen(grouped=True), answers, together))
        errors.append(_errors(facts, mechanism, drawn))
    means = _means(errors)
    error = means.pop("count", None)
    return Attacked(_mean(shares), _mean(grouped) if grouped else None, error, means)


def release_errors(facts: CountedGraph, mechanism: Mechanism, noise: Noise, draws: int = 1) -> dict[str, float]:
    """Simulate releases, attacked by nobody, and return mean absolute errors of a vertex's count, on average.

    Args:
        facts, mechanism, noise, draws: as for `attack_release`.

    Returns:
        By kind of count: `count` and, where the mechanism was asked for them, `clipped` and `smoothed`. Nothing where
        the mechanism publishes no counts of vertices.

    Raises:
        ParameterError, GraphError: the mechanism is refused, as for a release.
    """
    return _means([_errors(facts, mechanism, drawn) for _, drawn in _drawn(facts, mechanism, noise, draws)])


def _drawn(
    facts: CountedGraph, mechanism: Mechanism, noise: Noise, draws: int
) -> Iterator[tuple[Answers | None, Drawn]]:
    mechanism.check_drawable()
    scaling = mechanism.scaling(facts)
    for _ in range(draws):
        if isinstance(mechanism, Respond):
            answers = mechanism.answered(facts, noise)
            yield answers, mechanism.computed(answers)
        else:
            yield None, mechanism.draw(facts, scaling, noise)


def _errors(facts: CountedGraph, mechanism: Mechanism, drawn: Drawn) -> dict[str, float]:
    if not mechanism.counts_vertices:
        return {}
    exact = facts.counts(mechanism.k).astype(np.float64)
    biased = {name: drawn.columns[name] for name in ("clipped", "smoothed") if name in drawn.columns}
    released = {"count": drawn.counts, **biased}
    return {name: float(np.abs(np.array(values, np.float64) - exact).mean()) for name, values in released.items()}


def _means(errors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: _mean([of_one[name] for of_one in errors]) for name in errors[0]}


def _seen(
    n: int,
    mechanism: Mechanism,
    answers: Answers | None,
    degrees: Sequence[float] | None,
    counts: Sequence[float] | None,
    *,
    grouped: bool,
) -> Seen:
    if answers is None:
        return Seen(n, degrees=degrees, counts=counts, grouped=grouped)
    epsilon = float(mechanism.epsilon)
    flips = Flips(n, mechanism.threshold)
    return Seen(n, epsilon, flips, answers.degrees(), degrees, counts, grouped)


def _share(facts: CountedGraph, seen: Seen, answers: Answers | None, together: Flags | None) -> float:
    graph = facts.graph
    attacker = Attacker(seen, graph.edge_count)
    for first, last in blocks(graph.vertex_count) if seen.weights else ():
        x, y = np.nonzero(np.arange(graph.vertex_count) > np.arange(first, last)[:, None])
        yes = None if answers is None else _unpacked(answers.rows[first:last], graph.vertex_count)[x, y]
        attacker.look(
            Block(
                x=x + first,
                y=y,
                connected=_connected(graph, first, last)[x, y],
                yes=yes,
                shared=None if answers is None else answers.shared(first, last)[x, y],
                together=None if together is None else together[first:last][x, y],
            )
        )
    return attacker.share


def _connected(graph: Graph, first: int, last: int) -> Flags:
    rows = np.zeros((last - first, graph.vertex_count), np.bool_)
    row = np.repeat(np.arange(last - first), graph.degrees[first:last])
    rows[row, graph.neighbours[graph.offsets[first] : graph.offsets[last]]] = True
    return rows


def _unpacked(rows: NDArray[np.uint64], n: int) -> Flags:
    bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little", count=n)
    return bits.astype(np.bool_)


def _inside_groups(facts: CountedGraph) -> Flags:
    """Whether two vertices lie in one group: shape (n, n)."""
    together = np.zeros((facts.vertex_count, facts.vertex_count), np.bool_)
    for u, v in pair_blocks(facts.protected(), most=_PAIRS):
        together[u, v] = together[v, u] = True
    return together


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
