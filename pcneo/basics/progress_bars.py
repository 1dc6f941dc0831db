"""Progress bars for a terminal or a notebook: rich's, or tqdm's in a notebook where tqdm is installed."""

from __future__ import annotations

import functools
import importlib.util
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ParamSpec, Self, TextIO, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

PATIENCE = 2.0
"""Seconds after which work draws bars that nobody asked for."""
UNDOING = "removing what was written"
"""The stage that begins when the others are abandoned."""


class ProgressBars:
    """Bars on standard error or in a notebook, one for each stage; a `progress` callback while the context is open.

    >>> import pcneo
    >>> with pcneo.ProgressBars() as bars:
    ...     batch = pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2", progress=bars)
    """

    redirects = True
    """Whether text printed while bars are drawn goes above them, broken at the terminal's width."""

    def __init__(self) -> None:
        """Show nothing yet, and nothing at all without a terminal or a notebook."""
        self._is_undoing = self._is_resting = False
        self._bars = self._new()

    def _new(self) -> _Tqdm | _Rich:
        return _Tqdm() if _in_notebook() and importlib.util.find_spec("tqdm") else _Rich(self.redirects)

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._bars.start()
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Leave the bars as they are."""
        if error is None:
            self._bars.finish()
        self._bars.stop()

    def rest(self) -> None:
        """Stop drawing until a bar moves, so that the terminal is free for a prompt."""
        self._is_resting = True
        self._bars.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Move one stage's bar."""
        if stage == UNDOING and not self._is_undoing:  # the bars of abandoned stages stay as they are
            self._is_undoing = True
            self._bars.stop()
            self._bars = self._new()
            self._bars.start()
        if self._is_resting:
            self._is_resting = False
            self._bars.start()
        self._bars.move(stage, done, total)


def showing_progress(work: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Draw bars for a function that is called without `progress`, once it has taken two seconds.

    Where there is neither a terminal nor a notebook, nothing is drawn.
    """

    @functools.wraps(work)
    def shown(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if kwargs.get("progress") is not None or not (_in_notebook() or _is_terminal(sys.stderr)):
            return work(*args, **kwargs)
        with ExitStack() as drawn:
            kwargs["progress"] = _LateBars(drawn)
            return work(*args, **kwargs)

    return shown


class _LateBars:
    def __init__(self, drawn: ExitStack) -> None:
        self._drawn = drawn
        self._bars: ProgressBars | None = None
        self._begin = time.monotonic() + PATIENCE

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if self._bars is None and time.monotonic() > self._begin:
            self._bars = self._drawn.enter_context(ProgressBars())
        if self._bars is not None:
            self._bars(stage, done, total)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


class _Rich:
    def __init__(self, redirects: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[steps]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
            # Printed text goes above the bars rather than being stuck to one and then wiped; but rows of a stream that
            # go to a file stay out of the terminal.
            redirect_stdout=redirects and _is_terminal(sys.stdout),
            redirect_stderr=True,
        )
        self._tasks: dict[str, Any] = {}

    def start(self) -> None:
        self._progress.start()

    def finish(self) -> None:
        for task in self._progress.tasks:
            if task.total is None:  # the total is known by now
                self._progress.update(task.id, total=task.completed)

    def stop(self) -> None:
        self._progress.stop()

    def move(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, steps="")
        of = "" if total is None else f"/{total:,}"
        self._progress.update(
            self._tasks[stage], completed=done, total=total, steps=f"{done:,}{of}" if done or of else ""
        )


class _Tqdm:
    def __init__(self) -> None:
        self._tasks: dict[str, Any] = {}

    def start(self) -> None:
        """Do nothing: a bar is drawn when its stage begins."""

    def finish(self) -> None:
        """Do nothing: without a total, tqdm shows none."""

    def stop(self) -> None:
        for task in self._tasks.values():
            task.close()
        self._tasks = {}

    def move(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self._tasks:
            # tqdm.auto needs ipywidgets in a notebook, and warns without them; this one draws in text.
            if importlib.util.find_spec("ipywidgets"):
                from tqdm.notebook import tqdm
            else:
                from tqdm import tqdm
            self._tasks[stage] = tqdm(desc=stage, total=total, mininterval=0.5)
        task = self._tasks[stage]
        task.total = total
        task.update(done - task.n)
