"""What stands in for threads, clocks and chance in the modules under simulation; all else in them is as shipped."""

from __future__ import annotations

import contextlib
import importlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

from simulation.world import Killed, Task, World, current_world

__all__ = ["installed"]


def _task() -> Task:
    task = current_world().current
    assert task is not None
    return task


def _is_dead() -> bool:
    task = _task()
    return task.process.is_dead


class Lock:
    """As `threading.Lock`."""

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[Task] = deque()

    def __enter__(self) -> bool:
        while self._held and not _is_dead():
            self._waiting.append(_task())
            current_world().wait()
        self._held = True
        return True

    def __exit__(self, *_: object) -> None:
        self._held = False
        while self._waiting:
            current_world().wake(self._waiting.popleft())


class Event:
    """As `threading.Event`."""

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: list[Task] = []

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        for task in self._waiting:
            current_world().wake(task)
        self._waiting.clear()

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        if not self._is_set:
            task = _task()
            self._waiting.append(task)
            current_world().wait(timeout)
            if task in self._waiting:
                self._waiting.remove(task)
        return self._is_set


class Thread:
    """As `threading.Thread`; it belongs to the process of whoever makes it."""

    def __init__(
        self,
        target: Callable[..., object],
        args: Sequence[Any] = (),
        name: str = "thread",
        daemon: bool | None = None,
    ) -> None:
        self._work = lambda: target(*args)
        self._name = name
        self.task: Task | None = None

    def start(self) -> None:
        self.task = current_world().spawn(_task().process, self._work, self._name)

    def join(self, timeout: float | None = None) -> None:
        assert self.task is not None
        current_world().join(self.task, timeout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thread) and self.task is other.task

    def __hash__(self) -> int:
        return id(self.task)


def _current_thread() -> Thread:
    thread = Thread(lambda: None)
    thread.task = _task()
    return thread


class SimpleQueue:
    """As `queue.SimpleQueue`."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._waiting: deque[Task] = deque()

    def put(self, item: Any) -> None:
        self._items.append(item)
        if self._waiting:
            current_world().wake(self._waiting.popleft())

    def get(self) -> Any:
        while not self._items:
            self._waiting.append(_task())
            current_world().wait()
        return self._items.popleft()


class Future:
    """As `concurrent.futures.Future`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.state = "pending"
        self._value: Any = None
        self._error: BaseException | None = None
        self._waiting: list[Task] = []

    def cancel(self) -> bool:
        if self.state == "pending":
            self.state = "cancelled"
        return self.state == "cancelled"

    def run(self) -> None:
        self.state = "running"
        try:
            self._value = self.work()
        except Killed:
            raise
        except BaseException as error:  # noqa: BLE001 - handed on to whoever asks for the result
            self._error = error
        self.state = "done"
        for task in self._waiting:
            current_world().wake(task)

    def result(self) -> Any:
        while self.state != "done":
            self._waiting.append(_task())
            current_world().wait()
        if self._error is not None:
            raise self._error
        return self._value


class ThreadPoolExecutor:
    """As `concurrent.futures.ThreadPoolExecutor`."""

    def __init__(self, workers: int, thread_name_prefix: str = "pool") -> None:
        self._most = workers
        self._name = thread_name_prefix
        self._pending: deque[Future] = deque()
        self._running: list[Task] = []

    def __enter__(self) -> ThreadPoolExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        for task in list(self._running):
            current_world().join(task)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future:
        future = Future(lambda: work(*arguments))
        self._pending.append(future)
        self._running = [task for task in self._running if not task.is_over]
        if len(self._running) < self._most:
            self._running.append(current_world().spawn(_task().process, self._work, self._name))
        return future

    def _work(self) -> None:
        while self._pending:
            future = self._pending.popleft()
            if future.state == "pending":
                future.run()


class OrderedSet(dict[Any, None]):
    """A set whose order does not depend on where its members lie in memory."""

    add = dict.setdefault

    def discard(self, item: object) -> None:
        self.pop(item, None)


def _hex(bytes_: int = 16) -> str:
    world = current_world()
    world.counter += 1
    return f"{world.counter:0{2 * bytes_}x}"


QUEUE = SimpleNamespace(SimpleQueue=SimpleQueue)
THREADING = SimpleNamespace(Lock=Lock, Event=Event, Thread=Thread, current_thread=_current_thread)
TIME = SimpleNamespace(
    monotonic=lambda: current_world().now,
    perf_counter=lambda: current_world().now,
    sleep=lambda seconds: current_world().sleep(seconds),
)
RANDOM = SimpleNamespace(uniform=lambda low, high: current_world().rng.uniform(low, high))
UUID = SimpleNamespace(uuid4=lambda: SimpleNamespace(hex=_hex()))
SECRETS = SimpleNamespace(token_hex=_hex)

REPLACED: Mapping[str, Mapping[str, Any]] = {
    "pcneo.store.waiting": {"threading": THREADING, "time": TIME, "set": OrderedSet},
    "pcneo.store.lock": {"threading": THREADING},
    "pcneo.store.sessions": {"uuid": UUID},
    "pcneo.store.requests": {"uuid": UUID},
    "pcneo.store.fence": {"uuid": UUID},
    "pcneo.store.standing": {"threading": THREADING},
    "pcneo.store.lending": {"threading": THREADING, "time": TIME},
    "pcneo.store.run_reader": {"time": TIME},
    "pcneo.store.database": {"time": TIME},
    "pcneo.store.transaction": {"time": TIME, "random": RANDOM, "logging_silence": contextlib.nullcontext},
    "pcneo.release.spending": {"secrets": SECRETS},
    "pcneo.annotate.row_writing": {"queue": QUEUE, "threading": THREADING, "ThreadPoolExecutor": ThreadPoolExecutor},
    "pcneo.annotate.writing": {"secrets": SECRETS},
    "pcneo.annotate.updating": {"time": TIME},
    "pcneo.service.worker": {"threading": THREADING, "time": TIME, "random": RANDOM},
    "pcneo.service.desk": {"time": TIME},
    "pcneo.service.lanes": {"threading": THREADING},
    "pcneo.service.lease": {"threading": THREADING, "time": TIME},
    "pcneo.service.serving": {"threading": THREADING, "time": TIME, "_warm_up": lambda: None},
    "pcneo.service.schedule": {"time": TIME},
    "pcneo.service.placing": {"time": TIME},
}
"""By module, the names in it that stand for something else while a simulation runs."""


@contextlib.contextmanager
def installed(more: Mapping[str, Mapping[str, Any]] | None = None) -> Iterator[None]:
    """Replace threads, clocks and chance inside the block, in the modules that are simulated, and what a stage adds."""
    with contextlib.ExitStack() as stack:
        for module, names in (*REPLACED.items(), *(more or {}).items()):
            for name, value in names.items():
                there = importlib.import_module(module)
                stack.enter_context(mock.patch.object(there, name, value, create=True))
        yield


def new_world(seed: str, *, traced: bool = False) -> World:
    """A world of a seed."""
    import random

    return World(random.Random(seed), traced=traced)
