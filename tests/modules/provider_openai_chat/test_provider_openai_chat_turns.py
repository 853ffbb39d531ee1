"""Turns of a loop through a server: calls side by side, and calls and thinking in tags."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import StreamError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.models import ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.basic import mount as mount_loop


class Counter:
    """A tool that counts letters."""

    name = "count"
    description = "Counts letters."

    def __init__(self) -> None:
        self.input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        self.inputs: list[dict[str, Any]] = []

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.inputs.append(input)
        return ToolResult(output=str(len(input["text"])))


@pytest.fixture
def turn() -> Any:
    """Run a turn with a provider and a tool; return the answer and the history."""

    async def run(provider: Any, tool: Any) -> tuple[str, list[dict[str, Any]]]:
        coordinator, context = ModuleCoordinator(), SimpleContext()
        await coordinator.mount("context", context)
        await mount_loop(coordinator)
        loop = coordinator.get("orchestrator")
        answer = await loop.execute(
            "go",
            context,
            {"p": provider},
            {"count": tool},
            coordinator.hooks,
            coordinator=coordinator,
        )
        return answer, await context.get_messages()

    return run


@pytest.mark.parametrize("preset", [None, "mistral", "deepseek", "openrouter"])
async def test_a_turn_with_calls_side_by_side(
    server: Any, wire: Any, provider_with: Any, turn: Any, preset: str | None
) -> None:
    calls = [
        wire.call(0, "call_a", "count", '{"text": "a"}'),
        wire.call(1, "call_b", "count", '{"text": "bb"}'),
    ]
    called = wire.sse(wire.chunk(reasoning_content="Hm"), wire.chunk("stop", tool_calls=calls))
    server.answers = [wire.Answer(called), wire.Answer(wire.said("3."))]
    tool = Counter()
    answer, _ = await turn(provider_with(preset=preset), tool)
    assert answer == "3."
    assert sorted(each["text"] for each in tool.inputs) == ["a", "bb"]
    sent = server.bodies[1]["messages"]
    assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool"]
    ids = [each["id"] for each in sent[1]["tool_calls"]]
    assert [each["tool_call_id"] for each in sent[2:]] == ids
    assert [each["content"] for each in sent[2:]] == ["1", "2"]
    assert sent[1].get("reasoning_content") == ("Hm" if preset == "deepseek" else None)


async def test_no_call_of_a_stream_that_was_cut_runs(
    server: Any, wire: Any, provider_with: Any, turn: Any
) -> None:
    call = wire.call(0, "1", "count", '{"text": "a"}')
    server.answers = [wire.Answer(wire.sse(wire.chunk(tool_calls=[call]), done=False))]
    tool = Counter()
    with pytest.raises(StreamError):
        await turn(provider_with(), tool)
    assert tool.inputs == []


async def test_thinking_in_tags_becomes_thinking(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    chunks = [wire.chunk(content=letter) for letter in "<think>why</think>because"]
    server.answers = [wire.Answer(wire.sse(*chunks, wire.chunk("stop")))]
    provider = provider_with(thinking_tags=["think"])
    response = await provider.complete(ChatRequest(messages=[Message(role="user", content="go")]))
    assert [block.model_dump(exclude_none=True) for block in response.content] == [
        {"type": "thinking", "thinking": "why"},
        {"type": "text", "text": "because"},
    ]
    ended = [data["block"]["text"] for data in hooks.of("content_block:end")]
    assert ended == ["why", "because"]


async def test_calls_in_tags_run_and_their_results_are_texts(
    server: Any, wire: Any, provider_with: Any, turn: Any
) -> None:
    call = '<tool>{"tool_name": "count", "arguments": {"text": "abc"}}</tool>'
    server.answers = [
        wire.Answer(wire.said(f"<thinking>count</thinking>Let me see. {call}")),
        wire.Answer(wire.said("3.")),
    ]
    tool = Counter()
    answer, history = await turn(provider_with(tool_tags=True, thinking_tags=True), tool)
    assert (answer, tool.inputs) == ("3.", [{"text": "abc"}])
    assert [each["role"] for each in history] == ["user", "assistant", "tool", "assistant"]
    first, second = server.bodies
    assert "tools" not in first
    assert "- count: Counts letters." in json.dumps(first["messages"][0])
    assert [each["role"] for each in second["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
    assert call in second["messages"][2]["content"]
    assert second["messages"][3]["content"].startswith("<tool_result>")
