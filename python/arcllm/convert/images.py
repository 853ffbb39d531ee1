"""The sources of images: one text here, an object in the messages of the kernel."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import unquote_to_bytes

from ..exceptions import ArcLLMConfigError
from ..types import ImageBlock

_SHOWN_CHARS = 40
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n")


def image_fields(image: ImageBlock) -> dict[str, Any]:
    """Return the fields of the kernel's block.

    Raises:
        ArcLLMConfigError: The source is neither base64, nor a `data:` or an `https:` URL.
    """
    source = image.source.strip()
    scheme, colon, rest = source.partition(":")
    match scheme.lower() if colon else "":
        case "https":
            # Beside the source: some services refuse any other key in it.
            form = {"media_type": image.media_type} if image.media_type else {}
            return {"source": {"type": "url", "url": source}, **form}
        case "data" if "," in rest:
            media_type, data = _of_data_url(rest)
            return {"source": _make_base64(media_type or image.media_type, data)}
        case "" if source and not set(source) - _BASE64:
            return {"source": _make_base64(image.media_type, source)}
        case _:
            shown = source if len(source) <= _SHOWN_CHARS else f"{source[:_SHOWN_CHARS]}…"
            raise ArcLLMConfigError(
                f"the `source` of an image is `{shown}`"
                " (must be base64, or an address that begins with `data:` or `https:`)"
            )


def readable_image(source: Any, media_type: Any) -> ImageBlock | None:
    """Return the image of a kernel's block; None for a source that only its service can read.

    Args:
        source: The source of the block.
        media_type: The form that the block says beside its source.
    """
    match source:
        case {"type": "base64", "media_type": str(form), "data": str(data), **more} if not more:
            return ImageBlock(source=data, media_type=form)
        case {"type": "url", "url": str(url), **more} if not more and url.startswith("https:"):
            form = media_type if isinstance(media_type, str) else ""
            return ImageBlock(source=url, media_type=form)
        case _:
            return None


def _make_base64(media_type: str, data: str) -> dict[str, Any]:
    return {"type": "base64", "media_type": media_type, "data": data}


def _of_data_url(rest: str) -> tuple[str, str]:
    about, _, data = rest.partition(",")
    media_type, *parameters = about.split(";")
    if parameters and parameters[-1].strip().lower() == "base64":
        return media_type.strip(), data
    return media_type.strip(), base64.b64encode(unquote_to_bytes(data)).decode()
