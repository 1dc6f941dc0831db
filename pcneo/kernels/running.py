"""Running compiled code: announce its compilation, and spread ranges of about equal cost over threads."""

from __future__ import annotations

import logging
import os
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numba.core.event import Event, Listener, install_listener
from numpy.typing import NDArray

from pcneo.errors import ParameterError

__all__ = ["compilation_announced", "run_ranges", "thread_count"]

log = logging.getLogger("pcneo")

_RANGES_A_THREAD = 32  # many, so that threads finish together and an interruption waits only briefly

Memory = TypeVar("Memory")


def thread_count(concurrency: int | None) -> int:
    """Return how many threads to use: `concurrency`, or if it is None the number of available cores.

    Raises:
        ParameterError: it is less than 1.
    """
    if concurrency is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not concurrency >= 1:
        raise ParameterError(
            f"concurrency must be 1 or more, not {concurrency}.", name="concurrency", value=concurrency
        )
    return concurrency


def run_ranges(
    costs: NDArray[np.int64],
    memory: Callable[[], Memory],
    work: Callable[[Memory, int, int], object],
    concurrency: int | None = None,
) -> list[Memory]:
    """Call `work(memory, start, end)` on threads, in any order, for ranges of about equal cost that cover all items.

    Args:
        costs: the approximate cost of each item, 0 or more.
        memory: makes the memory of one thread.
        work: runs compiled code that releases the interpreter's lock.
        concurrency: number of threads; by default the available cores.

    Returns:
        The memories, one per thread.

    Raises:
        ParameterError: concurrency is less than 1.
    """
    threads = thread_count(concurrency)
    memories = [memory() for _ in range(threads)]
    free: queue.SimpleQueue[Memory] = queue.SimpleQueue()
    for own in memories:
        free.put(own)

    def run(start: int, end: int) -> None:
        mine = free.get()
        try:
            work(mine, start, end)
        finally:
            free.put(mine)

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(run, *bounds) for bounds in _equal_ranges(costs, _RANGES_A_THREAD * threads)]
        try:
            for future in wait(running, return_when=FIRST_EXCEPTION).done:
                future.result()
        finally:
            for future in running:
                future.cancel()
    return memories


def _equal_ranges(costs: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Cut 0..len(costs)-1 into at most `most` ranges of about equal cost."""
    reached = np.cumsum(costs, dtype=np.float64)
    total = reached[-1] if len(costs) else 0.0
    cuts = np.searchsorted(reached, total * np.arange(1, most) / most, side="right")
    bounds = np.unique(np.concatenate(([0], cuts, [len(costs)])))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


@contextmanager
def compilation_announced(what: str) -> Iterator[None]:
    """Announce, when numba starts to compile inside this block, that it takes a while; once per process and `what`."""
    with install_listener("numba:compile", _Announcement(what)):
        yield


_announced: set[str] = set()


class _Announcement(Listener):
    """Logs the announcement when the first compilation starts."""

    def __init__(self, what: str) -> None:
        self._what = what

    def on_start(self, event: Event) -> None:
        if self._what not in _announced:
            _announced.add(self._what)
            log.warning("Compiling %s for this machine; this takes some seconds, once.", self._what)

    def on_end(self, event: Event) -> None:
        pass
