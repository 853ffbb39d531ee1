"""What the prompt of the command line attaches: `--image FILE`, and `@path` in its text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_app.attached.attaching import Attached

MAX_ATTACHED_CHARS = 600_000
"""So many characters the files have together that a line of a conversation attaches."""


def attached_files(folder: Path, typed: str, images: Iterable[str]) -> tuple[Attached, ...]:
    """Return what is attached, after a line about each.

    Args:
        folder: The folder that the agent works in.
        typed: The text of the prompt, without what is piped in.
        images: The files of `--image`.

    Raises:
        Failure: A file cannot be attached.
    """
    images = tuple(images)
    if not images and "@" not in typed:
        return ()
    from amplifier_app.attached.attaching import Attached, Attachments, check_count
    from amplifier_app.attached.files import read_image_file
    from amplifier_app.notice import show_notice

    # A script may have put a text of others into its argument.
    is_typed = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    given = [Attached(path, read_image_file(path)) for path in images]
    found = check_count([*given, *Attachments(folder, is_typed=is_typed).read(typed)])
    for each in found:
        show_notice(each.describe())
    return tuple(found)


def count_characters(attached: Iterable[Attached]) -> int:
    """Return how much longer a prompt is by what is attached; nothing without."""
    if not attached:
        return 0
    from amplifier_app.attached import attaching

    return attaching.count_characters(attached)
