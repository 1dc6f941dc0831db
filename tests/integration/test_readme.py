"""The README is tested: its commands and its Python run, its query is the shipped one, its output that of the demo."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import networkx as nx
import pytest
from graphs import Database
from printed import GUIDE, ROOT, Reader, blocks, command_lines
from services import serving, wait_until

import pcneo
from pcneo.basics.config import ConnectionSettings
from pcneo.server import servers
from pcneo.server.folders import data_folder
from pcneo.server.servers import LocalServer
from pcneo.store.connection import connect_to

README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = "--node-label Person --relationship-type KNOWS --key id"


def test_the_readme_is_short_and_opens_with_a_picture() -> None:
    lines = README.splitlines()
    assert len(lines) <= 230
    assert any("cohesion-of-valjean.svg" in line for line in lines[:15])
    before, _, measured = README.partition("<!-- what scripts/bench measured -->")
    written = before.splitlines() + measured.partition("<!-- end of")[2].splitlines()
    assert [line for line in written if len(line) > 100 and not line.startswith("<img")] == []
    assert len([line for line in lines if line.endswith(("| yes |", "| **no** |", "|  |"))]) <= 8, "rows of speed"


def test_before_the_first_release_few_words_have_a_meaning_of_their_own() -> None:
    before, _, after = README.partition("pcneo release friends --mechanism")
    assert after
    later = r"standing run|version|ledger|membership|hub\b|rank\b|δ|clique|scale|promise"
    assert re.findall(later, re.sub(r"^<img .*$", "", before, flags=re.MULTILINE)) == []


@pytest.mark.schema("bare")
@pytest.mark.parametrize("reader", [","], indirect=True)
def test_all_that_the_readme_prints_runs_in_its_order(reader: Reader) -> None:
    assert len([line for line in command_lines(README) if line.startswith("pcneo ")]) >= 6
    reader.follow(README)
    cosette = "5 7 True ('Cosette', 'Gillenormand', 'LtGillenormand', 'MlleGillenormand', 'Toussaint')"
    critical = "(('Cosette', 'Gillenormand'), ('Cosette', 'LtGillenormand'))"
    assert f"print(cosette.connections[:2])  # {critical}\n" in README
    profile = pcneo.profile(nx.les_miserables_graph())
    assert reader.printed == f"{cosette}\n{critical}\n{profile}\n(58, 164, 165, 305, 495, 597)\n"
    assert Path("cosette.svg").stat().st_size > 10_000


def test_the_first_block_of_the_readme_is_a_search_without_a_database() -> None:
    kind, block = blocks(README)[0]
    assert kind == "python"
    assert all(word in block for word in ("networkx", "minimal_p_cohesions(G", ".to_pandas()", ".draw(", ".profile("))
    assert "connect(" not in block
    assert "neo4j" not in block.lower()


def test_connection_lines_are_the_names_that_the_configuration_reads() -> None:
    exports = [line for line in command_lines(README) if line.startswith("export ")]
    names = set(re.findall(r"^export (\w+)=", "\n".join(exports), re.MULTILINE))
    source = (ROOT / "pcneo/basics/config.py").read_text()
    assert names == {"NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD_FILE"}
    assert all(f'"{name}"' in source for name in names)


def test_the_two_scripts_are_there_and_executable() -> None:
    scripts = [line for line in command_lines(README) if line.startswith("./")]
    assert scripts == ["./scripts/demo", "./scripts/test"]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_the_query_is_the_shipped_one() -> None:
    ((_, query),) = blocks(README, "cypher")
    shipped = (ROOT / "cypher/queries/critical_connections.cypher").read_text()
    assert query.strip() == "\n".join(line for line in shipped.splitlines() if not line.startswith("//")).strip()


@pytest.mark.schema("bare")
def test_its_statements_print_no_warnings_where_nothing_is_stored_yet(
    server: Any, empty_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = ConnectionSettings(server.uri, server.username, server.password, empty_database)
    caplog.set_level("WARNING", logger="neo4j")  # which the command line silences
    with connect_to(settings) as store:
        for text in [block for _, block in blocks(README) if block.startswith("MATCH")]:
            Database(store.driver, empty_database).run(text, id=58, run="friends@3/10")
    assert not caplog.records


@pytest.mark.schema("loaded")
@pytest.mark.parametrize("reader", [","], indirect=True)
def test_the_request_is_answered_as_printed(reader: Reader, server: Any) -> None:
    for line in (f"load friends.csv {NAMES}", f"annotate {NAMES} -p 0.3 --graph friends"):
        assert reader.command(*line.split())[0] == 0
    create, match = [block for _, block in blocks(README, "") if "PCohesionRequest" in block]
    db = reader.database
    with serving(server, db.name, graphs=("friends",)):
        db.run(create)
        wait_until(lambda: db.run("MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NOT NULL RETURN q"))
        (row,) = db.run(match)
    assert "| " + " | ".join(json.dumps(value) for value in row) + " |" in README


def check_demo(shown: str) -> None:
    """All that the README says of the demo's output is there."""
    ((_, block),) = blocks(README, "text")
    missing = [line for line in block.splitlines() if line not in shown.splitlines()]
    assert not missing


