"""Predicts how long writing will take from the time this database takes to find members; nothing is written."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from pcneo.annotate.row_writing import WRITERS
from pcneo.annotate.sampling import Interval
from pcneo.basics.model import CohesionBatch
from pcneo.basics.selection import Selection
from pcneo.store.database import Database

TRIAL_MEMBERSHIPS = 10_000
"""Memberships in a trial's transaction: half as many as in one that writes."""
TRIAL_SECONDS, FEWEST_TRIALS, MOST_TRIALS = 1.5, 3, 12
"""No further trial begins after this many seconds. The earlier half of the trials warms up and does not count."""
WRITING = 5.0
"""Writing a membership or a hub takes this many times as long as finding a member (DATA-MODEL.md#what-it-costs)."""
UPDATE_SECONDS = 0.6
"""The time an update takes, however little there is to write."""
DOUBT = 2.0
"""The interval of the writing time is widened by this factor at both ends (DATA-MODEL.md#what-it-costs)."""


def membership_seconds(db: Database, selection: Selection, batches: Iterable[CohesionBatch]) -> float:
    """Return the seconds that finding a member takes, with as many sessions as write; 0.0 without memberships."""
    rows, memberships = _rows(batches)
    if not memberships:
        return 0.0
    seconds: list[float] = []
    started = time.perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        while len(seconds) <= FEWEST_TRIALS or (
            len(seconds) < MOST_TRIALS and time.perf_counter() - started < TRIAL_SECONDS
        ):
            began = time.perf_counter()
            list(pool.map(lambda _: db.count_members(selection, rows), range(WRITERS)))
            seconds.append(time.perf_counter() - began)
    return median(seconds[len(seconds) // 2 :]) / (WRITERS * memberships)


def writing(hubs: int, memberships: Interval, a_membership: float) -> Interval:
    """Return the seconds that writing takes, with an interval."""
    value, low, high = (
        UPDATE_SECONDS + WRITING * a_membership * (hubs + count)
        for count in (memberships.value, memberships.low, memberships.high)
    )
    return Interval(value, low / DOUBT, high * DOUBT)


def _rows(batches: Iterable[CohesionBatch]) -> tuple[Sequence[dict[str, Any]], int]:
    """Return as many cohesions as a trial needs, repeated where there are too few, and how many memberships they have.

    Every transaction has a fixed cost, so a small one says little about a large one.
    """
    rows: list[dict[str, Any]] = []
    memberships = 0
    for batch in batches:
        for cohesion in batch.cohesions():
            members = list(cohesion.members[: TRIAL_MEMBERSHIPS - memberships])
            rows.append({"vertex": cohesion.vertex, "members": members})
            memberships += len(members)
            if memberships >= TRIAL_MEMBERSHIPS:
                return rows, memberships
    times = TRIAL_MEMBERSHIPS // max(memberships, 1)
    return rows * times, memberships * times
