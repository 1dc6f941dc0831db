"""After any edits `annotate` leaves what a fresh database would hold, flags too, and writes nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import naive
import pytest
from graphs import Database, own_text
from lengths import usual_or_thorough

from pcneo import annotate
from pcneo.annotate import supply, writing
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError
from pcneo.graph import graph_from_rows
from pcneo.release.checking import check
from pcneo.search import search_all

RUN = "Person/KNOWS/id@2/5"
P = Fraction(2, 5)


def write(db: Database) -> annotate.UpdatedRun:
    result = annotate.write(db.store, p="0.4", selection=Selection("Person", "KNOWS", "id"))
    return result.runs[0]


def graph_of(db: Database) -> naive.Graph:
    vertices = [key for (key,) in db.run("MATCH (v:Person) RETURN v.id")]
    edges = db.run("MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a <> b RETURN a.id, b.id")
    return naive.graph_of([(a, b) for a, b in edges], vertices)


def expected(graph: naive.Graph) -> dict:
    """Every vertex's cohesion as a search of the graph finds it; an edit elsewhere can change its flags alone."""
    fresh = search_all(graph_from_rows((v, list(graph[v])) for v in graph), P)
    return {c.vertex: (set(c.members), c.edges, c.density, c.proven, c.best) for c in fresh.cohesions()}


def stored(db: Database) -> dict:
    rows = db.cohesions(RUN).items()
    no_vertices = (
        "MATCH (r:PCohesionRun {id: $run}) WITH r.version AS version MATCH (c:PCohesion {run: $run})<--(v) "
        "WHERE c.from <= version < c.until AND NOT v:Person RETURN count(*)"
    )
    assert db.run(no_vertices, run=RUN) == [[0]]
    assert all(len(set(hub.members)) == len(hub.members) == hub.properties["size"] for _, hub in rows)
    return {
        vertex: (set(hub.members), *map(hub.properties.get, ("edges", "density", "proven", "best")))
        for vertex, hub in rows
    }


