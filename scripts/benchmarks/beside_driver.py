"""Lines that compare with Neo4j's own driver: annotation, and one streamed vertex."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import SEED, THREADS, Line, Setting, at_most, in_turns, say, timed
from benchmarks.neo4j_servers import NAMES, in_process, loaded

if TYPE_CHECKING:
    from pcneo.basics.model import FoundCohesion
    from pcneo.store.hub_writer import CohesionRow


Statements = list[tuple[str, dict[str, Any]]]
"""Statements with their parameters."""
READ = "MATCH (v:Person) RETURN v.id AS key, [(v)-[:KNOWS]->(n:Person) | n.id] AS neighbours"
DELETE = "MATCH (c:PCohesion {run: 'plain'}) CALL (c) { DETACH DELETE c } IN TRANSACTIONS OF 200 ROWS"
GOALS = {"0.1": 1.0, "0.3": 1.6}
"""For each p: how many times as long as `density` `smallest` may take."""
STREAMED = {"density": 10, "smallest": 25}
"""For each search: milliseconds that one vertex may take beyond the driver."""
ROUNDS = {"0.1": 3, "0.3": 1}
"""The most rounds for each p: at 0.3 a round writes and deletes millions of memberships twice, on a warm server."""


def annotate(setting: Setting) -> Iterator[Line]:
    """`pcneo annotate`, beside itself with `density`, and beside the plain driver reading and writing the same rows.

    pcneo runs in its own process on a graph without a run; replacing a run would add the time to delete it. The driver
    reads one stream of packed rows, then writes the rows that pcneo computed, with the same statement, as many sessions
    and transactions of the same size.
    """
    from pcneo import annotate
    from pcneo.annotate.row_writing import WRITERS
    from pcneo.store.connection import connect
    from pcneo.stored.cleaning import clean

    with loaded(setting.file) as server, server.driver() as driver:
        for p, most in ROUNDS.items():
            rounds = min(most, setting.rounds)
            rows = [_row(cohesion) for cohesion in annotate.stream(connect(driver=driver), p=p, **NAMES)]
            figures: dict[str, list[dict[str, float]]] = {"smallest": [], "density": []}

            def ours(search: str, p: str = p, figures: Any = figures) -> float:
                figures[search].append(in_process("annotate", server.uri, str(server.password_file), p, search))
                clean(connect(driver=driver))  # deletes the driver's hubs, untimed
                return figures[search][-1]["seconds"]

            tasks: dict[str, Callable[[], float]] = {search: partial(ours, search) for search in figures}
            tasks["driver"] = partial(_plain, driver, rows, p)
            taken = in_turns(rounds, tasks, warm_up=rounds > 1, label=f"annotate p={p}")
            kept = figures["smallest"][-rounds:]
            parts = ", ".join(
                f"{name} {median(sample[name] for sample in kept):.1f} s" for name in ("read", "search", "write")
            )
            yield Line(
                f"annotate, {setting.name}, p={p}, {kept[0]['memberships']:,.0f} memberships",
                taken["smallest"],
                peer=f"the same by `density`, {figures['density'][0]['memberships']:,.0f} memberships",
                theirs=taken["density"],
                goal=at_most(GOALS[p]),
                note=f"{len(kept)} rounds; Neo4j {server.version}; without start-up",
            )
            yield Line(
                f"annotate, beside the driver, {setting.name}, p={p}",
                taken["smallest"],
                peer=f"the plain driver: the same rows read, then written by {WRITERS} sessions",
                theirs=taken["driver"],
                bound="the driver's own reading and writing, and the search",
                floor=[theirs + sample["search"] for theirs, sample in zip(taken["driver"], kept, strict=True)],
                note=f"{len(kept)} rounds; {parts}; peak {median(sample['peak_mib'] for sample in kept):.0f} MiB; "
                f"Neo4j {server.version}; without start-up",
            )


def _row(cohesion: FoundCohesion) -> CohesionRow:
    """A cohesion as the statement `create_cohesions` takes it."""
    return {
        "vertex": cohesion.vertex,
        "size": cohesion.size,
        "edges": cohesion.edges,
        "density": cohesion.density,
        "proven": cohesion.proven,
        "best": cohesion.best,
        "owner": 0,
        "digest": "0" * 32,
        "members": list(cohesion.members),
    }


def _plain(driver: Any, rows: Sequence[CohesionRow], p: str) -> float:
    """Read everything and write `rows`, then delete them again, untimed."""
    from pcneo.annotate.row_writing import MEMBERSHIPS_A_TRANSACTION, WRITERS

    return read_all(driver) + _write(driver, rows, p, MEMBERSHIPS_A_TRANSACTION, WRITERS)


def read_all(driver: Any) -> float:
    """Return the seconds that the driver takes to read the graph."""
    started = time.perf_counter()
    with driver.session(default_access_mode="READ") as session:
        kept = [(record["key"], record["neighbours"]) for record in session.run(READ)]
    seconds = time.perf_counter() - started
    del kept
    return seconds


def _write(driver: Any, rows: Sequence[CohesionRow], p: str, memberships: int, sessions: int) -> float:
    """Write `rows`, by memberships per transaction and sessions at once, and delete them again, untimed."""
    from pcneo.annotate.row_writing import transactions_of
    from pcneo.store.statements import load_statement

    text, batches = load_statement("create_cohesions").text, list(transactions_of(rows, memberships))

    def write(batch: list[CohesionRow]) -> None:
        parameters = {"run": "plain", "version": 1, "p": float(p), "search": "density", "rows": batch}
        with driver.session() as session:
            session.execute_write(lambda tx: tx.run(text, parameters).consume())

    started = time.perf_counter()
    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(write, batches))
    seconds = time.perf_counter() - started
    with driver.session() as session:
        session.run(DELETE).consume()
    return seconds


def writers(setting: Setting) -> Iterator[Line]:
    """Memberships written per second, by number of sessions and memberships per transaction."""
    from pcneo import annotate
    from pcneo.store.connection import connect

    with loaded(setting.file) as server, server.driver() as driver:
        rows = [_row(cohesion) for cohesion in annotate.stream(connect(driver=driver), p="0.1", **NAMES)]
        written = sum(row["size"] for row in rows)
        ways = [(sessions, memberships) for sessions in (1, 2, 3, 4) for memberships in (10_000, 20_000, 30_000)]
        tasks = {
            f"{sessions} sessions, {memberships:,} a transaction": lambda way=(memberships, sessions): (
                written / _write(driver, rows, "0.1", *way)
            )
            for sessions, memberships in ways
        }
        for name, rates in in_turns(min(3, setting.rounds), tasks, label="writers").items():
            note = f"{setting.name}, p=0.1, {written:,} memberships; Neo4j {server.version}, on the same cores"
            yield Line(f"memberships written a second, {name}", rates, "/s", note=note)


def streamed(setting: Setting) -> Iterator[Line]:
    """One streamed vertex, beside the driver, which sends the same statements one by one right before or after."""
    from benchmarks import pseudocode
    from benchmarks.graphs import as_sets
    from pcneo.search import search_all
    from pcneo.store.connection import connect

    graph, rounds = setting.graph, setting.many
    chosen = np.random.default_rng(SEED).choice(graph.vertex_count, min(20, graph.vertex_count), replace=False)
    rows, keys = as_sets(graph), graph.keys[chosen].tolist()
    needs = {p: pseudocode.needs(rows, p) for p in ("0.1", "0.3")}
    steps = {p: [pseudocode.expand(rows, need, q)[1] for q in chosen.tolist()] for p, need in needs.items()}
    del rows, needs
    with loaded(setting.file) as server, server.driver() as plain:
        settings = ("neo4j", server.password_file.read_text().strip())
        for p, search in itertools.product(steps, STREAMED):
            with connect(server.uri, auth=settings) as db, _unscanned():
                seen: dict[Any, Statements] = {}
                for key in keys:  # compiles our code and the server's plans
                    with _recorded() as seen[key]:
                        _streamed(db, p, search, key)
                ours, theirs = _beside(db, plain, p, search, seen, rounds)
            more = ours - theirs
            each = np.median(more, axis=0)
            searched = [
                timed(lambda q=q, p=p, s=search: search_all(graph, p, s, vertices=[q]))() for q in chosen.tolist()
            ]
            trips = [sum("$keys" in text for text, _ in statements) for statements in seen.values()]
            note = f"{len(chosen)} vertices, seed {SEED}; {THREADS} cores shared with the server"
            what = f"one vertex streamed by `{search}`, {setting.name}, p={p}"
            yield Line(
                f"{what}, beyond the driver's own round trips (median)",
                np.median(more, axis=1).tolist(),
                "ms",
                goal=at_most(STREAMED[search], "ours"),
                bound="the search in arrays, though two halves of a fetch at once may win more back",
                floor=[1e3 * seconds for seconds in searched],
                note=f"{note}; {rounds} rounds; of the vertices' medians the mean {each.mean():.0f} and the worst "
                f"{each.max():.0f} ms; whole {np.median(ours):.0f} ms, the same "
                f"{median(map(len, seen.values())):.0f} statements sent by the driver alone {np.median(theirs):.0f} ms",
            )
            if search != "density":
                continue
            yield Line(
                f"{what}, fetches less expansion steps (largest)",
                [float(max(trip - step for trip, step in zip(trips, steps[p], strict=True)))],
                "",
                goal=at_most(2, "ours"),
                note=f"{note}; median {median(trips):.0f} fetches, {median(steps[p]):.0f} steps",
            )


def _beside(
    db: Any, plain: Any, p: str, search: str, statements: Mapping[Any, Statements], rounds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Milliseconds per vertex in each round, for pcneo and for the driver alone, which take turns to go first."""
    taken = np.empty((2, rounds, len(statements)))
    for number in range(rounds):
        for place, (key, sent) in enumerate(statements.items()):
            tasks = [(0, lambda key=key: _streamed(db, p, search, key)), (1, lambda sent=sent: _sent(plain, sent))]
            for who, task in tasks if (number + place) % 2 else reversed(tasks):
                taken[who, number, place] = 1e3 * task()
        more = np.median(taken[0, number] - taken[1, number])
        say(f"  streamed by {search} p={p} round {number + 1} of {rounds}: {more:.1f} ms more")
    return taken[0], taken[1]


