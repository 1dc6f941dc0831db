"""The obvious twins: what pcneo computes, written plainly from the definitions, sharing no code with it.

A graph is a dict from each vertex to the set of its neighbours. Vertices are compared as they are: `<` on integers by
value, on strings by code point. `p` is a `Fraction`. ALGORITHM.md#expand
and the headings around it say what is computed, GUARANTEE.md#critical what is protected.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

Vertex = Any  # an integer or a string; within a graph all are of one kind, and so can be compared
Graph = dict[Vertex, set[Vertex]]
Edge = tuple[Vertex, Vertex]


def graph_of(edges: Iterable[Edge], isolated: Iterable[Vertex] = ()) -> Graph:
    """ALGORITHM.md#the-graph: direction ignored, parallel edges counted once, self-loops dropped."""
    graph: Graph = {v: set() for v in isolated}
    for a, b in edges:
        graph.setdefault(a, set())
        graph.setdefault(b, set())
        if a != b:
            graph[a].add(b)
            graph[b].add(a)
    return graph


def read_edges(path: Path) -> Graph:
    """A gzipped edge list, `a b` a line, integer vertices."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return graph_of((int(a), int(b)) for a, b in (line.split() for line in lines if not line.startswith("#")))


def need(graph: Graph, p: Fraction, v: Vertex) -> int:
    """ALGORITHM.md#p-cohesion: the least number of v's neighbours that must be inside."""
    return math.ceil(p * len(graph[v]))


# --- Expand and its scores (ALGORITHM.md#expand, ALGORITHM.md#scores)


class Expansion:
    """The growing set P, with in(v) for every v, who of P lacks neighbours, and the join order."""

    def __init__(self, graph: Graph, p: Fraction, q: Vertex) -> None:
        self.graph = graph
        self.p = p
        self.q = q
        self.needs: dict[Vertex, int] = {}
        self.inside: Counter[Vertex] = Counter()
        self.members: set[Vertex] = set()
        self.lacking: set[Vertex] = set()
        self.order: list[Vertex] = []
        self.join(q)

    def need(self, v: Vertex) -> int:
        if v not in self.needs:
            self.needs[v] = need(self.graph, self.p, v)
        return self.needs[v]

    def join(self, v: Vertex) -> None:
        self.order.append(v)
        self.members.add(v)
        self.inside.update(self.graph[v])
        self.lacking = {u for u in self.lacking | {v} if self.inside[u] < self.need(u)}


def density_score(state: Expansion, w: Vertex) -> float:
    """The paper's equations 8 to 10 with the choices of ALGORITHM.md#scores, in the doubles it names."""
    neighbours = state.graph[w]
    degree, inside = len(neighbours), state.inside[w]
    lacks = max(0, state.need(w) - inside)
    common = len(neighbours & state.graph[state.q] & state.members)
    helped = len(neighbours & state.lacking)
    helpers = sorted((state.inside[o] for o in neighbours - state.members), reverse=True)[:lacks]
    merit = float(inside * common * helped) / float(degree**3)
    penalty = float(lacks) / float(max(1, sum(helpers)))
    return merit - penalty


def degree_score(state: Expansion, w: Vertex) -> float:
    """The reconstructed score of the 2021 paper: members helped less neighbours lacked."""
    return len(state.graph[w] & state.lacking) - max(0, state.need(w) - state.inside[w])


SCORES: dict[str, Callable[[Expansion, Vertex], float]] = {"density": density_score, "degree": degree_score}


def expansion_steps(graph: Graph, p: Fraction, q: Vertex, score: str = "density") -> Iterator[list[Vertex]]:
    """Algorithm 1, a step at a time: the vertices that join, in the order in which they join."""
    state = Expansion(graph, p, q)
    while state.lacking:
        v = min(state.lacking, key=lambda u: (-state.inside[u], u))
        b = state.need(v) - state.inside[v]
        scores = {w: SCORES[score](state, w) for w in graph[v] - state.members}
        chosen = sorted(scores, key=lambda w: (-scores[w], w))[:b]
        for w in chosen:
            state.join(w)
        yield chosen


def expand(graph: Graph, p: Fraction, q: Vertex, score: str = "density") -> list[Vertex]:
    """Algorithm 1: P in join order."""
    return [q, *(w for step in expansion_steps(graph, p, q, score) for w in step)]


# --- Shrink and the independent check (ALGORITHM.md#shrink, ALGORITHM.md#the-independent-check)


