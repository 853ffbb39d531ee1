"""What the display draws of a turn and its calls, from recorded events to the whole screen."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Event, Pipe, Terminal, block, call, drawn, environment, result, styled

__all__ = ["environment"]


TURN: list[Event] = [
    ("execution:start", {"prompt": "Give me a tour"}),
    ("provider:request", {}),
    *block(0, "thinking", "The folder comes first: its README and its sources.\n\nThen counts."),
    *block(1, "text", "Let me look around."),
    ("llm:response", {"usage": {"input_tokens": 1000, "output_tokens": 80}}),
    call("a", "list_directory", {}),
    call("b", "grep", {"pattern": "TODO", "mode": "count"}),
    call("c", "read_file", {"path": "README.md"}),
    result("c", "read_file", {"total_lines": 40, "shown_lines": 40, "content": "…"}),
    result("b", "grep", None, {"message": "unbalanced parenthesis"}),
    result("a", "list_directory", {"path": ".", "total": 7, "entries": []}),
    ("provider:request", {}),
    *block(0, "text", "# Tour\n\nIt has **7 entries**, and a `README.md`.\n\n- one\n- two\n"),
    (
        "llm:response",
        {
            "usage": {
                "input_tokens": 3000,
                "output_tokens": 200,
                "cache_read_tokens": 1000,
                "reasoning_tokens": 50,
            }
        },
    ),
    ("execution:end", {"response": "…", "status": "completed"}),
]


def test_a_turn_on_a_terminal() -> None:
    assert drawn(TURN, Terminal()) == (
        """\
thinking
│ The folder comes first: its README and its sources.
│
│ Then counts.

Let me look around.

● 1 list_directory()
● 2 grep(pattern="TODO", mode="count")
● 3 read_file(path="README.md")
  ✓ 3 read_file: 40 lines
  ✗ 2 grep: unbalanced parenthesis
  ✓ 1 list_directory: 7 entries

Tour

It has 7 entries, and a README.md.

• one
• two

4,000 tokens in (25% cached) · 280 out (50 thinking)
    2 model calls · 3 tools
"""
    )


def test_what_sub_agents_use_is_counted_and_the_end_of_each_is_told() -> None:
    usage = {"input_tokens": 100, "output_tokens": 7, "reasoning_tokens": 0}
    ended = {
        "task_id": "task-1", "description": "the \x1b[31mnotes", "usage": usage, "model_calls": 2,
        "unpriced_calls": 0, "cost_usd": "0.5",
    }  # fmt: skip
    own = {"input_tokens": 10, "output_tokens": 1, "cost_usd": "0.25"}
    events: list[Event] = [
        ("execution:start", {}),
        ("llm:response", {"usage": own}),
        ("task:end", {**ended, "status": "completed", "reason": None, "is_background": False}),
        ("task:end", {**ended, "status": "limit", "reason": "no time", "is_background": True}),
        ("budget:warning", {"kind": "tokens", "used": 217, "limit": 250}),
        ("execution:end", {}),
    ]
    lines = drawn(events, Terminal()).strip().splitlines()
    assert lines[0] == "task-1: completed"
    assert lines[1] == "    task-1: limit: no time"
    assert lines[3] == "217 of the 250 tokens of this turn are used up"
    assert lines[-1].startswith("210 tokens in · 15 out · 5 model calls · $1.25")


def test_what_sub_agents_do_is_shown_within_the_call_that_they_work_for() -> None:
    def of_child(session: str, event: Event) -> Event:
        return event[0], {**event[1], "session_id": session, "parent_tool_call_id": "a"}

    def task(id: str, child: str, description: str, **more: Any) -> dict[str, Any]:
        about = {"task_id": id, "child_session_id": child, "description": description}
        return {**about, "session_id": "s", "status": "completed", "reason": None, **more}

    inner = task("task-1", "s-1-1", "count \x1b[31mthem", session_id="s-1")
    turn: list[Event] = [
        ("execution:start", {}),
        call("a", "task", {"prompt": "Read the notes."}),
        ("task:start", task("task-1", "s-1", "read the notes")),
        of_child("s-1", ("content_block:start", {"block_type": "text", "block_index": 0})),
        of_child("s-1", ("content_block:delta", {"block_index": 0, "delta": "secret"})),
        of_child("s-1", call("c", "read_file", {"path": "notes.md"})),
        of_child("s-1", ("task:start", inner)),
        of_child("s-1-1", call("d", "grep", {"pattern": "TODO"})),
        of_child("s-1", ("task:end", inner)),
        of_child("s-1", result("c", "read_file", "many")),
        ("task:end", task("task-1", "s-1", "", status="limit", reason="no time", usage={})),
        result("a", "task", None, {"message": "no time"}),
        ("execution:end", {}),
    ]
    assert drawn(turn, Terminal()).strip().splitlines()[:7] == [
        '● 1 task(prompt="Read the notes.")',
        "    task-1: read the notes",
        '    task-1: read_file(path="notes.md")',
        "    task-1 > task-1: count \\x1b[31mthem",
        '    task-1 > task-1: grep(pattern="TODO")',
        "    task-1 > task-1: completed",
        "    task-1: limit: no time",
    ]


def test_a_turn_in_a_pipe_keeps_the_text_as_the_model_wrote_it() -> None:
    assert drawn(TURN, Pipe()) == (
        """\
thinking
│ The folder comes first: its README and its sources.
│
│ Then counts.

Let me look around.

● 1 list_directory()
● 2 grep(pattern="TODO", mode="count")
● 3 read_file(path="README.md")
  ✓ 3 read_file: 40 lines
  ✗ 2 grep: unbalanced parenthesis
  ✓ 1 list_directory: 7 entries

# Tour

It has **7 entries**, and a `README.md`.

- one
- two

4,000 tokens in (25% cached) · 280 out (50 thinking) · 2 model calls · 3 tools
"""
    )


def test_colours_follow_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [call("a", "glob", {}), result("a", "glob", None, "no")]
    assert "\x1b[1;31m  ✗" in styled(events, Terminal())
    assert "\x1b" not in styled(events, Pipe())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[\d;]*3\d", styled(events, Terminal()))
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in styled(events, Terminal())


def test_an_error_event_and_a_failed_result_of_one_call_are_one_line() -> None:
    events: list[Event] = [
        call("a", "glob", {}),
        ("tool:error", {"tool_name": "glob", "tool_call_id": "a", "error": {"msg": "bad"}}),
        result("a", "glob", None, {"message": "bad"}),
    ]
    assert drawn(events, Pipe()) == "● 1 glob()\n  ✗ 1 glob: bad\n"


def test_a_call_without_a_result_is_not_left_open() -> None:
    assert drawn([call("a", "glob", {})], Pipe()) == "● 1 glob()\n  ✗ 1 glob: did not finish\n"


def test_lines_of_a_result_may_end_in_carriage_returns() -> None:
    events = [call("a", "cat", {}), result("a", "cat", "one\r\ntwo\r\n")]
    assert drawn(events, Pipe()) == "● 1 cat()\n  ✓ 1 cat: one (+1 line)\n"


def test_arguments_are_cut_at_200_characters() -> None:
    shown = drawn([call("a", "write", {"content": "x" * 10_000})], Pipe())
    assert shown.splitlines()[0] == f'● 1 write(content="{"x" * 190}…)'
