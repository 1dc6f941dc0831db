"""`audit` on a real Neo4j, against the plain twins; nothing is spent, drawn or written."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from itertools import combinations
from typing import Any

import naive
import numpy as np
import pytest
from graphs import Database, two_hubs
from outside_graphs import outside_graph

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, NotFoundError, ParameterError, PcneoError
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.noise import ReleaseNoise
from pcneo.release import Source
from pcneo.release.audit import MEANING, NOTICE, AuditResult, AuditRow, audit

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
P, EPSILON = Fraction(1, 2), Fraction(7, 10)
TABLE = [
    "zeros", "exact degrees", "exact counts", "critical", "critical, answers published", "respond",
    "respond, answers published", "modelled", "total", "edge", "elv", "published",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_noise_of_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an audit drew a release's noise")

    monkeypatch.setattr(ReleaseNoise, "_sample", refuse)
    monkeypatch.setattr(ReleaseNoise, "_bytes", refuse)
    monkeypatch.setattr(ReleaseNoise, "__init__", refuse)


def edges_of(seed: int, n: int = 20, share: float = 0.3) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return [(10 * a, 10 * b) for a, b in combinations(range(n), 2) if rng.random() < share]


@pytest.fixture
def friends(db: Database) -> naive.Graph:
    """A graph with cohesions for p = 1/2."""
    edges = edges_of(4)
    db.put(edges)
    annotate.write(db.store, p="1/2", search="density", **PERSONS)  # which `published` takes, too
    return naive.graph_of(edges)


def audited(db: Database, **options: Any) -> AuditResult:
    source = Source(**{name: options.pop(name) for name in ("graph", "p", "search", "run") if name in options})
    return audit(db.store, **{"epsilon": "0.7", **options}, source=source)


def rows_of(result: AuditResult) -> dict[str, AuditRow]:
    return {row.name: row for row in result.rows}


def connections(graph: naive.Graph) -> list[naive.Edge]:
    return [(a, b) for a in graph for b in graph[a] if a < b]


# --- The table


@pytest.mark.parametrize("k", [3, 4])
def test_the_table_has_every_mechanism_beside_what_is_no_release(db: Database, friends: naive.Graph, k: int) -> None:
    before = db.everything()
    result = audited(db, k=k)
    rows, counts, m = rows_of(result), naive.clique_counts(friends, k), len(connections(friends))
    assert list(rows) == TABLE
    assert {name for name, row in rows.items() if row.refused} == ({"modelled"} if k == 4 else set())
    assert (result.notice, result.meaning, result.p, result.k) == (NOTICE, MEANING, "1/2", k)
    assert (result.vertices, result.connections, result.total) == (len(friends), m, sum(counts.values()) // k)
    assert result.threshold == pytest.approx(math.log(len(friends) / (2 * m / len(friends))))
    groups = [naive.minimal_p_cohesion(friends, P, v) for v in friends]
    inside = [pair for pair in connections(friends) if pair in naive.pairs_inside(groups)]
    assert result.inside == pytest.approx(len(inside) / m)
    zeros = rows["zeros"]
    assert zeros.error == pytest.approx(sum(counts.values()) / len(friends))
    assert zeros.error_of_total == result.total
    assert zeros.found == pytest.approx(m / math.comb(len(friends), 2))
    assert (rows["exact counts"].error, rows["exact degrees"].error) == (0, None)
    for row in rows.values():
        shares = (row.found, row.found_with_groups, row.found_of_protected)
        assert all(0 <= share <= 1 for share in shares if share is not None)
        if row.refused is None:
            assert (row.found is None) == (row.name == "critical, answers published")
            assert None not in shares[1:]
    assert audited(db, k=k) == result  # with a seed
    assert db.everything() == before


def test_what_a_connection_loses_stands_beside_the_promise(db: Database, friends: naive.Graph) -> None:
    rows = rows_of(audited(db, k=4))
    f = naive.flip_chance(EPSILON)
    for name in ("critical", "respond"):
        assert rows[name].costliest == pytest.approx([math.log((1 - f) / f)] * 3)
    most = max(4 * naive.clique_support(friends, 4, pair) for pair in connections(friends))
    for name, part in (("edge", Fraction(61, 100)), ("elv", Fraction(9, 10))):
        low, median, high = rows[name].costliest or (0, 0, 0)
        assert 0 < low <= median <= high <= EPSILON * part  # what finding λ leaves
        assert most / median == pytest.approx(round(most / median * float(EPSILON * part)) / float(EPSILON * part))
    assert rows["critical"].promise == "ε=0.7: a pair inside a group, given the rest"
    assert rows["edge"].promise == "ε=0.7, δ=1e-6: any one connection"
    assert rows["published"].promise == "nothing"


def test_of_modelled_counts_whose_noise_has_several_scales_no_loss_is_said(db: Database, friends: naive.Graph) -> None:
    rows = rows_of(audited(db, k=3))
    assert rows["modelled"].costliest is None
    assert rows["edge"].costliest is not None


def costliest_of_published(db: Database, adjacency: naive.Graph) -> tuple[float, float, float]:
    """At p = 0.1 and ε = 10, of which ε2 = 9 is promised to each connection."""
    db.put(connections(adjacency))
    annotate.write(db.store, p="0.1", **PERSONS, search="density")
    rows = rows_of(audited(db, epsilon=10, delta=Fraction(1, len(adjacency))))
    return rows["published"].costliest or (0, 0, 0)


def test_the_worst_connection_of_two_hubs_loses_six_times_what_is_promised(db: Database) -> None:
    low, median, high = costliest_of_published(db, naive.graph_of(two_hubs(298)))
    assert 52.5 <= median <= 54.5
    assert 45 <= low <= 47.5
    assert 58 <= high <= 61


def test_the_worst_connection_of_celegans_loses_18_in_the_median_where_9_are_promised(db: Database) -> None:
    low, median, high = costliest_of_published(db, naive.read_edges(outside_graph("celegans_metabolic.edges.gz")))
    assert 17.5 <= median <= 18.5
    assert 15.5 <= low <= 16.6
    assert 19.0 <= high <= 20.1


# --- What cannot be had


def test_what_one_mechanism_refuses_does_not_stand_in_the_way_of_others(
    db: Database, friends: naive.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(audited(db, k=5))
    assert "from 3 to 4" in (rows["respond"].refused or "")
    assert rows["edge"].found is not None
    rows = rows_of(audited(db, epsilon="0.0001"))
    assert "from 0.001 to 16" in (rows["critical"].refused or "")
    with pytest.raises(ParameterError, match=r"from 0\.001 to 16"):
        audited(db, epsilon=20)
    monkeypatch.setattr("pcneo.counting.protected.hull.MEMORY", 100)
    rows = rows_of(audited(db))
    assert "pairs of vertices" in (rows["critical"].refused or "")
    assert "critical, answers published" not in rows
    assert rows["published"].error is not None


def test_a_run_that_a_mechanism_does_not_take_is_why_it_is_left_out_and_nothing_is_advised(
    db: Database, friends: naive.Graph
) -> None:
    run = annotate.write(db.store, p="1/2", search="smallest", **PERSONS).runs[0].run
    why = rows_of(audited(db, epsilon="1", run=run))["published"].refused
    assert why == (
        f"The mechanism published takes runs of the search density or degree, as in the paper; run {run} is of the "
        "search smallest."
    )


def test_without_a_run_there_are_no_groups(db: Database) -> None:
    db.put(edges_of(4))
    result = audited(db)
    assert {row.name for row in result.rows if row.refused} == {"critical", "published"}
    assert all(row.found_with_groups is row.found_of_protected is None for row in result.rows)
    assert (result.run, result.inside) == (None, None)
    with pytest.raises(NotFoundError):
        audited(db, p="1/2")


def test_where_pairs_are_too_many_to_be_ranked_there_are_errors_alone(
    db: Database, friends: naive.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(audited(db))
    monkeypatch.setattr("pcneo.release.audit.attacked.MOST_VERTICES", len(friends) - 1)
    result = audited(db)
    assert result.attacked == 0
    for name, row in rows_of(result).items():
        assert row.found is row.found_with_groups is row.found_of_protected is None
        assert (row.error, row.error_of_total) == (before[name].error, before[name].error_of_total)


REFUSED: list[tuple[dict[str, Any], type[PcneoError], str]] = [
    ({"epsilon": "0"}, ParameterError, "epsilon must be"),
    ({"epsilon": "nan"}, ParameterError, "epsilon must be"),
    ({"epsilon": None}, ParameterError, "epsilon"),
    ({"k": 2}, ParameterError, "k must be"),
    ({"p": "0.3"}, NotFoundError, "run"),
    ({"graph": "nobody"}, NotFoundError, "nobody"),
]


def test_what_every_mechanism_refuses_an_audit_refuses(db: Database, friends: naive.Graph) -> None:
    for options, error, match in REFUSED:
        with pytest.raises(error, match=match):
            audited(db, **options)


def test_a_graph_that_moved_since_the_run_is_refused(db: Database, friends: naive.Graph) -> None:
    a, b = next(pair for pair in combinations(sorted(friends), 2) if pair[1] not in friends[pair[0]])
    db.run("MATCH (a:Person {id: $a}), (b:Person {id: $b}) CREATE (a)-[:KNOWS]->(b)", a=a, b=b)
    with pytest.raises(GraphChangedError):
        audited(db)


# --- The command


@pytest.fixture
def command(db: Database, server_in_environment: None) -> Any:
    from pcneo.cli.audit import audit as audit_command

    return audit_command


def test_the_first_line_says_that_it_is_for_the_owner_alone(
    db: Database, friends: naive.Graph, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command(epsilons=["0.7"])
    out = capsys.readouterr().out
    assert out.splitlines()[0] == NOTICE
    assert "Do not publish" in out.splitlines()[0]
    rows = {line.split()[1] for line in out.splitlines() if line.startswith("│")}
    left_out = {line.split()[0] for line in out.splitlines() if "is not in the table" in line}
    assert {"zeros", "degrees", "counts", *MECHANISMS} <= rows | left_out
    assert "+ answers" in out
    assert "lower bound" in out


def test_json_begins_with_the_notice(
    db: Database, friends: naive.Graph, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command(epsilons=["0.7"], as_json=True)
    out = capsys.readouterr().out
    plain = json.loads(out)
    assert next(iter(plain)) == "notice"
    assert plain["notice"] == NOTICE
    assert [row["name"] for row in plain["rows"]] == TABLE
    assert {"errorOfTotal", "foundWithGroups", "foundOfProtected"} <= set(plain["rows"][3])
    assert not re.findall(r'"\w*_\w*":', out)  # names are camelCase, within too
    assert "Infinity" not in out
