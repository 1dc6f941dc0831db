from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import njit

from pcneo.errors import ParameterError
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.threads import run_ranges, thread_count


def ranges_of(costs: list[int], threads: int) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    run_ranges(np.array(costs, np.int64), lambda: None, lambda _, start, end: ranges.append((start, end)), threads)
    return sorted(ranges)


@pytest.mark.parametrize("costs", [[], [0], [0] * 9, [5], list(range(1000)), [1] * 50 + [10**15] + [1] * 50])
@pytest.mark.parametrize("threads", [1, 3])
def test_ranges_follow_each_other_and_cover_everything_once(costs, threads):
    assert [i for start, end in ranges_of(costs, threads) for i in range(start, end)] == list(range(len(costs)))


def test_ranges_cost_about_the_same():
    ranges = ranges_of(list(range(10_000)), 2)
    costs = [sum(range(start, end)) for start, end in ranges]
    assert len(ranges) == 64
    assert max(costs) < 1.1 * sum(costs) / len(costs)


def test_each_memory_is_used_by_one_thread_at_a_time_and_all_are_returned():
    def work(memory: dict[str, int], start: int, end: int) -> None:
        assert memory.setdefault("busy", 0) == 0
        memory["busy"] = 1
        memory["done"] = memory.get("done", 0) + end - start
        memory["busy"] = 0

    memories = run_ranges(np.ones(5000, np.int64), dict, work, 4)
    assert len(memories) == 4
    assert sum(memory.get("done", 0) for memory in memories) == 5000


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.timeout(20)
def test_an_error_in_a_range_ends_the_run_and_is_raised(threads):
    def work(memory: None, start: int, end: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_ranges(np.ones(1000, np.int64), lambda: None, work, threads)
    assert threading.active_count() < 20


def test_no_number_of_threads_below_1_is_taken():
    assert thread_count(None) >= 1
    assert thread_count(3) == 3
    for concurrency in (0, -1):
        with pytest.raises(ParameterError, match="concurrency"):
            thread_count(concurrency)


def test_a_compilation_is_announced_once_and_only_if_there_is_one(caplog):
    @njit
    def first() -> int:
        return 1

    @njit
    def two() -> int:
        return first() + 1

    with caplog.at_level(logging.WARNING, "pcneo"), compilation_announced("the sums"):
        assert two() == 2
    assert [record.getMessage() for record in caplog.records] == [
        "Compiling one part of the sums for this machine "
        "(each part only once; up to half a minute, longer on a busy machine)."
    ]
    caplog.clear()
    with compilation_announced("what is compiled already"):
        assert two() == 2
    assert not caplog.records


def test_what_was_announced_is_not_announced_again_where_more_of_it_is_compiled(caplog):
    @njit
    def first() -> int:
        return 1

    @njit
    def other() -> int:
        return 2

    with caplog.at_level(logging.WARNING, "pcneo"):
        for function in (first, other):
            with compilation_announced("the differences"):
                function()
    assert len(caplog.records) == 1


@pytest.mark.parametrize("number", ["0", "-2"])
def test_a_number_of_threads_that_numba_refuses_is_one_sentence(number):
    done = subprocess.run(
        [sys.executable, "-c", "import pcneo.kernels"],
        env={**os.environ, "NUMBA_NUM_THREADS": number},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == "pcneo.errors.ParameterError: NUMBA_NUM_THREADS must be 1 or more. Unset it."
