"""One stored cohesion, a run and their files, on a real Neo4j, against plain sets."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import naive
import networkx as nx
import pytest
from graphs import Database, cycle

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, NotFoundError, ParameterError
from pcneo.stored import showing
from pcneo.stored.exporting import export_of, export_run
from pcneo.stored.networks import network_of, to_networkx
from pcneo.stored.runs import find_run
from pcneo.stored.showing import read_cohesions, show_members

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
# a ring of six with a chord and two tails: members, neighbours outside and vertices further away
EDGES = [*cycle(6), (0, 2), (1, 2), (0, 10), (10, 11), (11, 12), (4, 13), (2, 1), (3, 3)]
P = "0.6"


@pytest.fixture(name="db")
def ring_with_tails(db: Database) -> Database:
    db.put(EDGES, isolated=[99])
    return db


def write(db: Database, p=P, **options) -> str:
    return annotate.write(db.store, p=p, **PERSONS, **options).runs[0].run


def show(db: Database, vertex, **options):
    return showing.show(db.store, vertex=vertex, **options)


def test_a_cohesion_is_shown_with_all_around_it_as_plain_sets_have_it(db):
    run = write(db)
    graph = naive.graph_of(EDGES, isolated=[99])
    for vertex in graph:
        members = naive.smallest_p_cohesion(graph, Fraction(3, 5), vertex)[0]
        view = naive.extended_local_view(graph, vertex)
        distance = nx.single_source_shortest_path_length(nx.Graph(EDGES), vertex) if graph[vertex] else {vertex: 0}
        shown = show(db, vertex)
        assert shown.run.id == run
        assert shown.cohesion.vertex == vertex
        assert set(shown.cohesion.members) == members
        inside = {(a, b) for a, b in itertools.combinations(sorted(members), 2) if b in graph[a]}
        assert shown.connections == tuple(sorted(inside))
        assert shown.cohesion.edges == len(inside)
        assert shown.holds
        assert shown.others == tuple(sorted(graph[vertex] - members))
        assert shown.hops == {key: min(distance[key], 3) for key in members}
        assert shown.local_view.size == len(view)
        assert shown.local_view.edges == sum(map(len, view.values())) // 2
        assert not shown.moved
        made = to_networkx(shown)
        assert (set(made), {tuple(sorted(edge)) for edge in made.edges}) == (members, inside)


def test_the_members_of_a_cohesion_are_shown_as_each_would_be_alone(db):
    write(db)
    shown = show(db, 0)
    others = list(show_members(db.store, shown))
    assert {one.cohesion.vertex for one in others} == set(shown.cohesion.members) - {0}
    assert others == [show(db, one.cohesion.vertex) for one in others]
    ends = [sum(one.cohesion.vertex in pair for pair in shown.connections) for one in others]
    assert ends == sorted(ends, reverse=True)


def test_members_whose_own_cohesions_are_damaged_are_left_out_and_the_others_shown(db):
    write(db)
    assert len(list(show_members(db.store, show(db, 10)))) == 5
    for change in ("SET v.id = 'four'", "REMOVE v.id"):  # a member of the cohesions of 0, 1 and 2
        db.run(f"MATCH (v:Person {{id: 4}}) {change} WITH v SET v:Changed")
        assert {one.cohesion.vertex for one in show_members(db.store, show(db, 10))} == {11, 12}
        db.run("MATCH (v:Changed) SET v.id = 4 REMOVE v:Changed")
    db.run("MATCH (:Person {id: 12})-[:HAS_COHESION]->(c) REMOVE c.edges")
    assert {one.cohesion.vertex for one in show_members(db.store, show(db, 10))} == {0, 1, 2, 11}


def test_a_number_may_come_as_text_and_a_run_by_its_name(db):
    first, second = write(db), write(db, p="0.3")
    assert show(db, "0").run.id == second
    assert show(db, 0, run=first).cohesion.p == Fraction(3, 5)
    alone = write(db, p="0.9", vertices=[0])
    assert show(db, 0).run.id == second  # latest means a whole graph
    assert show(db, 0, run=alone).cohesion.p == Fraction(9, 10)
    with pytest.raises(NotFoundError, match=rf"Run {alone} has no cohesion of vertex 1.*--vertex 1"):
        show(db, 1, run=alone)


def test_where_only_single_vertices_were_searched_one_of_them_is_shown_without_naming_the_run(db):
    alone = write(db, vertices=[0])
    assert show(db, 0).run.id == alone
    with pytest.raises(NotFoundError, match=rf"Run {alone} has no cohesion of vertex 1.*--vertex 1"):
        show(db, 1)
    with pytest.raises(NotFoundError, match=f"no run of a whole graph; there is {alone}"):
        read_cohesions(db.store, find_run(db.store))
    other = write(db, p="0.9", vertices=[0])
    with pytest.raises(ParameterError, match=f"Several runs fit: {alone}, {other}. Give the id of one"):
        show(db, 0)
    whole = write(db, p="0.3")
    assert show(db, 0).run.id == whole


def test_what_is_not_there_is_said_with_the_command_that_makes_it(db):
    with pytest.raises(NotFoundError, match="pcneo annotate"):
        show(db, 0)
    write(db)
    with pytest.raises(NotFoundError, match="has no vertex 777"):
        show(db, "777")  # as a command line passes it
    with pytest.raises(NotFoundError, match="no :Person has this `id`; keys of this graph are integers"):
        show(db, "ann")
    with pytest.raises(NotFoundError, match="no run 'nonsense'"):
        show(db, 0, run="nonsense")
    write(db, p="0.3")  # of the same version: which run is meant does not matter
    with pytest.raises(NotFoundError, match="has no vertex 777"):
        show(db, 777)


def test_a_graph_that_has_changed_is_said_so(db):
    write(db)
    db.run("MATCH (a:Person {id: 0})-[r:KNOWS]-(b:Person {id: 2}) DELETE r")
    shown = show(db, 0)
    assert shown.moved
    assert (0, 2) not in shown.connections
    with pytest.raises(GraphChangedError, match="Annotate the graph again"):
        read_cohesions(db.store, find_run(db.store))
    db.run("MATCH (v:Person {id: 1}) DETACH DELETE v")
    with pytest.raises(GraphChangedError, match="Annotate"):
        read_cohesions(db.store, find_run(db.store))


def test_a_member_that_has_lost_its_key_is_refused(db):
    write(db)
    db.run("MATCH (v:Person {id: 1}) REMOVE v.id")
    with pytest.raises(GraphChangedError, match="A member of this cohesion was deleted or lost its key"):
        show(db, 0)


def test_a_run_and_a_cohesion_are_exported_as_they_are_read(db, tmp_path):
    run = write(db)
    graph = naive.graph_of(EDGES, isolated=[99])
    members = {v: naive.smallest_p_cohesion(graph, Fraction(3, 5), v)[0] for v in graph}
    for which, name in ((run, "a.json"), ("latest", "b.json"), (None, "c.json")):
        result = export_run(db.store, tmp_path / name, run=which)
        assert result.bytes == (tmp_path / name).stat().st_size
        assert (result.nodes, result.memberships) == (len(graph), sum(map(len, members.values())))
        read = nx.node_link_graph(json.loads((tmp_path / name).read_text()), edges="edges")
        assert {key: set(data["members"]) for key, data in read.nodes(data=True)} == members
        assert (read.graph["run"], read.graph["version"]) == (run, db.store.list_runs()[0].version)
        made = to_networkx(read_cohesions(db.store, find_run(db.store)))
        needed, also = ({key: data["needed"] for key, data in each.nodes(data=True)} for each in (read, made))
        assert needed == also
        assert read.adj == made.adj
    export_of(network_of(show(db, 0)), tmp_path / "c.graphml")
    assert set(nx.read_graphml(tmp_path / "c.graphml", node_type=int)) == members[0]


def test_a_run_of_another_search_is_not_taken_for_one(db):
    run = write(db)
    for named in ({"search": "density"}, {"run": f"{run}:density"}):
        with pytest.raises(NotFoundError, match=r"density'?; there is"):
            show(db, 0, **named)
    other = write(db, search="density")
    assert (other, show(db, 0, run=run).run.id, show(db, 0, search="density").run.id) == (f"{run}:density", run, other)
    assert show(db, 0).run.id == other, "the latest"


def test_an_export_never_overwrites_and_leaves_nothing_where_it_fails(db, tmp_path):
    with pytest.raises(NotFoundError, match="pcneo annotate"):
        export_run(db.store, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []
    run = write(db)
    (tmp_path / "a.json").write_text("mine")
    with pytest.raises(ParameterError, match="exists and is not overwritten"):
        export_run(db.store, tmp_path / "a.json", run=run)
    with pytest.raises(ParameterError, match=r"must end in \.graphml or \.json"):
        export_run(db.store, tmp_path / "a.csv", run=run)
    assert (tmp_path / "a.json").read_text() == "mine"


@pytest.mark.schema("users")
def test_stats_draw_what_they_describe_and_write_nothing_to_the_database(db, tmp_path):
    before = db.everything()
    for vertices in (None, [0, 4]):
        path = tmp_path / f"{vertices is None}.svg"
        annotate.stats(db.store, p=["0.3", P], plot=path, vertices=vertices, **PERSONS)
        assert path.read_bytes().startswith(b"<?xml")
    with pytest.raises(ParameterError, match=r"must end in \.svg or \.png"):
        annotate.stats(db.store, p=P, plot=tmp_path / "a.pdf", **PERSONS)
    assert db.everything() == before
