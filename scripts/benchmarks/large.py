"""A graph of millions of edges through the command line: load, annotate, release, with Neo4j on the same machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.graphs import as_arrays, made_graph, write_edges
from benchmarks.measuring import SEED, Line, Setting, at_most, say
from benchmarks.neo4j_servers import Server, load_graph, own_server

SERVER = {"server.memory.heap.max_size": "3g", "server.memory.pagecache.size": "2g"}
"""Neo4j's heap; the half gigabyte of the local server is hardly more than a large graph's transactions need."""
GIB = 2**30
NAMES = ("--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id")


@dataclass(frozen=True)
class Phase:
    """The cost of one command: seconds, and peaks of resident memory in bytes, ours and the server's."""

    seconds: float
    ours: int
    server: int


def large(setting: Setting) -> Iterator[Line]:
    """A generated graph of `--edges` edges: load, annotate at p=0.1, release at k=3, with the memory of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n, u, v = made_graph(setting.edges, SEED)
        graph = f"{n:,} vertices, {len(u):,} edges"
        say(f"  made {graph}")
        write_edges(folder / "made.edges", u, v)
        del u, v
        commands = {
            "load": ["load", str(folder / "made.edges"), *NAMES],
            "annotate, p=0.1": ["annotate", *NAMES, "-p", "0.1"],
            "release with `critical`, k=3": [
                *("release", "--mechanism", "critical", "-k", "3", "-e", "1"),
                *("--to", str(folder / "counts.csv"), "--budget-epsilon", "1"),
            ],
        }
        with _large_server() as server:
            for what, arguments in commands.items():
                phase, said = _run(arguments, server.environment, server.pid)
                last = " ".join(said.split())[-300:]
                say(f"  {what}: {phase.seconds:.0f} s, {phase.ours / GIB:.2f} GiB, server {phase.server / GIB:.2f} GiB")
                say(f"    {last}")
                note = f"{graph}, seed {SEED}; Neo4j {server.version} rose to {phase.server / GIB:.1f} GiB"
                yield Line(f"{what}, whole command", [phase.seconds], note=note)
                yield Line(f"{what}, peak memory", [phase.ours / GIB], "GiB", goal=at_most(8, "ours"), note=graph)


@contextmanager
def loaded_made(edges: int) -> Iterator[tuple[str, Any, Server]]:
    """Run a server with memory for a large graph, and load a generated one; yield its name, its arrays and the server.

    Args:
        edges: approximate number of edges.
    """
    n, u, v = made_graph(edges, SEED)
    name = f"a made graph of {n:,} vertices and {len(u):,} edges"
    with _large_server() as server:
        with tempfile.TemporaryDirectory() as folder, server.driver() as driver:
            write_edges(Path(folder) / "made.edges", u, v)
            say(f"  loading {name}")
            load_graph(driver, Path(folder) / "made.edges")
        yield name, as_arrays(n, u, v), server


def _large_server() -> AbstractContextManager[Server]:
    from pcneo.server.jars import ensure_jars
    from pcneo.server.servers import DEFAULT_VERSION

    return own_server(sorted(ensure_jars(DEFAULT_VERSION).glob("*.jar")), DEFAULT_VERSION, settings=SERVER)


def _run(arguments: list[str], environment: Mapping[str, str], server: int) -> tuple[Phase, str]:
    """Run a command of pcneo in its own process; its standard error is shown."""
    reset = Path(f"/proc/{server}/clear_refs")
    if reset.exists():
        reset.write_text("5")  # resets the server's peak
    started = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "pcneo", *arguments],
        env={**environment, "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert child.stdout is not None  # noqa: S101 — as asked for above
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"pcneo {arguments[0]} ended with {child.returncode} after {seconds:.0f} s:\n{said[-3000:]}")
    return Phase(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), _peak(server)), said


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) if status.exists() else 0
