"""A scripted model on the loopback, and the command that talks to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from terminal import PATIENCE
from warm_interpreter import Interpreters

from amplifier_testing.servers.serving.http import HttpRequest, Reply
from amplifier_testing.servers.serving.recording import RecordingServer

PYTHON = Path(__file__).parents[2] / "python"
# Programs inherit signals that are ignored, as Ctrl+C is in the background of a shell and the hang-up
# under `nohup`, but not handlers: the commands that are tested must start as in a terminal.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)

Piece = bytes | threading.Event
"""Bytes to send, or what to wait for before the next ones."""


@dataclass
class Answer:
    """One HTTP answer of the scripted model."""

    pieces: list[Piece]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    arrived: threading.Event = field(default_factory=threading.Event)
    """Set when the request for this answer is there."""


class ScriptedModel:
    """Gives its answers one after the other, the last one again and again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answers: list[Answer] = []
        self._lock = threading.Lock()

    def next_answer(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(request)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def reply(
        self, *pieces: Piece, status: int = 200, headers: dict[str, str] | None = None
    ) -> Answer:
        """Add an answer; the last one is given again and again."""
        answer = Answer(list(pieces), status, headers or {})
        self.answers.append(answer)
        return answer

    @staticmethod
    def event(name: str, **fields: Any) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()

    def said(self, *blocks: dict[str, Any], stop: str = "end_turn") -> list[Piece]:
        """The stream of a message with these blocks."""
        usage = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 30}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-scripted",
            "content": [],
            "stop_reason": None,
            "usage": usage,
        }
        pieces: list[Piece] = [self.event("message_start", message=message)]
        for index, block in enumerate(blocks):
            pieces.extend(self._block(index, block))
        delta = {"stop_reason": stop, "stop_sequence": None}
        pieces.append(self.event("message_delta", delta=delta, usage={"output_tokens": 20}))
        pieces.append(self.event("message_stop"))
        return pieces

    def _block(self, index: int, block: dict[str, Any]) -> list[Piece]:
        kind = block["type"]
        if kind == "tool_use":
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {**block, kind: ""}
            delta = {"type": f"{kind}_delta", kind: block[kind]}
        return [
            self.event("content_block_start", index=index, content_block=empty),
            self.event("content_block_delta", index=index, delta=delta),
            self.event("content_block_stop", index=index),
        ]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with RecordingServer() as server:
        scripted = ScriptedModel(server.url)

        def answer(request: HttpRequest) -> Reply:
            scripted.keys.append(request.headers.get("x-api-key"))
            answer = scripted.next_answer(request.json)
            answer.arrived.set()
            kind = "text/event-stream" if answer.status == 200 else "application/json"
            given = {name.lower(): value for name, value in answer.headers.items()}
            headers = {"content-type": kind, **given}
            return Reply(answer.status, headers, answer.pieces)

        server.respond(answer)
        yield scripted


@dataclass
class Command:
    """The command `amplifier-core`, as a user would run it, in an environment of its own."""

    environment: dict[str, str]
    folder: Path
    interpreters: Interpreters

    @property
    def line(self) -> list[str]:
        return [sys.executable, "-m", "amplifier_app.cli"]

    def __call__(
        self, *arguments: str, input: bytes | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self.interpreters.run(
            *self.line[1:],
            *arguments,
            env=self.environment,
            cwd=self.folder,
            input=input,
            timeout=PATIENCE,
        )


@pytest.fixture
def command(tmp_path: Path, interpreters: Interpreters) -> Command:
    """The command without a key, in an empty folder."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(
            (
                "ANTHROPIC_",
                "OPENAI_",
                "AMPLIFIER_",
                "PROVIDER_",
                "OTEL_",
                "PYTHON",
                "NO_COLOR",
                "FORCE_COLOR",
            )
        )
        and not name.endswith("_API_KEY")
        and name not in {"COLUMNS", "LINES"}  # the terminal says how wide it is
    }
    environment |= {"PYTHONPATH": str(PYTHON), "PYTHONUTF8": "1", "PYTHONWARNINGS": "error"}
    environment["PYTHON_KEYRING_BACKEND"] = os.environ["PYTHON_KEYRING_BACKEND"]
    environment["PROVIDER_MAX_RETRIES"] = "0"  # a test that wants retries says how long they wait
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    environment["HOME"] = str(tmp_path / "home")  # where nobody has skills and notes
    (tmp_path / "home").mkdir()
    folder = tmp_path / "folder"
    folder.mkdir()
    return Command(environment, folder, interpreters)


@pytest.fixture
def keyed(command: Command, model: ScriptedModel) -> Command:
    """The command with a key for the scripted model."""
    command.environment |= {"ANTHROPIC_API_KEY": "sk-ant-scripted", "ANTHROPIC_BASE_URL": model.url}
    # A test that wants to see what a turn costs says what a token does.
    command.environment["PROVIDER_PRICES"] = '{"*": {"input": 0, "output": 0}}'
    return command
