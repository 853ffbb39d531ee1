"""Tool calls that a model without native tools writes as tags in its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.message_models import (
    ChatResponse,
    ContentBlockUnion,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    ToolSpec,
)

if TYPE_CHECKING:
    from amplifier_stream import ParsedCall, TagEvent


def tool_tags(provider: Any) -> tuple[str, ...]:
    """Return the tags in which the model of a provider writes its calls; empty for native calls."""
    tags: Any = getattr(provider, "tool_tags", None)
    if not isinstance(tags, list | tuple):
        return ()
    return tuple(tag for tag in cast("list[Any]", tags) if isinstance(tag, str))


def read_tagged_calls(response: Any, tags: tuple[str, ...], tools: list[ToolSpec] | None) -> Any:
    """Return the response with the calls in its text as tool calls.

    A call that is not closed, or cannot be read, has an `error` and no arguments. Arguments that
    came as text get the types of their tool's schema.

    Args:
        response: What the provider returned; anything but a `ChatResponse` is left alone.
        tags: A tag name and its aliases.
        tools: The tools of the request.
    """
    if not isinstance(response, ChatResponse):
        return response
    from amplifier_stream import ToolCallParser

    reading = _Reading(tools or [])
    parser = ToolCallParser(tags)
    for block in response.content:
        if not isinstance(block, TextBlock):
            reading.add_events(parser.flush())
            reading.content.append(block)
            continue
        events = parser.feed(block.text)
        if [event.content for event in events] == [block.text] and events[0].type == "regular":
            reading.content.append(block)
        else:
            reading.add_events(events)
    reading.add_events(parser.flush())
    if not reading.calls:
        return response
    calls = [*(response.tool_calls or []), *reading.calls]
    update: dict[str, Any] = {"content": reading.content, "tool_calls": calls}
    if reading.findings:
        known = (response.metadata or {}).get("findings", [])
        update["metadata"] = {**(response.metadata or {}), "findings": [*known, *reading.findings]}
    if getattr(response, "content_blocks", None) is not None:
        update["content_blocks"] = list(_dataclasses(reading.content))
    if isinstance(getattr(response, "text", None), str):
        texts = [block.text for block in reading.content if isinstance(block, TextBlock)]
        update["text"] = "".join(texts)
    return response.model_copy(update=update)


class _Reading:
    """The blocks and calls of one response, as far as it was read."""

    def __init__(self, tools: list[ToolSpec]) -> None:
        self.content: list[ContentBlockUnion] = []
        self.calls: list[ToolCall] = []
        self.findings: list[dict[str, Any]] = []
        self._schemas = {tool.name: tool.parameters for tool in tools}

    def add_events(self, events: list[TagEvent]) -> None:
        for event in events:
            if event.type == "regular" and event.content.strip():
                self.content.append(TextBlock(text=event.content))
            if event.call is not None:
                self._add_call(event.call)

    def _add_call(self, call: ParsedCall) -> None:
        arguments, error = call.arguments, call.error
        if arguments is not None and call.is_textual:
            from amplifier_stream import coerce_arguments

            try:
                arguments = coerce_arguments(arguments, self._schemas.get(call.name, {}))
            except ValueError as problem:
                arguments, error = None, str(problem)
        self.findings += call.findings
        more: dict[str, Any] = (
            {} if arguments is not None else {"error": error, "raw_arguments": call.raw}
        )
        call_id = call.id or ""
        self.content.append(
            ToolCallBlock(id=call_id, name=call.name, input=arguments or {}, **more)
        )
        self.calls.append(ToolCall(id=call_id, name=call.name, arguments=arguments or {}, **more))


def _dataclasses(content: list[ContentBlockUnion]) -> Iterator[Any]:
    for block in content:
        if isinstance(block, TextBlock):
            yield TextContent(text=block.text)
        elif isinstance(block, ThinkingBlock):
            yield ThinkingContent(text=block.thinking)
        elif isinstance(block, ToolCallBlock):
            yield ToolCallContent(id=block.id, name=block.name, arguments=block.input)