def _streamed(db: Any, p: str, search: str, key: Any) -> float:
    """Seconds that one vertex takes, streamed."""
    from pcneo import annotate

    started = time.perf_counter()
    next(annotate.stream(db, p=p, search=search, vertices=[key], **NAMES))
    return time.perf_counter() - started


@contextmanager
def _unscanned() -> Iterator[None]:
    """Keep the benchmark's own graph out of Python's garbage collection, which either program may trigger."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _recorded() -> Iterator[Statements]:
    """Record every statement that the driver sends, with its parameters; the two halves of a fetch count as one."""
    import neo4j

    seen: Statements = []
    halves: list[dict[str, Any]] = []  # sent by another thread, each beside one of ours
    ours, kept = threading.current_thread(), {}
    for kind in (neo4j.Session, neo4j.ManagedTransaction, neo4j.Transaction):
        kept[kind] = kind.__dict__.get("run")

        def noted(self: Any, query: Any, parameters: Any = None, *, run: Any = kind.run, **others: Any) -> Any:
            sent = {**(parameters or {}), **others}
            if threading.current_thread() is ours:
                seen.append((str(query), sent))
            else:
                halves.append(sent)
            return run(self, query, parameters, **others)

        kind.run = noted
    try:
        yield seen
    finally:
        # To which of two statements of similar length a half is joined does not matter: all keys are sent, in as many.
        largest = sorted(range(len(seen)), key=lambda i: -len(seen[i][1].get("keys", ())))[: len(halves)]
        for i, half in zip(sorted(largest), halves, strict=True):
            seen[i][1]["keys"] = [*seen[i][1]["keys"], *half["keys"]]
        for kind, run in kept.items():
            if run is None:
                del kind.run
            else:
                kind.run = run


def _sent(driver: Any, statements: Statements) -> float:
    """Seconds that the driver alone needs to send the statements and receive every row."""
    started = time.perf_counter()
    with driver.session(default_access_mode="READ") as session:
        for text, parameters in statements:
            session.execute_read(lambda tx, text=text, parameters=parameters: tx.run(text, parameters).values())
    return time.perf_counter() - started
