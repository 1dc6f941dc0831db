"""Random graphs of awkward shapes, full of ties, as the twins and the package take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import naive
from hypothesis import strategies as st

from pcneo.basics.model import FoundCohesion, Graph, Key
from pcneo.basics.searches import Search
from pcneo.graph import graph_from_rows
from pcneo.search.frontier import Fetch, search_frontier

FRACTIONS = st.one_of(
    st.sampled_from([Fraction(p) for p in ("1/10", "3/10", "1/3", "1/2", "11/20", "2/3", "999/1000", "1/1000")]),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
)


def star(n: int) -> list[tuple[int, int]]:
    return [(0, v) for v in range(1, n)]


def path(n: int) -> list[tuple[int, int]]:
    return [(v, v + 1) for v in range(n - 1)]


def ring(n: int) -> list[tuple[int, int]]:
    return [*path(n), (0, n - 1)]


def clique(n: int) -> list[tuple[int, int]]:
    return [(a, b) for b in range(n) for a in range(b)]


def bipartite(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n // 2) for b in range(n // 2, n)]


@st.composite
def graphs(draw: st.DrawFn) -> naive.Graph:
    """Shapes full of ties beside one another, some joined by random edges, under shuffled identifiers."""
    edges: list[tuple[int, int]] = []
    size = 0
    for shape, n in draw(
        st.lists(
            st.tuples(st.sampled_from([star, path, ring, clique, bipartite]), st.integers(1, 8)), min_size=1, max_size=4
        )
    ):
        edges += [(a + size, b + size) for a, b in shape(n)]
        size += n
    vertex = st.integers(0, size - 1)
    edges += draw(st.lists(st.tuples(vertex, vertex), max_size=20))
    names = draw(st.permutations(range(size)))
    return naive.graph_of(((names[a], names[b]) for a, b in edges), isolated=names)


def arrays(graph: naive.Graph) -> Graph:
    return graph_from_rows((v, list(graph[v])) for v in graph)


def search_streamed(
    fetch: Fetch, vertices: Iterable[Key], search: Search, *, check: bool = False
) -> Iterator[FoundCohesion]:
    """What `search_frontier` yields, by key."""
    return (found for batch in search_frontier(fetch, vertices, search, check=check) for found in batch.cohesions())
