"""The display takes steps in proportion to what it draws."""

from __future__ import annotations

import io
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from amplifier_app.display.screen import Screen
from amplifier_app.display.session_display import Display
from amplifier_core import events


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def steps(act: Callable[[], object]) -> int:
    """How many instructions of Python an act takes: no clock says so on a busy machine."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def blocks(display: Display, count: int) -> None:
    for index in range(count):
        place = {"block_type": "text", "block_index": index}
        display.handle(events.CONTENT_BLOCK_START, place)
        display.handle(events.CONTENT_BLOCK_DELTA, {**place, "delta": "word"})
        display.handle(
            events.CONTENT_BLOCK_END, {**place, "block": {"type": "text", "text": "word"}}
        )


def interleaved(display: Display, count: int) -> None:
    for index in range(count):
        display.handle(events.CONTENT_BLOCK_START, {"block_type": "text", "block_index": index})
    for index in range(count):
        block = {"type": "text", "text": "word"}
        display.handle(events.CONTENT_BLOCK_END, {"block_index": index, "block": block})


def calls(display: Display, count: int) -> None:
    for number in range(count):
        display.handle(events.TOOL_PRE, {"tool_name": "look", "tool_call_id": str(number)})
    for number in range(count):
        data = {"tool_name": "look", "tool_call_id": str(number), "result": {"output": "x"}}
        display.handle(events.TOOL_POST, data)


def rows(display: Display, count: int) -> None:
    place = {"block_type": "text", "block_index": 0}
    for _ in range(count):
        display.handle(events.CONTENT_BLOCK_DELTA, {**place, "delta": "| " + "cell " * 9})


def test_turns_leave_next_to_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    written = Terminal()
    written.write = len  # type: ignore[method-assign] # pyright: ignore
    display = Display(Screen(written, width=80), clock=lambda: 0.0)

    def run_turns(count: int) -> None:
        for _ in range(count):
            display.handle(events.EXECUTION_START, {})
            calls(display, 20)
            blocks(display, 20)
            display.handle(events.EXECUTION_END, {})

    run_turns(2)
    tracemalloc.start()
    try:
        run_turns(50)
        assert tracemalloc.get_traced_memory()[0] < 100_000  # of 5,000 events
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("draw", [blocks, interleaved, calls, rows])
def test_each_part_takes_as_many_steps_as_the_one_before(
    draw: Callable[[Display, int], None],
) -> None:
    def drawn(count: int) -> int:
        display = Display(Screen(Terminal(), width=80), clock=lambda: 0.0)

        def act() -> None:
            draw(display, count)
            display.finish()

        return steps(act)

    drawn(5)  # what is imported and compiled at first use
    first, second, third = drawn(200), drawn(400), drawn(600)
    # The beginning of a line may cost less than what follows.
    assert third - second < 1.1 * (second - first)
