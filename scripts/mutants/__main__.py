"""Tries mutants of the code that releases and the service's order rest on, one after another.

    scripts/mutate reach [tests/unit/store/test_lock.py ...]    run the fast tests once: which of them run which line
    scripts/mutate run pcneo/privacy pcneo/release/budget.py --every 3      try every third mutant of these modules
    scripts/mutate again pcneo/release [--tests tests/integration/test_release.py]   survivors, on others or more
    scripts/mutate list pcneo/release [--survivors]         counts by module, and those that survived

A mutant meets the quickest tests that run its line, those of `tests/unit`, `property`, `statistical` and `simulation`
that need no server. `run` goes on where it was interrupted; a module that has changed begins anew. Everything happens
in a copy under `build/mutants`; kernels are left out, since each of their mutants would be compiled.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # so that `python scripts/mutants` works too

from mutants.mutating import Mutant, mutants  # noqa: E402
from mutants.trying import Reached, reach, says, warm_up  # noqa: E402

FOLDER = ROOT / "build" / "mutants"
RESULTS = FOLDER / "results.jsonl"


def _modules(paths: list[str]) -> Iterator[str]:
    for path in map(Path, paths):
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield module.as_posix()


def _results() -> dict[tuple[str, ...], dict[str, Any]]:
    """What came of each mutant, the last time it was tried, of modules that are still the same."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else ():
        result = json.loads(line)
        if (ROOT / result["module"]).is_file() and _digest(result["module"]) == result["digest"]:
            kept[result["module"], result["operator"], str(result["occurrence"])] = result
    made = {module: _made(module) for module, *_ in kept}
    return {key: result for key, result in kept.items() if key[1:] in made[key[0]]}


@cache
def _made(module: str) -> dict[tuple[str, str], Mutant]:
    return {(one.operator, str(one.occurrence)): one for one in mutants((ROOT / module).read_text())}


def _digest(module: str) -> str:
    return hashlib.sha256((ROOT / module).read_bytes()).hexdigest()[:16]


def _note(module: str, mutant: Mutant, outcome: str) -> None:
    with RESULTS.open("a") as file:
        of_mutant = {"operator": mutant.operator, "occurrence": mutant.occurrence, "line": mutant.line}
        file.write(json.dumps({"module": module, "digest": _digest(module), **of_mutant, "outcome": outcome}) + "\n")


def _copied() -> Path:
    copy = FOLDER / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


def _try(copy: Path, module: str, mutant: Mutant, tests: list[str], options: list[str], limit: float) -> str:
    file = copy / module
    source, times = (ROOT / module).read_text(), (ROOT / module).stat()
    file.write_text(mutant.of(source))
    try:
        return {"passed": "survived", "failed": "killed"}.get(outcome := says(tests, options, limit), outcome)
    finally:
        file.write_text(source)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _ready() -> Path:
    copy = _copied()
    os.chdir(copy)
    warm_up(copy)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # of a mutant nothing may be left
    return copy


def _run(paths: list[str], every: int, seconds: float) -> None:
    copy, reached, known = _ready(), Reached(FOLDER, ROOT), _results()
    for module in _modules(paths):
        made = mutants((ROOT / module).read_text())[::every]
        left = [one for one in made if (module, one.operator, str(one.occurrence)) not in known]
        tests = {one.lines: reached.tests(module, one.lines, seconds) for one in left}
        every_test = sorted({test for of_lines in tests.values() for test in of_lines})
        if every_test and says(every_test, ["--quick"], 600) != "passed":
            sys.exit(f"{module}: its tests fail without a mutant, and would kill every one")
        outcomes = Counter[str]()
        for one in left:
            of_one = tests[one.lines]
            outcome = "not reached" if not of_one else _try(copy, module, one, of_one, ["--quick"], 4 * seconds + 30)
            _note(module, one, outcome)
            outcomes[outcome] += 1
        print(module, dict(outcomes), flush=True)


def _again(paths: list[str], tests: list[str], seconds: float) -> None:
    copy, reached, modules = _ready(), Reached(FOLDER, ROOT), set(_modules(paths))
    wanted = ("survived", "not reached")
    for (module, *_), result in sorted(_results().items()):
        if module in modules and result["outcome"] in wanted:
            one = _made(module)[result["operator"], str(result["occurrence"])]
            of_one = tests or reached.tests(module, one.lines, 5 * seconds)
            if not of_one:
                continue
            outcome = _try(copy, module, one, of_one, [] if tests else ["--quick"], 300)
            _note(module, one, outcome)
            print(f"{module}:{one.line}", one.operator, outcome, flush=True)


def _list(paths: list[str], survivors: bool) -> None:
    by_module: dict[str, Counter[str]] = {}
    wanted = set(_modules(paths))
    results = {key: result for key, result in _results().items() if key[0] in wanted}
    for (module, *_), result in results.items():
        by_module.setdefault(module, Counter())[result["outcome"]] += 1
    for module, outcomes in by_module.items():
        print(f"{module}: {outcomes.total()} mutants, {', '.join(f'{n} {what}' for what, n in outcomes.items())}")
    for (module, *_), result in results.items() if survivors else ():
        if result["outcome"] in ("survived", "not reached"):
            print(f"\n{module}:{result['line']} {result['operator']}: {result['outcome']}")
            print(*_changed(module, result), sep="\n")


def _changed(module: str, result: dict[str, Any]) -> Iterator[str]:
    source = (ROOT / module).read_text()
    mutant = Mutant(result["operator"], result["occurrence"], result["line"], range(0))
    lines = difflib.unified_diff(source.splitlines(), mutant.of(source).splitlines(), n=0, lineterm="")
    return (line for line in lines if line[:2] not in ("--", "++", "@@"))


def main() -> None:
    """Read the arguments and do it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["reach", "run", "again", "list"])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2, help="of tests that a mutant meets")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--survivors", action="store_true")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    match arguments.command:
        case "reach":
            reach(FOLDER, arguments.paths)
        case "run":
            _run(arguments.paths, arguments.every, arguments.seconds)
        case "again":
            _again(arguments.paths, arguments.tests, arguments.seconds)
        case "list":
            _list(arguments.paths, arguments.survivors)


if __name__ == "__main__":
    main()
