"""Rules for images, documents and what tool results hold."""

from __future__ import annotations

import base64
import binascii

from ..serving.fields import Path
from ..serving.reading import Json, read_items
from .judged_request import JudgedRequest
from .refusals import make_invalid
from .shapes import (
    DOCUMENT_SOURCES,
    IMAGE_SOURCES,
    RESULT_BLOCKS,
    as_object,
    check_tagged,
)

MAX_IMAGE_BYTES = 5 * 1024 * 1024
_IMAGES = {
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def check_media(asked: JudgedRequest) -> None:
    """Images and documents have a source that can be read."""
    for turn in asked.turns:
        for path, block in turn.of_kind("image", "document"):
            check_source(block, path)


def check_result_content(asked: JudgedRequest) -> None:
    """A tool result holds text, images, documents, search results or references to tools."""
    for turn in asked.turns:
        for path, block in turn.of_kind("tool_result"):
            here: Path = (*path, "tool_result")
            inner = [
                as_object(each, (*here, "content", index))
                for index, each in enumerate(read_items(block.get("content")))
            ]
            for index, each in enumerate(inner):
                _check_inner(each, (*here, "content", index))
            if block.get("is_error") and any(each["type"] != "text" for each in inner):
                raise make_invalid('all content must be type "text" if `is_error` is true', here)


def _check_inner(block: Json, path: Path) -> None:
    kind = check_tagged(block, RESULT_BLOCKS, path)
    if kind == "text" and not block["text"]:
        raise make_invalid("messages: text content blocks must be non-empty")
    if kind in {"image", "document"}:
        check_source(block, path)


def check_source(block: Json, path: Path) -> None:
    """Refuse a source whose form, type or data is wrong."""
    kind = block["type"]
    sources = IMAGE_SOURCES if kind == "image" else DOCUMENT_SOURCES
    source = block["source"]
    form = check_tagged(source, sources, (*path, kind, "source"))
    here: Path = (*path, kind, "source", form)
    if form == "url" and not source["url"].startswith(("http://", "https://")):
        raise make_invalid("Only HTTPS URLs are supported.", (*here, "url"))
    if form == "text" and source["media_type"] != "text/plain":
        raise make_invalid("Input should be 'text/plain'", (*here, "media_type"))
    if form == "base64":
        _check_type(source["media_type"], kind, here)
        _check_data(source["media_type"], _decode(source["data"], here), here)


def _check_type(media_type: str, kind: str, path: Path) -> None:
    allowed = [*_IMAGES] if kind == "image" else ["application/pdf"]
    if media_type not in allowed:
        *first, last = [f"'{each}'" for each in allowed]
        expected = f"{', '.join(first)} or {last}" if first else last
        raise make_invalid(f"Input should be {expected}", (*path, "media_type"))


def _decode(data: str, path: Path) -> bytes:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise make_invalid("invalid base64 data", (*path, "data")) from None
    if not decoded:
        raise make_invalid("image cannot be empty", (*path, "data"))
    return decoded


def _check_data(media_type: str, data: bytes, path: Path) -> None:
    if media_type == "application/pdf":
        if not data.startswith(b"%PDF"):
            raise make_invalid("The PDF specified was not valid.", (*path, "data"))
        return
    if len(data) > MAX_IMAGE_BYTES:
        raise make_invalid(
            f"image exceeds 5 MB maximum: {len(data)} bytes > {MAX_IMAGE_BYTES} bytes", path
        )
    found = [kind for kind, start in _IMAGES.items() if data.startswith(start)]
    if not found:
        raise make_invalid("Could not process image")
    if media_type not in found:
        raise make_invalid(
            f"The image was specified using the {media_type} media type, but the image appears to"
            f" be a {found[0]} image",
            path,
        )
