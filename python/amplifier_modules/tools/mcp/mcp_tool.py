"""A tool of a server as a tool of the session."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

from amplifier_core.models import ToolResult
from amplifier_modules.tool.context import find_context
from amplifier_modules.tools.blocking import make_failure

from .elicitation import answer_question
from .known_tools import OfferedTool
from .open_call import OpenCall
from .required_input import Answered, RequiredInput, restore_state
from .results import Results
from .server import Server
from .server_errors import ConnectionLostError, ServerError


class McpTool:
    """Calls one tool of a server, which may not be connected yet."""

    deferred = True
    """Where a session has many tools, models get its name, and its schema when they ask for it."""
    is_session_bound = False
    """Sub-agents use the servers of the session that they work for."""
    continues_calls = True
    """What a server asks before it answers is asked again in another process, and sent from there."""

    def __init__(
        self, name: str, server: Server, offered: OfferedTool, results: Results, entry_hash: str
    ) -> None:
        """Offer a tool.

        Args:
            name: What models call it.
            server: The server that has it.
            offered: What the server says of it.
            results: Makes its results.
            entry_hash: The hash of what is written of the server.
        """
        self.name = name
        self._entry_hash = entry_hash
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
            answered = await self._ask_again()
            connection = await self.server.find_connection()
            answer = await connection.call_tool(self.offered.name, input, self._id, answered)
        except ConnectionLostError as error:
            message = f"{error}; it may have done what it was asked for"
            return self._make_failure(message, error)
        except ServerError as error:
            return self._make_failure(str(error), error)
        return await self._results.make_result(answer)

    @property
    def _id(self) -> str:
        """What a call that is gone on with must be of."""
        return f"{self._entry_hash} {self.offered.name}"

    async def _ask_again(self) -> Answered | None:
        """Ask what the call has asked in a process that has ended; None for one that begins.

        Raises:
            ServerError: It cannot go on.
            QuestionPutOff: The answer comes when the turn has ended.
        """
        context = find_context()
        if context is None:
            return None
        if context.asked_before is None:
            kept = context.kept_step
            return None if kept is None else restore_state(kept, self._id)
        required = RequiredInput.restore(context.asked_before, self._id)
        answer = partial(answer_question, self.server.name)
        return await required.collect(OpenCall(inf), answer)

    def _make_failure(self, message: str, error: ServerError) -> ToolResult:
        text = self._results.clean(f"the MCP server `{self.server.name}`: {message}", 4096)
        return make_failure(text, type(error).__name__, self._results.max_bytes)
