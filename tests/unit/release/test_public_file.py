"""A consumer reads a public file back: with pcneo, with plain pandas, and any other file is refused."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import pcneo
from pcneo.errors import FileFormatError
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.release.outputs import public_record, public_text

F = Fraction
KEYS: dict[str, list[Any]] = {
    "integers": [1, 7, 2**60],
    "texts": ["# k: 9", 'say "hash # mark"', "two\nlines, ø"],
}


def written(folder: Path, suffix: str, keys: list[Any], mechanism: str = "edge") -> Path:
    counts = dict(zip(keys, [5, -3, 10**17], strict=True))
    made = MECHANISMS[mechanism](k=3, epsilon="1/3", n=3)
    record = public_record(made, "3/10" if made.needs_groups else None, F(7, 2), counts)
    path = folder / f"counts{suffix}"
    path.write_text(public_text(record, {"key": keys, "count": list(counts.values())}, suffix), newline="")
    return path


def test_answers_are_not_taken_for_counts(tmp_path: Path) -> None:
    file = tmp_path / "a.answers.gz"
    with pytest.raises(FileFormatError, match="there is no such file"):
        pcneo.read_release(file)
    file.write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"holds answers, not counts; `pcneo release --from`"):
        pcneo.read_release(file)


def test_a_release_is_shown_in_two_lines(tmp_path: Path) -> None:
    release = pcneo.read_release(written(tmp_path, ".csv", KEYS["integers"]))
    assert repr(release) == f"Release of 3 counts\n  {release.caption()}"


@pytest.mark.parametrize("suffix", [".csv", ".json"])
@pytest.mark.parametrize("kind", KEYS)
def test_all_that_was_written_is_read_back(tmp_path: Path, suffix: str, kind: str) -> None:
    release = pcneo.read_release(written(tmp_path, suffix, KEYS[kind]))
    assert release.counts == dict(zip(KEYS[kind], [5, -3, 10**17], strict=True))
    assert (release.mechanism, release.k, release.epsilon) == ("edge", 3, F(1, 3))
    assert 0 < release.delta < F(1, 1000)
    assert release.total == (10**17 + 2) / 3
    assert "3-clique" in release.meanings["count"]
    assert "divided by 3" in release.record["totalIs"]
    assert release.standard_errors is not None
    assert release.intervals is not None
    low, high = release.intervals[0]
    assert low < 5 < high
    assert high - 5 == 5 - low == release.record["halfWidthOf95PercentIntervalOfACount"]
    assert release.standard_errors[0] < high - 5 < 3 * release.standard_errors[0]


def test_what_may_not_be_published_is_none_and_both_formats_read_alike(tmp_path: Path) -> None:
    of_csv, of_json = (
        pcneo.read_release(written(tmp_path, suffix, [1, 2, 3], "critical")) for suffix in (".csv", ".json")
    )
    assert of_csv == of_json
    assert of_csv.standard_errors is None
    assert of_csv.intervals is None
    assert set(of_csv.as_columns()) == {"key", "count"}


def test_a_total_alone_is_read_back(tmp_path: Path) -> None:
    made = MECHANISMS["total"](k=3, epsilon=1, n=3)
    record = public_record(made, None, F(7, 2), {}, {"total": -4}, {"total": [-4]})
    for suffix in (".csv", ".json"):
        path = tmp_path / f"total{suffix}"
        path.write_text(public_text(record, {"total": [-4]}, suffix))
        release = pcneo.read_release(path)
        assert (release.total, release.counts, release.standard_errors, release.intervals) == (-4, {}, None, None)
        assert release.record["standardErrorOfTotal"] > 4
        assert set(release.meanings) == set(release.as_columns()) == {"total"}


@pytest.mark.parametrize("kind", KEYS)
def test_plain_pandas_reads_the_csv(tmp_path: Path, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    path = written(tmp_path, ".csv", KEYS[kind])
    frame = pandas.read_csv(path, comment="#")
    assert list(frame.columns) == ["key", "count"]
    assert frame["count"].tolist() == [5, -3, 10**17]
    assert frame["key"].tolist() == KEYS[kind]
    assert pcneo.read_release(path).to_pandas()["count"].tolist() == [5, -3, 10**17]


def test_a_file_of_an_earlier_pcneo_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text(
        "# pcneo: 0.1.0\n# mechanism: elv\n# promise: a: b\n# k: 4\n# epsilon: 1\n# delta: 0.01\n# h: 3\n"
        "# total: -3.5\nkey,count\n5,-14\n"
    )
    release = pcneo.read_release(path)
    assert (release.counts, release.promise, release.total) == ({5: -14}, "a: b", -3.5)
    assert release.record["h"] == 3
    assert release.meanings == {}
    assert release.intervals is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", ""),
        ("a.csv", "key,count\n1,2\n"),
        ("a.csv", "# mechanism: edge"),
        ("a.json", "[]"),
        ("a.json", "{"),
        ("a.json", json.dumps({"counts": [{"key": 1}]})),
        ("a.json", "[" * 100_000),
        ("a.csv", "\x00"),
    ],
)
def test_what_is_no_public_file_is_refused_by_name(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=rf"{name} is not a public file of a release"):
        pcneo.read_release(tmp_path / name)
    (tmp_path / name).write_bytes(b"# k: \xff\n")
    with pytest.raises(FileFormatError, match="is not a public file"):
        pcneo.read_release(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("total", "scale", "k") for value in (None, "7", [1], True, float("nan"))),
        *(("mechanism", 7), ("promise", None), ("counts", [{"key": 1, "count": "2"}, {"key": 2, "count": 1}])),
        *(("counts", [{"key": None, "count": 2}]), ("counts", [{"key": [1], "count": 2}]), ("k", 3.0)),
    ],
)
def test_what_is_no_number_no_text_and_no_key_is_refused(tmp_path: Path, name: str, value: object) -> None:
    path = written(tmp_path, ".json", [1, 2, 3])
    path.write_text(json.dumps({**json.loads(path.read_text()), "scale": 2.0, name: value}))
    with pytest.raises(FileFormatError, match=r"is not a public file of a release: its (column count|column key|)"):
        pcneo.read_release(path)


def test_a_total_of_text_in_csv_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv", [1, 2, 3])
    path.write_text(re.sub("# total: .*", "# total: many", path.read_text()))
    with pytest.raises(FileFormatError, match="its total is not a number"):
        pcneo.read_release(path)


def test_a_row_that_was_cut_off_is_named_and_a_missing_file_too(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv", [1, 2, 3])
    path.write_text(path.read_text().replace("2,-3\n", "2\n"))
    with pytest.raises(FileFormatError, match="row 2 has 1 cells"):
        pcneo.read_release(path)
    with pytest.raises(FileFormatError, match="no such file"):
        pcneo.read_release(tmp_path / "none.csv")


def test_the_owners_report_is_not_taken_for_the_public_file(tmp_path: Path) -> None:
    report = {
        "notice": "For the owner alone.",
        "mechanism": "edge",
        "promise": "",
        "k": 3,
        "epsilon": "1",
        "delta": "0",
    }
    (tmp_path / "counts.owner.json").write_text(json.dumps({**report, "total": 2}))
    with pytest.raises(FileFormatError, match=r"is not a public file of a release: it is the owner's report"):
        pcneo.read_release(tmp_path / "counts.owner.json")
