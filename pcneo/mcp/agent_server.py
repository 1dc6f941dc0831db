"""The tools, served over the Model Context Protocol with its official SDK."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from pcneo.basics.config import __version__
from pcneo.errors import PcneoError, needs_extra
from pcneo.mcp.agent_tools import AgentTools
from pcneo.store.database import Database

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
    tools, turn = AgentTools(db), threading.Lock()
    reading = [
        *(tools.list_graphs, tools.list_runs, tools.read_cohesion, tools.list_queries, tools.run_query),
        *(tools.estimate, tools.read_answer),
    ]
    for tool in reading:
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
