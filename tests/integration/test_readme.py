"""The README is tested: its commands and its Python run, its query is the shipped one, its output is the demo's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import Database
from services import serving, wait_until

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def _commands() -> list[str]:
    return [line for block in _blocks("sh") for line in block.splitlines()]


@pytest.fixture
def console(tmp_path: Path, server: Any) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs one line of the README in a folder where `pcneo` is a command, against the test server."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "pcneo").write_text(f'#!/bin/sh\nexec {sys.executable} -m pcneo "$@"\n')
    (binaries / "pcneo").chmod(0o755)
    with (tmp_path / "friends.csv").open("w") as file:
        file.writelines(_friends())
    environment = {**os.environ, **server.environment, "PATH": f"{binaries}:{os.environ['PATH']}"}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )

    return run


def _friends() -> list[str]:
    import gzip

    with gzip.open(ROOT / "pcneo/cli/sample/copenhagen_friends.edges.gz", "rt") as file:
        return [line.replace(" ", ",") for line in file]


@pytest.mark.schema("bare")
def test_every_command_for_your_own_neo4j_runs_as_printed(console: Any, empty_database: str) -> None:
    lines = [line for line in _commands() if line.startswith("pcneo ")]
    assert len(lines) >= 9
    # what is asked for after the removal would find nothing, as it should: ask first
    for line in sorted(lines, key=lambda line: "clean" in line):
        shown = console(line)
        assert shown.returncode == 0, f"{line}\n{shown.stderr}"


def test_connection_lines_are_the_names_that_the_configuration_reads() -> None:
    exports = [line for line in _commands() if line.startswith("export ")]
    names = set(re.findall(r"^export (\w+)=", "\n".join(exports), re.MULTILINE))
    source = (ROOT / "pcneo/config.py").read_text()
    assert names == {"NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD_FILE"}
    assert all(f'"{name}"' in source for name in names)


def test_the_two_scripts_are_there_and_executable() -> None:
    scripts = [line for line in _commands() if line.startswith("./")]
    assert scripts == ["./scripts/demo", "./scripts/test"]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_the_query_is_the_shipped_one() -> None:
    (query,) = _blocks("cypher")
    shipped = (ROOT / "cypher/queries/critical_connections.cypher").read_text()
    assert query.strip() == "\n".join(line for line in shipped.splitlines() if not line.startswith("//")).strip()


@pytest.mark.schema("loaded")
def test_the_request_is_answered_as_printed(
    console: Any, server: Any, neo4j_driver: neo4j.Driver, empty_database: str
) -> None:
    names = "--node-label Person --relationship-type KNOWS --key id"
    assert console(f"pcneo load friends.csv {names}").returncode == 0
    assert console(f"pcneo annotate {names} -p 0.3 --graph friends").returncode == 0
    plain = [block for block in README.split("```")[1::2] if block.startswith("\n")]
    create, match = [block for block in plain if "PCohesionRequest" in block]
    db = Database(neo4j_driver, empty_database)
    with serving(server, empty_database, graphs=("friends",)):
        db.run(create)
        wait_until(lambda: db.run("MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NOT NULL RETURN q"))
        (row,) = db.run(match)
    assert "| " + " | ".join(json.dumps(value) for value in row) + " |" in README


@pytest.mark.schema("loaded")
def test_the_python_runs_as_printed(console: Any, empty_database: str) -> None:
    without, with_database = _blocks("python")
    shown = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, check=True, cwd=ROOT)
    assert shown.stdout.startswith("8 13 (0, 1, 3, 7")
    assert console("pcneo load friends.csv --node-label Person --relationship-type KNOWS --key id").returncode == 0
    shown = console(f"{sys.executable} - <<'END'\n{with_database}\nEND")
    assert shown.stdout == "(58, 164, 165, 305, 495, 597)\n", shown.stderr


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")},
        "PCNEO_DATA_DIR": str(folder),
        "PCNEO_STATE_DIR": str(tmp_path / "state"),
        "NEO4J_URI": "bolt://127.0.0.1:9",  # the demo never goes there
    }
    run = [sys.executable, "-m", "pcneo"]
    try:
        shown = subprocess.run([*run, "demo"], env=environment, capture_output=True, text=True, timeout=600)
        assert shown.returncode == 0, shown.stderr
        (block,) = _blocks("text")
        missing = [line for line in block.splitlines() if line not in shown.stdout.splitlines()]
        assert not missing
        stop = re.search(r"Stop it: pcneo (.*)", shown.stdout)
        assert stop is not None
        stopped = subprocess.run([*run, *stop[1].split()], env=environment, capture_output=True, text=True, timeout=60)
        assert stopped.stdout.strip() == "stopped"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
