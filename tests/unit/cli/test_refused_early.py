"""What can be refused without a database is refused without one, in a line and with an exit code, never a traceback."""

from __future__ import annotations

import gzip
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import typer

from pcneo.errors import BudgetError, FileFormatError
from pcneo.privacy.mechanisms import MECHANISMS, Critical, Edge
from pcneo.release import read_batch
from pcneo.release.answers_file import AnswersFile

NOWHERE = {"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": "x"}
"""Nothing listens on port 9: whoever connects ends with exit code 5."""


TAKE_NO_GRAPH = [
    [*words, "--graph", "follows"] for words in (["load", "x.csv"], ["server", "start"], ["mcp"], ["demo"], ["clean"])
]


@pytest.fixture
def pcneo(command_line, monkeypatch, tmp_path):
    """Run the command line in an empty folder without a database; return exit code and standard error."""
    monkeypatch.chdir(tmp_path)
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, **environment: str) -> tuple[int, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code, output, errors = command_line(*arguments)
        assert output.strip() == ""
        return code, errors

    return run


def test_a_call_without_fault_reaches_for_the_database(pcneo):
    assert pcneo("release", "--mechanism", "edge", "-e", "1", "--to", "out.csv")[0] == 5
    assert pcneo("annotate", "-p", "0.3")[0] == 5
    assert pcneo("budget", "set", "g", "--epsilon", "1")[0] == 5
    assert pcneo("audit", "-e", "1")[0] == 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["annotate", "-p", "0"], "p must be"),
        (["annotate", "--data", "folder"], "pcneo --data FOLDER COMMAND"),
        (["annotate", "--concurrency", "0"], "Invalid value for '--concurrency'"),
        (["annotate", "-p", "0.3", "-p", "x"], "p must be"),
        (["load", "follows.csv", "-p", "0.3"], "No such option"),
        (["show", "58", "--html", "58.html"], "--plot FILE.html writes a picture for a browser."),
        (["release", "follows", "-p", "0.3"], "Here p is part of a run's name"),
        (["annotate", "follows", "-p", "0.3"], "A graph is named by"),
        (["show", "58", "--graph", "follows"], "The graph is an argument here: give its name without --graph."),
        (["show", "58", "--run", "follows"], "The run is an argument here: give its id without --run."),
        (["budget", "forget", "--graph", "follows"], "The graph is an argument here: give its name without --graph."),
        (["budget", "show", "--html", "58.html"], "No such option"),
        *((words, "No such option") for words in TAKE_NO_GRAPH),
        (
            ["annotate", "--mode", "stats", "--orders", "2", "--to", "x", "--check"],
            "Answers under other",
        ),
        (["annotate", "--effort", "0"], "Invalid value for '--effort'"),
        (["annotate", "-p", "0.3", "--search", "density", "--effort", "2"], "an effort above 1, not density"),
        (["annotate", "--search", "best"], "Invalid value for '--search': 'best' is not one of 'smallest'"),
        (["annotate", "--search", "smalest"], "Did you mean smallest?"),
        (["runs", "--diff", "friends@1/10", "friends@3/10"], "such as `pcneo runs friends@3/10 --diff 1 2`."),
        (["audit", "-e", "0"], "epsilon must be"),
        (["audit"], "Give the ε"),
        (["audit", "-e", "1", "-e", "4"], "Give one; run it again for another."),
        (["audit", "-n", "800", "-d", "16", "-e", "1", "--of", "count"], "It says what --error refers to"),
        (["budget", "show", "--json", "--csv"], "Both are formats; give one of them."),
        (["budget", "mend", "secret", "g", "--delta", "1e-6"], "`secret` takes neither --epsilon nor --delta."),
        (["audit", "-e", "1", "--mechanism", "edge"], "No such option"),
        (["release", "-e", "1", "--to", "a.csv", "--mechanism", "edges"], "Did you mean edge?"),
        (["budget", "set", "g", "--epsilon", "1e5000"], "more than 300 digits"),
        (["budget", "set", "g", "--epsilon", "1e-5000"], "more than 300 digits"),
        (["budget", "set", "g", "--epsilon", "9" * 5000], "more than 300 digits"),
        (["budget", "set", "g", "--epsilon", "1", "--delta", "1e-9999"], "more than 300 digits"),
        (["release", "--mechanism", "critical", "--to", "a.csv", "-e", "1e5000"], "more than 300 digits"),
        (["release", "--to", "a.csv", "-e", "1", "--mechanism", "edge", "--delta", "1e-5000"], "300 digits"),
        (["release", "--to", "a.csv", "-e", "1", "--mechanism", "edge", "--delta", "1e-9999"], "300 digits"),
        (
            ["release", "--mechanism", "critical", "--to", "a.csv", "-e", "1", "--budget-epsilon", "1e5000"],
            "more than 300 digits",
        ),
        (["release", "--mechanism", "critical", "--to", "a.csv", "-e", "1", "-k", "2"], "k must be"),
        (
            ["release", "--mechanism", "critical", "--to", "a.csv", "-e", "1", "-e", "2", "--write-property", "x"],
            "one release",
        ),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_an_argument_out_of_range_is_refused_before_anything_is_connected(pcneo, arguments, says):
    code, said = pcneo(*arguments)
    assert code == 2, said
    assert says in said
    assert len(said) < 400


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (["--mechanism", "edge", "-e", "1"], "What is missing: --to (the public file)."),
        (["--mechanism", "edge", "--to", "a.csv"], "What is missing: -e (at least one ε)."),
        ([], "What is missing: --to (the public file), -e (at least one ε), --mechanism (there is no default)."),
    ],
)
def test_a_release_that_lacks_something_is_told_all_of_it_and_nothing_else_with_a_whole_command(pcneo, given, missing):
    code, said = pcneo("release", *given)
    assert code == 2
    assert f"{missing} The first release of a graph also sets its budget" in said
    example = said.splitlines()[-1]
    assert example.startswith(f"  pcneo release {' '.join(given)}")
    assert example.endswith(" --budget-epsilon 6" if not given else " --budget-epsilon 2")
    assert pcneo(*example.split()[1:])[0] == 5, "it is complete, and reaches for the database"
    assert "its budget" not in pcneo("release", *given, "--budget-epsilon", "3")[1]


