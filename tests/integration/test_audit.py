"""`audit` on a real Neo4j, against the plain twins; nothing is spent, drawn or written."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import naive
import neo4j
import numpy as np
import pytest
import typer
from graphs import Database, two_hubs
from outside_graphs import outside_graph

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, GraphError, NotFoundError, ParameterError, PcneoError
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.noise import ReleaseNoise
from pcneo.release import GraphRequest
from pcneo.release.audit import NOTICE, AuditResult, attack, audit

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
P, EPSILON = Fraction(1, 2), Fraction(7, 10)


@pytest.fixture
def db(neo4j_driver: neo4j.Driver, empty_database: str) -> Database:
    return Database(neo4j_driver, empty_database)


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
    resample, progress = options.pop("resample", 0), options.pop("progress", None)
    request = GraphRequest(**{"mechanism": "critical", "epsilon": "0.7", **options})
    return audit(db.store, request=request, resample=resample, progress=progress)


# --- The twin


def memberships(graph: naive.Graph) -> dict[naive.Vertex, set[naive.Vertex]]:
    return {v: naive.minimal_p_cohesion(graph, P, v) for v in graph}


def connections(graph: naive.Graph) -> list[naive.Edge]:
    return [(a, b) for a in graph for b in graph[a] if a < b]


# --- `critical`


@pytest.mark.parametrize("k", [3, 4])
def test_every_pair_inside_groups_costs_the_loss_of_one_answer(db: Database, friends: naive.Graph, k: int) -> None:
    result = audited(db, k=k)
    f, inside = naive.flip_chance(EPSILON), result.inside
    assert inside is not None
    assert inside.pairs == len(naive.pairs_inside(memberships(friends).values()))
    assert inside.quantiles == pytest.approx([math.log((1 - f) / f)] * 4)
    assert inside.promised == 0.7
    assert inside.quantiles[-1] <= 0.7
    assert (result.connections, result.scales, result.removals) == (None, None, None)


def test_shares_exact_counts_and_what_it_rests_on_are_told(db: Database, friends: naive.Graph) -> None:
    result = audited(db)
    pairs = naive.pairs_inside(memberships(friends).values())
    inside = [pair for pair in connections(friends) if pair in pairs]
    assert result.covered == pytest.approx(len(inside) / len(connections(friends)))
    assert result.protected == pytest.approx(len(pairs) / math.comb(len(friends), 2))
    every = naive.cliques(naive.with_pairs(friends, pairs), 3)
    touched = [clique for clique in every if pairs & set(combinations(sorted(clique), 2))]
    assert result.exact == len(friends) - len(set().union(*touched))
    assert (result.notice, result.p, result.search, result.mechanism) == (NOTICE, "1/2", "density", "critical")
    assert [fit.mechanism for fit in result.fits] == ["critical", "edge", "elv"]
    assert result.fits[0].relative == pytest.approx(
        result.fits[0].expected / (sum(naive.clique_counts(friends, 3).values()) / 3)
    )
    assert result.removals is None


def test_an_audit_leaves_the_database_as_it_was(db: Database, friends: naive.Graph) -> None:
    before = db.everything()
    for mechanism in ("critical", "edge", "elv", "published"):
        audited(db, mechanism=mechanism, resample=1)
    assert db.everything() == before


def test_no_further_connection_is_removed_once_patience_is_over_and_the_number_done_is_told(
    db: Database, friends: naive.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1_000, 25))
    monkeypatch.setattr("pcneo.release.audit.removals.time", SimpleNamespace(monotonic=lambda: next(clock)))
    steps: list[tuple[str, int, int | None]] = []
    removals = audited(db, mechanism="published", resample=9, progress=lambda *step: steps.append(step)).removals
    assert removals is not None
    assert len(removals.removed) == 2  # begun after 25 and 50 seconds; the third would be after 75
    assert [step for step in steps if step[0] == "removing"][-1] == ("removing", 2, 9)


def test_repeating_an_audit_repeats_its_numbers(db: Database, friends: naive.Graph) -> None:
    first, second = (audited(db, mechanism="published", resample=3) for _ in range(2))
    assert first.removals is not None
    assert second.removals is not None
    assert first.removals.removed == second.removals.removed
    assert (first.fits, first.inside, first.connections) == (second.fits, second.inside, second.connections)


# --- One scale


@pytest.mark.parametrize("mechanism", ["edge", "elv"])
def test_losses_at_one_scale_are_supports_over_it(db: Database, friends: naive.Graph, mechanism: str) -> None:
    result = audited(db, mechanism=mechanism, k=4)
    assert result.scales is not None
    assert result.connections is not None
    expected = sorted(4 * naive.clique_support(friends, 4, pair) for pair in connections(friends))
    assert result.connections.quantiles[-1] == pytest.approx(float(expected[-1] / result.scales.median))
    assert result.connections.largest == pytest.approx(
        [float(expected[-1] / t) for t in (result.scales.high, result.scales.median, result.scales.low)]
    )
    promised = EPSILON * (Fraction(61, 100) if mechanism == "edge" else Fraction(9, 10))  # what finding λ leaves
    assert result.connections.promised == pytest.approx(float(promised))
    assert result.connections.quantiles[-1] <= promised
    assert (result.run, result.inside, result.covered, result.removals) == (None, None, None, None)
    assert [fit.mechanism for fit in result.fits] == ["edge", "elv"]


def test_edge_is_compared_with_critical_on_the_groups_of_a_run_that_is_named(
    db: Database, friends: naive.Graph
) -> None:
    result = audited(db, mechanism="edge", p="0.5")
    assert (result.inside, result.removals) == (None, None)
    assert result.covered is not None
    assert "critical" in [fit.mechanism for fit in result.fits]


@pytest.mark.parametrize("mechanism", ["edge", "published"])
def test_what_critical_is_refused_for_does_not_stand_in_the_way_of_others(
    db: Database, friends: naive.Graph, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    monkeypatch.setattr("pcneo.counting.protected.hull.MEMORY", 100)
    result = audited(db, mechanism=mechanism, p="0.5")
    assert "critical cannot be had. The groups of run" in result.advice
    assert [fit.mechanism for fit in result.fits] == ["edge", "elv"]
    assert result.covered is not None
    assert result.connections is not None
    assert result.connections.promised == pytest.approx(0.427 if mechanism == "edge" else 0.63)
    with pytest.raises(GraphError, match="pairs of vertices"):
        audited(db, mechanism="critical")


def test_the_first_phase_of_published_is_compared_after_a_removal(db: Database, friends: naive.Graph) -> None:
    result = audited(db, mechanism="published", resample=6, h=2)
    assert result.removals is not None
    t_d, t_c = 4 / (EPSILON / 10), 2 * 2 / (EPSILON / 10)
    assert result.removals.promised == pytest.approx(0.07)
    groups = memberships(friends)
    for removal in result.removals.removed:
        smaller = naive.graph_of((pair for pair in connections(friends) if pair != removal.pair), isolated=friends)
        later = memberships(smaller)
        degrees = sum(abs(len(friends[v] & groups[v]) - len(smaller[v] & later[v])) for v in friends)
        common = sorted(
            abs(naive.largest_common_inside(friends, v, groups[v]) - naive.largest_common_inside(smaller, v, later[v]))
            for v in friends
        )
        assert removal.worst == pytest.approx(float(degrees / t_d + sum(common[-2:]) / t_c))
        assert removal.mean is None


def found_of_published(db: Database, adjacency: naive.Graph) -> AuditResult:
    """At p = 0.1 and ε = 10, of which ε2 = 9 is promised to each connection."""
    db.put(connections(adjacency))
    annotate.write(db.store, p="0.1", search="density", **PERSONS)
    result = audited(db, mechanism="published", epsilon=10, delta=Fraction(1, len(adjacency)), h=3)
    assert result.scales is not None
    assert result.scales.phases == 1_000
    assert result.connections is not None
    assert result.connections.promised == 9
    return result


def test_the_worst_connection_of_two_hubs_loses_six_times_what_is_promised(db: Database) -> None:
    result = found_of_published(db, naive.graph_of(two_hubs(298)))
    assert result.connections is not None
    low, median, high = result.connections.largest or (0, 0, 0)
    assert 52.5 <= median <= 54.5
    assert 45 <= low <= 47.5
    assert 58 <= high <= 61
    assert result.connections.worst[0].pair == (0, 1)


def test_the_worst_connection_of_celegans_loses_18_in_the_median_where_9_are_promised(db: Database) -> None:
    result = found_of_published(db, naive.read_edges(outside_graph("celegans_metabolic.edges.gz")))
    assert result.connections is not None
    low, median, high = result.connections.largest or (0, 0, 0)
    assert 17.5 <= median <= 18.5
    assert 15.5 <= low <= 16.6
    assert 19.0 <= high <= 20.1
    expected = {"edge": 0.0925, "elv": 0.118}  # mean error: √(2/π) standard errors, near enough
    for fit in result.fits[1:]:
        assert fit.relative is not None
        assert fit.relative * math.sqrt(2 / math.pi) == pytest.approx(expected[fit.mechanism], rel=0.05)


# --- Refusals


REFUSED: list[tuple[dict[str, Any], type[PcneoError], str]] = [
    ({"epsilon": "0"}, ParameterError, "epsilon must be"),
    ({"epsilon": "nan"}, ParameterError, "epsilon must be"),
    ({"delta": "0.1"}, ParameterError, "critical has no delta"),
    ({"mechanism": "best"}, ParameterError, "mechanism must be one of"),
    ({"mechanism": "best", "p": "0.5"}, ParameterError, "mechanism must be one of"),
    ({"mechanism": "edge", "h": 3}, ParameterError, "edge has no h"),
    ({"k": 2}, ParameterError, "k must be"),
    ({"resample": -1}, ParameterError, "resample must be 0 or more"),
    ({"p": "0.3"}, NotFoundError, "run"),
    ({"graph": "nobody"}, NotFoundError, "There is no run of a whole graph named 'nobody'"),
]


def test_what_a_release_refuses_an_audit_refuses(db: Database, friends: naive.Graph) -> None:
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
def command(db: Database, server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    from pcneo.cli.audit import audit as audit_command

    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return audit_command


@pytest.mark.parametrize("mechanism", ["critical", "published", "edge"])
def test_the_first_line_says_that_it_is_for_the_owner_alone(
    db: Database, friends: naive.Graph, command: Any, capsys: pytest.CaptureFixture[str], mechanism: str
) -> None:
    command("0.7", mechanism=mechanism, resample=2)
    out = capsys.readouterr().out
    assert out.splitlines()[0] == NOTICE
    assert "Do not publish" in out.splitlines()[0]
    assert ("Costliest connections" in out) == (mechanism != "critical")
    assert "expected standard error of the total" in out
    assert ("connections removed, each alone" in out) == (mechanism == "published")


def test_json_begins_with_the_notice(
    db: Database, friends: naive.Graph, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command("0.7", resample=2, as_json=True)
    out = capsys.readouterr().out
    plain = json.loads(out)
    assert next(iter(plain)) == "notice"
    assert plain["notice"] == NOTICE
    assert plain["inside"]["promised"] == 0.7
    assert plain["connections"] is plain["removals"] is None
    assert "usual" in plain["fits"][0]
    assert not re.findall(r'"\w*_\w*":', out)  # names are camelCase, within too
    assert "Infinity" not in out


# --- The attacker


def test_an_attack_takes_every_mechanism_says_what_is_refused_and_leaves_nothing(
    db: Database, friends: naive.Graph
) -> None:
    before = db.everything()
    result = attack(db.store, request=GraphRequest(epsilon=2))
    n, m = len(friends), sum(map(len, friends.values())) // 2
    assert (result.vertices, result.connections, result.epsilon) == (n, m, 2)
    assert result.threshold == pytest.approx(math.log(n / (2 * m / n)))
    assert result.notice == NOTICE
    assert [row.mechanism for row in result.attacked] == list(MECHANISMS)
    of = {row.mechanism: row for row in result.attacked}
    assert all(row.refused is None for row in result.attacked)
    assert {name for name, row in of.items() if row.with_groups is not None} == {"critical", "published"}
    assert {name for name, row in of.items() if row.error is None} == {"total"}
    assert (of["total"].share, result.exact.guessing) == (pytest.approx(m / math.comb(n, 2)),) * 2
    assert all(0 < (row.share or 0) <= 1 for row in result.attacked)
    assert attack(db.store, request=GraphRequest(epsilon=2)) == result  # with a seed

    larger = {row.mechanism: row for row in attack(db.store, request=GraphRequest(epsilon=2, k=5)).attacked}
    assert "from 3 to 4" in (larger["respond"].refused or "")
    assert larger["respond"].share is None
    assert larger["edge"].share is not None
    dear = {row.mechanism: row for row in attack(db.store, request=GraphRequest(epsilon=20)).attacked}
    assert "from 0.001 to 16" in (dear["respond"].refused or "")
    assert "from 0.001 to 16" in (dear["critical"].refused or "")
    assert db.everything() == before


def test_without_a_run_mechanisms_with_groups_are_left_out(db: Database) -> None:
    db.put(edges_of(4))
    result = attack(db.store, request=GraphRequest(epsilon=1))
    assert {row.mechanism for row in result.attacked if row.refused} == {"critical", "published"}
    assert result.run is None
    with pytest.raises(NotFoundError):
        attack(db.store, request=GraphRequest(epsilon=1, p="1/2"))


@pytest.mark.parametrize("epsilon", [0, "nan", None, -1])
def test_an_attack_refuses_an_epsilon_that_every_mechanism_refuses(db: Database, epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        attack(db.store, request=GraphRequest(epsilon=epsilon))


def test_an_attack_on_too_many_vertices_is_refused_before_they_are_read(
    db: Database, friends: naive.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcneo.release.audit.attacked.MOST_VERTICES", len(friends) - 1)
    monkeypatch.setattr("pcneo.release.audit.attacking.read_for_release", lambda *_: pytest.fail("the graph was read"))
    with pytest.raises(ParameterError, match="the graph has 20"):
        attack(db.store, request=GraphRequest(epsilon=1))


def test_the_attack_is_a_table_with_errors_beside_it(
    db: Database, friends: naive.Graph, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command("0.7", attack=True)
    out = capsys.readouterr().out
    assert out.splitlines()[0] == NOTICE
    assert "A lower bound" in out
    assert "mean error of a count" in out
    assert all(name in out for name in MECHANISMS)
    with pytest.raises(typer.BadParameter, match="leave --mechanism and --resample out"):
        command("0.7", attack=True, mechanism="edge")
