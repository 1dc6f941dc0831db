"""`pcneo party` end to end, without a database: files in, files out, and each refusal with nothing spent or written."""

from __future__ import annotations

import base64
import csv
import fcntl
import gzip
import json
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive
import pytest
from typer.testing import CliRunner

from pcneo.cli import app
from pcneo.errors import BudgetError, BusyError, FileFormatError, GraphError, NotFoundError, ParameterError, PcneoError
from pcneo.party import answering, collecting
from pcneo.party.answering import answer_call
from pcneo.party.call import call
from pcneo.party.collecting import collect
from pcneo.party.own_ledger import read_ledger
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.randomised_response import WARNING
from pcneo.release.public_file import read_release

KEYS = list(range(1, 13))
EDGES = [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6), (4, 6), (6, 7), (8, 9), (9, 10), (8, 10), (10, 11)]


class Parties:
    """A folder of the collector's, and one for each vertex."""

    def __init__(self, home: Path, keys: list[Any], edges: list[tuple[Any, Any]], epsilon: str = "2") -> None:
        self.home, self.folder, self.keys = home, home / "answers", keys
        self.folder.mkdir()
        (home / "keys.json").write_text(json.dumps(keys))
        self.call = call(self.folder, home / "keys.json", epsilon)
        graph = naive.graph_of(edges, isolated=keys)
        for key in keys:
            self.own(key).mkdir()
            self.write_row(key, sorted(graph[key]))
            self.write_ledger(key)

    def own(self, key: Any) -> Path:
        return self.home / f"vertex {self.keys.index(key)}"

    def write_row(self, key: Any, neighbours: list[Any]) -> None:
        (self.own(key) / "row.json").write_text(json.dumps({"key": key, "neighbours": neighbours}))

    def write_ledger(self, key: Any, **changed: Any) -> None:
        ledger = {"key": key, "limit": "3", "total": "5", **changed}
        (self.own(key) / "ledger.json").write_text(json.dumps(ledger))

    def files(self, key: Any) -> dict[str, Path]:
        return {"row": self.own(key) / "row.json", "ledger": self.own(key) / "ledger.json"}

    def answer(self, key: Any, **changed: Any) -> answering.Sent:
        return answer_call(self.folder / "call.json", **{**self.files(key), **changed})

    def rewrite(self, path: Path, **changed: Any) -> None:
        fields = json.loads(path.read_text())
        path.write_text(json.dumps({name: value for name, value in {**fields, **changed}.items() if value is not ...}))


@pytest.fixture
def parties(tmp_path: Path) -> Parties:
    return Parties(tmp_path, KEYS, EDGES)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """One program, in a process of its own."""
    done = [sys.executable, "-m", "pcneo", "party", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, text=True, timeout=400, check=False)


