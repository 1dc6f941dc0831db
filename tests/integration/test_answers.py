"""What becomes of the answers of `critical` and `respond`: destroyed, kept or published, and computed from again."""

from __future__ import annotations

import gzip
import json
import logging
import os
import random
import re
import stat
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import neo4j
import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, GraphError, NotFoundError, ParameterError
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.mechanisms.answered import MOSTLY_NOISE, NO_ERROR, NO_ERROR_WARNED
from pcneo.privacy.noise import ReleaseNoise
from pcneo.release import Prepared, Released, Terms, budget, release
from pcneo.release.read_graph import ReadGraph

NAME = "Person/KNOWS/id"
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
EDGES = [*combinations(range(1, 6), 2), (5, 6), (6, 7), (7, 8), (6, 8), (8, 9), (9, 10), (10, 11), (9, 11)]


@pytest.fixture(name="db")
def annotated_with_a_total(db: Database) -> Database:
    db.put(EDGES)
    annotate.write(db.store, p=0.5, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=100)
    return db


def made(
    db: Database,
    *to: Path,
    ks: tuple[int, ...] = (3,),
    terms: Terms = Terms(),
    **asked: Any,
) -> tuple[list[Prepared], list[Released]]:
    common = {"mechanism": "critical", "epsilon": 1, **asked}
    if "answers_from" in common:
        del common["mechanism"], common["epsilon"]
    many = {"share": "several k", "parts": len(ks)} if len(ks) > 1 else {}  # as the command line has it
    requests = [requested(to=path, k=k, **many, **common) for path, k in zip(to, ks, strict=True)]
    return release(db.store, requests=requests, terms=terms)


def counts_in(path: Path) -> dict[int, int]:
    return {row["key"]: row["count"] for row in json.loads(path.read_text())["counts"]}


def hash_in_ledger(db: Database) -> list[str | None]:
    return [row[0] for row in db.run("MATCH (r:PCohesionRelease) RETURN r.answersHash ORDER BY r.at")]