class Editor:
    """Edits of a graph and of what is stored about it, as users and accidents make them."""

    def __init__(self, db: Database, chance: random.Random) -> None:
        self.db = db
        self.chance = chance
        self.fresh = 1_000

    def some(self, text: str) -> int | None:
        rows = self.db.run(text)
        return self.chance.choice(rows)[0] if rows else None

    def vertex(self) -> int | None:
        return self.some("MATCH (v:Person) RETURN v.id")

    def add_edge(self) -> None:
        self.db.run(
            "MATCH (a:Person {id: $a}), (b:Person {id: $b}) CREATE (a)-[:KNOWS]->(b)", a=self.vertex(), b=self.vertex()
        )

    def remove_edges(self) -> None:
        self.db.run("MATCH (:Person {id: $a})-[r:KNOWS]-() WITH r LIMIT 2 DELETE r", a=self.vertex())

    def add_vertex(self) -> None:
        self.fresh += 1
        self.db.run("CREATE (:Person {id: $id})", id=self.fresh)
        self.db.run(
            "MATCH (a:Person {id: $a}), (b:Person {id: $b}) CREATE (a)-[:KNOWS]->(b)", a=self.fresh, b=self.vertex()
        )

    def delete_vertex(self) -> None:
        if len(self.db.run("MATCH (v:Person) RETURN v.id")) > 8:
            self.db.run("MATCH (v:Person {id: $id}) DETACH DELETE v", id=self.vertex())

    def delete_membership(self) -> None:
        self.db.run("MATCH (:Person {id: $id})-[r:IN_COHESION]->() WITH r LIMIT 1 DELETE r", id=self.vertex())

    def delete_ownership(self) -> None:
        self.db.run("MATCH (:Person {id: $id})-[r:HAS_COHESION]->() WITH r LIMIT 1 DELETE r", id=self.vertex())

    def delete_hub(self) -> None:
        self.db.run("MATCH (:Person {id: $id})-[:HAS_COHESION]->(c) WITH c LIMIT 1 DETACH DELETE c", id=self.vertex())

    def spoil_hub(self) -> None:
        """Somebody edits what a hub carries so that it is known again."""
        spoilt = [("owner", 0), ("owner", "x"), ("digest", ""), ("digest", 7), ("digest", None), ("edges", "x")]
        name, value = self.chance.choice(spoilt)
        text = f"MATCH (:Person {{id: $id}})-[:HAS_COHESION]->(c) SET c.{name} = $value"
        self.db.run(text, id=self.vertex(), value=value)

    def exchange_keys(self) -> None:
        a, b = self.vertex(), self.vertex()
        self.db.run("MATCH (a:Person {id: $a}), (b:Person {id: $b}) SET a.id = $b, b.id = $a", a=a, b=b)

    def change_key(self) -> None:
        self.fresh += 1
        self.db.run("MATCH (v:Person {id: $id}) SET v.id = $new", id=self.vertex(), new=self.fresh)

    def take_label(self) -> None:
        if len(self.db.run("MATCH (v:Person) RETURN v.id")) > 8:
            self.db.run("MATCH (v:Person {id: $id}) REMOVE v:Person SET v:Former", id=self.vertex())

    def give_label_back(self) -> None:
        former = self.some("MATCH (v:Former) WHERE NOT EXISTS { MATCH (:Person {id: v.id}) } RETURN v.id")
        self.db.run("MATCH (v:Former {id: $id}) WITH v LIMIT 1 REMOVE v:Former SET v:Person", id=former)

    def swap_labels(self) -> None:
        self.take_label()
        self.give_label_back()

    def replace_vertex(self) -> None:
        """Another node takes a vertex's label, key and connections."""
        self.db.run(
            "MATCH (old:Person {id: $id}) REMOVE old:Person SET old:Former "
            "CREATE (new:Person {id: old.id}) WITH old, new "
            "CALL (old, new) { MATCH (old)-[:KNOWS]->(a) CREATE (new)-[:KNOWS]->(a) } "
            "CALL (old, new) { MATCH (old)<-[:KNOWS]-(a) CREATE (new)<-[:KNOWS]-(a) }",
            id=self.vertex(),
        )

    def nothing(self) -> None:
        pass

    def edit(self) -> str:
        edits: list[Callable[[], None]] = [
            self.add_edge,
            self.remove_edges,
            self.add_vertex,
            self.delete_vertex,
            self.delete_membership,
            self.delete_ownership,
            self.delete_hub,
            self.spoil_hub,
            self.exchange_keys,
            self.change_key,
            self.take_label,
            self.give_label_back,
            self.swap_labels,
            self.replace_vertex,
            self.nothing,
        ]
        chosen = self.chance.choices(edits, k=self.chance.choice([1, 1, 2, 3]))
        for step in chosen:
            step()
        return ", ".join(step.__name__ for step in chosen)


def test_after_any_edits_the_store_holds_what_a_fresh_one_would(db, pytestconfig):
    chance = random.Random(20261122)
    db.put([(a, b) for a in range(24) for b in range(a) if chance.random() < 0.25], isolated=range(24))
    write(db)
    editor = Editor(db, chance)
    for step in range(pytestconfig.option.steps):
        done = editor.edit()
        run = write(db)
        assert stored(db) == expected(graph_of(db)), f"step {step}: {done}"
        again = write(db)
        assert (again.changed, again.version) == (False, run.version), f"step {step}: {done}"


def test_edits_between_the_reading_of_hubs_and_of_the_graph_are_made_good_by_the_next_update(db, monkeypatch):
    """Hubs may be read first: what they said then must not be all that is known where keys and labels have moved."""
    chance = random.Random(1)
    db.put([(a, b) for a in range(18) for b in range(a) if chance.random() < 0.2], isolated=range(18))
    write(db)
    editor, done, read_graph = Editor(db, chance), [], supply.read_graph

    @contextmanager
    def all_at_once(pages):
        yield iter(list(pages))
        done.append("read")

    def edited_first(*given):
        edit = chance.choice([editor.replace_vertex, editor.exchange_keys])
        for step in (edit, editor.remove_edges, editor.add_edge, editor.add_edge):
            step()
        done.append(edit.__name__)
        return read_graph(*given)

    for _ in range(usual_or_thorough(5, 50)):
        done.clear()
        with monkeypatch.context() as patch:
            patch.setattr(writing, "pages_ahead", all_at_once)
            patch.setattr(supply, "read_graph", edited_first)
            write(db)
        assert done[1:] == ["read"]
        write(db)
        assert stored(db) == expected(graph_of(db)), done[0]


