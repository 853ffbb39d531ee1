"""`provider-demo`: a model for those without a key, a program and not a language model."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
from pydantic import Field

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_core.session_capabilities import SESSION_COST
from amplifier_providers.base import BaseProvider, Piece
from amplifier_providers.requests.requested_thinking import requested_thinking
from amplifier_providers.settings import Settings, read_settings

from .decision import decide
from .foreign import read_mapping
from .turn import Answer, read_turn

if TYPE_CHECKING:
    from amplifier_stream import StreamChunk

__all__ = ["DemoProvider", "mount"]

__amplifier_module_type__ = "provider"

MODEL = "amplifier-demo"
_MODEL_INFO = ModelInfo(
    id=MODEL,
    display_name="Demo model (a program)",
    context_window=200_000,
    max_output_tokens=32_000,
    capabilities=["streaming", "tools", "thinking"],
)
_MAX_ANSWER_SECONDS = 0.9
_CHARACTERS_PER_TOKEN = 4
_FRAGMENT_CHARS = 12
_WORDS = re.compile(r"\s*\S+\s*\S*|\s+\Z")


class DemoSettings(Settings):
    """How the demo model answers."""

    pace: float = Field(default=0.004, ge=0, lt=1e9)
    """Seconds between the deltas of an answer; a whole one takes less than a second."""


__amplifier_settings__ = DemoSettings


class DemoProvider(BaseProvider):
    """A program in the place of a model, which costs nothing and needs neither key nor network.

    It gives tours of a folder with the tools `list_directory`, `glob`, `grep` and `read_file`, calls
    any tool that it is asked to call, and lists what it can do. The same request has the same answer.
    """

    name = "demo"
    default_model = MODEL
    reports_cost = True

    def __init__(self, *, pace: float = 0.004) -> None:
        """Set how fast it answers.

        Args:
            pace: Seconds between the pieces of an answer; 0 for no pause. A whole answer takes less
                than a second in any case.
        """
        self._pace = pace
        self._calls = 0

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        """Yield the answer a word or two at a time, at the end the whole response.

        Raises:
            InvalidRequestError: An option for thinking has no meaning.
        """
        thinking = requested_thinking(options, request.reasoning_effort, None, provider=self.name)
        thinks = not (thinking.is_off or _forces_call(request.tool_choice))
        answer = decide(read_turn(request, thinks=thinks))
        chunks = list(_chunks_of(answer))
        pause = min(self._pace, _MAX_ANSWER_SECONDS / max(1, len(chunks)))
        for chunk in chunks:
            yield chunk
            await (anyio.sleep(pause) if pause else anyio.lowlevel.checkpoint())
        self._calls += 1
        yield _build_response(answer, _count_characters(request))

    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(
            id=self.name,
            display_name="Demo model",
            capabilities=_MODEL_INFO.capabilities,
            defaults={
                "model": MODEL,
                "context_window": _MODEL_INFO.context_window,
                "max_output_tokens": _MODEL_INFO.max_output_tokens,
            },
        )

    def get_model_info(self) -> ModelInfo:
        """Describe the model."""
        return _MODEL_INFO

    async def list_models(self) -> list[ModelInfo]:
        """List the one model."""
        return [_MODEL_INFO]

    def call_cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what a call costs, in US dollars: nothing."""
        del input_tokens, output_tokens
        return Decimal(0)

    def describe_cost(self) -> dict[str, Any]:
        """Return what the provider has cost so far, for the channel `session.cost`."""
        calls = {"model_calls": self._calls, "unpriced_calls": 0}
        return {"provider": self.name, "cost_usd": "0", **calls}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the demo model as `demo`."""
    settings = read_settings(DemoSettings, config, "provider-demo")
    provider = DemoProvider(pace=settings.pace)
    await coordinator.mount("providers", provider, name=provider.name)
    register = getattr(coordinator, "register_contributor", None)
    if register is not None:
        register(SESSION_COST, provider.name, provider.describe_cost)


def _forces_call(choice: Any) -> bool:
    kind = choice if isinstance(choice, str) else read_mapping(choice).get("type")
    return choice is not None and kind not in {"auto", "none"}


def _chunks_of(answer: Answer) -> Iterator[StreamChunk]:
    from amplifier_stream import ChunkCall, StreamChunk

    for part in _WORDS.findall(answer.thinking):
        yield StreamChunk(part, type="thinking")
    for part in _WORDS.findall(answer.text):
        yield StreamChunk(part)
    for index, call in enumerate(answer.calls):
        about = ChunkCall(index, call.id, call.name)
        arguments = json.dumps(call.input)
        for start in range(0, len(arguments), _FRAGMENT_CHARS):
            fragment = arguments[start : start + _FRAGMENT_CHARS]
            yield StreamChunk(fragment, type="tool_call", call=about)
        block = {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.input}
        whole = replace(about, block={**block, "raw_arguments": arguments, "error": None})
        yield StreamChunk(type="tool_call", call=whole)


def _count_characters(request: ChatRequest) -> int:
    """Return how long a request is without the data of its images, which it does not look at."""
    blocks = (
        block
        for message in request.messages
        if not isinstance(message.content, str)
        for block in message.content
    )
    unseen = sum(len(str(each.source)) for each in blocks if isinstance(each, ImageBlock))
    return len(request.model_dump_json(exclude_none=True)) - unseen


def _build_response(answer: Answer, request_chars: int) -> ChatResponse:
    content: list[Any] = []
    if answer.thinking:
        content.append(ThinkingBlock(thinking=answer.thinking))
    if answer.text:
        content.append(TextBlock(text=answer.text))
    content += [
        ToolCallBlock(id=each.id, name=each.name, input=each.input) for each in answer.calls
    ]
    calls = [ToolCall(id=each.id, name=each.name, arguments=each.input) for each in answer.calls]
    read = max(1, request_chars // _CHARACTERS_PER_TOKEN)
    thought = _count_tokens(answer.thinking)
    arguments = sum(_count_tokens(json.dumps(each.input)) for each in answer.calls)
    written = thought + _count_tokens(answer.text) + arguments
    usage = Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        reasoning_tokens=thought,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cost_usd=Decimal(0),
    )
    return ChatResponse(
        content=content,
        tool_calls=calls or None,
        usage=usage,
        finish_reason="tool_use" if calls else "end_turn",
        metadata={"provider": DemoProvider.name, "model": MODEL},
    )


def _count_tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
