"""A call of a tool in rounds: sent again, with what the server has needed, until there is a result."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from amplifier_core import world

from .open_call import MAX_QUESTIONS, OpenCall
from .required_input import Answer, Answered, RequiredInput
from .server_errors import CallRefusedError

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, InputRequiredResult

_FIRST_WAIT = 0.05
_LONGEST_WAIT = 1.0
_MAX_PAGES = 100


class CallRounds:
    """One call at the server that is connected."""

    def __init__(
        self, client: Client, call: OpenCall, name: str, arguments: dict[str, Any]
    ) -> None:
        """Describe a call; nothing is sent yet.

        Args:
            client: Speaks to the server.
            call: What is known of the call here.
            name: What the server calls the tool.
            arguments: Those of the call.
        """
        self._client = client
        self._call = call
        self._name = name
        self._arguments = arguments

    async def run(
        self, tool: str, answer: Answer | None, answered: Answered | None = None
    ) -> CallToolResult:
        """Send the call until the server needs nothing more, and return the result.

        Args:
            tool: What the tool is known by where the call is gone on with.
            answer: Puts a question to a person; None where nobody can be asked.
            answered: What the server has needed in another process; None for a call that begins.

        Raises:
            CallRefusedError: The server needs what nobody gives, or too much of it.
            QuestionPutOff: The answer comes when the turn has ended.
            StoreError: How far the call is cannot be stored.
        """
        from mcp.types import InputRequiredResult

        wait, rounds = _FIRST_WAIT, 0
        result = await self._send(answered or Answered())
        while isinstance(result, InputRequiredResult):
            required = RequiredInput.read(result, tool)
            if required.requests:
                wait, rounds = _FIRST_WAIT, rounds + 1
                if rounds > MAX_QUESTIONS:
                    raise CallRefusedError(f"it asks more than {MAX_QUESTIONS} times")
            else:
                await required.keep()
                await world.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
            with self._call.hold() if required.requests else nullcontext():
                answered = await required.collect(self._call, answer)
            result = await self._send(answered)
        return result

    async def _send(self, answered: Answered) -> CallToolResult | InputRequiredResult:
        from mcp import MCPError
        from mcp.types import HEADER_MISMATCH

        try:
            return await self._send_once(answered)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # Some arguments are headers, too, by a schema that has changed since it was listed.
        await self._list_again()
        return await self._send_once(answered)

    async def _send_once(self, answered: Answered) -> CallToolResult | InputRequiredResult:
        return await self._client.session.call_tool(
            self._name,
            self._arguments,
            progress_callback=self._call.report,
            input_responses=answered.responses,
            request_state=answered.state,
            allow_input_required=True,
        )

    async def _list_again(self) -> None:
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            cursor = page.next_cursor
            if cursor is None or any(each.name == self._name for each in page.tools):
                return
