"""Events of a turn, and what the display makes of them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest

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


def drawn(
    events: list[Event], file: io.StringIO, *, width: int = 60, keeps_changes: bool = True
) -> str:
    """The screen after the events, without its styles; the clock stands still."""
    return re.sub(
        r"\x1b\[[\d;]*m", "", styled(events, file, width=width, keeps_changes=keeps_changes)
    )


def styled(
    events: list[Event], file: io.StringIO, *, width: int = 60, keeps_changes: bool = True
) -> str:
    display = Display(Screen(file, width=width), clock=lambda: 0.0, keeps_changes=keeps_changes)
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


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
