"""`annotate` on a real Neo4j: what is written, streamed, described and estimated, against the plain twins."""

from __future__ import annotations

import hashlib
import math
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import naive
import neo4j
import pytest
from graphs import Database, cycle

from pcneo import __version__, annotate
from pcneo.annotate import writing
from pcneo.annotate.plan import make_plan
from pcneo.annotate.supply import Frontier
from pcneo.basics.model import FoundCohesion
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, KeyPropertyError, NotFoundError, ParameterError
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_rows
from pcneo.search import REVISION, search_all
from pcneo.store import reading
from pcneo.stored import cleaning, runs

NAME = "Person/KNOWS/id"
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}

ELEVEN = ["af", "fg", "gb", "ab", "ac", "ad", "ae", "ei", "id", "bd", "bc", "bh", "cd", "ch", "dh", "dj", "hj", "jk"]


def write(db: Database, p, **options) -> annotate.WriteResult:
    return annotate.write(db.store, p=p, **{**PERSONS, **options})


def stream(db: Database, p, **options) -> list[FoundCohesion]:
    return list(annotate.stream(db.store, p=p, **{**PERSONS, **options}))


def random_edges(seed: int, vertices: int = 40, edges: int = 110) -> list[tuple[int, int]]:
    """Pairs in any direction, with repetitions and self-loops, over keys far apart, negative ones too."""
    rng = random.Random(seed)
    keys = rng.sample(range(-1_000, 1_000_000), vertices)
    return [(rng.choice(keys), rng.choice(keys)) for _ in range(edges)]


def twins(graph: naive.Graph, p: Fraction, search: str = "smallest") -> dict:
    if search == "smallest":  # whose twin takes seconds a vertex, and is compared with it elsewhere
        return {v: set(c.members) for v, c in in_memory(graph, p).items()}
    return {v: naive.minimal_p_cohesion(graph, p, v, search) for v in graph}


def in_memory(graph: naive.Graph, p: Fraction) -> dict[Any, FoundCohesion]:
    built = graph_from_rows((v, list(graph[v])) for v in graph)
    return {c.vertex: c for c in search_all(built, p, "smallest").cohesions()}


def edges_inside(graph: naive.Graph, members: set) -> int:
    return sum(len(graph[v] & members) for v in members) // 2


def record(db: Database, run: str) -> dict:
    """What is recorded of a run and of the version that readers go by."""
    ((standing, version),) = db.run(
        "MATCH (r:PCohesionRun {id: $run}) MATCH (v:PCohesionVersion {run: $run, version: r.version}) "
        "RETURN properties(r), properties(v)",
        run=run,
    )
    assert version.pop("run") == standing["id"]
    return {**version, **standing}


# --- What is stored


@pytest.mark.parametrize("search", ["smallest", "density", "degree"])
@pytest.mark.parametrize("p", ["1/3", "0.55", "0.999"])
def test_every_cohesion_is_stored_as_the_twin_finds_it(db, p, search):
    edges, isolated = random_edges(seed=7), [-5_000, 2_000_000]
    db.put(edges, isolated)
    graph = naive.graph_of(edges, isolated)
    (run,) = write(db, p, search=search).runs
    stored = db.cohesions(run.run)
    assert {v: sorted(cohesion.members) for v, cohesion in stored.items()} == {
        v: sorted(members) for v, members in twins(graph, Fraction(p), search).items()
    }
    flags = dict.fromkeys(graph, (False, False))
    if search == "smallest":
        flags = {v: (c.proven, c.best) for v, c in in_memory(graph, Fraction(p)).items()}
    for vertex, hub in stored.items():
        size, inside = len(hub.members), edges_inside(graph, set(hub.members))
        assert vertex in hub.members
        assert hub.properties == {
            "run": run.run,
            "p": float(Fraction(p)),
            "search": search,
            "size": size,
            "edges": inside,
            "density": pytest.approx(2 * inside / (size * (size - 1)) if size > 1 else 0.0, rel=1e-15),
            "proven": flags[vertex][0],
            "best": flags[vertex][1],
            "from": 1,
            "until": 2**53 - 1,
            "owner": int.from_bytes(keyed_hash(db, [vertex], 8), "little", signed=True),
            "digest": keyed_hash(db, [vertex, *sorted(hub.members)], 16).hex(),
        }


def keyed_hash(db: Database, keys: list[int], size: int) -> bytes:
    """So many bytes of BLAKE2b, under the graph's key, of keys that are integers: kind, length and value of each."""
    ((secret,),) = db.run("MATCH (g:PCohesionGraph) RETURN g.fingerprintKey")
    hashed = hashlib.blake2b(key=bytes.fromhex(secret), digest_size=size)
    for key in keys:
        hashed.update(b"i" + (8).to_bytes(8, "little") + key.to_bytes(8, "little", signed=True))
    return hashed.digest()


def test_the_eleven_vertices_with_letters_as_keys_give_the_known_answers(db):
    db.put((a, b) for a, b in ELEVEN)
    result = write(db, 0.6)
    members = db.members(result.runs[0].run)
    assert members["a"] == set("abcdh")
    assert members["j"] == set("bcdhj")
    assert (result.vertices, result.edges) == (11, 18)


