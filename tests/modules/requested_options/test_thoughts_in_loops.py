"""Loops, `Agent` and `arcllm` show no thoughts where none are asked for, whoever answers.

Holds: provider-20
"""

from __future__ import annotations

from typing import Any

import pytest
from strict_services import body_of

from amplifier_agent import Agent, ScriptedProvider, ThinkingDelta
from amplifier_core import ModuleCoordinator
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ThinkingBlock
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops import basic, streaming, tagged
from amplifier_providers.base import BaseProvider
from amplifier_stream import StreamChunk
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ResponsesServer,
    Text,
    Thinking,
)
from arcllm import Message as ArcMessage
from arcllm import ThinkingDelta as ArcThinkingDelta
from arcllm import Tool, ToolResultBlock, load_model

THOUGHT = "Nobody should see this."
OFF = {"loop": {"extended_thinking": False}, "variable": {}}
"""Who turns thinking off: the config of the loop, or the environment."""


class Whole:
    """A provider of another library, which thinks whatever it is asked for."""

    name = "whole"

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.options.append(options)
        return ChatResponse(content=[ThinkingBlock(thinking=THOUGHT), TextBlock(text="Hello")])


class InChunks(BaseProvider):
    """A provider that streams a thought between two texts."""

    name = "chunks"

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    async def chunks(self, request: ChatRequest, **options: Any) -> Any:
        self.options.append(options)
        yield "Hel"
        yield StreamChunk(THOUGHT, type="thinking")
        yield "lo"


async def run(
    module: Any, provider: Any, config: dict[str, Any]
) -> tuple[str, list[tuple[str, dict[str, Any]]], list[dict[str, Any]]]:
    """Run a turn; return the answer, what hooks heard, and the history."""
    coordinator, context = ModuleCoordinator(), SimpleContext()
    heard: list[tuple[str, dict[str, Any]]] = []
    for event in (
        "content_block:start", "content_block:delta", "content_block:end",
        "agent:thinking_start", "agent:thinking_content", "agent:thinking_end",
    ):  # fmt: skip
        coordinator.hooks.register(
            event, lambda event, data: heard.append((event, data)), name=event
        )
    await coordinator.mount("context", context)
    await module.mount(coordinator, config)
    answer = await coordinator.get("orchestrator").execute(
        "go", context, {provider.name: provider}, {}, coordinator.hooks, coordinator=coordinator
    )
    return answer, heard, await context.get_messages()


@pytest.mark.parametrize("who", OFF)
@pytest.mark.parametrize("loop", [basic, streaming, tagged])
@pytest.mark.parametrize("kind", [Whole, InChunks])
async def test_a_loop_shows_no_thought_of_a_provider_of_others(
    kind: Any, loop: Any, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if who == "variable":
        monkeypatch.setenv("THINKING_MODE_ENABLED", "false")
    provider = kind()
    answer, heard, history = await run(loop, provider, OFF[who])

    assert answer.replace("\n\n", "") == "Hello"
    assert {data["block_type"] for event, data in heard} == {"text"}
    assert THOUGHT not in repr(heard)
    shown = {data["block_index"]: data["block"]["text"] for _, data in heard if "block" in data}
    stored = dict(enumerate(history[-1]["content"]))
    assert shown == {at: each["text"] for at, each in stored.items() if each["type"] == "text"}
    assert [
        (each["thinking"], each["visibility"])
        for each in stored.values()
        if each["type"] == "thinking"
    ] == [(THOUGHT, "internal")]
    assert provider.options == [OFF[who]]


@pytest.mark.parametrize("kind", [Whole, InChunks])
async def test_a_loop_of_which_nothing_is_said_shows_thoughts(kind: Any) -> None:
    provider = kind()
    _, heard, history = await run(streaming, provider, {})
    assert "thinking" in {data["block_type"] for _, data in heard}
    assert "visibility" not in repr(history)
    assert provider.options == [{}]


async def test_the_config_of_a_loop_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THINKING_MODE_ENABLED", "false")
    provider = Whole()
    _, heard, _ = await run(streaming, provider, {"extended_thinking": "low"})
    assert THOUGHT in repr(heard)
    assert provider.options == [{"extended_thinking": "low"}]


@pytest.mark.parametrize("who", ["loop", "variable", "nobody"])
async def test_an_agent_asks_for_no_thinking_and_tells_of_none(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = who != "nobody"
    if who == "variable":
        monkeypatch.setenv("THINKING_MODE_ENABLED", "false")
    config = {"extended_thinking": False} if who == "loop" else {}
    loop = {"module": "loop-streaming", "config": config}
    with ResponsesServer() as server:
        server.answers = [Answer(Thinking(THOUGHT), Text("Hello"))]
        given = {"api_key": "k", "base_url": server.url, "default_model": "gpt-5"}
        plan = {"providers": [{"module": "provider-openai", "config": given}]}
        stream = Agent(plan=plan, loop=loop).stream("go")
        events = [event async for event in stream]
        body = body_of(server)

    thoughts = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert thoughts == ("" if off else THOUGHT)
    assert body["reasoning"] == ({"effort": "minimal"} if off else {"summary": "detailed"})
    assert events[-1].text == "Hello"


async def test_an_agent_tells_of_no_scripted_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKING_MODE_ENABLED", "false")
    thought = {"type": "thinking", "thinking": THOUGHT}
    script: list[Any] = [[thought, {"type": "text", "text": "Hello"}]]
    events = [event async for event in Agent(ScriptedProvider(script)).stream("go")]
    assert [type(event).__name__ for event in events] == ["TextDelta", "Result"]


@pytest.mark.parametrize("who", ["call", "model", "variable", "nobody"])
async def test_one_call_asks_for_no_thinking_and_tells_of_none(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = who != "nobody"
    if who == "variable":
        monkeypatch.setenv("THINKING_MODE_ENABLED", "false")
    settings = {"extended_thinking": False} if who == "model" else {}
    options: dict[str, Any] = {"extended_thinking": False} if who == "call" else {}
    tool = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
    with AnthropicServer() as server:
        server.answers = [Answer(Thinking(THOUGHT), Call("look")), "It is red."]
        async with load_model(
            "anthropic:claude-opus-5-5", api_key="k", base_url=server.url, **settings
        ) as model:
            stream = model.stream("What?", [tool], **options)
            deltas = [delta async for delta in stream]
            first = deltas.pop()
            result = ToolResultBlock(tool_use_id=first.tool_calls[0].id, content="red")
            history = [
                ArcMessage(role="user", content="What?"),
                first.message,
                ArcMessage(role="tool", content=[result]),
            ]
            last = await model.complete(history, [tool], **options)
        assert server.refusals == []
        sent_back = server.requests[1].body["messages"][1]["content"][0]

    shown = "".join(delta.text for delta in deltas if isinstance(delta, ArcThinkingDelta))
    assert (shown, first.thinking) == (("", None) if off else (THOUGHT, THOUGHT))
    assert sent_back["thinking"] == THOUGHT
    assert last.content == "It is red."


@pytest.mark.parametrize("value", [{"type": "enabled", "budget_tokens": 2_048}, "low", True])
async def test_one_call_takes_each_form(value: Any) -> None:
    with AnthropicServer() as server:
        async with load_model(
            "anthropic:claude-sonnet-4-5", api_key="k", base_url=server.url
        ) as model:
            response = await model.complete("Hi", extended_thinking=value)
        budget = body_of(server)["thinking"]["budget_tokens"]
    assert budget == {"low": 4_096, True: 8_192}.get(
        value if not isinstance(value, dict) else "", 2_048
    )
    assert "degradations" not in response.metadata
