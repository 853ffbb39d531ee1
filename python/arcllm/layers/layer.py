"""A layer that passes everything on; layers change what concerns them."""

from __future__ import annotations

from collections.abc import AsyncGenerator

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
