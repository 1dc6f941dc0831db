"""A world on one clock: processes and their tasks, of which one runs at a time, in an order drawn from a seed.

A task is a greenlet: the shipped code in it is neither copied nor changed, and gives way only where it waits for
something, which is in `standins.py` and `driver.py`. Nothing in here looks at the machine's clock.
"""

from __future__ import annotations

import contextlib
import heapq
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import greenlet  # pyright: ignore[reportMissingImports]  it comes with the extra `test`, which the gate does not need

__all__ = ["BrokenError", "Killed", "Process", "StuckError", "Task", "World", "current_world"]


class Killed(BaseException):
    """The process of this task has been killed: what is above it on the stack no longer happens."""


class StuckError(Exception):
    """Nobody can go on, or somebody has not come to an end."""


class BrokenError(AssertionError):
    """Something that must always hold does not hold."""


@dataclass(eq=False)
class Process:
    """What is killed or stopped as a whole.

    Attributes:
        name: for the trace.
        is_dead: whether it was killed.
        stopped_until: the time at which it goes on.
        on_kill: called when it is killed.
    """

    name: str
    is_dead: bool = False
    stopped_until: float = 0.0
    on_kill: list[Callable[[], None]] = field(default_factory=list)


class Task:
    """Something that runs within a process, as a thread does.

    Attributes:
        at_server: the server works for it, whatever becomes of its process.
        is_over: whether it has ended.
    """

    __slots__ = ("at_server", "glet", "is_over", "joiners", "name", "process", "ready", "timed_out", "wake_at")

    def __init__(self, process: Process, name: str) -> None:
        self.process = process
        self.name = name
        self.at_server = False
        self.ready = True
        self.timed_out = False
        self.wake_at: float | None = None
        self.is_over = False
        self.joiners: list[Task] = []
        self.glet: Any = None


_current: list[World] = []


def current_world() -> World:
    """The world that runs now."""
    return _current[-1]


