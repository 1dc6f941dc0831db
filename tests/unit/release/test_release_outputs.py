"""What the public file holds and how it reads back; how files are written; what a batch file asks for."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from pcneo.basics import whole_file
from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.cli import app
from pcneo.errors import FileFormatError, GraphError, ParameterError, PcneoError
from pcneo.privacy.mechanisms import MECHANISMS, Critical, Elv
from pcneo.release import check_requests, outputs
from pcneo.release.choice import choose
from pcneo.release.request import Destination, Release, check_destinations, read_batch

F = Fraction
TOLD = {"totalIs", "belowZero", "columns"}
ALWAYS = {"pcneo", "date", "mechanism", "promise", "k", "epsilon", "delta", "total"} | TOLD
FROM_NOISE = {
    "scale",
    "standardErrorOfTotal",
    "halfWidthOf95PercentInterval",
    "standardErrorOfACount",
    "halfWidthOf95PercentIntervalOfACount",
}
MOSTLY_NOISE = FROM_NOISE | {"warning"}
"""For counts that are mostly noise, as those of four vertices are."""

ODD_KEYS = [
    "plain",
    "a,b",
    'quo"te',
    "two\nlines",
    "car\rriage",
    "# promise: everything",
    "\n# k: 9",
    " padded ",
    "",
    "ø∩",
]


def columns(counts: dict[Key, int]) -> dict[str, list[Any]]:
    return {"key": list(counts), "count": list(counts.values())}


def read_csv(text: str) -> tuple[dict[str, str], list[list[str]]]:
    """What a reader makes of it who takes the lines at the top that begin with # for the record."""
    record = {}
    while text.startswith("#"):
        line, _, text = text.partition("\n")
        name, _, value = line[2:].partition(": ")
        record[name] = value
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["key", "count"]
    return record, rows


@pytest.mark.parametrize(
    ("name", "more"),
    [("critical", {"p"}), ("edge", MOSTLY_NOISE), ("elv", MOSTLY_NOISE | {"h"}), ("published", {"p", "h"})],
)
def test_the_public_record_has_exactly_what_the_document_lists(name: str, more: set[str]) -> None:
    mechanism = MECHANISMS[name](k=3, epsilon="1/3", n=4)
    p = "1/10" if MECHANISMS[name].needs_groups else None
    record = outputs.public_record(mechanism, p, F(7, 2), {1: 5, 2: -1, 3: 0, 4: 0})
    assert set(record) == ALWAYS | more | ({"inPlainWords"} if name != "published" else set())
    assert record["epsilon"] == "1/3"
    assert record["total"] == 4 / 3
    assert record["promise"] == mechanism.promise
    assert set(record["columns"]) == {"key", "count"}
    assert "3-clique" in record["columns"]["count"]
    again = outputs.public_record(mechanism, p, F(7, 2), {1: 900, 2: 0, 3: 8, 4: 1})
    assert {name: again[name] for name in TOLD} == {name: record[name] for name in TOLD}, "the same for every graph"


def test_every_column_that_a_mechanism_publishes_is_told_of() -> None:
    further = {"respond": ["degree", "count", "standardError", "clipped", "smoothed"]}
    further["modelled"] = ["degree", "count"]
    for name, mechanism in MECHANISMS.items():
        wanted = {"key", *further.get(name, ["count"])} if mechanism.counts_vertices else {"total"}
        if mechanism.counts_vertices:
            asked = {"clip": "clipped", "smooth": "smoothed"}
            wanted |= {column for option, column in asked.items() if option in mechanism.parameter_names()}
        assert wanted <= set(mechanism.of_columns), name
        assert all(mechanism.of_columns.values())


def test_odd_keys_read_back_from_csv_and_none_of_them_passes_for_the_record() -> None:
    counts: dict[Key, int] = dict(zip(ODD_KEYS, range(-3, 100), strict=False))
    record, rows = read_csv(outputs.public_text({"k": 3, "promise": "none"}, columns(counts), ".csv"))
    assert record.pop("to read it").startswith("pcneo.read_release(FILE)")
    assert record == {"k": "3", "promise": "none"}
    assert rows == [[key, str(count)] for key, count in counts.items()]


def test_odd_keys_read_back_from_json_and_so_do_large_counts() -> None:
    counts: dict[Key, int] = {key: 2**70 + i for i, key in enumerate([*ODD_KEYS, "=1+1"])}
    read = json.loads(outputs.public_text({"k": 3}, columns(counts), ".json"))
    assert {row["key"]: row["count"] for row in read["counts"]} == counts


def test_whole_numbers_as_keys_stay_bare_in_csv() -> None:
    _, rows = read_csv(text := outputs.public_text({}, columns({7: -2, 10: 5}), ".csv"))
    assert rows == [["7", "-2"], ["10", "5"]]
    assert '"' not in text.partition("\n")[2]


