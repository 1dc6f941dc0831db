"""What the command line shows a person: progress of work that cannot be counted, numbers, what was removed."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pcneo.annotate import EstimateResult
from pcneo.annotate.estimating import Estimate
from pcneo.basics.config import ConnectionSettings, read_environment
from pcneo.basics.frames import rounded
from pcneo.cli import annotate, app, budget, clean, console, guided, runs, serve
from pcneo.cli.console import exported, print_table, working
from pcneo.cli.server import fetch_progress
from pcneo.privacy.account import Account
from pcneo.privacy.mechanisms import mechanism_named
from pcneo.release.budget import GraphBudget
from pcneo.server import browser, servers
from pcneo.server.data_folder import password_file
from pcneo.server.records import Record
from pcneo.store.ledger_records import BudgetRecord
from pcneo.stored.cleaning import CleanResult
from pcneo.stored.exporting import ExportResult
from pcneo.stored.versions import Difference, Side

SERVER = servers.LocalServer("bolt://127.0.0.1:9", "neo4j", "secret", 1, Path("graph"), "2026.09.0")


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any]) -> Any:
    """Runs `pcneo server` beside a local server that is only made up, and returns what goes to standard error."""
    monkeypatch.setattr(servers, "start", lambda *_, **__: SERVER)
    monkeypatch.setattr(servers, "stop", lambda *_: True)
    monkeypatch.setattr(servers, "find_running", lambda: SERVER)

    def run(*words: str, fetched: bool = True, browser_fetched: bool = True) -> str:
        monkeypatch.setattr(servers, "is_fetched", lambda: fetched)
        monkeypatch.setattr(browser, "browser_is_fetched", lambda: browser_fetched)
        code, _, errors = command_line("server", *words)
        assert code == 0
        return errors

    return run


@pytest.mark.parametrize(("command", "stage"), [("start", "starting Neo4j"), ("stop", "stopping Neo4j")])
def test_a_terminal_shows_that_a_server_starts_or_stops_and_a_pipe_nothing(
    says: Any, command: str, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert says(command) == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # by which rich takes anything for a terminal
    assert stage in says(command)


def test_what_has_to_be_fetched_is_said_only_where_it_is(says: Any) -> None:
    assert says("start", fetched=False, browser_fetched=False) == "Fetching Neo4j first (about 155 MB).\n"
    with_browser = ("start", "--browser", "--json")
    assert says(*with_browser) == ""
    assert says(*with_browser, browser_fetched=False) == "Fetching Neo4j Browser first (about 15 MB).\n"
    assert says(*with_browser, fetched=False) == "Fetching Neo4j first (about 155 MB).\n"
    both = says(*with_browser, fetched=False, browser_fetched=False)
    assert both == "Fetching Neo4j and Neo4j Browser first (about 170 MB).\n"


@pytest.mark.parametrize("parts", [1, 2])
def test_a_line_says_that_all_is_fetched_once_the_last_part_is(parts: int, capsys: pytest.CaptureFixture[str]) -> None:
    with working("starting Neo4j") as bars:
        report = fetch_progress(bars, parts)
        for _ in range(parts):
            report(1, 2)
            assert capsys.readouterr().err == ""
            report(2, 2)
    assert capsys.readouterr().err == "All of it has been fetched; starting Neo4j.\n"


def test_status_says_that_a_server_is_starting_and_only_of_the_folder_that_is_named(
    monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any], tmp_path: Path
) -> None:
    record = Record(data=str(tmp_path), pid=7, port=1, version="2026.09.0", ready=False, started="now")
    monkeypatch.setattr(servers, "running", lambda: [record])
    says = {
        (): f"Neo4j 2026.09.0, process 7, is starting on {tmp_path}.",
        ("--data", str(tmp_path / "b")): f"No local server runs on {tmp_path / 'b'}.",
    }
    for named, line in says.items():
        code, _, errors = command_line(*named, "server", "status")
        assert code == 1
        assert " ".join(errors.split()) == line


def test_a_folder_named_before_the_command_counts_more_than_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = ConnectionSettings("bolt://elsewhere:7687", "ann", "hers")
    monkeypatch.setattr(console, "read_environment", lambda *_: elsewhere)
    monkeypatch.setattr(servers, "status", lambda folder: SERVER if folder == tmp_path else None)
    assert serve._connection() == console.named_settings() == elsewhere
    console.choose_server(tmp_path)
    try:
        assert serve._connection() == ConnectionSettings(SERVER.uri, SERVER.username, SERVER.password)
        assert console.named_settings() is None
    finally:
        console.choose_server(None)


def test_names_are_completed_from_the_server_that_is_named_before_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(servers, "status", asked.append)
    words = f"pcneo --data {tmp_path} budget show "
    typed = {"_PCNEO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "5", "NEO4J_URI": "bolt://other"}
    completed = CliRunner().invoke(app, [], env=typed, prog_name="pcneo")
    assert (completed.output.strip(), asked) == ("", [tmp_path])


@pytest.mark.parametrize("command", ["start", "status"])
def test_start_and_status_print_the_lines_by_which_python_finds_the_server_and_no_password(
    command: str, monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any], tmp_path: Path
) -> None:
    server = replace(SERVER, data=tmp_path / "my data")
    password = password_file(server.data)
    password.parent.mkdir()
    password.write_text("secret")
    monkeypatch.setattr(servers, "is_fetched", lambda: True)
    monkeypatch.setattr(servers, "start", lambda *_, **__: server)
    monkeypatch.setattr(servers, "list_running", lambda: [server])
    _, printed, _ = command_line("server", command)
    lines = [shlex.split(line) for line in printed.splitlines() if line.startswith("  export ")]
    environment = dict(word.split("=", 1) for _, *words in lines for word in words)
    assert read_environment(environment) == ConnectionSettings(server.uri, server.username, "secret")
    assert "secret" not in printed


def test_status_names_every_local_server_that_runs(
    monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any]
) -> None:
    for there, code in (([], 1), ([SERVER, replace(SERVER, uri="bolt://127.0.0.1:8")], 0)):
        monkeypatch.setattr(servers, "list_running", lambda there=there: there)
        ended, printed, _ = command_line("server", "status")
        assert ended == code
        assert [line.split()[1] for line in printed.splitlines() if "address" in line] == [s.uri for s in there]


def test_a_mechanism_that_there_is_not_is_told_within_the_terminal_and_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("edges\n edge \n"))
    assert guided.asked("Mechanism", None, lambda text: mechanism_named(text).name) == "edge"
    before, said, after = capsys.readouterr().err.split("Mechanism:")
    assert (before, after) == ("", "")
    assert "Did you mean edge?" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80


def test_counts_have_commas_and_keys_and_versions_none(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["vertex", "edges", "members"], [[12345, 12345, [12345, 6]], [6, None, []]], names=["vertex"])
    cells = [line.replace(" ", "") for line in capsys.readouterr().out.splitlines()]
    assert "│12345│12,345│12345,6│" in cells
    assert "│6│││" in cells


def test_numbers_stand_to_the_right_also_where_one_is_missing_or_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["hops", "size"], [[0, 5], [1, None], ["more", 12]])
    assert capsys.readouterr().out.splitlines()[3:-1] == ["│    0 │    5 │", "│    1 │      │", "│ more │   12 │"]


def test_a_table_is_as_narrow_as_its_words_and_no_narrower(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [["edge", "every connection", 1234567], ["critical", "pairs inside one group, and nothing else", 1]]
    words = {word for name, text, _ in rows for word in [*str(name).split(), *str(text).split()]} | {"1,234,567"}
    shapes = list[str]()
    for width in range(20, 71):
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(["mechanism", "what it protects", "number"], rows)
        printed = capsys.readouterr().out
        assert max(map(len, printed.splitlines())) <= width
        assert words <= set(printed.split()), width
        shapes.append("table" if "━" in printed else "paragraphs")
    # 9 + 10 + 9 letters for the longest words, and 10 for three columns' borders
    assert shapes == ["paragraphs"] * 18 + ["table"] * 33


@pytest.mark.parametrize("width", range(20, 70))
def test_no_line_of_a_title_ends_between_a_sign_and_its_number(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    title = "friends: total ε = 6, δ = 1e-6, spent ε ≈ 0.333333, δ = 1e-7, left ε ≈ 5.66667, δ = 9e-7"
    print_table(["mechanism", "what it protects", "number"], [["edge", "every connection", 1]], title)
    printed = capsys.readouterr().out
    assert title in " ".join(printed.split())
    assert not any(line.rstrip().endswith(("ε", "δ", "=", "≈")) for line in printed.splitlines())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.37114, "0.3711"),
        (12, "12"),
        (999.96, "1,000"),
        (22998.2, "23,000"),
        (-260249, "-260,200"),
        (1e20, "1e+20"),
        (None, ""),
    ],
)
def test_rounded_numbers_have_commas_in_place_of_powers_of_ten(value: float | None, text: str) -> None:
    assert rounded(value) == text


def test_two_digits_are_written_as_people_write_them() -> None:
    assert [rounded(x, 2) for x in (9.864, 78.4, 783.2, 1234.0, 0.000001)] == ["9.9", "78", "780", "1,200", "1e-6"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "under 1 ms"),
        (9.87e-05, "under 1 ms"),
        (0.01234, "12 ms"),
        (3.4567, "3.46 s"),
        (119, "119 s"),
        (150, "2.5 min"),
        (9000, "2.5 h"),
    ],
)
def test_a_time_stands_in_the_unit_that_fits_and_an_interval_without_width_is_one_number(
    seconds: float, text: str
) -> None:
    assert annotate._duration(seconds) == text
    assert annotate._span(text, text) == text
    assert annotate._span("54", "55") == "54 to 55"


@pytest.mark.parametrize("parquet_bytes", [None, 1_000])
def test_an_estimate_shows_the_size_of_files_where_files_can_be_written(
    parquet_bytes: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    figures: dict[str, Any] = dict.fromkeys((field.name for field in fields(Estimate)), 1)
    estimate = Estimate(**{**figures, "parquet_bytes": parquet_bytes})
    configuration: Any = {"vertices": None}
    annotate._print_estimate(EstimateResult(1, 1, 1, 1, 1.0, {"3/10": estimate}, configuration))
    shown = " ".join(capsys.readouterr().out.split())
    assert "in the store" in shown
    assert " total " in shown
    assert ("as Parquet" in shown) is (parquet_bytes is not None)


@pytest.mark.parametrize(("memberships", "says"), [(0, ""), (12, ", 12 memberships")])
def test_an_export_without_memberships_does_not_count_them(memberships: int, says: str) -> None:
    written = ExportResult(Path("58.json"), 4, 5, memberships, 300)
    assert exported(written) == f"58.json: 4 nodes, 5 edges{says}, 300 bytes"


def test_a_quantile_of_sizes_is_a_whole_number_unless_it_lies_between_two() -> None:
    assert [str(annotate._whole(size)) for size in (4.0, 4.5)] == ["4", "4.5"]


def test_what_was_removed_and_what_stays_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    clean._print_result(CleanResult(("friends@1/2", "friends@3/10"), 1600, ("noisy",), answered_requests=3))
    assert capsys.readouterr().out.splitlines() == [
        "Runs removed, each with all its versions: 2 (friends@1/2, friends@3/10)",
        "Cohesions removed: 1,600",
        "Property removed that a release had written: noisy",
        "Answered requests removed: 3",
        "What stays: budgets and the ledger of releases (`pcneo budget show`), and your own data",
    ]


@pytest.mark.parametrize(("number", "says"), [(0, "0 cohesions differ"), (1, "1 cohesion differs")])
def test_one_cohesion_differs_and_several_differ(capsys: pytest.CaptureFixture[str], number: int, says: str) -> None:
    runs._print_differences([Difference(1, None, Side((1,), 0, best=True))] * number)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == says
    assert ("none to 1" in shown[4]) if number else len(shown) == 1


def test_differences_that_may_not_be_the_edits_are_said_to_be_and_others_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    certain = Difference(1, None, Side((1,), 0, best=True))
    runs._print_differences([certain])
    assert capsys.readouterr().err == ""
    runs._print_differences([certain, Difference(2, Side((2,), 0, best=False), Side((2, 3), 1, best=True))])
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("`best` is false for 1 of those with other members: there, the earlier cohesion may still")


def test_numbers_that_are_written_out_stand_to_the_right_as_others_do(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        ["error", "share", "cost", "key"], [["515.1", "5 %", "1", "a1"], ["27,070", "100 %", "none", "b"], [None] * 4]
    )
    lines = capsys.readouterr().out.splitlines()[3:5]
    assert [line.replace("│", "|") for line in lines] == [
        "|  515.1 |   5 % | 1    | a1  |",
        "| 27,070 | 100 % | none | b   |",
    ]


def test_a_difference_of_a_thousand_members_is_a_count_and_the_first_ten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = Difference(1, Side((1,), 0, best=True), Side(tuple(range(1, 1_002)), 5_000, best=True))
    runs._print_differences([many, *[Difference(2, None, Side((2,), 0, best=True))] * 59])
    piped = capsys.readouterr().out
    assert "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (1,000)" in " ".join(piped.replace("│", " ").split())
    assert "60 cohesions differ" in piped
    assert "more; --json" not in piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    runs._print_differences([many] * 60)
    assert "and 10 more; --json lists all" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["=1+1", "'=1+1", "@SUM(A1)"])
def test_a_ledger_as_csv_has_no_graph_that_a_spreadsheet_would_run(
    name: str, monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any]
):
    total = BudgetRecord(name, "3/1", "0/1", None, datetime(2026, 11, 1, tzinfo=UTC))
    ledger = GraphBudget(name, Account(name, None), (total,), (), (), lost=False, notes=())
    monkeypatch.setattr(budget, "connected", nullcontext)
    monkeypatch.setattr("pcneo.release.budget.show", lambda db, graph: [ledger])
    code, shown, _ = command_line("budget", "show", "--csv")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(shown))
    assert (row["record"], row["graph"], row["epsilonExact"], row["who"]) == ("total", f"'{name}", "3", "")
