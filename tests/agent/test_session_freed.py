"""A session that is over is freed at once, without the garbage collector: a service has one for each request."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from amplifier_agent import Agent, Budget, ScriptedProvider, hook, tool
from amplifier_agent.session import running_session
from amplifier_core import RUST_AVAILABLE
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    OllamaServer,
    ResponsesServer,
)

WAYS = {
    "provider-anthropic": (AnthropicServer, "claude-sonnet-4-5"),
    "provider-openai": (ResponsesServer, "gpt-5.5"),
    "provider-openai-chat": (ChatServer, "gpt-4.1"),
    "provider-ollama": (OllamaServer, "qwen3:8b"),
}
Find = Callable[[], list[str]]
"""Returns what of the session is still there."""


class Parts:
    """Looks at a session while it runs, and says later what of it is left."""

    def __init__(self) -> None:
        self._left: dict[str, weakref.ref[Any]] = {}

    def note(self) -> str:
        """Note what the running session is made of; as its system prompt."""
        session = running_session()
        assert session is not None
        kernel: Any = session.session
        coordinator = kernel.coordinator
        parts = {
            "session": session,
            "kernel session": kernel,
            "coordinator": coordinator,
            "hooks": coordinator.hooks,
            "loop": coordinator.get("orchestrator"),
            "context": coordinator.get("context"),
            **{f"tool {name}": each for name, each in coordinator.get("tools").items()},
            **coordinator.get("providers"),
        }
        self._left |= {name: weakref.ref(each) for name, each in parts.items()}
        return "Be brief."

    def list_left(self, *shared: str) -> list[str]:
        """Name the parts that are left, but for those that an agent shares."""
        assert {"session", "loop", "context"} < self._left.keys()
        return [name for name, left in self._left.items() if left() and name not in shared]


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"{at} is red."


@hook("tool:pre")
def allow(_: str, data: dict[str, Any]) -> None:
    assert data["tool_name"] == "look"


# Holds: agent-62
@pytest.mark.parametrize("module", WAYS)
async def test_a_run_over_http_leaves_nothing_of_its_session(module: str) -> None:
    parts = Parts()
    server_type, model = WAYS[module]
    with server_type([Answer(Call("look", {"at": "it"})), "It is red."]) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": model}
        plan = {"providers": [{"module": module, "config": config}]}
        agent = Agent(plan=plan, system=parts.note, tools=[look], hooks=[allow])
        assert (await agent.run("Look.")).text == "It is red."
        assert parts.list_left("tool look") == []


# Holds: agent-62
@pytest.mark.parametrize("options", [
    {},
    {"budget": Budget(tokens=10_000)},
    {"output": dict[str, int]},
    {"hooks": ["hooks-guard"]},
    {"tools": ["tool-task", "tool-filesystem", "tool-search"]},
])  # fmt: skip
async def test_a_run_leaves_nothing_of_its_session(options: dict[str, Any]) -> None:
    parts, model = Parts(), ScriptedProvider(['{"a": 1}'])
    await Agent(model, system=parts.note, **options).run("Answer.")
    assert parts.list_left("scripted") == []


# Holds: agent-62
async def test_a_session_that_is_over_leaves_nothing() -> None:
    parts, model = Parts(), ScriptedProvider(["One.", "Two."])
    async with Agent(model, system=parts.note).session() as session:
        await session.run("One?")
        async with session.stream("Two?") as stream:
            assert [event async for event in stream]
    del session, stream
    assert parts.list_left("scripted") == []


@pytest.mark.skipif(not RUST_AVAILABLE, reason="runs this file without the extension")
def test_the_same_holds_in_plain_python() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            __file__,
        ],
        env={**os.environ, "AMPLIFIER_ENGINE": "python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
