"""Lines about the search: cohesions beside the paper's pseudo-code, threads, and counts inside cohesions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.floors import rows_read
from benchmarks.measuring import SEED, THREADS, Line, Setting, at_least, at_most, in_turns, timed

PLAIN = {"0.1": 300, "0.3": 60}
"""For each p: vertices per round for the pseudo-code."""
SMALLEST = {"0.1": (3_000, 100), "0.3": (300, 4_000)}
"""For each p: vertices per round with `smallest`, and the goal for a vertex's processor time, µs."""
BOUND = "the members' neighbours read once, in a bare loop on one thread; a search also looks at others"
SAMPLE_HALF = 500


def cohesions(setting: Setting) -> Iterator[Line]:
    """The minimal p-cohesion of every vertex, beside the paper's pseudo-code on a sample."""
    from benchmarks import pseudocode
    from benchmarks.graphs import as_sets
    from pcneo.search import search_all

    graph, rows = setting.graph, as_sets(setting.graph)
    random = np.random.default_rng(SEED)
    for p, wanted in PLAIN.items():
        need, sample_size = pseudocode.needs(rows, p), min(wanted, graph.vertex_count)
        search_all(graph, p, "density", vertices=range(min(50, graph.vertex_count)), concurrency=THREADS)
        rounds = setting.many if p == "0.1" else setting.rounds
        samples = iter([random.choice(graph.vertex_count, sample_size, replace=False) for _ in range(rounds)])

        def plain(need: list[int] = need, samples: Iterator[Any] = samples, p: str = p) -> float:
            sample = np.sort(next(samples)).tolist()
            answers: list[set[int]] = []
            taken = timed(lambda: answers.extend(pseudocode.minimal_p_cohesion(rows, need, q) for q in sample))()
            _check(answers, search_all(graph, p, "density", vertices=sample))
            return taken / len(sample)

        whole = timed(lambda p=p: search_all(graph, p, "density", concurrency=THREADS))
        rows_once = timed(rows_read(graph, search_all(graph, p, "density", concurrency=THREADS).members))
        tasks = {"ours": whole, "plain": plain, "rows": rows_once}
        taken = in_turns(rounds, tasks, warm_up=False, label=f"cohesions p={p}")
        yield Line(
            f"minimal p-cohesions of a vertex by `density`, {setting.name}, p={p}",
            [1e6 * seconds / graph.vertex_count for seconds in taken["ours"]],
            "µs",
            "the paper's pseudo-code in plain Python",
            [1e6 * seconds for seconds in taken["plain"]],
            ratio="peer / ours",
            note=f"ours: all vertices, {THREADS} threads; plain: another {sample_size} each round, seed {SEED}, "
            "whose answers are the same",
        )
        yield Line(
            f"minimal p-cohesions of all {graph.vertex_count:,} vertices by `density`, {setting.name}, p={p}",
            taken["ours"],
            note=f"{THREADS} threads",
            bound=BOUND,
            floor=taken["rows"],
        )
        yield _smallest(setting, p)
    sample_size = min(SAMPLE_HALF, graph.vertex_count)
    samples = iter([random.choice(graph.vertex_count, sample_size, replace=False) for _ in range(setting.rounds + 1)])
    some = timed(lambda: search_all(graph, "0.5", "density", vertices=next(samples).tolist(), concurrency=THREADS))
    taken = in_turns(setting.rounds, {"ours": some}, label="cohesions p=0.5")
    yield Line(
        f"minimal p-cohesions of all {graph.vertex_count:,} vertices by `density`, {setting.name}, p=0.5, extrapolated",
        [seconds * graph.vertex_count / sample_size for seconds in taken["ours"]],
        note=f"{THREADS} threads; from {sample_size} vertices, others each round; `cohesions-half` does all",
    )


def _smallest(setting: Setting, p: str) -> Line:
    """Vertices searched with `smallest`, beside the same with `density`: processor time of one thread."""
    from pcneo.search import search_all

    graph, (wanted, goal) = setting.graph, SMALLEST[p]
    chosen = np.random.default_rng(SEED).choice(graph.vertex_count, min(wanted, graph.vertex_count), replace=False)
    sample = np.sort(chosen).tolist()

    def search(name: str) -> float:
        started = time.process_time()
        search_all(graph, p, name, vertices=sample, concurrency=1)
        return time.process_time() - started

    tasks = {name: lambda name=name: 1e6 * search(name) / len(sample) for name in ("smallest", "density")}
    taken = in_turns(setting.rounds, tasks, label=f"smallest p={p}")
    return Line(
        f"minimal p-cohesion of a vertex by `smallest`, {setting.name}, p={p}",
        taken["smallest"],
        "µs",
        "the same vertices by `density`",
        taken["density"],
        goal=at_most(goal, "ours"),
        note=f"processor time, one thread, {len(sample):,} vertices, seed {SEED}",
    )


def _check(answers: Sequence[set[int]], batch: Any) -> None:
    """Refuse to compare programs whose results differ."""
    for i, answer in enumerate(answers):
        if answer != set(batch.members[batch.offsets[i] : batch.offsets[i + 1]].tolist()):
            raise SystemExit(f"The pseudo-code and pcneo differ at vertex {batch.vertices[i]}.")