def test_the_shipped_graph_written_and_read_again_is_what_the_search_computes(db):
    twin = naive.read_edges(sample_path())
    db.put((a, b) for a in twin for b in twin[a] if a < b)
    graph = graph_from_rows((v, sorted(neighbours)) for v, neighbours in twin.items())
    result = write(db, ["0.3", "0.5"])
    assert (result.node_count, result.relationship_count) == (800, 6_418)
    for run in result.runs:
        computed = {c.vertex: c for c in search_all(graph, run.search.p).cohesions()}
        stored = db.cohesions(run.run)
        assert {v: tuple(sorted(cohesion.members)) for v, cohesion in stored.items()} == {
            v: cohesion.members for v, cohesion in computed.items()
        }
        assert {
            v: (cohesion.properties["edges"], cohesion.properties["density"]) for v, cohesion in stored.items()
        } == {v: (cohesion.edges, cohesion.density) for v, cohesion in computed.items()}
    assert [(v.graph_same, v.memberships_same) for v in db.verified()] == [(True, True)] * 2


def test_a_run_record_says_what_was_read_and_written(db):
    db.put([*random_edges(seed=1), (1_000_001, 1_000_001)])
    graph = naive.graph_of([*random_edges(seed=1), (1_000_001, 1_000_001)])
    ((before,),) = db.run("RETURN datetime()")
    result = write(db, Fraction(1, 3), search="degree")
    ((after,),) = db.run("RETURN datetime()")
    stored = record(db, result.runs[0].run)
    started, finished = stored.pop("startedAt"), stored.pop("finishedAt")
    assert before <= started <= finished <= after
    fingerprint, membership_hash = stored.pop("fingerprint"), stored.pop("membershipHash")
    assert len(bytes.fromhex(fingerprint)) == len(bytes.fromhex(membership_hash)) == 32
    assert stored == {
        "id": result.runs[0].run,
        "graph": "Person/KNOWS/id",
        "scope": "graph",
        "p": 1 / 3,
        "pText": "1/3",
        "search": "degree",
        "nodeCount": len(graph),
        "relationshipCount": 111,
        "vertices": len(graph),
        "edges": edges_inside(graph, set(graph)),
        "memberships": sum(map(len, db.members(result.runs[0].run).values())),
        "cohesions": len(graph),
        "added": len(graph),
        "retired": 0,
        "readable": True,
        "revision": REVISION,
        "effort": 1,
        "version": 1,
        "pcneo": __version__,
        "fromFiles": False,
    }
    assert result.relationships_written == stored["memberships"] + stored["vertices"]
    assert (result.runs[0].summary.cohesions, result.runs[0].summary.memberships) == (
        len(graph),
        stored["memberships"],
    )
    assert min(result.pre_processing_millis, result.compute_millis, result.write_millis) >= 0


def test_a_misspelt_keyword_is_refused_and_writes_nothing(db):
    db.put([(1, 2)])
    misspelt: Any = {"verticess": [1]}
    with pytest.raises(TypeError, match="verticess"):
        annotate.write(db.store, p="1/2", **misspelt)
    assert db.store.list_graphs() == []


def test_the_graph_is_entered_once_under_its_default_name_or_the_one_given(db):
    db.put(cycle(5))
    write(db, 0.3)
    write(db, 0.5)
    write(db, 0.3, graph="the ring of five")
    rows = db.run(
        "MATCH (g:PCohesionGraph) RETURN g.name, g.nodeLabels, g.relationshipTypes, g.key, size(g.fingerprintKey) "
        "ORDER BY g.name"
    )
    assert rows == [[name, ["Person"], ["KNOWS"], "id", 64] for name in ("Person/KNOWS/id", "the ring of five")]
    db.run("MATCH (v:Person) SET v.other = v.id")
    for mode in (annotate.stats, annotate.estimate, lambda *to, **names: list(annotate.stream(*to, **names))):
        assert mode(db.store, p=0.3, graph="the ring of five")
        with pytest.raises(NotFoundError, match=r"no graph 'the ring'; there are .*'the ring of five'"):
            mode(db.store, p=0.3, graph="the ring")
        with pytest.raises(GraphError, match="already stands for Person/KNOWS/id"):
            mode(db.store, p=0.3, graph="the ring of five", selection=Selection(key="other"))
    with pytest.raises(GraphError, match="already stands for Person/KNOWS/id"):
        annotate.write(
            db.store,
            p=0.3,
            graph="the ring of five",
            selection=Selection("Person", "KNOWS", "other"),
            create_index=True,
        )


def test_the_fingerprint_is_the_same_for_the_same_graph_and_moves_with_it(db):
    db.put(cycle(6))
    first = record(db, write(db, 0.3).runs[0].run)["fingerprint"]
    assert record(db, write(db, 0.6).runs[0].run)["fingerprint"] == first
    assert record(db, write(db, 0.3, graph="other").runs[0].run)["fingerprint"] != first
    db.run("MATCH (a {id: 0}), (b {id: 3}) CREATE (a)-[:KNOWS]->(b)")
    assert record(db, write(db, 0.3).runs[0].run)["fingerprint"] != first


# --- What a run replaces


