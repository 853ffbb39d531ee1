"""Small images of each kind, of which only the head is right, and a real one."""

from __future__ import annotations

import base64
from pathlib import Path

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJ"
    "RU5ErkJggg=="
)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")
GIF = b"GIF89a" + (3).to_bytes(2, "little") + (4).to_bytes(2, "little")
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08" + b"\0\x05\0\x06"
WEBP_LOSSY = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abc\x9d\x01\x2a\x07\0\x08\0"
WEBP_LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (9 - 1 | (10 - 1) << 14).to_bytes(4, "little")
WEBP_EXTENDED = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0a\0\0\x0b\0\0"


def write_picture(path: Path, content: bytes = PIXEL) -> Path:
    """Write an image."""
    path.write_bytes(content)
    return path
