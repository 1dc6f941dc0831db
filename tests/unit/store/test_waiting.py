"""The one thread that watches transactions, and what comes of it when drivers are closed."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pcneo.store import waiting
from pcneo.store.waiting import Watch


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look every twentieth of a second."""
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.05)


def test_what_the_driver_raises_does_not_end_the_watch() -> None:
    looked = threading.Semaphore(0)

    def transactions() -> list[dict[str, Any]]:
        looked.release()
        raise RuntimeError("closed")

    watch = Watch(transactions, lambda token, blocked: False)
    with watch.over("t", None, 10.0, lambda: None):
        assert all(looked.acquire(timeout=30) for _ in range(3))


def test_a_look_that_has_begun_ends_before_the_driver_may_be_closed_and_none_begins_after() -> None:
    began, over = threading.Event(), threading.Event()
    looks: list[bool] = []

    def transactions() -> list[dict[str, Any]]:
        began.set()
        over.wait(0.3)
        looks.append(over.is_set())
        return []

    watch = Watch(transactions, lambda token, blocked: False)
    with watch.over("t", None, 10.0, lambda: None):
        assert began.wait(30)
        watch.close()
        assert looks == [False]
        over.wait(0.5)
    assert looks == [False]
