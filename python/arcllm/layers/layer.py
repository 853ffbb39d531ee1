"""A layer that passes everything on, and the beginning of a stream, which a layer can ask for again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TypeAlias

from ..step import Call, Piece, Step
from ..types import LLMResponse


class Layer:
    """A step around another one.

    Args:
        beneath: What is asked for the answer.
    """

    def __init__(self, beneath: Step) -> None:
        self.beneath = beneath
        self.name = beneath.name
        """The provider that answers."""
        self.model_name = beneath.model_name
        """The model that answers."""
        self.asks_allowance: bool = getattr(beneath, "asks_allowance", False)
        """Whether each request is sent only within the allowance of its call."""

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer."""
        return await self.beneath.complete(call)

    def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response."""
        return self.beneath.stream(call)

    async def close(self) -> None:
        """Close what is beneath."""
        await self.beneath.close()


Begun: TypeAlias = tuple[AsyncGenerator[Piece], Piece]
"""A stream, and its first piece."""


async def begin(step: Step, call: Call) -> Begun:
    """Ask for a stream, and wait for its first piece. If that fails, the stream is closed."""
    pieces = step.stream(call)
    # A generator that raises is over: there is nothing to close.
    return pieces, await anext(pieces)
