"""What the display draws, from recorded events to the whole screen."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen
from amplifier_core import world

Event = tuple[str, dict[str, Any]]
UseClock: TypeAlias = Callable[[Callable[[], float]], None]


class ClockedWorld(world.World):
    def __init__(self, clock: Callable[[], float]) -> None:
        self.monotonic = clock


@pytest.fixture
def use_clock() -> Generator[UseClock]:
    with ExitStack() as used:
        yield lambda clock: used.enter_context(world.use(ClockedWorld(clock)))


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    encoding = "utf-8"


def drawn(events: list[Event], file: io.StringIO, *, width: int = 60) -> str:
    """The screen after the events, without its styles; the clock stands still."""
    return re.sub(r"\x1b\[[\d;]*m", "", styled(events, file, width=width))


def styled(events: list[Event], file: io.StringIO, *, width: int = 60) -> str:
    display = Display(Screen(file, width=width), clock=lambda: 0.0)
    for event, data in events:
        display.handle(event, data)
    display.finish()
    return file.getvalue()


def block(index: int, kind: str, text: str, *, size: int = 4) -> list[Event]:
    """A streamed block in deltas of `size` characters."""
    head = {"block_type": kind, "block_index": index}
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    key = "thinking" if kind == "thinking" else "text"
    return [
        ("content_block:start", head),
        *(("content_block:delta", {**head, "delta": delta}) for delta in deltas),
        ("content_block:end", {**head, "block": {"type": kind, key: text}}),
    ]


def call(key: str, name: str, arguments: dict[str, Any]) -> Event:
    return ("tool:pre", {"tool_name": name, "tool_call_id": key, "tool_input": arguments})


def result(key: str, name: str, output: object, error: object = None) -> Event:
    outcome = {"success": error is None, "output": output, "error": error}
    return ("tool:post", {"tool_name": name, "tool_call_id": key, "result": outcome})


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


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")


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


def test_thinking_longer_than_any_screen_is_whole() -> None:
    words = [f"thought{number}" for number in range(5_000)]
    shown = drawn(block(0, "thinking", " ".join(words), size=100), Terminal())
    assert re.findall(r"thought\d+", shown) == words


def test_a_block_reported_again_is_drawn_once() -> None:
    """A provider streams its blocks; some loops report them once more."""
    events = [*block(0, "text", "Once."), ("llm:response", {}), *block(0, "text", "Once.")]
    assert drawn(events, Pipe()) == "Once.\n"


def test_the_same_index_in_the_next_response_is_another_block() -> None:
    events = [*block(0, "text", "One."), ("provider:request", {}), *block(0, "text", "Two.")]
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


def test_a_table_is_drawn_as_a_table() -> None:
    text = "| language | files |\n|---|---:|\n| Python | 12 |\n| Rust | **3** |\n\nDone.\n"
    shown = drawn(block(0, "text", text), Terminal())
    assert [line.rstrip() for line in shown.splitlines()] == [
        "language   files",
        "────────────────",
        "Python        12",
        "Rust           3",
        "",
        "Done.",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `code` b", "a code b"),
        ("``one ` tick``, `` `two` ``", "one ` tick, `two`"),
        ("**strong `code`** and *some*", "strong code and some"),
        ("2 * 3 * 4 and a_b_c and **open", "2 * 3 * 4 and a_b_c and **open"),
        ("``never closed", "``never closed"),
        (r"\*not\* emphasis in C:\dir", r"*not* emphasis in C:\dir"),
        ("#hashtag, #1", "#hashtag, #1"),
        ("# A title", "A title"),
        ("> quoted", "▎ quoted"),
        ("* one\n  2. two", "• one\n  2. two"),
        ("```py\n*a*  `b`\n```", "py\n  *a*  `b`"),
        ("~~~\n```\n~~~", "  ```"),
        ("| no | table |", "| no | table |"),
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("***", "─" * 20),
    ],
)
def test_markdown(text: str, shown: str) -> None:
    assert drawn(block(0, "text", text), Terminal()) == f"{shown}\n"


def test_hook_messages_and_notifications_are_shown() -> None:
    file = Pipe()
    display = Display(Screen(file))
    display.show_message("slow disk", "warning", "hook:disk")
    display.handle("user:notification", {"message": "ready"})
    assert file.getvalue() == "warning: slow disk (hook:disk)\nready (hook)\n"


def test_an_answer_that_no_event_has_shown_is_shown() -> None:
    file = Pipe()
    display = Display(Screen(file))
    display.answer("Only here.")
    display.finish()
    assert file.getvalue() == "Only here.\n"


def test_nothing_is_drawn_over_what_a_person_is_asked() -> None:
    file = Terminal()
    screen = Screen(file, width=40)
    display = Display(screen)
    display.handle(*call("1", "look", {}))
    display.hold()
    asked = file.getvalue()
    screen.tick()
    display.handle(*call("2", "look", {}))
    display.show_message("meanwhile")
    assert file.getvalue() == asked
    display.release()
    assert "meanwhile" in file.getvalue().removeprefix(asked)
    display.finish()


def test_the_wait_for_the_model_is_counted_up_to_its_limit(use_clock: UseClock) -> None:
    file, now = Terminal(), [100.0]
    use_clock(lambda: now[0])
    screen = Screen(file, width=80)
    display = Display(screen)
    display.handle("llm:request", {"timeout": 600.0})
    now[0] += 12
    screen.tick()
    assert "waiting for the model (12 s of 600 s)" in file.getvalue()
    shown = file.getvalue()
    display.handle("llm:request", {})
    screen.tick()
    assert "waiting for the model (12 s)" in file.getvalue().removeprefix(shown)
    display.finish()


def test_the_progress_of_tools_is_drawn_with_their_names(use_clock: UseClock) -> None:
    file, now = Terminal(), [100.0]
    use_clock(lambda: now[0])
    screen = Screen(file, width=100)
    display = Display(screen)

    def waits_with(text: str) -> None:
        before = file.getvalue()
        screen.tick()
        line = re.sub(r"\x1b\[\??[\d;]*[mJhl]", "", file.getvalue().removeprefix(before))
        assert line.strip()[2:] == text

    def report(key: str, message: Any, fraction: Any) -> None:
        display.handle(
            "tool:progress", {"tool_call_id": key, "message": message, "fraction": fraction}
        )

    display.handle(*call("1", "fetch", {}))
    display.handle(*call("2", "grep", {}))
    waits_with("running fetch, grep")
    report("1", "page 1\x1b[2J\nof 5", 0.2)
    waits_with("running fetch 20% page 1\\x1b[2J of 5, grep")
    now[0] += 7
    report("1", "page 2", 0.4)
    report("2", "in src", None)
    waits_with("running fetch 40% page 2, grep in src (7 s)")
    report("3", "unknown", 0.5)
    report("2", None, "half")
    waits_with("running fetch 40% page 2, grep (7 s)")
    display.handle("tool:post", {"tool_call_id": "1", "result": {"success": True, "output": "x"}})
    waits_with("running grep")
    display.finish()
    assert "page 2" not in drawn([call("1", "fetch", {}), report_event("1", "page 2")], Pipe())


def report_event(key: str, message: str) -> Event:
    return ("tool:progress", {"tool_call_id": key, "message": message, "fraction": None})


def test_what_was_held_is_drawn_at_the_end() -> None:
    file = Pipe()
    display = Display(Screen(file))
    display.hold()
    display.hold()
    display.answer("Only here.")
    display.finish()
    assert file.getvalue() == "Only here.\n"


def test_a_notice_in_the_middle_of_a_line_leaves_both_readable() -> None:
    file = Terminal()
    display = Display(Screen(file, width=40))
    for event, data in block(0, "thinking", "First this, then that.", size=10)[:-2]:
        display.handle(event, data)
    display.break_line()
    file.write("stopping\n")
    display.finish()
    shown = re.sub(r"\x1b\[[\d;]*m", "", file.getvalue()).replace("\r \x1b[J\r\x1b[K", "")
    assert shown == ("thinking\n│ First this, then tha\nstopping\n")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    class Ascii(Pipe):
        encoding = "ascii"

    shown = drawn(
        [*block(0, "thinking", "so"), call("a", "ls", {}), result("a", "ls", "x")], Ascii()
    )
    assert shown == "thinking\n| so\n\n* 1 ls()\n  ok 1 ls: x\n"


UNTRUSTED = st.text(
    st.characters(categories=["L", "M", "Nd", "P", "Zs", "Cc", "Cs", "Cf"], max_codepoint=0x2100)
    | st.sampled_from("\x1b\x9b\x07\r\u200b\u200d\u202e\u2066\u2028\ud800\ufeff\U000e0041*`|#->\n")
)


@given(UNTRUSTED, st.integers(1, 7), st.sampled_from([Terminal, Pipe]))
def test_nothing_from_outside_controls_the_terminal(text: str, size: int, kind: Any) -> None:
    events = [
        *block(0, "thinking", text, size=size),
        *block(1, "text", text, size=size),
        call("a", text, {text: text}),
        result("a", text, {text: [text], "other": text}),
        call("b", text, {}),
        result("b", text, None, text),
        ("user:notification", {"message": text, "source": text}),
    ]
    shown = drawn(events, kind())
    tab = "\t" if kind is Pipe else ""
    assert not re.search(f"[^\n{tab} -~\xa0-\U0010ffff]", shown)
    assert not re.search(
        "[\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0041]",
        shown,
    )


def test_what_joins_is_shown_whole_however_it_was_cut() -> None:
    text = "👩\u200d🚀 می\u200cخواهم \tx"  # noqa: RUF001
    for size in (1, 2, 3):
        assert drawn(block(0, "text", text, size=size), Pipe()) == f"{text}\n"
    assert drawn(block(0, "text", text, size=1), Terminal()) == f"{text}\n".replace("\t", "    ")
    assert drawn(block(0, "text", "end\u200d\r", size=1), Pipe()) == "end\\u{200d}\\r\n"


@given(st.text(st.sampled_from("ab *`|#->_\\\n1.[]~"), max_size=80), st.data())
def test_cutting_a_text_differently_draws_the_same(text: str, data: st.DataObject) -> None:
    whole = drawn(block(0, "text", text, size=max(1, len(text))), Terminal())
    size = data.draw(st.integers(1, 5))
    assert drawn(block(0, "text", text, size=size), Terminal()) == whole


@given(st.text(st.sampled_from("abcde 日本\n"), max_size=200), st.integers(21, 40))
def test_wrapping_loses_no_character_and_fits(text: str, width: int) -> None:
    from rich.cells import cell_len

    shown = drawn(block(0, "thinking", text), Terminal(), width=width)
    inside = [line[2:] for line in shown.splitlines()[1:]]
    assert all(cell_len(line) < width for line in shown.splitlines())
    assert "".join("".join(inside).split()) == "".join(text.split())


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
