"""Releases end to end on a real Neo4j: what is published agrees everywhere, and a refused release leaves no trace."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import naive
import neo4j
import pytest
import typer
from benchmarks.graphs import made_graph
from graphs import KITE, Database
from outside_graphs import outside_graph
from places import ROOT
from requested import requested

from pcneo import annotate
from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.cli import clean
from pcneo.errors import BudgetError, BusyError, ParameterError, PcneoError, WriteMismatchError
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.noise import Noise, ReleaseNoise, SimulatedNoise
from pcneo.privacy.protection import Protects
from pcneo.release import Source, Terms, budget, published_means, read_graph, release, releasing, spending
from pcneo.release.preparing import prepare
from pcneo.release.public_file import read_release
from pcneo.store import count_property as properties
from pcneo.store.database import Database as Stored
from pcneo.store.failures import translated
from pcneo.store.lock import GraphLock
from pcneo.store.transaction import Transaction
from pcneo.stored import cleaning
from pcneo.stored.runs import list_runs

NAME = "Person/KNOWS/id"
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
COPENHAGEN = ROOT / "pcneo" / "cli" / "sample" / "copenhagen_friends.edges.gz"


def in_two_digits(value: float) -> str:
    """As the command line says a figure: no decimals where it is whole."""
    return f"{value:,.2f}".removesuffix(".00")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many numbers, or bytes of coins, each draw was for, counted at the source of all noise."""
    sizes: list[int] = []
    draw, coins = Noise.draw, Noise.coins

    def counted(self: Noise, scale: Fraction, size: int) -> list[int]:
        sizes.append(size)
        return draw(self, scale, size)

    def counted_coins(self: Noise, size: int) -> bytes:
        sizes.append(size)
        return coins(self, size)

    monkeypatch.setattr(Noise, "draw", counted)
    monkeypatch.setattr(Noise, "coins", counted_coins)
    return sizes


def put(db: Database, graph: dict[Any, set[Any]]) -> None:
    db.put([(a, b) for a in graph for b in graph[a] if a < b], isolated=graph)


@pytest.fixture
def kite(db: Database) -> Database:
    """A small graph, annotated, with a total."""
    return annotated_kite(db)


@pytest.fixture
def papers_kite(db: Database) -> Database:
    """The same, by the paper's search, which `published` needs."""
    return annotated_kite(db, search="density")


def annotated_kite(db: Database, **search: str) -> Database:
    db.put(KITE)
    annotate.write(db.store, p=0.5, **search, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=10, delta="0.1")
    return db


def ledger(db: Database) -> list[Any]:
    return db.run("MATCH (n) WHERE n:PCohesionRelease OR n:PCohesionBudget RETURN properties(n) ORDER BY n.at, n.id")


