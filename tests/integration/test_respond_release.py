"""`respond` end to end on a real Neo4j: what is published, what the ledger has, and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
import logging
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive
import pytest
from graphs import KITE, Database
from places import ROOT
from requested import requested

from pcneo.basics.selection import Selection
from pcneo.counting.counted import CountedGraph
from pcneo.errors import AnswerError, DatabaseError, ParameterError, PcneoError
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.noise import Noise
from pcneo.release import Release, Terms, budget, release, releasing
from pcneo.release.read_graph import ReadGraph

NAME = "Person/KNOWS/id"
COPENHAGEN = ROOT / "pcneo" / "cli" / "sample" / "copenhagen_friends.edges.gz"
TERMS = Terms(budget_epsilon=16)


def request(to: Path, **changed: Any) -> Release:
    asked: dict[str, Any] = {"to": to, "mechanism": "respond", "epsilon": "5", **changed}
    if asked["mechanism"] == "respond" and "answers_from" not in asked:
        asked.setdefault("answers", "publish")
    return requested(**asked)


def read_pairs(path: Path) -> tuple[dict[str, str], list[tuple[int, int]]]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    record = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    pairs = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    return record, [(a, b) for a, b in pairs]


@pytest.mark.parametrize("k", [3, 4])
def test_all_that_is_published_follows_from_the_answers_that_are_published(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture, k: int
) -> None:
    caplog.set_level(logging.INFO)
    db.put(KITE)
    to = tmp_path / "out.json"
    arguments = [
        "-k",
        k,
        "-e",
        "1/2",
        "--mechanism",
        "respond",
        "--answers",
        "publish",
        "--budget-epsilon",
        "2",
        "--to",
        to,
    ]
    code, out, err = pcneo("release", *arguments, "--answers", "publish")
    assert code == 0, err
    assert caplog.text.index("21 pairs") < caplog.text.index("Entered in the ledger: ")
    record, pairs = read_pairs(tmp_path / "out.answers.gz")
    assert pairs == sorted(pairs)
    yes = naive.graph_of(pairs, isolated=range(1, 8))
    f = naive.flip_chance(Fraction(1, 2))
    public = json.loads(to.read_text())
    counts = {row["key"]: row["count"] for row in public["counts"]}
    for v in yes:
        assert counts[v] == round(naive.counts_from_answers(yes, k, f, v))
    assert public["total"] == round(sum(naive.counts_from_answers(yes, k, f, v) for v in yes) / k)
    assert public["yesAnswers"] == len(pairs) == int(record["yesAnswers"])
    assert public["threshold"] == f * 2**24 == int(record["threshold"])
    assert (public["vertices"], int(record["vertices"])) == (7, 7)
    assert (public["k"], public["epsilon"], public["delta"]) == (k, "0.5", "0")
    assert f" % of the {len(pairs)} pairs answered yes are connections." in public["promise"]
    assert public["promise"] in out
    assert "ln(n/d) is" in out
    assert str(tmp_path / "out.answers.gz") in out
    assert record["promise"] == Respond.promise
    assert record.keys() == {
        "pcneo", "mechanism", "promise", "epsilon", "vertices", "threshold", "yesAnswers", "answersHash",
    }  # fmt: skip

    report = json.loads((tmp_path / "owner" / "out.owner.json").read_text())
    ((entry,),) = db.run("MATCH (r:PCohesionRelease) RETURN properties(r)")
    assert entry["id"] == report["release"]
    assert (entry["mechanism"], entry["epsilon"], entry["delta"]) == ("respond", "1/2", "0/1")
    spent = report["spentByThisGraph"]
    assert (spent["epsilon"], spent["epsilonExact"], spent["delta"], spent["deltaExact"]) == (0.5, "0.5", 0.0, "0")
    assert not {"edges", "scales", "loss", "exactCounts", "interval95Percent"} & report.keys()
    assert report["notice"].startswith("For the owner alone. Besides what is public, this report has what has been")
    assert report["fingerprint"] not in to.read_text()
    assert report["fingerprint"] in (tmp_path / "owner" / "out.owner.md").read_text()
    assert {path.name for path in tmp_path.rglob("*.*")} == {
        ".gitignore",
        *(f"out.{end}" for end in ("json", "owner.json", "owner.md", "answers.gz")),
    }


def test_copenhagen_is_released_and_its_counts_are_near(db: Database, tmp_path: Path) -> None:
    graph = naive.read_edges(COPENHAGEN)
    db.put([(a, b) for a in graph for b in graph[a] if a < b])
    _, (released,) = release(db.store, requests=[request(tmp_path / "out.csv")], terms=TERMS)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert list(rows[0]) == ["key", "degree", "count", "standardError"]
    exact, f = naive.clique_counts(graph, 3), naive.flip_chance(Fraction(5))
    assert {int(row["key"]) for row in rows} == graph.keys()
    squares = []
    for row in rows:
        v = int(row["key"])
        variance = naive.variance_of_triangles(graph, f, v)
        squares.append((float(row["count"]) - exact[v]) ** 2 / variance)
        assert float(row["standardError"]) > math.sqrt(variance) / 2
    # One vertex may be ten standard deviations off: the tails are heavy. The mean of all squares was 0.70 to 1.33 in
    # 2,008 releases, with a standard deviation of 0.097.
    assert 0.4 <= sum(squares) / len(squares) <= 2.5
    assert abs(released.total - 13_698) <= 6 * math.sqrt(naive.variance_of_all_triangles(graph, f))
    _, pairs = read_pairs(tmp_path / "out.answers.gz")
    share = sum(b in graph[a] for a, b in pairs) / len(pairs)
    said = next(float(line.split(": ")[1]) for line in lines if line.startswith("# percentOfYesAnswersTrue"))
    assert abs(said - 100 * share) < 5


def test_the_private_graph_is_neither_counted_nor_are_losses(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("an exact count was asked for")

    monkeypatch.setattr(ReadGraph, "losses", never)
    monkeypatch.setattr(CountedGraph, "counts", never)
    for kernel in ("_triangles", "_cliques"):
        monkeypatch.setattr(f"pcneo.counting.cliques.{kernel}", never)
    db.put(KITE)
    release(db.store, requests=[request(tmp_path / "out.csv")], terms=TERMS)


def test_answers_that_were_paid_for_are_not_lost_when_a_count_fails(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.put(KITE)

    def fail(*_: object) -> None:
        raise AnswerError("The counts of the answers cannot be right.")

    monkeypatch.setattr(Respond, "computed", fail)
    with pytest.raises(PcneoError, match=r"stays recorded\. Written: .*out\.answers\.gz") as error:
        release(db.store, requests=[request(tmp_path / "out.csv")], terms=TERMS)
    assert "lost" not in str(error.value)
    assert error.value.data["released"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["out.answers.gz"]
    (shown,) = budget.show(db.store)
    assert shown.account.spent.epsilon == 5


REFUSALS = [
    (["-e", "0.0009"], 2, "from 0.001 to 16"),
    (["-e", "16.1"], 2, "from 0.001 to 16"),
    (["-e", "nan"], 2, "epsilon"),
    (["-e", "1", "-k", "5"], 2, "k must be a whole number from 3 to 4"),
    (["-e", "1", "--delta", "0.1"], 2, "no delta"),
    (["-e", "1", "x@0.5"], 2, "leave run out"),
    (["-e", "1", "--answers", "burn"], 2, "burn"),
    (["-e", "11"], 9, "has ε = 10"),
    (["-e", "1", "--to", "/no such folder/out.csv"], 2, "there is no folder /no such folder"),
]


def test_a_refusal_changes_nothing(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.put(KITE)
    code, _, err = pcneo(
        "release", "-e", "1", "--mechanism", "respond", "--budget-epsilon", "11", "--to", tmp_path / "out.csv"
    )
    assert code == 0, err
    before, files = db.everything(), sorted(tmp_path.iterdir())

    def never(_: int) -> bytes:
        raise AssertionError("a coin was drawn")

    monkeypatch.setattr("os.urandom", never)
    for options, code, says in REFUSALS:
        ended, out, err = pcneo("release", "--mechanism", "respond", "--to", tmp_path / "other.csv", *options)
        assert ended == code, (options, err)
        assert says in err, (options, err)
        assert (out, db.everything(), sorted(tmp_path.iterdir())) == ("", before, files), options
    published = ["--mechanism", "respond", "-e", "1", "--answers", "publish"]
    for taken in ("out.csv", "new.csv"):
        (tmp_path / "new.answers.gz").touch()
        ended, _, err = pcneo("release", *published, "--to", tmp_path / taken)
        assert (ended, db.everything()) == (2, before)
        assert "exists" in err


def test_a_dry_run_says_what_it_takes_and_spends_nothing(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    db.put(KITE)
    before = db.everything()
    options = ["-e", "3", "--mechanism", "respond", "--dry-run", "--to", tmp_path / "out.csv"]
    code, out, err = pcneo("release", *options)
    assert code == 0, err
    assert "respond" in out
    assert "21 pairs" in caplog.text
    assert "ln(n/d)" not in caplog.text  # a warning for who publishes the answers
    assert pcneo("release", *options, "--answers", "publish")[0] == 0
    assert "ln(n/d)" in caplog.text
    assert (db.everything(), list(tmp_path.iterdir())) == (before, [])


def test_too_many_vertices_are_refused_by_the_count_store_before_anything_is_read(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.put(KITE)
    monkeypatch.setattr("pcneo.privacy.mechanisms.respond.LARGEST", 6)
    monkeypatch.setattr("pcneo.release.releasing.prepare", lambda *_: pytest.fail("the graph was read"))
    with pytest.raises(ParameterError, match="--large"):
        release(db.store, requests=[request(tmp_path / "out.csv")], terms=TERMS)
    monkeypatch.undo()
    monkeypatch.setattr("pcneo.privacy.mechanisms.respond.LARGEST", 6)
    release(db.store, requests=[request(tmp_path / "out.csv", large=True)], terms=TERMS)
    assert (tmp_path / "out.csv").exists()


# --- One set of answers, paid for once


def spent(db: Database) -> Fraction | None:
    (shown,) = budget.show(db.store)
    return shown.account.spent.epsilon


def test_several_k_are_computed_from_one_set_that_is_paid_for_once(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    db.put(KITE)
    options = ["-k", 3, "-k", 4, "-e", "1/2", "--mechanism", "respond", "--to", tmp_path / "out.json"]
    code, out, err = pcneo("release", *options, "--budget-epsilon", "1/2", "--clip", "--answers", "publish")
    assert code == 0, err
    assert " ".join(caplog.messages).count("WARNING") == 1
    assert ("WARNING" in out, out.count("ln(n/d) is"), out.count("was answered once for each pair")) == (False, 1, 1)
    assert f"out-k3-e1_2.json and out-k3-e1_2.answers.gz; for you alone: {tmp_path / 'owner' / 'out-k3'}" in err
    assert f"Also public: the answers, {tmp_path / 'out-k3'}" in out
    assert spent(db) == Fraction(1, 2)
    _, pairs = read_pairs(tmp_path / "out-k3-e1_2.answers.gz")
    assert not (tmp_path / "out-k4-e1_2.answers.gz").exists()
    yes, f = naive.graph_of(pairs, isolated=range(1, 8)), naive.flip_chance(Fraction(1, 2))
    entries = {row["k"]: row for (row,) in db.run("MATCH (r:PCohesionRelease) RETURN properties(r)")}
    hashes = set()
    for k in (3, 4):
        public = json.loads((tmp_path / f"out-k{k}-e1_2.json").read_text())
        for row in public["counts"]:
            exact = naive.counts_from_answers(yes, k, f, row["key"])
            assert row["count"] == round(exact)
            assert 0 <= row["clipped"] <= math.comb(6, k - 1)
        hashes.add(public["answersHash"])
        assert entries[k]["answers"] == entries[3]["id"]
    assert hashes == {entries[3]["answersHash"]}
    assert (entries[3]["epsilon"], entries[4]["epsilon"]) == ("1/2", "0/1")
    assert (entries[3]["threshold"], entries[3]["vertices"]) == (f * 2**24, 7)
    assert not {"threshold", "vertices", "keysHash", "fingerprint", "answersHash"} & entries[4].keys()
    report = json.loads((tmp_path / "owner" / "out-k4-e1_2.owner.json").read_text())
    assert (report["answersOfRelease"], report["spent"]["epsilonExact"]) == (entries[3]["id"], "0")
    assert entries[3]["fingerprint"] == report["fingerprint"]


@pytest.fixture
def answered(db: Database, tmp_path: Path) -> Path:
    """The answers of a graph whose total they have used up."""
    db.put(KITE)
    terms = Terms(budget_epsilon="1/2")
    release(db.store, requests=[request(tmp_path / "first.json", epsilon="1/2")], terms=terms)
    return tmp_path / "first.answers.gz"


def test_what_is_computed_from_a_file_of_answers_is_free(
    db: Database,
    pcneo: Callable[..., Any],
    answered: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    db.run("MATCH (a {id: 6})-[r:KNOWS]-(b {id: 7}) DELETE r")  # the graph has moved on, and is not looked at

    def never(_: Noise, size: int) -> bytes:
        raise AssertionError(f"{size} coins were drawn")

    monkeypatch.setattr(Noise, "coins", never)
    code, out, err = pcneo("release", "--from", answered, "-k", "3", "--smooth", "--to", tmp_path / "again.json")
    assert code == 0, err
    ((first_release,),) = db.run("MATCH (r:PCohesionRelease {answers: r.id}) RETURN r.id")
    said = " ".join(caplog.messages)
    assert f"computed from the answers of release {first_release}, at no further cost" in said
    assert "spends nothing: release" in said
    assert "uses answers that are already paid for." in said
    assert " spends ε" not in said
    assert "yes-answers;" not in said, "of no new ones"
    assert "the answers, " not in out
    table = pcneo("budget", "show", "--csv")[1]
    assert table.count(first_release) == 3, "itself, its answers, and what was computed from them"
    assert "costs only what it adds, which can be ε = 0" in pcneo("budget", "show")[1]
    first, again = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "again"))
    assert first["counts"] == [{n: row[n] for n in first["counts"][0]} for row in again["counts"]]
    assert first["columns"].items() <= again["columns"].items()
    same = first.keys() - {"counts", "columns", "date", "answersHash"}
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    assert "smoothed" in again["counts"][0]
    assert spent(db) == Fraction(1, 2)
    code, out, _ = pcneo("budget", "show", "--json")
    shown = json.loads(out)[0]["releases"]
    assert [entry["epsilon"] for entry in shown] == [0.5, 0]
    assert {entry["answers"] for entry in shown} == {shown[0]["id"]}
    assert not (tmp_path / "again.answers.gz").exists()


def test_a_file_of_answers_names_its_graph_among_several(
    db: Database, pcneo: Callable[..., Any], answered: Path, tmp_path: Path
) -> None:
    db.run("CREATE (:Robot {id: 1})")
    db.store.merge_graph("robots", Selection(("Robot",), ("KNOWS",), "id"), "00" * 32)
    code, _, err = pcneo("release", "--from", answered, "-k", "3", "--to", tmp_path / "again.json")
    assert code == 0, err
    _, _, err = pcneo("annotate", "--from", answered)  # of so few answers groups may say nothing
    assert "These groups are rough" in err or "Groups from these answers would mean nothing" in err


def test_answers_that_the_ledger_does_not_know_are_refused(
    db: Database, pcneo: Callable[..., Any], answered: Path, tmp_path: Path
) -> None:
    text = gzip.decompress(answered.read_bytes()).decode()
    forged, dearer, other = (tmp_path / f"{name}.gz" for name in ("forged", "dearer", "other"))
    lines = text.splitlines(keepends=True)
    pairs = [line for line in lines if not line.startswith("#")]
    forged.write_bytes(gzip.compress("".join(line for line in lines if line != pairs[0]).encode()))
    dearer.write_bytes(gzip.compress(text.replace("# epsilon: 0.5", "# epsilon: 0.25").encode()))
    other.write_bytes(gzip.compress(f"{text}1 99\n".encode()))
    before, files = db.everything(), sorted(tmp_path.iterdir())
    for options, code, says in (
        (["--from", forged], 4, "has no answers that match those in"),
        (["--from", dearer], 4, "has no answers that match those in"),
        (["--from", other], 4, "vertex 99"),
        (["--from", tmp_path / "first.json"], 3, "holds counts, not answers; give a file NAME.answers.gz"),
        (["--from", answered, "-e", "1"], 2, "leave epsilon out"),
        (["--from", answered, "--mechanism", "edge"], 2, "leave mechanism out"),
        (["--from", answered, "-k", "4", "--smooth"], 2, "k = 3"),
        (["--from", answered, "--to", tmp_path / "first.json"], 2, "exists"),
    ):
        ended, out, err = pcneo("release", "--to", tmp_path / "x.csv", *options)
        assert (ended, out) == (code, ""), (options, err)
        assert says in err, (options, err)
        assert (db.everything(), sorted(tmp_path.iterdir())) == (before, files), options
    db.run("CREATE (:Person {id: 8})")
    ended, _, err = pcneo("release", "--to", tmp_path / "x.csv", "--from", answered)
    assert ended == 4
    assert "have changed since its answers were drawn" in err


def test_a_hash_that_cannot_be_recorded_is_said_and_the_answers_are_written_on_a_second_try(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.put(KITE)
    note = releasing.note_answers
    tries: list[str] = []

    def fail_once(db: Any, release: str, digest: str) -> None:
        tries.append(digest)
        if len(tries) == 1:
            raise DatabaseError("The database is away.")
        note(db, release, digest)

    monkeypatch.setattr(releasing, "note_answers", fail_once)
    release(
        db.store,
        requests=[request(tmp_path / "out.csv")],
        terms=TERMS,
        retry=lambda error: "away" in str(error),
    )
    assert tries[0] == tries[1]
    assert db.run("MATCH (r:PCohesionRelease) RETURN r.answersHash") == [[tries[0]]]
    assert (tmp_path / "out.answers.gz").exists()


# --- What an earlier version's `row` has left


def test_answers_of_row_are_computed_from_and_what_it_spent_goes_on_counting(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    """The mechanism is gone. It stored answers under its own name, with all that it had spent."""
    db.put(KITE)
    first = ["--mechanism", "respond", "-e", "1", "--budget-epsilon", "4", "--to", tmp_path / "a.json"]
    assert pcneo("release", *first, "--answers", "publish")[0] == 0
    db.run("MATCH (r:PCohesionRelease) SET r.mechanism = 'row', r.epsilon = '3/1'")
    code, _, err = pcneo("release", "--from", tmp_path / "a.answers.gz", "--to", tmp_path / "b.json")
    assert code == 0, err
    assert json.loads((tmp_path / "b.json").read_text())["mechanism"] == "respond"
    assert spent(db) == 3
    (shown,) = budget.show(db.store)
    assert str(shown.account.left) == "ε = 1, δ = 0"
    more = ["--mechanism", "respond", "-e", "1.5", "--to", tmp_path / "c.json"]
    code, _, err = pcneo("release", *more)
    assert code == 9
    assert "ε = 1 left" in err


# --- All parties at once


def test_all_parties_of_a_stored_graph_answer_in_one_command(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One spend, answers that the ledger knows, and counts that follow from them, as where the owner answers."""
    caplog.set_level(logging.INFO)
    db.put(KITE)
    arguments = ["--mechanism", "respond", "--parties", "-e", "1", "-k", 3, "-k", 4, "--budget-epsilon", "1"]
    code, _, err = pcneo("release", *arguments, "--to", tmp_path / "out.json")
    assert code == 0, err
    assert "7 vertices answered, each from its own row" in caplog.text
    _, pairs = read_pairs(tmp_path / "out-k3-e1.answers.gz")
    yes, f = naive.graph_of(pairs, isolated=range(1, 8)), naive.flip_chance(Fraction(1))
    for k in (3, 4):
        public = json.loads((tmp_path / f"out-k{k}-e1.json").read_text())
        for row in public["counts"]:
            assert row["count"] == round(naive.counts_from_answers(yes, k, f, row["key"]))
    code, _, err = pcneo(
        "release", "--from", tmp_path / "out-k3-e1.answers.gz", "--clip", "--to", tmp_path / "again.json"
    )
    assert code == 0, err
    (shown,) = budget.show(db.store)
    assert str(shown.account.spent) == "ε = 1, δ = 0"


@pytest.mark.parametrize("changed", [{"mechanism": "edge"}, {"answers_from": "out.answers.gz"}])
def test_parties_answer_with_respond_alone(db: Database, tmp_path: Path, changed: dict[str, Any]) -> None:
    db.put(KITE)
    if "answers_from" in changed:
        release(db.store, requests=[request(tmp_path / "out.json")], terms=TERMS)
        changed = {"answers_from": tmp_path / "out.answers.gz"}
    parties_request = request(tmp_path / "more.json", parties=True, **changed)
    with pytest.raises(ParameterError, match=r"--parties works only with respond, .* Leave it out"):
        release(db.store, requests=[parties_request], terms=TERMS if changed.get("mechanism") else Terms())
    assert not (tmp_path / "more.json").exists()
