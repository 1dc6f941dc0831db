"""Graphs at the edge: each is annotated, brought up to date, checked and cleaned, within a bound of memory.

Two are not here, because Neo4j Community has neither roles nor a second database: a reader without rights, and a
database of another name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campaign.ground import Ground, at_pace, must_be_ours

__all__ = ["EDGES", "try_edge"]

LABEL, TYPE = "Edge", "TIES"
ASKED = ("--node-label", LABEL, "--relationship-type", TYPE, "--key", "id")


@dataclass(frozen=True)
class Edge:
    """A graph at the edge.

    Attributes:
        make: statements that make it, each in transactions of its own.
        vertices: how many it has.
        mib: the bound on the memory of a command on it.
        refused: what is said where its memberships are too many to be stored, else empty.
        p: with which it is annotated.
    """

    make: tuple[str, ...]
    vertices: int
    mib: int = 1_500
    refused: str = ""
    p: str = "1/2"


def _many(count: int, row: str) -> str:
    return f"UNWIND range(0, {count - 1}) AS i CALL (i) {{ {row} }} IN TRANSACTIONS OF 50000 ROWS"


_ONE = f"MATCH (a:{LABEL} {{id: 0}}), (b:{LABEL} {{id: 1}}) CREATE (a)-[:{TYPE}]->(b)"
"""The connection without which there is no relationship type."""


def _isolated(count: int) -> tuple[str, ...]:
    return (_many(count, f"CREATE (:{LABEL} {{id: i}})"),)


def _star(leaves: int) -> tuple[str, ...]:
    link = f"MATCH (a:{LABEL} {{id: 0}}), (b:{LABEL} {{id: i + 1}}) CREATE (a)-[:{TYPE}]->(b)"
    return *_isolated(leaves + 1), _many(leaves, link)


def _odd(rng: random.Random) -> tuple[str, ...]:
    pairs = [(rng.randrange(300), rng.randrange(300)) for _ in range(3_000)]
    pairs += [(v, v) for v in range(0, 300, 3)] + pairs[:200] + [(b, a) for a, b in pairs[:200]]
    links = f"UNWIND {[list(pair) for pair in pairs]} AS i "
    link = f"MATCH (a:{LABEL} {{id: i[0]}}), (b:{LABEL} {{id: i[1]}}) CREATE (a)-[:{TYPE}]->(b)"
    return *_isolated(300), f"{links} CALL (i) {{ {link} }} IN TRANSACTIONS OF 5000 ROWS"


def _labelled(_: random.Random) -> tuple[str, ...]:
    more = ":".join(f"`L {number}`" for number in range(60))
    link = f"MATCH (a:{LABEL} {{id: i}}), (b:{LABEL} {{id: (i * 7 + 1) % 500}}) CREATE (a)-[:{TYPE}]->(b)"
    return _many(500, f"CREATE (:{LABEL}:{more} {{id: i}})"), _many(500, link)


EDGES: Mapping[str, Callable[[random.Random], Edge]] = {
    "a million isolated vertices": lambda _: Edge((*_isolated(1_000_000), _ONE), 1_000_000, 3_000),
    "a star of 200,000": lambda _: Edge(_star(200_000), 200_001, 2_500, "memberships"),
    "65,537 neighbours": lambda _: Edge(_star(65_537), 65_538, 2_500, "memberships"),
    "self and parallel relationships": lambda rng: Edge(_odd(rng), 300, p="0.2"),
    "many labels": lambda rng: Edge(_labelled(rng), 500),
}


def try_edge(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Make one such graph and go through its life; whether its cohesions could be stored."""
    name = rng.choice(list(EDGES))
    edge = EDGES[name](rng)
    ground.renew(rng, vertices=12)
    ground.db.index(LABEL)
    with ground.driver.session(database=ground.db.name) as session:
        for statement in edge.make:
            session.run(statement).consume()  # type: ignore[arg-type]
    estimate = ground.child("annotate", *ASKED, "-p", edge.p, "--mode", "estimate", folder=folder).wait(at_pace(300))
    must_be_ours(estimate, codes={0}, most_mib=edge.mib)
    assert estimate.seconds < at_pace(120), f"{name}: {estimate}"
    written = ground.child("annotate", *ASKED, "-p", edge.p, "--graph", "edge", folder=folder).wait(at_pace(600))
    must_be_ours(written, codes={4} if edge.refused else {0}, most_mib=edge.mib)
    assert edge.refused in written.err, f"{name}: {written}"
    if not edge.refused:
        hubs = ground.db.hubs()
        assert next(count for run, count in hubs.items() if run.startswith("edge@")) == edge.vertices, hubs
        again = ground.child("annotate", "--graph", "edge", folder=folder).wait(at_pace(300))
        must_be_ours(again, codes={0}, most_mib=edge.mib)
        looked = ground.child("check", folder=folder).wait(at_pace(300))
        must_be_ours(looked, codes={0}, most_mib=edge.mib)
        cleaned = ground.child("clean", "edge@", folder=folder).wait(at_pace(300))
        must_be_ours(cleaned, codes={0}, most_mib=edge.mib)
    ground.check()
    return not edge.refused
