"""A base class for providers: they need a name and either `chunks` or `complete`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, TypeGuard

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo

from ..closing import closing
from ..model_window import limits_of, messages_budget


class BaseProvider:
    """A provider in a few lines.

        class Echo(BaseProvider):
            name = "echo"

            async def chunks(self, request, **options):
                yield "Hello"

    `chunks` alone makes a provider that streams: loops show each text as it comes. Where
    `complete` is defined, loops call it and never `chunks`: it then emits the block events of its
    answer itself, or the loop emits them when the answer is there.
    """

    name: str
    """What it is mounted as."""
    reports_cost = False
    """Whether its responses say what they cost, as a budget of `cost` needs."""

    def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[str | ChatResponse]:
        """Yield the answer in pieces of text, at the end perhaps a `ChatResponse`.

        Without a `ChatResponse` the texts are the answer; with one, it is. No events are emitted.

        Args:
            request: The conversation and the tools.
            **options: What the loop asks for besides, such as `extended_thinking`.
        """
        message = f"`{type(self).__name__}` defines neither `chunks` nor `complete`; it needs one"
        raise NotImplementedError(message)

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Return the whole answer."""
        texts: list[str] = []
        async with closing(checked_chunks(self, request, **options)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatResponse):
                    return piece
                texts.append(piece)
        return ChatResponse(content=[TextBlock(text="".join(texts))] if texts else [])

    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(id=self.name, display_name=self.name)

    def get_model_info(self) -> ModelInfo | None:
        """Describe the model that answers; None if nothing is known about it, as by default."""
        return None

    def request_budget(self, request: ChatRequest | None = None) -> int | None:
        """Return how many tokens the messages of a request may have; None if that is not known.

        It is the context window of the model, less space for the answer and a margin, as tokens
        are estimated. Contexts call it without a request.

        Args:
            request: The request, whose `max_output_tokens` is then the space for the answer; None
                for half of what the model can write.
        """
        for info in (self.get_model_info(), self.get_info()):
            window, output = limits_of(info)
            if window is not None:
                asked = None if request is None else request.max_output_tokens
                return messages_budget(window, output, asked)
        return None

    async def list_models(self) -> list[ModelInfo]:
        """List the models that can be asked; none by default."""
        return []

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of an answer."""
        return list(response.tool_calls or [])


def answers_in_chunks(provider: object) -> TypeGuard[BaseProvider]:
    """Whether loops that stream take the answer from `chunks`: `complete` is the inherited one."""
    # A mock has any attribute, but only once it is accessed.
    complete = inspect.getattr_static(provider, "complete", None)
    return complete is inspect.getattr_static(BaseProvider, "complete")


async def checked_chunks(
    provider: BaseProvider, request: ChatRequest, **options: Any
) -> AsyncGenerator[str | ChatResponse]:
    """Yield what `chunks` of the provider yields.

    Raises:
        TypeError: It is neither a text nor a `ChatResponse`.
    """
    async with closing(provider.chunks(request, **options)) as pieces:
        async for piece in pieces:
            if not isinstance(piece, str | ChatResponse):  # pyright: ignore[reportUnnecessaryIsInstance] -- providers may not be typed
                raise TypeError(
                    f"`chunks` of `{type(provider).__name__}` yielded a `{type(piece).__name__}`"
                    " (must be text, or at the end a `ChatResponse`)"
                )
            yield piece
