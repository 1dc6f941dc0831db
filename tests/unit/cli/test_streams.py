"""Streams as a program may find them: closed, full, limited to few characters; and signals, each in its own process."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pcneo.cli.streams import note, say, say_verbatim

pytestmark = pytest.mark.long
SHELL = "/bin/sh"
HEAD = "import typer, sys, os\nfrom pcneo.cli.main import run\nfrom pcneo.cli.streams import *\n"
HEAD += "from pcneo.cli.console import print_json, print_table\napp = typer.Typer()\n"


def program(body: str) -> list[str]:
    """A command line whose one command has this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return [sys.executable, "-c", f"{HEAD}\n@app.command()\ndef main():\n{lines}\nrun(app, 'x')"]


def shell(body: str, redirections: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run such a command line with the redirections of a shell."""
    command = [SHELL, "-c", f'exec "$@" {redirections}', "sh", *program(body)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60, stdin=subprocess.DEVNULL
    )


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")


@full
@pytest.mark.parametrize("body", ["say('done')", "print_json([1])", "print_table(['a'], [[1]])"])
def test_an_answer_that_cannot_be_printed_has_an_exit_code_of_its_own(body):
    ended = shell(body, ">/dev/full")
    assert ended.returncode == 10
    assert ended.stderr == "x: Standard output cannot be written: No space left on device. Nothing else failed.\n"


def test_a_closed_output_has_that_code_too_and_takes_nothing_else_with_it(tmp_path):
    file = tmp_path / "written"
    ended = shell(f"from pathlib import Path; Path({str(file)!r}).write_text('whole')\nsay('done')", ">&-")
    assert (ended.returncode, file.read_text()) == (10, "whole")
    assert "Traceback" not in ended.stderr


def test_a_reader_that_has_seen_enough_gives_that_code_without_a_word():
    reads, writes = os.pipe()
    os.close(reads)
    ended = subprocess.run(
        program("say('done')"), stdout=writes, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60
    )
    os.close(writes)
    assert (ended.returncode, ended.stderr) == (10, "")


def test_on_a_terminal_lines_end_between_words_and_what_is_copied_stays_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    say("  a sentence of more than thirty columns, indented\nshort")
    assert capsys.readouterr().out == "  a sentence of more than\n  thirty columns, indented\nshort\n"
    say("  says  more than thirty columns take")
    assert capsys.readouterr().out == "  says  more than thirty\n        columns take\n"
    say("as much as is spent: ε = 1, δ = 1e-6")
    assert capsys.readouterr().out == "as much as is spent: ε = 1,\nδ = 1e-6\n"
    say("in all as much as is spent: ε ≈ 0.333333")
    assert capsys.readouterr().out == "in all as much as is spent:\nε ≈ 0.333333\n"
    say(f"a {'long' * 10} word")
    assert capsys.readouterr().out == f"a\n{'long' * 10}\nword\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    note("a note of more than thirty columns, too")
    assert capsys.readouterr().err == "a note of more than thirty\ncolumns, too\n"
    say_verbatim("export A=1 B=2 C=3 D=4 E=5 F=6 G=7")
    assert capsys.readouterr().out == "export A=1 B=2 C=3 D=4 E=5 F=6 G=7\n"


def test_closed_errors_change_neither_answer_nor_code():
    ended = shell("note('a note')\nsay('done')", "2>&-")
    assert (ended.returncode, ended.stdout) == (0, "done\n")


@full
def test_a_note_that_cannot_be_printed_changes_neither_answer_nor_code():
    ended = shell("note('a note')\nsay('done')", "2>/dev/full")
    assert (ended.returncode, ended.stdout) == (0, "done\n")


def test_a_note_that_can_be_printed_in_part_changes_neither_answer_nor_code(tmp_path):
    limited = f'ulimit -f 1 && "$@" 2>{shlex.quote(str(tmp_path / "errors"))}'
    body = "note('a note ' * 50)\nnote('another ' * 200)\nsay('done')"
    ended = subprocess.run(
        [SHELL, "-c", limited, "sh", *program(body)],
        capture_output=True,
        text=True,
        timeout=60,
        # Bytecode would be written in part, too; and without buffers nothing is left for the end.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": ""},
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n")
    assert 0 < (tmp_path / "errors").stat().st_size < 1_900


def test_a_closed_input_is_that_of_nobody():
    ended = shell("say(str(can_ask()))\nsay(repr(sys.stdin.read()))", "<&-")
    assert (ended.returncode, ended.stdout) == (0, "False\n''\n"), ended.stderr


def test_all_streams_closed_ends_without_a_word():
    assert shell("note('a note')\nsay('done')", "<&- >&- 2>&-").returncode == 10


def test_a_reader_who_has_seen_enough_ends_a_command_quietly():
    ended = subprocess.run(
        [SHELL, "-c", '"$@" | head -n 1', "sh", *program("for i in range(100_000): print_row([i, 'x'])")],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr) == ("0,x\n", "")


def test_letters_that_the_output_does_not_have_are_written_by_their_number_for_people():
    ended = shell("say('ε = 1')\nprint_table(['größe'], [['大']])", "", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("\\u03b5 = 1\n")
    assert "gr\\xf6\\xdfe" in ended.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "utf-16"])
def test_json_is_json_whatever_the_output_takes(encoding):
    command = [SHELL, "-c", 'exec "$@"', "sh", *program("print_json({'ε': '大\\udcff'})")]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    ended = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    assert ended.returncode == 0
    assert json.loads(ended.stdout.decode(encoding)) == {"ε": "大\udcff"}


def test_a_row_of_csv_is_printed_as_it_is_or_not_at_all():
    ended = shell("print_row(['a'])\nprint_row(['大'])", "", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stdout) == (1, "a\n")
    assert ended.stderr == (
        "x: Standard output takes only ascii, which has no '\\u5927'. Set PYTHONIOENCODING=utf-8, or give --json.\n"
    )


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_unwinds_a_command_and_is_told(name, code):
    body = f"import signal\ntry:\n    signal.raise_signal(signal.{name})\nfinally:\n    say('put away')"
    ended = shell(body, "")
    assert (ended.returncode, ended.stdout) == (code, "put away\n")
    assert "Traceback" not in ended.stderr
    assert ended.stderr == ("x: interrupted\n" if name == "SIGINT" else f"x: interrupted by {name}\n")


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
@pytest.mark.parametrize(
    "where",
    [
        "ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()",
        "type('Dying', (), {'__del__': lambda self: signal.raise_signal(number)})()",
    ],
    ids=["callback", "finalizer"],
)
def test_a_signal_that_comes_where_python_drops_exceptions_is_not_lost(name, code, where):
    ended = shell(f"import ctypes, signal, time\nnumber = signal.{name}\n{where}\ntime.sleep(30)\nsay('went on')", "")
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr == ("x: interrupted\n" if name == "SIGINT" else f"x: interrupted by {name}\n")


def test_a_signal_that_would_be_sent_again_before_the_hook_has_ended_waits_for_that():
    slow = "import ctypes, signal, threading, time\nstart = threading.Thread.start\n"
    slow += "threading.Thread.start = lambda self: (start(self), time.sleep(0.5))\n"
    lost = "ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))()\ntime.sleep(5)\nsay('went on')"
    ended = shell(slow + lost, "")
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "", "x: interrupted by SIGTERM\n")


@pytest.mark.parametrize("prompt", ["typer.confirm('Sure?', abort=True, err=True)", "typer.prompt('Sure?', err=True)"])
@pytest.mark.parametrize(
    ("does", "code", "says"),
    [
        ("signal.raise_signal(signal.SIGINT)", 130, "\nx: interrupted\n"),
        ("''", 1, "\nAborted.\n"),
    ],
    ids=["Ctrl-C", "end of input"],
)
def test_ctrl_c_at_a_prompt_is_an_interruption_and_the_end_of_the_input_none(prompt, does, code, says):
    person = f"type('Person', (), {{'readline': lambda self: {does}}})()"
    ended = shell(f"import signal\nsys.stdin = {person}\n{prompt}\nsay('went on')", "")
    assert (ended.returncode, ended.stdout.strip()) == (code, "")
    assert ended.stderr.partition(":")[2] == says


def test_a_no_is_no_interruption():
    ended = shell("import io\nsys.stdin = io.StringIO('n\\n')\ntyper.confirm('Sure?', abort=True, err=True)", "")
    assert (ended.returncode, ended.stderr) == (1, "Sure? [y/N]:Aborted.\n")


def test_ctrl_c_before_the_command_line_is_read_is_told_too():
    head = "def stop(*_, **__): raise KeyboardInterrupt\ntyper.Typer.__call__ = stop"
    command = program("pass")
    command[-1] = command[-1].replace("\nrun(", f"\n{head}\nrun(")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "x: interrupted\n")


def test_an_ignored_signal_stays_ignored():
    body = "import signal\nsignal.raise_signal(signal.SIGHUP)\nsay('went on')"
    ended = subprocess.run(
        [SHELL, "-c", "trap '' HUP; exec \"$@\"", "sh", *program(body)], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (0, "went on\n")
