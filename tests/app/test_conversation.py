"""Several turns of one conversation, as an interactive mode runs them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands.conversation import Conversation
from amplifier_app.commands.model_choice import AnsweringProvider
from amplifier_app.commands.order import Order
from amplifier_app.commands.provider_choice import USUAL
from amplifier_app.commands.turn import Turn
from amplifier_app.outcome import Outcome


class Recorder:
    """An output that lets a test act once text comes."""

    failure = None

    def __init__(self) -> None:
        self.act: Any = None

    def handle(self, event: str, data: Any) -> None:
        if event == "content_block:delta" and self.act is not None:
            self.act()
            self.act = None

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def unexpected(code: int) -> None:
    raise AssertionError(code)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_an_interrupted_turn_keeps_its_text_and_the_next_one_runs(
    model: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-scripted")
    hold = threading.Event()
    said = model.said({"type": "text", "text": "One moment"})
    model.reply(*said[:3], hold, *said[3:])
    model.reply(*model.said({"type": "text", "text": "Two."}))
    recorder = Recorder()
    config = {"base_url": model.url, "api_key": "sk-ant-scripted"}
    answering = AnsweringProvider(USUAL, config)
    conversation = Conversation(Order("", tmp_path), answering, recorder)
    try:
        first = Turn(conversation, "Count", unexpected)
        recorder.act = first.interruption.press
        interrupted = await first.end()
        completed = await Turn(conversation, "Go on", unexpected).end()
    finally:
        hold.set()
        await conversation.close()

    text = {"type": "text", "text": "One moment"}
    assert (interrupted.status, interrupted.text, interrupted.content) == (
        "cancelled",
        "One moment",
        [text],
    )
    assert isinstance(completed, Outcome)
    assert (completed.status, completed.text) == ("completed", "Two.")
    assert completed.content == [{"type": "text", "text": "Two."}]
    roles = [message["role"] for message in model.requests[1]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert model.requests[1]["messages"][1]["content"][0]["text"] == "One moment"
    assert capfd.readouterr().err == "stopping now\n"
