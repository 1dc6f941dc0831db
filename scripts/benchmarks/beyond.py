"""Beyond one process and beyond the store: a cluster beside threads; Parquet beside JSON lines and beside the store."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.batches import write_parquet
from benchmarks.local_cluster import local_cluster
from benchmarks.measuring import THREADS, Line, Setting, at_most, in_turns, say, timed
from benchmarks.neo4j_servers import NAMES, loaded
from benchmarks.projection import projections

if TYPE_CHECKING:
    from pcneo.basics.model import CohesionBatch


STORE_ROUNDS = 2
"""Rounds of writing to the store."""


def cluster(setting: Setting) -> Iterator[Line]:
    """A cluster beside threads: the whole search at p=0.3, a million vertices, and a projection to more."""
    line = _beside_threads(setting)
    yield line
    yield from projections(setting, median(line.ratios))


def _beside_threads(setting: Setting) -> Line:
    """The whole search on as many worker processes as threads beside it, at p=0.3; the answers are compared."""
    from pcneo.basics.searches import Search
    from pcneo.search import search_batches
    from pcneo.search.cluster import ClusterGraph

    hashes: set[str] = set()
    with local_cluster(THREADS) as client:
        on_cluster = ClusterGraph(setting.graph, client)
        for find in (on_cluster.search_batches, partial(search_batches, setting.graph)):
            list(
                find(Search("0.3"), vertices=range(min(64, setting.graph.vertex_count)))
            )  # what is done only once is not measured
        tasks = {
            "cluster": lambda: _hashed(on_cluster.search_batches(Search("0.3")), hashes),
            "threads": lambda: _hashed(search_batches(setting.graph, Search("0.3"), concurrency=THREADS), hashes),
        }
        taken = in_turns(setting.rounds, tasks, warm_up=False, label="cluster")
        said: Any = client.run(_own_memory)
    if len(hashes) != 1:
        raise AssertionError("the answers differ")
    return Line(
        f"search of every vertex on {THREADS} worker processes, {setting.name}, p=0.3",
        taken["cluster"],
        peer=f"{THREADS} threads of one process",
        theirs=taken["threads"],
        goal=at_most(1.15),
        note=f"identical answers; a worker has {max(said.values()) / 2**20:.0f} MiB of its own; dask.distributed",
    )


def _hashed(batches: Iterable[CohesionBatch], hashes: set[str]) -> float:
    """Take all batches, and return the seconds that this took; add the hash of the memberships to the others."""
    from pcneo.graph import hash_of_batches

    started = time.perf_counter()
    kept = list(batches)
    seconds = time.perf_counter() - started
    hashes.add(hash_of_batches(kept))
    return seconds


def _own_memory() -> int:
    import psutil

    return psutil.Process().memory_full_info().uss


def files(setting: Setting) -> Iterator[Line]:
    """Existing cohesions written to a file: Parquet beside JSON lines, and beside the store."""
    from pcneo.basics.searches import Search
    from pcneo.search import search_batches

    for p, vertices in (("0.1", None), ("0.3", range(setting.graph.vertex_count // 5))):
        batches = list(search_batches(setting.graph, Search(p), vertices=vertices, concurrency=THREADS))
        rows, memberships = sum(map(len, batches)), sum(len(batch.members) for batch in batches)
        with TemporaryDirectory() as folder:
            parquet, lines = Path(folder) / "x.parquet", Path(folder) / "x.json"
            tasks = {
                "parquet": timed(partial(write_parquet, setting.graph.keys, batches, parquet)),
                "json": timed(partial(_json_lines, batches, lines)),
            }
            taken = in_turns(setting.rounds, tasks, label=f"files p={p}")
            sizes = [file.stat().st_size / memberships for file in (parquet, lines)]
        what = f"cohesions into Parquet, {setting.name}, p={p}, {rows:,} rows with {memberships:,} memberships"
        yield Line(
            what,
            taken["parquet"],
            peer="the same as JSON lines",
            theirs=taken["json"],
            ratio="peer / ours",
            note=f"{_rates(rows, taken['parquet'], taken['json'])} as JSON; {sizes[0]:.1f} bytes a membership, "
            f"{sizes[1]:.1f} as JSON",
        )
        if vertices is None:
            stored = _stored(setting, p, memberships)
            beside = taken["parquet"][: len(stored)]
            yield Line(
                what,
                beside,
                peer="the same into Neo4j",
                theirs=stored,
                ratio="peer / ours",
                note=f"{_rates(rows, beside, stored)} into Neo4j, {memberships / median(stored):,.0f} memberships a "
                "second; without reading and searching; the server shares the cores",
            )


def _rates(rows: int, ours: Sequence[float], theirs: Sequence[float]) -> str:
    return f"{rows / median(ours):,.0f} rows a second, {rows / median(theirs):,.0f}"


def _stored(setting: Setting, p: str, memberships: int) -> list[float]:
    """Return the seconds that updating a graph without a run takes besides reading and searching."""
    from pcneo import annotate
    from pcneo.store.connection import connect
    from pcneo.stored.cleaning import clean

    seconds = []
    with loaded(setting.file) as server, server.driver() as driver:
        for _ in range(min(STORE_ROUNDS, setting.rounds)):
            result = annotate.write(connect(driver=driver), p=p, concurrency=THREADS, **NAMES)
            clean(connect(driver=driver))
            if result.runs[0].memberships_written != memberships:
                raise AssertionError("the store has other memberships")
            seconds.append(result.write_millis / 1000)
            say(f"  store p={p}: {seconds[-1]:.1f} s")
    return seconds


def _json_lines(batches: list[CohesionBatch], path: Path) -> None:
    """As `annotate --mode stream --json` prints them."""
    with path.open("w") as file:
        for batch in batches:
            for c in batch.cohesions():
                p = f"{c.p.numerator}/{c.p.denominator}"
                row = {"vertex": c.vertex, "p": p, "search": c.search.name, "size": c.size, "edges": c.edges}
                print(json.dumps({**row, "density": c.density, "members": c.members}), file=file)
