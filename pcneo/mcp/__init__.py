"""`pcneo mcp`: what agents may ask over the Model Context Protocol, on standard input and output.

Tools read; one that places a request exists only where the owner allowed it, and none makes a release or touches a
budget. Only this room speaks to the protocol's SDK, an extra (`mcp`).
"""

from pcneo.mcp.agent_server import run_agent_server

__all__ = ["run_agent_server"]
