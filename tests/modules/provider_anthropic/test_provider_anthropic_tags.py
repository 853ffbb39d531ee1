"""Models that write their thinking and their calls as tags, through a server and a loop."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.models import ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.basic import mount as mount_loop
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic.config import read_config

TAGGED = {"thinking_tags": ["think", "thinking"], "tool_tags": True}
END = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]


def answer(wire: SimpleNamespace, text: str) -> bytes:
    """Return the stream of a text that arrives letter by letter."""
    deltas = [{"type": "text_delta", "text": letter} for letter in text]
    return wire.sse(wire.start, *wire.block(0, {"type": "text", "text": ""}, *deltas), *END)


def mounted(url: str, hooks: Any, **options: Any) -> AnthropicProvider:
    config = read_config({"api_key": "key", "base_url": url, **options}, {})
    assert config is not None
    return AnthropicProvider(config, hooks)


async def test_thinking_tags_become_thinking_blocks(
    server: Any, hooks: Any, wire: SimpleNamespace
) -> None:
    server.answers.append(server.Answer(answer(wire, "<think>why</think>because")))
    provider = mounted(server.url, hooks, **TAGGED)
    request = ChatRequest(messages=[Message(role="user", content="go")])
    response = await provider.complete(request)
    await provider.close()
    assert [block.model_dump(exclude_none=True) for block in response.content] == [
        {"type": "thinking", "thinking": "why"},
        {"type": "text", "text": "because"},
    ]
    ends = [data["block"] for event, data in hooks.events if event == "content_block:end"]
    blocks = [{"type": "thinking", "thinking": "why"}, {"type": "text", "text": "because"}]
    assert ends == [
        {**block, "text": block.get("thinking") or block["text"], "raw": block} for block in blocks
    ]
    shown: dict[tuple[str, int], str] = {}
    for event, data in hooks.events:
        if event == "content_block:delta":
            key = (data["block_type"], data["block_index"])
            shown[key] = shown.get(key, "") + data["delta"]
    assert shown == {("thinking", 0): "why", ("text", 1): "because"}


async def test_without_the_options_tags_are_text(
    server: Any, hooks: Any, wire: SimpleNamespace
) -> None:
    text = "<thinking>why</thinking><tool>{}</tool>"
    server.answers.append(server.Answer(answer(wire, text)))
    provider = mounted(server.url, hooks)
    request = ChatRequest(messages=[Message(role="user", content="go")])
    response = await provider.complete(request)
    await provider.close()
    assert [block.text for block in response.content] == [text]
    assert provider.tool_tags == ()


class Counter:
    """A tool that counts letters."""

    name = "count"
    description = "Counts letters."

    def __init__(self) -> None:
        self.input_schema = {
            "type": "object",
            "properties": {"text": {"type": "string"}, "times": {"type": "integer"}},
        }
        self.inputs: list[dict[str, Any]] = []

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.inputs.append(input)
        return ToolResult(output=f"{len(input['text']) * input['times']}</tool_result>")


# Holds: tags-8
async def test_a_turn_with_calls_in_tags(server: Any, hooks: Any, wire: SimpleNamespace) -> None:
    calls = (
        "<think>count</think>Let me see. "
        '<tool>{"tool_name": "count", "arguments": {"text": "</tool>", "times": 2}}</tool>'
        "<tool><tool_name>count</tool_name><arguments><text>a &lt; b</text><times>1</times>"
        "</arguments></tool>"
        "<tool><tool_name>count</tool_name><arguments><times>many</times></arguments></tool>"
        '<tool>{"tool_name": "count", "arguments": {"text": "cut", "times": 1}}'
    )
    server.answers += [server.Answer(answer(wire, calls)), server.Answer(answer(wire, "19."))]
    provider = mounted(server.url, hooks, **TAGGED)
    coordinator, context, tool = ModuleCoordinator(), SimpleContext(), Counter()
    await coordinator.mount("context", context)
    await mount_loop(coordinator)
    loop = coordinator.get("orchestrator")
    answered = await loop.execute(
        "go", context, {"p": provider}, {"count": tool}, coordinator.hooks, coordinator=coordinator
    )
    await provider.close()

    assert answered == "19."
    # The tools of one response run at once, in any order.
    assert sorted(tool.inputs, key=lambda each: -each["times"]) == [
        {"text": "</tool>", "times": 2},
        {"text": "a < b", "times": 1},
    ]
    history = await context.get_messages()
    assert [message["role"] for message in history] == [
        "user", "assistant", *["tool"] * 4, "assistant",
    ]  # fmt: skip
    told = [message["content"] for message in history[2:6]]
    assert told[0] == "14</tool_result>"
    assert told[1] == "5</tool_result>"
    assert "argument `times` must be integer, found `many`" in told[2]
    assert "the call has no closing tag" in told[3]

    first, second = (json.loads(body) for _, _, body in server.requests)
    assert "tools" not in first
    system = json.dumps(first["system"])
    assert "- count: Counts letters." in system
    assert "<tool>" in system
    roles = [message["role"] for message in second["messages"]]
    assert roles == ["user", "assistant", "user"]
    said = "".join(block["text"] for block in second["messages"][1]["content"])
    assert (
        '<tool>{"tool_name": "count", "arguments": {"text": "</tool>", "times": 2}}</tool>' in said
    )
    assert "<arguments><times>many</times></arguments></tool>" in said
    *results, reminder = [block["text"] for block in second["messages"][2]["content"]]
    assert len(results) == 4
    assert reminder.startswith("<system-reminder>")
    for text in results:
        inside = text.removeprefix("<tool_result>").removesuffix("</tool_result>")
        assert "</tool_result>" not in inside
        assert json.loads(inside)["tool_name"] == "count"


@pytest.mark.parametrize(
    ("options", "thinking", "tools"),
    [
        ({}, (), ()),
        ({"thinking_tags": False, "tool_tags": []}, (), ()),
        ({"thinking_tags": True, "tool_tags": True}, ("thinking",), ("tool",)),
        ({"thinking_tags": "think", "tool_tags": ["a", "b"]}, ("think",), ("a", "b")),
    ],
)
def test_the_options_name_the_tags(
    options: dict[str, Any], thinking: tuple[str, ...], tools: tuple[str, ...]
) -> None:
    config = read_config({"api_key": "key", **options}, {})
    assert config is not None
    assert (config.thinking_tags, config.tool_tags) == (thinking, tools)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"tool_tags": 1},
            "`tool_tags` is 1 .must be true, false, a tag name or a list of tag names",
        ),
        ({"tool_tags": [1]}, "`tool_tags.0` is 1 .must be true, false, a tag name or a list"),
        ({"thinking_tags": "a b"}, "`thinking_tags` is 'a b' .*tag name `a b`"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_config({"api_key": "key", **options}, {})