def test_the_example_of_a_command_names_a_file_that_is_not_there(pcneo, tmp_path):
    (tmp_path / "counts.csv").touch()
    said = pcneo("release", "friends", "-e", "3", "-k", "4", "--mechanism", "respond")[1]
    assert (
        said.splitlines()[-1]
        == "  pcneo release friends -e 3 -k 4 --mechanism respond --to counts-2.csv --budget-epsilon 6"
    )


@pytest.mark.parametrize(
    ("given", "added"),
    [
        (["people"], "--mechanism respond -e 3 --to counts.csv --budget-epsilon 6"),
        (["people", "-e", "1/2", "-e", "1"], "--mechanism respond --to counts.csv --budget-epsilon 3"),
        (["people", "--delta=1e-9"], "--mechanism edge -e 1 --to counts.csv --budget-epsilon 2"),
        (["people", "--groups=2"], "--mechanism critical -e 1 --to counts.csv --budget-epsilon 2"),
        (["people", "--delta", "1e-9"], "--mechanism edge -e 1 --to counts.csv --budget-epsilon 2"),
        (["people", "-k", "5"], "--mechanism edge -e 1 --to counts.csv --budget-epsilon 2"),
        (["people@3/10"], "--mechanism critical -e 1 --to counts.csv --budget-epsilon 2"),
        (["people", "--budget-epsilon", "9"], "--mechanism respond -e 3 --to counts.csv"),
        (["people", "--from", "a.answers.gz"], "--to counts.csv"),
    ],
)
def test_the_example_of_a_command_works_for_the_first_release_of_a_graph(pcneo, given, added):
    assert pcneo("release", *given)[1].splitlines()[-1] == f"  pcneo release {' '.join(given)} {added}"


