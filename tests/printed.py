"""What documents print, run as a reader would run it: commands, Cypher and Python, in the order in which they stand."""

from __future__ import annotations

import gzip
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clusters import Processes
from graphs import Database
from places import ROOT
from services import answer, service_processes

from pcneo.errors import BusyError

TRIES = 10
"""Of a command that finds the graph being written, each of which waits for some seconds."""
GUIDE = ROOT / "pcneo" / "guide"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str | None = None) -> list[tuple[str, str]]:
    """The fenced blocks of a document with their languages; of one language alone if it is named."""
    return [(kind, block) for kind, block in BLOCK.findall(text) if language in (None, kind)]


def command_lines(text: str) -> list[str]:
    """The lines of a document's shell blocks."""
    return [line for _, block in blocks(text, "sh") for line in block.splitlines()]


def friends_lines() -> Iterator[str]:
    """The demo's graph as a reader's file has it."""
    with gzip.open(ROOT / "pcneo/cli/sample/copenhagen_friends.edges.gz", "rt") as file:
        yield from file


@dataclass
class Reader:
    """Somebody who follows a document in a folder, against one database.

    Attributes:
        command: the command line in this process, as the fixture `pcneo`.
        database: the same database in plain Cypher.
        server: the server of both.
        ran: what was run, in order.
        printed: what the Python blocks printed.
        cluster: of Dask, once a line has started it.
    """

    command: Callable[..., tuple[int, str, str]]
    database: Database
    server: Any
    ran: list[str] = field(default_factory=list)
    printed: str = ""
    cluster: Processes | None = None

    def follow(self, text: str) -> None:
        """Run all that a document prints; services end with it."""
        with ExitStack() as services:
            for kind, block in blocks(text):
                if kind == "sh":
                    for line in block.splitlines():
                        self.line(line, services)
                elif kind == "cypher":
                    self.cypher(block)
                elif kind == "python":
                    self.python(block)
                elif kind == "bash":
                    self.job(block)
                elif kind == "text" and block.startswith("to,"):
                    Path("batch.csv").write_text(block)

    def python(self, text: str) -> None:
        """Run a program in this process."""
        self.ran.append(text)
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(text, "a printed block", "exec"), {"__name__": "__main__"})  # noqa: S102
        self.printed += out.getvalue()

    def line(self, line: str, services: ExitStack) -> None:
        """Run one line of a shell block; lines about the machine's own server are for another test."""
        words = [word for written in shlex.split(line) for word in self._meant(written)]
        if words[0] == "dask":
            self._dask(words[1:], services)
        if words[0] != "pcneo" or words[1] == "server":
            return
        self.ran.append(line)
        if words[1] == "serve" and "--print-unit" not in words:
            services.enter_context(service_processes(self.server, 1, *words[2:]))
            return
        code, _, said = self.command(*words[1:])
        for _ in range(TRIES):
            if code != BusyError.exit_code:  # the service of a line before may be writing the graph
                break
            code, _, said = self.command(*words[1:])
        assert code == 0, f"{line}\n{said}"

    def _meant(self, word: str) -> list[str]:
        """A word of a command as the shell gives it; the scheduler's printed address is that of the one that runs."""
        if "*" in word:
            return sorted(map(str, Path().glob(word)))
        return [self.cluster.address] if self.cluster and word == "tcp://node1:8786" else [word]

    def _dask(self, words: list[str], services: ExitStack) -> None:
        """Start a scheduler, or a worker of it."""
        self.ran.append(shlex.join(words))
        if words[0] == "scheduler":
            folder = services.enter_context(TemporaryDirectory())
            self.cluster = Processes(Path(folder))
            services.callback(self.cluster.end)
        elif self.cluster:
            assert words == ["worker", self.cluster.address]
            self.cluster.add_worker("only")

    def job(self, text: str) -> None:
        """Run a job of an array for Slurm as often as it says."""
        self.ran.append(text)
        Path("job.sh").write_text(text)
        array = re.search(r"^#SBATCH --array=1-(\d+)$", text, re.MULTILINE)
        assert array is not None
        slurm = {"SLURM_ARRAY_TASK_COUNT": array[1], "SLURM_CPUS_PER_TASK": "1"}
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        for number in range(1, int(array[1]) + 1):
            environment = {**os.environ, **self.server.environment, **slurm, "SLURM_ARRAY_TASK_ID": str(number)}
            environment["PATH"] = path
            done = subprocess.run(["/bin/bash", "job.sh"], env=environment, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr

    def cypher(self, text: str) -> list[list[Any]]:
        """Run a query; what asks a service waits for the answer."""
        self.ran.append(text)
        rows = self.database.run(text, run="friends@3/10", id=58)
        if name := re.search(r"CREATE \(:PCohesionRequest \{id: '(.+?)'", text):
            assert answer(self.database, name[1])["status"] == "complete"
        elif "CREATE" not in text:
            assert rows, text
        return rows