def test_only_what_differs_is_written(db):
    db.put([(a, b) for a in range(40) for b in range(a) if (a * b + a) % 7 == 0])
    first = write(db)
    before = {row[0]: row[1] for row in db.run("MATCH (v)-[:HAS_COHESION]->(c) RETURN v.id, elementId(c)")}
    db.run("MATCH (a:Person {id: 7})-[r:KNOWS]->() WITH r LIMIT 1 DELETE r")
    second = write(db)
    now = db.cohesions(RUN)
    kept = {v for v, hub in now.items() if hub.properties["from"] == first.version}
    assert len(now) - len(kept) == second.added
    assert 0 < second.added < len(now)
    hubs = dict(
        db.run(
            "MATCH (v)-[:HAS_COHESION]->(c) WHERE c.from = $first AND c.until > $first + 1 RETURN v.id, elementId(c)",
            first=first.version,
        )
    )
    assert {v: hubs[v] for v in kept} == {v: before[v] for v in kept}


@pytest.mark.parametrize(
    "value",
    [
        "9007199254740990",
        "9223372036854775807",
        "-1",
        "'x'",
        "[1]",
        "datetime('+999999999-12-31T23:59:59Z')",
        "0",
        "null",
    ],
)
def test_a_last_version_that_no_writer_wrote_hides_nothing(db, value):
    db.put([(0, 1), (1, 2), (0, 2), (2, 3)])
    write(db)
    db.run(own_text(f"MATCH (g:PCohesionGraph) SET g.lastVersion = {value}"))
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 3}) CREATE (a)-[:KNOWS]->(b)")
    before = stored(db)
    if value not in ("0", "null"):
        with pytest.raises(GraphError, match=r"records .* as its last version, .* Remove the property `lastVersion`"):
            write(db)
        assert stored(db) == before
        db.run("MATCH (g:PCohesionGraph) REMOVE g.lastVersion")
    assert write(db).version == 2
    assert stored(db) == expected(graph_of(db)) != before
    assert check(db.store).all_well


def test_a_graph_may_have_had_very_many_versions(db):
    db.put([(0, 1), (1, 2), (0, 2), (2, 3)])
    write(db)
    db.run("MATCH (g:PCohesionGraph) SET g.lastVersion = $last", last=2**52 - 2)
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 3}) CREATE (a)-[:KNOWS]->(b)")
    assert write(db).version == 2**52 - 1
    assert stored(db) == expected(graph_of(db))
    assert check(db.store).all_well


def test_runs_that_an_update_leaves_behind_are_named_with_what_renews_them(db, caplog):
    caplog.set_level("INFO", "pcneo")
    db.put([(0, 1), (1, 2), (0, 2), (2, 3)])
    names: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id"), "graph": "our friends"}
    annotate.write(db.store, p=["0.4", "0.5"], **names)
    annotate.write(db.store, p="0.4", search="degree", vertices=[1], **names)
    db.run("MATCH (:Person {id: 2})-[r:KNOWS]->(:Person {id: 3}) DELETE r")
    assert "which was not updated" not in caplog.text
    annotate.write(db.store, p="0.4", graph="our friends")
    said = [message for message in caplog.messages if "which was not updated" in message]
    whole, single = sorted(said)
    assert "our friends@1/2," in whole
    assert "To update it: `pcneo annotate --graph 'our friends' -p 1/2`." in whole
    assert "our friends@2/5:degree:vertices," in single
    assert "--graph 'our friends' -p 2/5 --search degree --vertex KEY`" in single
