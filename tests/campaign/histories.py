"""Histories: readers, writers, services and an editor side by side, with signals and restarts; then
everything they saw is checked as a whole."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from neo4j.exceptions import DriverError, Neo4jError
from services import answer, ask

from campaign.children import Child, Ended
from campaign.ground import GRAPH, Ground, at_pace, must_be_ours, serve
from campaign.history_contents import read_export, read_shown
from campaign.history_editor import Editor
from campaign.history_readers import Readers
from campaign.history_rules import History, faults_of
from campaign.user_locks import users
from pcneo import annotate

__all__ = ["seen", "try_history"]

SEEN: Counter[str] = Counter()
"""What happened in all histories of this process."""
RUNS = (f"{GRAPH}@1/2", f"{GRAPH}@3/10")


class Course:
    """The clients of one history, and what is done to them."""

    def __init__(self, rng: random.Random, folder: Path, ground: Ground, history: History) -> None:
        self._rng, self._folder, self._ground, self._history = rng, folder, ground, history
        self._exports = folder / "exports"
        self._exports.mkdir()
        self._editor = Editor(rng, ground.db)
        history.gone = self._editor.gone
        self.clients: dict[str, Child] = {}
        self.services = [serve(ground, folder) for _ in range(rng.randint(1, 2))]
        self.requests: list[Any] = []
        self.killed: set[str] = set()
        self._stopped: list[Child] = []
        self._restarts = rng.choice((0, 0, 1))

    def step(self) -> None:
        """Do one thing."""
        what = self._rng.choices(
            (self._begin, self._place, self._edit, self._signal, self._go_on, self._restart), (5, 3, 4, 4, 2, 1)
        )[0]
        try:
            what()
        except (DriverError, Neo4jError):  # an edit in the moment of a restart
            SEEN["edits lost"] += 1

    def _begin(self) -> None:
        if sum(child.is_running for child in self.clients.values()) >= 4:
            return
        rng, who = self._rng, f"who{len(self.clients)}"
        run, to = rng.choice(RUNS), self._exports / f"{who}.{rng.choice(['json', 'graphml'])}"
        release = ("release", GRAPH, "--mechanism", "edge", "-e", f"1/{rng.randint(2, 9)}", "--anyway")
        calls: Sequence[tuple[object, ...]] = (
            ("annotate", "--graph", GRAPH),
            ("annotate", "--graph", GRAPH, "-p", "1/2"),
            ("annotate", "--graph", GRAPH, "-p", "0.4", "--vertex", rng.randint(0, 11)),
            (*release, "--to", self._folder / f"{who}.json"),
            ("show", rng.randint(0, 11), run, "--json", "--to", to),
            ("runs", run, "--to", to),
            ("clean", f"{GRAPH}@2/5:vertices"),
        )
        self.clients[who] = self._ground.child(*rng.choice(calls), folder=self._folder, who=who)
        SEEN["commands"] += 1

    def _place(self) -> None:
        p = self._rng.choice(["1/2", "0.3"])
        self.requests.append(ask(self._ground.db, command="annotate", graph=GRAPH, p=p))
        SEEN["requests"] += 1

    def _edit(self) -> None:
        """Edit the graph; where a stopped client holds the vertices, only that client can let the edit go on."""
        pool = ThreadPoolExecutor(1)
        edit = pool.submit(self._editor.edit, self._ground.db)
        pool.shutdown(wait=False)
        try:
            what = edit.result(at_pace(10))
        except TimeoutError:
            SEEN["edits that a stopped client held up"] += bool(self._stopped)
            while self._stopped:
                self._go_on()
            what = edit.result(at_pace(120))
        SEEN[f"edits: {what}"] += 1

    def _signal(self) -> None:
        running = {who: child for who, child in self.clients.items() if child.is_running}
        running |= {str(number): child for number, child in enumerate(self.services) if child.is_running}
        if not running:
            return
        who = self._rng.choice(sorted(running))
        number = self._rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGSTOP, signal.SIGTERM])
        running[who].send(number)
        SEEN[number.name] += 1
        if number == signal.SIGSTOP:
            self._stopped.append(running[who])
        elif number == signal.SIGKILL:
            self.killed.add(who)

    def _go_on(self) -> None:
        if self._stopped:
            self._stopped.pop().send(signal.SIGCONT)
            SEEN["SIGCONT"] += 1

    def _restart(self) -> None:
        """Once at most: kill, end or stop the server."""
        if not self._restarts:
            return
        self._restarts -= 1
        how = self._rng.choice(["kill", "end", "stop"])
        SEEN[f"server: {how}"] += 1
        if how == "stop":
            os.kill(self._ground.server.pid, signal.SIGSTOP)
            time.sleep(self._rng.random() * 4)
            os.kill(self._ground.server.pid, signal.SIGCONT)
            return
        (self._ground.kill if how == "kill" else self._ground.stop)()
        self._ground.start()

    def drain(self) -> None:
        """Have everybody come to an end, and every request answered."""
        while self._stopped:
            self._go_on()
        said = {}
        for who, child in self.clients.items():
            ended = child.wait(at_pace(120))
            said[who] = ended.err
            if ended.code not in (-signal.SIGKILL, -signal.SIGTERM):  # the latter before Python has begun to heed it
                must_be_ours(ended)
            self._read(who, ended)
        self._ground.db.run(  # as it would half a minute later
            "MATCH (q:PCohesionRequest) WHERE q.leaseUntil IS NOT NULL SET q.leaseUntil = datetime() - duration('PT1S')"
        )
        self.services.append(serve(self._ground, self._folder))
        answers = [answer(self._ground.db, request, at_pace(120)) for request in self.requests]
        assert all(fields["status"] == "complete" for fields in answers), answers
        for service in self.services:
            service.send(signal.SIGTERM)
            ended = service.wait(at_pace(60))
            assert ended.code in (0, -signal.SIGKILL, -signal.SIGTERM), str(ended)
        self._ground.check_ledger(self._folder, said, self.killed)

    def _read(self, who: str, ended: Ended) -> None:
        """Read what a command has shown or exported, if it has come to its end."""
        kind, to = ended.arguments[0], Path(ended.arguments[-1])
        if to.parent != self._exports or ended.code != 0:
            return
        read = read_shown(who, ended.out, to) if kind == "show" else read_export(who, to)
        self._history.members.append(read)
        SEEN["shown" if kind == "show" else "exported"] += 1


def try_history(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Run one history, and check all of it; whether something was killed in it."""
    ground.renew(rng)
    history = History()
    with Readers(ground.server, ground.db.name, RUNS, folder, history) as readers:
        course = Course(rng, folder, ground, history)
        until = time.monotonic() + 6 + 6 * rng.random()  # from here: services begin late on a busy machine
        with users(rng, ground, 3) if rng.random() < 0.3 else nullcontext():
            while time.monotonic() < until:
                course.step()
                time.sleep(rng.random() * 0.4)
        course.drain()
        readers.look()
    history.placed += course.requests
    SEEN["histories"] += 1
    SEEN["reads"] += len(history.reads)
    assert not (found := faults_of(history)), "\n".join(found)
    again = ground.child("annotate", "--graph", GRAPH, folder=folder).wait()
    must_be_ours(again, codes={0})
    ground.check(up_to_date=True)
    _same_as_fresh(ground)
    return bool(course.killed)


def _same_as_fresh(ground: Ground) -> None:
    """Compare what is stored with what an empty store gets from the same graph."""
    stored = {run: ground.db.members(run) for run in RUNS}
    ground.db.run("MATCH (n) WHERE n:PCohesion OR n:PCohesionRun OR n:PCohesionVersion DETACH DELETE n")
    for p in ("1/2", "3/10"):
        annotate.write(ground.db.store, p=p, graph=GRAPH)
    assert {run: ground.db.members(run) for run in RUNS} == stored


def seen() -> str:
    """What happened in the histories of this process, for people."""
    return ", ".join(f"{what} {times:,}" for what, times in sorted(SEEN.items()))
