"""Cohesions that the plain twin once found: the search is compared with them every time, the twin under `--thorough`.

`python tests/recorded.py` makes the file again, which takes minutes; any difference is a change in what is computed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from places import ROOT

sys.path[:0] = [str(ROOT / "scripts")] if __name__ == "__main__" else []

import naive  # noqa: E402
import numpy as np  # noqa: E402
from benchmarks.graphs import made_graph  # noqa: E402

from pcneo.face.first_steps import sample_path  # noqa: E402

FILE = ROOT / "tests" / "golden" / "cohesions.npz"
SEARCHES = ("smallest", "density", "degree")
CASES = [("friends", "0.1"), ("friends", "0.3"), ("made", "0.1"), ("made", "0.3")]
SAMPLE = 300
"""Vertices of the made graph, which has hubs and closed wedges; of the shipped friendships all are recorded."""


@cache
def graph(name: str) -> naive.Graph:
    """The shipped friendships, or a made graph of some thousands of edges."""
    if name == "friends":
        return naive.read_edges(sample_path())
    n, u, v = made_graph(20_000, 1)
    return naive.graph_of(zip(u.tolist(), v.tolist(), strict=True), isolated=range(n))


def vertices(name: str, search: str) -> list[int]:
    """Those recorded, in ascending order; of `smallest`, whose twin takes a second for some, every thirtieth."""
    everybody = sorted(graph(name))
    chosen = everybody if name == "friends" else sorted(random.Random(1).sample(everybody, SAMPLE))
    return chosen[::30] if search == "smallest" else chosen


def twin(name: str, p: str, search: str, vertex: int) -> set[int]:
    """What the twin finds now."""
    if search == "smallest":
        return naive.smallest_p_cohesion(graph(name), Fraction(p), vertex)[0]
    return naive.minimal_p_cohesion(graph(name), Fraction(p), vertex, search)


def twins(name: str, p: str, search: str) -> Iterator[tuple[int, set[int]]]:
    """The same for every vertex that is recorded."""
    for vertex in vertices(name, search):
        yield vertex, twin(name, p, search, vertex)


def recorded(name: str, p: str, search: str) -> dict[int, set[int]]:
    """What the twin found when the file was made."""
    with np.load(FILE) as arrays:
        sizes, members = arrays[f"{name} {p} {search} sizes"], arrays[f"{name} {p} {search} members"]
    groups = np.split(members, np.cumsum(sizes)[:-1])
    return {vertex: set(group.tolist()) for vertex, group in zip(vertices(name, search), groups, strict=True)}


def make() -> None:
    """Write the file anew."""
    arrays: dict[str, np.ndarray] = {}
    for name, p in CASES:
        for search in SEARCHES:
            groups = [sorted(members) for _, members in twins(name, p, search)]
            arrays[f"{name} {p} {search} sizes"] = np.array([len(group) for group in groups], np.uint16)
            arrays[f"{name} {p} {search} members"] = np.array([v for group in groups for v in group], np.uint16)
            print(name, p, search, sum(map(len, groups)), "memberships", flush=True)
    np.savez_compressed(FILE, **arrays)  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    make()
