"""Releases by several real processes at once, killed and tried again: the ledger never falls behind what was published.

Each interleaving has a small graph, a total and three to five processes with kills at random times; `--interleavings
200` runs more of them. Afterwards: what was published is in the ledger, and the ledger is within its total.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import Database, cycle

from pcneo import annotate, budget
from pcneo.errors import BudgetError

NAME = "Person/KNOWS/id"

PROGRAM = """
import os, sys
from pathlib import Path
from pcneo import connect
from pcneo.config import read_environment
from pcneo.errors import BudgetError, BusyError
from pcneo.release import Asked, release
from pcneo.privacy import noise

database, folder = sys.argv[1], Path(sys.argv[2])
noise.ReleaseNoise()
with connect(read_environment(os.environ)) as driver:
    print("ready", flush=True)
    for line in sys.stdin:
        name, epsilon = line.split()
        try:
            release(driver, database, asked=[Asked(to=folder / f"{name}.json", epsilon=epsilon)])
            print("done", flush=True)
        except (BudgetError, BusyError) as error:
            print(type(error).__name__, flush=True)
"""


class Worker:
    """A process that releases what it is told to."""

    def __init__(self, server: Any, database: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, database, str(folder)],
            env={**os.environ, **server.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.ready = False

    def wait(self) -> str:
        """Its next answer; empty where it was killed."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, name: str, epsilon: Fraction) -> None:
        if not self.ready:
            assert self.wait() == "ready"
            self.ready = True
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name} {epsilon}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def db(neo4j_driver: neo4j.Driver, empty_database: str) -> Database:
    return Database(neo4j_driver, empty_database)


@pytest.fixture
def pool(server: Any, db: Database, tmp_path: Path):
    workers = [Worker(server, db.name, tmp_path) for _ in range(4)]
    yield workers
    for worker in workers:
        worker.kill()


def published(folder: Path) -> dict[str, Fraction]:
    """ε of each public file that is there."""
    return {path.stem: Fraction(json.loads(path.read_text())["epsilon"]) for path in folder.glob("r*[0-9].json")}


def test_spend_is_never_below_what_was_published_and_the_total_is_never_passed(
    request: pytest.FixtureRequest, server: Any, db: Database, pool: list[Worker], tmp_path: Path
) -> None:
    db.put([*cycle(6), (0, 2), (1, 3)])
    annotate.write(db.driver, db.name, p=0.6, node_labels=["Person"], relationship_types=["KNOWS"], key="id")
    rng = random.Random(11)
    seen = {"done": 0, "BudgetError": 0, "BusyError": 0, "killed": 0}
    for round_ in range(request.config.getoption("--interleavings")):
        db.run("MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget DELETE n")
        total = Fraction(rng.randint(1, 4), 3)
        budget.set_total(db.driver, db.name, graph=NAME, epsilon=total)
        before = published(tmp_path)
        busy = rng.sample(range(4), rng.randint(2, 4))
        for i in busy:
            pool[i].tell(f"r{round_}_{i}", Fraction(rng.randint(1, 3), 3))
        if rng.random() < 0.7:
            time.sleep(rng.random() * 0.5)
            victim = busy.pop()
            pool[victim].kill()
            pool[victim] = Worker(server, db.name, tmp_path)
            seen["killed"] += 1
        for i in busy:
            seen[pool[i].wait()] += 1
        (each,) = budget.show(db.driver, db.name, graph=NAME)
        new = {name: epsilon for name, epsilon in published(tmp_path).items() if name not in before}
        spent = each.account.spent.epsilon
        assert spent is not None
        assert sum(new.values()) <= spent <= total
        assert len(new) <= len(each.releases)
    assert seen["done"] > 0
    assert seen["BudgetError"] > 0


def test_a_release_killed_between_spend_and_numbers_has_spent_and_published_nothing(
    db: Database, server: Any, tmp_path: Path
) -> None:
    """Killed at the source of noise, the first thing after the spend."""
    db.put(cycle(6))
    annotate.write(db.driver, db.name, p=0.6, node_labels=["Person"], relationship_types=["KNOWS"], key="id")
    budget.set_total(db.driver, db.name, graph=NAME, epsilon=1)
    killer = "import os, signal\nfrom pcneo.privacy.noise import ReleaseNoise\n"
    killer += "ReleaseNoise._sample = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    worker = subprocess.run(
        [sys.executable, "-c", killer + PROGRAM, db.name, str(tmp_path)],
        env={**os.environ, **server.environment},
        input="r0 2/3\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert worker.returncode == -9
    assert worker.stdout == "ready\n"
    assert list(tmp_path.iterdir()) == []
    (each,) = budget.show(db.driver, db.name, graph=NAME)
    assert each.account.spent.epsilon == Fraction(2, 3)
    from pcneo.release import Asked, release

    with pytest.raises(BudgetError, match="left"):
        release(db.driver, db.name, asked=[Asked(to=tmp_path / "again.csv", epsilon="2/3")])
