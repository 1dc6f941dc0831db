"""A Dask cluster of separate processes on this machine: each can be killed or stopped, and more can join."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Client
from places import TESTS

from pcneo.errors import AnswerError
from pcneo.kernels import answer_check, cohesion
from pcneo.search.cluster import remote

STEPS = 300
"""Tenths of a second that anything may take."""


class Processes:
    """A scheduler and workers without nannies: nobody starts a worker again that has died."""

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        """Start a scheduler; the settings are for the environment of all."""
        self._folder, self._running, self._settings = folder, [], settings
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *options)
        self.address = self._said(self.scheduler, "Scheduler at:").split()[-1]

    def add_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread; it may join a moment later."""
        options = ["--nthreads", "1", "--name", name, "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        return self._start("worker", self.address, *options, "--local-directory", str(self._folder))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = self._folder / f"{len(self._running)}.log"
        command = [sys.executable, "-m", "dask", *arguments]
        paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                # they import this file
                env={**os.environ, **self._settings, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )
        self._running.append((process, log))
        return process

    def _said(self, process: subprocess.Popen[bytes], words: str) -> str:
        (log,) = (log for running, log in self._running if running is process)
        for _ in range(STEPS):
            for line in log.read_text().splitlines():
                if words in line:
                    return line
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    def end(self) -> None:
        for process, _ in reversed(self._running):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(workers: int, patience: float = 30) -> Iterator[tuple[Client, Processes, list[subprocess.Popen[bytes]]]]:
    """A client, the processes, and those that are workers, which are all there.

    `patience` is how many seconds the client looks for a scheduler that is gone.
    """
    with tempfile.TemporaryDirectory(prefix="pcneo-cluster-") as name:
        processes = Processes(Path(name))
        try:
            started = [processes.add_worker(f"worker-{i}") for i in range(workers)]
            with Client(processes.address, set_as_default=False, timeout=patience) as client:
                client.wait_for_workers(workers, timeout=60)
                yield client, processes, started
        finally:
            processes.end()


# --- What tests have workers do


def graphs_held() -> int:
    return len(remote._held)


def forget_all() -> None:
    remote._held.clear()


def finds_nothing(token: str, path: str) -> int:
    return remote.take_file(token, path + "-elsewhere")


def signatures() -> tuple[set[int], list[bool]]:
    arrays = [a for held in remote._held.values() for a in (held._graph.offsets, held._graph.neighbours)]
    kernels = [*vars(cohesion).values(), *vars(answer_check).values()]
    compiled = {len(kernel.signatures) for kernel in kernels if hasattr(kernel, "signatures")}
    return compiled, [array.flags.writeable for array in arrays]


def fails(token: str, task: Any, ranges: Any) -> None:
    raise AnswerError("position 4", vertex=4, condition="is not minimal")


def runs_out(token: str, task: Any, ranges: Any) -> None:
    raise MemoryError