def pairs_of(prepared: Prepared) -> list[tuple[int, int]]:
    keys, groups = prepared.source.graph.keys, prepared.facts.groups
    assert groups is not None
    sets = [keys[groups.members[a:b]].tolist() for a, b in zip(groups.offsets, groups.offsets[1:], strict=False)]
    return sorted(naive.pairs_inside(sets))


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_no_answer_and_no_hash_of_answers_is_left_anywhere(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, mechanism: str
) -> None:
    """In files, temporary ones among them, logs or the ledger. The coins are known here, and so are the answers."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("pcneo.privacy.noise.system_coins", lambda size: bytes([0, 0, 0, 255, 255, 255] * size)[:size])
    written: list[str] = []
    opened = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **more: written.append(str(path)) or opened(path, *rest, **more)
    )
    hashed: list[str] = []
    for name in ("answers_hash", "pair_answers_hash"):
        monkeypatch.setattr(f"pcneo.release.answer_sets.{name}", lambda *_: hashed.append("hashed") or "0" * 64)
    (prepared,), (released,) = made(db, tmp_path / "out.json", mechanism=mechanism)
    assert (released.answers, released.answers_are) == (None, "destroy")
    owners = {"out.owner.json", "out.owner.md", ".gitignore"}
    assert {path.name for path in tmp_path.rglob("*")} == {"out.json", "owner", *owners}
    assert not [path for path in written if "answers" in path]
    assert hashed == []
    assert hash_in_ledger(db) == [None]
    public = json.loads((tmp_path / "out.json").read_text())
    assert "answersHash" not in public
    yes = (
        "".join("01"[b in naive.graph_of(EDGES)[a]] for a, b in pairs_of(prepared)) if mechanism == "critical" else "\0"
    )
    for text in (caplog.text, str(db.everything()), (tmp_path / "owner" / "out.owner.json").read_text()):
        assert yes not in text
    assert all(type(row["count"]) is int for row in public["counts"])
    assert type(public["total"]) is int


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_two_sizes_are_one_spend_and_one_draw(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("pcneo.privacy.noise.system_coins", lambda size: sizes.append(size) or os.urandom(size))
    prepared, _ = made(db, tmp_path / "3.json", tmp_path / "4.json", ks=(3, 4), mechanism=mechanism)
    pairs = len(pairs_of(prepared[0])) if mechanism == "critical" else 11 * 10 // 2
    assert sum(sizes) == 3 * pairs
    options = ["--mechanism", mechanism, "-e", 1, "-k", 3, "-k", 4, "--anyway"]  # the first may show that it is noise
    code, _, err = pcneo("release", *options, "--to", tmp_path / "out.json")
    assert code == 0, err
    assert sum(sizes) == 2 * 3 * pairs
    (shown,) = budget.show(db.store, graph=NAME)
    assert shown.account.spent.epsilon == 2
    ledger = db.run("MATCH (r:PCohesionRelease) RETURN r.k, r.epsilon, r.id, r.answers ORDER BY r.at, r.k")
    assert [(k, epsilon) for k, epsilon, _, _ in ledger] == [(3, "1/1"), (4, "0/1")] * 2
    drawn = [release for _, epsilon, release, _ in ledger if epsilon == "1/1"]
    assert [answers for *_, answers in ledger] == [drawn[0], drawn[0], drawn[1], drawn[1]]


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_two_releases_that_share_nothing_draw_and_pay_for_their_own(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("pcneo.privacy.noise.system_coins", lambda size: sizes.append(size) or os.urandom(size))
    requests = [requested(to=tmp_path / f"{k}.json", k=k, mechanism=mechanism, epsilon=1) for k in (3, 4)]
    prepared, _ = release(db.store, requests=requests)
    pairs = len(pairs_of(prepared[0])) if mechanism == "critical" else 11 * 10 // 2
    assert sum(sizes) == 2 * 3 * pairs
    (shown,) = budget.show(db.store, graph=NAME)
    assert shown.account.spent.epsilon == 2
    assert db.run("MATCH (r:PCohesionRelease) WHERE r.answers = r.id RETURN count(r)") == [[2]]


def test_counts_of_critical_are_those_of_the_twin_from_its_published_answers(db: Database, tmp_path: Path) -> None:
    (prepared, _), (first, _) = made(db, tmp_path / "3.json", tmp_path / "4.json", ks=(3, 4), answers="publish")
    assert (first.answers, first.answers_are) == (tmp_path / "3.answers.gz", "publish")
    lines = gzip.decompress((tmp_path / "3.answers.gz").read_bytes()).decode().splitlines()
    record = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    rows = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    assert [(a, b) for a, b, _ in rows] == pairs_of(prepared)  # it shows which pairs share a group
    graph, f = naive.graph_of(EDGES), naive.flip_chance(Critical(epsilon=1, n=11).epsilon)
    pairs, yes = {(a, b) for a, b, _ in rows}, {(a, b) for a, b, said in rows if said}
    for k in (3, 4):
        public = json.loads((tmp_path / f"{k}.json").read_text())
        twin = {v: naive.counts_from_pair_answers(graph, pairs, yes, k, f, v) for v in graph}
        assert counts_in(tmp_path / f"{k}.json") == {v: round(x) for v, x in twin.items()}
        assert public["total"] == round(sum(twin.values()) / k)
        assert ("standardErrorOfACount" in public) == (k == 3)
        if k == 4:
            warned = public.get("warning") == MOSTLY_NOISE
            assert public["standardErrorsAre"] == (NO_ERROR_WARNED if warned else NO_ERROR)
            assert "warning" not in public or warned
    assert hash_in_ledger(db) == [record["answersHash"], None]
    assert json.loads((tmp_path / "3.json").read_text())["answersHash"] == record["answersHash"]
    assert (tmp_path / "3.answers.gz").stat().st_mode & stat.S_IRGRP or os.umask(os.umask(0o077)) == 0o077


@pytest.mark.parametrize("answers", ["destroy", "keep", "publish"])
def test_how_many_answers_are_true_is_said_where_somebody_has_them_and_else_that_they_are_gone(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, answers: str
) -> None:
    tmp_path.chmod(0o700)
    options = ["--mechanism", "respond", "-e", 1, "-k", 3, "-k", 4, "--answers", answers]
    code, out, err = pcneo("release", *options, "--to", tmp_path / "out.json")
    assert code == 0, err
    assert ("The answers themselves were destroyed." in out) == (answers == "destroy")
    promises = [json.loads((tmp_path / f"out-k{k}-e1.json").read_text())["promise"] for k in (3, 4)]
    for text in (out, *promises):
        assert ("pairs answered yes are connections" in text) == (answers != "destroy")


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_kept_answers_are_the_owners_and_give_the_same_counts_again_at_no_cost(
    db: Database, tmp_path: Path, mechanism: str
) -> None:
    tmp_path.chmod(0o700)
    _, (first,) = made(db, tmp_path / "a.json", answers="keep", mechanism=mechanism)
    kept = tmp_path / "owner" / "a.answers.gz"
    assert (first.answers, first.answers_are) == (kept, "keep")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    (digest,) = hash_in_ledger(db)
    assert digest is not None
    assert digest not in (tmp_path / "a.json").read_text()
    _, (_, again) = made(db, tmp_path / "4.json", tmp_path / "b.json", ks=(4, 3), answers_from=kept)
    assert counts_in(tmp_path / "b.json") == counts_in(tmp_path / "a.json")
    assert again.answers is None
    assert "answersAre" not in json.loads((tmp_path / "a.json").read_text())
    assert "as it was then" in json.loads((tmp_path / "b.json").read_text())["answersAre"]
    (shown,) = budget.show(db.store, graph=NAME)
    assert shown.account.spent.epsilon == 1


def test_answers_whose_release_is_forgotten_meanwhile_make_no_release(db: Database, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    made(db, tmp_path / "a.json", mechanism="respond", answers="keep")
    request = requested(to=tmp_path / "b.json", k=3, answers_from=tmp_path / "owner" / "a.answers.gz")

    def forget_first(_: object) -> bool:
        budget.forget(db.store, graph=NAME, again=NAME)
        return True

    with pytest.raises(NotFoundError, match="The ledger no longer has release"):
        release(db.store, requests=[request], terms=Terms(), agree=forget_first)
    assert not (tmp_path / "b.json").exists()
    assert not hash_in_ledger(db)


def test_releases_of_a_graph_that_is_new_here_note_the_fingerprint_that_its_key_gives(
    neo4j_driver: neo4j.Driver, empty_database: str, tmp_path: Path
) -> None:
    """Each release found the graph unknown and drew a key; one is stored, and by that the graph is known again."""
    db = Database(neo4j_driver, empty_database)
    db.put(EDGES)
    requests = [requested(to=tmp_path / f"{name}.json", mechanism="respond", epsilon=1) for name in "ab"]
    release(db.store, requests=requests, selection=PERSONS["selection"], terms=Terms(budget_epsilon=9))
    (record,) = db.store.list_graphs()
    now = ReadGraph(record).read(db.store).fingerprint
    assert db.run("MATCH (r:PCohesionRelease) RETURN r.fingerprint") == [[now], [now]]


def test_kept_answers_count_only_for_the_graph_and_the_groups_they_were_drawn_for(db: Database, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    made(db, tmp_path / "a.json", answers="keep")
    kept = tmp_path / "owner" / "a.answers.gz"
    before = db.run("MATCH (r:PCohesionRelease) RETURN count(r)")
    with pytest.raises(ParameterError, match="leave run, p, search and groups out"):
        made(db, tmp_path / "b.json", answers_from=kept, p=0.5)
    lines = gzip.decompress(kept.read_bytes()).decode().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    flipped = [*lines[:first], lines[first][:-2] + "10"[int(lines[first][-2])] + "\n", *lines[first + 1 :]]
    for changed, error in (
        (flipped, NotFoundError),
        (lines[:-1], GraphError),
        ([*lines, lines[-1]], GraphError),
        (lines[:first], GraphError),
        ([line for line in lines if "answersHash" not in line], Exception),
    ):
        (tmp_path / "changed.gz").write_bytes(gzip.compress("".join(changed).encode()))
        with pytest.raises(error):
            made(db, tmp_path / "b.json", answers_from=tmp_path / "changed.gz")
    db.run("MATCH (a:Person {id: 9}), (b:Person {id: 8}) MATCH (a)-[r:KNOWS]-(b) DELETE r")
    with pytest.raises(GraphChangedError):
        made(db, tmp_path / "b.json", answers_from=kept)
    annotate.write(db.store, p=0.5, **PERSONS)
    with pytest.raises(GraphChangedError, match="has changed since its answers were drawn"):
        made(db, tmp_path / "b.json", answers_from=kept)
    assert not (tmp_path / "b.json").exists()
    assert db.run("MATCH (r:PCohesionRelease) RETURN count(r)") == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mechanism", "edge", "-e", "1", "--answers", "keep"], "edge draws none"),
        (["--mechanism", "respond", "-e", "1", "--parties", "--answers", "destroy"], "so they are published"),
        (["--mechanism", "critical", "-e", "0.0009"], "from 0.001 to 16"),
        (["--mechanism", "critical", "-e", "16.1"], "from 0.001 to 16"),
        (["--mechanism", "critical", "-e", "nan"], "epsilon must be"),
        (["--mechanism", "critical", "-e", "1", "-k", "5"], "from 3 to 4"),
        (["--mechanism", "critical", "-e", "1", "--delta", "1e-6"], "critical has no delta"),
        (["--mechanism", "critical", "-e", "1", "--smooth"], "critical has no smooth"),
        (["--mechanism", "critical", "-e", "1", "--large"], "critical has no large"),
        (["--mechanism", "critical", "-e", "0.01", "--expect", "5"], "--anyway"),
        (["--mechanism", "critical", "-e", "0.01", "-k", "4", "--expect", "5"], "count of triangles, by which k = 4"),
        (["--mechanism", "critical", "-e", "1", "--expect", "-1"], "expect must be"),
        (["--mechanism", "respond", "-e", "0.1", "--expect", "5"], "--anyway"),
        (["--mechanism", "modelled", "-e", "1", "-k", "4"], "for 1,000 vertices and more"),
        (["--mechanism", "modelled", "-e", "1", "--clip"], "modelled has no clip"),
        (["--mechanism", "total", "-e", "1", "--smooth"], "total has no smooth"),
        (["--mechanism", "published", "-e", "1", "--no-promise", "--smooth"], "published has no smooth"),
        (["--mechanism", "edge", "-e", "1", "--mean-degree", "0"], "mean degree must be"),
    ],
)
def test_refusals_spend_nothing_and_write_nothing(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, options: list[str], said: str
) -> None:
    tmp_path.chmod(0o755)
    before = db.everything()
    code, out, err = pcneo("release", "--to", tmp_path / "out.csv", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert db.everything() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["edge", "-e", "1"], "edge, k=3, ε=1: a count has a standard error of"),
        (["elv", "-e", "1", "-k", "4"], "count of triangles, by which k = 4"),
        (["modelled", "-e", "0.1"], "--anyway"),
    ],
)
def test_noise_of_mechanisms_with_a_delta_is_refused_too(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, options: list[str], said: str
) -> None:
    budget.set_total(db.store, graph=NAME, epsilon=100, delta=Fraction(1, 2))
    before = db.everything()
    code, out, err = pcneo("release", "--to", tmp_path / "out.csv", "--mechanism", *options, "--expect", "5")
    assert (code, out) == (2, "")
    assert said in err
    assert db.everything() == before
    assert list(tmp_path.iterdir()) == []
    assert pcneo("release", "--to", tmp_path / "out.csv", "--mechanism", *options, "--expect", "5", "--anyway")[0] == 0
    text = (tmp_path / "out.csv").read_text()
    header = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
    if options[0] == "modelled":
        noise, value = float(header["standardErrorOfTotal"]), int(header["total"])
    else:
        counts = [int(line.rsplit(",", 1)[1]) for line in text.splitlines() if re.fullmatch(r"\d+(,-?\d+)+", line)]
        noise, value = float(header["standardErrorOfACount"]), sum(counts) / len(counts)
    # What is drawn may by chance be larger than its noise: then there is nothing to warn of.
    assert text.startswith("# warning: These counts are mostly noise") == (noise > max(0, value))


@pytest.mark.parametrize("mechanism", ["critical", "respond"])
def test_answers_are_kept_in_the_owners_folder_which_others_must_not_be_able_to_read(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, mechanism: str
) -> None:
    tmp_path.chmod(0o755)
    owners = tmp_path / "owner"
    options = ["--mechanism", mechanism, "-e", "1", "--answers", "keep", "--to", tmp_path / "out.csv"]
    for mode in (0o755, 0o750, 0o705):
        owners.mkdir(exist_ok=True)
        owners.chmod(mode)
        before = db.everything()
        code, _, err = pcneo("release", *options)
        assert (code, "Others can read the folder" in err) == (2, True)
        assert db.everything() == before
        assert list(owners.iterdir()) == []
    owners.rmdir()
    code, _, err = pcneo("release", *options)
    assert code == 0, err
    assert owners.stat().st_mode & 0o777 == 0o700
    files = {"out.answers.gz", "out.owner.md", "out.owner.json", ".gitignore"}
    assert {path.name for path in owners.iterdir()} == files
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in owners.iterdir())


def test_counts_that_are_bound_to_be_noise_are_made_where_the_owner_means_it_and_say_so(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coins = random.Random(1)  # with others, the mean of the noise may lie above its estimated standard error
    monkeypatch.setattr(ReleaseNoise, "_bytes", lambda _self, size: coins.randbytes(size))
    options = ["--mechanism", "critical", "-e", "0.01", "--expect", "5", "--anyway", "--to", tmp_path / "out.csv"]
    code, out, err = pcneo("release", *options)
    assert code == 0, err
    assert out.startswith("These counts are mostly noise")
    assert (tmp_path / "out.csv").read_text().startswith("# warning: These counts are mostly noise")
    code, out, err = pcneo("release", "--mechanism", "critical", "-e", "16", "--to", tmp_path / "near.csv")
    assert code == 0, err
    assert "mostly noise" not in out + (tmp_path / "near.csv").read_text()


def test_groups_without_a_pair_are_refused(db: Database, tmp_path: Path) -> None:
    db.run("MATCH (n) DETACH DELETE n")
    db.run("UNWIND range(1, 3) AS i CREATE (:Person {id: i})")
    db.run("CREATE (:Person {id: 4})-[:KNOWS]->(:Person {id: 5})")
    db.run("MATCH (v:Person) WHERE v.id > 3 DETACH DELETE v")
    db.run("MATCH (a:Person {id: 1}), (b:Person {id: 2}) CREATE (a)-[:KNOWS]->(b)")
    annotate.write(db.store, p=0.5, **PERSONS)
    prepared, _ = made(db, tmp_path / "one.json", terms=Terms(budget_epsilon=9))
    assert prepared[0].facts.protected_graph().pair_count == 1
    version = db.run("MATCH (v:PCohesionVersion) RETURN max(v.version)")[0][0]
    db.run("MATCH (v:Person {id: 2}) DETACH DELETE v")
    with pytest.raises(GraphError, match="No pair of vertices lies inside a group"):
        made(db, tmp_path / "none.json", groups=version)


def test_no_digits_of_a_count_that_answers_protect_are_said(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A clique of 61 gives 1,770 triangles each and 35,990 in all; no coin flips an answer but every second one."""
    caplog.set_level(logging.DEBUG)
    db.run("MATCH (n) DETACH DELETE n")
    db.put([*combinations(range(1, 62), 2)])
    annotate.write(db.store, p=0.3, **PERSONS)
    monkeypatch.setattr(ReleaseNoise, "_bytes", lambda _self, size: bytes([0, 0, 0, 255, 255, 255] * size)[:size])
    made(db, tmp_path / "out.csv", terms=Terms(budget_epsilon=9))
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    stored = str(db.run("MATCH (r:PCohesionRelease|PCohesionGraph|Person) RETURN properties(r)"))
    for text in (*texts, caplog.text, stored):
        assert not re.search(r"(?<![\da-f])(1,?770|35,?990)(?![\da-f])", text)  # a hash may have such digits
