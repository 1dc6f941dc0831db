"""`pcneo mcp`, by the protocol's own client over standard input and output, on a real Neo4j."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from graphs import Database, cycle
from mcp import Client, StdioServerParameters
from neo4j_servers import Server
from services import serving

from pcneo import annotate
from pcneo.basics.selection import Selection

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
READING = ["estimate", "list_graphs", "list_queries", "list_runs", "read_answer", "read_cohesion", "run_query"]


@pytest.fixture(name="db")
def ring_with_a_tail(db: Database) -> Database:
    db.put([*cycle(6), (0, 2), (0, 10), (10, 11)])
    return db


class Agent:
    """A client with an open session."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """The answer of a tool, which must not be an error."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        found = answer.structured_content
        return found["result"] if isinstance(found, dict) and found.keys() == {"result"} else found

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence with which a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        return "".join(getattr(part, "text", "") for part in answer.content)


def talk(server: Server, session: Callable[[Agent], Awaitable[None]], *options: str) -> None:
    """Start `pcneo mcp`, talk to it, and let it go."""
    environment = {"NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"], **server.environment}
    command = StdioServerParameters(command=sys.executable, args=["-m", "pcneo", "mcp", *options], env=environment)

    async def go() -> None:
        async with Client(command, read_timeout_seconds=120) as client:
            await session(Agent(client))

    asyncio.run(go())


def test_an_agent_lists_asks_reads_and_is_answered(db: Database, server: Server) -> None:
    annotate.write(db.store, p="0.6", graph="g", **PERSONS)

    async def session(agent: Agent) -> None:
        tools = (await agent.client.list_tools()).tools
        assert sorted(tool.name for tool in tools) == sorted([*READING, "place_request"])
        hints = {tool.name: tool.annotations and tool.annotations.read_only_hint for tool in tools}
        assert [name for name, reads in hints.items() if not reads] == ["place_request"]
        assert all(tool.description for tool in tools)
        (graph,) = await agent.ask("list_graphs")
        assert (graph["graph"], graph["nodeLabels"], graph["key"]) == ("g", ["Person"], "id")
        (run,) = await agent.ask("list_runs")
        assert (run["p"], run["cohesions"], run["moved"]) == ("3/5", 8, False)
        cohesion = await agent.ask("read_cohesion", vertex=0)
        assert cohesion["size"] == len(cohesion["members"])
        queries = {query["name"]: query for query in await agent.ask("list_queries")}
        assert queries["critical_connections"]["parameters"].keys() >= {"id"}
        rows = (await agent.ask("run_query", name="critical_connections", parameters={"id": 0}))["rows"]
        assert {frozenset((row["a"], row["b"])) for row in rows} == set(map(frozenset, cohesion["criticalConnections"]))
        cost = await agent.ask("estimate", graph="g", p="0.3")
        assert cost["estimates"]["3/10"]["memberships"] > 0
        placed = await agent.ask("place_request", request="a-1", graph="g", p="0.9", vertices=[0])
        assert placed["runs"] == []
        for _ in range(600):
            placed = await agent.ask("read_answer", request="a-1")
            if placed["status"] == "complete":
                break
            await asyncio.sleep(0.1)
        assert placed["runs"], placed
        again = await agent.ask("read_cohesion", vertex=0, p="0.9")
        assert again["run"] == placed["runs"][0]["run"]

    with serving(server, db.name):
        talk(server, session, "--allow-requests")


def test_it_only_reads_unless_the_owner_allows_requests_and_mistakes_are_sentences(
    db: Database, server: Server
) -> None:
    before = db.run("MATCH (n) RETURN count(n)")

    async def session(agent: Agent) -> None:
        tools = (await agent.client.list_tools()).tools
        assert sorted(tool.name for tool in tools) == READING
        assert not [tool.name for tool in tools if {"release", "budget", "clean"} & set(tool.name.split("_"))]
        assert await agent.ask("list_runs") == []
        assert "no graph 'freinds'" in await agent.refused("estimate", graph="freinds", p="0.3")
        assert "Traceback" not in await agent.refused("read_cohesion", vertex=0, p="1.5")
        assert "no request 'x'" in await agent.refused("read_answer", request="x")
        assert "is not a key" in await agent.refused("read_answer", request=2**63)
        assert "nonsense" in await agent.refused("run_query", name="nonsense")

    talk(server, session)
    assert db.run("MATCH (n) RETURN count(n)") == before


def test_a_database_that_is_not_there_ends_it_with_its_sentence(pcneo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    code, out, said = pcneo("mcp")
    assert (code, out) == (5, "")
    assert "127.0.0.1:9" in said
