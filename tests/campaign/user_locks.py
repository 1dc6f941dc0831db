"""Users beside a case: transactions that are left open, each on one vertex, or on a relationship of one."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graphs import own_text
from neo4j.exceptions import DriverError, Neo4jError

from campaign.ground import Ground

__all__ = ["users"]

TEXTS = (
    "MATCH (v:Person {id: $id}) SET v.held = $id",
    "MATCH (v:Person {id: $id})-[e:KNOWS]-() SET e.held = $id",
    "MATCH (v:Person {id: $id}) SET v:Held REMOVE v:Held",
)
LONGEST_SECONDS = 20.0


@contextmanager
def users(rng: random.Random, ground: Ground, most: int = 20) -> Iterator[None]:
    """Have some users open transactions until the block ends; none of them commits."""
    over = threading.Event()
    threads = [
        threading.Thread(target=_use, args=(random.Random(rng.random()), ground, over), daemon=True)
        for _ in range(rng.randint(0, most))
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


def _use(rng: random.Random, ground: Ground, over: threading.Event) -> None:
    while not over.wait(rng.random()):
        try:
            with (
                ground.driver.session(database=ground.db.name) as session,
                session.begin_transaction(timeout=2 * LONGEST_SECONDS) as transaction,
            ):
                transaction.run(own_text(rng.choice(TEXTS)), id=rng.randrange(12)).consume()
                over.wait(rng.random() * LONGEST_SECONDS)
                transaction.rollback()
        except (DriverError, Neo4jError):  # two users have waited for each other, or the server is gone
            continue
