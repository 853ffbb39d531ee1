"""The picker of sessions: what it finds, what it draws, and which keys it takes."""

from __future__ import annotations

import asyncio
from typing import Any

import pyte
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth

from amplifier_app.sessions.picker import Picker, PickerRow, cut_cells, find_drawable
from amplifier_app.sessions.session_rows import digest_events
from amplifier_modules.stores import StoredEvent

DOWN, PAGE_DOWN, ENTER, ESCAPE, BACKSPACE = "\x1b[B", "\x1b[6~", "\r", "\x1b", "\x7f"


class ScreenText:
    """A terminal in memory as a text stream."""

    encoding = "utf-8"

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        self.written = ""

    def write(self, text: str) -> None:
        self.written += text
        self._stream.feed(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


def make_rows() -> list[PickerRow]:
    return [
        PickerRow("the parser", "now · opus · 2 turns", "lexer", ("> Parse it", "  Done.")),
        PickerRow("日本語 tests", "1 day ago", "", ("> Test it",)),
        *(PickerRow(f"session {n}", "2 days ago") for n in range(40)),
    ]


def run_picker(typed: str, columns: int = 80, rows: int = 24) -> tuple[int | None, ScreenText]:
    async def run() -> int | None:
        with create_pipe_input() as keys:
            keys.send_text(typed)
            return await Picker("Which session?", make_rows()).run(output, keys)

    text: Any = ScreenText(columns, rows)
    output = Vt100_Output(text, lambda: Size(rows=rows, columns=columns), term="xterm")
    return asyncio.run(run()), text


# Holds: command-120
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (ENTER, 0),
        (DOWN + ENTER, 1),
        (DOWN * 99 + ENTER, 41),
        (PAGE_DOWN + ENTER, 9),
        ("LEXER" + ENTER, 0),
        ("session 3" + DOWN + ENTER, 15),
        ("nothing like it" + ENTER, None),
        ("x" + BACKSPACE + ENTER, 0),
        (ESCAPE, None),
        ("\x03", None),
    ],
)
def test_keys_search_move_and_choose(typed: str, expected: int | None) -> None:
    assert run_picker(typed)[0] == expected


def test_the_screen_is_as_it_was_when_it_is_left() -> None:
    written = run_picker(ENTER)[1].written
    assert "\x1b[?1049h" in written
    assert written.rindex("\x1b[?1049l") > written.rindex("\x1b[?1049h")


def draw(columns: int, rows: int = 12) -> list[str]:
    parts = Picker("Which session?", make_rows()).draw(columns, rows)
    return "".join(part[1] for part in parts).split("\n")


def test_the_preview_is_below_in_a_narrow_terminal() -> None:
    lines = draw(40)
    assert lines[:2] == ["Which session?", "search:  "]
    assert lines[2].startswith("> the parser")
    assert lines[6:9] == ["─" * 39, "> Parse it", "  Done."]


@pytest.mark.parametrize("columns", [20, 40, 80, 99, 100, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    lines = draw(columns)
    assert len(lines) == 12
    assert max(map(get_cwidth, lines)) < columns
    assert any("Parse it" in line for line in lines)
    is_beside = any("the parser" in line and "> Parse it" in line for line in lines)
    assert is_beside == (columns >= 100)


def test_wide_characters_are_cut_at_their_cells() -> None:
    assert [cut_cells("日本語", width) for width in (6, 5, 4, 1, 0)] == [
        "日本語",
        "日本…",
        "日…",
        "…",
        "",
    ]


def test_nothing_is_drawn_where_a_terminal_can_only_print(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = ScreenText(80, 24)
    monkeypatch.setattr("sys.__stdout__", terminal)
    monkeypatch.delenv("AMPLIFIER_PLAIN", raising=False)
    found: list[object] = []
    for kind in ("xterm", "dumb"):
        monkeypatch.setenv("TERM", kind)
        found.append(find_drawable())
    assert found == [terminal, None]


def test_a_preview_is_safe_to_show_and_counts_turns() -> None:
    message = {"role": "user", "content": "Red \x1b[31m?\nand blue"}
    events = [
        StoredEvent(2, 1, "execution:start", {"prompt": "Red?"}),
        StoredEvent(3, 1, "context:message", {"number": 1, "index": 0, "message": message}),
        StoredEvent(4, 1, "llm:request", {"model": "claude"}),
        StoredEvent(5, 1, "execution:start", {"prompt": "Red?", "goes_on": True}),
    ]
    digest = digest_events(events)
    assert (digest.turns, digest.model) == (1, "claude")
    assert "\x1b" not in "".join(digest.preview)
    assert [each[:5] for each in digest.preview] == ["> Red", "> and"]
