"""Compiled work spread over threads, in ranges of about equal cost."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import ParameterError

_RANGES_A_THREAD = 32  # many, so that threads finish together and an interruption waits only briefly

Memory = TypeVar("Memory")


def thread_count(concurrency: int | None) -> int:
    """Return how many threads to use: `concurrency`, or the number of available cores if it is None."""
    if concurrency is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(concurrency, "__index__") or isinstance(concurrency, bool):  # NumPy's integers have it too
        raise ParameterError(
            f"concurrency must be a whole number of 1 or more, not {concurrency!r}.",
            name="concurrency",
            value=concurrency,
        )
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
    """
    threads = thread_count(concurrency)
    memories, ranges = [memory() for _ in range(threads)], _equal_ranges(costs, _RANGES_A_THREAD * threads)
    if threads == 1:  # handing out ranges would cost as much as a small graph does
        for bounds in ranges:
            work(memories[0], *bounds)
        return memories
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
        running = [pool.submit(run, *bounds) for bounds in ranges]
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
