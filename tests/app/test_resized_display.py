"""The display on a terminal that changes its width, and where nothing may be redrawn."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Event, UseClock, block, call, result, use_clock
from emulated_terminal import Emulated

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen
from amplifier_app.notice import wrap_words

__all__ = ["use_clock"]

WIDTHS = (40, 80, 200)
MOVES = re.compile("[\x1b\r\b]")
WORDS = "The quick brown fox jumps over the lazy dog and reads what somebody has written. " * 4


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("AMPLIFIER_PLAIN", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


def open_screen(terminal: Emulated) -> Screen:
    screen = Screen(terminal, width=80)
    screen._measure_columns = lambda: terminal.columns  # type: ignore[method-assign] # pyright: ignore
    return screen


def show(display: Display, events: list[Event]) -> None:
    for event, data in events:
        display.handle(event, data)


@pytest.mark.parametrize("first", WIDTHS)
@pytest.mark.parametrize("then", WIDTHS)
@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_a_resize_within_a_text_breaks_no_word_that_comes_after(
    first: int, then: int, kind: str
) -> None:
    terminal = Emulated(first)
    display = Display(open_screen(terminal), clock=lambda: 0.0)
    events = block(0, kind, WORDS)
    show(display, events[:20])
    terminal.resize(then)
    show(display, events[20:])
    display.finish()
    bar = "│ " if kind == "thinking" else ""
    rows = [row.removeprefix(bar) for row in terminal.rows[1 if bar else 0 :]]
    # A terminal that became narrower has cut the row that was there, and wraps none.
    whole = " ".join(rows) if then >= first else " ".join(rows[2:])
    assert WORDS.strip().endswith(whole.strip())
    assert not set("╭╮╰╯") & set("".join(terminal.rows))


@pytest.mark.parametrize("then", WIDTHS)
def test_the_waiting_line_and_its_rows_are_erased_after_a_resize(then: int) -> None:
    terminal = Emulated(80)
    screen = open_screen(terminal)
    screen.write("Above.\n")
    screen.show_rows(["a job " * 12, "another"])
    screen.wait_for("waiting for the model " * 3)
    screen.tick()
    assert len(terminal.rows) == 4
    terminal.resize(then)
    screen.tick()
    screen.wait_for("")
    screen.write("Below.\n")
    assert terminal.rows == ["Above.", "Below."]


def test_a_waiting_line_is_one_piece_that_is_drawn_over_the_one_before() -> None:
    terminal = Emulated(40)
    screen = open_screen(terminal)
    screen.wait_for("waiting")
    written: list[str] = []
    terminal.write = lambda text: written.extend([text] * bool(text)) or len(text)  # type: ignore[method-assign]
    screen.tick()
    assert len(written) == 1
    assert re.sub(r"\x1b\[[\d;]*m", "", written[0]) == "\r\x1b[?7l⠙ waiting\x1b[J\x1b[?7h\r"


def test_code_has_its_language_above_and_no_fences() -> None:
    terminal = Emulated(40)
    text = "So:\n```python\ndef f():\n    return `1`\n\n```\n1. this\n    ~~~sh\n    ls\n    ~~~\n- ```c\n  x\n  ```\nEnd"
    display = Display(open_screen(terminal))
    show(display, block(0, "text", text))
    display.finish()
    assert terminal.rows == [
        *("So:", "python", "  def f():", "      return `1`", "", "1. this"),
        *("    sh", "      ls", "- c", "    x", "End"),
    ]


LINES = st.sampled_from(
    [
        *(
            "word and **strong** text",
            "- an item of several words",
            "> quoted words",
            "# A heading",
        ),
        *("", "```py\nsome code\n```", "1. first `code` x", "y " * 30),
        "日本語の文 with 👩\u200d🚀 and e\u0301",
    ]
)


@given(
    st.lists(LINES, max_size=12),
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from(WIDTHS)), min_size=1, max_size=30),
)
def test_all_words_of_an_answer_are_on_the_screen_in_order(
    lines: list[str], pieces: list[tuple[int, int]]
) -> None:
    text = "\n".join(lines)
    written = io.StringIO()
    written.isatty = lambda: True  # type: ignore[method-assign]
    screen = Screen(written, width=80)
    columns = 80
    screen._measure_columns = lambda: columns  # type: ignore[method-assign] # pyright: ignore
    display = Display(screen)
    at, number = 0, 0
    head = {"block_type": "text", "block_index": 0}
    display.handle("content_block:start", head)
    while at < len(text):
        size, columns = pieces[number % len(pieces)]
        display.handle("content_block:delta", {**head, "delta": text[at : at + size]})
        at, number = at + size, number + 1
    display.handle("content_block:end", {**head, "block": {"type": "text", "text": text}})
    display.finish()
    shown = re.sub(r"\x1b\[[\d;]*m", "", written.getvalue())
    assert re.findall(r"[^\W_]", shown) == re.findall(r"[^\W_]", text)
    assert "```" not in shown
    ascii_words = re.findall(r"[a-z]+", text)
    assert re.findall(r"[a-z]+", shown) == ascii_words


TURN: list[Event] = [
    ("execution:start", {}),
    ("llm:request", {}),
    *block(0, "thinking", "I look."),
    *block(1, "text", "Look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n"),
    call("a", "bash", {"command": "ls"}),
    result("a", "bash", {"output": "x", "sandbox": "none", "exit_code": 1}),
    ("execution:end", {}),
]


def test_plain_mode_writes_lines_alone(
    monkeypatch: pytest.MonkeyPatch, use_clock: UseClock
) -> None:
    for name, value in (("AMPLIFIER_PLAIN", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            terminal, now = Emulated(80), [0.0]
            use_clock(lambda now=now: now[0])
            screen = open_screen(terminal)
            display = Display(screen, clock=lambda: 0.0)
            for event, data in TURN:
                display.handle(event, data)
                screen.tick()
                if event in ("llm:request", "tool:pre"):
                    for _ in range(70):
                        now[0] += 1
                        screen.tick()
            display.break_line()
            display.finish()
            assert not MOVES.search(terminal.getvalue())
            assert terminal.getvalue() == (
                "waiting for the model\n"
                "still waiting for the model (30 s)\n"
                "still waiting for the model (60 s)\n\n"
                "thinking\n  I look.\n\n"
                "Look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n"
                "call 1 bash $ ls\n"
                "running bash\nstill running bash (30 s)\nstill running bash (60 s)\n"
                "  failed 1 bash\n    x\n    exit code 1, without a sandbox\n"
            )


def test_a_notice_ends_its_lines_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amplifier_app.notice.measure_columns", lambda: 40)
    names = ", ".join(f"`/command{number}`" for number in range(20))
    wrapped = wrap_words(f"  error: there are {names}")
    assert max(map(len, wrapped.split("\n"))) < 40
    assert all(line.startswith("  ") for line in wrapped.split("\n"))
    assert " ".join(wrapped.split()) == f"error: there are {names}"


# Holds: terminal-3
def test_the_rows_of_a_table_begin_below_its_second_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("amplifier_app.notice.measure_columns", lambda: 24)
    written = "bash  runs a command in the project\na  text is here for a while"
    rows = ["bash  runs a command in", "      the project", "a  text is here for a", "   while"]
    assert wrap_words(written).split("\n") == rows


def test_a_long_change_is_folded_and_says_how_to_see_the_rest() -> None:
    diff = "--- a\n+++ b\n@@ -0,0 +1,50 @@\n" + "".join(f"+line {number}\n" for number in range(50))
    output: dict[str, Any] = {"path": "a", "kind": "modified", "lines_added": 50, "diff": diff}
    terminal = Emulated(80)
    display = Display(open_screen(terminal), keeps_changes=True)
    show(display, [call("a", "edit_file", {"path": "a"}), result("a", "edit_file", output)])
    assert terminal.rows[2:4] == ["    @@ -0,0 +1,50 @@", "    +line 0"]
    assert len(terminal.rows) == 23
    assert terminal.rows[-1] == "    … 31 more lines; `/diff` or `amplifier-core diff` shows all"
    assert "\x1b[32m+line" in terminal.getvalue()
