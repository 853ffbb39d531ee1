"""What a prompt attaches: files by `@path`, and images by their marks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from amplifier_app.attached.files import AttachedText, open_outside, read_attached
from amplifier_app.attached.image import Image
from amplifier_app.attached.mentions import Mention, find_mentions
from amplifier_app.attached.pasted_images import PastedImages
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.turn_content import text_block

if TYPE_CHECKING:
    from amplifier_guard import PathPolicy

MAX_FILES = 20
"""So many files and images a prompt may have."""
_KIB = 1024


class Attached(NamedTuple):
    """A file or an image of a prompt."""

    name: str
    """What it is called: its path, or a mark."""
    content: AttachedText | Image

    @property
    def is_image(self) -> bool:
        """Whether it is an image."""
        return isinstance(self.content, Image)

    @property
    def block(self) -> dict[str, Any]:
        """It as a block of the prompt."""
        found = self.content
        return found.block if isinstance(found, Image) else text_block(found.block)

    def describe(self) -> str:
        """Return a line about it, which names what is sent."""
        found = self.content
        if isinstance(found, Image):
            kind = found.media_type.removeprefix("image/")
            # A mark says how large its image is.
            kinds = [kind] if found.size in self.name else [kind, found.size]
            return f"attached {self.name}: {', '.join(kinds)}, {_write_size(len(found.content))}"
        size = _write_size(found.size)
        if found.lines is None:
            lines = "beginning and end"
        else:
            lines = f"{found.lines:,} {'line' if found.lines == 1 else 'lines'}"
        return f"attached {self.name}: {lines}, {size}"


class Attachments:
    """Finds what prompts attach.

    Args:
        folder: The folder that paths begin in.
        images: The images that were pasted.
        is_typed: Whether a person types the prompts: then paths may also lead out of the folder,
            and name files that hold secrets.
    """

    def __init__(
        self, folder: Path, images: PastedImages | None = None, *, is_typed: bool = True
    ) -> None:
        self._folder = folder
        self._images = images or PastedImages()
        self._is_typed = is_typed

    def read(self, text: str) -> list[Attached]:
        """Return what a prompt attaches, in the order of the text; nothing twice.

        Raises:
            Failure: A file is neither text nor an image, or cannot be read; or there are too many.
        """
        if "@" not in text and "[image " not in text:
            return []
        found = [(start, Attached(mark, image)) for start, mark, image in self._images.find(text)]
        for mention in find_mentions(text):
            if (attached := self._read_mention(mention, [each for _, each in found])) is not None:
                found.append((mention.start, attached))
        unique = {each.name: each for _, each in sorted(found, key=lambda pair: pair[0])}
        return check_count(list(unique.values()))

    def _read_mention(self, mention: Mention, before: list[Attached]) -> Attached | None:
        for path in mention.paths:
            target = Path(path).expanduser() if path.startswith("~/") else self._folder / path
            try:
                if not target.is_file():
                    continue
            except (OSError, RuntimeError, ValueError):
                continue
            if any(each.name == path for each in before):
                return None
            opener = self._find_opener(path, target)
            return None if opener is None else Attached(path, read_attached(path, opener))
        return None

    def _find_opener(self, path: str, target: Path) -> Callable[[], BinaryIO] | None:
        """Return what opens a file as far as that is allowed; None where the path stays text."""
        from amplifier_guard import PathDenied, PathPolicy

        inside = Path(os.path.normpath(target))
        if not inside.is_relative_to(self._folder):
            if self._is_typed:
                return partial(open_outside, target)
            show_notice(f"`@{path}` leads out of the folder: it stays text")
            return None
        relative = inside.relative_to(self._folder)
        policy: PathPolicy = PathPolicy(self._folder)
        if self._is_typed:
            policy = policy.with_secrets()
        try:
            policy.readable(relative)
        except PathDenied as error:
            if self._is_typed:
                message = f"the file `{path}` cannot be attached: {error}"
                hint = "type the path of the file itself"
                raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
            show_notice(f"`@{path}` stays text: {error}")
            return None
        except (OSError, ValueError):
            pass  # reading it says so
        return partial(policy.open, relative)


def check_count(attached: list[Attached]) -> list[Attached]:
    """Return what is attached.

    Raises:
        Failure: It is too much.
    """
    if len(attached) > MAX_FILES:
        message = f"the prompt attaches {len(attached)} files (at most {MAX_FILES})"
        raise Failure(message, hint="mention the others without `@`", exit_code=WRONG_USAGE)
    return attached


def make_prompt(text: str, attached: Iterable[Attached]) -> str | list[dict[str, Any]]:
    """Return a prompt: text, or blocks where something is attached."""
    blocks = [each.block for each in attached]
    return [text_block(text), *blocks] if blocks else text


def count_characters(attached: Iterable[Attached]) -> int:
    """Return how much longer a prompt is by the texts that are attached."""
    # The texts are joined by an empty line, and an image by its name.
    return sum(
        100 if isinstance(each.content, Image) else len(each.content.block) + 2 for each in attached
    )


def _write_size(size: int) -> str:
    return f"{size:,} bytes" if size < _KIB else f"{size / _KIB:,.0f} KiB"
