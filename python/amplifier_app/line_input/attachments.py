"""Images in a line: Ctrl+V takes that of the clipboard, and a pasted path the file that it names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from prompt_toolkit.filters import FilterOrBool
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from amplifier_app.attached.pasted_images import PastedImages

_MAX_PATH_CHARS = 4096
_SUFFIX = re.compile(r"\.(?:png|jpe?g|gif|webp)['\"]?\Z", re.IGNORECASE)
_SCHEME = "file"


def insert_pasted(event: KeyPressEvent) -> None:
    """Insert what was pasted as it is."""
    text = event.data.replace("\r\n", "\n").replace("\r", "\n")
    event.current_buffer.insert_text(text)


def bind_attaching(
    keys: KeyBindings,
    images: PastedImages,
    is_typing: FilterOrBool,
    paste: Callable[[KeyPressEvent], object] = insert_pasted,
) -> None:
    """Have images attached by keys.

    Args:
        keys: Gets the keys.
        images: Keeps the images.
        is_typing: Whether a prompt is being typed.
        paste: Takes what was pasted and is no path of an image.
    """

    async def attach_clipboard(event: KeyPressEvent) -> None:
        from amplifier_app.attached.clipboard import ClipboardProblem, read_clipboard_image
        from amplifier_app.notice import show_notice

        buffer = event.current_buffer
        try:
            image = await read_clipboard_image(os.environ)
        except ClipboardProblem as problem:
            show_notice(str(problem))
            return
        buffer.insert_text(images.add(image))
        event.app.invalidate()

    def attach_pasted(event: KeyPressEvent) -> None:
        mark = read_pasted(event.data, images)
        if mark is None:
            paste(event)
        else:
            event.current_buffer.insert_text(mark)

    keys.add("c-v", filter=is_typing)(attach_clipboard)
    keys.add(Keys.BracketedPaste, filter=is_typing)(attach_pasted)


def read_pasted(text: str, images: PastedImages) -> str | None:
    """Return the mark of the image whose path is all that was pasted; None for anything else."""
    path = find_path(text)
    if path is None:
        return None
    from amplifier_app.attached.files import read_image_file
    from amplifier_app.failure import Failure
    from amplifier_app.notice import show_notice

    try:
        return images.add(read_image_file(str(path)))
    except Failure as failure:
        show_notice(str(failure))
        return None


def find_path(text: str) -> Path | None:
    """Return the existing file whose path is all of a text; its name is that of an image.

    Terminals quote paths that are dropped on them, put backslashes before spaces, or make an
    address of them.
    """
    text = text.strip()
    if not text or len(text) > _MAX_PATH_CHARS or "\n" in text or not _SUFFIX.search(text):
        return None
    import shlex  # here, as few lines are paths
    from urllib.parse import unquote, urlsplit

    forms = [text]
    if text.startswith(f"{_SCHEME}:"):
        forms = [unquote(urlsplit(text).path)]
    else:
        with suppress(ValueError):  # an apostrophe in a name
            forms += words if len(words := shlex.split(text)) == 1 else []
    for each in forms:
        try:
            path = Path(each).expanduser()
            if path.is_absolute() and path.is_file():
                return path
        except (OSError, RuntimeError, ValueError):
            continue
    return None