class World:
    """Runs tasks one at a time.

    Attributes:
        rng: all that is left to chance comes from here.
        now: the time in seconds.
        steps: how often a statement, a commit or a fault has happened.
        trace: a line for each step where it is wanted, else None.
        failure: what was found not to hold; the shipped code may catch exceptions, and must not catch this.
        stage: whose world it is.
    """

    def __init__(self, rng: random.Random, *, traced: bool = False) -> None:
        self.rng = rng
        self.now = 1_000_000.0
        self.steps = 0
        self.trace: list[str] | None = [] if traced else None
        self.tasks: list[Task] = []
        self.current: Task | None = None
        self.counter = 0
        self.failure: str | None = None
        self.stage: Any = None
        self._hub: Any = None
        self._ready: list[Task] = []
        self._sleeping: list[tuple[float, int, Task]] = []
        self._slept = 0
        self._stopped_until = 0.0
        self._is_over: Callable[[], bool] | None = None
        self._most_steps = 0
        self._is_ending = False
        self._stickiness = rng.choice((0.0, 0.0, 0.5, 0.9))
        self._pace = rng.choice((0.001, 0.01, 0.1))

    # --- For tasks

    def spawn(self, process: Process, work: Callable[[], object], name: str) -> Task:
        """Begin a task of a process."""
        task = Task(process, name)

        def body() -> None:
            try:
                if not process.is_dead:
                    work()
            except Killed:
                pass
            finally:
                task.is_over = True
                self._set_ready(task, False)
                for joiner in task.joiners:
                    self.wake(joiner)

        task.glet = greenlet.greenlet(body, self._hub)
        self.tasks.append(task)
        self._ready.append(task)
        return task

    def say(self, what: str) -> None:
        """Count a step; it takes some time."""
        self.steps += 1
        self.now -= math.log(1.0 - self.rng.random()) * self._pace
        if self.trace is not None:
            task = self.current
            who = "world" if task is None else f"{task.process.name}/{task.name}"
            self.trace.append(f"{self.steps:>5} {self.now - 1_000_000.0:>9.3f} {who:<24} {what}")

    def pause(self) -> None:
        """Let others go first, perhaps."""
        task = self._running()
        if self.rng.random() < self._stickiness and task.process.stopped_until <= self.now:
            self._check_alive(task)
            return
        self._give_way(task)

    def sleep(self, seconds: float) -> None:
        """Wait for some time."""
        self.wait(seconds)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until somebody wakes this task; False where the time is over before."""
        task = self._running()
        self._check_alive(task)
        self._set_ready(task, False)
        task.timed_out, task.wake_at = False, None
        if seconds is not None:
            task.wake_at = self.now + max(0.0, seconds)
            self._slept += 1
            heapq.heappush(self._sleeping, (task.wake_at, self._slept, task))
        self._give_way(task)
        return not task.timed_out

    def wake(self, task: Task) -> None:
        """Have a waiting task go on."""
        if not task.is_over:
            task.wake_at = None
            self._set_ready(task, True)

    def join(self, task: Task, seconds: float | None = None) -> None:
        """Wait until a task is over; whoever is killed meanwhile still leaves what it is in by the way out."""
        until = None if seconds is None else self.now + seconds
        while not (task.is_over or self._running().process.is_dead) and (until is None or self.now < until):
            task.joiners.append(self._running())
            with contextlib.suppress(Killed):
                self.wait(None if until is None else until - self.now)

    def _set_ready(self, task: Task, ready: bool) -> None:
        if task.ready != ready:
            task.ready = ready
            (self._ready.append if ready else self._ready.remove)(task)

    def _running(self) -> Task:
        assert self.current is not None, "outside the world"
        return self.current

    def _give_way(self, task: Task) -> None:
        """Have the next task run; this one goes on from here when it is its turn again."""
        if self._is_ending:
            raise Killed
        following = self._next(task)
        if following is not task:
            self.current = following
            (self._hub if following is None else following.glet).switch()
        self._check_alive(task)

    def _check_alive(self, task: Task) -> None:
        if task.process.is_dead and not task.at_server:
            raise Killed

    def fail(self, what: str) -> None:
        """Note that something does not hold; the world ends with this step."""
        self.failure = self.failure or what

    # --- Faults

    def kill(self, process: Process) -> None:
        """End a process as SIGKILL does: what it has sent is done, and nothing else of it."""
        if process.is_dead:
            return
        process.is_dead = True
        for noticed in process.on_kill:
            noticed()
        for task in self.tasks:
            if task.process is process and not task.at_server:
                self.wake(task)

    def stop(self, process: Process, seconds: float) -> None:
        """Stop a process, as SIGSTOP does, until SIGCONT comes."""
        process.stopped_until = max(process.stopped_until, self.now + seconds)
        self._stopped_until = max(process.stopped_until, self._stopped_until)

    # --- The course

    def run(self, over: Callable[[], bool], most_steps: int) -> None:
        """Run until it is over.

        Raises:
            StuckError: nobody can go on, or there is no end to it.
            BrokenError: something does not hold.
        """
        self._is_over, self._most_steps = over, most_steps
        with self.entered():
            while not over():
                if (task := self._next(None)) is not None:
                    self._resume(task)
                if self.failure is not None:
                    raise BrokenError(self.failure)
                if self.steps > most_steps:
                    raise StuckError(f"no end after {most_steps:,} steps: {self._standing()}")

    def settle(self) -> None:
        """Inside `entered`: run until everybody waits, for whoever decides about the order from outside."""
        while runnable := self._runnable():
            self._resume(runnable[0])

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Be the world that runs now; whatever is left of it at the end is unwound."""
        self._hub = greenlet.getcurrent()
        for task in self.tasks:
            task.glet.parent = self._hub
        _current.append(self)
        try:
            yield
        finally:
            self._end()
            _current.pop()

    def _next(self, last: Task | None) -> Task | None:
        """The task whose turn it is; None where the one that has entered the world is to see to it."""
        over = self._is_over
        if over is None or self.failure is not None or self.steps > self._most_steps or over():
            return None
        while True:
            runnable = self._runnable()
            if last is not None and last in runnable and self.rng.random() < self._stickiness / 2:
                return last
            if runnable:
                return runnable[int(self.rng.random() * len(runnable))]
            later = [time for time, _, task in self._sleeping if task.wake_at == time]
            later += [task.process.stopped_until for task in self._ready]
            if not later:
                if last is not None:
                    return None
                raise StuckError(f"nobody can go on: {self._standing()}")
            self.now = max(self.now, min(later))

    def _runnable(self) -> Sequence[Task]:
        now, sleeping = self.now, self._sleeping
        while sleeping and sleeping[0][0] <= now:
            time, _, task = heapq.heappop(sleeping)
            if task.wake_at == time and not task.ready:
                self.wake(task)
                task.timed_out = True
        if now >= self._stopped_until:
            return self._ready
        return [task for task in self._ready if task.at_server or task.process.stopped_until <= now]

    def _resume(self, task: Task) -> None:
        self.current = task
        try:
            task.glet.switch()
        finally:
            self.current = None
            self.tasks = [task for task in self.tasks if not task.is_over]

    def _end(self) -> None:
        """Unwind what is left, so that no greenlet outlives its world."""
        self._is_ending = True
        for task in self.tasks:
            task.process.is_dead, task.at_server = True, False
        for task in list(self.tasks):
            self.current = task
            if task.glet:
                task.glet.throw(Killed)
        self.current = None
        self.tasks.clear()

    def _standing(self) -> Sequence[str]:
        return [f"{task.process.name}/{task.name}" for task in self.tasks]
