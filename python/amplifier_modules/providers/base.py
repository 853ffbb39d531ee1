"""A base class for providers: they need a name and either `chunks` or `complete`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo

from ..awaitable import awaitable_of
from ..closing import closing


class BaseProvider:
    """A provider in a few lines.

        class Echo(BaseProvider):
            name = "echo"

            async def chunks(self, request, **options):
                yield "Hello"

    Loops that stream show each text of `chunks` as it comes.
    """

    name: str
    """What it is mounted as."""
    reports_cost = False
    """Whether its responses say what they cost, as a budget of `cost` needs."""

    def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[str | ChatResponse]:
        """Yield the answer in pieces of text, at the end perhaps a `ChatResponse`.

        Without a `ChatResponse` the texts are the answer; with one, it is.

        Args:
            request: The conversation and the tools.
            **options: What the loop asks for besides, such as `extended_thinking`.
        """
        message = f"`{type(self).__name__}` defines neither `chunks` nor `complete`; it needs one"
        raise NotImplementedError(message)

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Return the whole answer."""
        texts: list[str] = []
        async with closing(self.chunks(request, **options)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatResponse):
                    return piece
                texts.append(_text(self, piece))
        return ChatResponse(content=[TextBlock(text="".join(texts))] if texts else [])

    async def stream(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[str | ChatResponse]:
        """Yield what `chunks` yields; the answer of `complete` where only that is defined."""
        options.pop("tools", None)  # they are in the request
        if type(self).chunks is BaseProvider.chunks:
            answer = self.complete(request, **options)
            yield await awaitable_of(answer, "complete", self.name)
            return
        async with closing(self.chunks(request, **options)) as pieces:
            async for piece in pieces:
                yield piece if isinstance(piece, ChatResponse) else _text(self, piece)

    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(id=self.name, display_name=self.name)

    async def list_models(self) -> list[ModelInfo]:
        """List the models that can be asked; none by default."""
        return []

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of an answer."""
        return list(response.tool_calls or [])


def _text(provider: BaseProvider, piece: object) -> str:
    if not isinstance(piece, str):
        raise TypeError(
            f"`chunks` of `{type(provider).__name__}` yielded a `{type(piece).__name__}` (must be"
            " text, or at the end a `ChatResponse`)"
        )
    return piece
