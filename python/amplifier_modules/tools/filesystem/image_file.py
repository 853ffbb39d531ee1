"""Images, known by their first bytes, as content that a model sees."""

from __future__ import annotations

import base64
from typing import Any

MAX_IMAGE_BYTES = 5 * 2**20 * 3 // 4
"""Bytes of an image, at most: in base64 5 MiB, which all services take."""
HEAD_BYTES = 16
"""So many bytes at the beginning say what a file is."""

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class ImageTooLargeError(ValueError):
    """An image that is larger than what models are sent."""

    def __init__(self, path: str, size: int) -> None:
        """Name the file and its size."""
        super().__init__(
            f"`{path}` has {size:,} bytes; an image may have {MAX_IMAGE_BYTES:,} (make it smaller"
            " first)"
        )


def find_image_type(head: bytes) -> str | None:
    """Return the media type of an image by its first bytes; None for another file."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in _BEGINNINGS.items() if head.startswith(begin)), None)


def make_image_block(media_type: str, content: bytes) -> dict[str, Any]:
    """Return an image as a block of a tool's result."""
    data = base64.b64encode(content).decode()
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}
