"""What a service has done since it began, in figures."""

from __future__ import annotations

import threading
from collections import Counter

from pcneo.annotate.writing import WriteResult

__all__ = ["Figures"]


class Figures:
    """Counts that only grow; written by the worker, read by whoever asks for the metrics.

    Attributes:
        answered: requests by status, and those given back as `returned`.
        seconds: spent by stage: `read`, `search`, `write`, and `request` for all of it.
        memberships: written.
        reachable: whether the database answered when it was last asked.
    """

    def __init__(self) -> None:
        """Begin at zero."""
        self.answered: Counter[str] = Counter()
        self.seconds = {"read": 0.0, "search": 0.0, "write": 0.0, "request": 0.0}
        self.memberships = 0
        self.reachable = False
        self._use = threading.Lock()

    def add_update(self, result: WriteResult) -> None:
        """Add what one update took and wrote."""
        with self._use:
            self.seconds["read"] += result.pre_processing_millis / 1000
            self.seconds["search"] += result.compute_millis / 1000
            self.seconds["write"] += result.write_millis / 1000
            self.memberships += sum(run.memberships_written for run in result.runs)

    def add_request(self, outcome: str, seconds: float) -> None:
        """Add a request that was worked on."""
        with self._use:
            self.answered[outcome] += 1
            self.seconds["request"] += seconds
