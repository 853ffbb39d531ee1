"""What a server answers becomes events, a response or an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    ToolCall,
    ToolSpec,
)
from amplifier_providers.answers.pieces import text_of_piece

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
CALLED = ToolCall(id="call_1", name="look", arguments={"at": "é"})


def whole(wire: Any) -> bytes:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    return wire.sse(
        wire.chunk(role="assistant", content="", reasoning_content="Hm"),
        wire.chunk(reasoning_content="."),
        wire.chunk(content="Hel"),
        wire.chunk(content="lo"),
        wire.chunk(tool_calls=[wire.call(0, "call_1", "look", '{"at": "\\u00')]),
        wire.chunk(tool_calls=[{"index": 0, "function": {"arguments": 'e9"}'}}]),
        wire.chunk("tool_calls"),
        {"id": "chat-1", "model": "m", "choices": [], "usage": usage},
    )


async def test_an_answer_is_emitted_block_by_block_and_returned_whole(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    server.answers = [wire.Answer(whole(wire))]
    provider = provider_with()
    response = await provider.complete(REQUEST)

    assert [(block.type, getattr(block, "text", None)) for block in response.content] == [
        ("thinking", None),
        ("text", "Hello"),
        ("tool_call", None),
    ]
    assert (response.text, response.finish_reason) == ("Hello", "tool_use")
    assert provider.parse_tool_calls(response) == [CALLED]
    assert response.usage is not None
    assert response.usage.model_dump(exclude_none=True) == {
        "input_tokens": 10,
        "output_tokens": 7,
        "total_tokens": 17,
        "reasoning_tokens": 5,
        "cache_read_tokens": 4,
    }
    function = {"name": "look", "arguments": '{"at": "\\u00e9"}'}
    raws = [
        {"reasoning_content": "Hm."},
        {"type": "text", "text": "Hello"},
        {"id": "call_1", "type": "function", "function": function},
    ]
    assert [block.raw for block in response.content_blocks] == raws
    assert [data["block"]["raw"] for data in hooks.of("content_block:end")] == raws
    deltas = hooks.of("content_block:delta")
    assert "".join(data.get("delta", "") for data in deltas) == "Hm.Hello"
    asked, answered = hooks.of("llm:request"), hooks.of("llm:response")
    assert (asked[0]["provider"], asked[0]["stream"]) == ("openai-chat", True)
    assert (answered[0]["status"], answered[0]["usage"]["input_tokens"]) == ("ok", 10)
    assert response.metadata is not None
    assert response.metadata["provider"] == "openai-chat"


async def test_chunks_are_the_text_and_then_the_answer(
    server: Any, wire: Any, provider_with: Any
) -> None:
    server.answers = [wire.Answer(whole(wire))]
    pieces = [piece async for piece in provider_with().chunks(REQUEST)]
    assert [text for piece in pieces if (text := text_of_piece(piece))] == ["Hel", "lo"]
    assert isinstance(pieces[-1], ChatResponse)
    assert pieces[-1].tool_calls == [CALLED]


async def test_a_call_without_an_id_has_the_same_one_in_events_and_response(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    calls = [wire.call(0, None, "look", "{}"), wire.call(1, None, "look", "")]
    server.answers = [wire.Answer(wire.sse(wire.chunk(tool_calls=calls), wire.chunk("tool_calls")))]
    response = await provider_with().complete(REQUEST)
    made = [call.id for call in response.tool_calls]
    assert made == ["made_1", "made_2"]
    started = hooks.of("content_block:start")
    assert [data["metadata"]["id"] for data in started] == made
    assert [data["block"]["id"] for data in hooks.of("content_block:end")] == made
    assert "id" not in hooks.of("content_block:end")[0]["block"]["raw"]


async def test_calls_have_the_name_of_the_tool_however_it_was_sent(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    provider = provider_with()
    request = REQUEST.model_copy(update={"tools": [ToolSpec(name="my tool", parameters={})]})
    server.answers = [wire.Answer(wire.said("no"))]
    await provider.complete(request)
    sent = server.bodies[0]["tools"][0]["function"]["name"]
    call = wire.call(0, "1", sent, "{}")
    server.answers = [wire.Answer(wire.sse(wire.chunk(tool_calls=[call]), wire.chunk("stop")))]
    response = await provider.complete(request)
    assert [call.name for call in response.tool_calls] == ["my tool"]
    assert hooks.of("content_block:end")[-1]["block"]["name"] == "my tool"


async def test_arguments_that_are_no_object_make_a_call_that_cannot_run(
    server: Any, wire: Any, provider_with: Any
) -> None:
    calls = [wire.call(0, "1", "look", "[1]"), wire.call(1, "2", "look", '{"a": ')]
    body = wire.sse(wire.chunk(tool_calls=calls), wire.chunk("length"))
    server.answers = [wire.Answer(body)]
    provider = provider_with()
    response = await provider.complete(REQUEST)
    assert response.finish_reason == "max_tokens"
    assert [(c.arguments, bool(c.get("error"))) for c in provider.parse_tool_calls(response)] == [
        ({}, True),
        ({}, True),
    ]


async def answer_of(provider: Any, way: str) -> None:
    if way == "complete":
        await provider.complete(REQUEST)
    else:
        async for _ in provider.chunks(REQUEST):
            pass


def failing(wire: Any, end: bytes) -> bytes:
    """A stream with a complete call in it that ends in another way."""
    call = wire.chunk(tool_calls=[wire.call(0, "1", "look", "{}")])
    return wire.sse(wire.chunk(content="hi"), call, done=False) + end


@pytest.mark.parametrize(
    ("end", "error", "text"),
    [
        (b"", llm_errors.StreamError, "cut off"),
        (b'data: {"choices": [{"delta"', llm_errors.StreamError, "cut off"),
        (
            b'data: {"error": {"code": 502, "message": "upstream"}, "choices": []}\n\n',
            llm_errors.ProviderUnavailableError,
            "upstream",
        ),
        (
            b'data: {"error": {"code": 429, "message": "slow down"}}\n\ndata: [DONE]\n\n',
            llm_errors.RateLimitError,
            "slow down",
        ),
        (
            b'event: error\ndata: {"error": {"message": "bad call", "code": "tool_use_failed", "type": "invalid_request_error"}}\n\n',
            llm_errors.InvalidRequestError,
            "bad call",
        ),
        (
            b'data: {"choices": [{"delta": {}, "finish_reason": "error"}]}\n\ndata: [DONE]\n\n',
            llm_errors.ProviderUnavailableError,
            "finish reason",
        ),
    ],
)
@pytest.mark.parametrize("way", ["complete", "chunks"])
async def test_a_stream_that_is_cut_or_fails_is_an_error_and_no_call_of_it_runs(
    server: Any,
    hooks: Any,
    wire: Any,
    provider_with: Any,
    end: bytes,
    error: type[Exception],
    text: str,
    way: str,
) -> None:
    server.answers = [wire.Answer(failing(wire, end))]
    provider = provider_with(max_retries=3, min_retry_delay=0)
    with pytest.raises(error, match=text) as caught:
        await answer_of(provider, way)
    assert isinstance(caught.value, llm_errors.LLMError)
    assert caught.value.provider == "openai-chat"
    assert len(server.asked) == 1  # its beginning was shown
    assert hooks.of("llm:response")[0]["status"] == "error"


async def test_a_connection_that_breaks_cuts_the_answer_off(
    server: Any, wire: Any, provider_with: Any
) -> None:
    server.answers = [wire.Answer(failing(wire, b""), is_cut=True)]
    with pytest.raises(llm_errors.StreamError, match="cut off"):
        await provider_with().complete(REQUEST)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"error": {"message": "x", "type": "api_error"}}, llm_errors.AuthenticationError),
        (
            402,
            {"error": {"message": "Insufficient Balance", "type": "unknown_error"}},
            llm_errors.QuotaExceededError,
        ),
        (
            400,
            {
                "object": "error",
                "message": "Unexpected role",
                "type": "invalid_request_message_order",
                "code": "3230",
            },
            llm_errors.InvalidRequestError,
        ),
        (
            422,
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "x"], "msg": "Extra"}]},
            llm_errors.InvalidRequestError,
        ),
        (
            400,
            {"error": "This model's maximum context length is 4096 tokens"},
            llm_errors.ContextLengthError,
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size",
                    "type": "exceed_context_size_error",
                }
            },
            llm_errors.ContextLengthError,
        ),
        (404, {"error": {"message": "no such model"}}, llm_errors.NotFoundError),
        (429, {"error": {"message": "slow"}}, llm_errors.RateLimitError),
        (503, {"error": {"message": "busy"}}, llm_errors.ProviderUnavailableError),
    ],
)
async def test_the_errors_of_many_servers_are_of_the_right_kind(
    server: Any,
    wire: Any,
    provider_with: Any,
    status: int,
    body: dict[str, Any],
    error: type[Exception],
) -> None:
    server.answers = [wire.Answer(json.dumps(body).encode(), status, "application/json")]
    with pytest.raises(error) as caught:
        await provider_with().complete(REQUEST)
    assert type(caught.value) is error
    assert isinstance(caught.value, llm_errors.LLMError)
    assert caught.value.status_code == status


async def test_an_answer_that_comes_whole_is_the_same(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode()
    for streams in (True, False):
        server.answers = [wire.Answer(body, content_type="application/json")]
        response = await provider_with(use_streaming=streams).complete(REQUEST)
        assert (response.text, response.finish_reason) == ("Hello", "end_turn")
        assert server.bodies[-1]["stream"] is streams
        assert ("stream_options" in server.bodies[-1]) is streams
        assert hooks.of("content_block:end")[-1]["block"]["text"] == "Hello"


async def test_a_page_of_a_proxy_is_named(server: Any, wire: Any, provider_with: Any) -> None:
    server.answers = [wire.Answer(b"<html>Log in</html>", content_type="text/html")]
    with pytest.raises(llm_errors.ConfigurationError, match="instead of an event stream"):
        await provider_with().complete(REQUEST)


async def test_a_refusal_is_a_block_and_the_end_of_the_answer(
    server: Any, wire: Any, provider_with: Any
) -> None:
    server.answers = [wire.Answer(wire.sse(wire.chunk(refusal="No."), wire.chunk("stop")))]
    response = await provider_with().complete(REQUEST)
    assert response.finish_reason == "refusal"
    [block] = response.content_blocks
    assert block.raw == {"type": "refusal", "refusal": "No."}


async def test_a_key_that_a_server_echoes_is_in_no_error(
    server: Any, wire: Any, provider_with: Any
) -> None:
    message = "bad key sk-very-secret or hush-hush"
    body = json.dumps({"error": {"message": message}}).encode()
    server.answers = [wire.Answer(body, 401, "application/json")]
    provider = provider_with(extra_headers={"x-key": "hush-hush"})
    with pytest.raises(llm_errors.AuthenticationError) as caught:
        await provider.complete(REQUEST)
    shown = str(caught.value) + repr(provider) + repr(provider.config)
    assert "sk-very" not in shown
    assert "hush" not in shown


async def test_what_thinks_in_other_fields_is_read_and_sent_back(
    server: Any, wire: Any, provider_with: Any
) -> None:
    details = [{"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"}]
    server.answers = [
        wire.Answer(
            wire.sse(
                wire.chunk(reasoning="Hm", reasoning_details=details),
                wire.chunk("tool_calls", tool_calls=[wire.call(0, "1", "look", "{}")]),
            )
        ),
        wire.Answer(wire.said("done")),
    ]
    provider = provider_with(preset="openrouter")
    response = await provider.complete(REQUEST)
    assert response.content_blocks[0].raw == {"reasoning": "Hm", "reasoning_details": details}
    stored = Message(role="assistant", content=response.content, metadata=response.metadata)
    kept = Message.model_validate_json(stored.model_dump_json())
    result = Message(role="tool", tool_call_id="1", content="seen")
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, kept, result]))
    assert server.bodies[1]["messages"][1]["reasoning_details"] == details


async def test_mistrals_thinking_is_read_and_sent_back(
    server: Any, wire: Any, provider_with: Any
) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    text = {"type": "text", "text": "Hello"}
    server.answers = [
        wire.Answer(wire.sse(wire.chunk(content=[thought]), wire.chunk("stop", content=[text]))),
        wire.Answer(wire.said("done")),
    ]
    provider = provider_with(preset="mistral")
    response = await provider.complete(REQUEST)
    assert response.content_blocks[0].raw == thought
    stored = Message(role="assistant", content=response.content, metadata=response.metadata)
    again = ChatRequest(messages=[*REQUEST.messages, stored, *REQUEST.messages])
    await provider.complete(again)
    assert server.bodies[1]["messages"][1]["content"] == [thought, text]
