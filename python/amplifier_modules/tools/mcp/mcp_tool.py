"""A tool of a server as a tool of the session."""

from __future__ import annotations

from typing import Any

from amplifier_core.models import ToolResult
from amplifier_modules.tools.blocking import make_failure

from .known_tools import OfferedTool
from .results import Results
from .server import Server
from .server_errors import ConnectionLostError, ServerError


class McpTool:
    """Calls one tool of a server, which may not be connected yet."""

    deferred = True
    """Where a session has many tools, models get its name, and its schema when they ask for it."""
    is_session_bound = False
    """Sub-agents use the servers of the session that they work for."""

    def __init__(self, name: str, server: Server, offered: OfferedTool, results: Results) -> None:
        """Offer a tool.

        Args:
            name: What models call it.
            server: The server that has it.
            offered: What the server says of it.
            results: Makes its results.
        """
        self.name = name
        self.server = server
        self._results = results
        self.take_offer(offered)

    def take_offer(self, offered: OfferedTool) -> None:
        """Take what the server says of the tool now."""
        self.offered = offered
        """What the server says of it, the data of an MCP App among it."""
        self.description = offered.description
        self.input_schema = offered.input_schema

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call the tool; what goes wrong is in the result."""
        try:
            connection = await self.server.find_connection()
            answer = await connection.call_tool(self.offered.name, input)
        except ConnectionLostError as error:
            message = f"{error}; it may have done what it was asked for"
            return self._make_failure(message, error)
        except ServerError as error:
            return self._make_failure(str(error), error)
        return await self._results.make_result(answer)

    def _make_failure(self, message: str, error: ServerError) -> ToolResult:
        text = self._results.clean(f"the MCP server `{self.server.name}`: {message}", 4096)
        return make_failure(text, type(error).__name__, self._results.max_bytes)
