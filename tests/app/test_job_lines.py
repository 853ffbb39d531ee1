"""Commands in the background on the screen: a row for each while it runs, and a line at its end."""

from __future__ import annotations

import io
from typing import Any

from prompt_terminal import Screen as Terminal

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen
from amplifier_app.redacted_output import RedactedOutput
from amplifier_core import world


class Clock(world.World):
    """Noon of a day, whatever the time zone."""

    def time(self) -> float:
        return 1_767_225_600.0


class Written(io.StringIO):
    """A file that says it is a terminal, and one that shows what is written to it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        terminal = Terminal(60)
        terminal.feed(self.getvalue().replace("\n", "\r\n"))
        return terminal.text


class Shown:
    """A display, and what is on its screen."""

    def __init__(self) -> None:
        self.file = Written()
        self.screen = Screen(self.file, width=60)
        self.display = RedactedOutput(Display(self.screen, clock=lambda: 0.0))

    def start(self, id: str, command: str) -> None:
        self.display.handle("job:start", {"job_id": id, "command": command})

    def end(self, id: str, command: str, status: str = "exited", code: int | None = 0) -> None:
        data = {"job_id": id, "command": command, "status": status, "exit_code": code}
        self.display.handle("job:end", data)

    def draw(self) -> list[str]:
        self.screen.tick()
        return self.file.shown.splitlines()


def make_shown() -> Shown:
    shown = Shown()
    shown.display.handle("execution:start", {})
    return shown


def since(row: str) -> str:
    """A row with its time, which depends on the time zone, as a word."""
    before, _, rest = row.partition(" since ")
    return f"{before} since then:{rest.partition(': ')[2] and ' ' + rest.partition(': ')[2]}"


# Holds: sandbox-86
def test_each_job_has_a_row_above_the_waiting_line_while_it_runs() -> None:
    with world.use(Clock()):
        shown = make_shown()
        shown.start("job-1", "npm run dev")
        shown.start("job-2", "make watch")
        *rows, waiting = shown.draw()
        assert [since(row) for row in rows] == [
            "• job-1 since then: npm run dev",
            "• job-2 since then: make watch",
        ]
        assert waiting.endswith("waiting for the model")
        shown.display.handle("user:notification", {"message": "a line", "level": "info"})
        shown.end("job-1", "npm run dev")
        notice, ended, row, waiting = shown.draw()
        assert notice == "a line (hook)"
        assert ended == "job-1 has ended: npm run dev"
        assert since(row) == "• job-2 since then: make watch"
        shown.display.finish()
        assert shown.file.shown == f"{notice}\n{ended}"


# Holds: sandbox-86
def test_how_a_job_ended_is_said_once() -> None:
    shown = make_shown()
    for number, (status, code) in enumerate(
        [("exited", 0), ("exited", 3), ("killed", None), ("timed_out", None), ("failed", None)]
    ):
        shown.start(f"job-{number}", "make")
        shown.end(f"job-{number}", "make", status, code)
    shown.display.finish()
    assert shown.file.shown.splitlines() == [
        "job-0 has ended: make",
        "job-1 has ended with exit code 3: make",
        "job-2 was ended: make",
        "job-3 was ended when its time was up: make",
        "job-4 could not be run: make",
    ]


# Holds: sandbox-86
def test_many_jobs_and_long_commands_leave_room() -> None:
    shown = make_shown()
    for number in range(1, 8):
        shown.start(f"job-{number}", "数" * 100)
    rows = shown.draw()
    assert [row[:7] for row in rows[:5]] == [
        "• job-1", "• job-2", "• job-3", "• job-4", "• and 3",
    ]  # fmt: skip
    assert len(rows) == 6
    shown.display.finish()
    assert shown.file.shown == ""


# Holds: sandbox-86
def test_no_secret_and_no_control_sequence_of_a_command_reaches_the_screen() -> None:
    shown = make_shown()
    command = "curl -H 'Authorization: Bearer sk-ant-api03-" + "a1B2" * 20 + "'\n\x1b[2J\u202e"
    shown.start("job-1", command)
    shown.draw()
    shown.end("job-1", command)
    shown.display.finish()
    written = shown.file.getvalue()
    assert "a1B2a1B2" not in written
    assert "\x1b[2J" not in written
    assert "\u202e" not in written


def test_where_nothing_can_be_erased_only_the_end_is_written() -> None:
    file = io.StringIO()
    display = Display(Screen(file, width=60))
    data: dict[str, Any] = {"job_id": "job-1", "command": "make"}
    display.handle("job:start", data)
    display.handle("job:end", {**data, "status": "exited", "exit_code": 0})
    display.finish()
    assert file.getvalue() == "job-1 has ended: make\n"
