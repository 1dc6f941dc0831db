"""The command line as a person meets it: a process, its two outputs, its exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import neo4j
import pytest
from lengths import usual_or_thorough
from places import ROOT

from pcneo.cli.main import main

COMMANDS = ["demo", "load", "annotate", "queries", "runs", "clean", "release", "audit", "budget", "server"]
COMMANDS += ["check", "show", "serve", "party", "mcp"]
FRIENDS = ROOT / "pcneo" / "cli" / "sample" / "copenhagen_friends.edges.gz"
NAMES = ["--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id"]


pytestmark = pytest.mark.schema("loaded")


@pytest.fixture
def pcneo(server: Any, empty_database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command line against the test server: within this process, and in one of its own where that matters.

    Each takes a second to start. Under `--thorough` all commands have a process of their own.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")} | server.environment

    def apart(*arguments: str, program: Sequence[str], stdout: Any, **environment: str) -> Any:
        return subprocess.run(
            [sys.executable, *program, *arguments],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, **environment},
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    def within(*arguments: str, **environment: str) -> Any:
        with monkeypatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("NEO4J_")]:
                patch.delenv(name)
            for name, value in {**server.environment, **environment}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["pcneo", *arguments])
            capsys.readouterr()
            with pytest.raises(SystemExit) as end:
                main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(end.value.code or 0), shown.out, shown.err)

    def run(
        *arguments: str,
        program: Sequence[str] = ("-m", "pcneo"),
        stdout: Any = subprocess.PIPE,
        process: bool = usual_or_thorough(False, True),
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        if process:
            return apart(*arguments, program=program, stdout=stdout, **environment)
        return within(*arguments, **environment)

    return run


def _loaded(pcneo: Any, lines: str = "1 2\n2 3\n1 3\n3 4\n", folder: Path | None = None) -> None:
    assert folder is not None
    file = folder / "graph.txt"
    file.write_text(lines)
    assert pcneo("load", str(file), *NAMES).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        [],
        *[[name] for name in COMMANDS],
        *[["server", s] for s in ("start", "status", "stop")],
        *[["party", s] for s in ("answer", "collect")],
    ],
)
def test_help_has_a_sentence_of_purpose_and_an_example(command: list[str], command_line: Callable[..., Any]) -> None:
    code, shown, _ = command_line(*command, "--help")
    assert code == 0
    assert "Example: pcneo" in shown
    assert "Usage: pcneo" in shown


@pytest.mark.parametrize("command", ["check", "load", "release", "serve"])
def test_a_paragraph_of_help_has_no_short_line_but_its_last(
    command: str, monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., Any]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, shown, _ = command_line(command, "--help")
    lines = [line.strip() for line in shown.split("Usage:")[1].split("╭")[0].splitlines()]
    for line, following in pairwise(lines):
        assert not following or not line or len(line) + 1 + len(following.split()[0]) > 78, line


def test_what_is_asked_for_is_not_called_required(command_line: Callable[..., Any]) -> None:
    _, shown, _ = command_line("budget", "forget", "--help")
    assert shown.count("[required]") == 1  # the graph


def test_main_help_names_every_exit_code() -> None:
    from pcneo import errors

    shown = subprocess.run([sys.executable, "-m", "pcneo", "--help"], capture_output=True, text=True, check=True)
    codes = {getattr(errors, name).exit_code for name in errors.__all__} | {0, 130}
    text = shown.stdout.split("Exit codes:")[1]
    assert all(f"{code} " in text for code in codes)


def test_first_line_on_standard_error_says_where(pcneo: Any) -> None:
    shown = pcneo("runs", "--json", process=True)
    assert shown.stderr.splitlines()[0].startswith("Using bolt://")
    assert "database neo4j" in shown.stderr.splitlines()[0]
    assert json.loads(shown.stdout) == []


def test_keys_that_become_text_for_the_sake_of_others_are_told(pcneo: Any, tmp_path: Path) -> None:
    for lines, told in (
        ("1 2\n2 ann\n", "Keys that are numbers: 2 of 3. The others are text (the first is 'ann', line 2), and a"),
        ("bob ann\n", ""),
    ):
        (tmp_path / "mixed.txt").write_text(lines)
        loaded = pcneo("load", str(tmp_path / "mixed.txt"), "--node-label", "Mixed", *NAMES[2:])
        assert loaded.returncode == 0, loaded.stderr
        assert ("Keys that are numbers" in loaded.stderr) is bool(told)
        assert told in loaded.stderr


def test_a_first_line_that_may_be_a_header_is_told(pcneo: Any, tmp_path: Path) -> None:
    (tmp_path / "named.csv").write_text("person_a,person_b\nann,bob\nbob,cid\n")
    loaded = pcneo("load", str(tmp_path / "named.csv"), "--node-label", "Named", *NAMES[2:])
    assert loaded.returncode == 0, loaded.stderr
    says = "Line 1 (person_a, person_b) shares no key with any other line and was loaded as data. If it is a header,"
    assert says in " ".join(loaded.stderr.split())


def test_stream_prints_csv_and_nothing_else(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo("annotate", *NAMES, "-p", "0.5", "--mode", "stream", process=True)
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [row["vertex"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[0]["p"] == "1/2"
    assert json.loads(rows[0]["members"]) == [1, 2]


def test_stream_json_has_the_documented_fields_in_order(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo("annotate", *NAMES, "-p", "0.5", "--mode", "stream", "--json", "--vertex", "4")
    record = json.loads(shown.stdout)
    assert list(record) == ["vertex", "p", "search", "size", "edges", "density", "proven", "best", "members"]
    assert record["members"] == [3, 4] or record["members"][-1] == 4
    assert record["size"] == len(record["members"])


def test_names_may_be_left_out_where_there_is_one_choice(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo("annotate", "-p", "1/3", process=True)
    assert shown.returncode == 0
    assert "--node-label Person --relationship-type KNOWS: the only choice in this database." in shown.stderr
    assert "Using --key id, the only property with an index. To use another, give --key." in shown.stderr


def test_a_misspelt_name_does_not_store_a_graph_a_second_time(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    assert pcneo("annotate", *NAMES, "--graph", "friends", "-p", "0.5").returncode == 0
    misspelt = pcneo("annotate", "--graph", "freinds", "-p", "0.5")
    assert misspelt.returncode == 4
    assert "There is no graph 'freinds'; there is 'friends'. Did you mean friends?" in misspelt.stderr
    described = pcneo("annotate", "--graph", "freinds", "-p", "0.5", "--mode", "stats")
    assert described.returncode == 4
    assert "there is 'friends'. Did you mean friends?" in " ".join(described.stderr.split())
    assert pcneo("annotate", *NAMES, "--graph", "freinds", "-p", "0.5").returncode == 0  # if it is meant
    pcneo("load", str(tmp_path / "graph.txt"), "--node-label", "User", "--relationship-type", "KNOWS", "--key", "id")
    one_of_two = pcneo("annotate", "--graph", "frends", "-p", "0.5")
    assert one_of_two.returncode == 2
    said = (
        "pcneo: There is no graph 'frends' yet; known graphs: 'freinds', 'friends'. Did you mean friends? For a "
        "new graph, name the node label with --node-label"
    )
    assert said in " ".join(one_of_two.stderr.split())
    nothing = pcneo("annotate", "-p", "0.5")
    assert nothing.returncode == 2
    assert "Or name a known graph, with --graph" in " ".join(nothing.stderr.split())


def test_without_a_name_the_one_that_the_graph_has_is_meant(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    assert pcneo("annotate", *NAMES, "--graph", "friends", "-p", "0.5").returncode == 0
    again = pcneo("annotate", "--json")
    assert json.loads(again.stdout)["graph"] == "friends"
    assert json.loads(pcneo("annotate", "-p", "1/3", "--json").stdout)["graph"] == "friends"
    forgotten = pcneo("annotate", *NAMES, "-p", "0.5", process=True)
    assert "This graph is already named friends; using that." in forgotten.stderr
    assert {stored["run"]["graph"] for stored in json.loads(pcneo("runs", "--json").stdout)} == {"friends"}
    for first in (True, False):
        ours = pcneo("annotate", *NAMES, "--graph", "ours", "-p", "0.5", process=True)
        assert ours.returncode == 0
        assert ("This graph is already known as 'friends'; 'ours' is another name for it" in ours.stderr) is first
    for names in ([], NAMES):
        shown = pcneo("annotate", *names, "-p", "0.5")
        assert shown.returncode == 2
        assert "several names: friends, ours" in shown.stderr
    assert pcneo("annotate", *NAMES, "-p", "0.5", "--graph", "Person/KNOWS/id").returncode == 0
    assert json.loads(pcneo("annotate", *NAMES, "--json").stdout)["graph"] == "Person/KNOWS/id"  # the default one


def test_where_vertices_are_named_the_title_is_of_what_the_search_looked_at(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    for mode, ends in (("write", ""), ("stats", "; nothing was written")):
        arguments = ("annotate", *NAMES, "-p", "0.5", "--mode", mode)
        whole, single = (
            pcneo(*arguments, *vertex).stdout.splitlines()[0].strip() for vertex in ([], ["--vertex", "4"])
        )
        assert whole.endswith(f"4 vertices, 4 edges{ends}")
        assert re.search(rf"the search looked at [1-4] vertices, which have [1-4] edges{ends}$", single)


def test_write_reports_in_gds_names(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo("annotate", *NAMES, "-p", "0.5", "-p", "1/3", "--json")
    result = json.loads(shown.stdout)
    assert {
        "nodeCount",
        "relationshipsWritten",
        "preProcessingMillis",
        "computeMillis",
        "writeMillis",
        "configuration",
    } <= set(result)
    assert [run["p"] for run in result["runs"]] == ["1/2", "1/3"]


def test_a_run_is_listed_verified_asked_and_cleaned(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5")
    (stored,) = json.loads(pcneo("runs", "--json").stdout)
    assert (stored["run"]["id"], stored["run"]["version"]) == ("Person/KNOWS/id@1/2", 1)
    assert stored["moved"] is False
    assert "│ no " in pcneo("runs").stdout
    (verified,) = json.loads(pcneo("check", "--json").stdout)["runs"]
    assert verified["graphSame"] is True
    assert verified["membershipsSame"] is True
    shown = pcneo("queries", "critical_connections", "--run", "--param", "id=1", "--json")
    assert [(row["a"], row["b"]) for row in json.loads(shown.stdout)] == [(1, 2)]
    printed = json.loads(pcneo("queries", "critical_connections", "--json").stdout)
    assert printed == {"name": "critical_connections", "cypher": pcneo("queries", "critical_connections").stdout}
    refused = pcneo("clean", "--all")
    assert (refused.returncode, "add --yes to remove all runs" in refused.stderr) == (2, True)
    assert json.loads(pcneo("clean", "--all", "--yes", "--json").stdout)["hubs"] == 4
    assert json.loads(pcneo("runs", "--json").stdout) == []


def test_versions_are_made_listed_compared_and_let_go(
    pcneo: Any, tmp_path: Path, neo4j_driver: neo4j.Driver, database: str
) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5", "-p", "0.9", "--graph", "friends")
    again = pcneo("annotate", "--graph", "friends")
    assert "Up to date: nothing has changed, and nothing was written." in again.stderr
    connect = "MATCH (a:Person {id: 1}), (b:Person {id: 4}) CREATE (a)-[:KNOWS]->(b)"
    neo4j_driver.execute_query(connect, database_=database)
    written = json.loads(pcneo("annotate", "--graph", "friends", "--json").stdout)
    assert [(run["run"], run["version"]) for run in written["runs"]] == [("friends@1/2", 2), ("friends@9/10", 2)]
    assert "current" in pcneo("runs", "friends@1", "--history").stdout.splitlines()[-2]
    versions = json.loads(pcneo("runs", "friends@1", "--history", "--json").stdout)
    assert [(version["version"], version["readable"]) for version in versions] == [(1, True), (2, True)]
    added, retired = versions[1]["added"], versions[1]["retired"]
    assert added == retired > 0
    differences = json.loads(pcneo("runs", "friends@1", "--diff", "1", "2", "--json").stdout)
    assert len(differences) == added
    assert all(difference["before"] != difference["after"] for difference in differences)
    assert f"{added} cohesions differ" in pcneo("runs", "friends@1", "--diff", "1", "2").stdout
    for begun in (["friends@1"], ["friends@1", "--version", "1"], ["friends@1", "--yes"]):  # nobody is asked
        refused = pcneo("clean", *begun)
        assert (refused.returncode, "give the whole id of what to remove, friends@1/2" in refused.stderr) == (2, True)
    planned = pcneo("clean", "friends@1/2", "--version", "1", "--dry-run")
    assert (planned.returncode, "Version 1 of friends@1/2 would be removed" in planned.stdout) == (0, True)
    planned = pcneo("clean", "friends@1/2", "--version", "1", "--dry-run", "--json")
    assert json.loads(planned.stdout) == {"run": "friends@1/2", "version": 1, "releases": []}
    for version in ("2", "9"):
        refused = pcneo("clean", "friends@1/2", "--version", version, "--dry-run")
        assert (refused.returncode, refused.stdout) == (4, "")
    removed = pcneo("clean", "friends@1/2", "--version", "1").stdout
    assert removed == f"Version 1 of friends@1/2 removed, with the cohesions that it alone had: {retired}\n"
    gone = pcneo("runs", "friends@1", "--diff", "1", "2")
    assert (gone.returncode, "has no version 1; it has 2" in gone.stderr) == (4, True)
    current = pcneo("clean", "friends@1/2", "--version", "2")
    assert (current.returncode, "Version 2 is the current one" in current.stderr) == (4, True)
    # what a killed writer leaves
    killed = "CREATE (:PCohesionRun {id: 'friends@1/5', graph: 'friends', search: 'density', version: 0})"
    neo4j_driver.execute_query(killed, database_=database)
    assert "`pcneo clean friends@1/5`" in pcneo("check", "friends@1/5", "--json").stdout
    assert "(friends@1/5)" in pcneo("clean", "friends@1/5").stdout
    assert pcneo("check", "friends@1/5").returncode == 4
    for named in ("friends@0.9", "friends@9/10", "friends@9"):
        assert json.loads(pcneo("show", "1", named, "--json").stdout)["run"] == "friends@9/10"
    assert pcneo("show", "1").returncode == pcneo("show", "1", "friends").returncode == 2  # two have version 2


def test_runs_are_listed_by_id_by_what_ids_begin_with_or_by_their_graph(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5", "-p", "0.9", "--graph", "friends")
    pcneo("annotate", *NAMES, "-p", "0.5", "--graph", "friends2")
    friends, friends2 = ["friends@1/2", "friends@9/10"], ["friends2@1/2"]
    fitting = {"friends@9/10": friends[1:], "friends@1": friends[:1], "friends": friends, "fr": friends2 + friends}
    for named, ids in fitting.items():
        listed = json.loads(pcneo("runs", named, "--json").stdout)
        assert sorted(stored["run"]["id"] for stored in listed) == sorted(ids)
        versions = json.loads(pcneo("runs", named, "--history", "--json").stdout)
        assert sorted(version["id"] for version in versions) == sorted(ids)


def test_runs_and_check_take_the_name_of_a_graph_and_refuse_a_misspelt_one(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5", "-p", "0.9", "--graph", "friends")
    pcneo("annotate", *NAMES, "-p", "0.5", "--graph", "friends2")
    of_friends = ("friends", "--json")
    ids = ["friends@1/2", "friends@9/10"]
    assert [stored["run"]["id"] for stored in json.loads(pcneo("runs", *of_friends).stdout)] == ids
    assert [version["id"] for version in json.loads(pcneo("runs", "--history", *of_friends).stdout)] == ids
    assert [run["run"]["id"] for run in json.loads(pcneo("check", *of_friends).stdout)["runs"]] == ids
    assert json.loads(pcneo("runs", "friends2", "--diff", "1", "1", "--json").stdout) == []
    assert json.loads(pcneo("show", "1", "friends2", "--json").stdout)["run"] == "friends2@1/2"
    misspelt = [["runs", "freinds"], ["runs", "freinds", "--history"], ["runs", "freinds", "--diff", "1", "1"]]
    for command in (*misspelt, ["check", "freinds"], ["show", "1", "freinds"]):
        refused = pcneo(*command)
        assert (refused.returncode, refused.stdout) == (4, ""), command
        assert "There is no run or graph 'freinds'" in refused.stderr
        assert "Did you mean friends?" in refused.stderr
    for run in ("friends", "friends@1/2"):
        swapped = pcneo("show", run, "1")
        assert (swapped.returncode, swapped.stdout) == (4, "")
        assert f"The vertex comes first: `pcneo show 1 {run}`." in swapped.stderr
    assert pcneo("clean", "friends", "--dry-run").returncode == 2  # a graph's name never says which run is removed
    assert pcneo("runs", "--history", "--diff", "1", "1").returncode == 2
    pcneo("clean", "friends2@1/2")
    gone = pcneo("runs", "friends2")
    assert (gone.returncode, "There is no run 'friends2'; there are friends@1/2" in gone.stderr) == (4, True)


def test_a_query_printed_for_a_graph_runs_as_it_is(
    pcneo: Any, tmp_path: Path, neo4j_driver: neo4j.Driver, database: str
) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5", "--graph", "my friends")
    arguments = ["queries", "critical_connections", "my friends", "--param", "id=1"]
    printed = neo4j_driver.execute_query(pcneo(*arguments).stdout, database_=database).records
    rows = json.loads(pcneo(*arguments, "--run", "--json").stdout)
    assert rows
    pairs = [(row["a"], row["b"]) for row in rows]
    assert [(record["a"]["id"], record["b"]["id"]) for record in printed] == pairs
    of_the_sample = pcneo("queries", "critical_connections").stdout
    assert of_the_sample.startswith("// Labels, types and key are those of the sample graph; `pcneo queries NAME ")
    named = {"id": 1, "run": "my friends@1/2"}
    printed = neo4j_driver.execute_query(of_the_sample, named, database_=database).records
    assert [(record["a"]["id"], record["b"]["id"]) for record in printed] == pairs


def test_moved_and_verify_see_a_changed_graph(
    pcneo: Any, tmp_path: Path, neo4j_driver: neo4j.Driver, database: str
) -> None:
    _loaded(pcneo, folder=tmp_path)
    pcneo("annotate", *NAMES, "-p", "0.5")
    neo4j_driver.execute_query(
        "MATCH (a:Person {id: 1}), (b:Person {id: 4}) CREATE (a)-[:KNOWS]->(b)", database_=database
    )
    assert json.loads(pcneo("runs", "--json").stdout)[0]["moved"] is True
    assert "+1 relationships" in pcneo("runs").stdout
    neo4j_driver.execute_query("CREATE (:Person {id: 77}), (:Person {id: 78})", database_=database)
    neo4j_driver.execute_query("MATCH (a:Person {id: 1})-[r:KNOWS]-() DELETE r", database_=database)
    (stored,) = json.loads(pcneo("runs", "--json").stdout)
    more, fewer = stored["nodesMore"], stored["relationshipsMore"]
    assert (more, fewer < 0) == (2, True)
    assert f"+2 nodes, {fewer:+,} relationships" in " ".join(pcneo("runs").stdout.split())
    for asked in (["show", "1"], ["queries", "largest_cohesions", "--run"]):
        assert "The graph has changed since this run" in pcneo(*asked).stderr
    shown = pcneo("check", "--json")
    assert json.loads(shown.stdout)["runs"][0]["graphSame"] is False
    assert shown.returncode == 4


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["annotate", *NAMES, "-p", "1.5"], 2, "1.5"),
        (["annotate", *NAMES, "-p", "nan"], 2, "nan"),
        (["annotate", *NAMES, "--mode", "nonsense"], 2, "nonsense"),
        (["annotate", *NAMES, "-p", "0.5", "--vertex", "99"], 4, "99"),
        (["annotate", "--node-label", "Nobody", "-p", "0.5"], 4, "Nobody"),
        (["annotate", *NAMES, "-p", "0.5", "--vertex", "99", "--mode", "stream"], 4, "99"),
        (["annotate", *NAMES[:4], "--key", "name", "-p", "0.5"], 4, "Such a node has the properties 'id'. Every"),
        (["annotate", *NAMES[:4], "--key", "name", "-p", "0.5", "--create-index"], 4, "have no 'name'"),
        (["load", "nowhere.txt", *NAMES], 3, "nowhere.txt"),
        (["queries", "nonsense"], 4, "critical_connections"),
        (["queries", "critical_connections", "--run", "--param", "id"], 2, "NAME=VALUE"),
        (["queries", "critical_connections", "friends"], 4, "There is no run or graph 'friends'"),
        (["queries", "critical_connections", "friends@1/2"], 4, "There is no run 'friends@1/2'"),
        (["queries", "--param", "id=1"], 2, "Name the query"),
        (["clean"], 2, "--all"),
        (["clean", "no-such-run"], 4, "There is no run 'no-such-run'"),
        (["runs", "some-run"], 4, "There is no run or graph 'some-run'"),
    ],
)
def test_a_mistake_gets_a_line_and_its_exit_code(
    pcneo: Any, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo(*arguments, **({"process": True} if code == 3 else {}))
    assert shown.returncode == code, shown.stderr
    assert says in shown.stderr
    assert "Traceback" not in shown.stderr
    assert shown.stdout == ""


def test_a_key_without_an_index_gets_the_statement_that_creates_one_and_a_property_that_is_no_key_gets_none(
    pcneo: Any, tmp_path: Path, neo4j_driver: neo4j.Driver, database: str
) -> None:
    _loaded(pcneo, folder=tmp_path)
    ours = ("annotate", *NAMES[:4], "--key", "name", "-p", "0.5")
    assert pcneo(*ours, "--create-index").returncode == 4
    indexed = "SHOW INDEXES YIELD * WHERE properties = ['name'] AND labelsOrTypes = ['Person'] RETURN name"
    assert neo4j_driver.execute_query(indexed, database_=database).records == []
    neo4j_driver.execute_query("MATCH (v:Person) SET v.name = 'v' + v.id", database_=database)
    shown = pcneo(*ours)
    assert shown.returncode == 5
    assert "CREATE INDEX" in shown.stderr
    assert pcneo(*ours, "--create-index").returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_under_standard_output_is_one_line(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    with Path("/dev/full").open("w") as full:
        shown = pcneo("annotate", *NAMES, "-p", "0.5", "--mode", "stream", stdout=full, process=True)
    assert shown.returncode == 1
    assert shown.stderr.splitlines()[-1] == "pcneo: No space left on device"
    assert "Traceback" not in shown.stderr


def test_no_stream_needs_to_be_open_and_no_letter_in_it(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, "ä b\nb c\nä c\n", folder=tmp_path)
    stream = ("annotate", *NAMES, "-p", "0.5", "--mode", "stream")
    closed = "import os; os.close(0); os.execvp({0!r}, [{0!r}, '-m', 'pcneo', *__import__('sys').argv[1:]])"
    shown = pcneo(*stream, "--json", program=("-c", closed.format(sys.executable)), process=True)
    assert (shown.returncode, len(shown.stdout.splitlines())) == (0, 3), shown.stderr
    shown = pcneo(*stream, process=True, PYTHONIOENCODING="ascii")
    assert shown.returncode == 1
    assert shown.stderr.splitlines()[-1].startswith("pcneo: Standard output takes only ascii, which has no '\\xe4'.")
    shown = pcneo(*stream, "--json", process=True, PYTHONIOENCODING="ascii")
    assert [json.loads(line)["vertex"] for line in shown.stdout.splitlines()] == ["b", "c", "ä"]


def test_keys_and_names_that_a_terminal_would_obey_reach_none(
    pcneo: Any, tmp_path: Path, neo4j_driver: neo4j.Driver, database: str
) -> None:
    _loaded(pcneo, "a b\nb c\na c\n", folder=tmp_path)
    hostile = "=\x1b[31m\u202e\x9b"
    neo4j_driver.execute_query("MATCH (v:Person {id: 'a'}) SET v.id = $key", key=hostile, database_=database)
    named = ["--graph", hostile]
    shown = pcneo("annotate", *NAMES, *named, "-p", "0.5")
    assert shown.returncode == 0, shown.stderr
    for arguments in (
        ["runs"], ["show", "b"], ["show", hostile], ["queries", "largest_cohesions", "--run"], ["show", "x\x1b"],
        ["budget", "set", hostile, "--epsilon", "3"], ["budget", "show"], ["audit", "-e", "1"], ["check"],
        ["release", "--mechanism", "critical", "-e", "1", "--to", str(tmp_path / "a.json")],
        ["clean", "x\x1b"], ["clean", "--all", "--yes"],
    ):  # fmt: skip
        shown = pcneo(*arguments)
        for text in (shown.stdout, shown.stderr):
            assert not set(text) & set("\x1b\u202e\x9b"), arguments
    assert not set((tmp_path / "owner" / "a.owner.md").read_text()) & set("\x1b\u202e\x9b")
    shown = pcneo("annotate", *NAMES, "-p", "0.5", "--mode", "stream", process=True)
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [row["vertex"] for row in rows] == [f"'{hostile}", "b", "c"]
    assert json.loads(rows[1]["members"])[0] == hostile


def test_an_interruption_is_said(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    code = (
        "import pcneo.annotate; from pcneo.cli.main import main\n"
        "def interrupted(*_, **__): raise KeyboardInterrupt\n"
        "pcneo.annotate.write = interrupted; main()"
    )
    shown = pcneo("annotate", *NAMES, program=("-c", code), process=True)
    assert shown.returncode == 130
    assert shown.stderr.splitlines()[-1] == "pcneo: interrupted"


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"NEO4J_PASSWORD": "not-the-password"}, "NEO4J_PASSWORD"),
        ({"NEO4J_URI": "bolt://127.0.0.1:9"}, "No Neo4j answered at bolt://127.0.0.1:9."),
        ({"NEO4J_URI": "http://localhost:7474"}, "neo4j://localhost:7687"),
        ({"NEO4J_URI": "neo4j://neo4j:secret-word@localhost"}, "contains a user name or password"),
        ({"NEO4J_DATABASE": "nosuchdatabase"}, "NEO4J_DATABASE"),
    ],
)
def test_a_connection_that_fails_is_one_line_without_the_password(
    pcneo: Any, environment: dict[str, str], says: str
) -> None:
    shown = pcneo("runs", **environment, **({"process": True} if "NEO4J_PASSWORD" in environment else {}))
    assert shown.returncode == 5
    assert says in shown.stderr
    assert len(shown.stderr.strip().splitlines()) == 1
    assert "not-the-password" not in shown.stderr
    assert "secret-word" not in shown.stderr


def test_verbose_output_never_shows_the_password(pcneo: Any, server: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    shown = pcneo("-v", "annotate", *NAMES, "-p", "0.5", process=True)
    assert shown.returncode == 0
    assert server.password not in shown.stdout + shown.stderr


def test_a_cohesion_is_shown_as_tables_and_as_json_and_drawn(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    missing = pcneo("show", "1")
    assert missing.returncode == 4
    assert "To create one, run `pcneo annotate`." in missing.stderr
    assert pcneo("annotate", *NAMES, "-p", "0.5").returncode == 0
    shown = pcneo("show", "1", "--plot", str(tmp_path / "1.svg"))
    assert shown.returncode == 0, shown.stderr
    assert "p-cohesion of 1" in shown.stdout
    assert shown.stdout.startswith("No smaller one exists.")
    assert "Connections of 1 that are not critical" in shown.stdout
    assert (tmp_path / "1.svg").read_text().startswith("<?xml")
    cohesion = json.loads(pcneo("show", "1", "--json").stdout)
    keys = {member["key"] for member in cohesion["members"]}
    assert {"vertex": 1, "p": "1/2", "size": len(keys)}.items() <= cohesion.items()
    assert {end for pair in cohesion["criticalConnections"] for end in pair} == keys
    page = pcneo("show", "1", "--plot", str(tmp_path / "1.html"))
    assert "Interactive picture of " in page.stderr
    assert (tmp_path / "1.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    refused = pcneo("show", "1", "--plot", str(tmp_path / "1.pdf"))
    assert refused.returncode == 2
    assert "must end in .svg, .png or .html" in refused.stderr
    refused = pcneo("annotate", *NAMES, "--plot", str(tmp_path / "2.svg"))
    assert refused.returncode == 2
    assert "--mode stats" in refused.stderr
    described = pcneo("annotate", *NAMES, "-p", "0.5", "--mode", "stats", "--plot", str(tmp_path / "2.svg"))
    assert f"Picture: {tmp_path / '2.svg'}" in described.stderr.replace("\n", "")
    assert (tmp_path / "2.svg").exists()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_how_steady_answers_are_is_written_to_two_files_and_nothing_to_the_database(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, "1 2\n2 3\n1 3\n3 4\n4 5\n5 3\n", tmp_path)
    asked = ("annotate", *NAMES, "-p", "0.5", "-p", "0.3", "--search", "density", "--mode", "stats", "--orders", "4")
    pathless = pcneo(*asked)
    assert pathless.returncode == 2
    assert "--to" in pathless.stderr
    for wrong in (["--mode", "stream"], ["--plot", "a.svg"], ["--scheduler", "tcp://127.0.0.1:1"], ["--orders", "0"]):
        assert pcneo(*asked, "--to", str(tmp_path / "none"), *wrong).returncode == 2
    strange = pcneo(*asked, "--to", str(tmp_path / "none"), "--vertex", "3", "--vertex", "9")
    assert (strange.returncode, "There is no vertex 9 in the graph.\n" in strange.stderr) == (4, True)
    assert not (tmp_path / "none").exists()
    shown = pcneo(*asked, "--to", str(tmp_path / "steady"), "--json")
    assert shown.returncode == 0, shown.stderr
    vertices, connections = (_rows(tmp_path / "steady" / f"{name}.csv") for name in ("vertices", "connections"))
    assert [(row["p"], row["vertex"]) for row in vertices] == [
        (p, str(v)) for p in ("1/2", "3/10") for v in range(1, 6)
    ]
    assert all(row["same"] in ("0.0", "0.25", "0.5", "0.75", "1.0") for row in vertices)
    summary = json.loads(shown.stdout)["summaries"]["1/2"]
    assert summary["connections"] == sum(row["p"] == "1/2" for row in connections)
    assert summary["same"] == sum(float(row["same"]) for row in vertices if row["p"] == "1/2") / 5
    assert (tmp_path / "steady" / "connections.csv").stat().st_mode & 0o777 == 0o600
    again = pcneo(*asked, "--to", str(tmp_path / "steady"))
    assert again.returncode == 2
    assert "exists" in again.stderr
    one = pcneo(*asked, "--to", str(tmp_path / "one"), "--vertex", "3")
    assert one.returncode == 0, one.stderr
    assert {row["vertex"] for row in _rows(tmp_path / "one" / "vertices.csv")} == {"3"}
    assert pcneo("runs").stdout.startswith("No run")


def test_an_export_says_what_it_holds(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    assert pcneo("annotate", *NAMES, "-p", "0.5").returncode == 0
    shown = pcneo("runs", "--to", str(tmp_path / "run.json"))
    assert shown.returncode == 0, shown.stderr
    assert "4 nodes, 4 edges" in shown.stdout
    assert len(json.loads((tmp_path / "run.json").read_text())["nodes"]) == 4
    again = pcneo("runs", "latest", "--to", str(tmp_path / "again.json"), "--json")
    assert json.loads(again.stdout)["bytes"] == (tmp_path / "run.json").stat().st_size
    one = pcneo("show", "1", "--to", str(tmp_path / "1.graphml"))
    assert "1.graphml: 2 nodes, 1 edges, " in " ".join(one.stderr.split())
    assert "memberships" not in one.stderr
    for *command, name in (["show", "1", "run.json"], ["runs", "1.pdf"], ["runs", "--history", "b.json"]):
        assert pcneo(*command, "--to", str(tmp_path / name)).returncode == 2
    assert not (tmp_path / "b.json").exists()


def test_schema_prints_statements_that_the_server_accepts(
    pcneo: Any, neo4j_driver: neo4j.Driver, database: str
) -> None:
    shown = pcneo("check", "--schema", "--node-label", "Strange `label", "--key", "a key")
    for statement in shown.stdout.splitlines():
        neo4j_driver.execute_query(statement.removesuffix(";"), database_=database)
    indexes = neo4j_driver.execute_query("SHOW INDEXES YIELD labelsOrTypes, properties", database_=database).records
    assert (["Strange `label"], ["a key"]) in [(record["labelsOrTypes"], record["properties"]) for record in indexes]


def test_files_are_written_listed_and_loaded(pcneo: Any, tmp_path: Path) -> None:
    _loaded(pcneo, folder=tmp_path)
    stream = ["annotate", "-p", "0.5", "--mode", "stream", "--to"]
    for part in ("1/2", "2/2"):
        assert pcneo(*stream, str(tmp_path), "--part", part).returncode == 0
    files = sorted(map(str, tmp_path.glob("*.parquet")))
    assert [Path(file).name for file in files] == [f"cohesions-1-2-smallest-{i}-of-2.parquet" for i in (1, 2)]
    loaded = json.loads(pcneo("load", *files, "--json").stdout)
    assert [run["run"] for run in loaded["runs"]] == ["Person/KNOWS/id@1/2"]
    assert loaded["runs"][0]["summary"]["cohesions"] == 4
    assert "Up to date" not in pcneo("annotate", "-p", "0.5").stderr  # what came from files is searched anew
    assert "Up to date" in pcneo("annotate", "-p", "0.5").stderr
    whole = pcneo(*stream, str(tmp_path / "whole.parquet"), "--json")
    assert json.loads(whole.stdout)["files"][0]["cohesions"] == 4
    (tmp_path / "false.parquet").write_text("1 2")
    assert pcneo("load", str(tmp_path / "false.parquet")).returncode == 3
    graph = str(tmp_path / "graph.txt")
    for wrong in ([*files, *NAMES], [graph], [graph, *NAMES, "--verify", "1"], [graph, graph, *NAMES], [*files, graph]):
        assert pcneo("load", *wrong).returncode in (2, 3), wrong


@pytest.mark.parametrize(
    "arguments",
    [
        ["--to", "x.parquet"],
        ["--mode", "stats", "--to", "x.parquet"],
        ["--scheduler", "tcp://127.0.0.1:1", "--concurrency", "2"],
        ["--mode", "stream", "--part", "1/2"],
        ["--mode", "stream", "--to", "x.parquet", "--vertex", "1"],
        ["--mode", "stream", "--to", "x.parquet", "--create-index"],
        *(["--mode", "stream", "--to", "x.parquet", "--part", p] for p in ("2", "0/1", "a/b")),
    ],
)
def test_options_of_files_that_do_not_go_together_are_refused(
    arguments: list[str], pcneo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pcneo("annotate", *NAMES, *arguments).returncode == 2
    assert list(tmp_path.iterdir()) == []
