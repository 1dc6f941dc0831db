"""Characters that a terminal obeys are shown as numbers, JSON and CSV keep them; no spreadsheet runs a cell of CSV."""

from __future__ import annotations

import csv
import io
import logging
import sys
import unicodedata
from pathlib import Path

import pytest
import typer

from pcneo.basics.visible import csv_row, visible
from pcneo.cli.console import print_json, print_table
from pcneo.cli.main import run
from pcneo.cli.streams import VisibleFormatter, note, say
from pcneo.errors import FileFormatError, PcneoError
from pcneo.graph.files import read_graph_file

OBEYED = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\udc80\udfff",
]
TURNING = ["LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"]
HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202eabc\0\r\n\u2066\x7f"


def is_harmless(text: str) -> bool:
    return not set(text) & set(OBEYED)


def test_everything_that_a_terminal_obeys_is_written_by_its_number():
    assert visible("".join(OBEYED)) == "".join(f"\\u{ord(character):04x}" for character in OBEYED)


def test_no_other_control_or_turning_character_of_unicode_is_left():
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        turning = unicodedata.bidirectional(character) in TURNING
        if turning or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            assert visible(character) != character, hex(number)


def test_letters_of_all_scripts_and_joined_pictures_stay():
    text = "Größe 大 🦑 👩‍🔬 می‌خواهم e\u0301 ≈ ⌈x⌉ שלום"
    assert visible(text) == text


def test_line_ends_of_a_message_may_stay():
    assert visible("a\n\tb\x1b", keep="\n") == "a\n\\u0009b\\u001b"


def test_tables_lines_and_notes_hold_nothing_that_a_terminal_obeys(capsys):
    print_table([f"column {HOSTILE}", "n"], [[HOSTILE, 1], [[HOSTILE, 2], None]], f"title {HOSTILE}")
    say(HOSTILE.replace("\n", ""))
    note(HOSTILE.replace("\n", ""))
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert is_harmless(text.replace("\n", ""))
        assert "\\u001b" in text
        assert "\\u202e" in text


def test_json_keeps_every_character(capsys):
    import json

    print_json({HOSTILE: [HOSTILE]})
    assert json.loads(capsys.readouterr().out) == {HOSTILE: [HOSTILE]}


def test_an_error_and_a_logged_line_are_harmless(monkeypatch, capsys):
    app = typer.Typer()

    @app.command()
    def fail() -> None:
        raise PcneoError(f"There is no graph {HOSTILE}.")

    monkeypatch.setattr(sys, "argv", ["x"])
    with pytest.raises(SystemExit) as end:
        run(app, "x")
    assert end.value.code == 1
    assert is_harmless(capsys.readouterr().err.replace("\n", ""))
    record = logging.LogRecord("pcneo", logging.INFO, "", 0, "graph %s", (HOSTILE,), None)
    assert is_harmless(VisibleFormatter("%(message)s").format(record).replace("\n", ""))


def test_what_was_typed_is_shown_harmlessly_too(monkeypatch, capsys):
    app = typer.Typer()

    @app.command()
    def nothing() -> None: ...

    for typed in (HOSTILE, f"--{HOSTILE}"):
        monkeypatch.setattr(sys, "argv", ["x", typed])
        with pytest.raises(SystemExit) as end:
            run(app, "x")
        assert end.value.code == 2
        assert is_harmless(capsys.readouterr().err.replace("\n", ""))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gml", 'graph [ node [ id "\x1b[31m\u202e" ] node [ id "\x1b[31m\u202e" ] ]'),
        ("a.gml", "\x1b[31m"),
        ("a.gexf", '<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft"><graph><nodes><node id="a"><attvalues>'
         '<attvalue for="\u202e\x9b" value="1"/></attvalues></node></nodes></graph></gexf>'),
        ("a.graphml", '<graphml><graph><node id="a"><data key="\u202e\x9b">1</data></node></graph></graphml>'),
        ("a.graphml", '<graphml><graph edgedefault="undirected"><node id="a"/><edge source="a"/></graph></graphml>'),
        ("\x1b[31m.edges", "one\n"),
        ("a.edges", "one\x1b[31m\x9b\u202e\n"),
    ],
)  # fmt: skip
def test_an_error_about_a_file_shows_nothing_of_it_raw(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_graph_file(tmp_path / name)
    assert is_harmless(str(caught.value))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gml", "graph [ node 1 ]"),
        ("a.gml", "graph [ node [ id 1 ] edge 5 ]"),
        ("a.gml", "graph 1"),
        ("a.graphml", "<other/>"),
        ("a.gexf", '<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft"><graph><attributes class="node">'
         '<attribute id="0"/></attributes><nodes/></graph></gexf>'),
    ],
)  # fmt: skip
def test_what_networkx_falls_over_is_told_in_words(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_graph_file(tmp_path / name)
    for word in ("Error", "exception", "object has no", "NoneType", "not iterable"):
        assert word not in str(caught.value)


@pytest.mark.parametrize("text", ["=1+1", "+1+cmd()", "-2+3", "-17", "@SUM(A1)", "\t=1", "\r=1", "'x"])
def test_a_text_that_a_spreadsheet_would_run_gets_a_mark_in_csv(text: str):
    (row,) = csv.reader(io.StringIO(csv_row([text, "plain", 1]), newline=""))
    assert row == [f"'{text}", "plain", "1"]


def test_numbers_and_other_text_stay_as_they_are_in_csv():
    assert csv_row([-17, -0.5, "a=b", "1/2", '["=1"]', "", None, True]) == '-17,-0.5,a=b,1/2,"[""=1""]",,,True'