def test_a_second_annotate_brings_only_the_run_of_the_same_graph_p_score_and_scope_up_to_date(db):
    db.put(random_edges(seed=3))
    vertex = db.run("MATCH (v:Person) RETURN min(v.id)")[0][0]
    first = write(db, 0.3).runs[0]
    others = {
        write(db, 0.4).runs[0].run,
        write(db, 0.3, search="degree").runs[0].run,
        write(db, 0.3, graph="other").runs[0].run,
        write(db, 0.3, vertices=[vertex]).runs[0].run,
    }
    assert others == {f"{NAME}@2/5", f"{NAME}@3/10:degree", "other@3/10", f"{NAME}@3/10:vertices"}
    kept = {run: (record(db, run), db.cohesions(run)) for run in others}
    db.run("MATCH (v:Person {id: $id})-[r:KNOWS]-() DELETE r", id=vertex)
    second = write(db, "3/10").runs[0]
    assert (first.run, second.run) == (f"{NAME}@3/10", f"{NAME}@3/10")
    assert second.version > first.version
    assert db.versions().keys() == {second.run, *others}
    assert {run: (record(db, run), db.cohesions(run)) for run in others} == kept
    assert len(db.cohesions(second.run)) == db.run("MATCH (v:Person) RETURN count(v)")[0][0]


def test_numbers_of_versions_are_the_graphs_and_none_is_used_twice_even_after_clean(db):
    db.put(cycle(6))
    assert [run.version for run in write(db, ["0.3", "0.6"]).runs] == [1, 1]
    assert [run.version for run in write(db, 0.4).runs] == [2]
    cleaning.clean(db.store)
    assert [run.version for run in write(db, 0.3).runs] == [3]
    assert [run.version for run in write(db, 0.3, graph="other").runs] == [1]


def test_an_annotated_node_is_deleted_with_detach_as_readme_and_guide_say(db):
    db.put([(1, 2), (2, 3), (3, 1)], isolated=[4])
    write(db, "1/2")
    delete = "MATCH (v:Person {id: 4}) DELETE v"
    with pytest.raises(neo4j.exceptions.ConstraintError, match="still has relationships"):
        db.run(delete)
    db.run(delete.replace("DELETE", "DETACH DELETE"))
    (run,) = write(db, "1/2").runs
    assert (run.added, run.retired) == (0, 1)
    assert db.all_hubs() == 4


def test_where_nothing_has_changed_nothing_is_written(db):
    db.put(random_edges(seed=3))
    write(db, ["0.3", "0.5"])
    before = db.everything()
    result = write(db, ["0.3", "0.5"])
    assert [(run.changed, run.version, run.added, run.retired) for run in result.runs] == [(False, 1, 0, 0)] * 2
    assert result.relationships_written == 0
    assert db.everything() == before
    assert result.runs[0].summary == annotate.stats(db.store, p="0.3", **PERSONS).summaries["3/10"]


def test_a_change_that_leaves_every_cohesion_as_it_was_makes_a_version_of_the_new_graph(db):
    db.put([(1, 2), (2, 3), (1, 3)])
    write(db, 0.3)
    db.put([], isolated=[9])
    db.run("MATCH (v:Person {id: 9}) DETACH DELETE v")
    assert not write(db, 0.3).runs[0].changed
    db.put([], isolated=[9])
    run = write(db, 0.3).runs[0]
    assert (run.changed, run.added, run.retired) == (True, 1, 0)


def test_without_p_every_standing_run_of_the_graph_is_brought_up_to_date(db, caplog):
    caplog.set_level("INFO", "pcneo")
    db.put(cycle(6))
    write(db, ["0.3", "0.6"])
    write(db, 0.3, search="degree")
    write(db, 0.3, vertices=[1])
    db.put([(0, 9)])
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 9}) WITH a, b LIMIT 1 MERGE (a)-[:KNOWS]->(b)")
    db.run("MATCH (v:Person {id: 0}) WITH v ORDER BY elementId(v) SKIP 1 DETACH DELETE v")
    result = annotate.write(db.store, graph=NAME)
    assert {run.run for run in result.runs} == {f"{NAME}@3/10", f"{NAME}@3/5", f"{NAME}@3/10:degree"}
    assert len({run.version for run in result.runs if run.changed}) == 1
    assert "the default" not in caplog.text
    first = annotate.write(db.store, graph="nobody", **PERSONS)
    assert [run.run for run in first.runs] == ["nobody@3/10"]  # a graph without runs gets the first of them
    assert "Using p=3/10, the default." in caplog.messages


