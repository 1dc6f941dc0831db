"""The lines of the benchmark, and timing programs in turns."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

THREADS = 2
"""Threads of pcneo and of every peer that has such a setting, unless a line states another number."""

SEED = 20260101


@dataclass(frozen=True)
class Goal:
    """A bound on the median.

    Attributes:
        bound: `at most` or `at least`.
        value: the bound.
        of: the bounded quantity: `ratio` or `ours`.
    """

    bound: str
    value: float
    of: str

    def met_by(self, value: float) -> bool:
        """Whether a median meets the goal."""
        return value <= self.value if self.bound == "at most" else value >= self.value


def at_most(value: float, of: str = "ratio") -> Goal:
    """Return an upper bound."""
    return Goal("at most", value, of)


def at_least(value: float, of: str = "ratio") -> Goal:
    """Return a lower bound."""
    return Goal("at least", value, of)


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes:
        what: what was measured, and on which graph.
        ours: a number per round, in `unit`.
        unit: of `ours` and `theirs`.
        peer: the other program; empty without one.
        theirs: a number per round.
        ratio: how the two are compared, `ours / peer` or `peer / ours`.
        goal: the goal, if there is one.
        note: what a reader must know: samples, seeds, threads, limits.
        bound: what costs any program time or memory; empty if no one knows.
        floor: that cost, measured in the same run: at most one number per round, in `unit`.
    """

    what: str
    ours: Sequence[float]
    unit: str = "s"
    peer: str = ""
    theirs: Sequence[float] = ()
    ratio: str = "ours / peer"
    goal: Goal | None = None
    note: str = ""
    bound: str = ""
    floor: Sequence[float] = ()

    @property
    def ratios(self) -> list[float]:
        """The ratio of every round."""
        pairs = list(zip(self.ours, self.theirs, strict=True)) if self.theirs else []
        return [ours / theirs if self.ratio == "ours / peer" else theirs / ours for ours, theirs in pairs]

    @property
    def met(self) -> bool | None:
        """Whether the median meets the goal; None without a goal."""
        if self.goal is None:
            return None
        return self.goal.met_by(median(self.ratios if self.goal.of == "ratio" else self.ours))


@dataclass
class Setting:
    """The settings of the benchmark.

    Attributes:
        file: the graph's edge list.
        rounds: how often to measure, after a round to warm up.
        to: the folder for pictures.
        edges: edges of the large graph.
    """

    file: Path
    rounds: int
    to: Path = Path()
    edges: int = 6_000_000

    @property
    def many(self) -> int:
        """Rounds for tasks of about a second, which other work on the machine disturbs more."""
        return max(self.rounds, 9)

    @cached_property
    def graph(self) -> Any:
        """The graph as arrays."""
        from benchmarks.graphs import read_graph

        return read_graph(self.file)

    @property
    def name(self) -> str:
        """The graph's name in the tables."""
        return "HepPh" if self.file.name.startswith("hepph_cit") else self.file.name.partition(".")[0]


def say(text: str) -> None:
    """Report progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def timed(task: Callable[[], object]) -> Callable[[], float]:
    """Return a task that returns the seconds that `task` took."""

    def run() -> float:
        gc.collect()
        started = time.perf_counter()
        kept = task()
        seconds = time.perf_counter() - started
        del kept
        return seconds

    return run


def in_turns(
    rounds: int, tasks: Mapping[str, Callable[[], float]], *, warm_up: bool = True, label: str = ""
) -> dict[str, list[float]]:
    """Run the tasks in turns, reversing the order every round, and return the results of each.

    The first round warms up and does not count, unless the tasks are warm already.
    """
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(0 if warm_up else 1, rounds + 1):
        for name in list(tasks) if number % 2 else reversed(list(tasks)):
            value = tasks[name]()
            if number:
                taken[name].append(value)
        shown = ", ".join(f"{name} {values[-1]:.4g}" for name, values in taken.items() if values)
        if shown:
            say(f"  {label} round {number} of {rounds}: {shown}")
    return taken