@pytest.mark.parametrize("key", ["=1+1", "=cmd|' /C calc'!A0", "+1+cmd()", "-2+3", "@SUM(A1)", "\t=1", "\rx"])
def test_a_key_that_a_spreadsheet_would_run_is_refused_for_csv_and_not_for_json(key: str) -> None:
    with pytest.raises(GraphError, match=r"\.json"):
        outputs.check_keys(["a", key], ".csv")
    outputs.check_keys(["a", key], ".json")


def test_telephone_numbers_handles_and_negative_numbers_are_no_formulas() -> None:
    outputs.check_keys([-5, "+45 12345678", "@some_body", "-17", "#tag", "a=b"], ".csv")


@pytest.mark.parametrize(("write", "mode"), [(outputs.write_public, 0o644), (outputs.write_private, 0o600)])
def test_a_file_is_written_whole_with_its_mode_and_leaves_nothing_beside_it(
    tmp_path: Path, write: Callable[[Path, str], None], mode: int
) -> None:
    before = os.umask(0o022)
    try:
        write(tmp_path / "out.csv", "text\r\n\n")
    finally:
        os.umask(before)
    assert (tmp_path / "out.csv").read_bytes() == b"text\r\n\n"
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == mode
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_git_adds_nothing_of_the_owners_folder(tmp_path: Path) -> None:
    outputs.write_public(tmp_path / "out.csv", "text")
    outputs.write_private(tmp_path / "owner" / "out.owner.md", "text")
    assert (tmp_path / "owner" / ".gitignore").read_text() == "*\n"
    for arguments in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)  # noqa: S607
    listing = ["git", "ls-files"]
    added = subprocess.run(listing, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert added.stdout.split() == ["out.csv"]


def test_a_destination_is_checked_without_the_owners_folder_which_another_release_could_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def check_place(*arguments: Any, **options: Any) -> None:
        seen.append((tmp_path / "owner").exists())
        whole_file.check_place(*arguments, **options)

    monkeypatch.setattr(outputs, "check_place", check_place)
    check_destinations([Release(mechanism=MECHANISMS["edge"](epsilon=1), to=tmp_path / "out.csv")])
    assert seen == [False] * 3
    assert not list(tmp_path.iterdir())
    too_long = tmp_path / f"{'x' * 246}.csv"  # which is short enough, but the name of the report as JSON is longer
    with pytest.raises(ParameterError, match=r"owner/x+\.owner\.json cannot be written: File name too long"):
        check_destinations([Release(mechanism=MECHANISMS["edge"](epsilon=1), to=too_long)])
    assert not list(tmp_path.iterdir())


def test_a_folder_that_its_owner_made_gets_no_further_file(tmp_path: Path) -> None:
    (tmp_path / "owner").mkdir(mode=0o700)
    outputs.write_private(tmp_path / "owner" / "out.owner.md", "text")
    assert [path.name for path in (tmp_path / "owner").iterdir()] == ["out.owner.md"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    (tmp_path / "out.csv" / "inside").touch()
    with pytest.raises(PcneoError, match=r"out\.csv cannot be written"):
        outputs.write_public(tmp_path / "out.csv", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("write", [outputs.write_public, outputs.write_private])
def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    (tmp_path / "out.csv").write_text("paid for")
    with pytest.raises(PcneoError, match=r"out\.csv cannot be written: File exists"):
        write(tmp_path / "out.csv", "text")
    assert (tmp_path / "out.csv").read_text() == "paid for"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_destinations_that_can_be_written_pass_and_nothing_is_left_behind(tmp_path: Path) -> None:
    check_destinations(
        [Destination(to=tmp_path / "a.csv"), Destination(to=tmp_path / "b.json", report=tmp_path / "own.md")]
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("requests", "says"),
    [
        ([Destination(to=Path("a.txt"))], "must end in .csv or .json"),
        ([Destination(to=Path("nowhere/a.csv"))], "cannot be written"),
        ([Destination(to=Path("there.csv"))], "exists"),
        ([Destination(to=Path("link.csv"))], "exists"),
        ([Destination(to=Path("a.csv"), report=Path("there.md"))], "exists"),
        ([Destination(to=Path("a.csv"), report=Path("a.txt"))], "must end in .md"),
        ([Destination(to=Path("a.csv"), report=Path())], "must end in .md"),
        ([Destination(to=Path("a.json"), report=Path("a.md"))], "written twice"),
        ([Destination(to=Path("a.csv")), Destination(to=Path("a.json"))], "written twice"),
        ([Destination(to=Path("x" * 250 + ".csv"))], "cannot be written"),
    ],
)
def test_a_destination_that_cannot_be_written_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requests: list[Destination], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.csv").touch()
    Path("there.md").touch()
    Path("link.csv").symlink_to("gone")
    with pytest.raises(ParameterError, match=says):
        check_destinations(requests)


# --- Batch files


def batch(tmp_path: Path, text: str) -> list[Release]:
    file = tmp_path / "batch.csv"
    file.write_text(text, encoding="utf-8")
    return read_batch(file)


def test_a_batch_file_names_releases_and_leaves_the_rest_to_the_defaults(tmp_path: Path) -> None:
    rows = batch(tmp_path, "\ufeffmechanism,k,epsilon,h,p,to\nelv,4,1/3,2,,a.csv\ncritical,,0.5,,0.1,b.json\n")
    assert rows == [
        Release(to=Path("a.csv"), mechanism=Elv(k=4, epsilon="1/3", h=2)),
        Release(to=Path("b.json"), mechanism=Critical(epsilon="0.5"), p="0.1"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("to,epsilon,mechanism,colour\na.csv,1,edge,red\n", "line 1: there is no column 'colour'; the"),
        ("to,epsilom,mechanism\na.csv,1,edge\n", "there is no column 'epsilom', did you mean 'epsilon'"),
        ("to,k,epsilon\na.csv,3,1\n", "the column 'mechanism' is missing"),
        ("to,epsilon,mechanism\na.csv,1,edge\nb.csv,1,edgy\n", "line 3: the mechanism must be one of .*, not 'edgy'"),
        ("to,k,mechanism\na.csv,3,edge\n", "`epsilon`"),
        ("to,k,epsilon\na.csv,3,1\n", "`mechanism`"),
        ("to,epsilon,mechanism,to\na.csv,1,edge,b.csv\n", "each once"),
        ("", "line 1"),
        ("to,epsilon,mechanism,k\na.csv,1,edge,3\na.csv,1,edge,three\n", "line 3: k is 'three'"),
        ("to,epsilon,mechanism\na.csv,1,edge,2\n", "line 2: more cells"),
        ("to,epsilon,mechanism\n,1,edge\n", "line 2: the cell 'to' is empty"),
        ("to,epsilon,mechanism\na.csv,,edge\n", "line 2: the cell 'epsilon' is empty"),
        ("to,epsilon,mechanism\na.csv,1,\n", "line 2: the cell 'mechanism' is empty"),
        ('to,epsilon,mechanism\n"a.csv,1,edge\n', "line 2: it cannot be read"),
        ("to,epsilon,mechanism\na.csv,1,edge\n\n\nb.csv,,edge\n", "line 5: the cell 'epsilon' is empty"),
        ("to,epsilon,mechanism,from\na.csv,1,edge,\nb.csv,1,respond,none.gz\n", "line 3: .*none.gz"),
    ],
)
def test_a_batch_file_that_cannot_be_read_is_refused_by_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(FileFormatError, match=says):
        batch(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "to,epsilon,mechanism\na.csv,1,edge\nb.txt,1,edge\n",
            r"batch\.csv, line 3: The public file .*b\.txt must end",
        ),
        ("to,epsilon,mechanism\na.csv,1,edge\na.csv,1,edge\n", r"line 3: .*a\.csv would be written twice"),
        ("to,epsilon,mechanism,answers\na.csv,1,edge,keep\n", "line 2: Leave answers out"),
        ("to,epsilon,mechanism,share\na.csv,1,edge,\nb.csv,1,elv,x\n", "line 3: Releases of .* can share"),
    ],
)
def test_a_release_of_a_batch_that_is_refused_once_it_is_read_is_named_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ParameterError, FileFormatError), match=says):
        check_requests(batch(tmp_path, text))


