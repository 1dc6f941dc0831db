"""The one thread that watches transactions."""

from __future__ import annotations

import threading
from typing import Any

from pcneo.store.waiting import Watch


def test_what_the_driver_raises_does_not_end_the_watch() -> None:
    looked = threading.Semaphore(0)

    def transactions() -> list[dict[str, Any]]:
        looked.release()
        raise RuntimeError("closed")

    watch = Watch(transactions, lambda token, blocked: False)
    with watch.over("t", None, 10.0, lambda: None):
        assert all(looked.acquire(timeout=30) for _ in range(3))
