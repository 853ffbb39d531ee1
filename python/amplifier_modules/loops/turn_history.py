"""What a turn adds to the conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amplifier_core.message_models import ChatResponse

from ..awaitable import awaitable_of
from .cancellation import Shielded
from .response import RequestedCall, assistant_message


class TurnHistory:
    """The conversation in the context, as its turn extends it.

    A message is added completely or not at all, also during cancellation. One limit:
    `asyncio.Task.cancel` may interrupt a context that suspends while it stores a message; ours does
    not suspend.
    """

    def __init__(self, context: Any) -> None:
        """Extend the conversation of this context."""
        self.context = context
        self.ends_in_tool_results = False
        """Whether the last message of the turn is the result of a tool."""

    async def add(self, message: dict[str, Any]) -> None:
        """Add a message of the user or the model."""
        with Shielded():
            await self._add(message)
        self.ends_in_tool_results = False

    async def add_response(self, response: ChatResponse, calls: list[RequestedCall]) -> None:
        """Add what the model answered, with the calls that are run; nothing if it is empty."""
        if message := assistant_message(response, calls):
            await self.add(message)

    async def add_results(self, messages: Iterable[dict[str, Any]]) -> None:
        """Add the results of tools."""
        with Shielded():
            for message in messages:
                await self._add(message)
        self.ends_in_tool_results = True

    async def _add(self, message: dict[str, Any]) -> None:
        await awaitable_of(self.context.add_message(message), "add_message", "context")