def state(home: Path) -> dict[str, str]:
    """Every file but locks, and what is in it."""
    return {
        str(path): path.read_text(errors="replace")
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.long
def test_two_programs_that_share_files_alone_make_a_release(tmp_path: Path) -> None:
    """Four vertices with text for keys; the counts are what the twin computes from the published answers."""
    keys = ["ann", "bob", "=cid", "dée"]
    parties = Parties(tmp_path, keys, [("ann", "bob"), ("bob", "=cid"), ("ann", "=cid")])
    (parties.folder / "call.json").unlink()
    made = run("collect", parties.folder, "--keys", tmp_path / "keys.json", "-e", "1/2")
    assert made.returncode == 0, made.stderr
    assert made.stderr.count("ln(n/d) is") == 1
    for key in keys:
        files = parties.files(key)
        done = run("answer", parties.folder / "call.json", "--row", files["row"], "--ledger", files["ledger"])
        assert done.returncode == 0, done.stderr
        assert "left" in done.stdout
        assert done.stderr.count("ln(n/d) is") == 1
        ledger = json.loads(files["ledger"].read_text())
        assert [spend["epsilon"] for spend in ledger["spends"]] == ["0.5"]
        assert files["ledger"].stat().st_mode & 0o777 == 0o600
    refused = run("collect", parties.folder, "--to", tmp_path / "out.csv")
    assert refused.returncode == 4
    assert "formula" in refused.stderr
    collected = run("collect", parties.folder, "--to", tmp_path / "out.json", "-k", 3, "--clip")
    assert collected.returncode == 0, collected.stderr
    assert Respond.promise in collected.stdout
    assert "ln(n/d)" in collected.stdout
    public = json.loads((tmp_path / "out.json").read_text())
    lines = gzip.decompress((tmp_path / "out.answers.gz").read_bytes()).decode().splitlines()
    pairs = [(a, b) for a, b in csv.reader(line for line in lines if not line.startswith("#"))]
    yes, f = naive.graph_of(pairs, isolated=keys), naive.flip_chance(Fraction(1, 2))
    for row in public["counts"]:
        assert row["count"] == round(naive.counts_from_answers(yes, 3, f, row["key"]))
        assert "clipped" in row
    assert (public["epsilon"], public["vertices"], public["mechanism"]) == ("0.5", 4, "respond")
    assert public["yesAnswers"] == len(pairs)
    condition = "as long as the two ends of the pair are honest; either end can always reveal the pair."
    assert all(public[name].endswith(condition) for name in ("promise", "inPlainWords"))
    assert public["promise"] in collected.stdout
    (of_answers,) = (line for line in lines if line.startswith("# promise: "))
    assert of_answers.endswith(condition)


@pytest.mark.parametrize(
    "options", [[], ["--keys", "keys.json"], ["--keys", "keys.json", "-e", "1", "--clip"], ["--to", "a.csv", "-e", "1"]]
)
def test_options_of_the_call_and_of_the_release_do_not_mix(options: list[str], tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["party", "collect", str(tmp_path), *options])
    assert isinstance(ended.exception, ParameterError) if ended.exit_code == 1 else ended.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_message_says_its_release_its_key_and_one_bit_a_pair(parties: Parties) -> None:
    sent = parties.answer(4)
    message = json.loads(sent.message.read_text())
    assert message.keys() == {"release", "key", "answers"}
    assert (message["release"], message["key"]) == (parties.call.release, 4)
    mine = [other for other in KEYS if other != 4 and naive.answering_end(4, other) == 4]
    assert sent.pairs == len(mine)
    assert len(base64.b64decode(message["answers"])) == -(-len(mine) // 8)
    assert (sent.epsilon, sent.left) == (2, 3)
    lengths = set()
    parties.write_ledger(5, limit="4")
    for neighbours in ([], [key for key in KEYS if key != 5]):
        parties.write_row(5, neighbours)
        lengths.add(parties.answer(5, to=parties.home / f"{len(neighbours)}.json").message.stat().st_size)
    assert len(lengths) == 1


def test_a_neighbour_that_the_call_does_not_list_is_counted(parties: Parties) -> None:
    parties.write_row(4, [2, 3, 99, 100])
    assert parties.answer(4).neighbours_not_asked == 2
    files = parties.files(5)
    done = run("answer", parties.folder / "call.json", "--row", files["row"], "--ledger", files["ledger"])
    assert "are not in the call's list" not in done.stderr
    parties.write_row(6, [99])
    files = parties.files(6)
    done = run("answer", parties.folder / "call.json", "--row", files["row"], "--ledger", files["ledger"])
    assert "1 of the neighbours in" in done.stderr
    assert "are not in the call's list, so nobody answers for them" in done.stderr


def test_a_vertex_that_is_asked_again_spends_again_until_nothing_is_left(parties: Parties) -> None:
    """Under the same number and under another, with the same list and with another."""
    parties.write_ledger(1, limit="6")
    parties.answer(1, to=parties.home / "one.json")
    again = parties.answer(1, to=parties.home / "two.json")
    assert again.left == 1
    for changed in ({}, {"release": "other"}, {"keys": [1, 2], "vertices": 2}):
        parties.rewrite(parties.folder / "call.json", **changed)
        before = state(parties.home)
        with pytest.raises(BudgetError, match="has spent 4 of 5; this call would spend 2"):
            parties.answer(1, to=parties.home / "three.json")
        assert state(parties.home) == before


def test_one_call_costs_no_more_than_the_limit_for_one_however_often_it_is_answered(parties: Parties) -> None:
    parties.write_ledger(1, limit="2", total="5")
    parties.answer(1, to=parties.home / "one.json")
    before = state(parties.home)
    with pytest.raises(BudgetError, match="answered this call before, and spent 2 on it"):
        parties.answer(1, to=parties.home / "two.json")
    assert state(parties.home) == before
    parties.rewrite(parties.folder / "call.json", release="other")
    assert parties.answer(1, to=parties.home / "two.json").left == 1


def test_a_spend_may_use_up_the_total_to_the_last_digit(parties: Parties) -> None:
    parties.write_ledger(1, limit="2", total="2")
    assert parties.answer(1).left == 0
    parties.write_ledger(2, limit="2", total="1.999999999999999999999")
    with pytest.raises(BudgetError, match="would spend 2"):
        parties.answer(2)


def test_the_spend_is_written_before_a_coin_is_drawn(parties: Parties) -> None:
    seen: list[int] = []

    def coins(size: int) -> bytes:
        seen.append(len(json.loads((parties.own(3) / "ledger.json").read_text())["spends"]))
        return bytes(size)

    parties.answer(3, coins=coins)
    assert seen == [1]


def test_what_a_vertex_consents_to_is_said_in_plain_words_before_it_spends(
    parties: Parties, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said_before: list[str] = []
    write = answering.write_ledger

    def write_noting(*arguments: Any) -> None:
        said_before.extend(caplog.messages)
        write(*arguments)

    monkeypatch.setattr(answering, "write_ledger", write_noting)
    with caplog.at_level("INFO", "pcneo"):
        parties.answer(3)
    plain_words = Respond(epsilon=2).on(len(KEYS)).in_plain_words
    assert "by a factor of at most 7.39" in plain_words
    assert any(said.endswith(f"whose two ends are honest. {plain_words}") for said in said_before)


def test_a_message_that_cannot_be_written_is_paid_for(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, message: object) -> None:
        raise PcneoError(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr(answering, "write_message", full)
    with pytest.raises(PcneoError, match=r"The spend stays in .*; answering again spends again"):
        parties.answer(3)
    assert len(json.loads((parties.own(3) / "ledger.json").read_text())["spends"]) == 1


def test_two_processes_do_not_spend_from_one_ledger_at_once(parties: Parties) -> None:
    with (parties.own(3) / "ledger.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="Another process"):
            parties.answer(3)
    assert parties.answer(3).left == 3


# --- What a vertex refuses: a call that is not as it must be, and its own files

A_OF_2 = int(naive.flip_chance(Fraction(2)) * 2**24)
FORGED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a smaller threshold": ({"threshold": A_OF_2 - 1}, FileFormatError, f"the threshold of its epsilon is {A_OF_2:,}"),
    "a larger threshold": ({"threshold": 8_000_000}, FileFormatError, f"{A_OF_2:,}, not 8,000,000"),
    "a threshold that is true": ({"threshold": True}, FileFormatError, "the threshold of its epsilon is"),
    "epsilon above the limit": ({"epsilon": "3.5", "threshold": 491_778}, BudgetError, "answers only up to 3"),
    "epsilon above what there is": ({"epsilon": "17"}, ParameterError, "from 0.001 to 16"),
    "epsilon below what there is": ({"epsilon": "0.0009"}, ParameterError, "from 0.001 to 16"),
    "epsilon that is no number": ({"epsilon": "NaN"}, FileFormatError, "epsilon must be a positive, finite number"),
    "no such key": ({"keys": [1, 2, 4], "vertices": 3}, NotFoundError, "Vertex 3 is not in the call's list"),
    "its key twice": ({"keys": [1, 3, 3], "vertices": 3}, FileFormatError, "3 is listed twice"),
    "another key twice": ({"keys": [1, 1, 3], "vertices": 3}, FileFormatError, "1 is listed twice"),
    "keys in no order": ({"keys": [3, 1, 2], "vertices": 3}, FileFormatError, "3 comes before 1"),
    "keys as text": ({"keys": ["1", "3"], "vertices": 2}, NotFoundError, "Vertex 3 is not in the call's list"),
    "keys of two kinds": ({"keys": [3, "a"], "vertices": 2}, FileFormatError, "some are whole"),
    "keys that are fractions": ({"keys": [1.5, 3], "vertices": 2}, FileFormatError, "a key must be"),
    "keys that are true": ({"keys": [True, 3], "vertices": 2}, FileFormatError, "a key must be"),
    "keys beyond 64 bits": ({"keys": [3, 2**63], "vertices": 2}, FileFormatError, "a key must be"),
    "half a surrogate": ({"keys": ["\ud800", "3"], "vertices": 2}, FileFormatError, "a key must be"),
    "keys that are no list": ({"keys": {"3": 3}}, FileFormatError, "keys must be a list"),
    "nobody else": ({"keys": [3], "vertices": 1}, FileFormatError, "fewer than two keys"),
    "another n": ({"vertices": 11}, FileFormatError, "lists 12 keys, but gives their number as 11"),
    "a far larger n": ({"vertices": 1_200}, FileFormatError, "lists 12 keys, but gives their number as 1,200"),
    "no release number": ({"release": ""}, FileFormatError, "release must be text"),
    "a field too many": ({"limit": "16"}, FileFormatError, "nothing else"),
    "a field too few": ({"threshold": ...}, FileFormatError, "nothing else"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_vertex_refuses_a_call_that_would_show_more_than_it_says(parties: Parties, forgery: str) -> None:
    changed, error, match = FORGED[forgery]
    parties.rewrite(parties.folder / "call.json", **changed)
    before = state(parties.home)
    with pytest.raises(error, match=match):
        parties.answer(3)
    assert state(parties.home) == before


OWN: dict[str, tuple[str, str, type[Exception], str]] = {
    "another's row": ("row", '{"key": 4, "neighbours": []}', GraphError, "belongs to vertex 4, but .* to 3"),
    "its own neighbour": ("row", '{"key": 3, "neighbours": [3]}', FileFormatError, "cannot be its own neighbour"),
    "a row of two kinds": ("row", '{"key": 3, "neighbours": ["4"]}', FileFormatError, "all text"),
    "a row without a key": ("row", '{"neighbours": []}', FileFormatError, "must be an object with key, neighbours"),
    "no JSON": ("row", "3: 1, 2", FileFormatError, "cannot be read"),
    "a field twice": ("row", '{"key": 3, "key": 3, "neighbours": []}', FileFormatError, "named twice"),
    "depth": ("row", "[" * 100_000, FileFormatError, "cannot be read"),
    "no limit": ("ledger", '{"key": 3, "total": "5"}', FileFormatError, "with key, limit, total"),
    "a limit of nothing": ("ledger", '{"key": 3, "limit": "0", "total": "5"}', FileFormatError, "limit must be"),
    "NaN": ("ledger", '{"key": 3, "limit": NaN, "total": "5"}', FileFormatError, "NaN is not accepted as a number"),
    "an endless total": ("ledger", '{"key": 3, "limit": "1", "total": "inf"}', FileFormatError, "total must be"),
    "a limit that is true": ("ledger", '{"key": 3, "limit": true, "total": "5"}', FileFormatError, "limit must be"),
    "spends that are none": (
        "ledger",
        '{"key": 3, "limit": "3", "total": "5", "spends": [{"epsilon": "-9", "release": "r", "at": "a"}]}',
        FileFormatError,
        "epsilon must be",
    ),
    "spends that are no list": (
        "ledger",
        '{"key": 3, "limit": "3", "total": "5", "spends": 4}',
        FileFormatError,
        "must be a list",
    ),
    "no file": ("ledger", "", FileFormatError, "cannot be read"),
}


@pytest.mark.parametrize("which", OWN)
def test_a_vertex_refuses_files_that_are_not_its_own_or_not_as_they_must_be(parties: Parties, which: str) -> None:
    name, text, error, match = OWN[which]
    path = parties.files(3)[name]
    path.write_text(text) if text else path.unlink()
    before = state(parties.home)
    with pytest.raises(error, match=match):
        parties.answer(3)
    assert state(parties.home) == before


def test_a_number_in_a_ledger_is_read_with_all_its_digits(parties: Parties) -> None:
    limit = "2.00000000000000000001"
    path = parties.files(3)["ledger"]
    path.write_text(f'{{"key": 3, "limit": {limit}, "total": 5}}')
    assert read_ledger(path).limit == Fraction(limit) > 2
    path.write_text('{"key": 3, "limit": -0.5, "total": 5}')
    with pytest.raises(FileFormatError, match=r"limit must be a positive, finite number, .*, not -0\.5"):
        read_ledger(path)
    parties.rewrite(parties.folder / "call.json", vertices=11.5)
    with pytest.raises(FileFormatError, match=r"gives their number as 11\.5"):
        parties.answer(4)


@pytest.mark.parametrize("number", ["1e99999999999999999999", "0." + "1" * 1_000_000, "1e400", "1e-999999"])
def test_a_number_of_more_digits_than_anyone_means_is_refused_at_once(parties: Parties, number: str) -> None:
    path = parties.files(3)["ledger"]
    path.write_text(f'{{"key": 3, "limit": {number}, "total": 5}}')
    with pytest.raises(FileFormatError, match=r"is not accepted as a number|has more than 300 digits"):
        read_ledger(path)


def test_a_message_never_overwrites_a_file_and_nothing_is_spent_where_it_cannot_go(parties: Parties) -> None:
    parties.write_ledger(3, limit="4")
    parties.answer(3)
    before = state(parties.home)
    for to in (None, parties.home / "nowhere" / "message.json", parties.home):
        with pytest.raises(ParameterError, match=r"this vertex has answered.*nothing was spent|cannot be written"):
            parties.answer(3, to=to)
    assert state(parties.home) == before


# --- What the collector refuses


@pytest.fixture
def answered(parties: Parties) -> Parties:
    for key in KEYS:
        parties.answer(key)
    return parties


def forge(change: Callable[[dict[str, Any]], dict[str, Any] | str]) -> Callable[[Parties, Path], None]:
    def apply(parties: Parties, message: Path) -> None:
        changed = change(json.loads(message.read_text()))
        message.write_text(changed if isinstance(changed, str) else json.dumps(changed))

    return apply


def again(parties: Parties, message: Path) -> None:
    (parties.folder / "again.message.json").write_text(message.read_text())


def cut(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "answers": base64.b64encode(base64.b64decode(fields["answers"])[:-1]).decode()}


def beyond(fields: dict[str, Any]) -> dict[str, Any]:
    bits = base64.b64decode(fields["answers"])
    return {**fields, "answers": base64.b64encode(bits[:-1] + bytes([bits[-1] | 128])).decode()}


WRONG: dict[str, tuple[Callable[[Parties, Path], None], str]] = {
    "another release": (forge(lambda fields: {**fields, "release": "r"}), "it answers another call"),
    "a stranger": (forge(lambda fields: {**fields, "key": 99}), "vertex 99 was not asked"),
    "a stranger's text": (forge(lambda fields: {**fields, "key": "3"}), "vertex '3' was not asked"),
    "another's name": (
        forge(lambda fields: {**fields, "key": 4}),
        "vertex 4 has another message|did not send exactly one bit for each",
    ),
    "two messages": (again, "vertex 3 has another message"),
    "too few bits": (forge(cut), "did not send exactly one bit for each"),
    "bits beyond the last pair": (forge(beyond), "did not send exactly one bit for each"),
    "no base64": (forge(lambda fields: {**fields, "answers": "???"}), "not base64"),
    "answers that are no text": (forge(lambda fields: {**fields, "answers": [1]}), "not base64"),
    "a field too many": (forge(lambda fields: {**fields, "row": [1]}), "nothing else"),
    "no message": (forge(lambda fields: "hello"), "cannot be read"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_collector_refuses_what_is_no_message_of_a_vertex_that_it_asked(answered: Parties, wrong: str) -> None:
    change, match = WRONG[wrong]
    (mine,) = [path for path in answered.folder.glob("*.message.json") if json.loads(path.read_text())["key"] == 3]
    change(answered, mine)
    before = state(answered.home)
    with pytest.raises(FileFormatError, match=match):
        collect(answered.folder, answered.home / "out.csv")
    assert state(answered.home) == before


REFUSED: list[tuple[dict[str, Any], str, type[Exception], str]] = [
    ({"k": 5}, "out.csv", ParameterError, "from 3 to 4"),
    ({"k": 2}, "out.csv", ParameterError, "at least 3"),
    ({"k": 4, "smooth": True}, "out.csv", ParameterError, "Only counts of triangles"),
    ({}, "out.txt", ParameterError, "must end in"),
    ({}, "nowhere/out.csv", ParameterError, "cannot be written"),
    ({}, "keys.json", ParameterError, "exists"),
]


@pytest.mark.parametrize(("keywords", "to", "error", "match"), REFUSED)
def test_a_collector_refuses_what_respond_refuses(
    answered: Parties, keywords: dict[str, Any], to: str, error: type[Exception], match: str
) -> None:
    before = state(answered.home)
    with pytest.raises(error, match=match):
        collect(answered.folder, answered.home / to, **keywords)
    assert state(answered.home) == before


def test_a_release_without_a_name_is_refused_like_one_without_an_ending(answered: Parties) -> None:
    with pytest.raises(ParameterError, match=r"must end in \.csv or \.json"):
        collect(answered.folder, "")


def test_a_collector_needs_two_who_answered_and_a_call(parties: Parties) -> None:
    parties.answer(3)
    with pytest.raises(GraphError, match="only 1 of 12 vertices sent any"):
        collect(parties.folder, parties.home / "out.csv")
    (parties.folder / "call.json").unlink()
    with pytest.raises(FileFormatError, match="no such file"):
        collect(parties.folder, parties.home / "out.csv")
    assert not list(parties.home.glob("out.*"))


def test_more_vertices_than_usual_must_be_meant(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps(list(range(65_537))))
    call(tmp_path, tmp_path / "keys.json", 1)
    with pytest.raises(ParameterError, match=r"65,537 vertices, .* MB of memory.* --large"):
        collect(tmp_path, tmp_path / "out.csv")
    with pytest.raises(GraphError, match="0 of 65,537"):
        collect(tmp_path, tmp_path / "out.csv", large=True)


@pytest.mark.parametrize(
    ("keys", "epsilon", "error", "match"),
    [
        ("[1, 2, 1]", "1", GraphError, "1 is listed twice"),
        ("[1]", "1", GraphError, "fewer than two"),
        ('[1, "a"]', "1", FileFormatError, "some are whole numbers"),
        ("1 2 3", "1", FileFormatError, "cannot be read"),
        ("[1, 2]", "17", ParameterError, "from 0.001 to 16"),
        ("[1, 2]", "NaN", ParameterError, "positive"),
    ],
)
def test_a_call_that_nobody_would_answer_is_not_made(
    tmp_path: Path, keys: str, epsilon: str, error: type[Exception], match: str
) -> None:
    (tmp_path / "keys.json").write_text(keys)
    with pytest.raises(error, match=match):
        call(tmp_path, tmp_path / "keys.json", epsilon)
    assert not (tmp_path / "call.json").exists()


def test_a_call_is_not_overwritten(parties: Parties) -> None:
    with pytest.raises(ParameterError, match="exists and is not overwritten"):
        call(parties.folder, parties.home / "keys.json", 1)


# --- What the collector makes


def test_who_is_silent_is_left_out_and_a_late_message_joins_with_the_same_answers(parties: Parties) -> None:
    late = 6
    for key in KEYS:
        if key != late:
            parties.answer(key)
    first = collect(parties.folder, parties.home / "first.csv")
    assert (first.vertices, first.silent) == (11, (late,))
    parties.answer(late)
    second = collect(parties.folder, parties.home / "second.csv", k=4)
    assert (second.vertices, second.silent) == (12, ())

    def pairs(path: Path) -> set[tuple[str, ...]]:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        return {tuple(line.split()) for line in lines if not line.startswith("#")}

    before, after = pairs(first.answers), pairs(second.answers)
    assert before == {pair for pair in after if str(late) not in pair}
    rows = (parties.home / "first.csv").read_text().splitlines()
    assert not any(row.startswith(f"{late},") for row in rows)
    assert "# vertices: 11" in rows


def test_standard_errors_are_published_for_triangles_alone(answered: Parties) -> None:
    for k in (3, 4):
        public = read_release(collect(answered.folder, answered.home / f"k{k}.csv", k=k).public)
        numbers = {"standardErrorOfTotal", "standardErrorOfACount"} & public.record.keys()
        assert (len(numbers), "standardError" in public.columns) == ((2, True) if k == 3 else (0, False))
        assert (public.standard_errors is None) is (k == 4)
        assert public.record["standardErrorsAre"].startswith("an estimate" if k == 3 else "not published for k = 4")


def test_what_collected_answers_show_is_said_once_by_the_mean_degree_that_they_estimate(
    answered: Parties, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    with caplog.at_level("INFO", "pcneo"):
        made = collect(answered.folder, answered.home / "out.csv")
    assert "MB of memory" in caplog.text
    assert "ln(n/d)" not in caplog.text
    threshold = read_release(made.public).record["logOfVerticesOverMeanDegree"]
    of_estimate = f"ln(n/d) is {threshold:.1f} for n = 12 vertices and the mean degree that the answers estimate,"
    assert made.remark.startswith(of_estimate)
    assert made.remark.endswith(WARNING)


def test_messages_of_honest_vertices_say_what_their_rows_hold(parties: Parties) -> None:
    """With coins that flip nothing the answers are the graph; with coins that flip all, its opposite."""
    for byte, flipped in ((255, False), (0, True)):
        home = parties.home / str(byte)
        home.mkdir()
        others = Parties(home, KEYS, EDGES)
        for key in KEYS:
            others.answer(key, coins=lambda size, byte=byte: bytes([byte]) * size)
        made = collect(others.folder, home / "out.csv")
        lines = gzip.decompress(made.answers.read_bytes()).decode().splitlines()
        yes = {tuple(map(int, line.split())) for line in lines if not line.startswith("#")}
        every = {(x, y) for x in KEYS for y in KEYS if x < y}
        assert yes == (every - set(EDGES) if flipped else set(EDGES))


def test_the_collector_learns_nothing_from_the_order_in_which_messages_come(answered: Parties) -> None:
    first = collect(answered.folder, answered.home / "first.csv")
    rng = random.Random(1)
    paths = list(answered.folder.glob("*.message.json"))
    names = [f"{rng.random()}.message.json" for _ in paths]
    for path, name in zip(paths, names, strict=True):
        path.rename(answered.folder / name)
    second = collect(answered.folder, answered.home / "second.csv")
    assert first.answers.read_bytes() == second.answers.read_bytes()
    assert first.public.read_text() == second.public.read_text()


def test_the_program_of_a_vertex_loads_neither_the_database_nor_the_collector() -> None:
    watched = (
        "import sys, pcneo.party.answering\n"
        "names = ('neo4j', 'opendp', 'pcneo.privacy.collector', 'pcneo.party.collecting', 'pcneo.store',"
        " 'pcneo.release', 'pcneo.counting')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert "own_ledger" not in Path(collecting.__file__).read_text()


def test_a_ledger_has_one_sum_by_whatever_name_it_is_found(tmp_path: Path) -> None:
    parties = Parties(tmp_path, KEYS, EDGES, epsilon="1")
    parties.write_ledger(4, total="1")
    real, link = parties.own(4) / "ledger.json", tmp_path / "elsewhere.json"
    link.symlink_to(real)
    answer_call(parties.folder / "call.json", row=parties.files(4)["row"], ledger=link, to=tmp_path / "first.json")
    assert link.is_symlink()
    with pytest.raises(BudgetError):
        parties.answer(4)
    second = tmp_path / "second.json"
    second.hardlink_to(real)
    with pytest.raises(FileFormatError, match="second name"):
        parties.answer(4)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(FileFormatError):
        parties.answer(4, ledger=link)


def test_the_spend_is_on_disk_under_its_name_before_a_coin_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parties = Parties(tmp_path, KEYS, EDGES)
    synced: list[str] = []
    fsync = os.fsync

    def noted(handle: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def coins(number: int) -> bytes:
        assert synced == ["file", "folder"]
        return bytes(number)

    monkeypatch.setattr(os, "fsync", noted)
    parties.answer(4, coins=coins)


def test_where_files_can_have_no_second_name_nothing_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parties = Parties(tmp_path, KEYS, EDGES)
    before = parties.files(4)["ledger"].read_text()

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(ParameterError, match="not permitted"):
        parties.answer(4)
    assert parties.files(4)["ledger"].read_text() == before