def test_a_number_with_a_comma_is_refused_with_the_way_to_write_it(pcneo):
    code, said = pcneo("release", "--mechanism", "edge", "-e", "0,5", "--to", "a.csv")
    assert (code, "not '0,5'. Write it with a point, not a comma." in said) == (2, True)


def test_who_can_be_asked_for_the_mechanism_is_not_told_that_it_is_missing(pcneo, monkeypatch):
    monkeypatch.setattr("pcneo.cli.release.can_ask", lambda: True)
    code, said = pcneo("release", "-e", "1")
    assert (code, said.splitlines()[0].startswith("pcneo: What is missing: --to (the public file). The first")) == (
        2,
        True,
    )


@pytest.mark.parametrize("options", [[], ["--json"], ["--dry-run"], ["friends"], ["--no-promise"]], ids=" ".join)
def test_a_script_must_name_the_mechanism_and_is_told_what_there_is(pcneo, tmp_path, options):
    code, said = pcneo("release", "--to", "out.csv", "-e", "1", *options)
    assert code == 2
    for name, kind in MECHANISMS.items():
        promises, exact, shows = kind.in_short
        lines = f"{name}\n  promises  {promises}\n  exact     {exact}\n  shows     {shows}\n"
        assert lines in said
        assert all(len(line) <= 120 for line in lines.splitlines()), name
    assert "What is missing: --mechanism (there is no default)." in said
    assert list(tmp_path.iterdir()) == []


def test_a_person_at_a_terminal_is_asked_for_the_mechanism_until_it_is_one_if_there_is_room(pcneo, monkeypatch):
    typed = iter(["", "laplace", " edge "])
    questions: list[str] = []
    asked: list[Any] = []

    def prompt(text: str, **_: object) -> str:
        questions.append(text)
        return next(typed)

    def no_room(*_: object) -> None:
        raise BudgetError("there is no room")

    monkeypatch.setattr("pcneo.cli.release.can_ask", lambda: True)
    monkeypatch.setattr(sys.modules[typer.prompt.__module__], "visible_prompt_func", prompt)
    monkeypatch.setattr("pcneo.cli.release.connected", lambda: nullcontext((None, None)))
    monkeypatch.setattr("pcneo.release.spending.check_room", no_room)
    code, said = pcneo("release", "--to", "out.csv", "-e", "1")
    assert (code, questions, "promises" in said) == (9, [], False)
    monkeypatch.setattr("pcneo.release.spending.check_room", lambda *_: None)
    monkeypatch.setattr("pcneo.release.release", lambda *_, **options: ([], asked.append(options["requests"]) or []))
    code, said = pcneo("release", "--to", "out.csv", "-e", "1")
    assert code == 0, said
    assert len(questions) == 3
    assert said.count("mechanism must be one of") == 2  # once for no answer
    assert [request.mechanism.name for request in asked[0]] == ["edge"]


@pytest.mark.parametrize("several", [[], ["-e", "2"]], ids=["one release", "two releases"])
@pytest.mark.parametrize(
    "to",
    ["/", ".", "..", "", "a/", "a.txt", "no folder/a.csv", "x" * 300 + ".csv", "x" * 300 + "/a.csv", "loop/a.csv",
     "file/a.csv", "file.csv", "folder.csv"],
)  # fmt: skip
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_connected(pcneo, tmp_path, to, several):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "file.csv").touch()
    (tmp_path / "file-k3-e1.csv").touch()
    for name in ("folder.csv", "folder-k3-e1.csv"):
        (tmp_path / name).mkdir()
    before = sorted(tmp_path.rglob("*"))
    code, said = pcneo("release", "--mechanism", "edge", "--to", to, "-e", "1", *several)
    assert code == 2, said
    assert "must end in" in said or "cannot be written" in said or "exists" in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("to", ["a\0b.csv", "x" * 300 + ".csv", ".", "/", "no folder/a.csv"])
