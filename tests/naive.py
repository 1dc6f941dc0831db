"""The obvious twins: what pcneo computes, written plainly from the definitions, sharing no code with it.

A graph is a dict from each vertex to the set of its neighbours. Vertices are compared as they are: `<` on integers by
value, on strings by code point. `p` is a `Fraction`. ALGORITHM.md#expand
and the headings around it define what is computed, GUARANTEE.md#critical what is protected.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, chain, combinations
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


# --- The search `smallest` (ALGORITHM.md#smallest)


def edges_inside(graph: Graph, group: set[Vertex]) -> int:
    return sum(len(graph[v] & group) for v in group) // 2


def closeness(graph: Graph, group: set[Vertex]) -> int:
    """The sum over the edges inside of floor(2^32 times shared over joint neighbours)."""
    edges = [(a, b) for a in group for b in graph[a] & group if a < b]
    return sum(2**32 * len(graph[a] & graph[b]) // len(graph[a] | graph[b]) for a, b in edges)


def rank(graph: Graph, group: set[Vertex]) -> tuple[Any, ...]:
    """ALGORITHM.md#the-rank: of two p-cohesions the better one is smaller by this."""
    return len(group), -edges_inside(graph, group), -closeness(graph, group), sorted(group)


def lot(start: int, turn: int, i: int) -> int:
    """SplitMix64's output for the three numbers, less its last bit."""
    x = ((start << 48) + (turn << 32) + i + 1) * 0x9E3779B97F4A7C15 % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return (x ^ x >> 31) >> 1


class Listing:
    """ALGORITHM.md#small-sets: all p-cohesions of at most eight members, as far as 30,000 reads suffice."""

    def __init__(self, graph: Graph, p: Fraction, q: Vertex) -> None:
        self.graph, self.needs, self.reads = graph, {v: need(graph, p, v) for v in graph}, 30_000
        self.best: set[Vertex] | None = None
        self.low = self.needs[q] + 1
        while self.low <= 8:
            self.extend([q], set())
            if self.best or self.reads < 0:
                break
            self.low += 1

    def lacks(self, v: Vertex, members: list[Vertex]) -> int:
        return self.needs[v] - len(self.graph[v] & set(members))

    def most_edges(self, members: list[Vertex]) -> int:
        edges = edges_inside(self.graph, set(members))
        return edges + sum(range(len(members), self.low))

    def edges_to_beat(self) -> int:
        return edges_inside(self.graph, self.best) if self.best else 0

    def extend(self, members: list[Vertex], tried: set[Vertex]) -> None:
        graph, room = self.graph, self.low - len(members)
        self.reads -= len(graph[members[-1]])
        v = min(members, key=lambda u: (-max(0, self.lacks(u, members)), len(graph[u]), members.index(u)))
        wanted = self.lacks(v, members)
        if all(self.lacks(u, members) <= 0 for u in members):
            if self.best is None or rank(graph, set(members)) < rank(graph, self.best):
                self.best = set(members)
            return
        if wanted > room or self.most_edges(members) < self.edges_to_beat():
            return
        self.reads -= len(graph[v])
        if self.reads < 0:
            return
        full = {u for u in members if self.lacks(u, members) == room}
        spare = self.most_edges(members) - self.edges_to_beat()
        inside = {w: len(graph[w] & set(members)) for w in graph[v] - set(members) - tried}
        fitting = [
            w
            for w in inside
            if self.needs[w] < self.low
            and self.needs[w] - inside[w] < room
            and inside[w] >= len(members) - spare
            and full <= graph[w]
        ]
        fitting.sort(key=lambda w: (-inside[w], w))
        for i, w in enumerate(fitting):
            reached = self.most_edges(members) - len(members) + inside[w]
            if self.reads < 0 or len(fitting) - i < wanted or reached < self.edges_to_beat():
                return
            self.extend([*members, w], tried | set(fitting[:i]))


