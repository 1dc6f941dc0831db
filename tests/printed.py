"""What documents print, run as a reader would run it: commands, Cypher and Python, in the order in which they stand."""

from __future__ import annotations

import gzip
import io
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphs import Database
from services import answer, service_processes

ROOT = Path(__file__).parents[1]
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
    """

    command: Callable[..., tuple[int, str, str]]
    database: Database
    server: Any
    ran: list[str] = field(default_factory=list)
    printed: str = ""

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
        words = shlex.split(line)
        if words[0] != "pcneo" or words[1] == "server":
            return
        self.ran.append(line)
        if words[1] == "serve" and "--print-unit" not in words:
            services.enter_context(service_processes(self.server, 1, *words[2:]))
            return
        code, _, said = self.command(*words[1:])
        assert code == 0, f"{line}\n{said}"

    def cypher(self, text: str) -> list[list[Any]]:
        """Run a query; what asks a service waits for the answer."""
        self.ran.append(text)
        rows = self.database.run(text, run="friends@3/10", id=58)
        if name := re.search(r"CREATE \(:PCohesionRequest \{id: '(.+?)'", text):
            assert answer(self.database, name[1])["status"] == "complete"
        elif "CREATE" not in text:
            assert rows, text
        return rows