def test_annotating_further_vertices_adds_or_replaces_their_hubs_and_touches_nothing_else(db):
    db.put(random_edges(seed=3))
    a, b, c, d = (row[0] for row in db.run("MATCH (v:Person) RETURN v.id ORDER BY v.id LIMIT 4"))
    whole = write(db, 0.3).runs[0].run
    elsewhere = {
        write(db, 0.3, search="degree", vertices=[a, b]).runs[0].run,
        write(db, 0.4, vertices=[a, b]).runs[0].run,
        write(db, 0.3, graph="other", vertices=[a, b]).runs[0].run,
    }
    kept = {run: (record(db, run), db.cohesions(run)) for run in {whole, *elsewhere}}
    first = write(db, 0.3, vertices=[c, a, b]).runs[0]
    second = write(db, 0.3, vertices=[b, d]).runs[0]
    assert first.run == second.run == f"{NAME}@3/10:vertices"
    assert (second.added, second.retired) == (1, 0)  # b's cohesion is as it was
    assert db.members(second.run) == {v: db.members(whole)[v] for v in (a, b, c, d)}
    assert record(db, second.run)["memberships"] == sum(len(db.members(whole)[v]) for v in (a, b, c, d))
    assert not write(db, 0.3, vertices=[d, a]).runs[0].changed
    db.run("MATCH (v:Person {id: $id})-[r:KNOWS]-() DELETE r", id=b)
    third = write(db, 0.3, vertices=[b]).runs[0]
    assert (third.added, third.retired) == (1, 1)
    assert db.members(third.run)[b] == {b}
    assert {run: (record(db, run), db.cohesions(run)) for run in kept} == kept
    verified = {v.run.id: (v.graph_same, v.memberships_same) for v in db.verified()}
    assert verified == {run: (False if run == whole else None, True) for run in (*kept, first.run)}


def test_a_graph_run_leaves_runs_of_vertices_alone(db):
    db.put(cycle(6))
    few = write(db, 0.3, vertices=[1, 2]).runs[0].run
    whole = write(db, 0.3).runs[0].run
    assert db.versions() == {few: 1, whole: 2}
    assert db.hubs() == {few: 2, whole: 6}


def test_a_run_of_vertices_records_its_scope_no_fingerprint_and_only_what_it_read(db):
    db.put([*cycle(50), (100, 101)])
    result = write(db, 0.6, vertices=["100"])
    stored = record(db, result.runs[0].run)
    assert (stored["scope"], stored.get("fingerprint")) == ("vertices", None)
    assert (stored["nodeCount"], stored["relationshipCount"]) == (52, 51)
    assert (stored["vertices"], stored["edges"], stored["memberships"]) == (2, 1, 2)
    assert db.members(result.runs[0].run) == {100: {100, 101}}


# --- What is read


def test_several_p_share_one_read_and_become_visible_together(db):
    db.put(random_edges(seed=4))
    complete_reads = []
    (before,) = write(db, "1/3").runs

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "reading" and done == total:
            complete_reads.append(total)
        if stage.startswith("writing"):
            assert {run for run, version in db.versions().items() if version} == {before.run}

    result = write(db, ["1/3", "0.5", 0.9, "3/6"], progress=progress)
    assert [str(run.search.p) for run in result.runs] == ["1/3", "1/2", "9/10"]
    assert complete_reads == [result.vertices]
    graph = naive.graph_of(random_edges(seed=4))
    for run in result.runs:
        assert db.members(run.run) == twins(graph, Fraction(run.search.p))
    assert db.versions() == {before.run: 1, **{run.run: 2 for run in result.runs[1:]}}


@pytest.mark.parametrize("p", [0.3, "0.3", "3/10", "6/20", Fraction(3, 10)], ids=repr)
def test_p_is_known_by_its_fraction_however_it_is_written(db, p):
    db.put(cycle(5))
    result = write(db, p)
    assert str(result.runs[0].search.p) == record(db, result.runs[0].run)["pText"] == "3/10"
    assert record(db, result.runs[0].run)["p"] == 0.3


def test_only_the_chosen_labels_and_types_make_the_graph_and_a_node_with_both_labels_is_one_vertex(db):
    db.run(
        "CREATE (a:Person {id: 1}), (b:Robot {id: 2}), (c:Person:Robot {id: 3}), (d:Person {id: 4}), (x:Cat {id: 5}) "
        "CREATE (a)-[:KNOWS]->(b), (b)-[:BUILT]->(c), (c)-[:KNOWS]->(a), (c)-[:BUILT]->(a), (d)-[:BUILT]->(c), "
        "(a)-[:FEEDS]->(d), (x)-[:KNOWS]->(a), (d)-[:KNOWS]->(x), (x)-[:BUILT]->(c)"
    )
    db.index("Person")
    db.index("Robot")
    graph = naive.graph_of([(1, 2), (2, 3), (1, 3), (3, 4)])
    names: dict[str, Any] = {"selection": Selection(["Robot", "Person"], ["KNOWS", "BUILT"])}
    result = write(db, 0.6, **names)
    assert result.graph == "Person|Robot/BUILT|KNOWS/id"
    assert (result.vertices, result.edges) == (4, 4)
    assert db.members(result.runs[0].run) == twins(graph, Fraction(3, 5))
    assert {c.vertex: set(c.members) for c in stream(db, 0.6, vertices=[4, 3, 2, 1], **names)} == twins(
        graph, Fraction(3, 5)
    )
    only = stream(db, 0.6)
    assert {c.vertex: set(c.members) for c in only} == twins(naive.graph_of([(1, 3)], [4]), Fraction(3, 5))


