"""Answers of the Anthropic API, whole: what they become, and which events they give."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import (
    ChatRequest,
    Degradation,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSpec,
    UnknownBlock,
    Usage,
)
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic.config import read_config
from amplifier_testing.servers.anthropic import AnthropicServer
from amplifier_testing.servers.serving.answer import Answer, Call, Thinking

KEY = "sk-ant-very-secret"
MODEL = "claude-sonnet-4-5"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


async def test_an_answer_is_the_same_however_its_bytes_are_cut(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    for chunk in (1, 7, 1_000_000):
        server.answers = [server.Answer(wire.whole, chunk=chunk)]

        response = await provider.complete(REQUEST)

        assert response.model_dump(exclude={"content_blocks"}, exclude_none=True) == {
            "content": [
                {"type": "thinking", "thinking": "Hm é.", "signature": "sig"},
                {"type": "text", "text": "Hello 😀"},
                {"type": "tool_call", "id": "toolu_1", "name": "look", "input": {"at": "é"}},
            ],
            "tool_calls": [{"id": "toolu_1", "name": "look", "arguments": {"at": "é"}}],
            "usage": {
                "input_tokens": 17,
                "output_tokens": 30,
                "total_tokens": 47,
                "reasoning_tokens": 20,
                "cache_read_tokens": 5,
                "cache_write_tokens": 2,
                "cost_usd": "0.000489",
            },
            "finish_reason": "tool_use",
            "metadata": {
                "provider": "anthropic",
                "model": "claude-sonnet-4-5-20250929",
                "requested_model": MODEL,
                "response_id": "msg_1",
                "request_id": None,
                "stop_reason": "tool_use",
                "content_blocks_emitted": True,
            },
            "text": "Hello 😀",
        }


async def test_blocks_of_an_answer_that_starts_again_are_told_as_dropped(
    server: Any, wire: Any, hooks: Any, provider: AnthropicProvider
) -> None:
    again = {**wire.start, "message": {**wire.start["message"], "id": "msg_2"}}
    body = wire.sse(wire.start, *wire.thinking, *wire.text[:2], again, *wire.text, *wire.end)
    server.answers = [server.Answer(body)]

    response = await provider.complete(REQUEST)

    ends = [data for event, data in hooks.events if event == "content_block:end"]
    assert [(data["block_index"], data.get("dropped", False)) for data in ends] == [
        (0, False),
        (0, True),
        (1, True),
        (1, False),
    ]
    assert [block.type for block in response.content] == ["text"]


async def test_blocks_come_also_as_dataclasses_with_their_wire_form(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    redacted = wire.block(0, {"type": "redacted_thinking", "data": "x"})
    server.answers = [
        server.Answer(wire.whole),
        server.Answer(wire.sse(wire.start, *redacted, *wire.end)),
    ]

    thinking, text, call = (await provider.complete(REQUEST)).content_blocks  # pyright: ignore
    response = await provider.complete(REQUEST)

    assert thinking == ThinkingContent(
        text="Hm é.", raw={"type": "thinking", "thinking": "Hm é.", "signature": "sig"}
    )
    assert text == TextContent(text="Hello 😀", raw={"type": "text", "text": "Hello 😀"})
    assert isinstance(call, ToolCallContent)
    assert (call.id, call.name, call.arguments) == ("toolu_1", "look", {"at": "é"})
    assert response.content == [RedactedThinkingBlock(data="x")]


async def test_events_are_emitted_while_the_answer_arrives(
    server: Any, wire: Any, provider: AnthropicProvider, hooks: Any
) -> None:
    server.answers = [
        server.Answer(wire.whole, headers={"content-type": "text/event-stream; charset=utf-8"})
    ]

    await provider.complete(REQUEST)

    names = [name for name, _ in hooks.events]
    assert names == [
        "llm:request",
        *("content_block:start", *["content_block:delta"] * 2, "content_block:end"),
        *("content_block:start", "content_block:delta", "content_block:end"),
        *("content_block:start", *["content_block:delta"] * 3, "content_block:end"),
        "llm:response",
    ]
    asked, answered = hooks.events[0][1], hooks.events[-1][1]
    assert asked == {
        "provider": "anthropic",
        "model": MODEL,
        "message_count": 1,
        "tool_count": 0,
        "max_tokens": 16_000,
        "thinking": {"type": "enabled", "budget_tokens": 8_192},
        "stream": True,
        "timeout": 5.0,
    }
    assert answered.pop("duration_ms") >= 0
    assert answered == {
        "provider": "anthropic",
        "model": "claude-sonnet-4-5-20250929",
        "status": "ok",
        "usage": {
            "input_tokens": 17,
            "output_tokens": 30,
            "cache_read_tokens": 5,
            "cache_write_tokens": 2,
            "reasoning_tokens": 20,
            "cost_usd": "0.000489",
        },
        "predicted_cache_read_tokens": 0,
    }
    delta = hooks.events[6][1]
    assert (delta["block_type"], delta["block_index"], delta["delta"]) == ("text", 1, "Hello 😀")


async def test_a_call_that_cannot_run_says_why_and_has_no_arguments(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    broken = wire.block(
        0,
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"at": 1, "at": 2}'},
    )
    server.answers = [server.Answer(wire.sse(wire.start, *broken, *wire.end))]

    response = await provider.complete(REQUEST)

    (call,) = provider.parse_tool_calls(response)
    assert (call.id, call.name, call.arguments) == ("t", "look", {})
    assert "at" in call.error  # pyright: ignore[reportAttributeAccessIssue]
    (content,) = response.content
    assert isinstance(content, ToolCallBlock)
    assert content.input == {}


async def test_blocks_that_only_the_api_knows_are_blocks_of_the_answer(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    unknown = {"type": "hologram", "depth": 3}
    server.answers = [
        server.Answer(wire.sse(wire.start, *wire.block(0, unknown), *wire.text, *wire.end))
    ]

    response = await provider.complete(REQUEST)

    assert response.content == [UnknownBlock(**unknown), TextBlock(text="Hello 😀")]
    assert response.degradation is None


# Holds: dialect-4
async def test_blocks_that_cannot_be_sent_are_a_degradation_and_one_warning(
    server: Any, wire: Any, provider: AnthropicProvider, caplog: pytest.LogCaptureFixture
) -> None:
    odd = [{"type": "hologram"}, {"type": "\x1b[2J"}, {"type": "hologram"}]
    request = ChatRequest(
        messages=[Message.model_validate({"role": "user", "content": [*odd, TextBlock(text="hi")]})]
    )
    for _ in range(2):
        server.answers = [server.Answer(wire.whole)]
        response = await provider.complete(request)

        assert response.degradation == Degradation(
            requested=r"content blocks `hologram`, `\x1b[2J`",
            actual="left out",
            reason="the API does not support them",
        )
    [warning] = [record.message for record in caplog.records if "left out" in record.message]
    assert warning.endswith(r": `hologram`, `\x1b[2J`")
    sent = json.loads(server.requests[-1][2])["messages"][0]["content"]
    assert [block["type"] for block in sent] == ["text"]


async def test_a_known_block_without_its_fields_is_kept_like_an_unknown_one(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    odd_blocks: list[dict[str, Any]] = [
        {"type": "thinking"}, {"type": "redacted_thinking", "data": 5}, {"type": "text"}, {"a": 1},
    ]  # fmt: skip
    for odd in odd_blocks:
        server.answers = [server.Answer(wire.sse(wire.start, *wire.block(0, odd), *wire.end))]
        response = await provider.complete(REQUEST)
        kinds = [block.type for block in response.content]
        assert kinds in ([], [odd.get("type", "unknown")])


async def test_a_cancelled_call_hangs_up_and_the_next_one_works(
    server: Any, wire: Any, provider: AnthropicProvider, hooks: Any
) -> None:
    server.answers = [
        server.Answer(wire.sse(wire.start, *wire.text), ending="hang"),
        server.Answer(wire.whole),
    ]
    async with anyio.create_task_group() as group:
        group.start_soon(provider.complete, REQUEST)
        while not any(name == "content_block:end" for name, _ in hooks.events):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()

    assert await anyio.to_thread.run_sync(server.hung_up.wait, 10)
    assert (await provider.complete(REQUEST)).finish_reason == "tool_use"


async def test_a_repaired_history_is_reported_once(
    server: Any, wire: Any, provider: AnthropicProvider, hooks: Any
) -> None:
    call = ToolCallBlock(id="1", name="look", input={})
    history = [REQUEST.messages[0], Message(role="assistant", content=[call])]
    server.answers = [server.Answer(wire.whole), server.Answer(wire.whole)]

    for _ in range(2):
        await provider.complete(ChatRequest(messages=history))

    reports = [data for name, data in hooks.events if name == "provider:tool_sequence_repaired"]
    assert reports == [{"provider": "anthropic", "repair_count": 1, "tool_call_ids": ["1"]}]


async def test_all_pages_of_models_are_listed(server: Any, provider: AnthropicProvider) -> None:
    pages: list[dict[str, Any]] = [
        {"data": [{"id": MODEL, "display_name": "Sonnet"}], "has_more": True, "last_id": MODEL},
        {"data": [{"id": "x", "max_input_tokens": 5, "max_tokens": 3}], "has_more": False},
    ]
    as_json = {"content-type": "application/json"}
    server.answers = [server.Answer(json.dumps(page).encode(), headers=as_json) for page in pages]

    models = await provider.list_models()

    assert [(m.id, m.display_name, m.context_window, m.max_output_tokens) for m in models] == [
        (MODEL, "Sonnet", 1_000_000, 64_000),
        ("x", "x", 5, 3),
    ]
    assert ["thinking" in model.capabilities for model in models] == [True, False]
    assert server.requests[1][0] == f"GET /v1/models?limit=1000&after_id={MODEL} HTTP/1.1"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": 1}', b"<html>", b'{"data": [1]}'])
async def test_a_list_of_models_that_is_none_is_an_error(
    server: Any, provider: AnthropicProvider, body: bytes
) -> None:
    server.answers = [server.Answer(body)]
    with pytest.raises(ConfigurationError, match="instead of a list of models"):
        await provider.list_models()


async def test_a_whole_turn_is_replayed_as_it_was_signed() -> None:
    script = [
        Answer(Thinking("First."), Call("glob", {})),
        Answer(Thinking("So."), "Nothing."),
    ]
    with AnthropicServer(script) as server:
        config = read_config(
            {"api_key": KEY, "base_url": server.url, "thinking_budget_tokens": 4096}
        )
        assert config is not None
        provider = AnthropicProvider(config)
        tools = [ToolSpec(name="glob", parameters={})]
        messages = [Message(role="user", content="Where is the kettle?")]
        for _ in range(2):
            response = await provider.complete(ChatRequest(messages=messages, tools=tools))
            messages.append(
                Message(role="assistant", content=response.content, metadata=response.metadata)
            )
            messages += [
                Message(role="tool", tool_call_id=call.id, content="denied")
                for call in response.tool_calls or ()
            ]
        await provider.close()

    sent = server.requests[1].body["messages"][1]["content"]
    assert sent[0] == {"type": "thinking", "thinking": "First.", "signature": server.sign("First.")}
    assert server.refusals == []
    assert response.finish_reason == "end_turn"
    assert isinstance(response.content[0], ThinkingBlock)
    assert "Nothing." in (response.text or "")  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(response.usage, Usage)
