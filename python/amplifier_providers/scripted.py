"""`provider-scripted`: a provider that gives scripted answers, for tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, Union, cast

import anyio
from pydantic import Field, TypeAdapter, ValidationError

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlockUnion,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_providers.settings import Settings, read_settings

from .base import BaseProvider, Piece, has_extension

__amplifier_module_type__ = "provider"

ScriptItem: TypeAlias = Union[  # noqa: UP007 -- it names itself
    str,
    Mapping[str, Any],
    Sequence[Mapping[str, Any]],
    ChatResponse,
    BaseException,
    Callable[[ChatRequest], "ScriptItem"],
]
"""One answer.

A text; a tool call `{"tool": …, "arguments": …}` or another block as a mapping; several of them; a
whole response; an exception, which is raised; or a function of the request that returns one of
these.
"""

_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlockUnion)
_WORD = re.compile(r"\s*\S+\s*|\s+")


class ScriptedSettings(Settings):
    """What the provider answers."""

    script: list[Any] = Field(default_factory=list[Any])
    """The answers, one for each request: texts, and blocks or lists of blocks as mappings."""
    repeat: bool = False
    """Whether the script begins again at its end."""
    delay: float = Field(default=0.0, ge=0, lt=1e9)
    """Seconds before each word."""


__amplifier_settings__ = ScriptedSettings


class ScriptedProvider(BaseProvider):
    """Gives the answers of a script, one for each request, and keeps the requests.

        model = ScriptedProvider([{"tool": "add", "arguments": {"a": 2}}, "Three."])

    It streams word by word. Its usage counts words in the place of tokens.
    """

    name = "scripted"

    def __init__(
        self, script: Iterable[ScriptItem], *, repeat: bool = False, delay: float = 0
    ) -> None:
        """Set the script.

        Args:
            script: The answers in their order; see `ScriptItem`.
            repeat: Whether the script begins again at its end.
            delay: Seconds before each word.

        Raises:
            TypeError: The script is a text, an item of it is none of these, or `delay` no number.
            ValueError: A mapping is neither a tool call nor a block, there is nothing to repeat, or
                `delay` is below 0.
        """
        if isinstance(script, str | Mapping):
            found = type(script).__name__  # pyright: ignore[reportUnknownArgumentType] -- of any kind
            raise TypeError(f"`script` is a `{found}` (must be a list of answers)")
        if isinstance(delay, bool) or not isinstance(delay, int | float):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            raise TypeError(f"`delay` is a `{type(delay).__name__}` (must be a number of seconds)")
        if not 0 <= delay < float("inf"):
            raise ValueError(f"`delay` is `{delay}` (must be 0 seconds or more)")
        self._script: list[Any] = list(script)
        self._repeat = repeat
        self._delay = delay
        self._next = 0
        self._calls = 0
        self.requests: list[ChatRequest] = []
        """Each request as it was when it came."""
        for position, item in enumerate(self._script):
            if not callable(item):
                _check_item(item, f"item {position} of the script")
        if repeat and not self._script:
            raise ValueError("`script` is empty: there is nothing to repeat")

    @property
    def remaining(self) -> int:
        """How many answers are left; with `repeat`, of this round."""
        return len(self._script) - self._next

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        """Yield the words and the thoughts of the next answer, and the answer itself.

        Raises:
            AssertionError: The script is over.
            BaseException: What the script says.
        """
        self.requests.append(request.model_copy(deep=True))
        response = self._make_response(self._take_item(request), request)
        for block in response.content:
            if isinstance(block, TextBlock):
                for word in _WORD.findall(block.text):
                    if self._delay:
                        await anyio.sleep(self._delay)
                    yield word
            elif isinstance(block, ThinkingBlock) and has_extension():
                from amplifier_stream import StreamChunk

                yield StreamChunk(block.thinking, type="thinking")
        yield response

    def _take_item(self, request: ChatRequest) -> Any:
        if self._repeat and self._next == len(self._script):
            self._next = 0
        if self._next == len(self._script):
            message = (
                f"the script of the model is over: request {len(self.requests)} came after its"
                f" {len(self._script)} answers; add one, or set `repeat=True`"
            )
            raise AssertionError(message)
        item: Any = self._script[self._next]
        self._next += 1
        while callable(item):
            item = item(request)
        return _check_item(item, "the function of the script")

    def _make_response(self, item: Any, request: ChatRequest) -> ChatResponse:
        if isinstance(item, BaseException):
            raise item
        if isinstance(item, ChatResponse):
            return item.model_copy(deep=True)
        blocks = [self._add_id(block) for block in cast("list[Any]", item)]
        calls = [
            ToolCall(id=block.id, name=block.name, arguments=block.input)
            for block in blocks
            if isinstance(block, ToolCallBlock)
        ]
        asked = sum(
            _count_words(message.model_dump(exclude_none=True)) for message in request.messages
        )
        answered = sum(_count_words(block.model_dump(exclude_none=True)) for block in blocks)
        return ChatResponse(
            content=blocks,
            tool_calls=calls or None,
            usage=Usage(input_tokens=asked, output_tokens=answered, total_tokens=asked + answered),
            finish_reason="tool_use" if calls else "end_turn",
        )

    def _add_id(self, block: Any) -> Any:
        """Return a block of its own; a tool call without an id gets one."""
        block = block.model_copy(deep=True)
        if isinstance(block, ToolCallBlock) and not block.id:
            self._calls += 1
            block.id = f"call_{self._calls}"
        return block


def _check_item(item: Any, where: str) -> Any:
    """Return a response or an exception as it is, and all else as blocks."""
    if isinstance(item, ChatResponse | BaseException):
        return item
    if isinstance(item, str):
        return [TextBlock(text=item)]
    if isinstance(item, Mapping):
        item = [item]
    if not isinstance(item, Sequence):
        found = type(item).__name__
        raise TypeError(
            f"{where} is a `{found}` (must be a text, a mapping, a list of mappings, a"
            " `ChatResponse`, an exception, or a function that returns one of them)"
        )
    return [_block(each, where) for each in cast("Sequence[Any]", item)]


def _block(given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise TypeError(f"{where} holds a `{type(given).__name__}` (must be a mapping)")
    fields = cast("Mapping[str, Any]", given)
    block = dict(fields)
    if "tool" in block:
        unknown = block.keys() - {"tool", "arguments", "id"}
        if unknown:
            raise ValueError(f"{where}: a tool call has no key `{min(unknown)}`")
        arguments = block.get("arguments", {})
        block = {"type": "tool_call", "name": block["tool"], "input": arguments}
        block["id"] = fields.get("id", "")
    try:
        return _BLOCK.validate_python(block)
    except ValidationError as error:
        what = error.errors(include_url=False)[0]["msg"]
        raise ValueError(
            f'{where} is neither a tool call `{{"tool": …, "arguments": …}}` nor a block: {what}'
        ) from error


def _count_words(value: Any) -> int:
    """Count the words of all texts in a value."""
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, Mapping):
        return sum(map(_count_words, cast("Mapping[str, Any]", value).values()))
    if isinstance(value, list):
        return sum(map(_count_words, cast("list[Any]", value)))
    return 0


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the provider as `scripted`."""
    settings = read_settings(ScriptedSettings, config, "provider-scripted")
    provider = ScriptedProvider(settings.script, repeat=settings.repeat, delay=settings.delay)
    await coordinator.mount("providers", provider, name=provider.name)
