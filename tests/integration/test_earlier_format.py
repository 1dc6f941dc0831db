"""A store of an earlier format: refused with one line by all that reads or writes runs, removed whole, ledger kept.

The first format had a run for each `annotate`, with a status; the second has standing runs with versions and a `score`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graphs import Database, cycle
from requested import requested

from pcneo import annotate, release
from pcneo.basics.selection import Selection
from pcneo.errors import StoreFormatError
from pcneo.release import Terms, budget
from pcneo.store.schema import FORMAT
from pcneo.stored import cleaning, queries, runs, showing, verifying, versions

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
GRAPH = "Person/KNOWS/id"
RUN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(name="db", params=["first", "second"])
def earlier_format(db: Database, request: pytest.FixtureRequest) -> Database:
    db.put(cycle(6))
    first = request.param == "first"
    db.run(
        "CREATE (:PCohesionGraph {name: $graph, nodeLabels: ['Person'], relationshipTypes: ['KNOWS'], key: 'id', "
        "fingerprintKey: $key, format: $format, lockedAt: datetime()}) "
        "CREATE (run:PCohesionRun {id: $run, graph: $graph, scope: 'graph', p: 0.5, pText: '1/2', score: 'density'}) "
        "SET run += $more "
        "CREATE (:PCohesionBudget {graph: $graph, number: 1, epsilon: '3', delta: '0', who: 'w', at: datetime()}) "
        "CREATE (:PCohesionRelease {id: 'r', graph: $graph, run: $run, mechanism: 'critical', k: 3, p: '1/2', "
        "score: 'density', epsilon: '1', delta: '0', membershipHash: 'm', who: 'w', version: '0.1.0', at: datetime()})",
        graph=GRAPH,
        key="ab" * 32,
        run=RUN,
        format=None if first else 2,
        more={"status": "complete", "version": "0.1.0"} if first else {"version": 1},
    )
    db.run(
        "MATCH (v:Person) CREATE (v)-[:HAS_COHESION]->(c:PCohesion {run: $run, p: 0.5, score: 'density', size: 6, "
        "edges: 6, density: 0.4}) SET c += $more WITH c MATCH (m:Person) CREATE (m)-[:IN_COHESION]->(c)",
        run=RUN,
        more={} if first else {"from": 1, "until": 2**53 - 1},
    )
    if not first:
        db.run(
            "CREATE (:PCohesionVersion {run: $run, version: 1, readable: true, pcneo: '0.2.0', search: 1, "
            "cohesions: 6, memberships: 36}), (:PCohesionFence {graph: $graph, number: 1, writer: 'w'})",
            run=RUN,
            graph=GRAPH,
        )
    return db


USES: dict[str, Callable[[Database], object]] = {
    "annotate": lambda db: annotate.write(db.store, p="0.5", **PERSONS),
    "runs": lambda db: runs.list_runs(db.store),
    "verify": lambda db: verifying.verify(db.store, run="friends@1/2"),
    "history": lambda db: versions.history(db.store),
    "show": lambda db: showing.show(db.store, vertex=1),
    "queries": lambda db: queries.run_query(db.store, "largest_cohesions"),
    "clean of one": lambda db: cleaning.clean(db.store, run=RUN),
    "release": lambda db: release.release(
        db.store,
        requests=[requested(mechanism="critical", k=3, epsilon="1", to=Path("never.csv"))],
        terms=Terms(dry_run=True),
    ),
}


@pytest.mark.parametrize("use", USES)
def test_it_is_refused_with_what_to_do_and_nothing_is_written(db: Database, use: str) -> None:
    before = db.everything()
    with pytest.raises(StoreFormatError, match=r"an earlier pcneo stored.*`pcneo clean --all`") as caught:
        USES[use](db)
    assert "\n" not in str(caught.value)
    assert db.everything() == before


def test_clean_of_all_removes_it_and_the_ledger_goes_on_counting(db: Database) -> None:
    spent = budget.show(db.store, graph=GRAPH)
    result = cleaning.clean(db.store)
    assert result.earlier_runs == 1
    assert db.all_hubs() == 0
    assert db.run("MATCH (n:PCohesionRun|PCohesionVersion) RETURN count(n)") == [[0]]
    assert release.budget.show(db.store, graph=GRAPH) == spent
    (run,) = annotate.write(db.store, p="0.5", **PERSONS).runs
    assert (run.run, run.version) == (f"{GRAPH}@1/2", 1)
    assert budget.show(db.store, graph=GRAPH) == spent


def test_once_annotated_an_earlier_pcneo_stops_at_the_format_on_the_graph(db: Database) -> None:
    cleaning.clean(db.store)
    annotate.write(db.store, p="0.5", **PERSONS)
    assert db.run("MATCH (graph:PCohesionGraph) RETURN graph.format") == [[FORMAT]]
