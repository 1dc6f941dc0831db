"""Lines about the command as a whole: memory, start-up, and a release phase by phase."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measuring import THREADS, Line, Setting, at_most, in_turns, say, timed
from benchmarks.neo4j_servers import NAMES, in_process, loaded
from benchmarks.tasks import PHASES

RELEASE_SECONDS = {"3": 4.0, "4": 30.0}
UNWANTED = ("matplotlib", "neo4j", "networkx", "numba", "opendp")
HELP = """
import contextlib, io, json, sys
from pcneo.cli import app
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    app(["--help"], prog_name="pcneo")
print(json.dumps([name for name in sys.argv[1:] if name in sys.modules]))
"""


def memory(setting: Setting) -> Iterator[Line]:
    """The peak of resident memory during a search of every vertex."""
    if not Path("/proc/self/clear_refs").exists():
        say("  memory is measured on Linux only.")
        return
    for p in ("0.1", "0.3"):
        samples = [in_process("memory", str(setting.file), p) for _ in range(min(2, setting.rounds))]
        mib = [f"{samples[-1][what] / 2**20:.1f} MiB" for what in ("rise", "result", "adjacency")]
        yield Line(
            f"memory of a search beyond its result, in adjacency arrays, {setting.name}, p={p}",
            [max(0, sample["rise"] - sample["result"]) / sample["adjacency"] for sample in samples],
            "",
            goal=at_most(1, "ours"),
            note=f"resident memory rose by {mib[0]}, the result has {mib[1]}, the arrays {mib[2]}; {THREADS} threads",
            bound="nothing beyond the arrays and the result, which are not counted",
        )


def start(setting: Setting) -> Iterator[Line]:
    """The time from the imports to the first result, and what `--help` imports."""
    in_process("first_result", "without")  # fills the cache
    samples = [in_process("first_result", "without") for _ in range(setting.rounds)]
    yield Line(
        "first result after the imports, compiled code cached",
        [sample["first"] for sample in samples],
        goal=at_most(0.5, "ours"),
        note=f"the imports take {median(sample['imports'] for sample in samples):.2f} s; a graph of 34 vertices",
        bound="what numba takes to load compiled code",
    )
    yield Line(
        "the same where scipy is installed",
        [in_process("first_result", "with")["first"] for _ in range(setting.rounds)],
        note="the package does not need it, but numba imports it where it is; here a peer brings it",
    )
    cold = []
    for _ in range(min(2, setting.rounds)):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(in_process("first_result", "without", environment={**os.environ, "NUMBA_CACHE_DIR": folder}))
    yield Line(
        "first result after the imports, nothing compiled yet",
        [sample["first"] for sample in cold],
        goal=at_most(10, "ours"),
        note="once on a machine, announced",
        bound="the same with compiled code cached; the rest is compiling",
        floor=[sample["first"] for sample in samples],
    )
    run = [sys.executable, "-c", HELP, *UNWANTED]
    imported = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout)
    yield Line(
        f"of {', '.join(UNWANTED)}, imported by `pcneo --help`",
        [float(len(imported))],
        "",
        goal=at_most(0, "ours"),
        note=", ".join(imported) or "none",
    )
    command = [sys.executable, "-m", "pcneo", "--help"]
    helped = timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    yield Line("`pcneo --help`", in_turns(setting.rounds, {"help": helped}, label="help")["help"])


def release(setting: Setting) -> Iterator[Line]:
    """A release with `critical` at ε = 1, p = 0.1, in its own process, each step timed."""
    yield from _releases(setting, "0.1", RELEASE_SECONDS, min(3, setting.rounds))


def release_large_p(setting: Setting) -> Iterator[Line]:
    """The same at p = 0.3, where groups are large; k = 3, once."""
    yield from _releases(setting, "0.3", {"3": None}, 1)


def _releases(setting: Setting, p: str, goals: Mapping[str, float | None], rounds: int) -> Iterator[Line]:
    """Release for each k; the goals are in seconds."""
    from pcneo import annotate
    from pcneo.release import budget
    from pcneo.store.connection import connect

    samples: dict[str, list[dict[str, Any]]] = {k: [] for k in goals}
    with tempfile.TemporaryDirectory() as folder, loaded(setting.file) as server, server.driver() as driver:
        db = connect(driver=driver)
        annotated = annotate.write(db, p=p, **NAMES)
        budget.set_total(db, graph=annotated.graph, epsilon=1000)
        for number in range(rounds + 1):
            for k, figures in samples.items():
                to = Path(folder) / f"{number}-{k}.csv"
                sample = in_process("release", server.uri, str(server.password_file), p, k, str(to))
                say(f"  release p={p} k={k} round {number}: {sample['whole']:.2f} s")
                if number:  # the first round compiles
                    figures.append(sample)
    for k, figures in samples.items():
        seconds = goals[k]
        parts = ", ".join(f"{phase} {median(sample[phase] for sample in figures):.2f}" for phase in PHASES)
        yield Line(
            f"release with `critical`, {setting.name}, p={p}, k={k}",
            [sample["whole"] for sample in figures],
            goal=None if seconds is None else at_most(seconds, "ours"),
            bound="reading the graph and its cohesions out of Neo4j",
            floor=[sample["read"] for sample in figures],
            note=f"{parts} s; peak {median(sample['peak_mib'] for sample in figures):.0f} MiB, without start-up",
        )
