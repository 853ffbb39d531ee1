"""The images of a conversation that were pasted, each with the mark that stands for it in a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .image import Image

_MARK = re.compile(r"\[image (\d{1,6}): [\w-]{1,40}\]")


class PastedImages:
    """Keeps the images, so that a line that is typed again has them, too."""

    def __init__(self) -> None:
        """Keep none."""
        self._images: list[Image] = []

    def add(self, image: Image) -> str:
        """Keep an image, and return its mark, such as `[image 1: 640x480]`."""
        if image not in self._images:
            self._images.append(image)
        return self._write_mark(self._images.index(image))

    def find(self, text: str) -> Iterator[tuple[int, str, Image]]:
        """Return the images whose marks are in a text, each with its place and its mark."""
        for found in _MARK.finditer(text):
            number = int(found[1])
            if 0 < number <= len(self._images) and found[0] == self._write_mark(number - 1):
                yield found.start(), found[0], self._images[number - 1]

    def _write_mark(self, index: int) -> str:
        return f"[image {index + 1}: {self._images[index].size}]"