def shrink(graph: Graph, p: Fraction, order: list[Vertex]) -> set[Vertex]:
    """Algorithm 2, last joined first; `order[0]` is the queried vertex."""
    needs = {v: need(graph, p, v) for v in order}
    group, must = set(order), {order[0]}
    inside = {v: len(graph[v] & group) for v in order}
    for v in reversed(order[1:]):
        if v not in group:
            continue
        degrees, left, leaving = dict(inside), group - {v}, [v]
        while leaving:
            for w in graph[leaving.pop()] & left:
                degrees[w] -= 1
                if degrees[w] < needs[w]:
                    left.remove(w)
                    leaving.append(w)
        if must <= left:
            group, inside = left, degrees
        else:
            must.add(v)
    return group


def minimal_p_cohesion(graph: Graph, p: Fraction, q: Vertex, score: str = "density") -> set[Vertex]:
    """MC(q): expand, then shrink."""
    return shrink(graph, p, expand(graph, p, q, score))


def peel(graph: Graph, p: Fraction, vertices: set[Vertex]) -> set[Vertex]:
    """The largest subset in which every vertex has its need: whoever lacks leaves until nobody does."""
    group = set(vertices)
    while lacking := {v for v in group if len(graph[v] & group) < need(graph, p, v)}:
        group -= lacking
    return group


def is_connected(graph: Graph, group: set[Vertex]) -> bool:
    """Whether every vertex of the group can be reached inside it."""
    if not group:
        return False
    start = next(iter(group))
    seen, queue = {start}, deque([start])
    while queue:
        new = (graph[queue.popleft()] & group) - seen
        seen |= new
        queue.extend(new)
    return seen == group


def is_p_cohesion(graph: Graph, p: Fraction, group: set[Vertex]) -> bool:
    """ALGORITHM.md#p-cohesion: connected, and every vertex has its need inside."""
    return is_connected(graph, group) and peel(graph, p, group) == group


def is_minimal_p_cohesion(graph: Graph, p: Fraction, q: Vertex, group: set[Vertex]) -> bool:
    """The independent check: a p-cohesion with q, and without any other vertex the rest loses q."""
    return (
        q in group and is_p_cohesion(graph, p, group) and all(q not in peel(graph, p, group - {v}) for v in group - {q})
    )


def smallest_p_cohesions(graph: Graph, p: Fraction, q: Vertex) -> list[set[Vertex]]:
    """Every smallest p-cohesion that contains q, by trying all vertex sets; for a dozen vertices."""
    others = sorted(set(graph) - {q})
    for size in range(len(graph)):
        smallest = [group for rest in combinations(others, size) if is_p_cohesion(graph, p, group := {q, *rest})]
        if smallest:
            return smallest
    return []


# --- The extended local view, cliques (ALGORITHM.md#extended-local-view, ALGORITHM.md#clique-counts)


def extended_local_view(graph: Graph, v: Vertex) -> Graph:
    """Vertices within two hops of v, and every edge that touches v or a neighbour of v."""
    near = {v} | graph[v]
    return graph_of(((a, b) for a in near for b in graph[a]), isolated=[v])


def cliques(graph: Graph, k: int) -> list[frozenset[Vertex]]:
    """Every k-clique: a vertex with any k - 1 of its larger neighbours, all of which are adjacent."""
    return [
        frozenset((v, *rest))
        for v in sorted(graph)
        for rest in combinations(sorted(w for w in graph[v] if v < w), k - 1)
        if all(b in graph[a] for a, b in combinations(rest, 2))
    ]


def clique_counts(graph: Graph, k: int) -> dict[Vertex, int]:
    """Γ(v): the number of k-cliques that contain v."""
    counts = Counter(v for clique in cliques(graph, k) for v in clique)
    return {v: counts[v] for v in graph}


def clique_counts_inside(graph: Graph, k: int, cohesions: dict[Vertex, set[Vertex]]) -> dict[Vertex, int]:
    """Γ_in(v): those whose vertices all lie in MC(v)."""
    every_clique = cliques(graph, k)
    return {v: sum(v in clique and clique <= group for clique in every_clique) for v, group in cohesions.items()}


def largest_common_inside(graph: Graph, v: Vertex, group: set[Vertex]) -> int:
    """cn_in(v): the most common neighbours inside the group of v and another member, adjacent or not."""
    return max((len(graph[v] & graph[u] & group) for u in group - {v}), default=0)


def clique_support(graph: Graph, k: int, edge: Edge) -> int:
    """support_k(e): the number of k-cliques that contain both ends."""
    return sum(set(edge) <= clique for clique in cliques(graph, k))


