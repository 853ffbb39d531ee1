"""The rules of a tool result's content as functions from JSON text to JSON text.

They are names of `_engine`, where callers of 2.0.2 find them.
"""

from __future__ import annotations

import json
from typing import Any, cast

from amplifier_core._models import tool_content

__all__ = ["_normalize_tool_result_content", "_tool_result_safe_hook_presentation"]


def _normalize_tool_result_content(content: str) -> str | None:
    """Reduce the blocks in a JSON text to what a tool result may hold; None where there are none.

    Raises:
        ValueError: It is not JSON, or holds something else than text and base64 images.
    """
    blocks = tool_content.normalize_content(_read(content))
    return None if blocks is None else _write(blocks)


def _tool_result_safe_hook_presentation(result: str) -> str:
    """Reduce the JSON text of a tool result to what hooks may see: a note for each image.

    Raises:
        ValueError: It is not JSON, or its content is not that of a tool result.
    """
    value = _read(result)
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    shown = {
        "success": fields.get("success", True),
        "output": fields.get("output"),
        "error": fields.get("error"),
    }
    content = tool_content.normalize_content(fields.get("content"))
    if content is not None:
        shown["content"] = content
    return _write(tool_content.without_images(shown))


def _read(text: str) -> Any:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        message = f"the JSON of a tool result must be a str (found {type(text).__name__})"
        raise TypeError(message)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("invalid tool result content") from None


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
