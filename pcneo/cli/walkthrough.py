"""Use case: load the shipped graph into its own local server, annotate it, and query it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pcneo import annotate
from pcneo.annotate import WriteResult
from pcneo.annotate.load import load
from pcneo.basics.model import Progress
from pcneo.basics.selection import Selection
from pcneo.face.first_steps import sample_path
from pcneo.server.folders import data_folder
from pcneo.server.servers import LocalServer, start
from pcneo.stored.queries import QueryResult, run_query

if TYPE_CHECKING:
    from pcneo.store.database import Database


@dataclass(frozen=True)
class DemoQuery:
    """A query of the demo.

    Attributes:
        name: in `cypher/queries/`.
        question: what it answers here.
        parameters: all but the run.
    """

    name: str
    question: str
    parameters: Mapping[str, Any]


DEMO_QUERIES = (
    DemoQuery("critical_connections", "Which connections hold student 58's cohesion together?", {"id": 58}),
    DemoQuery("most_needed_vertices", "Which students do the most cohesions rest on?", {"limit": 5}),
    DemoQuery("densest_cohesions", "Whose cohesions are the densest?", {"limit": 5}),
)


@dataclass(frozen=True)
class DemoResult:
    """The demo's results.

    Attributes:
        written: what was stored.
        tables: the answers, by the query's name.
    """

    written: WriteResult
    tables: dict[str, QueryResult]


def start_demo_server(progress: Callable[[int, int], None] | None = None) -> LocalServer:
    """Start the demo's own local server, or find it running."""
    return start(data_folder().with_name("demo"), progress=progress)


def run_demo(db: Database, *, progress: Progress | None = None) -> DemoResult:
    """Load the shipped friendships, annotate them with p=0.3 and run `DEMO_QUERIES`."""
    path = sample_path()
    load(db, path, node_label="Person", relationship_type="KNOWS", key="id", progress=progress)
    written = annotate.write(
        db,
        p="0.3",
        graph="friends",  # as in the guide
        selection=Selection("Person", "KNOWS", "id"),
        progress=progress,
    )
    run = written.runs[0].run
    tables = {
        query.name: run_query(db, query.name, parameters={"run": run, **query.parameters}) for query in DEMO_QUERIES
    }
    return DemoResult(written, tables)
