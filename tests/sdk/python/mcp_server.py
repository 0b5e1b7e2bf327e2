"""A small MCP server: over standard input and output, or at a port when one is given."""

import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("box", instructions="Use echo first.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Gives back a text."""
    print("echo was called", file=sys.stderr)
    return text


@server.tool()
def fail(text: str) -> str:
    """Fails."""
    raise ValueError("no such city")


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
