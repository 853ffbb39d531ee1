"""What the lines of a conversation attach."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from amplifier_app.commands.attached_files import MAX_ATTACHED_CHARS, count_characters
from amplifier_app.commands.prompt import TYPED_CHARS
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice

if TYPE_CHECKING:
    from amplifier_app.attached.attaching import Attached, Attachments
    from amplifier_app.attached.pasted_images import PastedImages
    from amplifier_app.commands.order import Order


class AttachedLines:
    """Reads the files and images of lines that a person types."""

    def __init__(self, order: Order, images: PastedImages | None) -> None:
        """Begin with what the command line attaches to the first prompt."""
        self._folder, self._images = order.folder, images
        self._first = list(order.attached)

    async def read(self, line: str) -> list[Attached]:
        """Return what a prompt attaches, after a line about each file.

        Raises:
            Failure: A file cannot be attached, or the line or its files are too long.
        """
        _check_typed(line)
        from amplifier_app.attached.attaching import check_count

        # In a thread, as a file may be on a slow disk.
        found = await asyncio.to_thread(self._make_attachments().read, line)
        found = check_count([*self._first, *found])
        _check_total(found)
        for each in found[len(self._first) :]:
            show_notice(each.describe())
        self._first = []
        return found

    def write_steering(self, line: str) -> str | None:
        """Return the text of a line for the turn that runs; None if it has an image, and has to wait.

        Raises:
            Failure: As for `read`.
        """
        _check_typed(line)
        found = self._make_attachments().read(line)
        if any(each.is_image for each in found):
            return None
        _check_total(found)
        for each in found:
            show_notice(each.describe())
        return "\n\n".join([line, *(each.block["text"] for each in found)])

    def _make_attachments(self) -> Attachments:
        from amplifier_app.attached.attaching import Attachments

        return Attachments(self._folder, self._images)


def _check_typed(line: str) -> None:
    # The guard allows more, for files; where the user sets its limit, that counts for all.
    if len(line) > TYPED_CHARS and not os.environ.get("MESSAGE_MAX_CHARS", "").strip():
        message = f"the line has {len(line):,} characters (at most {TYPED_CHARS:,})"
        raise Failure(message, hint="put the text into a file, and attach that with `@`")


def _check_total(found: list[Attached]) -> None:
    if (total := count_characters(found)) > MAX_ATTACHED_CHARS:
        message = f"the files have {total:,} characters together (at most {MAX_ATTACHED_CHARS:,})"
        raise Failure(message, hint="attach fewer, or mention them without `@`")