def beside(graph: Graph, p: Fraction, group: set[Vertex]) -> set[Vertex]:
    """Vertices beside a set that it could hold, those with most of their need in it: 128, or as many as it has."""
    around = set().union(*(graph[v] for v in group)) - group
    fitting = [w for w in around if need(graph, p, w) < len(group)]
    level = {w: min(256 * len(graph[w] & group) // need(graph, p, w), 1023) for w in fitting}
    return set(sorted(fitting, key=lambda w: (-level[w], w))[: max(128, len(group))])


def shrink_in_turn(graph: Graph, p: Fraction, q: Vertex, vertices: set[Vertex], start: int, turn: int) -> set[Vertex]:
    """ALGORITHM.md#rounds: peel, then try to do without each vertex, in the order of this turn."""
    group = peel(graph, p, vertices)
    numbered = sorted(vertices)
    places = {v: i for i, v in enumerate(numbered)}
    degrees = {v: len(graph[v] & group) for v in group}

    def key(v: Vertex) -> tuple[int, Vertex]:
        needs, degree = need(graph, p, v), degrees[v]
        if start == 0 and turn < 2:
            return (4096 * degree - needs if turn % 2 else degree - 4096 * needs), v
        drawn = lot(start, turn, places[v])
        a, b = drawn % 64, drawn // 64 % 64
        if turn % 2:
            return 32 * degree * (96 + a) - 19 * needs * b, v
        return 19 * degree * b - 64 * needs * (32 + a), v

    for v in sorted(group, key=key):
        if v in group and v != q:
            rest = peel(graph, p, group - {v})
            if q in rest:
                group = rest
    return group


def improve_in_rounds(
    graph: Graph, p: Fraction, q: Vertex, group: set[Vertex], low: int, start: int
) -> tuple[set[Vertex], bool]:
    """ALGORITHM.md#rounds; and whether there is no other p-cohesion."""
    best = now = group
    for turn in range(8 if len(group) <= 1_000 else 2):
        if len(best) == low:
            break
        if not set().union(*(graph[v] for v in now)) - now:
            return best, True
        other = shrink_in_turn(graph, p, q, now | beside(graph, p, now), start, turn)
        if len(other) <= len(now):
            now = other
            best = min(best, now, key=lambda s: rank(graph, s))
    return best, False


def grow(graph: Graph, p: Fraction, q: Vertex, cap: int, start: int) -> tuple[set[Vertex] | None, int]:
    """ALGORITHM.md#starts: a p-cohesion, None where it is given up, and the reads it took."""
    needs = {v: need(graph, p, v) for v in graph}
    members, reads, drawn, v = [q], len(graph[q]), 0, None
    while True:
        group = set(members)
        inside = {u: len(graph[u] & group) for u in graph}
        lacking = {u for u in group if inside[u] < needs[u]}
        if not lacking:
            return group, reads
        if v not in lacking:
            v = min(lacking, key=lambda u: (-inside[u], u))
        if len(members) >= 20 * cap or reads > 1_000_000:
            return None, reads
        reads += len(graph[v])
        gains = {}
        for w in sorted(graph[v] - group):
            if needs[w] < cap:
                gains[w] = 128 * (len(graph[w] & lacking) - max(0, needs[w] - inside[w])) + 64 * inside[w]
                if start > 0:
                    gains[w] += lot(start, 4096, drawn) % 256
                    drawn += 1
        if not gains:
            return None, reads
        members.append(min(gains, key=lambda w: (-gains[w], w)))
        reads += len(graph[members[-1]])


def swap(graph: Graph, p: Fraction, q: Vertex, group: set[Vertex], phase: int) -> set[Vertex]:
    """ALGORITHM.md#swaps: one phase; the best set that came up, the given one if none did."""
    vertices = sorted(group | beside(graph, p, group))
    needs = {v: need(graph, p, v) for v in vertices}
    lots = {v: lot(phase, 4097, i) % 1024 for i, v in enumerate(vertices)}
    barred = dict.fromkeys(vertices, 0)
    members, best = set(group), group

    def lacked(s: set[Vertex]) -> int:
        return sum(max(0, needs[v] - len(graph[v] & s)) for v in s)

    def worth(s: set[Vertex]) -> int:
        return edges_inside(graph, s) - 3 * lacked(s)

    for turn in range(1, 257):
        twist = turn * 2654435761 % 1024
        free = [v for v in vertices if v in members and v != q and barred[v] <= turn]
        if not free:
            continue
        leaves = max(free, key=lambda v: (worth(members - {v}), lots[v] ^ twist, -vertices.index(v)))
        members = members - {leaves}
        barred[leaves] = turn + 5 + (lots[leaves] ^ twist) % 8
        free = [v for v in vertices if v not in members and barred[v] <= turn]
        enters = max(free, key=lambda v: (worth(members | {v}), lots[v] ^ twist, -vertices.index(v)), default=leaves)
        members = members | {enters}
        barred[enters] = turn + 2 + (lots[enters] ^ twist) % 4
        if lacked(members) == 0 and rank(graph, members) < rank(graph, best):
            best = members
    return best


def smallest_p_cohesion(graph: Graph, p: Fraction, q: Vertex, effort: int = 1) -> tuple[set[Vertex], bool, bool]:
    """MC(q) by the search `smallest`: the set, whether no smaller one exists, whether none is better."""
    listing = Listing(graph, p, q)
    low = listing.low
    if listing.best and listing.reads >= 0:
        return listing.best, True, True
    best = listing.best or minimal_p_cohesion(graph, p, q)
    start = reads = 0
    while len(best) > low and (start == 0 or (reads <= 80_000 * effort and start < 8 * effort)):
        if len(best) > 1_000 and start > 0:
            break
        begun = best
        if len(best) <= 1_000:
            grown, read = grow(graph, p, q, len(best) + (start > 0), start)
            reads += read
            if grown:
                grown = shrink_in_turn(graph, p, q, grown, 0, 0)
                if start > 0 or rank(graph, grown) < rank(graph, best):
                    begun = grown
                best = min(best, grown, key=lambda s: rank(graph, s))
        begun, alone = improve_in_rounds(graph, p, q, begun, low, start)
        if alone:
            return begun, True, True
        best = min(best, begun, key=lambda s: rank(graph, s))
        start += 1
    for phase in range(3):
        if not 2 < len(best) <= 1_000:
            break
        if not set().union(*(graph[v] for v in best)) - best:
            return best, True, True
        swapped = swap(graph, p, q, best, phase)
        if swapped == best:
            break
        best = shrink_in_turn(graph, p, q, swapped, 0, 0)
    return best, len(best) == low, False


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


def counts_from_pair_answers(
    graph: Graph, pairs: set[Edge], yes: set[Edge], k: int, f: Fraction, v: Vertex
) -> Fraction:
    """The sum over the sets of k vertices with v of products: of unbiased answers inside groups, of 1 or 0 outside."""

    def weight(a: Vertex, b: Vertex) -> Fraction:
        pair = (min(a, b), max(a, b))
        return ((pair in yes) - f) / (1 - 2 * f) if pair in pairs else Fraction(b in graph[a])

    rest = [u for u in graph if u != v]
    products = (
        math.prod((weight(a, b) for a, b in combinations((v, *others), 2)), start=Fraction(1))
        for others in combinations(rest, k - 1)
    )
    return sum(products, Fraction(0))


def variance_from_pair_answers(
    graph: Graph, pairs: set[Edge], k: int, f: Fraction, v: Vertex | None = None
) -> Fraction:
    """Of that sum, or without v of the sum over all sets, by what each set of pairs inside groups contributes."""
    moved: dict[frozenset[Edge], int] = defaultdict(int)
    for clique in combinations(sorted(graph), k):
        edges = set(combinations(clique, 2))
        inside = sorted(edges & pairs)
        for part in chain.from_iterable(combinations(inside, size) for size in range(1, len(inside) + 1)):
            if v in (None, *clique) and all(b in graph[a] for a, b in edges - set(part)):
                moved[frozenset(part)] += 1
    return sum((answer_variance(f) ** len(part) * count**2 for part, count in moved.items()), Fraction(0))


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


def error_terms(yes: Graph, f: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Unbiased estimates of the sum of cn(x, y)² over pairs, the sum of C(deg(x), 2), and the number of connections.

    The square of an estimate is too large on average by its variance, which is subtracted.
    """
    n, v = len(yes), answer_variance(f)
    z = {(x, y): ((y in yes[x]) - f) / (1 - 2 * f) for x in yes for y in yes if x != y}
    degree = {x: sum((z[x, y] for y in yes if y != x), Fraction(0)) for x in yes}
    m = sum(degree.values(), Fraction(0)) / 2
    squares = Fraction(0)
    for x, y in combinations(yes, 2):
        common = sum((z[x, w] * z[w, y] for w in yes if w not in (x, y)), Fraction(0))
        squares += common**2 - v * (degree[x] + degree[y] - 2 * z[x, y]) - v**2 * (n - 2)
    paths = sum(((d**2 - (n - 1) * v - d) / 2 for d in degree.values()), Fraction(0))
    return squares, paths, m


def likely_errors(yes: Graph, f: Fraction) -> tuple[Fraction, Fraction]:
    """The estimated variance of the total, and the mean of those of all counts: no term is below 0."""
    n, v = len(yes), answer_variance(f)
    squares, paths, m = (max(term, Fraction(0)) for term in error_terms(yes, f))
    total = v * squares + v**2 * m * (n - 2) + v**3 * math.comb(n, 3)
    each = v * (paths + 2 * squares) + v**2 * (2 * (n - 2) * m + n * m - 2 * m) + v**3 * n * math.comb(n - 1, 2)
    return total, each / n


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
    """Vertices by degree, cut where the weights so far reach a part of all, but never between equal degrees."""
    order = sorted(range(len(degrees)), key=lambda v: (max(degrees[v], 0), v))
    so_far = list(accumulate(max(degrees[v], 0) ** (k / 2) for v in order))
    parts = [sum(reached >= so_far[-1] * j / count for j in range(1, count)) for reached in so_far]
    classes: list[list[int]] = [[]]
    is_due, last = False, None  # whether a part ended since the class began
    for v, part, before in zip(order, parts, [0, *parts], strict=False):
        is_due |= part > before
        degree = max(degrees[v], 0)
        if is_due and degree != last and classes[-1]:
            classes.append([])
            is_due = False
        elif not classes[-1]:
            is_due = False  # a cut before the first vertex
        classes[-1].append(v)
        last = degree
    return classes if len(classes) > 1 else []


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
