"""The calls of an answer in tags: those that run, and those that the model only quotes."""

from __future__ import annotations

import logging
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.message_models import (
    ChatResponse,
    ContentBlockUnion,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_providers.answers.gathered_answer import (
    Part,
    block_of,
    broken_call_fields,
    tool_call,
)
from amplifier_providers.answers.response_facts import tool_calls_of
from amplifier_providers.answers.wrapped_calls import unwrap_call
from amplifier_stream import ParsedCall, ProcessedStream, ToolCallParser, coerce_arguments

from .tagged_request import json_text


class EndedCalls:
    """The calls of one answer, as responses have them."""

    def __init__(self, tools: list[ToolSpec] | None, wrapper: str | None = None) -> None:
        """Convert arguments that came as text by the schemas of these tools.

        Args:
            tools: The tools.
            wrapper: The tool through which others are called; None for none.
        """
        self._wrapper = wrapper
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
        if self._wrapper is not None:
            ended = unwrap_call(ended, self._wrapper)
        self.by_number[call.index] = ended
        if not call.is_native:
            self.in_tags.add(call.index)
        return ended

    def list_counted(self, answer: ProcessedStream) -> dict[int, ToolCall]:
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
        update["content_blocks"] = list(_make_dataclasses(content))
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
        content[place:place] = _make_blocks(run, calls) if has_calls else text
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


def _make_blocks(run: list[Part], calls: dict[int, ToolCall]) -> list[ContentBlockUnion]:
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


def _make_dataclasses(content: list[ContentBlockUnion]) -> Iterator[Any]:
    for block in content:
        if isinstance(block, TextBlock):
            yield TextContent(text=block.text)
        elif isinstance(block, ThinkingBlock):
            yield ThinkingContent(text=block.thinking)
        elif isinstance(block, ToolCallBlock):
            yield ToolCallContent(id=block.id, name=block.name, arguments=block.input)


logger = logging.getLogger(__name__)

_ENDS_OF_TAGS = (">", "&", "\\")
"""What follows the name of a tag, as it is and as escapes of XML and JSON."""
_END_OF_QUOTATION = re.compile(r"[\s`~>-]*")


def texts_with_tags(
    messages: Iterable[Message], tags: Sequence[str], reminder: str | None
) -> list[str]:
    """Return the texts of users and tools in which a call in these tags may be.

    Args:
        messages: The messages of a request.
        tags: The tags of calls.
        reminder: A message of the loop itself, which may have an example of a call.
    """
    wanted = [tag + end for tag in tags for end in _ENDS_OF_TAGS]
    texts = (text for text in _foreign_texts(messages) if text != reminder)
    return [text for text in texts if any(each in text for each in wanted)]


def call_parser(tags: Sequence[str], known_texts: Sequence[str]) -> ToolCallParser:
    """Return what finds the calls of an answer, without those that it quotes.

    Args:
        tags: The tags of calls.
        known_texts: Texts of others; what the answer copies from them is a quotation.
    """
    return ToolCallParser(tags, ignore_quoted=True, known_texts=known_texts)


def call_in_last_quotation(
    text: str, tags: Sequence[str], known_texts: Sequence[str], tools: Container[str]
) -> str | None:
    """Return the tool of a quoted call that ends a text, as if it were meant; None without one.

    Each quoted call is logged. One that was copied from a known text is never meant.

    Args:
        text: The text of an answer, without the calls that run.
        tags: The tags of calls.
        known_texts: Texts of others.
        tools: The names of the tools that there are.
    """
    if not any(f"<{tag}>" in text for tag in dict.fromkeys(tags)):
        return None
    copied = _names_of_calls(text, ToolCallParser(tags))
    last: str | None = None
    parser = ToolCallParser(tags, known_texts=known_texts)
    for event in [*parser.feed(text), *parser.flush()]:
        if event.type == "tool_call_end" and event.call is not None:
            call = event.call
            last = call.name if call.arguments is not None and call.name in tools else None
            if call.is_complete:
                logger.info("a call of `%s` was not run: the model quotes it", call.name)
                copied.remove(call.name)
        elif event.type == "regular" and not _END_OF_QUOTATION.fullmatch(event.content):
            last = None
    for name in copied:
        logger.warning(
            "a call of `%s` was not run: a message of the user or the result of a tool has it word"
            ' for word (with `tool_tags` "session", no text from outside can have a call)',
            name,
        )
    return last


def _names_of_calls(text: str, parser: ToolCallParser) -> list[str]:
    events = [*parser.feed(text), *parser.flush()]
    calls = (event.call for event in events if event.type == "tool_call_end")
    return [call.name for call in calls if call is not None and call.is_complete]


def _foreign_texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if message.role not in {"user", "tool", "function"}:
            continue
        if isinstance(message.content, str):
            yield message.content
            continue
        for block in message.content:
            if isinstance(block, TextBlock):
                yield block.text
            elif isinstance(block, ToolResultBlock):
                yield block.output if isinstance(block.output, str) else json_text(block.output)