def read_csv(path: Path) -> tuple[dict[str, str], dict[int, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    record = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return record, {int(row["key"]): int(row["count"]) for row in rows}


# --- What is published agrees everywhere


@pytest.mark.parametrize("mechanism", ["critical", "edge", "elv", "published"])
def test_file_database_property_and_report_agree_on_copenhagen(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, mechanism: str
) -> None:
    graph = naive.read_edges(COPENHAGEN)
    put(db, graph)
    search = "density" if mechanism == "published" else "smallest"
    (run,) = annotate.write(db.store, p=0.1, search=search, **PERSONS).runs
    terms = ["--no-promise"] if mechanism == "published" else ["--budget-epsilon", "2"]
    options = ["-e", "1.5", "--mechanism", mechanism, "--write-property", "noisy", "--anyway"]
    code, out, err = pcneo("release", *options, *terms, "--to", tmp_path / "out.csv")
    assert code == 0, err
    record, counts = read_csv(tmp_path / "out.csv")
    report = json.loads((tmp_path / "owner" / "out.owner.json").read_text())
    ((entry,),) = db.run("MATCH (r:PCohesionRelease) RETURN properties(r)")

    assert counts.keys() == graph.keys()
    assert dict(db.run("MATCH (v:Person) RETURN v.id, v.noisy")) == counts
    assert float(record["total"]) == report["total"]
    if mechanism == "critical":  # rounded after it is added up
        assert abs(report["total"] - sum(counts.values()) / 3) <= len(counts) / 6
    else:
        assert report["total"] == float(Fraction(sum(counts.values()), 3))
    published = f", standard error {in_two_digits(float(record.get('standardErrorOfTotal', 0)))}"
    told = f"noisy total {in_two_digits(report['total'])}{published if 'standardErrorOfTotal' in record else ''}"
    error, how = float(record.get("standardErrorOfACount", 0)), {"critical": "(about|at most) "}.get(mechanism, "")
    digits = re.escape(f"{float(f'{error:.3g}'):,.0f}" if error >= 1000 else f"{error:.3g}")
    of_a_count = f"; standard error of a count {how}{digits}" if "standardErrorOfACount" in record else ""
    assert ("standardErrorOfACount" in record) == (mechanism != "published")
    assert re.search(rf"{re.escape(told)}{of_a_count}\n", out), out
    assert record["promise"] == report["promise"]
    assert record["promise"] in out
    assert entry["id"] == report["release"]
    assert entry["property"] == "noisy"
    assert (entry["mechanism"], entry["k"], Fraction(entry["epsilon"])) == (mechanism, 3, Fraction(3, 2))
    kept = ("epsilon", "epsilonOne", "delta", "h")
    assert [read_back(entry.get(name)) for name in kept] == [
        read_back(report[name]) for name in ("epsilon", "epsilon1", "delta", "h")
    ]
    assert entry.get("run") == report["run"] == (run.run if mechanism in ("critical", "published") else None)
    assert record.keys().isdisjoint({"run", "fingerprint", "scales", "exactCounts", "loss", "vertices"})
    assert ("scale" in record) == (mechanism in ("edge", "elv"))
    assert (tmp_path / "owner" / "out.owner.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "owner" / "out.owner.md").stat().st_mode & 0o777 == 0o600
    assert report["release"] in (tmp_path / "owner" / "out.owner.md").read_text()
    assert "reveals more than the release's promise allows" in report["notice"]
    assert report["fingerprint"] not in (tmp_path / "out.csv").read_text()
    if mechanism == "critical":
        assert 1.49 < report["lossOfEachPair"] <= 1.5
        exact = sum(counts[v] == x for v, x in triangles(graph).items())
        assert exact >= report["countsWithoutProtectedPairs"] > 0
        assert 0.71 < report["connectionsOutsideGroups"] < 0.72
        assert 0.09 < report["insideInGroupsOfTwo"] < 0.11
        errors = report["standardErrors"]
        assert errors["are"] == "exact"
        assert errors["median"] < errors["mean"] < float(record["standardErrorOfACount"]) < errors["largest"]


def read_back(number: str | int | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def triangles(graph: dict[Any, set[Any]]) -> dict[Any, int]:
    return {v: sum(len(graph[u] & graph[v]) for u in graph[v]) // 2 for v in graph}


def made(edges: int) -> naive.Graph:
    n, u, v = made_graph(edges, 1)
    return naive.graph_of(zip(u.tolist(), v.tolist(), strict=True), isolated=range(n))


@pytest.mark.parametrize("name", ["made", "celegans_metabolic", "wikivote_soc"])
def test_another_graph_is_released(db: Database, pcneo: Callable[..., Any], tmp_path: Path, name: str) -> None:
    graph = made(3_000) if name == "made" else naive.read_edges(outside_graph(f"{name}.edges.gz"))
    put(db, graph)
    annotate.write(db.store, p=0.1, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=7, delta="1e-3")
    for options in (
        ["--mechanism", "critical", "-e", "1", "-e", "2", "--to", tmp_path / "out.json"],
        ["-e", "4", "--mechanism", "elv", "--write-property", "noisy", "--to", tmp_path / "out-k3-e4.json", "--anyway"],
    ):
        code, _, err = pcneo("release", *options)
        assert code == 0, err
    exact = triangles(graph)
    entries = {row["id"]: row for (row,) in db.run("MATCH (r:PCohesionRelease) RETURN properties(r)")}
    assert len(entries) == 3
    for epsilon, mechanism in ((1, "critical"), (2, "critical"), (4, "elv")):
        public = json.loads((tmp_path / f"out-k3-e{epsilon}.json").read_text())
        report = json.loads((tmp_path / "owner" / f"out-k3-e{epsilon}.owner.json").read_text())
        entry = entries[report["release"]]
        counts = {row["key"]: row["count"] for row in public["counts"]}
        assert counts.keys() == graph.keys()
        assert public["total"] == report["total"]
        off = public["total"] - Fraction(sum(counts.values()), 3)  # with critical it is rounded after it is added up
        assert abs(off) <= (len(counts) / 6 + 1 if mechanism == "critical" else 0)
        assert public["mechanism"] == report["mechanism"] == entry["mechanism"] == mechanism
        assert Fraction(public["epsilon"]) == Fraction(report["epsilon"]) == Fraction(entry["epsilon"]) == epsilon
        assert Fraction(public["delta"]) == Fraction(report["delta"]) == Fraction(entry["delta"])
        # Ten standard errors are passed with a probability far below 1e-6.
        assert abs(public["total"] - sum(exact.values()) / 3) <= 10 * report["standardErrorOfTotal"]
    assert dict(db.run("MATCH (v:Person) RETURN v.id, v.noisy")) == counts
    (shown,) = budget.show(db.store, graph=NAME)
    assert shown.account.spent.epsilon == 7


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_total_alone_is_one_number_and_names_no_vertex(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, drawn: list[int], suffix: str
) -> None:
    kite.run("MATCH (v:Person {id: 7}) SET v.id = 700700")  # a key that nothing else looks like
    to = tmp_path / f"out{suffix}"
    code, out, err = pcneo("release", "--mechanism", "total", "-e", "2", "--to", to, "--write-property", "noisy")
    assert (code, out) == (2, "")
    assert "no counts per vertex" in err
    code, out, err = pcneo("release", "--mechanism", "total", "-e", "2", "--to", to)
    assert code == 0, err
    assert drawn == [1, 1]  # C*, then the total
    text, report = to.read_text(), json.loads((tmp_path / "owner" / "out.owner.json").read_text())
    assert "700700" not in text
    if suffix == ".csv":
        record = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("#"))
        assert text.splitlines()[-2:] == ["total", record["total"]]
    else:
        record = json.loads(text)
        assert "counts" not in record
    assert int(record["total"]) == report["total"]
    error = float(record["standardErrorOfTotal"])
    assert f"noisy total {in_two_digits(report['total'])}, standard error {in_two_digits(error)}" in out
    assert report["scales"] == [{"scale": report["scales"][0]["scale"], "numbers": 1}]
    scale = float(record["scale"])
    alpha = math.exp(-1 / scale)
    assert float(record["standardErrorOfTotal"]) == pytest.approx(math.sqrt(2 * alpha) / (1 - alpha))
    assert abs(report["total"] - 3) <= 40 * scale  # passed with a probability of e^-40
    # Of three triangles, (2, 3) lies in two, and takes both away.
    assert report["loss"]["connections"]["largest"] == pytest.approx(2 / scale)
    ((entry,),) = kite.run("MATCH (r:PCohesionRelease) RETURN properties(r)")
    assert [entry.get(name) for name in ("mechanism", "epsilon", "epsilonOne", "run", "h")] == [
        "total", "2/1", "3/5", None, None,
    ]  # fmt: skip
    assert kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v") == []


def test_a_batch_on_two_graphs_spends_for_each(kite: Database, pcneo: Callable[..., Any], tmp_path: Path) -> None:
    kite.put([(10, 11), (11, 12), (10, 12)], label="Robot", type_="LIKES")
    annotate.write(kite.store, p=0.5, selection=Selection("Robot", "LIKES", "id"))
    budget.set_total(kite.store, graph="Robot/LIKES/id", epsilon=1)
    file = tmp_path / "batch.csv"
    file.write_text(
        f"mechanism,epsilon,graph,to\ncritical,1/3,{NAME},{tmp_path / 'a.csv'}\nedge,0.5,{NAME},{tmp_path / 'b.csv'}\n"
        f"critical,1,Robot/LIKES/id,{tmp_path / 'c.csv'}\n"
    )
    code, _, err = pcneo("release", "--batch", file)
    assert code == 2
    assert f"{file}, line 3: " in err
    assert "mostly noise" in err
    code, _, err = pcneo("release", "--batch", file, "--anyway")
    assert code == 0, err
    spent = {shown.graph: shown.account.spent.epsilon for shown in budget.show(kite.store)}
    assert spent == {NAME: Fraction(5, 6), "Robot/LIKES/id": Fraction(1)}
    assert set(read_csv(tmp_path / "c.csv")[1]) == {10, 11, 12}


def test_a_total_without_delta_says_what_cannot_be_released_with_it(
    kite: Database, pcneo: Callable[..., Any], refused: Callable[..., None]
) -> None:
    code, out, err = pcneo("budget", "set", NAME, "--epsilon", "10", "--delta", "0")
    assert (code, out) == (0, f"{NAME}: total ε = 10, δ = 0, spent ε = 0, δ = 0, left ε = 10, δ = 0\n")
    assert "so none of them can be released with δ = 0; --delta sets it" in " ".join(err.split())
    named = set(re.findall(r"`(\w+)`", err))
    promising = [mechanism for mechanism in MECHANISMS.values() if mechanism.protects is not Protects.NOTHING]
    assert named == {of.name for of in promising if "delta" in {field.name for field in fields(of)}}
    for name in named:
        refused(kite, 9, "δ", "--mechanism", name)


def test_a_graph_without_a_run_gets_its_name_where_the_database_leaves_one_choice(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    db.put(KITE)
    options = ["-e", "1", "--mechanism", "edge", "mine"]
    code, _, err = pcneo("release", *options, "--budget-epsilon", "2", "--to", tmp_path / "a.csv")
    assert code == 0, err
    assert pcneo("budget", "set", "mine", "--epsilon", "1", "--delta", "1e-3")[0] == 0
    code, _, err = pcneo("budget", "set", "mine", "--epsilon", "2")
    assert (code, "--delta" in err) == (0, False)  # δ stays as it was
    assert budget.show(db.store)[0].account.total == Cost(Fraction(2), Fraction(1, 1000))
    assert pcneo("release", *options, "--anyway", "--to", tmp_path / "b.csv")[0] == 0
    assert [shown.graph for shown in budget.show(db.store)] == ["mine"]
    assert db.run("MATCH (g:PCohesionGraph) RETURN g.nodeLabels, g.key") == [[["Person"], "id"]]


# --- What is refused leaves no trace


OPTIONS = ["--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id"]
REFUSALS = [
    (["-e", "0"], 2, "epsilon"),
    (["-e", "-1"], 2, "epsilon"),
    (["-e", "nan"], 2, "epsilon"),
    (["-e", "inf"], 2, "epsilon"),
    (["-e", "1", "-k", "2"], 2, "k must be"),
    (["-e", "1", "--mechanism", "laplace"], 2, "laplace"),
    (["-e", "1", "--delta", "0.1"], 2, "no delta"),
    (["-e", "1", "--mechanism", "edge", f"{NAME}@0.5"], 2, "leave run out"),
    (["-e", "1", "--mechanism", "edge", "--delta", "1"], 2, "delta"),
    (["-e", "1", "--mechanism", "edge", "--delta", "nan"], 2, "delta"),
    (["-e", "1e-60", "--mechanism", "edge"], 2, "cannot be drawn"),
    (["-e", "1e-400", "--mechanism", "critical"], 2, "more than 300 digits"),
    (["-e", "1", f"{NAME}@0.3"], 4, f"no run '{NAME}@0.3'; there is"),
    (["-e", "1", "other"], 4, "no run of a whole graph named 'other'"),
    (["-e", "1", "other@1/2"], 4, "no run 'other@1/2'"),
    (["-e", "1", "--mechanism", "edge", "other"], 4, "There is no graph 'other'"),
    (["-e", "1", "--mechanism", "edge", "other", *OPTIONS], 9, f"Use the name {NAME}"),
    (["-e", "1", "--node-label", "Person"], 2, "leave them out"),
    (["-e", "11"], 9, "has ε = 10"),
    (["-e", "6", "-e", "5"], 9, "would spend ε = 11"),
    (["-e", "1", "--mechanism", "edge", "--delta", "0.2"], 9, "left"),
    (["-e", "1", "--budget-epsilon", "20"], 9, "already has another total"),
    (["-e", "1", "--budget-epsilon", "nan"], 2, "epsilon"),
    (["-e", "1", "--write-property", "id"], 4, "already have a property 'id'"),
    (["-e", "1", "-e", "2", "--write-property", "noisy"], 2, "one release"),
    (["-e", "1", "-e", "1.0", "-e", "1"], 2, "written twice"),
    (["-e", "1", "--to", "/no such folder/out.csv"], 2, "cannot be written"),
    (["-e", "1", "--to", "/no such folder/out.txt"], 2, "must end in"),
]


def test_a_refusal_has_its_exit_code_and_changes_nothing(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, drawn: list[int]
) -> None:
    """One database for all of them: each must leave it as it was."""
    before = kite.everything()
    for options, code, says in REFUSALS:
        ended, out, err = pcneo("release", "--mechanism", "critical", "--to", tmp_path / "out.csv", *options)
        assert ended == code, (options, err)
        assert says in err, options
        assert out == "", options
        assert drawn == [], options
        assert list(tmp_path.iterdir()) == [], options
        assert kite.everything() == before, options


@pytest.fixture
def refused(pcneo: Callable[..., Any], drawn: list[int], tmp_path: Path) -> Callable[..., None]:
    """Checks that a release of ε=1 is refused: exit code, message, ledger and files unchanged, no noise drawn."""

    def check(db: Database, code: int, says: str, *options: str) -> None:
        before, files = ledger(db), sorted(tmp_path.iterdir())
        drawn.clear()
        ended, out, err = pcneo(
            "release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "refused.csv", *options
        )
        assert ended == code, err
        assert says in err
        assert out == ""
        assert ledger(db) == before
        assert drawn == []
        assert sorted(tmp_path.iterdir()) == files

    return check


@pytest.mark.parametrize("mechanism", ["critical", "published"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("MATCH (a:Person {id: 1}), (b:Person {id: 7}) CREATE (a)-[:KNOWS]->(b)", "no longer the one"),
        ("MATCH (a:Person {id: 1})-[r:KNOWS]-({id: 2}) DELETE r CREATE (a)-[:HATES]->(a)", "no longer the one"),
        ("MATCH (:Person {id: 2})-[r:IN_COHESION]->() WITH r LIMIT 1 DELETE r", "memberships"),
        ("MATCH (v:Person {id: 7}), (c:PCohesion) WHERE NOT (v)-->(c) WITH v, c LIMIT 1 CREATE (v)-[:IN_COHESION]->(c)",
         "memberships"),
        ("MATCH (c:PCohesion) WITH c LIMIT 1 DETACH DELETE c", "memberships"),
    ],
)  # fmt: skip
def test_a_changed_graph_or_changed_memberships_are_refused(
    papers_kite: Database, refused: Callable[..., None], mechanism: str, change: str, says: str
) -> None:
    papers_kite.run(change)
    refused(papers_kite, 4, says, "--mechanism", mechanism, "--no-promise")


def test_which_of_several_runs_is_meant_must_be_said_and_one_that_nobody_sees_is_none(
    kite: Database, refused: Callable[..., None]
) -> None:
    annotate.write(kite.store, p=0.9, **PERSONS)
    refused(kite, 2, f"Several runs fit: {NAME}@1/2, {NAME}@9/10.")
    kite.run("MATCH (r:PCohesionRun {pText: '9/10'}) SET r.version = 0")
    refused(kite, 4, "no run", f"{NAME}@0.9")


def test_a_run_of_single_vertices_is_no_run_to_release_from(db: Database, refused: Callable[..., None]) -> None:
    db.put(KITE)
    annotate.write(db.store, p=0.5, vertices=[1, 2], **PERSONS)
    refused(db, 4, "no run of a whole graph", "--budget-epsilon", "1")


def test_published_takes_runs_of_the_papers_searches_only(db: Database, refused: Callable[..., None]) -> None:
    db.put(KITE)
    annotate.write(db.store, p=0.5, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=10, delta="0.1")
    refused(db, 2, "takes runs of the search density or degree, as in the paper; run", "--mechanism", "published")


def test_groups_too_large_for_memory_are_refused_and_what_to_do_is_said(
    kite: Database, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcneo.counting.protected.hull.MEMORY", 10)
    refused(kite, 4, "Use a run with a smaller p")
    monkeypatch.undo()
    monkeypatch.setattr("pcneo.counting.protected.pairs.MOST_MEMBERS", 3)
    refused(kite, 4, "Use a mechanism without groups")


def test_a_file_that_is_there_is_never_overwritten(
    kite: Database, refused: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    refused(kite, 2, "never overwrites", "--to", str(tmp_path / "there.csv"))
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_a_simulated_source_of_noise_is_refused(kite: Database, drawn: list[int], tmp_path: Path) -> None:
    class Mine(Noise):
        def _sample(self, scale: float, size: int) -> list[int]:
            return [0] * size

    before = ledger(kite)
    for noise in (SimulatedNoise.seeded(1), Mine()):
        with pytest.raises(ParameterError, match=type(noise).__name__):
            release(
                kite.store,
                requests=[requested(to=tmp_path / "out.csv", mechanism="critical", epsilon=1)],
                noise=noise,
            )
    assert ledger(kite) == before
    assert drawn == []
    assert list(tmp_path.iterdir()) == []
    release(
        kite.store,
        requests=[requested(to=tmp_path / "out.csv", mechanism="critical", epsilon=1)],
        noise=ReleaseNoise(),
    )
    assert sum(drawn) > 0


def test_without_a_total_nothing_is_released(db: Database, refused: Callable[..., None]) -> None:
    db.put(KITE)
    annotate.write(db.store, p=0.5, **PERSONS)
    refused(db, 9, "has no budget yet")


def test_a_name_that_no_graph_has_is_said_to_be_misspelt_where_labels_are_several(
    kite: Database, refused: Callable[..., None], pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    kite.run("CREATE (:Member {no: 1})-[:LIKES]->(:Member {no: 2})")
    said = (
        f"There is no graph '{NAME[:-1]}'; there is '{NAME}'. Did you mean {NAME}? To name a new graph, add "
        "--node-label, --relationship-type and --key."
    )
    refused(kite, 4, said, NAME[:-1], "--mechanism", "edge")
    kite.run("MATCH (graph:PCohesionGraph) DELETE graph")
    refused(kite, 2, "Name the node label", NAME[:-1], "--mechanism", "edge")  # nothing is known


def test_a_graph_that_has_several_names_must_be_named(db: Database, refused: Callable[..., None]) -> None:
    db.put(KITE)
    for name in ("friends", "ours"):
        annotate.write(db.store, graph=name, p=0.5, **PERSONS)
    refused(db, 2, "several names: friends, ours", "--mechanism", "edge", "--budget-epsilon", "1")


def test_what_is_left_is_said_after_a_release(kite: Database, pcneo: Callable[..., Any], tmp_path: Path) -> None:
    arguments = ("release", "--mechanism", "critical", "-e", "3")
    code, out, err = pcneo(*arguments, "--to", tmp_path / "a.csv")
    assert code == 0, err
    assert (
        "This leaves ε = 7, δ = 0.1 of ε = 10, δ = 0.1 for pairs inside the groups. Nothing bounds what this graph's "
        "releases show of other pairs."
    ) in out
    code, out, err = pcneo(*arguments, "--to", tmp_path / "b.csv", "--json")
    (made,) = json.loads(out)
    assert (made["left"]["epsilon"], made["budget"]["epsilon"]) == (4, 10)


def test_a_graph_whose_name_is_freed_before_the_spend_is_refused(
    db: Database, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an `annotate` that fails at that moment does."""
    from pcneo.release import releasing

    def freed(*arguments: Any) -> None:
        spending.enter(*arguments)
        db.run("MATCH (graph:PCohesionGraph) DELETE graph")

    db.put(KITE)
    monkeypatch.setattr(releasing, "enter", freed)
    refused(db, 4, f"There is no graph '{NAME}'", "--mechanism", "edge", "--budget-epsilon", "1")


def test_a_graph_that_another_process_enters_at_the_same_moment_is_refused(
    db: Database, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    merge = Stored.merge_graph

    def second(self: Stored, name: str, selection: Any, fingerprint_key: str) -> Any:
        merge(self, name, selection, "00" * 32)
        return merge(self, name, selection, fingerprint_key)

    db.put(KITE)
    monkeypatch.setattr(Stored, "merge_graph", second)
    refused(db, 6, "Another pcneo has just entered graph", "--mechanism", "edge", "--budget-epsilon", "1")


def test_nobody_spends_while_another_name_over_the_same_data_is_written(
    kite: Database, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or each of the two could find the other without a ledger, and both would get one."""
    annotate.write(kite.store, p=0.5, graph="second", **PERSONS)
    monkeypatch.setattr("pcneo.store.lock.WAIT_SECONDS", 0.1)
    with GraphLock(kite.store, "second"):
        refused(kite, 6, "Another pcneo is writing graph 'second'", NAME)
        with pytest.raises(BusyError, match="'second'"):
            budget.set_total(kite.store, graph=NAME, epsilon=1)


def test_a_misspelt_name_spends_nothing_and_takes_no_ledger_from_the_right_one(
    kite: Database, refused: Callable[..., None]
) -> None:
    misspelt = ["kiet", "--mechanism", "edge", "--budget-epsilon", "1"]
    refused(
        kite,
        4,
        f"There is no graph 'kiet'; there is '{NAME}'.",
        *misspelt,
    )
    refused(kite, 4, "There is no graph 'kiet'", *misspelt, "--dry-run")


@pytest.mark.schema("users")
def test_a_dry_run_says_what_may_be_said_and_writes_nothing(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, drawn: list[int]
) -> None:
    db.put(KITE)
    before = db.everything()
    options = ["--mechanism", "edge", "-e", "1", "--budget-epsilon", "2", "--dry-run", "--json"]
    code, out, err = pcneo("release", *options, "--to", tmp_path / "out.csv")
    assert code == 0, err
    (row,) = json.loads(out)
    assert row["leastScale"] == pytest.approx(3 / 0.64)
    assert row["errorOfACount"] > row["leastScale"]
    assert row["errorOfTotal"] > 0
    assert row["leastErrorOfACount"] is row["mostErrorOfACount"] is None
    assert drawn == []
    assert list(tmp_path.iterdir()) == []
    assert db.everything() == before


def test_a_dry_run_without_a_total_says_so_and_goes_on_and_other_rules_still_refuse(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pcneo")
    db.put(KITE)
    options = ["-e", "1", "--mechanism", "edge", "--to", tmp_path / "a.csv"]
    code, out, err = pcneo("release", *options, "--dry-run", "--json")
    assert code == 0, err
    assert [row["mechanism"] for row in json.loads(out)] == ["edge"]
    assert "has no budget yet" in caplog.text
    code, _, err = pcneo("release", *options)
    assert code == 9
    assert "budget set" not in err  # it would answer that there is no such graph
    annotate.write(db.store, p=0.5, search="density", **PERSONS)
    with pytest.raises(BudgetError, match="promises nothing"):
        released(db, tmp_path / "a.csv", mechanism="published", dry_run=True)


def test_a_dry_run_beyond_the_budget_is_refused_once_it_has_said_what_to_expect(
    kite: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pcneo")
    budget.set_total(kite.store, graph=NAME, epsilon="0.1", delta="1e-5")
    for dry_run in (False, True):
        assert "expect a standard error" not in caplog.text
        with pytest.raises(BudgetError, match=r"has ε = 0\.1, .* left"):
            released(kite, tmp_path / "a.csv", mechanism="edge", dry_run=dry_run)
    assert "expect a standard error of at least" in caplog.text


def test_an_epsilon_without_room_is_refused_whatever_the_mechanism(db: Database, tmp_path: Path) -> None:
    db.put(KITE)
    room = partial(spending.check_room, db.store, Source())
    with pytest.raises(BudgetError, match="has no budget yet"):
        room([Fraction(2), Fraction(1)], Selection(), Terms())
    with pytest.raises(BudgetError, match=r"has ε = 2 left of ε = 2; this would spend ε = 3\. Nothing"):  # no δ yet
        room([Fraction(2), Fraction(1)], Selection(), Terms(budget_epsilon=2))
    annotate.write(db.store, p=0.5, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=2)
    room([Fraction(1)], Selection(), Terms())
    with pytest.raises(BudgetError, match="this would spend ε = 3"):
        room([Fraction(2), Fraction(1)], Selection(), Terms())


def test_a_call_that_sets_the_budget_can_be_made_twice(db: Database, tmp_path: Path) -> None:
    """As a cell of a notebook is run again."""
    db.put(KITE)
    annotate.write(db.store, p=0.5, **PERSONS)
    for name in ("a.csv", "b.csv"):
        released(db, tmp_path / name, mechanism="edge", epsilon="1", budget_epsilon=3, anyway=True)
    (shown,) = budget.show(db.store, graph=NAME)
    assert (shown.account.spent.epsilon, shown.account.total and shown.account.total.epsilon) == (2, 3)
    with pytest.raises(BudgetError, match=r"already has another total, ε = 3"):
        released(db, tmp_path / "c.csv", mechanism="edge", epsilon="1", budget_epsilon=4, anyway=True)


@pytest.mark.parametrize("terms", [Terms(dry_run=True), Terms(no_promise=True)])
def test_what_spends_nothing_or_promises_nothing_needs_no_room_before_a_mechanism_is_named(
    kite: Database, terms: Terms
) -> None:
    spending.check_room(kite.store, Source(), [Fraction(11)], Selection(), terms)


def test_the_owner_is_told_before_the_spend_how_noisy_it_will_be(
    kite: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pcneo")
    released(kite, tmp_path / "elv.csv", mechanism="elv")
    kite.run("MATCH (r:PCohesionRelease) REMOVE r.meanCount")
    released(kite, tmp_path / "critical.csv", mechanism="critical")
    of_elv, expected, naming, _, of_critical, again, spent = caplog.messages
    assert naming == again == "The public file names each vertex by its property 'id', for everyone to see."
    assert of_critical.startswith("For the owner alone: critical, k=3, ε=1: the standard error of a count of triangles")
    assert spent.startswith(f"Entered in the ledger: {NAME} spends ε = 1 (release ")
    assert of_elv.startswith("elv, k=3, ε=1: the scale λ of the noise is itself found with noise, ")
    assert of_elv.endswith("It is at least 3.333.")
    assert "expect a standard error of at least 24 per count and of at least" in expected
    assert "This assumes 10 connections per vertex; such a vertex is often in about 5 triangles, so counts" in expected
    assert "If you know better, give --mean-degree, and --expect" in expected
    caplog.clear()
    released(kite, tmp_path / "c.csv", mechanism="critical", expect=15, mean_degree=4, anyway=True)
    assert "a vertex is in 15 triangles on average, as you expect" in caplog.messages[1]


def test_what_a_release_has_published_in_the_mean_is_said_before_the_next_spend_where_nothing_is_stated(
    kite: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def said(**stated: object) -> str:
        caplog.clear()
        released(kite, tmp_path / f"{len(list(tmp_path.iterdir()))}.csv", mechanism="edge", anyway=True, **stated)
        return caplog.messages[1]

    caplog.set_level("INFO", "pcneo")
    released(kite, tmp_path / "a.csv", mechanism="modelled")
    public = read_release(tmp_path / "a.csv")
    noted = kite.run("MATCH (r:PCohesionRelease) RETURN r.meanCount, r.meanDegree")
    n, degrees = 7, public.columns["degree"]
    says_something = public.total > 3 * public.record["standardErrorOfTotal"]
    mean = pytest.approx(3 * public.total / n) if says_something else None
    assert noted == [[mean, pytest.approx(sum(degrees) / n)]]
    kite.run("MATCH (r:PCohesionRelease) SET r.meanCount = 7.5, r.meanDegree = 3.25")
    assert said().endswith(
        "a vertex is in 7.5 triangles on average, according to an earlier release, at a mean degree of 3.25, according "
        "to an earlier release."
    )
    assert said(expect=15, mean_degree=40).endswith(
        "in 15 triangles on average, as you expect, at a mean degree of 40."
    )
    kite.run("MATCH (r:PCohesionRelease) SET r.meanCount = -7.5, r.meanDegree = 0.0")
    assert "This assumes 10 connections per vertex; such a vertex is often in about 5 triangles, so counts" in said()
    kite.run("MATCH (r:PCohesionRelease {mechanism: 'modelled'}) SET r.meanCount = 'many'")
    with pytest.raises(BudgetError, match="has a meanCount of another kind"):
        said()


def test_no_mean_is_taken_from_a_total_that_is_not_clearly_above_zero(
    kite: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget.set_total(kite.store, graph=NAME, epsilon=200, delta="0.9")
    says_something = False
    for number, epsilon in enumerate(["0.01"] * 6 + [16]):
        if epsilon == 16:  # one time in 265, the noise would leave too little of three triangles
            monkeypatch.setattr(ReleaseNoise, "_sample", lambda _self, _scale, size: [0] * size)
        to = tmp_path / f"{number}.csv"
        entry = released(kite, to, epsilon, mechanism="total", anyway=True)
        ((noted,),) = kite.run("MATCH (r:PCohesionRelease {id: $id}) RETURN r.meanCount", id=entry)
        record = read_release(to).record
        says_something = record["total"] > 3 * record["standardErrorOfTotal"]
        assert noted == (pytest.approx(3 * record["total"] / 7) if says_something else None)
    assert says_something  # of the last


def test_counts_that_an_earlier_release_shows_to_be_noise_are_refused_in_a_script(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    released(kite, tmp_path / "a.csv")
    kite.run("MATCH (r:PCohesionRelease) SET r.meanCount = 7.5, r.meanDegree = 3.25")
    before = ledger(kite)
    options = ["--mechanism", "edge", "-e", "1", "--to", tmp_path / "b.csv"]
    code, out, err = pcneo("release", *options)
    assert (code, out, ledger(kite)) == (2, "", before)
    assert re.search(
        r"a count has a standard error of at least [\d.]+, but is 7\.5 on average, according to an earlier release", err
    )
    assert "Nothing was spent. Give --anyway (in Python `anyway=True`) if you mean it." in err
    assert not (tmp_path / "b.csv").exists()
    assert pcneo("release", *options, "--anyway")[0] == 0


def test_a_release_is_complete_though_its_mean_is_not_noted(
    kite: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise PcneoError("the server is gone.")

    monkeypatch.setattr(published_means, "note_published", fail)
    # It publishes degrees, so it has a mean to note even where the total is noise.
    released(kite, tmp_path / "a.csv", mechanism="modelled")
    assert (tmp_path / "a.csv").is_file()
    assert "has published are not in the ledger: the server is gone." in caplog.text


def test_a_dry_run_of_several_mechanisms_keeps_their_figures_apart_and_says_that_promises_differ(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "batch.csv"
    file.write_text("mechanism,epsilon,to\ncritical,1,a.csv\nedge,1,b.csv\n")
    code, out, err = pcneo("release", "--batch", file, "--dry-run", "--json")
    assert code == 0, err
    critical, edge = json.loads(out)
    assert critical["errorOfACount"] is edge["leastErrorOfACount"] is None
    assert edge["errorOfACount"] > 0
    assert 0 < critical["leastErrorOfACount"] <= critical["mostErrorOfACount"]
    monkeypatch.setenv("COLUMNS", "400")
    _, table, _ = pcneo("release", "--batch", file, "--dry-run")
    assert "of the total, at least" in table
    assert "standard error of a count of triangles, at least" in table
    file.write_text("mechanism,epsilon,to\nedge,1,b.csv\n")
    _, table, alone = pcneo("release", "--batch", file, "--dry-run")
    assert ("triangles" in table, " ε " in table, "epsilon" in table) == (False, True, False)
    assert "At equal ε" not in alone
    private, differ = "Errors of critical follow from the groups, and are for the owner only.", "At equal ε, mechanisms"
    assert f"Nothing was spent. {private} {differ} promise different things." in err.splitlines()
    assert "What critical promises: For someone who knows the groups and all other connections, these" in err
    assert "What edge promises: For someone who knows all other connections, these" in err
    assert pcneo("release", "--batch", file, "--dry-run")[0] == 0


# --- The ledger over time


def released(db: Database, to: Path, epsilon: object = 1, **options: Any) -> str:
    mechanism, graph = options.pop("mechanism", "critical"), options.pop("graph", None)
    request = requested(to=to, epsilon=epsilon, mechanism=mechanism, graph=graph)
    _, (made,) = release(db.store, requests=[request], terms=Terms(**options))
    return made.id


def test_spends_add_up_exactly_to_the_total_and_no_further(
    kite: Database, refused: Callable[..., None], tmp_path: Path
) -> None:
    budget.set_total(kite.store, graph=NAME, epsilon="0.3", delta=0)
    # The total that was set last counts, also where the server's clock was set back meanwhile.
    kite.run("MATCH (b:PCohesionBudget {epsilon: '3/10'}) SET b.at = datetime('2001-01-01')")
    for i in range(3):
        released(kite, tmp_path / f"{i}.csv", "0.1")
    refused(kite, 9, "has ε = 0 left of ε = 0.3; this would spend")
    budget.set_total(kite.store, graph=NAME, epsilon="1.3")
    released(kite, tmp_path / "more.csv", "1")
    (shown,) = budget.show(kite.store, graph=NAME)
    assert [total.epsilon for total in shown.totals] == ["10/1", "3/10", "13/10"]


def test_another_set_of_memberships_must_be_asked_for(
    kite: Database, pcneo: Callable[..., Any], refused: Callable[..., None], tmp_path: Path
) -> None:
    assert "left ε = 10, δ = 0.1; nothing released yet\n" in pcneo("budget", "show")[1]
    released(kite, tmp_path / "a.csv")
    shows = pcneo("budget", "show")[1]
    assert "releases with groups do not protect a pair outside them" in shows
    assert "together change the odds of one connection inside the groups by a factor of at most 2.72." in shows
    annotate.write(kite.store, p=0.9, **PERSONS)
    cleaning.clean(kite.store, run=kite.run("MATCH (r:PCohesionRun {pText: '1/2'}) RETURN r.id")[0][0])
    refused(kite, 9, "another set")
    released(kite, tmp_path / "b.csv", 2, other_groups=True)
    released(kite, tmp_path / "c.csv", 5, mechanism="edge", anyway=True)
    (shown,) = budget.show(kite.store, graph=NAME)
    assert [cost.epsilon for cost in shown.account.sets.values()] == [None, None]
    _, out, _ = pcneo("budget", "show")
    assert "spent ε = 8" in out
    assert "of all sets spends the sum above" in out
    assert "change the odds" not in out
    assert ["not bounded" in line for line in out.splitlines() if " only: " in line] == [True, True]


def test_published_makes_the_total_read_not_bounded(
    papers_kite: Database, pcneo: Callable[..., Any], refused: Callable[..., None], tmp_path: Path
) -> None:
    refused(papers_kite, 9, "--no-promise", "--mechanism", "published")
    released(papers_kite, tmp_path / "a.csv", mechanism="published", no_promise=True)
    assert "spent not bounded" in pcneo("budget", "show")[1]
    assert "promises nothing" in (tmp_path / "a.csv").read_text()
    assert json.loads((tmp_path / "owner" / "a.owner.json").read_text())["left"] is None
    assert "so far: not bounded; total ε = 10, δ = 0.1\n" in (tmp_path / "owner" / "a.owner.md").read_text()
    refused(papers_kite, 9, "not bounded")


def test_an_answer_lost_at_the_spend_sends_the_owner_to_the_ledger_and_not_to_the_same_command(
    kite: Database, pcneo: Callable[..., Any], drawn: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Transaction.commit

    def lose_the_answer(self: Transaction) -> None:
        commit(self)
        with translated():
            raise neo4j.exceptions.IncompleteCommit("connection lost")

    monkeypatch.setattr(Transaction, "commit", lose_the_answer)
    code, out, err = pcneo("release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "a.csv")
    ((spent,),) = kite.run("MATCH (r:PCohesionRelease) RETURN r.id")
    assert (code, out, drawn, list(tmp_path.iterdir())) == (5, "", [], [])
    assert "Run the same command again" not in err
    assert f"If `pcneo budget show` lists release {spent}, that spend is recorded and stays" in err
    assert "running the command again spends again" in err


def test_clean_keeps_the_ledger_and_only_forget_with_the_name_twice_ends_it(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(kite, tmp_path / "a.csv")
    before = ledger(kite)
    code, out, _ = pcneo("clean", "--all", "--yes")
    assert (code, f"Releases rest on 1 of these runs ({NAME}@1/2): the ledger keeps them" in out) == (0, True)
    assert ledger(kite) == before
    monkeypatch.setattr(sys, "stdin", io.StringIO("other\n"))
    assert pcneo("budget", "forget", NAME)[0] == 2
    code, _, err = pcneo("budget", "set", f"{NAME}s", "--epsilon", "1")
    assert (code, f"there is '{NAME}'. Did you mean {NAME}?" in err) == (4, True)
    assert ledger(kite) == before
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{NAME}\n"))
    assert pcneo("budget", "forget", NAME)[0] == 0
    assert ledger(kite) == []


def test_somebody_who_removes_runs_that_releases_rest_on_is_asked(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(kite, tmp_path / "a.csv")
    monkeypatch.setattr(clean, "can_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    code, out, err = pcneo("clean", "--all")
    assert (code, out.strip()) == (1, "")
    assert err.index("Releases rest on 1 of these runs") < err.index("Remove all runs, with all versions?")
    kite.run("MATCH (a:Person)-[r:KNOWS]-() WITH r LIMIT 1 DELETE r")
    annotate.write(kite.store, p=0.5, **PERSONS)  # only an earlier version can be removed alone
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    code, out, err = pcneo("clean", NAME, "--version", "1")  # the beginning of its id alone
    assert (code, out.strip(), f"Remove version 1 of {NAME}@1/2?" in err) == (1, "", True)
    assert [stored.run.id for stored in list_runs(kite.store)] == [f"{NAME}@1/2"]


def test_a_version_that_a_release_rests_on_is_not_removed_unasked(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    made = released(kite, tmp_path / "a.csv")
    kite.run("MATCH (a:Person)-[r:KNOWS]-() WITH r LIMIT 1 DELETE r")
    annotate.write(kite.store, p=0.5, **PERSONS)
    earlier = ("clean", f"{NAME}@1/2", "--version", "1")
    code, out, err = pcneo(*earlier)
    assert (code, out) == (2, "")
    assert f"releases rest on them: {made}. Add --yes to remove it." in " ".join(err.split())
    assert f"releases rest on them: {made}." in " ".join(pcneo(*earlier, "--dry-run")[1].split())
    assert pcneo(*earlier, "--yes")[0] == 0


class Leaving:
    """Somebody who presses Ctrl-C when asked."""

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        signal.raise_signal(signal.SIGINT)
        return "too late"


@pytest.mark.parametrize(
    "command",
    ["clean --all", "budget forget Person/KNOWS/id", "release -e 1 --to b.csv"],
)
def test_ctrl_c_at_a_question_is_an_interruption_and_changes_nothing(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    released(kite, tmp_path / "a.csv")
    before = kite.everything()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", Leaving())
    code, out, err = pcneo(*command.split())
    assert (code, out.strip(), err.splitlines()[-1]) == (130, "", "pcneo: interrupted")
    assert kite.everything() == before
    assert not (tmp_path / "b.csv").exists()


def test_a_changed_graph_does_not_reset_the_ledger_and_a_second_name_gets_none(
    kite: Database, drawn: list[int], tmp_path: Path
) -> None:
    released(kite, tmp_path / "a.csv", 9)
    kite.run("MATCH (a:Person {id: 1}), (b:Person {id: 7}) CREATE (a)-[:KNOWS]->(b)")
    annotate.write(kite.store, p=0.5, graph="second", **PERSONS)
    drawn.clear()
    for action in (
        lambda: budget.set_total(kite.store, graph="second", epsilon=1),
        lambda: release(
            kite.store,
            requests=[requested(to=tmp_path / "b.csv", mechanism="critical", epsilon=1, graph="second")],
            terms=Terms(budget_epsilon=1, other_groups=True),
        ),
    ):
        with pytest.raises(BudgetError, match="shares data"):
            action()
    assert drawn == []


def test_a_second_label_on_the_same_nodes_opens_no_second_budget(
    kite: Database, tmp_path: Path, drawn: list[int]
) -> None:
    kite.run("MATCH (v:Person {id: 1}) SET v:Member")
    kite.index("Member")
    members: dict[str, Any] = {"selection": Selection("Member", "KNOWS", "id")}
    annotate.write(kite.store, p=0.5, graph="members", **members)
    budget.set_total(kite.store, graph="members", epsilon=1)  # one node is no pair
    kite.run("MATCH (v:Person) SET v:Member")
    annotate.write(kite.store, p=0.5, graph="members", **members)
    before = ledger(kite)
    for action in (
        lambda: budget.set_total(kite.store, graph="members", epsilon=2),
        lambda: released(kite, tmp_path / "b.csv", graph="members"),
        lambda: released(kite, tmp_path / "b.csv", graph=NAME),
    ):
        with pytest.raises(BudgetError, match="shares data"):
            action()
    assert (ledger(kite), drawn) == (before, [])


def test_deleting_a_graphs_node_frees_nobody_of_what_it_has_spent(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, drawn: list[int]
) -> None:
    released(kite, tmp_path / "a.csv", 9)
    drawn.clear()
    kite.run("MATCH (g:PCohesionGraph) DETACH DELETE g")
    kite.run("MATCH (r:PCohesionRun) DETACH DELETE r")
    _, out, _ = pcneo("budget", "show")
    assert f"{NAME}: total ε = 10" in out
    assert "spent ε = 9" in out
    assert "no longer knows this graph" in out
    assert json.loads(pcneo("budget", "show", NAME, "--json")[1])[0]["lost"] is True
    edge = ("release", "--mechanism", "edge", "--budget-epsilon", "5", "-e", "2", "--to", tmp_path / "b.csv")
    code, _, err = pcneo(*edge, "fresh")
    assert (code, drawn) == (9, [])
    assert NAME in err
    annotate.write(kite.store, p=0.5, graph="second", **PERSONS)
    code, _, err = pcneo("budget", "set", "second", "--epsilon", "5")
    assert code == 9
    code, _, err = pcneo("release", "--mechanism", "edge", "-e", "2", "--to", tmp_path / "b.csv", NAME)
    assert code == 9
    assert "has ε = 1, δ = 0.1 left of ε = 10" in err
    assert drawn == []


def test_every_parameter_of_a_release_can_be_read_back_from_the_ledger_and_the_report(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "batch.csv").write_text(
        f"to,mechanism,epsilon,epsilon_1,delta,h\n{tmp_path / 'a.csv'},elv,3,1/7,1/1000,2\n"
    )
    code, _, err = pcneo("release", "--batch", tmp_path / "batch.csv")
    assert code == 0, err
    released(kite, tmp_path / "b.csv")
    out = pcneo("budget", "show")[1]
    assert f"{NAME}: total ε = 10, δ = 0.1, spent ε = 4, δ = 0.001, left ε = 6, δ = 0.099" in out
    code, out_of_set, err = pcneo("budget", "set", NAME, "--epsilon", "3", "--delta", "0.1")
    assert (code, out_of_set) == (0, f"{NAME}: total ε = 3, δ = 0.1, spent ε = 4, δ = 0.001, left ε = 0, δ = 0.099\n")
    assert "More than that has already been spent; every release will be refused until you raise the total." in err
    code, out_of_set, err = pcneo("budget", "set", NAME, "--epsilon", "10", "--delta", "0.1")
    assert (code, "already been spent" in err) == (0, False)
    assert "epsilon" not in out
    (shown,) = json.loads(pcneo("budget", "show", "--json")[1])
    assert shown["left"]["epsilon"] == 6
    of_elv, of_critical = shown["releases"]
    names = ("epsilonExact", "epsilon1Exact", "deltaExact", "h")
    assert [of_elv[name] for name in names] == ["3", "1/7", "0.001", 2]
    assert of_critical["epsilon1"] is of_critical["h"] is None
    assert ",1/7," in pcneo("budget", "show", "--csv")[1]
    report = (tmp_path / "owner" / "a.owner.md").read_text()
    assert "- k=3, ε=3, ε1=1/7, δ=0.001, h=2\n" in report
    assert "- Mechanism elv, run by each vertex and a collector" in report
    report = (tmp_path / "owner" / "b.owner.md").read_text()
    assert "- k=3, ε=1, δ=0\n" in report
    assert "run by the owner, who sees the whole graph" in report


def test_the_ledger_says_of_answers_how_many_vertices_they_are_about_and_of_what_draws_none_nothing(
    kite: Database, tmp_path: Path
) -> None:
    released(kite, tmp_path / "a.csv")
    released(kite, tmp_path / "b.csv", mechanism="edge", anyway=True)
    (shown,) = budget.show(kite.store, graph=NAME)
    of_answers, of_edge = shown.releases
    assert (of_answers.mechanism, of_answers.vertices) == ("critical", 7)
    assert of_answers.threshold is not None
    assert of_answers.keys_hash is not None
    assert (of_edge.vertices, of_edge.threshold, of_edge.keys_hash) == (None, None, None)


def test_the_noise_level_follows_from_what_the_mechanism_looks_at(
    papers_kite: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an ε1 so large that phase 1 draws 0 and pads by 0, λ tells what was bounded: 3·bound/ε2.

    Two vertices of the kite share 2 neighbours at most. Vertex 4 has the largest degree, 4, and is asked first, then 2,
    3 and 6 of degree 3, and so on. Inside MC(v) no degree is above 2; if all are asked, the bound is 1.
    """
    monkeypatch.setattr("pcneo.privacy.mechanisms.base.MOST_EPSILON", 1_000)
    budget.set_total(papers_kite.store, graph=NAME, epsilon=10_000, delta="0.1")
    cases = [("edge", None, 2), ("elv", 3, 3), ("elv", 4, 2), ("published", 3, 2), ("published", 7, 1)]
    for mechanism, h, bound in cases:
        to = tmp_path / f"{mechanism}{h}.csv"
        wanted = requested(to=to, mechanism=mechanism, epsilon=800, epsilon_1=400, h=h)
        release(papers_kite.store, requests=[wanted], terms=Terms(no_promise=True))
        (scale,) = json.loads((to.parent / "owner" / to.with_suffix(".owner.json").name).read_text())["scales"]
        assert (Fraction(scale["scale"]), scale["vertices"]) == (Fraction(3 * bound, 400), 7), (mechanism, h)


# --- The property


def test_a_property_is_written_over_only_where_it_is_ours_and_clean_removes_it(kite: Database, tmp_path: Path) -> None:
    first = released(kite, tmp_path / "a.csv", write_property="noisy")
    second = released(kite, tmp_path / "b.csv", write_property="noisy", mechanism="edge", anyway=True)
    noted = dict(kite.run("MATCH (r:PCohesionRelease) RETURN r.id, r.property"))
    assert noted == {first: None, second: "noisy"}
    assert dict(kite.run("MATCH (v:Person) RETURN v.id, v.noisy")) == read_csv(tmp_path / "b.csv")[1]
    cleaned = cleaning.clean(kite.store)
    assert cleaned.properties == ("noisy",)
    assert kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v") == []
    assert dict(kite.run("MATCH (r:PCohesionRelease) RETURN r.id, r.property")) == {first: None, second: None}


def test_forget_removes_the_property_that_nothing_would_tell_to_be_ours_any_more(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(kite, tmp_path / "a.csv", write_property="noisy")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{NAME}\n"))
    code, out, _ = pcneo("budget", "forget", NAME)
    assert (code, "removed the property noisy" in out) == (0, True)
    assert kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v") == []
    budget.set_total(kite.store, graph=NAME, epsilon=1)
    released(kite, tmp_path / "b.csv", write_property="noisy")


def test_a_property_is_written_for_a_recorded_release_alone_and_under_the_graphs_lock(
    kite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = kite.store
    (graph,) = store.list_graphs()
    counts: dict[Key, int] = dict.fromkeys(range(1, 8), 5)
    with pytest.raises(WriteMismatchError, match="no longer in the ledger"):
        properties.write_property(store, graph, "noisy", "forgotten", counts)
    monkeypatch.setattr("pcneo.store.lock.WAIT_SECONDS", 0.1)
    with GraphLock(store, NAME), pytest.raises(BusyError):
        properties.write_property(store, graph, "noisy", "forgotten", counts)
    assert kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v") == []


def test_a_property_that_somebody_changed_is_neither_written_over_nor_removed(
    kite: Database, refused: Callable[..., None], tmp_path: Path
) -> None:
    released(kite, tmp_path / "a.csv", write_property="noisy")
    kite.run("MATCH (v:Person {id: 3}) SET v.noisy = v.noisy + 1")
    before = kite.users_own()
    refused(kite, 4, "already have a property 'noisy'", "--write-property", "noisy")
    cleaned = cleaning.clean(kite.store)
    assert (cleaned.properties, cleaned.kept_properties) == ((), ("noisy",))
    assert budget.forget(kite.store, graph=NAME, again=NAME).kept_properties == ("noisy",)
    assert [node[2] for node in kite.users_own()[0]] == [node[2] for node in before[0]]


def test_a_record_that_has_lost_its_hash_says_nothing_of_whose_a_property_is(
    kite: Database, refused: Callable[..., None], tmp_path: Path
) -> None:
    released(kite, tmp_path / "a.csv", write_property="noisy")
    kite.run("MATCH (r:PCohesionRelease) REMOVE r.propertyHash")
    kite.run("MATCH (v:Person) SET v.noisy = 'mine'")
    refused(kite, 4, "already have a property 'noisy'", "--write-property", "noisy")
    cleaned = cleaning.clean(kite.store)
    assert (cleaned.properties, cleaned.kept_properties) == ((), ("noisy",))
    assert {value for (value,) in kite.run("MATCH (v:Person) RETURN v.noisy")} == {"mine"}


def test_a_property_that_cannot_be_written_whole_is_not_written_at_all_and_the_file_is(
    kite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pcneo.store import count_property

    whole = count_property._set_values

    def half(transaction: Any, names: Any, counts: Any) -> None:
        whole(transaction, names, dict(list(counts.items())[:3]))
        raise PcneoError("The connection broke.")

    monkeypatch.setattr(count_property, "_set_values", half)
    with pytest.raises(PcneoError, match=r"'noisy' was not written: The connection broke.*a\.csv\.$"):
        released(kite, tmp_path / "a.csv", write_property="noisy")
    assert kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v") == []
    assert kite.run("MATCH (r:PCohesionRelease) RETURN r.property") == [[None]]
    assert len(read_csv(tmp_path / "a.csv")[1]) == 7


# --- Writes that fail after the spend


@pytest.fixture
def unwritable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the writing of files with some names fail; the name is there by then, as after a race."""
    link = os.link

    def refuse(name: str) -> None:
        def refusing(source: Path, to: Path) -> None:
            if to.name == name:
                to.write_text("somebody else's")
            link(source, to)

        monkeypatch.setattr(os, "link", refusing)

    return refuse


def test_of_a_release_whose_public_file_cannot_be_written_it_is_said_what_there_is(
    kite: Database, tmp_path: Path, unwritable: Callable[[str], None]
) -> None:
    unwritable("a.csv")
    with pytest.raises(
        PcneoError, match=r"a\.csv cannot.*recorded, and its numbers are lost\. Written: .*a\.owner\.md\.$"
    ):
        released(kite, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "somebody else's"
    unwritable("b.csv")
    with pytest.raises(PcneoError, match=r"b\.csv cannot be written.*recorded\. Written: .*the property 'noisy'\.$"):
        released(kite, tmp_path / "b.csv", write_property="noisy")
    assert len(kite.run("MATCH (v:Person) WHERE v.noisy IS NOT NULL RETURN v")) == 7
    assert len(kite.run("MATCH (r:PCohesionRelease) RETURN r")) == 2


def test_a_report_that_cannot_be_written_does_not_cost_the_numbers(
    kite: Database, tmp_path: Path, unwritable: Callable[[str], None]
) -> None:
    unwritable("a.owner.json")
    with pytest.raises(PcneoError, match=r"a\.owner\.json cannot be written.*recorded\. Written.*a\.csv\.$"):
        released(kite, tmp_path / "a.csv")
    assert len(read_csv(tmp_path / "a.csv")[1]) == 7


def test_the_promises_of_those_that_were_released_are_printed_where_another_of_the_batch_fails(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, unwritable: Callable[[str], None]
) -> None:
    unwritable("a-k3-e1.csv")
    code, out, err = pcneo("release", "--mechanism", "critical", "-e", "1", "-e", "2", "--to", tmp_path / "a.csv")
    assert code == 1
    assert "a-k3-e1.csv cannot be written: File exists" in err
    assert "a-k3-e2.csv: noisy total" in out
    assert "Given the stored groups" in out
    assert "a-k3-e1.csv" not in out


def test_no_answer_to_the_question_after_a_failed_write_gives_up_that_release_alone(
    kite: Database,
    pcneo: Callable[..., Any],
    tmp_path: Path,
    unwritable: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with Ctrl-C, or the end of input."""

    def confirm(question: str, **_: object) -> bool:
        questions.append(question)
        raise typer.Abort

    questions: list[str] = []
    unwritable("a-k3-e1.csv")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(typer, "confirm", confirm)
    code, out, err = pcneo("release", "--mechanism", "critical", "-e", "1", "-e", "2", "--to", tmp_path / "a.csv")
    assert code == 1
    assert ["Try again with the same numbers?" in question for question in questions] == [True]
    assert "stays recorded, and its numbers are lost" in err
    assert "a-k3-e2.csv: noisy total" in out
    assert len(read_csv(tmp_path / "a-k3-e2.csv")[1]) == 7


@pytest.mark.parametrize("what", ["signal.SIGTERM", "signal.SIGHUP", "signal.SIGINT"])
def test_a_signal_after_the_spend_waits_until_what_is_paid_for_is_written(
    kite: Database, server: Any, tmp_path: Path, what: str
) -> None:
    """It comes where noise is drawn, the first thing after the spend; in a process of its own."""
    code = "import signal, sys; from pcneo.cli.main import main; from pcneo.release import releasing\n"
    code += (
        f"draw = releasing._draw\ndef once(*a): releasing._draw = draw; signal.raise_signal({what}); return draw(*a)\n"
    )
    code += "releasing._draw = once; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "release", "--mechanism", "critical", "-e", "1", "-e", "2",
         "--to", tmp_path / "a.csv"],
        capture_output=True, text=True, env={**os.environ, **server.environment}, timeout=120,
    )  # fmt: skip
    assert ended.returncode == {"signal.SIGTERM": 143, "signal.SIGHUP": 129, "signal.SIGINT": 130}[what], ended.stderr
    assert "so its files are written first" in ended.stderr
    assert f"finished and written: {tmp_path / 'a-k3-e1.csv'}, {tmp_path / 'a-k3-e2.csv'}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sum(path.is_file() for path in tmp_path.rglob("*.*")) == 7  # with the folder's .gitignore
    assert len(read_csv(tmp_path / "a-k3-e2.csv")[1]) == 7
    assert len(kite.run("MATCH (r:PCohesionRelease) RETURN r")) == 2


def test_a_signal_before_the_spend_ends_a_release_that_spent_nothing(
    kite: Database, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = ledger(kite)
    monkeypatch.setattr("pcneo.release.releasing.prepare", lambda *_: signal.raise_signal(signal.SIGTERM))
    code, _, err = pcneo("release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "a.csv")
    assert (code, err.splitlines()[-1]) == (143, "pcneo: interrupted by SIGTERM")
    assert ledger(kite) == before
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_the_spend_is_not_committed_costs_nothing(
    kite: Database, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It comes after the checks, where the spend may have waited for somebody's lock."""
    before, create = ledger(kite), spending.create_release

    def interrupted(*arguments: Any) -> None:
        create(*arguments)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(spending, "create_release", interrupted)
    code, _, err = pcneo("release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "a.csv")
    assert (code, "paid for" in err) == (130, False)
    assert ledger(kite) == before
    assert not [path for path in tmp_path.rglob("*") if path.name != ".gitignore" and path.is_file()]


@pytest.mark.parametrize("at", ["releasing.draw_answers", "releasing.public_text"])
def test_what_no_one_expected_after_the_spend_is_a_sentence_and_holds_up_no_other_release(
    kite: Database, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at: str
) -> None:
    batch, real = tmp_path / "batch.csv", getattr(releasing, at.removeprefix("releasing."))
    batch.write_text(f"mechanism,epsilon,to\ncritical,1,{tmp_path / 'a.csv'}\ntotal,1,{tmp_path / 'b.csv'}\n")
    failures = iter([MemoryError()])

    def fails_once(*arguments: Any) -> Any:
        for failure in failures:
            raise failure
        return real(*arguments)

    monkeypatch.setattr(f"pcneo.release.{at}", fails_once)
    code, out, err = pcneo("release", "--batch", batch, "--anyway")
    assert code == 1
    assert err.count(f"Writing {tmp_path / 'a.csv'} failed: there is not enough memory.") == 1
    assert "stays recorded" in err
    assert "Traceback" not in err
    assert "b.csv" in out
    assert (tmp_path / "b.csv").exists()
    assert not (tmp_path / "a.csv").exists()


def test_no_one_is_asked_to_try_again_with_numbers_that_could_not_be_drawn(
    kite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory, asked = MemoryError(), list[PcneoError]()

    def fails(*_: object) -> None:
        raise memory

    monkeypatch.setattr(releasing, "draw_answers", fails)
    wanted = requested(mechanism="critical", epsilon=1, answers="keep", to=tmp_path / "a.csv")
    with pytest.raises(PcneoError, match=r"not enough memory\. The spend of \w+ \w+ stays recorded, and its") as failed:
        release(kite.store, requests=[wanted], retry=lambda error: bool(asked.append(error)))
    assert asked == []
    assert failed.value.__cause__ is not None
    assert failed.value.__cause__.__cause__ is memory


def test_how_many_connections_the_groups_hold_is_computed_once_and_before_the_spend(
    kite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    releases: list[int] = []
    count = read_graph.pairs_in_groups_of_two

    def counted(*arguments: Any) -> int:
        releases.append(len(kite.run("MATCH (r:PCohesionRelease) RETURN r")))
        return count(*arguments)

    monkeypatch.setattr(read_graph, "pairs_in_groups_of_two", counted)
    released(kite, tmp_path / "a.csv")
    assert releases == [0]
    assert "insideInGroupsOfTwo" in (tmp_path / "owner" / "a.owner.json").read_text()


def test_a_folder_for_the_owner_that_is_a_link_to_nowhere_is_refused_before_the_spend(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    before = ledger(kite)
    (tmp_path / "owner").symlink_to(tmp_path / "nowhere")
    code, _, err = pcneo("release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "a.csv")
    assert (code, "owner" in err) == (2, True)
    assert ledger(kite) == before


def test_a_second_ctrl_c_does_not_wait(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def interrupt_twice(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pcneo.release.releasing._draw", interrupt_twice)
        code, _, _ = pcneo("release", "--mechanism", "critical", "-e", "1", "--to", tmp_path / "a.csv")
    assert code == 130
    assert "A second Ctrl-C loses the numbers" in caplog.text
    assert list(tmp_path.iterdir()) == []
    assert len(kite.run("MATCH (r:PCohesionRelease) RETURN r")) == 1


def test_a_signal_at_the_question_after_a_failed_write_is_a_no_and_the_rest_is_written(
    kite: Database, pcneo: Callable[..., Any], tmp_path: Path, unwritable: Callable[[str], None], monkeypatch: Any
) -> None:
    unwritable("a-k3-e1.csv")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    code, out, err = pcneo("release", "--mechanism", "critical", "-e", "1", "-e", "2", "--to", tmp_path / "a.csv")
    assert code == 1
    assert "stays recorded, and its numbers are lost" in err
    assert "a-k3-e2.csv: noisy total" in out
    assert len(read_csv(tmp_path / "a-k3-e2.csv")[1]) == 7


@pytest.mark.parametrize("out", ["/dev/full", "ascii"])
def test_a_release_that_succeeded_says_so_where_its_answer_cannot_be_printed(
    kite: Database, server: Any, tmp_path: Path, out: str
) -> None:
    environment = {**os.environ, **server.environment, **({"PYTHONIOENCODING": "ascii"} if out == "ascii" else {})}
    with Path("/dev/full" if out == "/dev/full" else os.devnull).open("w") as stdout:
        ended = subprocess.run(
            [sys.executable, "-m", "pcneo", "release", "--mechanism", "critical", "-e", "1",
             "--to", tmp_path / "a.csv"],
            stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, timeout=120,
        )  # fmt: skip
    assert ended.returncode == (10 if out == "/dev/full" else 0), ended.stderr
    assert f"Released for the public: {tmp_path / 'a.csv'}; for you alone: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(read_csv(tmp_path / "a.csv")[1]) == 7


def test_an_interruption_at_the_password_is_one(
    pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def prompt(*_: object, **__: object) -> str:
        raise typer.Abort

    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    monkeypatch.delenv("NEO4J_PASSWORD_FILE", raising=False)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(typer, "prompt", prompt)
    code, _, err = pcneo("runs")
    assert code == 130
    assert "interrupted" in err


def test_a_file_that_comes_while_the_graph_is_read_is_noticed_before_the_spend(
    kite: Database, drawn: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = ledger(kite)

    def prepare_slowly(*arguments: Any) -> Any:
        (tmp_path / "a.csv").write_text("somebody else's")
        return prepare(*arguments)

    monkeypatch.setattr("pcneo.release.releasing.prepare", prepare_slowly)
    with pytest.raises(ParameterError, match="exists"):
        released(kite, tmp_path / "a.csv")
    assert (ledger(kite), drawn) == (before, [])
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
