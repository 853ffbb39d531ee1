"""The pictures of the documentation show what the command writes today."""

from __future__ import annotations

import html
import re
import runpy
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
TEXT = re.compile(r'<text [^>]*\by="([\d.]+)"[^>]*>([^<]*)</text>')


def read_lines(picture: str) -> list[str]:
    """The lines of a picture, sorted: calls that run at the same time end in either order.

    The count of input tokens depends on the length of the folder's path, which is in the prompt.
    """
    lines: dict[str, str] = {}
    for place, text in TEXT.findall(picture):
        lines[place] = lines.get(place, "") + html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    return sorted(re.sub(r"[\d,]+ tokens in", "… tokens in", line) for line in lines.values())


@pytest.mark.skipif(sys.platform == "win32", reason="the pictures are drawn in a Unix terminal")
@pytest.mark.parametrize("name", ["tour", "validate"])
def test_a_picture_shows_what_the_command_writes_today(name: str) -> None:
    pictures = runpy.run_path(str(CHECKOUT / "docs/pictures.py"))
    stored = (CHECKOUT / f"docs/pictures/{name}.svg").read_text()

    drawn_today = read_lines(pictures["draw_picture"](name))

    assert len(drawn_today) > 10
    assert read_lines(stored) == drawn_today, "out of date: `make docs-pictures` draws it anew"
