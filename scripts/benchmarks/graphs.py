"""The graphs of the benchmark: one from a file, and generated ones of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXPONENT = 2.5
"""The exponent of the power laws for group sizes and for the number of groups of a vertex."""
NEAR = 300
"""The standard deviation of the distance between members of a group, in vertices."""


def read_graph(path: Path) -> Any:
    """Read an edge list into pcneo's arrays."""
    from pcneo.graph import graph_from_edges
    from pcneo.graph.files import read_graph_file

    file = read_graph_file(path)
    keys = file.keys.tolist()
    return graph_from_edges(keys, file.keys[file.sources].tolist(), file.keys[file.targets].tolist())


def edge_list(graph: Any) -> list[tuple[int, int]]:
    """Return the edges as a list of pairs of positions, for libraries that need one."""
    from pcneo.counting.cliques import edge_ends

    u, v = edge_ends(graph)
    return list(zip(u.tolist(), v.tolist(), strict=True))


def as_arrays(vertices: int, u: NDArray[np.int64], v: NDArray[np.int64]) -> Any:
    """Return a made graph as pcneo's arrays; its keys are 0 to n-1."""
    from pcneo.basics.model import Graph
    from pcneo.graph.arrays import compress

    return Graph(np.arange(vertices), *compress(np.concatenate((u, v)), np.concatenate((v, u)), vertices))


def as_sets(graph: Any) -> list[set[int]]:
    """Return the neighbours of each vertex as a set."""
    rows = np.split(graph.neighbours, graph.offsets[1:-1])
    return [set(row.tolist()) for row in rows]


def made_graph(edges: int, seed: int, far: float = 0.1) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Make a graph whose degrees follow a power law and whose neighbours know each other.

    Vertices join groups whose members are all connected, like the authors of a paper, households or classes. The number
    of groups of a vertex and the number of vertices of a group are drawn from power laws (exponent 2.5, groups of 2 to
    30). Members of a group live near each other on a line, except for a share that come from anywhere. On average,
    nearly half of the wedges at a vertex are closed.

    Args:
        edges: about how many edges to make; repeated ones, a tenth or less, count once.
        seed: of numpy's generator; the same arguments and version of numpy make the same graph.
        far: the share of group members that come from anywhere.

    Returns:
        The number of vertices n, and the ends u < v of the edges, ascending: int64, shape (m,).
    """
    random = np.random.default_rng(seed)
    sizes = np.arange(2, 31)
    pairs = float((_weights(sizes) * sizes * (sizes - 1)).sum()) / 2  # of an average group
    sizes = _power_law(random, max(1, round(edges / pairs)), 2, 30)
    # The places in all groups are dealt like cards: a vertex gets as many as the groups it joins.
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
    """Draw integers from `least` to `most` from a power law with EXPONENT."""
    values = np.arange(least, most + 1)
    return random.choice(values, count, p=_weights(values))


def _weights(values: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = values.astype(np.float64) ** -EXPONENT
    return weights / weights.sum()


def _pairs(
    members: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of members of a group, for all groups, size by size."""
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
