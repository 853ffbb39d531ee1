"""The calls of an answer, and the response in which those of the text are tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from amplifier_providers.answers.content_calls import tool_calls_of
from amplifier_providers.answers.gathered_answer import (
    Part,
    block_of,
    broken_call_fields,
    tool_call,
)
from amplifier_stream import ParsedCall, ProcessedStream, coerce_arguments


class EndedCalls:
    """The calls of one answer, as responses have them."""

    def __init__(self, tools: list[ToolSpec] | None) -> None:
        """Convert arguments that came as text by the schemas of these tools."""
        self.by_number: dict[int, ToolCall] = {}
        self.in_tags: set[int] = set()
        """The numbers of those that came in tags."""
        self._schemas = {tool.name: tool.parameters for tool in tools or ()}

    def add(self, call: ParsedCall) -> ToolCall:
        """Return a call that has ended; it keeps its id."""
        ended = tool_call(call)
        if call.is_textual and call.arguments is not None:
            try:
                ended.arguments = coerce_arguments(call.arguments, self._schemas.get(call.name, {}))
            except ValueError as problem:
                ended = _refuse_call(ended, str(problem), call)
        self.by_number[call.index] = ended
        if not call.is_native:
            self.in_tags.add(call.index)
        return ended

    def standing(self, answer: ProcessedStream) -> dict[int, ToolCall]:
        """Return the calls that count, by their numbers, as they are at the end of the answer."""
        calls: dict[int, ToolCall] = {}
        for call in answer.calls:
            ended = self.by_number.get(call.index) or self.add(call)
            if call.error is not None and "error" not in (ended.model_extra or {}):
                ended = _refuse_call(ended, call.error, call)
            calls[call.index] = ended
        return calls


def _refuse_call(ended: ToolCall, error: str, call: ParsedCall) -> ToolCall:
    return ToolCall(id=ended.id, name=ended.name, arguments={}, **broken_call_fields(error, call))


def with_tagged_calls(
    response: ChatResponse,
    parts: list[Part],
    calls: dict[int, ToolCall],
    findings: list[dict[str, Any]],
) -> ChatResponse:
    """Return a response with the calls in its text as tool calls.

    Args:
        response: What the provider returned.
        parts: The parts of the answer.
        calls: The calls in tags, by their numbers.
        findings: What was repaired in them.
    """
    if not calls:
        return response
    content = _merge_parts(list(response.content), parts, calls)
    update: dict[str, Any] = {"content": content, "tool_calls": _in_order(response, content, calls)}
    if findings:
        known = (response.metadata or {}).get("findings", [])
        update["metadata"] = {**(response.metadata or {}), "findings": [*known, *findings]}
    if getattr(response, "content_blocks", None) is not None:
        update["content_blocks"] = list(_dataclasses(content))
    if isinstance(getattr(response, "text", None), str):
        update["text"] = "".join(block.text for block in content if isinstance(block, TextBlock))
    return response.model_copy(update=update)


def _merge_parts(
    blocks: list[ContentBlockUnion], parts: list[Part], calls: dict[int, ToolCall]
) -> list[ContentBlockUnion]:
    """Put the parts of the text in the place of the texts that they come from."""
    runs = list(_runs_of_parts(parts, calls))
    content: list[ContentBlockUnion] = []
    places: list[int] = []
    texts: list[list[ContentBlockUnion]] = []
    is_text = False
    for block in blocks:
        if not isinstance(block, TextBlock):
            content.append(block)
        elif is_text:
            texts[-1].append(block)
        elif block.text:
            places.append(len(content))
            texts.append([block])
        is_text = isinstance(block, TextBlock) and bool(texts)
    if len(places) != len(runs):
        # The text came in another order than the response has it: calls and text stay together.
        places = places[:1] or [len(content)]
        runs, texts = [[part for run in runs for part in run]], [list[ContentBlockUnion]()]
    for place, run, text in reversed(list(zip(places, runs, texts, strict=True))):
        has_calls = not text or any(part.kind == "call" for part in run)
        content[place:place] = _blocks(run, calls) if has_calls else text
    present = {block.id for block in content if isinstance(block, ToolCallBlock)}
    return [*content, *(block_of(call) for call in calls.values() if call.id not in present)]


def _runs_of_parts(parts: list[Part], calls: dict[int, ToolCall]) -> Iterator[list[Part]]:
    """Yield the neighbouring parts that are text of the model: its message, and calls in tags."""
    run: list[Part] = []
    for part in parts:
        if part.kind == "text" or (part.kind == "call" and part.index in calls):
            run.append(part)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _blocks(run: list[Part], calls: dict[int, ToolCall]) -> list[ContentBlockUnion]:
    return [
        TextBlock(text=part.text) if part.kind == "text" else block_of(calls[part.index])
        for part in run
        if part.kind == "call" or part.text.strip()
    ]


def _in_order(
    response: ChatResponse, content: list[ContentBlockUnion], calls: dict[int, ToolCall]
) -> list[ToolCall]:
    """Return the native calls and those in tags in the order of the content."""
    native = tool_calls_of(response)
    known = {call.id: call for call in (*native, *calls.values())}
    ids = [block.id for block in content if isinstance(block, ToolCallBlock)]
    ordered = [known.pop(call_id) for call_id in ids if call_id in known]
    return [*ordered, *known.values()]


def _dataclasses(content: list[ContentBlockUnion]) -> Iterator[Any]:
    for block in content:
        if isinstance(block, TextBlock):
            yield TextContent(text=block.text)
        elif isinstance(block, ThinkingBlock):
            yield ThinkingContent(text=block.thinking)
        elif isinstance(block, ToolCallBlock):
            yield ToolCallContent(id=block.id, name=block.name, arguments=block.input)
