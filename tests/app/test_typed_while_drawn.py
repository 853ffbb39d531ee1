"""Keys at random while a turn is drawn at random, in a terminal that gets other widths."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from drawn_prompt import drawn_prompt
from test_display import Event, Terminal, block, call, drawn, result

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen
from amplifier_app.line_input.line_editor import LineEditor

STATUS = "model · 3 tokens"
KEYS = st.one_of(
    st.text("abc xyzé日", min_size=1, max_size=12),
    st.sampled_from(
        [
            *("\x7f", "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[F", "\x1b[3~"),
            *("\x01", "\x05", "\x0b", "\x15", "\x17", "\x19", "\x14", "\x1f", "\x1bb", "\x1bd"),
            *("\x1b\r", "\\\r", "\r", "\t", "\x1b[Z", "\x1b", "\x1b[200~one\r\ntwo\x1b[201~"),
            "\x1b[200~" + "line\n" * 12 + "\x1b[201~",
        ]
    ),
)
WORDS = st.text("abc de\n", min_size=1, max_size=60)
PARTS = st.one_of(
    st.tuples(st.sampled_from(["text", "thinking"]), WORDS),
    st.tuples(st.just("tool"), st.text("abc", min_size=1, max_size=8)),
)
STEPS = st.one_of(
    st.tuples(st.just("type"), KEYS),
    st.tuples(st.just("draw"), st.integers(1, 6)),
    st.tuples(st.just("resize"), st.integers(24, 120)),
)


def make_events(parts: list[tuple[str, str]]) -> list[Event]:
    """The events of a turn that has these parts."""
    events: list[Event] = [("execution:start", {"prompt": "Go"}), ("llm:request", {})]
    for number, (kind, text) in enumerate(parts):
        if kind == "tool":
            key = f"t{number}"
            events += [call(key, "look", {"at": text}), result(key, "look", {"text": text})]
        else:
            events += block(number, kind, text, size=3)
    return events


def join(text: str) -> str:
    """What is on rows, without space and without the bar of thoughts at the beginning of each."""
    return "".join("".join(row.removeprefix("│").split()) for row in text.split("\n"))


# Holds: terminal-4
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(PARTS, max_size=6), steps=st.lists(STEPS, max_size=25))
def test_keys_while_a_turn_is_drawn_leave_the_turn_and_the_prompt_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parts: list[tuple[str, str]],
    steps: list[tuple[str, Any]],
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    events = make_events(parts)

    def expect_prompt(editor: LineEditor) -> str:
        return f">{editor.pastes.write_marks(editor.buffer.text)}"

    async def run() -> None:
        async with drawn_prompt(tmp_path, 80, write_status=lambda _: STATUS) as prompt:
            editor, terminal = prompt.editor, prompt.terminal
            screen = Screen(editor.stdout, put_rows=editor.show_rows)
            screen._measure_columns = lambda: terminal.size.columns  # type: ignore[method-assign] # pyright: ignore
            display, left = Display(screen, clock=lambda: 0.0), iter(events)
            for kind, value in [*steps, ("draw", len(events))]:
                if kind == "type":
                    await prompt.type(value)
                elif kind == "resize":
                    prompt.resize(value)
                else:
                    for _, (event, data) in zip(range(value), left, strict=False):
                        display.handle(event, data)
                    screen.tick()
                    await prompt.settle()
                rows = terminal.rows
                assert rows[-1] == STATUS
                assert join("\n".join(rows[:-1])).endswith(join(expect_prompt(editor)))
            display.finish()
            await prompt.settle()
            expected = drawn(events, Terminal(), width=80)
            shown = "\n".join(terminal.rows[:-1])
            assert join(shown) == join(f"{expected}\n{expect_prompt(editor)}")

    asyncio.run(run())
