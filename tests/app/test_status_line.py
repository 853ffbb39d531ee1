"""The line below the prompt: what it says, and what it leaves out where there is little space."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app.commands.chat.status_line import StatusLine, shorten_folder


class Called:
    """A conversation that says what was used."""

    def __init__(self) -> None:
        self.listeners: dict[str, Any] = {}

    def listen(self, event: str, take: Any) -> None:
        self.listeners[event] = take

    def find_window(self) -> int | None:
        return 200_000

    def find_capability(self, name: str) -> Any:
        return None

    def say(self, event: str, **data: Any) -> None:
        self.listeners[event](event, data)


# Holds: typing-9
def test_the_least_important_pieces_are_left_out_whole() -> None:
    turns: Any = SimpleNamespace(order=SimpleNamespace(model="claude-x"), answering=None)
    line = StatusLine(turns, Path("/srv/project"), lambda: "ask")
    assert line.write(80) == "claude-x · /srv/project · ask"
    called: Any = Called()
    line.watch(called)
    called.say(
        "llm:post", usage={"input_tokens": 11_000, "output_tokens": 1_000, "cost_usd": "0.5"}
    )
    called.say("llm:post", usage={"input_tokens": 19_000, "output_tokens": 1000, "cost_usd": "0.7"})
    assert [line.write(cells) for cells in (80, 55, 40, 35, 25, 10, 5)] == [
        "claude-x · /srv/project · 20,000 tokens (10%) · $1.20 · ask",
        "claude-x · 20,000 tokens (10%) · $1.20 · ask",
        "claude-x · 20,000 tokens (10%) · ask",
        "claude-x · 20,000 tokens (10%)",
        "claude-x",
        "claude-x",
        "",
    ]
    called.say("task:end", model_calls=2, cost_usd=None)
    assert line.write(80) == "claude-x · /srv/project · 20,000 tokens (10%) · ask"


def test_a_folder_is_shortened_from_the_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    long = Path("/home/me/a-long-name-of-a-folder/and-one-more-of-them/project")
    folders = [Path("/home/me"), Path("/home/me/src"), Path("/home/men"), long]
    assert [shorten_folder(folder) for folder in folders] == [
        "~",
        "~/src",
        "/home/men",
        "…/and-one-more-of-them/project",
    ]