def largest_common(graph: Graph, v: Vertex) -> int:
    """c(v): the most common neighbours of v and any other vertex, adjacent or not."""
    return max((len(graph[v] & graph[u]) for u in graph if u != v), default=0)


# --- GUARANTEE.md#critical: the pairs inside groups, and what they can change


def pairs_inside(groups: Iterable[Iterable[Vertex]]) -> set[Edge]:
    """P̂: all pairs of vertices inside some group, the smaller first."""
    return {pair for group in groups for pair in combinations(sorted(set(group)), 2)}


def with_pairs(graph: Graph, pairs: Iterable[Edge]) -> Graph:
    """Ĝ: the graph with an edge at every pair."""
    edges = [(a, b) for a in graph for b in graph[a]]
    return graph_of([*edges, *pairs], isolated=graph)


def sensitivities(graph: Graph, k: int, pairs: set[Edge]) -> dict[Edge, int]:
    """S(e) = k·support_k(e, Ĝ) for each pair."""
    closed = with_pairs(graph, pairs)
    return {pair: k * clique_support(closed, k, pair) for pair in pairs}


def largest_sensitivity(graph: Graph, k: int, pairs: set[Edge]) -> dict[Vertex, int]:
    """For each vertex the largest S(e) of a pair that is in one k-clique of Ĝ with it, 0 where there is none."""
    effect = sensitivities(graph, k, pairs)
    every_clique = cliques(with_pairs(graph, pairs), k)
    of_cliques = [(clique, effect[e]) for e in pairs for clique in every_clique if set(e) <= clique]
    return {v: max((change for clique, change in of_cliques if v in clique), default=0) for v in graph}


def bounded_sensitivity(graph: Graph, k: int, pairs: set[Edge]) -> tuple[dict[Edge, int], dict[Vertex, int]]:
    """The bound k·C(cn(e, Ĝ), k-2) for each pair, and the largest at each vertex; e counts for ends and common ones."""
    closed = with_pairs(graph, pairs)
    effect = {(a, b): k * math.comb(len(closed[a] & closed[b]), k - 2) for a, b in pairs}
    largest = dict.fromkeys(graph, 0)
    for a, b in pairs:
        for v in {a, b} | (closed[a] & closed[b]):
            largest[v] = max(largest[v], effect[a, b])
    return effect, largest


# --- Randomised response (GUARANTEE.md#respond)


def flip_chance(epsilon: Fraction) -> Fraction:
    """ceil(2^24/(1+e^ε))/2^24, with e^ε between two fractions; they must agree."""
    # e^ε = (e^(ε/s))^s; the terms left out of a Taylor series at x <= 1 sum up to less than its last term.
    s = max(1, math.ceil(epsilon))
    terms = [(epsilon / s) ** i / math.factorial(i) for i in range(45)]
    low, high = sum(terms) ** s, (sum(terms) + terms[-1]) ** s
    (a,) = {math.ceil(2**24 / (1 + power)) for power in (low, high)}
    return Fraction(a, 2**24)


def answering_end(x: Vertex, y: Vertex) -> Vertex:
    """Which of two vertices answers for their pair: the smaller key if their parities differ, else the larger one.

    The parity of an integer is that of its last decimal digit; that of text, of the number of odd bytes in UTF-8.
    """

    def is_odd(key: Vertex) -> bool:
        if isinstance(key, str):
            return len([byte for byte in key.encode() if byte % 2 == 1]) % 2 == 1
        return str(key)[-1] in "13579"

    smaller, larger = (x, y) if x < y else (y, x)
    return smaller if is_odd(x) != is_odd(y) else larger


def answers_probability(graph: Graph, yes: Graph, f: Fraction) -> Fraction:
    """The probability that randomised response answers yes for exactly the pairs that `yes` connects."""
    flipped = [(b in graph[a]) != (b in yes[a]) for a, b in combinations(sorted(graph), 2)]
    return math.prod((f if flip else 1 - f for flip in flipped), start=Fraction(1))


def debiased(yes: Graph, f: Fraction, a: Vertex, b: Vertex) -> Fraction:
    """1 or 0 as answered, made unbiased for whether a and b are connected."""
    return ((b in yes[a]) - f) / (1 - 2 * f)


def counts_from_answers(yes: Graph, k: int, f: Fraction, v: Vertex) -> Fraction:
    """The sum over all k-1 other vertices of the products of what is unbiased for each pair, (h - f)/(1 - 2f)."""
    p, q = f.numerator, f.denominator
    products = (
        math.prod(q * (b in yes[a]) - p for a, b in combinations((v, *others), 2))
        for others in combinations([u for u in yes if u != v], k - 1)
    )
    return Fraction(sum(products), (q - 2 * p) ** math.comb(k, 2))


