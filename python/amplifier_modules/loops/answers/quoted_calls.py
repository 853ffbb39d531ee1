"""Calls in tags that a model quotes: they are text, and do not run."""

from __future__ import annotations

import logging
import re
from collections.abc import Container, Iterable, Iterator, Sequence

from amplifier_core.message_models import Message, TextBlock, ToolResultBlock
from amplifier_stream import ToolCallParser

from .tool_list import json_text

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
