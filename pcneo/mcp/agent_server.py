"""What an agent may ask, served over the Model Context Protocol with its official SDK.

Each tool is a method, and its docstring is what the agent reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from pcneo.annotate import estimate as estimate_graph
from pcneo.basics.config import __version__
from pcneo.basics.json_form import json_form
from pcneo.basics.keys import key_that_fits
from pcneo.basics.model import Key
from pcneo.errors import NotFoundError, PcneoError, needs_extra
from pcneo.service.placing import PlacedRequest
from pcneo.store.chosen_graph import find_graph
from pcneo.store.database import Database
from pcneo.stored.queries import list_queries, run_query
from pcneo.stored.runs import list_runs
from pcneo.stored.showing import plain_cohesion, show

INSTRUCTIONS = (
    "Stored critical connections of graphs in Neo4j. Begin with list_graphs and list_runs. Cohesions are computed from "
    "the exact graph and protect no one's privacy: show them only to people who may see the graph. Only the owner "
    "releases noisy counts, on the command line."
)


def run_agent_server(db: Database, *, allow_requests: bool = False) -> None:
    """Answer on standard input and output until the client disconnects."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp_types import ToolAnnotations
    except ImportError as error:
        raise PcneoError(needs_extra("`pcneo mcp` needs the Model Context Protocol's SDK", "mcp")) from error
    server: MCPServer[Any] = MCPServer("pcneo", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING")
    tools, turn = _Tools(db), threading.Lock()
    reading = (tools.list_graphs, tools.list_runs, tools.read_cohesion, tools.list_queries, tools.run_query)
    for tool in (*reading, tools.estimate, tools.read_answer):
        server.add_tool(_answering(tool, turn), annotations=ToolAnnotations(read_only_hint=True))
    if allow_requests:
        annotations = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
        server.add_tool(_answering(tools.place_request, turn), annotations=annotations)
    server.run()


def _answering(tool: Callable[..., Any], turn: threading.Lock) -> Callable[..., Any]:
    """Allow one call at a time; the agent gets pcneo's errors as their sentence, and any other without details."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def answering(*args: Any, **named: Any) -> Any:
        try:
            with turn:
                return tool(*args, **named)
        except PcneoError as error:
            raise ToolError(str(error)) from error

    return answering


class _Tools:
    """The tools, over one database; each returns values that JSON can hold."""

    def __init__(self, db: Database) -> None:
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
        self, vertex: Key, graph: str | None = None, p: str | None = None, search: str | None = None
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
        parameters: dict[str, Key] | None = None,
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

    def read_answer(self, request: Key) -> dict[str, Any]:
        """Read how far along a request is: its status, progress from 0 to 1, message, and the runs that it produced.

        A status of null means that no service has taken it yet.
        """
        rows = self._db.read("get_answer", id=key_that_fits(request))
        if not rows:
            raise NotFoundError(f"There is no request {request!r}.", what="request", name=request)
        return {**rows[0], "runs": [{"run": run, "version": version} for run, version in rows[0]["runs"]]}

    def place_request(
        self, request: str, graph: str, vertices: list[Key], p: str | None = None, search: str | None = None
    ) -> dict[str, Any]:
        """Ask the service beside the database for the cohesions of some vertices; `read_answer` has the answer.

        request is an identifier that you choose: repeating it does not ask twice, and it must then ask for the same.
        Without p, this asks for every standing run of the graph.
        """
        placed = PlacedRequest(
            command="annotate", graph=graph, p=p, search=search, vertices=vertices, run=None, by="mcp", id=request
        )
        placed.check_same(self._db.write("place_request", **placed.parameters()))
        return self.read_answer(request)
