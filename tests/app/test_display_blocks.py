"""Which blocks of an answer the display draws, and in which order."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Event, Pipe, block, drawn, environment

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen

__all__ = ["environment"]


def test_a_block_reported_again_is_drawn_once() -> None:
    """A provider streams its blocks; some loops report them once more."""
    events: list[Event] = [
        *block(0, "text", "Once."),
        ("llm:response", {}),
        *block(0, "text", "Once."),
    ]
    assert drawn(events, Pipe()) == "Once.\n"


def test_the_same_index_in_the_next_response_is_another_block() -> None:
    events: list[Event] = [
        *block(0, "text", "One."),
        ("provider:request", {}),
        *block(0, "text", "Two."),
    ]
    assert drawn(events, Pipe()) == "One.\n\nTwo.\n"


def test_a_block_that_was_not_streamed_is_drawn_at_its_end() -> None:
    events: list[Event] = [
        ("content_block:end", {"block_type": "text", "block_index": 0, "block": {"text": "All."}})
    ]
    assert drawn(events, Pipe()) == "All.\n"


def test_interleaved_blocks_are_drawn_one_after_the_other() -> None:
    def delta(index: int, text: str) -> Event:
        kind = "text" if index == 0 else "thinking"
        data = {"block_type": kind, "block_index": index, "delta": text}
        return ("content_block:delta", data)

    def end(index: int) -> Event:
        return ("content_block:end", {"block_index": index, "block": {}})

    events = [delta(0, "a"), delta(1, "x"), delta(0, "b"), end(1), delta(0, "c"), end(0)]
    assert drawn(events, Pipe()) == "abc\n\nthinking\n│ x\n"


def test_an_answer_that_no_event_has_shown_is_shown() -> None:
    file = Pipe()
    display = Display(Screen(file))
    display.answer("Only here.")
    display.finish()
    assert file.getvalue() == "Only here.\n"


# Holds: command-4
def test_blocks_that_the_provider_takes_back_are_closed_and_one_line_says_so() -> None:
    def dropped(index: int, kind: str) -> Event:
        return ("content_block:end", {"block_type": kind, "block_index": index, "dropped": True})

    events = [
        *block(0, "thinking", "Hm.")[:-1],
        *block(1, "text", "It waits and is never drawn."),
        dropped(0, "thinking"),
        dropped(1, "text"),
        dropped(1, "text"),
        *block(0, "text", "Yes."),
        *block(1, "text", "Quite.")[:-1],
    ]
    assert drawn(events, Pipe()).splitlines() == [
        "thinking",
        "│ Hm.",
        "",
        "(the model started its answer again)",
        "",
        "Yes.",
        "",
        "Quite.",
    ]


def test_a_dropped_block_that_nobody_saw_leaves_no_trace() -> None:
    head = {"block_type": "tool_call", "block_index": 0}
    events: list[Event] = [
        ("content_block:start", head),
        ("content_block:end", {**head, "dropped": True}),
        *block(0, "text", "Yes."),
    ]
    assert drawn(events, Pipe()) == "Yes.\n"


def test_an_answer_is_shown_if_what_was_drawn_of_it_was_taken_back() -> None:
    file = Pipe()
    display = Display(Screen(file, width=60))
    for event, data in block(0, "text", "No."):
        display.handle(event, data)
    display.handle("content_block:end", {"block_index": 0, "dropped": True})
    display.answer("Yes.")
    assert file.getvalue() == "No.\n\n(the model started its answer again)\n\nYes.\n"
