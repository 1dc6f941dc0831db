"""What a person sees in a terminal of 80, 100 and 200 columns: no name, key, option or number is broken."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import Any

import pytest
from graphs import Database, cycle
from typer.main import get_command

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.cli import app

KEYS = [f"https://example.org/people/{number:03}" for number in range(6)]
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}


ONE_AFTER_THE_OTHER = """
import json
import sys
from pcneo.cli.main import main
for arguments in json.loads(sys.argv.pop()):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print("next", flush=True)
"""


def shown(width: int, commands: list[list[str]], environment: dict[str, str]) -> list[list[str]]:
    """The lines of each command on a terminal of some width, without colours; one process runs them all."""
    text = in_terminal(width, ["-c", ONE_AFTER_THE_OTHER, json.dumps(commands)], "stdout", environment)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    return [part.splitlines() for part in re.split(r"^next\s*", plain, flags=re.MULTILINE)[:-1]]


def in_terminal(width: int, arguments: list[str], stream: str, environment: dict[str, str] | None = None) -> str:
    """What Python, started so, prints where an output, or both, is a terminal of some width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs if stream in ("stdout", "both") else subprocess.DEVNULL,
        stderr=theirs if stream in ("stderr", "both") else subprocess.DEVNULL,
        env={**clean, **(environment or {}), "TERM": "xterm"},
    )
    os.close(theirs)
    text = b""
    while chunk := _read(ours):
        text += chunk
    os.close(ours)
    assert process.wait(60) == 0
    return text.decode()


TOLD_WHILE_READING = """
import logging
from pcneo import ProgressBars
from pcneo.cli import app
from pcneo.cli.streams import note
from typer.testing import CliRunner
CliRunner().invoke(app, ["check", "--schema"])
with ProgressBars() as bars:
    BEFORE
    bars("reading", 1, 3)
    logging.getLogger("pcneo").info("Entered in the ledger: friends spends " + 9 * "of many ")
    note("a note")
    bars("reading", 3, 3)
"""


@pytest.mark.parametrize("before", ["None", "bars.rest()"])
def test_what_is_told_while_a_bar_is_drawn_stands_above_it_in_lines_of_its_own(before: str) -> None:
    program = TOLD_WHILE_READING.replace("BEFORE", before)
    lines = in_terminal(80, ["-c", program], "stderr").splitlines()
    plain = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line.rpartition("\x1b[2K")[2]) for line in lines]
    assert "a note" in plain
    (place,) = [i for i, line in enumerate(plain) if line.startswith("pcneo: Entered in the ledger: friends spends")]
    assert plain[place + 1].startswith("many of many")
    assert max(map(len, plain)) <= 80
    assert any("3/3" in line for line in plain)


PRINTED_BESIDE_A_BAR = """
from pcneo import ProgressBars
with ProgressBars() as bars:
    bars("reading", 1, 3)
    print("a column\\n1 row")
    bars("reading", 3, 3)
    print("the last")
"""


def test_what_python_prints_while_a_bar_is_drawn_stands_above_it() -> None:
    lines = in_terminal(80, ["-c", PRINTED_BESIDE_A_BAR], "both").splitlines()
    plain = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line.rpartition("\x1b[2K")[2]).rstrip() for line in lines]
    assert [line for line in plain if line and "reading" not in line] == ["a column", "1 row", "the last"]
    assert "3/3" in plain[-2]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so where the other end is closed
        return b""


def commands() -> dict[str, Any]:
    """Every command with its words."""
    top: Any = get_command(app)
    every = {"": top}
    for name, command in top.commands.items():
        every[name] = command
        every |= {f"{name} {inner}": part for inner, part in getattr(command, "commands", {}).items()}
    return every


@pytest.mark.parametrize("width", [80, pytest.param(100, marks=pytest.mark.thorough)])
def test_help_breaks_no_option_and_shows_no_type_of_a_flag(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    for words, command in commands().items():
        with pytest.raises(SystemExit):
            app([*words.split(), "--help"], prog_name="pcneo")
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= width, words
        assert "bool>" not in text, words
        assert not [line for line in text.splitlines() if re.match("│ +-", line) and "<" in line], "a type of Python's"
        for parameter in command.params:
            shown = parameter.opts[0].startswith("-") and not getattr(parameter, "hidden", False)
            for option in parameter.opts if shown else ():
                assert re.search(rf"{re.escape(option)}(?![\w-])", text), f"{words}: {option}"


@pytest.fixture
def environment(server: Any, db: Database) -> dict[str, str]:
    """How to reach a database with a run whose keys are long."""
    db.put([(KEYS[a], KEYS[b]) for a, b in [*cycle(6), (0, 2), (1, 2), (0, 3)]])
    names = ["friends-of-the-first-year@1/2", "1/2"]
    annotate.write(db.store, p=names[1], graph=names[0].partition("@")[0], **PERSONS)
    return dict(server.environment)


@pytest.mark.parametrize("width", [80, pytest.param(100, marks=pytest.mark.thorough), 200])
def test_tables_break_no_key_no_name_and_no_number(width: int, environment: dict[str, str]) -> None:
    commands = [
        ["runs"],
        ["show", KEYS[0]],
        ["queries", "largest_cohesions", "--run"],
        ["queries", "critical_connections", "--run", "--param", f"id={KEYS[0]}"],
        ["annotate", "--graph", "friends-of-the-first-year"],
    ]
    for arguments, lines in zip(commands, shown(width, commands, environment), strict=True):
        assert max(map(len, lines)) <= width, arguments
        words = {word for line in lines for word in re.split(r"[\s│┃,]+", line)}
        broken = {word for word in words if word.startswith("http")} - set(KEYS)
        assert not broken, arguments
        if arguments[0] in ("runs", "annotate"):
            assert "friends-of-the-first-year@1/2" in words, arguments
            named = {"memberships", "version"} if arguments[0] == "runs" else {"cohesions", "largest"}
            assert named <= words, arguments
        if arguments[0] == "queries":
            assert KEYS[0] in words, arguments
