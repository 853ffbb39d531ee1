"""The text, the tool calls and the stored message of a response, and calls that it lacks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from amplifier_core import world
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.message_models import TextBlock, ToolCall
from amplifier_providers.answers.wrapped_calls import CALLED_AS, find_inner_call

BLOCKS_EMITTED = "content_blocks_emitted"
"""Key in the metadata of a response whose provider emitted the block events itself."""


@dataclass(slots=True)
class RequestedCall:
    """A tool call as the model asked for it."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    """None if they cannot be used."""
    problem: str | None = None
    """Why the arguments cannot be used."""
    called_as: str | None = None
    """The tool through which a response calls it that still says so."""


def block_dict(block: Any) -> dict[str, Any]:
    """Return a block as plain data, without empty declared fields."""
    if type(block) is TextBlock and not block.__pydantic_extra__ and block.visibility is None:
        # The usual block: its dump, without what is empty, takes four times as long.
        return {"type": block.type, "text": block.text}
    if isinstance(block, BaseModel):
        declared = type(block).model_fields
        return {
            key: value
            for key, value in block.model_dump().items()
            if value is not None or key not in declared
        }
    if isinstance(block, Mapping):
        return dict(cast("Mapping[str, Any]", block))
    return block.to_dict()


def text_of(response: Any) -> str:
    """Return the answer: the text blocks alone, never thinking.

    Citations split one text into several blocks, so neighbouring text blocks are joined directly,
    and others by an empty line.
    """
    return join_texts(response.content)


def join_texts(content: Any) -> str:
    """Return the text of the content of a response or a message, as `text_of` does."""
    if isinstance(content, str):
        return content
    paragraphs: list[str] = []
    is_continued = False
    for block in content or ():
        if type(block) is TextBlock:
            kind, text = block.type, block.text
        else:
            kind, text = _read_field(block, "type"), _read_field(block, "text")
        if kind == "text" and isinstance(text, str):
            if is_continued:
                paragraphs[-1] += text
            else:
                paragraphs.append(text)
        is_continued = kind == "text"
    return paragraphs[0] if len(paragraphs) == 1 else "\n\n".join(filter(None, paragraphs))


def block_types(response: Any) -> list[Any]:
    """Return the types of the blocks of a response, in their order."""
    content: Any = response.content
    return ["text"] if isinstance(content, str) else [_read_field(b, "type") for b in content or ()]


def calls_of(provider: Any, response: Any) -> list[RequestedCall]:
    """Return the tool calls of a response: of its field, else its provider, else its content."""
    calls: list[Any] | tuple[Any, ...] | None = getattr(response, "tool_calls", None)
    if not calls and (parse := getattr(provider, "parse_tool_calls", None)) is not None:
        calls = parse(response)
    if not calls or not isinstance(calls, (list, tuple)):  # pyright: ignore[reportUnnecessaryIsInstance] -- providers may not be typed
        content: Any = getattr(response, "content", None)
        blocks = cast("list[Any]", content) if isinstance(content, list) else []
        calls = [block for block in blocks if _read_field(block, "type") == "tool_call"]
    found: list[RequestedCall] = []
    for call in calls:
        if type(call) is ToolCall and not call.__pydantic_extra__:
            # The calls of our providers, which have no other forms to look for.
            id, name, arguments = call.id, call.name, call.arguments
            is_usual = type(id) is str and type(name) is str and type(arguments) is dict
            if is_usual and id and name:
                found.append(RequestedCall(id, name, dict(arguments)))
                continue
        found.append(_read_call(call))
    return found


def unwrap_requested(call: RequestedCall, wrapper: str) -> RequestedCall:
    """Return a call, or the one that it makes through another tool, where its response is foreign.

    Args:
        call: The call.
        wrapper: The tool through which others are called.
    """
    if call.name != wrapper or call.arguments is None:
        return call
    inner = find_inner_call(call.arguments, wrapper)
    if inner is None:
        return call
    arguments = inner.arguments if inner.problem is None else None
    return RequestedCall(call.id, inner.name, arguments, inner.problem, called_as=wrapper)


def assistant_message(response: Any, calls: list[RequestedCall]) -> dict[str, Any] | None:
    """Return the message that stores a response with these calls, None if it is empty."""
    stored: list[dict[str, Any]] = []
    asked: set[Any] = set()
    wrapped = {call.id: call for call in calls if call.called_as is not None}
    for call in calls:
        stored.append({"id": call.id, "tool": call.name, "arguments": call.arguments or {}})
        asked.add(call.id)
    content: Any = response.content
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    blocks: list[dict[str, Any]] = []
    present: set[Any] = set()
    for block in content or ():
        plain = block_dict(block)
        if plain.get("type") == "tool_call":
            if plain.get("id") not in asked:
                continue
            present.add(plain.get("id"))
            if (call := wrapped.get(plain.get("id", ""))) is not None:
                plain |= {"name": call.name, "input": call.arguments or {}}
                plain[CALLED_AS] = call.called_as
        blocks.append(plain)
    for call in calls:
        if call.id not in present:
            arguments = call.arguments or {}
            block = {"type": "tool_call", "id": call.id, "name": call.name, "input": arguments}
            if call.called_as is not None:
                block[CALLED_AS] = call.called_as
            blocks.append(block)
    if not blocks:
        return None
    message: dict[str, Any] = {"role": "assistant", "content": blocks}
    if stored:
        message["tool_calls"] = stored
    metadata = getattr(response, "metadata", None)
    if metadata and isinstance(metadata, dict):
        remembered = {
            key: value
            for key, value in cast("dict[str, Any]", metadata).items()
            if key != BLOCKS_EMITTED
        }
        if remembered:
            message["metadata"] = remembered
    return message


def _read_call(call: Any) -> RequestedCall:
    name = _read_field(call, "name") or _read_field(call, "tool") or ""
    arguments = _read_field(call, "arguments")
    if arguments is None:
        arguments = _read_field(call, "input")
    problem = _read_field(call, "error")
    if not isinstance(arguments, dict):
        problem = problem or f"they are of type `{type(arguments).__name__}`, not an object"
    return RequestedCall(
        id=str(_read_field(call, "id") or f"call_{world.random_bytes(16).hex()}"),
        name=str(name),
        arguments=None if problem else dict(cast("dict[str, Any]", arguments)),
        problem=str(problem) if problem else None,
    )


def _read_field(item: Any, key: str) -> Any:
    """Return a field of a block or call, which may be a model, a dataclass or a dict."""
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(key)
    value = getattr(item, key, None)
    return getattr(value, "value", value) if key == "type" else value


logger = logging.getLogger(__name__)

_ANNOUNCING = ("tool_use", "tool_calls", "function_call")
_THOUGHTS = frozenset({"text", "thinking", "redacted_thinking"})
"""Blocks that are no answer by themselves."""
_WHERE = "calls must be in `tool_calls` or as `ToolCallBlock`s in `content`"


def announces_call(response: Any) -> bool:
    """Whether the finish reason of a response says that it has a call."""
    return getattr(response, "finish_reason", None) in _ANNOUNCING


class MissingCalls:
    """Judges answers without a call; warns once of each provider."""

    __slots__ = ("_warned",)

    def __init__(self) -> None:
        """Begin without a warning."""
        self._warned: tuple[str, ...] = ()

    def judge(self, response: Any, provider: str, model: str | None) -> None:
        """Say that the call of an answer is missing, if it announces one.

        Args:
            response: An answer without a call.
            provider: What its provider is mounted as.
            model: The model that was asked, if it is known.

        Raises:
            InvalidToolCallError: The answer has no text either.
        """
        if not announces_call(response):
            return
        reason = response.finish_reason
        if not text_of(response).strip() and _THOUGHTS.issuperset(block_types(response)):
            raise InvalidToolCallError(
                f"provider `{provider}` ended its answer with the finish reason `{reason}`, but the"
                f" answer has neither a call nor text ({_WHERE})",
                provider=provider,
                model=model,
            )
        if provider not in self._warned:
            self._warned += (provider,)
            logger.warning(
                "provider `%s` announces a call by the finish reason `%s`, but its answer has none"
                " and is taken as a plain one (%s)",
                provider,
                reason,
                _WHERE,
            )
