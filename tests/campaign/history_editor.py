"""An editor who changes the graph beside everything else: nodes and edges come and go, in plain Cypher."""

from __future__ import annotations

import random

from graphs import Database

__all__ = ["Editor"]

LEAST = 8
"""Vertices that are left in any case."""


class Editor:
    """Edits the vertices that it knows; a key that is gone does not come back.

    Attributes:
        gone: the keys of the vertices that it has deleted, or has tried to.
    """

    def __init__(self, rng: random.Random, db: Database) -> None:
        self._rng = rng
        self.gone: set[int] = set()
        self._keys = sorted(key for (key,) in db.run("MATCH (v:Person) RETURN v.id"))

    def edit(self, db: Database) -> str:
        """Do one thing, and say what."""
        what = self._rng.choices(("edges", "node comes", "node goes"), (4, 1, 1))[0]
        if what == "node comes":
            self._come(db)
        elif what == "node goes" and len(self._keys) > LEAST:
            self._go(db)
        else:
            self._connect(db)
        return what

    def _come(self, db: Database) -> None:
        key = max(self._keys, default=0) + len(self.gone) + 1
        near = self._rng.sample(self._keys, 2)
        self._keys.append(key)
        text = (
            "CREATE (v:Person {id: $key}) WITH v UNWIND $near AS other "
            "MATCH (o:Person {id: other}) CREATE (v)-[:KNOWS]->(o)"
        )
        db.run(text, key=key, near=near)

    def _go(self, db: Database) -> None:
        key = self._rng.choice(self._keys)
        self._keys.remove(key)
        self.gone.add(key)  # before it is sent: it may arrive though the answer does not
        db.run("MATCH (v:Person {id: $key}) DETACH DELETE v", key=key)

    def _connect(self, db: Database) -> None:
        """Some edges go, and others come."""
        rng = self._rng
        ends = rng.sample(self._keys, min(len(self._keys), rng.randint(1, 3)))
        text = "MATCH (a:Person)-[e:KNOWS]->() WHERE a.id IN $ends WITH e ORDER BY elementId(e) LIMIT 2 DELETE e"
        db.run(text, ends=ends)
        pairs = [rng.sample(self._keys, 2) for _ in range(rng.randint(1, 2))]
        db.run(
            "UNWIND $pairs AS pair MATCH (a:Person {id: pair[0]}), (b:Person {id: pair[1]}) CREATE (a)-[:KNOWS]->(b)",
            pairs=pairs,
        )
