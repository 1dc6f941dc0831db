"""What is measured in its own process: `python -m benchmarks.tasks TASK ARGUMENT …` prints figures as JSON."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.neo4j_servers import NAMES

PHASES = ("read", "count", "errors", "losses", "ledger", "noise", "write", "other")


def _connected(uri: str, password_file: str) -> Any:
    from pcneo.store.connection import connect

    return connect(uri, auth=("neo4j", Path(password_file).read_text().strip()))


def annotate(uri: str, password_file: str, p: str, search: str) -> dict[str, float]:
    """Annotate the graph; start-up, compilation and the loading of compiled code are left out."""
    from pcneo import annotate

    with _connected(uri, password_file) as db:
        some = db.driver.execute_query("MATCH (v:Person) RETURN v.id AS id LIMIT 1").records[0]["id"]
        next(annotate.stream(db, p=p, search=search, vertices=[some], **NAMES))
        started = time.perf_counter()
        result = annotate.write(db, p=p, search=search, **NAMES)
        seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "read": result.pre_processing_millis / 1000,
        "search": result.compute_millis / 1000,
        "write": result.write_millis / 1000,
        "memberships": result.runs[0].summary.memberships,
        "peak_mib": _resident("VmHWM") / 2**20,
    }


def release(uri: str, password_file: str, p: str, k: str, to: str) -> dict[str, float]:
    """Release, and time each step that has a name; the rest is `other`."""
    from pcneo.counting import counted
    from pcneo.privacy.mechanisms import Critical
    from pcneo.release import Release, release, releasing
    from pcneo.release.read_graph import ReadGraph

    clocks: dict[str, float] = defaultdict(float)
    steps = [
        (ReadGraph, "read", "read"),
        (ReadGraph, "read_groups", "read"),
        (counted.CountedGraph, "counts", "count"),
        (Critical, "utility", "errors"),
        (Critical, "owner_figures", "errors"),
        (ReadGraph, "losses", "losses"),
        (releasing, "check_early", "ledger"),
        (releasing, "enter", "ledger"),
        (releasing, "spend", "ledger"),
        (releasing, "_draw", "noise"),
        (releasing, "_publish", "write"),
    ]
    for home, name, phase in steps:
        setattr(home, name, _clocked(getattr(home, name), phase, clocks))
    with _connected(uri, password_file) as db:
        started = time.perf_counter()
        release(db, requests=[Release(to=Path(to), p=p, mechanism=Critical(k=int(k), epsilon=1))])
        whole = time.perf_counter() - started
    figures = {phase: clocks[phase] for phase in PHASES[:-1]}
    peak = _resident("VmHWM") / 2**20  # ru_maxrss would start from the parent's memory
    return {**figures, "other": whole - sum(figures.values()), "whole": whole, "peak_mib": peak}


def _clocked(step: Callable[..., Any], phase: str, clocks: dict[str, float]) -> Callable[..., Any]:
    def clocked(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return step(*args, **kwargs)
        finally:
            clocks[phase] += time.perf_counter() - started

    return clocked


def memory(file: str, p: str) -> dict[str, float]:
    """The peak memory of a search of every vertex, beside the memory of the graph and of the answer."""
    from benchmarks.graphs import read_graph
    from benchmarks.measuring import THREADS
    from pcneo.search import search_all

    graph = read_graph(Path(file))
    search_all(graph, p, vertices=range(min(20, graph.vertex_count)), concurrency=THREADS)
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    batch = search_all(graph, p, concurrency=THREADS)
    peak = _resident("VmHWM")
    result = sum(array.nbytes for array in (batch.vertices, batch.offsets, batch.members, batch.edges))
    return {"rise": peak - before, "adjacency": graph.offsets.nbytes + graph.neighbours.nbytes, "result": result}


def _resident(what: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    return 1024 * int(re.findall(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text())[0])


def first_result(scipy: str) -> dict[str, float]:
    """Seconds to import what a search needs, and from there to the first result.

    The package does not need scipy, but numba imports its linear algebra where a peer has brought it: `without` hides
    it.
    """
    if scipy == "without":
        modules: dict[str, Any] = sys.modules
        modules["scipy"] = None  # importing it now fails
    started = time.perf_counter()
    import networkx

    import pcneo
    import pcneo.search

    imported = time.perf_counter()
    pcneo.minimal_p_cohesion(networkx.karate_club_graph(), 0, "0.4")
    return {"imports": imported - started, "first": time.perf_counter() - imported}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
