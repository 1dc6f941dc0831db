"""Readers beside everything else: each with its own thread and connection, in plain Cypher."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import neo4j
from graphs import own_text
from neo4j.exceptions import DriverError, Neo4jError

from campaign.ground import at_pace
from campaign.history_rules import AnswersSeen, History, LedgerSeen, Members, Read

__all__ = ["Readers"]

AT_ONCE = """
MATCH (r:PCohesionRun {id: $run})
WITH r.version AS version
MATCH (c:PCohesion {run: $run})
WHERE c.from <= version < c.until
RETURN version, collect(c.digest) AS digests
"""
MEMBERS = """
MATCH (r:PCohesionRun {id: $run})
WITH r.version AS version
MATCH (v:Person)-[:HAS_COHESION]->(c:PCohesion {run: $run})
WHERE c.from <= version < c.until
RETURN version, v.id AS vertex, COLLECT { MATCH (m:Person)-[:IN_COHESION]->(c) RETURN m.id } AS members
"""
CURRENT = "MATCH (r:PCohesionRun {id: $run}) RETURN r.version AS version"
KEPT = "MATCH (v:PCohesionVersion {run: $run, readable: true}) RETURN v.version AS version ORDER BY version DESC"
PARTS = 4
PART = """
MATCH (c:PCohesion {run: $run})
WHERE c.from <= $version < c.until AND abs(c.owner) % $parts = $part
RETURN c.digest AS digest
"""
LEDGER = "MATCH (s:PCohesionRelease) RETURN s.who AS who, s.epsilon AS epsilon"
ANSWERS = """
MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NOT NULL
RETURN q.id AS id, q.status AS status, q.message AS message, toString(q.finishedAt) AS at,
       q.version IS NOT NULL AND NOT EXISTS { MATCH (r:PCohesionRun) WHERE r.version >= q.version } AS ahead
"""


class Where(Protocol):
    """How a server is reached."""

    @property
    def uri(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> str: ...


class Readers:
    """Threads that read in a loop until the block ends."""

    def __init__(self, where: Where, database: str, runs: Sequence[str], folder: Path, history: History) -> None:
        """Prepare them.

        Args:
            where: the server.
            database: its name there.
            runs: which are read.
            folder: with public files, `WHO.json`.
            history: what they note.
        """
        self._where, self._database, self._runs, self._folder = where, database, runs, folder
        self._history = history
        self._over = threading.Event()
        self._rounds: Counter[str] = Counter()
        works: Sequence[Callable[[str, neo4j.Session], None]] = (
            *(self._read_at_once, self._read_at_once, self._read_in_parts, self._read_in_parts),
            *(self._read_members, self._read_ledger, self._read_answers),
        )
        self._threads = {
            name: threading.Thread(target=self._loop, args=(name, work), daemon=True)
            for name, work in ((f"reader {number}", work) for number, work in enumerate(works))
        }

    def __enter__(self) -> Readers:
        for thread in self._threads.values():
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads.values():
            thread.join(60)

    def look(self) -> None:
        """Wait until every reader has begun to read after now, and come to an end."""
        until = {name: self._rounds[name] + 2 for name in self._threads}
        deadline = time.monotonic() + at_pace(60)
        while late := [name for name, rounds in until.items() if self._rounds[name] < rounds]:
            assert time.monotonic() < deadline, f"{', '.join(late)} did not look again"
            time.sleep(0.05)

    def _loop(self, name: str, work: Callable[[str, neo4j.Session], None]) -> None:
        where = self._where
        while not self._over.is_set():
            try:
                with neo4j.GraphDatabase.driver(
                    where.uri,
                    auth=(where.username, where.password),
                    notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
                ) as driver:
                    while not self._over.wait(0.02):
                        with driver.session(database=self._database) as session:
                            work(name, session)
                        self._rounds[name] += 1
            except (DriverError, Neo4jError):  # the server is gone, or comes back
                self._over.wait(0.2)

    def _note(self, read: Read) -> None:
        self._history.reads.append(read)

    def _read_at_once(self, name: str, session: neo4j.Session) -> None:
        """One statement: what readers go by."""
        for run in self._runs:
            for row in session.run(own_text(AT_ONCE), run=run).data():
                self._note(Read(name, run, row["version"], tuple(sorted(row["digests"])), True))

    def _read_members(self, name: str, session: neo4j.Session) -> None:
        """One statement: what `show` and the exports are held against."""
        for run in self._runs:
            rows = session.run(own_text(MEMBERS), run=run).data()
            if rows:
                members = {row["vertex"]: frozenset(row["members"]) for row in rows}
                self._history.members.append(Members(name, run, rows[0]["version"], members, is_whole=True))

    def _read_in_parts(self, name: str, session: neo4j.Session) -> None:
        """Several statements at one version that is kept, and still is at the end."""
        for run in self._runs:
            ((current,),) = session.run(own_text(CURRENT), run=run).values() or ((0,),)
            kept = self._kept(session, run)
            for version in {*kept[:2], *kept[-1:]}:
                digests: list[str] = []
                for part in range(PARTS):
                    values = {"run": run, "version": version, "part": part, "parts": PARTS}
                    digests += [row["digest"] for row in session.run(own_text(PART), values)]
                if version in self._kept(session, run):
                    self._note(Read(name, run, version, tuple(sorted(digests)), version == current))

    def _kept(self, session: neo4j.Session, run: str) -> list[int]:
        return [row["version"] for row in session.run(own_text(KEPT), run=run)]

    def _read_ledger(self, _: str, session: neo4j.Session) -> None:
        files = [path for path in self._folder.glob("*.json") if not path.stem.endswith(".owner")]
        published = [(path.stem, _exact(json.loads(path.read_text(encoding="utf-8"))["epsilon"])) for path in files]
        rows = session.run(own_text(LEDGER)).data()
        recorded = sorted((str(row["who"]), _exact(row["epsilon"])) for row in rows)
        self._history.ledgers.append(LedgerSeen(tuple(sorted(published)), tuple(recorded)))

    def _read_answers(self, _: str, session: neo4j.Session) -> None:
        rows = session.run(own_text(ANSWERS)).data()
        answers = {row["id"]: (str(row["status"]), str(row["message"]), str(row["at"])) for row in rows}
        ahead = tuple(row["id"] for row in rows if row["ahead"])
        self._history.answers.append(AnswersSeen(answers, ahead))


def _exact(epsilon: Any) -> str:
    return str(Fraction(epsilon))