PICTURE = "cohesion-of-58.svg"
"""In the guide; the next steps that the demo prints draw it under another name."""


def check_picture(drawn: Path) -> None:
    """It is the guide's, byte by byte where the same matplotlib has drawn it."""
    kept = GUIDE / drawn.name
    assert kept.stat().st_size < 250_000
    # Another matplotlib draws other bytes, and says which it is in the file.
    if f"Matplotlib v{matplotlib.__version__}" in kept.read_text(encoding="utf-8"):
        assert drawn.read_bytes() == kept.read_bytes(), "draw it again, and look at it"


@pytest.mark.schema("bare")
def test_the_demo_prints_what_the_readme_shows_and_its_picture_is_the_one_there(
    pcneo: Any, server: Any, empty_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the server of the tests, in place of the one that the demo starts for itself; the test below has that."""
    started: list[Path] = []

    def start(folder: Path, **_: Any) -> LocalServer:
        started.append(folder)
        return LocalServer(server.uri, server.username, server.password, os.getpid(), tmp_path, "2026.09.0")

    monkeypatch.setattr(servers, "start", start)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("NEO4J_URI", "bolt://127.0.0.1:9")  # the demo never goes there
        code, shown, said = pcneo("demo")
    assert code == 0, said
    assert f"Stop it: pcneo --data {tmp_path} server stop\n" in shown
    check_demo(shown)
    assert started == [data_folder().with_name("demo")]
    assert "friends@3/10" in pcneo("runs")[1], "the name by which the README and the guide go on"
    next_steps = re.findall(r"^(?:See|Draw|Go on).*: pcneo (.*)$", shown, re.MULTILINE)
    assert len(next_steps) == 3
    for step in next_steps:
        assert pcneo(*step.split())[0] == 0, step
    assert pcneo("show", "58", "--plot", PICTURE)[0] == 0
    check_picture(tmp_path / PICTURE)


@pytest.mark.schema("bare")
def test_valjean_is_drawn_as_the_readme_shows_him(
    pcneo: Any, empty_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nx.write_edgelist(nx.les_miserables_graph(), "miserables.txt", data=False)
    names = ("--node-label", "Character", "--relationship-type", "APPEARS_WITH", "--key", "name")
    assert pcneo("load", "miserables.txt", *names)[0] == 0
    assert pcneo("annotate", *names, "-p", "0.3", "--graph", "miserables")[0] == 0
    assert pcneo("show", "Valjean", "--plot", "cohesion-of-valjean.svg")[0] == 0
    check_picture(tmp_path / "cohesion-of-valjean.svg")
    (alt,) = re.findall(r"cohesion-of-valjean.*alt=\"(.*?)\"", README)
    assert alt == "The minimal p-cohesion of Valjean: twelve members, 43 critical connections"
    stored = pcneo("show", "Valjean", "--json")[1]
    assert (json.loads(stored)["size"], json.loads(stored)["edges"]) == (12, 43)


@pytest.mark.thorough
def test_the_demo_goes_to_a_server_of_its_own_wherever_the_environment_points(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")},
        "PCNEO_DATA_DIR": str(folder),
        "PCNEO_STATE_DIR": str(tmp_path / "state"),
    }
    elsewhere = {**environment, "NEO4J_URI": "bolt://127.0.0.1:9"}  # the demo never goes there

    def run(*arguments: str, environment: dict[str, str] = environment) -> str:
        command = [sys.executable, "-m", "pcneo", *arguments]
        shown = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    try:
        shown = run("demo", environment=elsewhere)
        check_demo(shown)
        run("show", "58", "--plot", PICTURE)
        check_picture(tmp_path / PICTURE)
        stop = re.search(r"Stop it: pcneo (.*)", shown)
        assert stop is not None
        assert run(*stop[1].split()).startswith("stopped the server on ")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
