"""What hooks add to one request alone: behind all that later requests begin with."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from amplifier_agent import Agent, hook, tool
from amplifier_core import HookResult
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)

SIDES: dict[str, tuple[Callable[[], ModelServer], dict[str, Any]]] = {
    "provider-anthropic": (AnthropicServer, {}),
    "provider-openai": (lambda: ResponsesServer(deployments={"gpt-5.5": "gpt-5.5"}), {}),
    "provider-openai-chat": (lambda: ChatServer(preset="openai"), {"default_model": "gpt-4.1"}),
    "provider-ollama": (OllamaServer, {"default_model": "qwen3-vl:8b"}),
}


@tool
def look(at: str) -> str:
    """Look."""
    return f"seen at {at}"


def read_prompt(body: dict[str, Any]) -> str:
    """A request as services cache it: tools, system prompt, messages."""
    parts = [body.get("tools"), body.get("system"), body.get("messages"), body.get("input")]
    return json.dumps([part for part in parts if part is not None])


def without_marks(value: Any) -> Any:
    if isinstance(value, list):
        return [without_marks(each) for each in value]
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in value.items() if key != "cache_control"}
    return value


# Holds: deferred-10
@pytest.mark.parametrize("module", SIDES)
@pytest.mark.parametrize("way", ["system", "user", "result"])
async def test_a_text_for_one_request_is_behind_what_the_next_one_begins_with(
    module: str, way: str
) -> None:
    count = 0

    @hook("provider:request")
    def add(_event: str, _data: dict[str, Any]) -> HookResult:
        nonlocal count
        count += 1
        return HookResult(
            action="inject_context",
            context_injection=f"It is {count} o'clock.",
            context_injection_role="user" if way == "user" else "system",
            append_to_last_tool_result=way == "result",
            ephemeral=True,
        )

    serve, config = SIDES[module]
    with serve() as server:
        address = "host" if module == "provider-ollama" else "base_url"
        given = {address: server.url, "api_key": "k", **config}
        if module == "provider-ollama":
            del given["api_key"]
        calls = [Answer("So.", Call("look", {"at": str(number)})) for number in range(3)]
        server.answers = [*calls, "Done."]
        agent = Agent(
            plan={"providers": [{"module": module, "config": given}]},
            tools=[look],
            hooks=[add],
            system="Be brief.",
        )
        await agent.run("go")
        assert server.refusals == []
        bodies = [each.body for each in server.requests]

    prompts = [read_prompt(without_marks(each)) for each in bodies]
    assert len(prompts) == 4
    for number, (prompt, after) in enumerate(pairwise(prompts), 1):
        place = prompt.index(f"It is {number} o'clock.")
        last = "go" if number == 1 else f"seen at {number - 2}"
        end = prompt.rindex(last, 0, place) + len(last)
        assert prompt[:end] == after[:end]
    if module == "provider-anthropic":
        assert all(map(is_marked_before, bodies))


def is_marked_before(body: dict[str, Any]) -> bool:
    """Whether the last mark is on the last block without a text for this request alone."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    lasting = [block for block in blocks if "o'clock" not in json.dumps(block)]
    marked = [block for block in blocks if "cache_control" in block]
    return marked == [lasting[-1]]
