"""`pcneo mcp`: what agents may ask over the Model Context Protocol, on standard input and output.

The tools read; one that places requests exists only where the owner allows it, and no tool makes a release or touches
a budget. Only this room uses the protocol's SDK, an extra (`mcp`).
"""

from pcneo.mcp.agent_server import run_agent_server

__all__ = ["run_agent_server"]
