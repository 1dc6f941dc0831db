"""Cohesions as rows of the statement that creates hubs, written by several sessions at once."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from pcneo.basics.model import CohesionBatch
from pcneo.graph import owner_hash
from pcneo.store.fence import SESSIONS
from pcneo.store.hub_writer import GENTLY, CohesionRow
from pcneo.store.waiting import patient_until

MEMBERSHIPS_A_TRANSACTION = 20_000
WRITERS = SESSIONS - 1
"""Sessions that write at once. 20,000 to 50,000 memberships a transaction and two to four writers measured fastest
(DATA-MODEL.md#writing); with the server on the same two cores, two or three are faster than four
(`scripts/bench writers`)."""


def rows_of(batch: CohesionBatch, digests: Sequence[bytes], key: bytes, places: Sequence[int]) -> Iterator[CohesionRow]:
    """Yield some cohesions of a batch as rows of the statement `create_cohesions`."""
    if not places:
        return
    # The keys of the whole batch become Python objects at once, in a fraction of the time that it takes one by one.
    vertices, members = batch.keys[batch.vertices].tolist(), batch.keys[batch.members].tolist()
    bounds, edges, densities = batch.offsets.tolist(), batch.edges.tolist(), batch.densities.tolist()
    proven, best = batch.proven.tolist(), batch.best.tolist()
    for i in places:
        yield {
            "vertex": vertices[i],
            "size": bounds[i + 1] - bounds[i],
            "edges": edges[i],
            "density": densities[i],
            "proven": proven[i],
            "best": best[i],
            "owner": owner_hash(vertices[i], key),
            "digest": digests[i].hex(),
            "members": members[bounds[i] : bounds[i + 1]],
        }


def write_rows(
    create: Callable[[int, Sequence[CohesionRow]], int], rows: Iterable[CohesionRow], *, gently: bool = False
) -> Generator[int, None, None]:
    """Write rows, several transactions at once, and yield the memberships of each as it is done.

    Rows are taken only as fast as they are written, so memory is bounded even for an endless supply. Closing it waits
    for the transactions under way and begins no others. With `gently`, it runs one small transaction after another.
    """
    writers, memberships = (1, MEMBERSHIPS_A_TRANSACTION // GENTLY) if gently else (WRITERS, MEMBERSHIPS_A_TRANSACTION)
    sessions: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(1, writers + 1):
        sessions.put(number)

    def write(transaction: Sequence[CohesionRow]) -> int:
        session = sessions.get()
        try:
            return create(session, transaction)
        finally:
            sessions.put(session)

    stopping = threading.Event()
    with ThreadPoolExecutor(writers, thread_name_prefix="pcneo-write") as pool, patient_until(stopping):
        pending: deque[Future[int]] = deque()
        try:
            for transaction in transactions_of(rows, memberships):
                pending.append(pool.submit(copy_context().run, write, transaction))
                if len(pending) > writers + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stopping.set()  # a transaction that waits for a lock gives up
            for future in pending:
                future.cancel()


def transactions_of(rows: Iterable[CohesionRow], memberships: int) -> Iterator[list[CohesionRow]]:
    """Divide rows into transactions of about `memberships` memberships and at least one row."""
    transaction: list[CohesionRow] = []
    members = 0
    for row in rows:
        transaction.append(row)
        members += row["size"]
        if members >= memberships:
            yield transaction
            transaction, members = [], 0
    if transaction:
        yield transaction
