"""Images in requests."""

from __future__ import annotations

import base64
import binascii
import re

from ..serving.fields import Path
from .refusals import check_value, make_invalid, write_place

_DATA = re.compile(r"data:(?P<type>[^;,]*)(?P<base64>;base64)?,(?P<data>.*)", re.DOTALL)
_TYPES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_EXAMPLE = (
    "Expected a base64-encoded data URL with an image MIME type (e.g."
    " 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')"
)
DETAILS = ("auto", "low", "high", "original")


def check_image_url(url: str, path: Path) -> None:
    """The address of an image is one of the web, or holds an image that can be read."""
    if url.startswith(("https://", "http://")):
        return
    data = _DATA.fullmatch(url)
    if data is None:
        raise make_invalid(
            f"Invalid '{write_place(path)}'. Expected a valid URL, but got a value with an invalid"
            " format.",
            path,
            "invalid_value",
        )
    if data["type"] not in _TYPES or not data["base64"]:
        raise make_invalid(
            f"Invalid '{write_place(path)}'. {_EXAMPLE}, but got unsupported MIME type '{data['type']}'.",
            path,
            "invalid_value",
        )
    try:
        decoded = base64.b64decode(data["data"], validate=True)
    except (binascii.Error, ValueError):
        raise make_invalid(
            f"Invalid '{write_place(path)}'. {_EXAMPLE}, but got an invalid base64-encoded value.",
            path,
            "invalid_base64",
        ) from None
    if not decoded.startswith(_TYPES[data["type"]]):
        raise make_invalid(
            "You uploaded an unsupported image. Please make sure your image is valid.",
            path,
            "image_parse_error",
        )


def check_detail(detail: object, path: Path) -> None:
    """The detail of an image is one that exists."""
    if detail is not None:
        check_value(detail, DETAILS, path)
