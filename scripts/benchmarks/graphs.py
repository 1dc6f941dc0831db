"""The graphs that are measured on: one from a file, and one that is made as large as wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_sets", "edge_list", "made_graph", "read_graph", "write_edges"]

EXPONENT = 2.5
"""Of the power law of group sizes and of how many groups a vertex joins."""
NEAR = 300
"""How far from each other those live who meet in a group: the standard deviation, in vertices."""


def read_graph(path: Path) -> Any:
    """Read an edge list into pcneo's arrays."""
    from pcneo import graph_from_edges
    from pcneo.graph.files import read_graph_file

    file = read_graph_file(path)
    keys = file.keys.tolist()
    return graph_from_edges(keys, file.keys[file.sources].tolist(), file.keys[file.targets].tolist())


def edge_list(graph: Any) -> list[tuple[int, int]]:
    """Return the edges, as positions, for a library that wants a list of pairs."""
    from pcneo.counting.cliques import edge_ends

    u, v = edge_ends(graph)
    return list(zip(u.tolist(), v.tolist(), strict=True))


def as_sets(graph: Any) -> list[set[int]]:
    """Return the neighbours of each vertex as a set."""
    rows = np.split(graph.neighbours, graph.offsets[1:-1])
    return [set(row.tolist()) for row in rows]


def made_graph(edges: int, seed: int, far: float = 0.1) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Make a graph whose degrees follow a power law and whose neighbours know each other.

    Vertices join groups, everybody with everybody: papers and authors, households, classes. How many groups a
    vertex joins and how many vertices a group has are both drawn from power laws (exponent 2.5, groups of 2 to 30). Who
    meets in a group lives near each other on a line, but for a share that comes from anywhere. Nearly half of all
    wedges at a vertex are closed, on average.

    Args:
        edges: about how many edges there shall be; those that repeat others, a tenth or less, count once.
        seed: of numpy's generator; the same arguments and numpy make the same graph.
        far: the share of places in groups that are taken from anywhere.

    Returns:
        The number of vertices n, and the ends u < v of the edges, ascending: int64, shape (m,).
    """
    random = np.random.default_rng(seed)
    sizes = np.arange(2, 31)
    pairs = float((_weights(sizes) * sizes * (sizes - 1)).sum()) / 2  # of a group, on average
    sizes = _power_law(random, max(1, round(edges / pairs)), 2, 30)
    # The places of all groups are dealt to the vertices: each has as many cards as it joins groups.
    places = int(sizes.sum())
    joins = _power_law(random, places, 1, max(2, int(places**0.45)))
    n = int(np.searchsorted(np.cumsum(joins), places)) + 1
    cards = np.repeat(np.arange(n), joins[:n])[:places]
    lives = np.where(random.random(places) < far, n * random.random(places), cards + random.normal(0, NEAR, places))
    members = cards[np.argsort(lives)]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    u, v = _pairs(members, starts, sizes)
    codes = np.unique((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
    return n, *np.divmod(codes, n)


def _power_law(random: np.random.Generator, count: int, least: int, most: int) -> NDArray[np.int64]:
    """Draw integers from `least` to `most` whose frequency falls with the power EXPONENT."""
    values = np.arange(least, most + 1)
    return random.choice(values, count, p=_weights(values))


def _weights(values: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = values.astype(np.float64) ** -EXPONENT
    return weights / weights.sum()


def _pairs(
    members: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of members of one group, the groups of each size at once."""
    tails, heads = [], []
    for size in np.unique(sizes).tolist():
        rows = members[starts[:-1][sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        tails.append(rows[:, a].ravel())
        heads.append(rows[:, b].ravel())
    return np.concatenate(tails), np.concatenate(heads)


def write_edges(path: Path, u: NDArray[np.int64], v: NDArray[np.int64]) -> None:
    """Write an edge list, a million lines at a time."""
    with path.open("w") as file:
        for start in range(0, len(u), 1_000_000):
            pairs = zip(u[start : start + 1_000_000].tolist(), v[start : start + 1_000_000].tolist(), strict=True)
            file.writelines(f"{a} {b}\n" for a, b in pairs)
