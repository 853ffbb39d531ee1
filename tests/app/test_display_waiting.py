"""What the display shows while something is waited for, and what is held until then."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Event, Pipe, Terminal, UseClock, block, call, drawn, environment, use_clock

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen

__all__ = ["environment", "use_clock"]


def test_hook_messages_and_notifications_are_shown() -> None:
    file = Pipe()
    display = Display(Screen(file))
    display.show_message("slow disk", "warning", "hook:disk")
    display.handle("user:notification", {"message": "ready"})
    assert file.getvalue() == "warning: slow disk (hook:disk)\nready (hook)\n"


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
