"""Where trials happen: the campaign's own server with a small graph in it; and what must always hold there."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import compile_cache
import neo4j
import neo4j_servers
from graphs import Database

from campaign.children import Accident, Child, Ended
from campaign.texts import is_harmless
from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.release import budget
from pcneo.release.checking import check
from pcneo.server import servers

__all__ = ["ASKED", "CODES", "GRAPH", "MOST_MIB", "NAMES", "Ground", "at_pace", "ground", "must_be_ours", "serve"]

GRAPH = "friends"
NAMES: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
ASKED = ("--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id")
CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143, 129}
"""Every exit code that pcneo has, and those of the three signals that it heeds."""
REPORTS = ("stays recorded", "unknown whether", "(not heard)")
"""Words of a report that a spend has no file; the last ones stand for streams that took none."""
MOST_MIB = 1_000
"""The bound on the memory of a command on a small graph."""
TOTAL = 1_000


class Ground:
    """A server, and a way to it.

    Attributes:
        server: Neo4j on a folder of the campaign's own.
        db: its database, spoken to in plain Cypher.
        environment: what a command needs to find it.
    """

    def __init__(self, folder: Path) -> None:
        """Start the server on a folder."""
        self._data = folder / "server"
        names = ("HOME", "PATH", "PYTHONPATH", "LANG", "NUMBA_CACHE_DIR", "VIRTUAL_ENV", "TMPDIR")
        self._kept = {name: os.environ[name] for name in names if name in os.environ}
        self._kept |= {"PCNEO_STATE_DIR": str(folder / "state"), "PCNEO_DATA_DIR": str(folder / "data")}
        self.start()

    def start(self) -> None:
        """Start the server, again on the port it had."""
        self.server = servers.start(self._data)
        self.driver = neo4j.GraphDatabase.driver(
            self.server.uri,
            auth=(self.server.username, self.server.password),
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        )
        self.db = Database(self.driver, "neo4j")

    def stop(self) -> None:
        """Stop it cleanly."""
        self.driver.close()
        servers.stop(self._data)

    def kill(self) -> None:
        """End the server as `kill -9` does."""
        self.driver.close()
        os.kill(self.server.pid, signal.SIGKILL)
        while servers.status(self._data):  # a start that finds it still dying waits for it, in vain
            time.sleep(0.01)

    def recover(self) -> None:
        """See that the server answers, whatever a case has left."""
        try:
            self.driver.verify_connectivity()
        except Exception:  # noqa: BLE001 - it is down, or its driver closed: both are mended alike
            self.stop()
            self.start()

    def environment(self, uri: str | None = None, who: str | None = None) -> dict[str, str]:
        """What a command needs to find the server, or a way to it, and to be told from others in the ledger."""
        reached = {
            "NEO4J_URI": uri or self.server.uri,
            "NEO4J_USERNAME": self.server.username,
            "NEO4J_PASSWORD": self.server.password,
        }
        return {**self._kept, **reached, "LOGNAME": who or "campaign", "USER": who or "campaign"}

    def child(
        self,
        *arguments: object,
        folder: Path,
        who: str | None = None,
        uri: str | None = None,
        accident: Accident = Accident(),  # noqa: B008
    ) -> Child:
        """Start a command line against the server."""
        return Child(*arguments, folder=folder, environment=self.environment(uri, who), accident=accident)

    def renew(self, rng: random.Random, vertices: int | None = None) -> list[tuple[int, int]]:
        """Leave a small random graph alone in the database, annotated at two p, with a total; return its edges."""
        with self.driver.session(database=self.db.name) as session:
            session.run(
                "MATCH ()-[e]->() CALL (e) { DELETE e } IN TRANSACTIONS OF 10000 ROWS"
            ).consume()  # a star's too
            session.run("MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()
        n = vertices or rng.randint(12, 60)
        edges = [(a, b) for a in range(n) for b in range(a) if rng.random() < 6 / n]
        self.db.put(edges or [(0, 1)], isolated=range(n))
        annotate.write(self.db.store, p="1/2", graph=GRAPH, **NAMES)
        annotate.write(self.db.store, p="3/10", graph=GRAPH, **NAMES)
        budget.set_total(self.db.store, graph=GRAPH, epsilon=TOTAL, delta="1/2")
        return edges

    def edit(self, rng: random.Random, edges: int = 3) -> None:
        """Remove some of the graph's edges and add others."""
        self.db.run(
            "MATCH (a:Person)-[e:KNOWS]->() WITH e ORDER BY a.id, elementId(e) SKIP $skip LIMIT $edges DELETE e",
            skip=rng.randint(0, 10),
            edges=rng.randint(0, edges),
        )
        n = self.db.run("MATCH (v:Person) RETURN count(v)")[0][0]
        pairs = [rng.sample(range(n), 2) for _ in range(rng.randint(1, edges))]
        self.db.run(
            "UNWIND $pairs AS pair MATCH (a:Person {id: pair[0]}), (b:Person {id: pair[1]}) CREATE (a)-[:KNOWS]->(b)",
            pairs=pairs,
        )

    # --- What must hold

    def check(self, *, up_to_date: bool = False) -> None:
        """Look for anything that no writer leaves; where all is up to date, for what a writer at work leaves, too."""
        checked = check(self.db.store)
        assert all(run.memberships_same for run in checked.runs if run.run.scope == "graph"), checked
        faults = [finding for finding in checked.findings if finding.is_fault or up_to_date]
        assert not faults, faults
        assert checked.all_well or not up_to_date, checked

    def check_ledger(self, folder: Path, reported: dict[str, str], killed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        """Compare the ledger with what lies in a folder: `WHO.json`, each by somebody of that name.

        Args:
            folder: where the public files are.
            reported: what each has said; who has spent without a file says so.
            killed: who had no time to say anything.
        """
        shown = budget.show(self.db.store, graph=GRAPH)
        entries: dict[str, list[Fraction]] = {}
        for release in (release for budget_shown in shown for release in budget_shown.releases):
            entries.setdefault(release.who or "", []).append(Fraction(release.epsilon))
        published = {path.stem: path for path in folder.glob("*.json") if not path.stem.endswith(".owner")}
        for who, path in published.items():
            if who not in reported:
                continue
            epsilon = Fraction(json.loads(path.read_text())["epsilon"])
            assert epsilon in entries.get(who, []), f"{path} is not in the ledger"
        for who, said in reported.items():
            if who in entries and who not in published and who not in killed:
                assert any(word in said for word in REPORTS), f"{who} has spent {entries[who]}, and says only {said!r}"


def at_pace(seconds: float) -> float:
    """So many seconds of an idle machine: longer where others work beside, as is seen by what waits for its cores."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) ** 2


def must_be_ours(ended: Ended, *, most_mib: int = MOST_MIB, codes: set[int] = CODES) -> None:
    """See that a command has ended in one of pcneo's own ways, within its memory."""
    assert ended.code is not None, f"it hangs: {ended}"
    assert ended.code in codes, str(ended)
    assert "Traceback" not in ended.err + ended.out, str(ended)
    assert "Exception ignored" not in ended.err, str(ended)
    assert "Fatal Python error" not in ended.err, str(ended)
    assert is_harmless(ended.err.replace("\r", "").replace("\t", "").replace("\x1b", "")), str(ended)
    assert ended.mib <= most_mib, str(ended)
    assert ended.code == 0 or ended.err.strip(), f"it failed without a word: {ended}"


def serve(ground: Ground, folder: Path) -> Child:
    """Start a service, and return when it serves."""
    child = ground.child("serve", folder=folder)
    deadline = time.monotonic() + at_pace(60)
    while "serving" not in child.said():
        assert child.is_running, str(child.wait())
        assert time.monotonic() < deadline, "the service does not begin"
        time.sleep(0.05)
    return child


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """A server for the length of the block."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", neo4j_servers.LONG)
    os.environ.setdefault("NUMBA_CACHE_DIR", str(compile_cache.prepare()))
    with tempfile.TemporaryDirectory(prefix="pcneo-campaign-") as folder:
        there = Ground(Path(folder))
        try:
            yield there
        finally:
            there.stop()
