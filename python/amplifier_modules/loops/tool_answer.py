"""What a tool gave back, for the model and for hooks, and its limit in bytes."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, cast

from amplifier_core.event_loop import is_awaitable
from amplifier_core.models import ToolResult, sanitize_for_llm

from .settings import MIN_RESULT_BYTES


@dataclass(slots=True)
class Answer:
    """The result of a call, for the model."""

    content: str | list[dict[str, Any]]
    is_error: bool = False

    @property
    def text(self) -> str:
        """The text of the result, without images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block["text"] for block in self.content if "text" in block)

    def add_note(self, note: str) -> str | list[dict[str, Any]]:
        """Return the content with a note before it, where no limit cuts it."""
        if isinstance(self.content, str):
            return f"{note}\n{self.content}"
        return [{"type": "text", "text": note}, *self.content]


NOT_STARTED = Answer("Cancelled: the turn was ended before this tool was started.", is_error=True)
INTERRUPTED = Answer(
    "Cancelled: the turn was ended while this tool ran; its effects are unknown.", is_error=True
)
INTERRUPTED_READING = Answer(
    "Cancelled: the turn was ended while this tool ran; it has changed nothing.", is_error=True
)


_PLAIN = frozenset({ToolResult, str, dict, list, int, float, bool, type(None)})
_TEXTS = (str, bytes, bytearray)
_LISTS = (list, tuple)


def result_for_hooks(result: Any) -> dict[str, Any]:
    """Return a tool's result for hooks: images are named, not included."""
    for method in ("safe_hook_presentation", "model_dump"):
        if callable(present := getattr(result, method, None)):
            shown = present()
            if isinstance(shown, dict):
                return cast("dict[str, Any]", shown)
    return {"success": True, "output": result, "error": None}


def answer_of(result: Any, limit: int | None = None) -> Answer:
    """Return a tool's result for the model, in at most `limit` bytes if that is a number.

    Raises:
        TypeError: It is something that has to be awaited or iterated first.
        Exception: What the code of the result raised.
    """
    if type(result) is ToolResult and type(result.output) is str and not result.content:
        # Most results, of which nothing has to be looked for.
        text = result.output
        if limit is None or len(text) <= limit:
            text = result.get_serialized_output()
        else:
            text = as_text(text, limit)
        return Answer(fit_content(limit, text), not result.success)
    is_error = getattr(result, "success", True) is False
    return Answer(fit_content(limit, _make_content(result, limit)), is_error)


def _make_content(result: Any, limit: int | None) -> str | list[dict[str, Any]]:
    output = getattr(result, "output", result)
    if type(result) not in _PLAIN:
        _check(result)
    if type(output) not in _PLAIN:
        _check(output)
    blocks = getattr(result, "content", None)
    if isinstance(blocks, _LISTS) and blocks:
        return [_block(block) for block in cast("list[Any]", blocks)]
    if not _is_longer(output, limit):
        serialise = getattr(result, "get_serialized_output", None)
        if callable(serialise) and isinstance(text := serialise(), str):
            return text
    return as_text(output, limit)


def as_text(value: Any, limit: int | None = None) -> str:
    """Return any value in the form of a tool's output.

    Of text and bytes that are longer than the limit no whole copy is made.
    """
    if _is_longer(value, limit):
        if isinstance(value, str):
            value = cast("str", fit_content(limit, value))
        else:
            value = fit_content(
                limit, repr(value[:limit]) + f" and {len(value) - (limit or 0):,} more bytes"
            )
    return ToolResult(output=value).get_serialized_output()


def _is_longer(value: Any, limit: int | None) -> bool:
    return limit is not None and isinstance(value, _TEXTS) and len(value) > limit


def _check(value: Any) -> None:
    """Refuse what is no value yet.

    Raises:
        TypeError: It has to be awaited or iterated first.
    """
    is_coroutine = inspect.iscoroutine(value)
    if is_coroutine:
        value.close()  # else Python says that it was never awaited
    if is_coroutine or is_awaitable(value):
        raise TypeError(f"it returned a `{type(value).__name__}`; await it, and return its result")
    if isinstance(value, Iterator | AsyncIterator):
        found = type(cast("object", value)).__name__
        raise TypeError(f"it returned a `{found}`; return a list of what it yields")


def _block(block: Any) -> dict[str, Any]:
    found = block.model_dump(exclude_none=True)
    if isinstance(text := found.get("text"), str):
        found["text"] = sanitize_for_llm(text)
    return found


_NOTE = "… [{bytes:,} more bytes were cut: `max_result_bytes` of the loop is {limit:,}]"

_NO_JSON = "… [a block was left out: it cannot be written as JSON]"

_PIECE = 1 << 16


def fit_content(
    limit: int | None, content: str | list[dict[str, Any]]
) -> str | list[dict[str, Any]]:
    """Return the content of a tool message in at most `limit` bytes of UTF-8.

    What is cut is counted in its place: the end of a text, and the first block that does not fit
    with all that follow. A block that no request could hold is named in its place.

    Args:
        limit: The bytes; None for no limit.
        content: A text, or content blocks.
    """
    if limit is None:
        return content
    if isinstance(content, str):
        return _clip(content, limit)
    kept: list[dict[str, Any]] = []
    room = limit - MIN_RESULT_BYTES // 2
    for index, block in enumerate(content):
        size = _measure_size(block)
        if size is None:
            kept.append({"type": "text", "text": _NO_JSON})
            continue
        if size > room:
            text = block.get("text") if block.get("type") == "text" else None
            rest = sum(_measure_size(other) or 0 for other in content[index + 1 :])
            if isinstance(text, str) and room > MIN_RESULT_BYTES // 2:
                # In JSON a character may take twelve times as many bytes as here, at most.
                kept.append({**block, "text": _cut_to_beginning(text, room // 12)})
                size = max(0, size - (_measure_size(kept[-1]) or 0))
            note = _NOTE.format(bytes=size + rest, limit=limit)
            return [*kept, {"type": "text", "text": note}]
        kept.append(block)
        room -= size
    return kept


def _clip(text: str, limit: int) -> str:
    size = len(text) if text.isascii() else _utf8_bytes(text)
    if size <= limit:
        return text
    kept = _cut_to_beginning(text, limit - len(_NOTE) - 40)
    cut = size - len(kept.encode("utf-8", "replace"))
    return kept + _NOTE.format(bytes=cut, limit=limit)


def _utf8_bytes(text: str) -> int:
    """Return how many bytes a text takes, without a copy of all of it."""
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return sum(len(piece.encode("utf-8", "replace")) for piece in pieces)


def _cut_to_beginning(text: str, most: int) -> str:
    """Return as many whole characters as take at most `most` bytes in UTF-8."""
    text = text[:most]
    if text.isascii():
        return text
    encoded = text.encode("utf-8", "replace")[:most]
    return encoded.decode("utf-8", "ignore")


def _measure_size(block: dict[str, Any]) -> int | None:
    """Return how many bytes a block takes as JSON; None if it is nested too deep, or in itself."""
    try:
        return len(json.dumps(block, default=str))
    except (RecursionError, ValueError):
        return None