def cohesions_half(setting: Setting) -> Iterator[Line]:
    """The minimal p-cohesion of every vertex at p=0.5, once."""
    from pcneo.search import search_all

    graph = setting.graph
    search_all(graph, "0.5", "density", vertices=range(min(50, graph.vertex_count)), concurrency=THREADS)
    whole = timed(lambda: search_all(graph, "0.5", "density", concurrency=THREADS))
    taken = in_turns(1, {"ours": whole}, warm_up=False, label="cohesions p=0.5")
    yield Line(
        f"minimal p-cohesions of all {graph.vertex_count:,} vertices by `density`, {setting.name}, p=0.5",
        taken["ours"],
        note=f"{THREADS} threads, one round",
    )


def threads(setting: Setting) -> Iterator[Line]:
    """The search on two threads, beside one thread."""
    from pcneo.search import search_all

    graph = setting.graph
    random = np.random.default_rng(SEED)
    for p, wanted in (("0.1", graph.vertex_count), ("0.3", 2_000)):
        sample = np.sort(random.choice(graph.vertex_count, min(wanted, graph.vertex_count), replace=False)).tolist()

        def search(count: int, p: str = p, sample: list[int] = sample) -> Any:
            return timed(lambda: search_all(graph, p, vertices=sample, concurrency=count))

        taken = in_turns(setting.many, {"two": search(2), "one": search(1)}, label=f"threads p={p}")
        yield Line(
            f"two threads, minimal p-cohesions, {setting.name}, p={p}",
            taken["two"],
            peer="one thread",
            theirs=taken["one"],
            ratio="peer / ours",
            goal=at_least(1.7),
            bound="2, the cores",
            note="all vertices" if len(sample) == graph.vertex_count else f"{len(sample):,} vertices, seed {SEED}",
        )


def inside(setting: Setting) -> Iterator[Line]:
    """Γ_in and cn_in of every MC(v), beside igraph's induced subgraphs on a sample."""
    import igraph  # pyright: ignore[reportMissingImports] - a peer; only the extra `bench` installs it

    from benchmarks.graphs import edge_list
    from pcneo.counting import cliques, common_neighbours
    from pcneo.search import search_all

    graph = setting.graph
    theirs = igraph.Graph(n=graph.vertex_count, edges=edge_list(graph))
    random = np.random.default_rng(SEED)
    for p, wanted in (("0.1", 3_000), ("0.3", 500)):
        most = graph.vertex_count if p == "0.1" else min(8_000, graph.vertex_count)
        batch = search_all(graph, p, vertices=random.choice(graph.vertex_count, most, replace=False).tolist())
        chosen = np.sort(random.choice(len(batch), min(wanted, len(batch)), replace=False)).tolist()
        sets = [batch.members[batch.offsets[i] : batch.offsets[i + 1]].tolist() for i in chosen]
        places = [members.index(int(batch.vertices[i])) for i, members in zip(chosen, sets, strict=True)]

        def induced(sets: Any = sets, places: Any = places) -> list[tuple[int, int]]:
            return [_counts_induced(theirs, members, place) for members, place in zip(sets, places, strict=True)]

        def ours(batch: Any = batch) -> tuple[Any, Any]:
            return (
                cliques.cliques_inside(graph, batch, 3, concurrency=THREADS),
                common_neighbours.largest_common_inside(graph, batch, concurrency=THREADS),
            )

        counts, common = ours()
        if induced() != list(zip(counts[chosen].tolist(), common[chosen].tolist(), strict=True)):
            raise SystemExit("igraph and pcneo differ inside the sets.")
        taken = in_turns(
            setting.many,
            {"ours": timed(ours), "igraph": timed(induced), "rows": timed(rows_read(graph, batch.members))},
            warm_up=False,
            label=f"inside p={p}",
        )
        yield Line(
            f"triangles inside MC(v) and cn_in of a vertex, {setting.name}, p={p}",
            [1e6 * seconds / len(batch) for seconds in taken["ours"]],
            "µs",
            "igraph, induced subgraphs",
            [1e6 * seconds / len(sets) for seconds in taken["igraph"]],
            ratio="peer / ours",
            goal=at_least(15),
            bound="each member's neighbours read once, in a bare loop on one thread",
            floor=[1e6 * seconds / len(batch) for seconds in taken["rows"]],
            note=f"ours: {len(batch):,} sets, {THREADS} threads; igraph: {len(sets):,} of them, one thread",
        )


def _counts_induced(whole: Any, members: list[int], place: int) -> tuple[int, int]:
    """Γ_in and cn_in of the member at a place, by igraph's induced subgraph."""
    subgraph = whole.induced_subgraph(members)
    degree = subgraph.degree(place)
    share = subgraph.transitivity_local_undirected([place], mode="zero")[0]
    common = subgraph.cocitation([place])[0]
    common[place] = 0
    return round(share * degree * (degree - 1) / 2), int(max(common))
