"""Releases by several real processes at once, killed and tried again: the ledger never falls behind what was published.

Each interleaving has a small graph, a total and two to five processes; most have a kill, at a random time or while the
victim is held between spend and file, and the victim's release is asked for again at once. `--interleavings 200` runs
more of them. Afterwards: what was published is in the ledger, each by its own process and for its ε, and the ledger is
within its total.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from graphs import Database, cycle
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError
from pcneo.privacy.mechanisms import Respond
from pcneo.release import Release, Terms, budget, ledger_mending, release, spending

NAME = "Person/KNOWS/id"

PROGRAM = """
import os, sys, time
from pathlib import Path
from pcneo.store.connection import connect
from pcneo.errors import BudgetError, BusyError
from pcneo.release import Release, release
from pcneo.privacy import noise
from pcneo.privacy.mechanisms import Critical

database, folder = sys.argv[1], Path(sys.argv[2])
draw, hold = noise.ReleaseNoise._bytes, []

def held(self, size):
    if hold:
        print("spent", flush=True)
        time.sleep(600)
    return draw(self, size)

noise.ReleaseNoise._bytes = held
noise.ReleaseNoise()
with connect(database=database) as db:
    print("ready", flush=True)
    for line in sys.stdin:
        name, epsilon, *hold = line.split()
        try:
            wanted = Release(mechanism=Critical(epsilon=epsilon), to=folder / f"{name}.json")
            release(db, requests=[wanted])
            print("done", flush=True)
        except (BudgetError, BusyError) as error:
            print(type(error).__name__, flush=True)
