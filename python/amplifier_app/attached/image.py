"""An image that a prompt has, known by its first bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_SIZED = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
"""The segments of a JPEG that say how large it is."""


@dataclass(frozen=True)
class Image:
    """A PNG, JPEG, GIF or WebP."""

    media_type: str
    content: bytes

    @property
    def size(self) -> str:
        """Width and height, such as `640x480`; the kind where the file does not say them."""
        found = _find_size(self.media_type, self.content)
        return f"{found[0]}x{found[1]}" if found else self.media_type.removeprefix("image/")

    @property
    def block(self) -> dict[str, Any]:
        """The image as a block of a prompt."""
        from amplifier_modules.tools.filesystem.image_file import make_image_block

        return make_image_block(self.media_type, self.content)


def find_image(content: bytes, name: str) -> Image | None:
    """Return the image that bytes are; None for something else.

    Args:
        content: The bytes, of which there may be more than of an image.
        name: What the image is called where it is too large.

    Raises:
        ImageTooLargeError: It is larger than what models are sent; a ValueError.
    """
    from amplifier_modules.tools.filesystem.image_file import (
        MAX_IMAGE_BYTES,
        ImageTooLargeError,
        find_image_type,
    )

    media_type = find_image_type(content)
    if media_type is None:
        return None
    if len(content) > MAX_IMAGE_BYTES:
        raise ImageTooLargeError(name, len(content))
    return Image(media_type, content)


def _find_size(media_type: str, content: bytes) -> tuple[int, int] | None:
    try:
        match media_type:
            case "image/png":
                found = _read_big(content, 16, 4), _read_big(content, 20, 4)
            case "image/gif":
                found = _read_little(content, 6, 2), _read_little(content, 8, 2)
            case "image/webp":
                found = _find_size_of_webp(content)
            case _:
                found = _find_size_of_jpeg(content)
    except IndexError:
        return None
    return found if found and all(found) else None


def _find_size_of_webp(content: bytes) -> tuple[int, int] | None:
    match content[12:16]:
        case b"VP8 ":
            return _read_little(content, 26, 2) & 0x3FFF, _read_little(content, 28, 2) & 0x3FFF
        case b"VP8L":
            bits = _read_little(content, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _read_little(content, 24, 3) + 1, _read_little(content, 27, 3) + 1
        case _:
            return None


def _find_size_of_jpeg(content: bytes) -> tuple[int, int] | None:
    place = 2
    while content[place] == 0xFF:
        kind = content[place + 1]
        if kind in _SIZED:
            return _read_big(content, place + 7, 2), _read_big(content, place + 5, 2)
        if kind == 0xFF:  # a byte that fills
            place += 1
        else:
            place += 2 + max(2, _read_big(content, place + 2, 2))
    return None


def _read_big(content: bytes, start: int, count: int) -> int:
    return int.from_bytes(_take(content, start, count), "big")


def _read_little(content: bytes, start: int, count: int) -> int:
    return int.from_bytes(_take(content, start, count), "little")


def _take(content: bytes, start: int, count: int) -> bytes:
    if len(content) < start + count:
        raise IndexError(start)
    return content[start : start + count]
