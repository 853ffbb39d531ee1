"""What the content of a tool result may hold, and what of it hooks and models get to see."""

from __future__ import annotations

import binascii
import re
from typing import Any, cast

from pydantic import BaseModel

OMITTED_IMAGE: dict[str, Any] = {
    "type": "text",
    "text": ("[Image omitted from tool event; original retained for model request if unmodified.]"),
}
"""Replaces an image in the data that hooks get."""

_IMAGE_MEDIA_TYPE = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*")
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def normalize_content(content: Any) -> list[dict[str, Any]] | None:
    """Reduce blocks to exactly what a tool result may hold.

    Args:
        content: None, or a list (or tuple) of text and image blocks, as dicts or as models.

    Returns:
        Text blocks of `type` and `text`, image blocks of `type` and a base64 `source`; None where
        there are none.

    Raises:
        ValueError: Something else than text and image blocks, or an image that is not base64.
    """
    if content is None:
        return None
    if not isinstance(content, list | tuple):
        raise ValueError("invalid tool result content")  # noqa: TRY004 -- pydantic reports it
    return [_normalize_block(block) for block in cast("list[Any]", content)] or None


def _normalize_block(block: Any) -> dict[str, Any]:
    if isinstance(block, BaseModel):
        block = block.model_dump()
    match block:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "image"}:
            source = cast("dict[str, Any]", block).get("source")
            return {"type": "image", "source": _normalize_source(source)}
        case _:
            raise ValueError("invalid tool result content")


def _normalize_source(source: Any) -> dict[str, str]:
    match source:
        case {"type": "base64"}:
            fields = cast("dict[str, Any]", source)
        case _:
            raise ValueError("invalid tool result image source")
    media_type, data = fields.get("media_type"), fields.get("data")
    if not isinstance(media_type, str) or not _IMAGE_MEDIA_TYPE.fullmatch(media_type):
        raise ValueError("invalid tool result image media type")
    if not isinstance(data, str) or not _is_canonical_base64(data):
        raise ValueError("invalid tool result image data")
    return {"type": "base64", "media_type": media_type, "data": data}


def _is_canonical_base64(data: str) -> bool:
    """Tell whether `data` is non-empty padded base64 with no stray character and no stray bit."""
    if not data:
        return False
    try:
        last = binascii.a2b_base64(data[-4:], strict_mode=True)
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError:  # also `binascii.Error`, and text that is not ASCII
        return False
    # Only the last four characters can carry bits that belong to no byte.
    return binascii.b2a_base64(last, newline=False).decode() == data[-4:]


def sanitize_for_llm(text: str) -> str:
    """Delete control characters and lone surrogates; tab, line feed and return stay."""
    return _UNSPEAKABLE.sub("", text)


def without_images(value: Any) -> Any:
    """Copy plain data, with a note in place of each base64 image block at any depth."""
    match value:
        case {"type": "image", "source": {"type": "base64"}}:
            return dict(OMITTED_IMAGE)
        case dict():
            entries = cast("dict[Any, Any]", value)
            return {key: without_images(item) for key, item in entries.items()}
        case list() | tuple():
            return [without_images(item) for item in cast("list[Any]", value)]
        case _:
            return value
