"""Measures pcneo and its peers in turns, and reports which goals are met.

    scripts/bench                      the default set, into scripts/benchmarks/results/all.json, all.md and the README
    scripts/bench triangles annotate   some benchmarks, printed
    scripts/bench --list               the names of all benchmarks

The graph is HepPh (SNAP's cit-HepPh), hepph_cit.edges.gz in the folder that PCNEO_TEST_GRAPHS names; --graph names
another edge list. It needs an otherwise idle machine with two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # so that `python scripts/benchmarks` works too

from benchmarks import (  # noqa: E402
    beside_driver,
    beyond,
    command,
    counting,
    estimates,
    growth,
    large,
    mechanism_errors,
    report,
    searching,
    updates,
)
from benchmarks.measuring import Line, Setting, say  # noqa: E402

HEPPH = Path(os.environ.get("PCNEO_TEST_GRAPHS", ".")) / "hepph_cit.edges.gz"
RESULTS = Path(__file__).with_name("results")
KEPT = RESULTS / "all.json"

DEFAULT: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "start": command.start,
    "triangles": counting.triangles,
    "cliques": counting.cliques,
    "any-k": counting.any_k,
    "inside": searching.inside,
    "cohesions": searching.cohesions,
    "threads": searching.threads,
    "memory": command.memory,
    "streamed": beside_driver.streamed,
    "annotate": beside_driver.annotate,
    "release": command.release,
}
BY_NAME: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "updates": updates.updates,
    "updates-large": updates.updates_large,
    "cohesions-half": searching.cohesions_half,
    "utility": mechanism_errors.utility,
    "weighing": counting.weighing,
    "release-large-p": command.release_large_p,
    "estimates": estimates.estimates,
    "estimates-large": estimates.estimates_large,
    "writers": beside_driver.writers,
    "cluster": beyond.cluster,
    "files": beyond.files,
    "growth": growth.growth,
    "large": large.large,
}
ALL = {**DEFAULT, **BY_NAME}


def run(names: list[str], setting: Setting, keep: Callable[[dict[str, list[Line]]], None]) -> None:
    """Run the named benchmarks one after the other; `keep` gets all results so far after each."""
    lines: dict[str, list[Line]] = {}
    for number, name in enumerate(names, 1):
        say(f"{name} ({number} of {len(names)}): {_sentence(name)}")
        # The goals are for one graph; other graphs get figures only.
        judged = setting.name == "HepPh" or name in ("start", "large", "updates-large", "estimates", "estimates-large")
        lines[name] = [line if judged else replace(line, goal=None) for line in ALL[name](setting)]
        keep(lines)


def _sentence(name: str) -> str:
    return (ALL[name].__doc__ or "").partition("\n")[0]


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmarks that the command line names."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; the default set if none is named")
    parser.add_argument("--list", action="store_true", help="list what can be measured")
    parser.add_argument("--graph", type=Path, default=HEPPH, metavar="FILE", help="an edge list (.gz)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each, after a warm-up round (default 5)")
    parser.add_argument(
        "--edges",
        type=int,
        default=6_000_000,
        help="approximate size of the graphs made for `large`, `updates-large`, `estimates-large` and `cluster` "
        "(default 6000000)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for figures; the table goes beside, as .md")
    given = parser.parse_args(arguments)
    if given.list:
        for name in ALL:
            print(f"{name:15} {_sentence(name)}{'' if name in DEFAULT else ' (by name only)'}")
        return
    if unknown := [name for name in given.names if name not in ALL]:
        parser.error(f"there is no {', '.join(unknown)}; scripts/bench --list has the names")
    if given.rounds < 1:
        parser.error("--rounds takes 1 or more")
    if not given.graph.exists():
        parser.error(f"there is no {given.graph}; name an edge list with --graph, or its folder in PCNEO_TEST_GRAPHS")
    to = given.json or (None if given.names else KEPT)
    setting = Setting(given.graph, given.rounds, RESULTS if to is None else to.parent, given.edges)
    started = time.perf_counter()
    page = ""

    def keep(lines: dict[str, list[Line]]) -> None:
        nonlocal page
        record = report.as_record(lines, given.rounds, time.perf_counter() - started)
        page = report.page(record)
        if to is not None:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
            to.with_suffix(".md").write_text(page)

    try:
        run(given.names or list(DEFAULT), setting, keep)
    finally:
        print(page)  # if one fails, the page of the ones before it
    if to is not None and to == KEPT:
        report.show(json.loads(to.read_text()), ROOT / "README.md")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that servers are stopped
    main()
