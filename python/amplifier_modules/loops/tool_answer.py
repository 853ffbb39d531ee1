"""What a tool gave back, for the model and for hooks."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, cast

from amplifier_core._kernel.awaitable import is_awaitable
from amplifier_core._models.tool_content import sanitize_for_llm
from amplifier_core.models import ToolResult

from .result_limit import within


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

    def after(self, note: str) -> str | list[dict[str, Any]]:
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
    is_error = getattr(result, "success", True) is False
    return Answer(within(limit, _content(result, limit)), is_error)


def _content(result: Any, limit: int | None) -> str | list[dict[str, Any]]:
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
            value = cast("str", within(limit, value))
        else:
            value = within(
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
