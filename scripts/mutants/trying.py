"""Which tests reach which line, and what they say of a mutant, which is tried in a forked process of its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import coverage  # pyright: ignore[reportMissingImports] - of the extra `mutants`

ROOMS = ("pcneo.privacy", "pcneo.release", "pcneo.store", "pcneo.service")
IRRELEVANT = ("evaluation", "benchmark", "jars", "deploy", "documents", "plots", "page", "compile_cache", "cluster")
"""Files of unit tests that say nothing of these rooms."""
FAST = ["tests/unit", "tests/property", "tests/statistical", "tests/simulation"]
SLOW = (
    "pytest",
    "anyio.pytest_plugin",
    "hypothesis.strategies",
    "networkx",
    "neo4j",
    "numba",
    "opendp.prelude",
    "pandas",
)
SIMULATION = "tests/simulation/test_simulation.py::"
STAGES = {stage: f"{SIMULATION}test_what_must_hold_does_in_every_order[{stage}]" for stage in ("ledger", "service")}
SCHEDULES = 30
"""So many of each stage does a mutant meet, always the same ones."""
USUAL = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]


class Durations:
    """A plugin of pytest: how long each test took, those alone that passed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration


def reach(folder: Path, files: list[str]) -> None:
    """Run the fast tests once, or some files again, and keep which of them runs which line."""
    import pytest

    left_out = [f"--ignore-glob=tests/unit/*/test_{name}*" for name in IRRELEVANT]
    left_out += ["--deselect", f"{SIMULATION}test_a_planted_bug_is_found_and_its_seed_brings_it_back"]
    (folder / "coverage.ini").write_text(
        f"[run]\nbranch = True\nsource = {','.join(ROOMS)}\nconcurrency = thread,greenlet\n"
        f"data_file = {folder / 'coverage.db'}\n"
    )
    durations = Durations()
    measured = [f"--cov-config={folder / 'coverage.ini'}", "--cov", "--cov-context=test", "--cov-report=term"]
    appended = ["--cov-append"] if files else []
    pytest.main([*USUAL, "--quick", *(files or FAST), *left_out, *measured, *appended], plugins=[durations])
    kept = folder / "durations.json"
    before = json.loads(kept.read_text()) if files else {}
    kept.write_text(json.dumps({**before, **durations.seconds}))


class Reached:
    """What `reach` has kept."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._root = root
        self._data = coverage.CoverageData(str(folder / "coverage.db"))
        self._data.read()
        self._seconds: dict[str, float] = json.loads((folder / "durations.json").read_text())
        self._lines = Counter[str]()  # that a test runs in all of these rooms
        for file in self._data.measured_files():
            self._lines.update(_names(self._data.contexts_by_lineno(file).values()))

    def tests(self, module: str, lines: range, most_seconds: float) -> list[str]:
        """Return tests that run one of these lines, or any of the module where importing it does.

        As many as the seconds admit, those first of whose lines most lie in this module.
        """
        by_line = self._data.contexts_by_lineno(str(self._root / module))
        names = set(_names(by_line.get(line, []) for line in lines))
        if not names and any(by_line.get(line) for line in lines):
            names = set(_names(by_line.values()))
        in_module = Counter(_names(by_line.values()))
        kept, spent = [name for name in STAGES.values() if name in names], 0.0
        names = {name for name in names & self._seconds.keys() if not name.startswith(SIMULATION)}
        for name in sorted(names, key=lambda name: (-in_module[name] / self._lines[name], self._seconds[name], name)):
            if spent + self._seconds[name] <= most_seconds or not kept:
                kept.append(name)
                spent += self._seconds[name] + 0.01
        return kept


def _names(by_line: Iterable[list[str]]) -> Iterator[str]:
    """Yield the test of each context, once a line; the context of what is run by importing is empty."""
    for contexts in by_line:
        yield from {context.rpartition("|")[0] for context in contexts} - {""}


def warm_up(copy: Path) -> None:
    """Import what is slow to import and is no mutant; children that are forked have it."""
    sys.path[:0] = [str(copy), str(copy / "tests"), str(copy / "scripts")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:3])
    import compile_cache

    os.environ["NUMBA_CACHE_DIR"] = str(compile_cache.prepare())
    for name in SLOW:
        importlib.import_module(name)
    for room in ("kernels", "basics", "graph"):
        for path in sorted((copy / "pcneo" / room).rglob("*.py")):
            with contextlib.suppress(ImportError):
                importlib.import_module(".".join(path.relative_to(copy).with_suffix("").parts))
    early = [name for name in sys.modules if name.startswith(ROOMS)]
    if early:
        raise RuntimeError(f"imported before they are mutated: {early}")


def says(tests: list[str], options: list[str], limit: float) -> str:
    """Run tests in a forked process: `passed`, `failed`, or `too long`."""
    child = os.fork()
    if not child:
        _run(tests, options)
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "passed" if status == 0 else "failed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "too long"


def _run(tests: list[str], options: list[str]) -> None:
    code = 70
    try:
        os.setpgid(0, 0)
        quiet = os.open(os.environ.get("MUTANTS_OUTPUT", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        stages = [stage for stage, name in STAGES.items() if name in tests and "--quick" in options]
        code = _pytest([name for name in tests if name not in map(STAGES.get, stages)], options)
        code = code or (_simulation(stages) if stages else 0)
    except BaseException:  # noqa: BLE001 - nothing of the parent may run in this process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _pytest(tests: list[str], options: list[str]) -> int:
    import pytest

    warm = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is imported already
    return int(pytest.main(["-x", *USUAL, *warm, *options, *tests])) if tests else 0


def _simulation(stages: list[str]) -> int:
    from simulation.many import run_many

    tally = run_many("mutants", stages=stages, most=SCHEDULES * len(stages), stops=True)
    print(tally)
    return bool(tally.failures)