def sharing_pairs(yes: Graph, f: Fraction) -> set[frozenset[Vertex]]:
    """The yes-answers whose ends have two yes-neighbours more in common than flips alone are expected to give."""
    least = f * f * (len(yes) - 2) + 2
    return {frozenset((a, b)) for a in yes for b in yes[a] if len(yes[a] & yes[b]) >= least}


def answer_variance(f: Fraction) -> Fraction:
    """The variance that one answer adds."""
    return f * (1 - f) / (1 - 2 * f) ** 2


def variance_of_triangles(graph: Graph, f: Fraction, w: Vertex) -> Fraction:
    """Of the unbiased count of triangles at w, in closed form."""
    n, d, v = len(graph), len(graph[w]), answer_variance(f)
    m = sum(map(len, graph.values())) // 2
    shared = sum(len(graph[w] & graph[x]) ** 2 for x in graph if x != w)
    return v * (math.comb(d, 2) + shared) + v**2 * ((n - 2) * d + m - d) + v**3 * math.comb(n - 1, 2)


def variance_of_all_triangles(graph: Graph, f: Fraction) -> Fraction:
    """Of the unbiased count of all triangles, in closed form."""
    n, v = len(graph), answer_variance(f)
    m = sum(map(len, graph.values())) // 2
    shared = sum(len(graph[a] & graph[b]) ** 2 for a, b in combinations(graph, 2))
    return v * shared + v**2 * m * (n - 2) + v**3 * math.comb(n, 3)


def smoothed(counts: list[float], degrees: list[float], least: list[float], largest: list[float]) -> list[float]:
    """Each count drawn towards the mean of its part of vertices of like degree, then cut to 0 .. largest."""
    n = len(counts)
    order = sorted(range(n), key=lambda v: (degrees[v], v))
    parts = max(4, min(60, n // 40))
    drawn = list(counts)
    begin = 0
    for i in range(parts):
        part = order[begin : begin + n // parts + (i < n % parts)]
        begin += len(part)
        if not part:
            continue
        weight = sum(1 / least[v] for v in part)
        mean = sum(counts[v] / least[v] for v in part) / weight
        mean = min(max(mean, 0), sum(largest[v] for v in part) / len(part))
        spread = max(0, sum(((counts[v] - mean) ** 2 - least[v]) / least[v] for v in part) / weight)
        for v in part:
            drawn[v] = mean + spread / (spread + least[v]) * (counts[v] - mean)
    return [min(max(x, 0), most) for x, most in zip(drawn, largest, strict=True)]


def modelled(degrees: Sequence[int], k: int, total: int) -> list[float]:
    """`k·total` shared out by max(D, 0)^(k/2)."""
    weights = [max(D, 0) ** (k / 2) for D in degrees]
    return [k * max(total, 0) * w / sum(weights) if sum(weights) else 0.0 for w in weights]


def class_count(degrees: Sequence[int], k: int, scale: Fraction) -> int:
    """How many classes are told apart where the sum over each gets noise of this scale."""
    at_most = sum(math.comb(max(D, 0), k - 1) for D in degrees)
    many = max(m for m in range(11) if at_most >= 24 * scale * m)
    return 0 if many < 5 else many


def degree_classes(degrees: Sequence[int], k: int, count: int) -> list[list[int]]:
    """Vertices by degree, cut where the weights so far reach a part of all."""
    order = sorted(range(len(degrees)), key=lambda v: (max(degrees[v], 0), v))
    so_far = list(accumulate(max(degrees[v], 0) ** (k / 2) for v in order))
    classes: list[list[int]] = [[] for _ in range(count)]
    for v, reached in zip(order, so_far, strict=True):
        classes[sum(reached >= so_far[-1] * j / count for j in range(1, count))].append(v)
    return classes


def drawn_to_classes(
    counts: Sequence[float], classes: Sequence[Sequence[int]], sums: Sequence[int], variance: float
) -> list[float]:
    """Counts whose sum in each class is drawn towards the published one, the more the less noise explains."""
    held = [sum(counts[v] for v in members) for members in classes]
    away = [s - h for s, h in zip(sums, held, strict=True)]
    spread = max(0.0, sum(a * a for a in away) / len(away) - variance)
    drawn = list(counts)
    for members, h, a in zip(classes, held, away, strict=True):
        for v in members:
            drawn[v] = counts[v] * max(0.0, h + spread / (spread + variance) * a) / h if h > 0 else 0.0
    return drawn