def test_a_run_named_for_a_release_that_rests_on_none_is_refused_with_the_line_of_the_batch(tmp_path: Path) -> None:
    db: Any = SimpleNamespace(list_runs=list)
    with pytest.raises(
        ParameterError, match=r"line 2: The mechanism edge does not rest on a run; leave p out\."
    ) as got:
        choose(db, batch(tmp_path, "to,epsilon,mechanism,p\na.csv,1,edge,0.3\n"), Selection())
    assert got.value.data["name"] == "p"


def test_a_batch_file_that_is_not_there_is_said_once(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none\.csv: there is no such file$"):
        read_batch(tmp_path / "none.csv")


@pytest.mark.parametrize(
    "option",
    ["--to=a.csv", "-e=1", "-k=4", "--mechanism=edge", "RUN|GRAPH=g", "--delta=0.1"],
)
def test_what_a_batch_file_says_is_refused_beside_it(tmp_path: Path, option: str) -> None:
    (tmp_path / "batch.csv").write_text("to,epsilon,mechanism\na.csv,1,edge\n")
    name, value = option.split("=")
    given = [name, value] if name.startswith("-") else [value]
    result = CliRunner().invoke(app, ["release", "--batch", str(tmp_path / "batch.csv"), *given])
    assert result.exit_code == 2
    shown = "--epsilon" if name == "-e" else name
    assert f"leave {shown} out" in " ".join(result.output.replace("│", " ").split())