def test_a_batch_with_a_file_that_cannot_be_written_is_refused_too(pcneo, tmp_path, to):
    (tmp_path / "batch").write_text(f"to,epsilon,mechanism\n{to},1,edge\n", encoding="utf-8")
    code, said = pcneo("release", "--batch", "batch")
    assert code == 2, said
    assert "must end in" in said or "cannot be written" in said
    assert [path.name for path in tmp_path.iterdir()] == ["batch"]


@pytest.mark.parametrize("name", ["a" * 244 + ".csv", "ü" * 122 + ".json"])
def test_the_longest_name_that_a_folder_takes_is_one_for_a_release(pcneo, tmp_path, name):
    (tmp_path / name).touch()  # it is a name here
    (tmp_path / name).unlink()
    stem = name.rpartition(".")[0]
    assert pcneo("release", "--mechanism", "edge", "--to", name, "-e", "1") == (
        5,
        pcneo("runs")[1],
    ), stem
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", ["bolt://.:7", "bolt://" + "a" * 64 + ".example", "bolt://a..b:7687"])
def test_a_host_that_cannot_be_one_is_named(pcneo, uri):
    code, said = pcneo("runs", NEO4J_URI=uri)
    assert code == 5
    assert said.startswith(f"pcneo: NEO4J_URI is '{uri}'")


@pytest.mark.parametrize("name", ["URI", "USERNAME", "PASSWORD", "DATABASE"])
def test_bytes_that_are_no_utf_8_are_refused_by_the_name_of_their_variable(pcneo, name):
    value = "bolt://\udcff" if name == "URI" else "\udcff"
    assert pcneo("runs", **{f"NEO4J_{name}": value}) == (5, f"pcneo: NEO4J_{name} holds bytes that are not UTF-8.\n")


def test_an_export_or_a_picture_with_a_name_that_is_too_long_is_refused_as_an_argument(tmp_path: Path):
    from pcneo.basics.whole_file import check_place
    from pcneo.errors import ParameterError

    for name in ("x" * 300 + ".json", "a\0.json", "no folder/x.json"):
        for replace in (True, False):
            with pytest.raises(ParameterError, match="cannot be written"):
                check_place(tmp_path / name, "path", replace=replace)
    assert list(tmp_path.iterdir()) == []


def test_a_batch_says_what_else_is_asked_for_of_each_release(tmp_path):
    file, kept = tmp_path / "batch.csv", tmp_path / "kept.answers.gz"
    kept.write_bytes(gzip.compress(b"# mechanism: respond\n# epsilon: 1\n"))
    file.write_text(
        "mechanism,epsilon,to,k,groups,answers,from,clip,smooth\n"
        "critical,1,a.csv,3 4,7,keep,,yes,\n"
        "edge,1,b.csv,,,,,no,yes\n"
        f"respond,1,c.csv,,,,{kept},,\n"
    )
    three, four, edge, respond = read_batch(file)
    assert [(one.mechanism, one.groups, one.answers) for one in (three, four)] == [
        (Critical(k=k, epsilon=1, clip=True), 7, "keep") for k in (3, 4)
    ]
    assert (edge.mechanism, edge.groups, edge.answers_from) == (Edge(epsilon=1, smooth=True), None, None)
    assert respond.answers_from == AnswersFile.open(kept)
    for column, cell in (("clip", "maybe"), ("groups", "x")):
        file.write_text(f"mechanism,epsilon,to,{column}\ncritical,1,a.csv,{cell}\n")
        with pytest.raises(FileFormatError, match=rf"line 2: {column} is '{cell}'"):
            read_batch(file)
