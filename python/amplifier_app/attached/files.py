"""Reading files that a person attaches: what is judged is what is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from amplifier_app.attached.image import Image, find_image
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

MAX_TEXT_BYTES = 128 * 1024
"""A longer text is attached as its beginning and its end."""
_HEAD_BYTES, _TAIL_BYTES = 16 * 1024, 8 * 1024
_MAX_READ_BYTES = 4 * 1024**2
"""More than an image may have."""


class AttachedText(NamedTuple):
    """A file of text, as it is attached."""

    block: str
    """What the model reads."""
    lines: int | None
    """How many there are; None if it is not whole."""
    size: int
    """Bytes of the file."""


def read_image_file(path: str) -> Image:
    """Return the image in a file that the user names.

    Raises:
        Failure: It cannot be read, or is no image.
    """
    found = read_attached(path, lambda: open_outside(Path(path)))
    if isinstance(found, Image):
        return found
    hint = "PNG, JPEG, GIF and WebP are"
    raise Failure(f"the file `{path}` is no image", hint=hint, exit_code=WRONG_USAGE)


def read_attached(name: str, open_file: Callable[[], BinaryIO]) -> AttachedText | Image:
    """Return what is in a file: text or an image.

    Args:
        name: What the file is called.
        open_file: Opens it; a regular file.

    Raises:
        Failure: It cannot be read, or is neither.
    """
    try:
        with open_file() as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(_MAX_READ_BYTES)
            image = find_image(content, name)
            if image is not None:
                return image
            size = max(size, len(content))
            if size <= MAX_TEXT_BYTES:
                return _write_whole(name, content)
            file.seek(max(0, size - _TAIL_BYTES))
            return _write_ends(name, content[:_HEAD_BYTES], file.read(_TAIL_BYTES), size)
    except UnicodeDecodeError:
        message = f"the file `{name}` is neither text nor an image (PNG, JPEG, GIF, WebP)"
        raise Failure(message, hint="mention it without `@`", exit_code=WRONG_USAGE) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the file `{name}` cannot be attached: {reason}"
        raise Failure(message, hint="mention it without `@`", exit_code=WRONG_USAGE) from None


def open_outside(path: Path) -> BinaryIO:
    """Open a regular file that a person names, wherever it is.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    # Without waiting for the other end of a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path.expanduser(), flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"`{path}` is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _write_whole(name: str, content: bytes) -> AttachedText:
    text = _decode(content)
    lines = len(text.splitlines())
    figures = f'characters="{len(text)}" lines="{lines}"'
    return AttachedText(_write_block(name, figures, text), lines, len(content))


def _write_ends(name: str, head: bytes, tail: bytes, size: int) -> AttachedText:
    # A character may be cut at either end of a part.
    beginning = _decode(_cut_end(head))
    end = _decode(tail[next((n for n in range(4) if tail[n] & 0xC0 != 0x80), 0) :])
    note = f"[{size:,} bytes; the middle is left out here: read it with the tool `read_file`]"
    text = f"{beginning}\n\n{note}\n\n{end}"
    return AttachedText(_write_block(name, f'bytes="{size}"', text), None, size)


def _decode(content: bytes) -> str:
    """Return text.

    Raises:
        UnicodeDecodeError: It is none.
    """
    if b"\0" in content:
        raise UnicodeDecodeError("utf-8", content, content.index(b"\0"), len(content), "a NUL byte")
    return content.decode("utf-8-sig")


def _cut_end(content: bytes) -> bytes:
    """Leave out a character that is not whole."""
    for back in range(1, 4):
        byte = content[-back]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return content[:-back] if needed > back else content
    return content


def _write_block(name: str, figures: str, text: str) -> str:
    tag = "file"
    while f"</{tag}>" in text:
        tag += "-"  # the text must not end its own block
    named = "".join(each if each.isprintable() and each not in '"<>' else "?" for each in name)
    end = "" if text.endswith("\n") else "\n"
    return f'<{tag} path="{named}" {figures}>\n{text}{end}</{tag}>'