def test_parallel_relationships_both_directions_and_self_loops_change_nothing(db):
    edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (4, 5)]
    noisy = [*edges, (1, 2), (2, 1), (3, 2), (3, 3), (3, 3), (5, 5), (6, 6)]
    db.put(noisy)
    expected = twins(naive.graph_of(edges, [6]), Fraction(3, 5))
    result = write(db, 0.6)
    assert db.members(result.runs[0].run) == expected
    assert (result.vertices, result.edges, result.relationship_count) == (6, 6, len(noisy))
    streamed = stream(db, 0.6, vertices=list(expected))
    assert {c.vertex: (set(c.members), c.edges) for c in streamed} == {
        v: (members, edges_inside(naive.graph_of(edges, [6]), members)) for v, members in expected.items()
    }


def test_a_vertex_without_neighbours_is_its_own_cohesion_and_counts_in_no_density(db):
    db.put([], [3, 1, 2])
    db.run("CREATE (:Cat)-[:KNOWS]->(:Cat)")
    result = write(db, 0.5)
    assert db.members(result.runs[0].run) == {1: {1}, 2: {2}, 3: {3}}
    assert {
        (h.properties["size"], h.properties["edges"], h.properties["density"])
        for h in db.cohesions(result.runs[0].run).values()
    } == {(1, 0, 0.0)}
    assert result.runs[0].summary.densities is None
    assert db.verified()[0].memberships_same


STRANGE_KEYS = ["", " ", "10", "9", "007", "é", "e\u0301", "\uffff", "\U00010000", "z", "Z", "'\"`", "\x01", "a\tb"]


