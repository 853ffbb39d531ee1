"""A preview of the blocks of a message without its secrets, for development."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from pydantic import BaseModel

from amplifier_guard.redact import Redactor
from amplifier_guard.terminal import TerminalText

__all__ = ["BlockView", "inspect_blocks"]

_CONTENT = ("text", "thinking", "content", "output", "input", "arguments", "data", "source")
"""The keys that hold the content of a block, in any dialect; the first one present counts."""
_LABELS = ("name", "id", "tool_use_id", "tool_call_id", "is_error")
_MAX_BLOCKS = 80


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block: its type, the size of its content, and a preview."""

    index: int
    type: str
    characters: int
    """Characters of the content, as JSON if it is not text."""
    bytes: int
    """Bytes of the content as UTF-8."""
    labels: dict[str, str]
    """Names and ids, redacted."""
    preview: str
    """The beginning of the content, redacted and printable."""

    def __str__(self) -> str:
        """Describe the block in one line."""
        labels = "".join(f" {name}={value}" for name, value in self.labels.items())
        size = f"{self.characters} characters, {self.bytes} bytes"
        return f"#{self.index} {self.type}{labels} ({size}) {self.preview}"


def inspect_blocks(content: Any, redactor: Redactor, *, most: int = _MAX_BLOCKS) -> list[BlockView]:
    """Preview the content of a message: a text, or blocks of any dialect.

    Args:
        content: A text, a block, or several; models, dataclasses or plain data.
        redactor: Removes the secrets.
        most: The most characters of a preview or a label.
    """
    if (
        isinstance(content, str)
        or not isinstance(content, Iterable)
        or isinstance(content, Mapping | BaseModel)
    ):
        content = [content]
    return [
        _view(index, _read_fields(block), redactor, most)
        for index, block in enumerate(cast("Iterable[Any]", content))
    ]


def content_of(block: Any) -> tuple[str, str]:
    """Return the type of a block and its content as text, not redacted."""
    fields = _read_fields(block)
    return _read_type(fields), _write_text(_find_content(fields)[1])


def _view(index: int, fields: dict[str, Any], redactor: Redactor, most: int) -> BlockView:
    name, content = _find_content(fields)
    text = _write_text(content)
    # By its name, too: a key below `input` may be called `api_key`.
    shown = redactor.redact(_write_text(redactor.redact_data({name: content}).get(name)))
    labels = {
        label: TerminalText.line(redactor.redact(_write_text(fields[label])), most)
        for label in _LABELS
        if fields.get(label) is not None and label != name
    }
    return BlockView(
        index=index,
        type=TerminalText.line(redactor.redact(_read_type(fields)), most),
        characters=len(text),
        bytes=len(text.encode("utf-8", "surrogatepass")),
        labels=labels,
        preview=TerminalText.line(shown, most),
    )


def _read_fields(block: Any) -> dict[str, Any]:
    if isinstance(block, BaseModel):
        return block.model_dump()
    if dataclasses.is_dataclass(block) and not isinstance(block, type):
        return {field.name: getattr(block, field.name, None) for field in dataclasses.fields(block)}
    if isinstance(block, Mapping):
        return {str(key): value for key, value in cast("Mapping[Any, Any]", block).items()}
    return {"type": "text" if isinstance(block, str) else type(block).__name__, "text": block}


def _read_type(fields: dict[str, Any]) -> str:
    kind = fields.get("type")
    kind = kind.value if isinstance(kind, Enum) else kind
    return kind if isinstance(kind, str) else "unknown"


def _find_content(fields: dict[str, Any]) -> tuple[str, Any]:
    found = ((name, fields[name]) for name in _CONTENT if fields.get(name) is not None)
    return next(found, ("text", ""))


def _write_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_write_value)
    except (TypeError, ValueError, RecursionError):
        return _write_value(value)


def _write_value(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 (a foreign `__str__`)
        return type(value).__name__
