"""What a tool gave back, for the model and for hooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from amplifier_core.models import ToolResult


@dataclass(frozen=True)
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


def presented(result: Any) -> dict[str, Any]:
    """Return a tool's result for hooks: images are named, not included."""
    for method in ("safe_hook_presentation", "model_dump"):
        if callable(present := getattr(result, method, None)):
            return cast("dict[str, Any]", present())
    return {"success": True, "output": result, "error": None}


def content_of(result: Any) -> str | list[dict[str, Any]]:
    """Return a tool's result for the model."""
    if blocks := getattr(result, "content", None):
        return [block.model_dump(exclude_none=True) for block in blocks]
    if callable(serialise := getattr(result, "get_serialized_output", None)):
        return cast("str", serialise())
    return as_text(getattr(result, "output", result))


def as_text(value: Any) -> str:
    """Return any value in the form of a tool's output."""
    return ToolResult(output=value).get_serialized_output()
