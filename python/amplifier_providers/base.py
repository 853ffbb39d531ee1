"""A base class for providers: they need a name and either `chunks` or `complete`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo

from .answers.response_facts import tool_calls_of
from .requests.model_window import limits_of, may_say_limits, messages_budget, says_no_limits
from .running.closing import closing
from .running.stored_attribute import find_stored

if TYPE_CHECKING:
    from amplifier_stream import AgentEvent, StreamChunk

Piece: TypeAlias = Union[str, "StreamChunk", "AgentEvent", ChatResponse]
"""What `chunks` may yield: a text, a chunk (of text, thinking or a native call), an event of its own,
at the end a whole response."""

CHUNKS_YIELD = (
    "must be an async generator: `async def chunks(self, request, **options)` with `yield`"
)
"""What is right for `chunks`, for errors."""


class BaseProvider:
    """A provider in a few lines.

        class Echo(BaseProvider):
            name = "echo"

            async def chunks(self, request, **options):
                yield "Hello"

    `chunks` alone makes a provider that streams: loops show each text and thought as it comes.
    Where `complete` is defined, loops call it, and `chunks` only for a model that writes its calls
    as tags: `complete` then emits the block events of its answer itself, or the loop emits them when
    the answer is there.
    """

    name: str
    """What it is mounted as."""
    reports_cost = False
    """Whether its responses say what they cost, as a budget of `cost` needs."""

    def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        """Yield the answer in pieces, at the end perhaps a `ChatResponse`.

        A piece is a text, or a `StreamChunk`: of thinking, of text, or of a native call. Without a
        `ChatResponse` the pieces are the answer; with one, it is. An answer that ends in a chunk
        that is not `finished` is truncated, and its calls never run. An `AgentEvent` among the
        pieces reaches the hooks of loops that emit such events. No events are emitted here.

        Args:
            request: The conversation and the tools.
            **options: What the loop asks for besides, such as `extended_thinking`.
        """
        message = f"`{type(self).__name__}` defines neither `chunks` nor `complete`; it needs one"
        raise NotImplementedError(message)

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Return the whole answer."""
        pieces = checked_chunks(self, request, **options)
        if not has_extension():
            return await _join_pieces(pieces)
        from .answers.gathered_answer import whole_response

        return await whole_response(pieces)

    @says_no_limits
    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(id=self.name, display_name=self.name)

    @says_no_limits
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
        for name in ("get_model_info", "get_info"):
            method = getattr(self, name)
            if not may_say_limits(method):
                continue
            window, output = limits_of(method())
            if window is not None:
                asked = None if request is None else request.max_output_tokens
                return messages_budget(window, output, asked)
        return None

    async def list_models(self) -> list[ModelInfo]:
        """List the models that can be asked; none by default."""
        return []

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of an answer: its `tool_calls`, else those in its content."""
        return tool_calls_of(response)


def answers_in_chunks(provider: object) -> TypeGuard[BaseProvider]:
    """Whether loops that stream take the answer from `chunks`: `complete` is the inherited one."""
    return find_stored(provider, "complete") is BaseProvider.complete


async def checked_chunks(
    provider: Any, request: ChatRequest, **options: Any
) -> AsyncGenerator[Piece]:
    """Yield what `chunks` of the provider yields.

    Raises:
        TypeError: It is no `Piece`, or `chunks` returns instead of yielding.
    """
    returned = provider.chunks(request, **options)
    if not hasattr(returned, "__aiter__"):
        if inspect.iscoroutine(returned):
            returned.close()
        raise TypeError(
            f"`chunks` of `{type(provider).__name__}` returned a `{type(returned).__name__}`"
            f" ({CHUNKS_YIELD})"
        )
    async with closing(returned) as pieces:
        async for piece in pieces:
            if not _is_piece(piece):
                raise TypeError(
                    f"`chunks` of `{type(provider).__name__}` yielded a `{type(piece).__name__}`"
                    " (must be text, a `StreamChunk`, an `AgentEvent`, or at the end a"
                    " `ChatResponse`)"
                )
            yield piece


@cache
def has_extension() -> bool:
    """Whether streams can be processed: without the extension only texts can be pieces."""
    try:
        import_module("amplifier_stream")
    except ModuleNotFoundError:
        return False
    return True


def _is_piece(piece: object) -> bool:
    if isinstance(piece, str | ChatResponse):
        return True
    if not has_extension():
        return False
    from .answers.pieces import is_piece

    return is_piece(piece)


async def _join_pieces(pieces: AsyncIterator[Any]) -> ChatResponse:
    """Return the response of texts."""
    texts: list[str] = []
    async with closing(pieces):
        async for piece in pieces:
            if isinstance(piece, ChatResponse):
                return piece
            texts.append(piece)
    return ChatResponse(content=[TextBlock(text="".join(texts))] if texts else [])
