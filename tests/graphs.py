"""A database under test, spoken to in plain Cypher that shares nothing with pcneo's statements.

Labels, types and property names go in as values here (`$(…)`), so that no quoting of ours can agree with a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, LiteralString, cast

import neo4j

OWN_LABELS = [
    "PCohesion",
    "PCohesionBudget",
    "PCohesionFence",
    "PCohesionGraph",
    "PCohesionLedger",
    "PCohesionNote",
    "PCohesionRelease",
    "PCohesionRequest",
    "PCohesionRetired",
    "PCohesionRun",
    "PCohesionVersion",
]
OWN_TYPES = ["HAS_COHESION", "IN_COHESION", "PRODUCED"]

Key = int | str

KITE: list[tuple[int, int]] = [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6), (4, 6), (6, 7)]
"""Edges of three triangles in a row, the first two of which share an edge, and a tail."""


def own_text(text: str) -> LiteralString:
    """A statement that a test puts together; the type checker forbids that to the package."""
    return cast("LiteralString", text)


@dataclass(frozen=True)
class StoredCohesion:
    """One hub as it lies in the database: its properties, and its members' keys, one for each membership."""

    properties: dict[str, Any]
    members: list[Key]


@dataclass(frozen=True)
class Database:
    """One database of a driver."""

    driver: neo4j.Driver
    name: str

    @cached_property
    def store(self) -> Any:
        """The same as pcneo has it."""
        from pcneo.store.connection import connect

        return connect(driver=self.driver, database=self.name)

    def verified(self) -> list[Any]:
        """What pcneo finds when it compares each of its runs with the graph, in the order of their ids."""
        from pcneo.stored.verifying import verify

        return [verify(self.store, run=run) for run in sorted(run.id for run in self.store.list_runs())]

    def run(self, text: str, **parameters: Any) -> list[list[Any]]:
        """Rows of one statement, in a transaction of its own."""
        records = self.driver.execute_query(own_text(text), parameters, database_=self.name).records
        return [record.values() for record in records]

    def put(
        self,
        edges: Iterable[tuple[Key, Key]],
        isolated: Iterable[Key] = (),
        *,
        label: str = "Person",
        type_: str = "KNOWS",
        key: str = "id",
        index: bool = True,
    ) -> None:
        """Create the vertices, and one relationship for each pair just as it is given."""
        edges = list(edges)
        keys = list(dict.fromkeys([*isolated, *(end for edge in edges for end in edge)]))
        place = {key: i for i, key in enumerate(keys)}
        self.run(
            "UNWIND $keys AS value CREATE (v:$($label)) SET v[$key] = value WITH collect(v) AS nodes "
            "UNWIND $pairs AS pair WITH nodes[pair[0]] AS a, nodes[pair[1]] AS b CREATE (a)-[:$($type)]->(b)",
            keys=keys,
            key=key,
            label=label,
            type=type_,
            pairs=[[place[a], place[b]] for a, b in edges],
        )
        if index:
            self.index(label, key)
        else:
            self.drop_index(label, key)

    def index(self, label: str, key: str = "id") -> None:
        """See that there is an index, no constraint, and wait for it."""
        text = f"CREATE INDEX IF NOT EXISTS FOR (v:`{label}`) ON (v.`{key}`)"
        if self.driver.execute_query(own_text(text), database_=self.name).summary.counters.indexes_added:
            self.run("CALL db.awaitIndexes(60)")

    def name_graph(self, name: str, label: str = "Person") -> None:
        """Have the database know a graph under a name, as an earlier `annotate` leaves it, without a run of it."""
        self.run(
            "CREATE (:PCohesionGraph {name: $name, nodeLabels: [$label], relationshipTypes: ['KNOWS'], key: 'id', "
            "format: 3, fingerprintKey: $secret})",
            name=name,
            label=label,
            secret="0" * 64,
        )

    def drop_index(self, label: str, key: str = "id") -> None:
        """See that there is no index of this label on this key."""
        text = (
            "SHOW INDEXES YIELD * WHERE labelsOrTypes = [$label] AND properties = [$key] AND owningConstraint IS NULL "
        )
        for (name,) in self.run(text + "RETURN name", label=label, key=key):
            self.run(f"DROP INDEX {quoted(name)}")

    def cohesions(self, run: str, key: str = "id", version: int | None = None) -> dict[Key, StoredCohesion]:
        """The hubs of one run at one version, the current one if not given, by their owner's key."""
        rows = self.run(
            "MATCH (r:PCohesionRun {id: $run}) WITH coalesce($version, r.version) AS version "
            "MATCH (c:PCohesion {run: $run}) WHERE c.from <= version AND version < c.until "
            "MATCH (v)-[:HAS_COHESION]->(c) "
            "RETURN v[$key], properties(c), COLLECT { MATCH (m)-[:IN_COHESION]->(c) RETURN m[$key] }",
            run=run,
            key=key,
            version=version,
        )
        cohesions = {vertex: StoredCohesion(properties, members) for vertex, properties, members in rows}
        assert len(cohesions) == len(rows), "a vertex has two hubs in one version"
        return cohesions

    def members(self, run: str, key: str = "id") -> dict[Key, set[Key]]:
        """The members of each owner's hub in one run."""
        return {vertex: set(stored.members) for vertex, stored in self.cohesions(run, key).items()}

    def hubs(self) -> dict[str, int]:
        """How many current hubs each run has; those of runs without a record or a version count as current."""
        rows = self.run(
            "MATCH (c:PCohesion) OPTIONAL MATCH (r:PCohesionRun {id: c.run}) "
            "WITH c, coalesce(r.version, 0) AS version WHERE version = 0 OR c.from <= version < c.until "
            "RETURN c.run, count(*)"
        )
        return {run: count for run, count in rows}

    def all_hubs(self) -> int:
        """How many hubs there are of any version, seen or not."""
        return self.run("MATCH (c:PCohesion) RETURN count(c)")[0][0]

    def versions(self) -> dict[str, int]:
        """The version of each run that has a record; 0 where readers see none."""
        return {run: version for run, version in self.run("MATCH (run:PCohesionRun) RETURN run.id, run.version")}

    def contents(self) -> list[list[Any]]:
        """What the current version of each run holds: run, cohesions, memberships, both hashes, how it was searched."""
        return self.run(
            "MATCH (r:PCohesionRun) MATCH (v:PCohesionVersion {run: r.id, version: r.version}) "
            "RETURN r.id, v.cohesions, v.memberships, v.fingerprint, v.membershipHash, v.revision ORDER BY r.id"
        )

    def users_own(self) -> tuple[list[Any], list[Any]]:
        """All that is not pcneo's: nodes with labels and properties, relationships with ends, type and properties."""
        nodes = self.run(
            "MATCH (n) WHERE none(label IN labels(n) WHERE label IN $own) "
            "RETURN elementId(n) AS id, labels(n), properties(n) ORDER BY id",
            own=OWN_LABELS,
        )
        relationships = self.run(
            "MATCH (a)-[r]->(b) WHERE NOT type(r) IN $own "
            "RETURN elementId(r) AS id, type(r), elementId(a), elementId(b), properties(r) ORDER BY id",
            own=OWN_TYPES,
        )
        return nodes, relationships

    def everything(self) -> list[Any]:
        """Every node, relationship, index and constraint there is; when a lock was last held is no matter."""
        return [
            self.run(
                "MATCH (n) RETURN elementId(n) AS id, labels(n), "
                "n {.*, lockedAt: null, heldAt: null, writer: null} ORDER BY id"
            ),
            self.run("MATCH (a)-[r]->(b) RETURN elementId(r) AS id, type(r), properties(r) ORDER BY id"),
            self.run("SHOW INDEXES YIELD name RETURN name ORDER BY name"),
            self.run("SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name"),
        ]


def cycle(size: int) -> list[tuple[int, int]]:
    """Edges of a ring: for p above 1/2 every vertex needs both neighbours, so each cohesion is the whole ring."""
    return [(v, (v + 1) % size) for v in range(size)]


def two_hubs(others: int) -> list[tuple[int, int]]:
    """Edges of a path whose vertices all know 0 and 1, who know each other: that edge is in a triangle with each.

    Groups of a small p are small here, so that what `published` sees of them says little of the graph.
    """
    path = range(2, others + 2)
    return [(0, 1), *((hub, v) for hub in (0, 1) for v in path), *((v, v + 1) for v in path[:-1])]


def quoted(name: str) -> str:
    """A name as it stands in a statement."""
    return "`" + name.replace("`", "``") + "`"