"""


class Worker:
    """A process that releases what it is told to; the ledger and its files have it under a name of its own."""

    def __init__(self, server: Any, database: str, folder: Path, number: int) -> None:
        self.who = f"worker{number}"
        self.errors = folder / f"{self.who}.stderr"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, database, str(folder)],
                env={**os.environ, **server.environment, "LOGNAME": self.who},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.ready = False

    def wait(self) -> str:
        """Its next answer; empty where it was killed."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, round_: int, epsilon: Fraction, hold: str = "") -> None:
        if not self.ready:
            assert self.wait() == "ready"
            self.ready = True
        assert self.process.stdin is not None
        self.process.stdin.write(f"{round_}-{self.who} {epsilon} {hold}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def workers(server: Any, db: Database, tmp_path: Path) -> Iterator[Iterator[Worker]]:
    """Workers, each started some time before it is needed."""
    started: list[Worker] = []

    def start() -> Worker:
        started.append(Worker(server, db.name, tmp_path, len(started)))
        return started[-1]

    def spare() -> Iterator[Worker]:
        waiting = [start() for _ in range(2)]
        while True:
            yield waiting.pop(0)
            waiting.append(start())

    yield spare()
    for worker in started:
        worker.kill()


def published(folder: Path, round_: int) -> dict[str, Fraction]:
    """ε of each public file that a round has left, by worker."""
    files = folder.glob(f"{round_}-*[0-9].json")
    return {path.stem.split("-")[1]: Fraction(json.loads(path.read_text())["epsilon"]) for path in files}


def test_spend_is_never_below_what_was_published_and_the_total_is_never_passed(
    request: pytest.FixtureRequest, db: Database, workers: Iterator[Worker], tmp_path: Path
) -> None:
    db.put([*cycle(6), (0, 2), (1, 3)])
    annotate.write(db.store, p=0.6, selection=Selection("Person", "KNOWS", "id"))
    rng, seen = random.Random(165), Counter[str]()
    pool = [next(workers) for _ in range(4)]
    interleavings: int = request.config.option.interleavings
    for round_ in range(interleavings):
        db.run("MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget DELETE n")
        total = Fraction(rng.randint(1, 4), 3)
        budget.set_total(db.store, graph=NAME, epsilon=total)
        epsilons = {worker: Fraction(rng.randint(1, 3), 3) for worker in rng.sample(pool, rng.randint(2, 4))}
        victim, how = next(iter(epsilons)), rng.choice(["not", "held", "any time", "any time"])
        if how == "held":  # alone at first and for the least ε, so that it is sure to spend
            epsilons[victim] = Fraction(1, 3)
            victim.tell(round_, epsilons[victim], "hold")
            assert victim.wait() == "spent"
        for worker in epsilons.keys() - ({victim} if how == "held" else set()):
            worker.tell(round_, epsilons[worker])
        if how != "not":
            time.sleep(rng.random() * 0.8)
            victim.kill()
            again = next(workers)
            pool[pool.index(victim)] = again
            epsilons[again] = epsilons.pop(victim)
            again.tell(round_, epsilons[again])
        for worker in epsilons:
            while (answer := worker.wait()) == "BusyError":
                seen[answer] += 1
                worker.tell(round_, epsilons[worker])
            assert answer in ("done", "BudgetError"), worker.errors.read_text()
            seen[answer] += 1

        (shown,) = budget.show(db.store, graph=NAME)
        there, entries = published(tmp_path, round_), {r.who: Fraction(r.epsilon) for r in shown.releases}
        assert len(entries) == len(shown.releases)
        assert there.items() <= entries.items()
        assert sum(there.values()) <= sum(entries.values()) <= total
        if how != "not":
            stage = (
                "after the file" if victim.who in there else "after the spend" if victim.who in entries else "before"
            )
            seen[f"killed {how}, {stage}"] += 1
            assert how != "held" or stage == "after the spend"
    print(dict(seen))
    assert seen["done"] > 0
    assert seen["BudgetError"] > 0
    assert seen["killed held, after the spend"] > 0
    assert seen["killed any time, before"] + seen["killed any time, after the spend"] > 0


def test_a_release_killed_between_spend_and_numbers_has_spent_and_published_nothing(
    db: Database, server: Any, tmp_path: Path
) -> None:
    """Killed at the source of noise, the first thing after the spend."""
    db.put(cycle(6))
    annotate.write(db.store, p=0.6, selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph=NAME, epsilon=1)
    killer = "import os, signal\nfrom pcneo.privacy.noise import ReleaseNoise\n"
    killer += "ReleaseNoise._bytes = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    worker = subprocess.run(
        [sys.executable, "-c", killer + PROGRAM, db.name, str(tmp_path)],
        env={**os.environ, **server.environment},
        input="r0 2/3\n",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert worker.returncode == -9
    assert worker.stdout == "ready\n"
    assert list(tmp_path.iterdir()) == []
    (shown,) = budget.show(db.store, graph=NAME)
    assert shown.account.spent.epsilon == Fraction(2, 3)
    from pcneo.release import release

    with pytest.raises(BudgetError, match="left"):
        release(
            db.store,
            requests=[requested(to=tmp_path / "again.csv", mechanism="critical", epsilon="2/3")],
        )


def test_two_names_over_the_same_vertices_in_one_call_are_refused(db: Database, tmp_path: Path) -> None:
    wanted = []
    for label, type_ in (("Person", "KNOWS"), ("Copy", "KNEW")):
        db.put(cycle(3), label=label, type_=type_)
        annotate.write(db.store, p="1/2", selection=Selection(label, type_, "id"))
        to, graph = tmp_path / f"{label}.csv", f"{label}/{type_}/id"
        wanted.append(Release(mechanism=Respond(epsilon=1), to=to, graph=graph))
    with pytest.raises(BudgetError, match=r"'Copy/KNEW/id' and 'Person/KNOWS/id' have the same vertices.*Nothing was"):
        release(db.store, requests=wanted, terms=Terms(budget_epsilon=1, anyway=True))
    assert not [one for shown in budget.show(db.store) for one in shown.releases]
    release(db.store, requests=wanted[:1], terms=Terms(budget_epsilon=1, anyway=True))
    ledger_mending.apart(db.store, graph="Copy/KNEW/id", other="Person/KNOWS/id")
    budget.set_total(db.store, graph="Copy/KNEW/id", epsilon=1)
    release(db.store, requests=wanted[1:], terms=Terms(anyway=True))


def test_two_names_over_the_same_vertices_that_are_released_at_once_do_not_both_begin_anew(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is held between what it read and its commit; the second must not go by what was there before."""
    selections = []
    for label, type_ in (("Person", "KNOWS"), ("Copy", "KNEW")):
        db.put(cycle(3), label=label, type_=type_)
        selections.append(Selection(label, type_, "id"))
    record, reached, results = spending.create_release, threading.Event(), []

    def slowly(*arguments: Any) -> None:
        reached.set()
        time.sleep(1.5)
        record(*arguments)

    def made(selection: Selection, to: str) -> None:
        wanted = Release(mechanism=Respond(epsilon=1), to=tmp_path / to)
        try:
            release(db.store, requests=[wanted], terms=Terms(budget_epsilon=1, anyway=True), selection=selection)
            results.append("released")
        except BudgetError as error:
            results.append(str(error))

    monkeypatch.setattr(spending, "create_release", slowly)
    first = threading.Thread(target=made, args=(selections[0], "a.csv"))
    first.start()
    assert reached.wait(30)
    made(selections[1], "b.csv")
    first.join()
    assert results.count("released") == 1, results
    assert any("has the vertices of graph 'Person/KNOWS/id'" in result for result in results)
