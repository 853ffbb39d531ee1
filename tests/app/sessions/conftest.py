"""Sessions of the command, in pseudo-terminals and in pipes, with a scripted model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

ANSWER = {"type": "text", "text": "All is **well**."}


@pytest.fixture
def say(model: Any) -> Callable[..., None]:
    """Add answers of the model."""

    def add(*answers: str) -> None:
        for answer in answers:
            model.reply(*model.said({"type": "text", "text": answer}))

    return add


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """What a scripted model waits for; it goes on when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def answering(keyed: Any, model: Any) -> Any:
    """The command with a model that looks at the folder, then answers."""
    keyed.environment["TERM"] = "xterm-256color"
    (keyed.folder / "notes.txt").write_text("one\nTODO two\n")
    thinking = {"type": "thinking", "thinking": "I look for notes."}
    call = {"type": "tool_use", "id": "t1", "name": "grep", "input": {"pattern": "TODO"}}
    model.reply(*model.said(thinking, call, stop="tool_use"))
    model.reply(*model.said(ANSWER))
    return keyed


@pytest.fixture
def outcome_of() -> Any:
    """Reads the outcome, the last line and the only one of its kind, without the session's id."""

    def read(stdout: str) -> dict[str, Any]:
        lines = [json.loads(line) for line in stdout.splitlines()]
        assert [line["event"] for line in lines].count("outcome") == 1
        assert lines[-1]["event"] == "outcome"
        data = lines[-1]["data"]
        if (session_id := data.pop("session_id", None)) is not None:
            UUID(session_id)
        keys = ["status", "reason", "text", "content", "usage", "cost", "error"]
        assert list(data) in (keys, [*keys, "goal"])
        return data

    return read
