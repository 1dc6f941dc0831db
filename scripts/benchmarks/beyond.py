"""Beyond one process and beyond the store: a cluster beside threads, and Parquet beside JSON lines."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import THREADS, Line, Setting, at_most, in_turns, timed

if TYPE_CHECKING:
    from pcneo.basics.model import CohesionBatch

__all__ = ["cluster", "files"]


def cluster(setting: Setting) -> Iterator[Line]:
    """The whole search on as many worker processes as threads beside it, at p=0.3; the answers are compared."""
    from distributed import Client, LocalCluster

    from pcneo.search import search_batches
    from pcneo.search.cluster import ClusterGraph

    logging.getLogger("distributed").setLevel(logging.ERROR)
    options: dict[str, Any] = {"n_workers": THREADS, "threads_per_worker": 1, "dashboard_address": None}
    hashes: set[str] = set()
    with LocalCluster(**options, memory_limit=0) as local, Client(local) as client:
        on_cluster = ClusterGraph(setting.graph, client)
        tasks = {
            "cluster": lambda: _hashed(on_cluster.search_batches("0.3"), hashes),
            "threads": lambda: _hashed(search_batches(setting.graph, "0.3", concurrency=THREADS), hashes),
        }
        taken = in_turns(min(3, setting.rounds), tasks, label="cluster")
        said: Any = client.run(_own_memory)
    if len(hashes) != 1:
        raise AssertionError("the answers differ")
    yield Line(
        f"search of every vertex on {THREADS} worker processes, {setting.name}, p=0.3",
        taken["cluster"],
        peer=f"{THREADS} threads of one process",
        theirs=taken["threads"],
        goal=at_most(1.15),
        note=f"identical answers; a worker has {max(said.values()) / 2**20:.0f} MiB of its own; dask.distributed",
    )


def _hashed(batches: Iterable[CohesionBatch], hashes: set[str]) -> float:
    """Take all batches, and return the seconds that took; the hash of the memberships is added to the others."""
    from pcneo.graph import MembershipHash

    started = time.perf_counter()
    kept = list(batches)
    seconds = time.perf_counter() - started
    digest = MembershipHash()
    for batch in kept:
        digest.update(batch)
    hashes.add(digest.hexdigest())
    return seconds


def _own_memory() -> int:
    import psutil

    return psutil.Process().memory_full_info().uss


def files(setting: Setting) -> Iterator[Line]:
    """Cohesions that are there already into a file: Parquet beside JSON lines."""
    from pcneo.search import search_batches

    for p, vertices in (("0.1", None), ("0.3", range(setting.graph.vertex_count // 5))):
        batches = list(search_batches(setting.graph, p, vertices=vertices, concurrency=THREADS))
        rows, memberships = sum(map(len, batches)), sum(len(batch.members) for batch in batches)
        with TemporaryDirectory() as folder:
            parquet, lines = Path(folder) / "x.parquet", Path(folder) / "x.json"
            tasks = {
                "parquet": timed(partial(_parquet, setting, batches, parquet)),
                "json": timed(partial(_json_lines, batches, lines)),
            }
            taken = in_turns(setting.rounds, tasks, label=f"files p={p}")
            sizes = [file.stat().st_size / memberships for file in (parquet, lines)]
        rates = [rows / median(taken[name]) for name in ("parquet", "json")]
        yield Line(
            f"cohesions into Parquet, {setting.name}, p={p}, {rows:,} rows with {memberships:,} memberships",
            taken["parquet"],
            peer="the same as JSON lines",
            theirs=taken["json"],
            ratio="peer / ours",
            note=f"{rates[0]:,.0f} rows a second, {rates[1]:,.0f} as JSON; {sizes[0]:.1f} bytes a membership, "
            f"{sizes[1]:.1f} as JSON",
        )


def _parquet(setting: Setting, batches: list[CohesionBatch], path: Path) -> None:
    from pcneo.basics.model import Selection
    from pcneo.graph.files.cohesion_file import CohesionWriter, FileHead

    head = FileHead("3/10", "density", "", 1, Selection((), (), ""), "", "", "", 0, 0, (1, 1))
    with path.open("wb") as file, CohesionWriter(file, head, setting.graph.keys) as writer:
        for batch in batches:
            writer.write(batch)


def _json_lines(batches: list[CohesionBatch], path: Path) -> None:
    """As `annotate --mode stream --json` prints them."""
    with path.open("w") as file:
        for batch in batches:
            for c in batch.cohesions():
                p = f"{c.p.numerator}/{c.p.denominator}"
                row = {"vertex": c.vertex, "p": p, "score": c.score, "size": c.size, "edges": c.edges}
                print(json.dumps({**row, "density": c.density, "members": c.members}), file=file)
