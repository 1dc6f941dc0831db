"""Readers are never torn: what one statement returns, or several at one version, belongs to that version only."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, TypeVar

import neo4j
import numpy as np
import pytest
from graphs import Database, own_text
from lengths import usual_or_thorough

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError
from pcneo.graph import membership_hash
from pcneo.store import run_reader
from pcneo.stored import runs
from pcneo.stored.queries import list_queries, render_for_run
from pcneo.stored.runs import StoredRun

RUN = "Person/KNOWS/id@2/5:density"  # whose search takes no time here, so that the updater moves on
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
READS = usual_or_thorough(150, 2_000)
READERS = 2
T = TypeVar("T")
TALLY = (
    "MATCH (run:PCohesionRun {id: $run}) WITH run.version AS version "
    "MATCH (c:PCohesion {run: $run}) WHERE c.from <= version < c.until "
    "RETURN version, count(c) AS cohesions, sum(c.size) AS memberships"
)


def write(db: Database, **options: Any) -> annotate.UpdatedRun:
    return annotate.write(db.store, p="0.4", search="density", **PERSONS, **options).runs[0]


def some_graph(db: Database, vertices: int = 60, chance: float = 0.15) -> None:
    random_ = random.Random(5)
    db.put([(a, b) for a in range(vertices) for b in range(a) if random_.random() < chance], isolated=range(vertices))


def write_everything_anew(db: Database) -> annotate.UpdatedRun:
    """Make a version in which every hub is another node and every cohesion the same."""
    db.run("MATCH (c:PCohesion {run: $run}) SET c.owner = 0", run=RUN)
    run = write(db)
    assert run.added == run.retired > 0
    return run


# --- Beside an updater that never rests


def test_no_read_beside_an_updater_is_torn(db: Database) -> None:
    some_graph(db)
    write(db)
    edges = db.run("MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.id, b.id ORDER BY a.id, b.id")

    def in_one_statement() -> tuple[int, int, int]:
        ((version, cohesions, memberships),) = db.run(TALLY, run=RUN)
        return version, cohesions, memberships

    def in_several() -> tuple[int, int, int] | None:
        stored = runs.find_run(db.store, run=RUN)
        try:
            cohesions = read_at_one_version(db, stored)
        except GraphChangedError:
            return None  # a version is kept for a while, not for ever
        assert membership_hash(cohesions.items()) == stored.run.membership_hash
        return stored.run.version, len(cohesions), sum(map(len, cohesions.values()))

    with ThreadPoolExecutor(READERS) as pool:
        moved = threading.Event()
        reading = [pool.submit(repeat, how, READS // READERS, moved) for how in (in_one_statement, in_several)]
        try:
            for step in itertools.count():
                if step == 8:
                    moved.set()
                if all(reader.done() for reader in reading):
                    break
                a, b = edges[(step // 2) % len(edges)]
                change = "MERGE (a)-[:KNOWS]->(b)" if step % 2 else "WITH a, b MATCH (a)-[r:KNOWS]->(b) DELETE r"
                db.run(f"MATCH (a:Person {{id: $a}}), (b:Person {{id: $b}}) {change}", a=a, b=b)
                write(db)
        finally:
            moved.set()
    outcomes = [outcome for reader in reading for outcome in reader.result()]
    recorded = {v.version: (v.version, v.cohesions, v.memberships) for v in db.store.list_versions(RUN)}
    answers = [outcome for outcome in outcomes if outcome is not None]
    assert len(answers) > len(outcomes) // 2
    assert len({answer[0] for answer in answers}) > 3, "the updater hardly moved"
    assert [answer for answer in answers if answer != recorded[answer[0]]] == []


def test_a_run_whose_new_version_is_half_committed_is_there(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server shows the run's new number a moment before it finds the record of that version."""
    some_graph(db)
    write(db)
    pauses: list[float] = []
    db.run("MATCH (v:PCohesionVersion) SET v.version = -v.version")

    def show_the_rest(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            db.run("MATCH (v:PCohesionVersion) SET v.version = -v.version")

    monkeypatch.setattr(run_reader, "time", SimpleNamespace(sleep=show_the_rest))  # other threads sleep as before
    assert [stored.run.id for stored in runs.list_runs(db.store)] == [RUN]
    assert len(pauses) == 2
    db.run("MATCH (v:PCohesionVersion) DELETE v")
    assert runs.list_runs(db.store) == []
    assert len(pauses) < 20, "a record that is lost is not waited for"


def repeat(read: Callable[[], T], times: int, moved: threading.Event) -> list[T]:
    """Read so often, and then on until the updater has moved, which a busy machine lets it do slowly."""
    outcomes: list[T] = []
    while len(outcomes) < times or not moved.is_set():
        outcomes.append(read())
    return outcomes


def read_at_one_version(db: Database, stored: StoredRun) -> dict[Any, list[Any]]:
    store = db.store
    with store.reading_version(stored.run):
        return dict(store.stream_cohesions(stored.selection, stored.run))


# --- By force: a row is pulled, every hub is retired, the version moves, the rest is pulled


ARGUMENTS = {"id": 7, "otherId": 8, "limit": 1_000}


def overtaken(db: Database, texts: Sequence[str], meanwhile: Callable[[], object]) -> list[list[str]]:
    """The rows of several queries, of each of which the first are pulled before `meanwhile`."""
    with ExitStack() as sessions:
        opened = [sessions.enter_context(db.driver.session(database=db.name, fetch_size=1)) for _ in texts]
        results = [session.run(own_text(text)) for session, text in zip(opened, texts, strict=True)]
        first = [[plain(record) for record in take(result, 2)] for result in results]
        meanwhile()
        return [rows + [plain(record) for record in result] for rows, result in zip(first, results, strict=True)]


def take(result: neo4j.Result, count: int) -> Iterator[neo4j.Record]:
    for _, record in zip(range(count), result, strict=False):
        yield record


def plain(record: neo4j.Record) -> str:
    """A record as text in which a node is its key and a relationship its type."""

    def of(value: Any) -> Any:
        if isinstance(value, neo4j.graph.Path):  # to a hub, which retires meanwhile and stays the same hub
            return [node.get("id", node.element_id) for node in value.nodes]
        if isinstance(value, neo4j.graph.Node):
            return value["id"]
        if isinstance(value, neo4j.graph.Relationship):
            return value.type
        return [of(item) for item in value] if isinstance(value, list) else value

    return repr([of(value) for value in record.values()])


def test_queries_that_are_overtaken_by_a_version_return_the_rows_of_the_one_before(
    db: Database, languages: list[str]
) -> None:
    some_graph(db, 40, 0.2)
    write(db)
    texts: dict[tuple[str, str], str] = {}
    for query in list_queries():
        arguments = {key: ARGUMENTS[key] for key in ARGUMENTS.keys() & {part.name for part in query.parameters}}
        text = render_for_run(db.store, query.name, parameters=arguments)
        texts |= {(language, query.name): f"CYPHER {language} {text}" for language in languages}
    asked = list(texts.values())
    before = dict(zip(texts, overtaken(db, asked, lambda: None), strict=True))
    during = dict(zip(texts, overtaken(db, asked, lambda: write_everything_anew(db)), strict=True))
    assert all(before.values())
    assert during == before


@pytest.mark.parametrize("way", ["streamed", "paged"])
def test_a_whole_run_that_is_overtaken_is_read_whole_or_refused(
    db: Database, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_graph(db)
    write(db)
    stored = runs.find_run(db.store, run=RUN)
    whole = {vertex: sorted(members) for vertex, members in read_at_one_version(db, stored).items()}
    store = db.store
    monkeypatch.setattr(run_reader, "PAGE", 2)
    with store.reading_version(stored.run):
        rows: Iterator[tuple[Any, ...]] = (
            store.stream_cohesions(stored.selection, stored.run)
            if way == "streamed"
            else store.page_cohesions(stored.selection, stored.run, np.array(sorted(whole)))
        )
        first = next(rows)
        write_everything_anew(db)
        read = {vertex: sorted(members) for vertex, members, *_ in [first, *rows]}
    assert read == whole
    with (
        pytest.raises(GraphChangedError, match=r"Version 1 of run .* is no longer kept"),
        store.reading_version(stored.run),
    ):
        db.run("MATCH (v:PCohesionVersion {run: $run, version: 1}) SET v.readable = false", run=RUN)


def test_who_reads_a_run_that_is_removed_meanwhile_is_told_before_its_hubs_go(db: Database) -> None:
    some_graph(db)
    write(db)
    stored = runs.find_run(db.store, run=RUN)
    with pytest.raises(GraphChangedError, match="no longer kept"), db.store.reading_version(stored.run):
        db.store.write("hide_run", run=RUN)