@pytest.mark.parametrize("page", [2, 3, 5_000])
def test_string_keys_of_every_kind_are_read_in_pages_and_ordered_by_code_point(db, page, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", page)
    rng = random.Random(5)
    edges = [(rng.choice(STRANGE_KEYS), rng.choice(STRANGE_KEYS)) for _ in range(30)]
    db.put(edges, STRANGE_KEYS)
    expected = twins(naive.graph_of(edges, STRANGE_KEYS), Fraction(1, 2))
    cohesions = stream(db, 0.5)
    assert [c.vertex for c in cohesions] == sorted(STRANGE_KEYS)
    assert {c.vertex: set(c.members) for c in cohesions} == expected
    assert db.members(write(db, 0.5).runs[0].run) == expected
    assert db.verified()[0].memberships_same


def test_the_smallest_and_largest_integers_are_keys_like_any_other(db, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 2)
    keys = [-(2**63), -1, 0, 2**53 + 1, 2**63 - 1]
    db.put([(keys[0], keys[4]), (keys[4], keys[3]), (keys[3], keys[0])], keys)
    result = write(db, 0.6)
    assert db.members(result.runs[0].run) == {
        **{key: {keys[0], keys[3], keys[4]} for key in (keys[0], keys[3], keys[4])},
        -1: {-1},
        0: {0},
    }


# --- The other modes


@pytest.mark.parametrize("search", ["smallest", "density", "degree"])
def test_streamed_by_frontier_every_vertex_of_the_shipped_graph_gets_its_answer_of_the_batch(db, search):
    twin = naive.read_edges(sample_path())
    db.put((a, b) for a in twin for b in twin[a] if a < b)
    batch = stream(db, 0.3, search=search)
    assert len(batch) == 800
    assert stream(db, 0.3, search=search, vertices=sorted(twin)) == batch


def test_a_single_vertex_is_found_without_reading_the_rest_of_the_graph(db):
    db.put([*cycle(400), (1_000, 1_001), (1_001, 1_002)])
    result = annotate.stats(db.store, p=0.6, vertices=[1_000], **PERSONS)
    assert result.vertices <= 3
    assert result.summaries["3/5"].cohesions == 1


def test_what_is_fetched_again_and_again_is_kept_once(db):
    db.put(cycle(6))
    frontier = Frontier(make_plan(db.store, "stream", p=0.3, vertices=[1], **PERSONS), [1])
    with ThreadPoolExecutor(1) as beside:
        for _ in range(3):
            assert len(list(frontier._fetch(beside, [1, 2, 3]))) == 3
    assert len(frontier._uncounted) == 3
    assert (frontier.vertices, frontier.edges) == (3, 4)


def test_a_large_fetch_is_read_in_two_halves_at_once_and_gives_each_vertex_once(db, monkeypatch):
    db.put(cycle(100))
    plan = make_plan(db.store, "stream", p=0.3, vertices=[1], **PERSONS)
    frontier, asked, both = Frontier(plan, [1]), [], threading.Barrier(2, timeout=60)
    read = plan.db.get_neighbours

    def get(selection, keys):
        both.wait()  # neither half is read before the other is asked for
        asked.append(len(keys))
        return read(selection, keys)

    monkeypatch.setattr(plan.db, "get_neighbours", get)
    with ThreadPoolExecutor(1) as beside:
        rows = list(frontier._fetch(beside, list(range(50))))
    assert sorted(key for key, _ in rows) == list(range(50))
    assert asked == [25, 25]
    assert frontier.vertices == 50


def test_round_trips_and_neighbourhoods_of_single_vertices_are_told(db, caplog):
    db.put(cycle(30))
    with caplog.at_level("DEBUG", "pcneo"):
        stream(db, 0.3, vertices=[3, 17])
    (line,) = [record.getMessage() for record in caplog.records if "round trips" in record.getMessage()]
    trips, rows = map(int, re.findall(r"(\d+) round trips, which read (\d+)", line)[0])
    assert 2 <= trips <= rows <= 30


def test_vertices_asked_for_together_share_round_trips_and_have_the_answers_of_the_whole_graph(db, caplog):
    db.put(random_edges(seed=12))
    vertices = [row[0] for row in db.run("MATCH (v:Person) RETURN v.id ORDER BY v.id % 7, v.id")]
    whole, (few,) = write(db, 0.4).runs[0].run, write(db, 0.4, vertices=vertices).runs
    assert db.members(few.run) == db.members(whole)
    assert record(db, few.run)["memberships"] == record(db, whole)["memberships"]
    graph = naive.graph_of(random_edges(seed=12))
    steps = [len(list(naive.expansion_steps(graph, Fraction("0.4"), v))) for v in vertices[:20]]
    caplog.clear()
    with caplog.at_level("DEBUG", "pcneo"):
        streamed = stream(db, 0.4, vertices=vertices[:20])
    assert [c.vertex for c in streamed] == vertices[:20]
    assert {c.vertex: set(c.members) for c in streamed} == {v: db.members(whole)[v] for v in vertices[:20]}
    (trips,) = re.findall(r"20 vertices took (\d+) round trips", caplog.text)
    assert int(trips) <= max(steps) + 2


def test_a_reading_statement_is_one_round_trip_and_no_transaction_of_ours(db, caplog):
    db.put(cycle(5))
    store = db.store
    with caplog.at_level("DEBUG", "neo4j.io"):
        store.get_neighbours(PERSONS["selection"], [1, 2])
    sent = re.findall(r"C: ([A-Z]+)", caplog.text)
    assert {"RUN", "PULL"} <= set(sent)
    assert not {"BEGIN", "COMMIT", "RESET"} & set(sent)


def test_vertices_given_as_text_are_the_integers_that_the_graph_has(db):
    db.put(cycle(5))
    assert [c.vertex for c in stream(db, 0.3, vertices=["3", 1, "1"])] == [3, 1]


def test_one_name_and_one_vertex_may_stand_alone(db):
    db.put(cycle(12))
    alone: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id"), "vertices": "11"}
    assert [c.vertex for c in annotate.stream(db.store, p=0.3, **alone)] == [11]


def test_vertices_given_as_text_stay_text_where_the_graph_has_strings(db):
    db.put([("3", "03"), ("03", "x")])
    assert [c.vertex for c in stream(db, 0.3, vertices=["3", "03"])] == ["3", "03"]


def test_a_key_that_is_there_as_integer_and_as_text_is_refused(db):
    db.put([(3, 4)])
    db.put([("3", "4")])
    with pytest.raises(KeyPropertyError, match="as an integer and as a string"):
        stream(db, 0.3, vertices=["3"])


def test_stats_describe_the_cohesions_that_the_twin_finds(db):
    db.put(random_edges(seed=9), [-7_777])
    graph = naive.graph_of(random_edges(seed=9), [-7_777])
    result = annotate.stats(db.store, p=["0.3", "0.7"], **PERSONS)
    for p, summary in result.summaries.items():
        cohesions = twins(graph, Fraction(p))
        sizes = sorted(map(len, cohesions.values()))
        densities = [
            2 * edges_inside(graph, members) / (len(members) * (len(members) - 1))
            for members in cohesions.values()
            if len(members) > 1
        ]
        assert (summary.cohesions, summary.memberships) == (len(graph), sum(sizes))
        assert summary.sizes is not None
        assert summary.densities is not None
        assert (summary.sizes.min, summary.sizes.max) == (sizes[0], sizes[-1])
        assert math.isclose(summary.sizes.mean, sum(sizes) / len(sizes))
        assert math.isclose(summary.densities.mean, sum(densities) / len(densities))
    assert list(result.summaries) == ["3/10", "7/10"]
    vertices = annotate.stats(db.store, p=["0.3", "0.7"], vertices=sorted(graph), **PERSONS)
    for p, summary in vertices.summaries.items():
        batch = result.summaries[p]
        assert (summary.cohesions, summary.memberships) == (batch.cohesions, batch.memberships)
        for distribution, same in ((summary.sizes, batch.sizes), (summary.densities, batch.densities)):
            assert distribution is not None
            assert same is not None
            assert asdict(distribution) == pytest.approx(asdict(same))


@pytest.mark.schema("users")
def test_the_estimate_for_the_shipped_graph_has_the_truth_in_its_interval(db):
    twin = naive.read_edges(sample_path())
    db.put((a, b) for a in twin for b in twin[a] if a < b)
    before = db.everything()
    result = annotate.estimate(db.store, p=["0.3", "0.5"], **PERSONS)
    truth = annotate.stats(db.store, p=["0.3", "0.5"], **PERSONS)
    assert db.everything() == before
    for p, estimate in result.estimates.items():
        memberships = truth.summaries[p].memberships
        assert estimate.memberships_low <= memberships <= estimate.memberships_high
        assert estimate.memberships_low < estimate.memberships < estimate.memberships_high < 2 * memberships
        assert 0 < estimate.compute_seconds_low < estimate.compute_seconds < estimate.compute_seconds_high
        assert estimate.total_seconds > max(estimate.compute_seconds, estimate.write_seconds) > 0
        assert 0 < estimate.write_seconds_low <= estimate.write_seconds / 2
        assert 2 * estimate.write_seconds <= estimate.write_seconds_high < 5 * estimate.write_seconds
        assert estimate.store_bytes > (estimate.parquet_bytes or 0) > memberships / 4
        assert type(estimate.compute_seconds_high) is float
        assert estimate.tasks == 1
        assert estimate.worker_bytes > estimate.thread_bytes > 0


@pytest.mark.schema("users")
def test_the_estimate_of_a_file_is_about_its_size(db, tmp_path):
    twin = naive.read_edges(sample_path())
    db.put((a, b) for a in twin for b in twin[a] if a < b)
    estimate = annotate.estimate(db.store, p="0.3", **PERSONS).estimates["3/10"]
    (file,) = annotate.to_parquet(db.store, p="0.3", to=tmp_path, **PERSONS).files
    assert estimate.parquet_bytes is not None
    assert file.bytes / 2 < estimate.parquet_bytes < file.bytes * 2


def test_nothing_is_written_any_more_while_what_was_written_is_removed(db, monkeypatch):
    """Whoever asked stops it after the first of many transactions, each of two cohesions."""
    db.put(cycle(60))
    monkeypatch.setattr("pcneo.annotate.row_writing.MEMBERSHIPS_A_TRANSACTION", 100)
    remove, writers, removed = writing._discard, [], []

    def removing(*arguments: Any, **known: Any) -> None:
        writers.extend(thread.name for thread in threading.enumerate() if thread.name.startswith("pcneo-write"))
        remove(*arguments, **known)

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "removing what was written":
            removed.append(done)
        if stage.startswith(("writing", "removing")):
            raise InterruptedError

    monkeypatch.setattr(writing, "_discard", removing)
    with pytest.raises(InterruptedError):
        write(db, 0.6, progress=stop)
    assert writers == []
    assert db.all_hubs() == 0
    assert removed[0] == 0 < removed[-1]  # it is told of, and nothing that the callback raises then stops it


def test_more_memberships_than_a_store_should_take_are_refused_by_number(db, monkeypatch):
    db.put(cycle(30))
    standing = write(db, 0.6)
    monkeypatch.setattr("pcneo.annotate.estimating.MOST_STORED", 800)
    assert not write(db, 0.6).runs[0].changed  # whatever is stored stays
    db.run("MATCH (:Person {id: 0})-[e:KNOWS]-(:Person {id: 1}) DELETE e")
    before = db.everything()
    with pytest.raises(GraphError, match=r"about 9\d\d memberships.*--to FOLDER.*smaller p.*--vertex") as refused:
        write(db, [0.6, 0.1])
    assert refused.value.data["p"] == "3/5"
    assert db.versions() == {standing.runs[0].run: 1}
    assert [len(part) for part in db.everything()] == [len(part) for part in before]
    write(db, 0.1)


def test_the_estimate_of_a_graph_smaller_than_the_sample_is_exact(db):
    db.put(cycle(30))
    estimate = annotate.estimate(db.store, p=0.6, **PERSONS).estimates["3/5"]
    assert (estimate.memberships_low, estimate.memberships, estimate.memberships_high) == (900, 900, 900)


def test_a_result_of_a_size_that_matters_is_warned_of_before_it_is_written(db, caplog, monkeypatch):
    db.put(cycle(30))
    annotate.estimate(db.store, p=0.6, **PERSONS)
    assert caplog.text == ""
    monkeypatch.setattr("pcneo.annotate.estimating.MANY", 900)
    annotate.estimate(db.store, p=[0.3, 0.6], **PERSONS)
    (warning,) = caplog.messages
    assert warning.startswith("p=3/5 would store about 900 memberships, at most 900: 0.0 GB")


def test_a_larger_cohesion_than_a_transaction_is_meant_for_is_written_whole(db):
    db.put(cycle(300))
    result = write(db, 0.6)
    assert result.runs[0].summary.memberships == 90_000
    assert set(map(len, db.members(result.runs[0].run).values())) == {300}


# --- What belongs to the user


def test_the_users_own_nodes_and_relationships_are_never_changed(db):
    db.put(random_edges(seed=11))
    db.run(
        "MATCH (v:Person) SET v.name = 'n' + v.id, v.size = 3, v:Extra "
        "WITH v LIMIT 5 CREATE (v)-[:OWNS {since: date('2020-01-01')}]->(:Thing {id: v.id, run: 'mine'})"
    )
    own = db.users_own()
    vertices = [row[0] for row in db.run("MATCH (v:Person) RETURN v.id LIMIT 3")]
    for action in (
        lambda: write(db, ["0.3", "0.6"]),
        lambda: write(db, "0.3"),
        lambda: write(db, "0.3", vertices=vertices),
        lambda: write(db, "0.3", vertices=vertices[:2]),
        lambda: stream(db, "0.3"),
        lambda: cleaning.clean(db.store, run=runs.find_run(db.store, p="0.6").run.id),
        lambda: cleaning.clean(db.store),
    ):
        action()
        assert db.users_own() == own
    assert db.run("MATCH (c:PCohesion) RETURN count(c)") == [[0]]


def test_runs_say_whether_the_graph_has_moved_since(db):
    db.put(cycle(6))
    write(db, 0.3)
    write(db, 0.6, vertices=[1])
    assert [stored.moved for stored in runs.list_runs(db.store)] == [False, False]
    db.run("CREATE (:Person {id: 77})")
    assert [stored.moved for stored in runs.list_runs(db.store)] == [True, True]
    assert [(v.graph_same, v.memberships_same) for v in db.verified()] == [
        (False, True),
        (None, True),
    ]


def test_verify_notices_an_edge_that_moved_and_a_membership_that_is_gone(db):
    db.put(cycle(6))
    write(db, 0.3)
    db.run("MATCH (a {id: 0})-[r:KNOWS]-(b {id: 1}), (c {id: 3}) DELETE r CREATE (a)-[:KNOWS]->(c)")
    assert not runs.list_runs(db.store)[0].moved
    assert [(v.graph_same, v.memberships_same) for v in db.verified()] == [(False, True)]
    db.run("MATCH ()-[r:IN_COHESION]->() WITH r LIMIT 1 DELETE r")
    assert [(v.graph_same, v.memberships_same) for v in db.verified()] == [(False, False)]


def test_a_run_is_known_by_its_id_any_beginning_of_it_or_what_it_is_of(db):
    db.put(cycle(6))
    first = write(db, 0.3).runs[0].run
    second = write(db, 0.6).runs[0].run
    write(db, 0.6, vertices=[1])

    def find(**which) -> str:
        return runs.find_run(db.store, **which).run.id

    assert find() == find(run="latest") == second  # the version counts, not a clock
    assert find(p="0.3") == find(run=f"{NAME}@0.3") == find(run=first) == first
    with pytest.raises(NotFoundError, match=rf"There is no run '{NAME}@3/1'; .* Did you mean {first}\?"):
        find(run=f"{NAME}@3/1")  # within a number
    several = f"Several runs fit: {first}, {second}, {second}:vertices. Give more of the id"
    with pytest.raises(ParameterError, match=several):
        find(run=f"{NAME}@3/")
    assert find(run=f"{NAME}@3/5") == find(run=f"{NAME}@0.6") == second
    with pytest.raises(NotFoundError, match="There is no run 'nobody'"):
        find(run="nobody")
    write(db, 0.3, graph="other")
    with pytest.raises(ParameterError, match=r"Several runs fit: .*\. Give the id of one, or the name of its graph\."):
        find()
    assert find(graph=NAME) == second
    with pytest.raises(NotFoundError, match=r"whole graph named 'othre'; there are .* Did you mean other\?"):
        find(graph="othre")
    with pytest.raises(NotFoundError, match=f"whole graph named '{NAME}' with p=1/3; there are {first}, .*{second}"):
        find(graph=NAME, p="1/3")
    db.run("MATCH (v:PCohesionVersion) SET v.finishedAt = datetime('2100-01-01')")
    assert find(graph=NAME) == second
    db.run("CREATE (:Robot {id: '7'})-[:BEEPS]->(:Robot {id: '8'})")
    of_robots: dict[str, Any] = {"selection": Selection("Robot", "BEEPS", "id"), "create_index": True}
    robots = write(db, 0.5, graph="robots", **of_robots).runs[0].run
    assert find(vertex="7") == robots  # no other graph has it
    assert find(vertex="7", graph=NAME) == second
    with pytest.raises(ParameterError, match="Several runs fit"):
        find(vertex="1")
    with pytest.raises(NotFoundError, match=f"None of these graphs has a vertex 9: {NAME}, other, robots"):
        find(vertex="9")


# --- Names that are nearly right


def test_a_misspelt_type_or_label_is_answered_with_the_near_one(db: Database) -> None:
    db.put([(1, 2), (2, 3)])
    with pytest.raises(NotFoundError, match=r"no type 'KNOWZ'; it has 'KNOWS'\. Did you mean KNOWS\?"):
        annotate.estimate(db.store, p="0.3", selection=Selection("Person", "KNOWZ", "id"))
    with pytest.raises(NotFoundError, match=r"no node label 'Persn'; it has 'Person'\. Did you mean Person\?"):
        annotate.estimate(db.store, p="0.3", selection=Selection("Persn", "KNOWS", "id"))


def test_a_type_that_no_edge_can_have_is_warned_of(db: Database, caplog: pytest.LogCaptureFixture) -> None:
    """Neo4j goes on listing a type whose last relationship is gone, and other nodes may have one, too."""
    db.put([(1, 2), (2, 3)])
    db.run("CREATE (:City)-[r:KNOWN]->(:City)")
    caplog.set_level("WARNING", "pcneo")
    assert annotate.estimate(db.store, p="0.3", selection=Selection("Person", "KNOWN", "id")).edges == 0
    assert (
        "No relationship of type 'KNOWN' begins at a node labelled Person, so the graph has no edges of that type; "
        "these nodes have 'KNOWS'. Did you mean KNOWS?" in caplog.text
    )
    caplog.clear()
    assert annotate.estimate(db.store, p="0.3", **PERSONS).edges == 2
    assert not caplog.records
