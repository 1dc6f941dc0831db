"""What an agent may ask: each tool is a method, and its docstring is what the agent reads."""

from __future__ import annotations

from typing import Any

from pcneo.annotate import estimate as estimate_graph
from pcneo.basics.json_form import json_form
from pcneo.errors import NotFoundError
from pcneo.service.placing import PlacedRequest
from pcneo.store.chosen_graph import find_graph
from pcneo.store.database import Database
from pcneo.stored.queries import list_queries, run_query
from pcneo.stored.runs import list_runs
from pcneo.stored.showing import plain_cohesion, show

AnyKey = str | int
"""The key of a vertex, as JSON holds it."""


class AgentTools:
    """The tools, over one database; each returns values that JSON can hold."""

    def __init__(self, db: Database) -> None:
        """Ask this database."""
        self._db = db

    def list_graphs(self) -> list[dict[str, Any]]:
        """List the graphs that pcneo knows here: name, node labels, relationship types, and the key of a vertex."""
        return [{"graph": record.name, **json_form(record.selection)} for record in self._db.list_graphs()]

    def list_runs(self, graph: str | None = None) -> list[dict[str, Any]]:
        """List the stored runs of one graph or of all: p, search, version, and how many cohesions and memberships.

        `moved` is true if the graph is known to have changed since.
        """
        return [{**json_form(stored.run), "moved": stored.moved} for stored in list_runs(self._db, graph=graph)]

    def read_cohesion(
        self, vertex: AnyKey, graph: str | None = None, p: str | None = None, search: str | None = None
    ) -> dict[str, Any]:
        """Read the stored minimal p-cohesion of one vertex, named by its key.

        A minimal p-cohesion is a smallest connected set found around the vertex in which every member keeps at least a
        fraction p of its neighbours; the connections inside are the vertex's critical connections. `proven` means that
        no smaller one exists. If `best` is false, it is one of several. graph, p and search choose among stored runs.
        """
        return plain_cohesion(show(self._db, vertex=vertex, graph=graph, p=p, search=search))

    def list_queries(self) -> list[dict[str, Any]]:
        """List the queries about stored cohesions that can be run by name, and the parameters that each takes."""
        return [
            {"name": query.name, "asks": query.summary, "parameters": {d.name: d.kind for d in query.parameters}}
            for query in list_queries()
        ]

    def run_query(
        self,
        name: str,
        parameters: dict[str, AnyKey] | None = None,
        graph: str | None = None,
        p: str | None = None,
        search: str | None = None,
    ) -> dict[str, Any]:
        """Run one of the queries of `list_queries`; a vertex is given by its key, in the parameter `id`."""
        result = run_query(self._db, name, parameters=parameters, graph=graph, p=p, search=search)
        rows = [dict(zip(result.columns, json_form(list(row)), strict=True)) for row in result.rows]
        return {"run": result.run.id, "version": result.run.version, "moved": result.moved, "rows": rows}

    def estimate(self, graph: str, p: str, search: str | None = None) -> dict[str, Any]:
        """Estimate what annotating a whole graph would cost, from a sample: memberships, seconds, bytes.

        Reads the whole graph once, which can take a minute. Writes nothing.
        """
        find_graph(self._db, graph)  # stops a name that no graph has: `estimate` would take it for a new graph's
        return json_form(estimate_graph(self._db, graph=graph, p=p, search=search))

    def read_answer(self, request: AnyKey) -> dict[str, Any]:
        """Read how far along a request is: its status, progress from 0 to 1, message, and the runs that it produced.

        A status of null means that no service has taken it yet.
        """
        rows = self._db.read("get_answer", id=request)
        if not rows:
            raise NotFoundError(f"There is no request {request!r}.", what="request", name=request)
        return {**rows[0], "runs": [{"run": run, "version": version} for run, version in rows[0]["runs"]]}

    def place_request(
        self, request: str, graph: str, vertices: list[AnyKey], p: str | None = None, search: str | None = None
    ) -> dict[str, Any]:
        """Ask the service beside the database for the cohesions of some vertices; `read_answer` has the answer.

        request is an identifier that you choose: repeating it does not ask twice. Without p, this asks for every
        standing run of the graph.
        """
        placed = PlacedRequest(
            command="annotate", graph=graph, p=p, search=search, vertices=vertices, run=None, by="mcp", id=request
        )
        self._db.write("place_request", **placed.parameters())
        return self.read_answer(request)
