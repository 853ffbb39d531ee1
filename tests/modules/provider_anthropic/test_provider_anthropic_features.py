"""Every key of the settings acts: it is seen on the wire or in what the provider does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_core.message_models import (
    ChatRequest,
    Message,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    ToolSpec,
)
from amplifier_providers.answers.pieces import text_of_piece
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic.config import read_config
from amplifier_testing.servers import Answer, AnthropicServer, Call, Fault, Text, Thinking

MODEL = "claude-sonnet-4-5"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}},
    "required": ["n"],
}
STRICT = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture
def strict() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


def mounted(server: AnthropicServer, hooks: Any = None, **config: Any) -> AnthropicProvider:
    settings = read_config({"api_key": "k", "base_url": server.url, "max_retries": 0, **config})
    assert settings is not None
    return AnthropicProvider(settings, hooks)


async def sent(server: AnthropicServer, request: ChatRequest = REQUEST, **config: Any) -> Any:
    """The request that the server saw and took."""
    provider = mounted(server, **{"default_model": MODEL, **config})
    await provider.complete(request)
    await provider.close()
    assert server.refusals == []
    return server.requests[-1]


@pytest.mark.parametrize(
    ("config", "seen"),
    [
        ({"temperature": 0.5, "thinking_budget_tokens": 0}, {"temperature": 0.5}),
        ({"max_tokens": 77, "thinking_budget_tokens": 0}, {"max_tokens": 77}),
        (
            {"thinking_budget_tokens": 2_000, "thinking_display": "omitted"},
            {"thinking": {"type": "enabled", "budget_tokens": 2_000, "display": "omitted"}},
        ),
        ({"thinking_type": "disabled"}, {"thinking": None}),
        ({"default_model": "claude-opus-5", "thinking_display": "omitted"},
         {"thinking": {"type": "adaptive", "display": "omitted"}}),
        ({"default_model": "claude-opus-5", "effort": "low"}, {"output_config": {"effort": "low"}}),
        ({"default_model": "claude-opus-5", "reasoning": "high"}, {"output_config": {"effort": "high"}}),
        ({"default_model": "claude-opus-5-5", "speed": "fast"}, {"speed": "fast"}),
        (
            {"default_model": "claude-opus-5", "task_budget_tokens": 64_000},
            {"output_config": {"task_budget": {"type": "tokens", "total": 64_000}}},
        ),
        ({"enable_web_search": True},
         {"tools": [{"type": "web_search_20250305", "name": "web_search",
                     "cache_control": {"type": "ephemeral"}}]}),
        ({"tools": [{"type": "code_execution_20250825", "name": "code_execution"}],
          "enable_prompt_caching": False},
         {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
        ({"use_streaming": False}, {"stream": None}),
        ({}, {"stream": True}),
    ],
)  # fmt: skip
async def test_a_key_is_seen_in_the_body(
    strict: AnthropicServer, config: dict[str, Any], seen: dict[str, Any]
) -> None:
    body = (await sent(strict, **config)).body
    assert {key: body.get(key) for key in seen} == seen


@pytest.mark.parametrize(
    ("config", "betas"),
    [
        ({}, {"context-1m-2025-08-07"}),
        ({"enable_1m_context": False}, set()),
        ({"default_model": "claude-opus-4-5"}, set()),
        ({"default_model": "claude-opus-5-5", "speed": "fast"}, {"fast-mode-2026-02-01"}),
        (
            {"default_model": "claude-opus-5", "task_budget_tokens": 64_000},
            {"task-budgets-2026-03-13"},
        ),
        ({"enable_1m_context": False, "beta_headers": "a, b"}, {"a", "b"}),
    ],
)
async def test_a_key_is_seen_in_the_header_of_betas(
    strict: AnthropicServer, config: dict[str, Any], betas: set[str]
) -> None:
    headers = (await sent(strict, **config)).headers
    found = headers.get("anthropic-beta", "")
    assert set(filter(None, found.split(","))) == betas


async def test_without_streaming_the_answer_is_the_same(strict: AnthropicServer) -> None:
    answers = []
    for use_streaming in (True, False):
        strict.answers = [Answer(Text("Look."), Call("look", {"at": "a"}, id="toolu_1"))]
        provider = mounted(strict, default_model=MODEL, use_streaming=use_streaming)
        response = await provider.complete(REQUEST)
        answers.append((response.content, response.tool_calls, response.finish_reason))
        await provider.close()
    assert answers[0] == answers[1]


async def test_raw_puts_what_was_sent_and_what_came_into_the_events(
    strict: AnthropicServer, hooks: Any
) -> None:
    strict.answers = ["Hello"]
    provider = mounted(strict, hooks, default_model=MODEL, raw=True)
    await provider.complete(REQUEST)
    await provider.close()
    told = {name: data.get("raw") for name, data in hooks.events if name.startswith("llm:")}
    assert told["llm:request"] == strict.requests[0].body
    assert told["llm:response"] == [{"type": "text", "text": "Hello"}]


async def test_filtered_models_are_those_whose_abilities_are_known(
    strict: AnthropicServer,
) -> None:
    from amplifier_testing.servers import AnthropicModel

    strict.models.append(AnthropicModel("my-own-model"))
    names = []
    for filtered in (False, True):
        provider = mounted(strict, filtered=filtered)
        names.append({model.id for model in await provider.list_models()})
        await provider.close()
    assert names[0] - names[1] == {"my-own-model"}


async def test_an_answer_is_held_to_a_schema_where_the_model_can_be(
    strict: AnthropicServer,
) -> None:
    request = REQUEST.model_copy(
        update={"response_format": ResponseFormatJsonSchema(json_schema=SCHEMA)}
    )
    body = (await sent(strict, request)).body
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": STRICT}}


@pytest.mark.parametrize(
    ("model", "form", "reason"),
    [
        ("claude-opus-4-1", SCHEMA, "`claude-opus-4-1` cannot be held to a schema"),
        (MODEL, {"type": "array", "items": {}}, "the model cannot be held to this schema"),
        (MODEL, None, "the model cannot be held to this schema"),
    ],
)
async def test_else_the_model_is_told_of_the_form_and_a_degradation_says_so(
    strict: AnthropicServer, model: str, form: Any, reason: str
) -> None:
    wanted = ResponseFormatJson() if form is None else ResponseFormatJsonSchema(json_schema=form)
    provider = mounted(strict, default_model=model)
    response = await provider.complete(REQUEST.model_copy(update={"response_format": wanted}))
    await provider.close()
    assert response.degradation is not None
    assert response.degradation.actual == "instructions in the system prompt"
    assert response.degradation.reason == reason
    assert strict.requests[0].body["system"][0]["text"].startswith("Answer with JSON only")


async def test_a_paused_turn_goes_on_and_is_one_answer(strict: AnthropicServer, hooks: Any) -> None:
    paused = Answer(Thinking("hm"), Text("I search."), stop="pause_turn")
    strict.answers = [paused, "Found."]
    provider = mounted(strict, hooks, default_model=MODEL, enable_web_search=True)
    response = await provider.complete(REQUEST)
    await provider.close()

    assert getattr(response, "text", None) == "I search.Found."
    assert response.finish_reason == "end_turn"
    assert strict.requests[1].body["messages"][-1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": strict.sign("hm")},
            {"type": "text", "text": "I search."},
        ],
    }
    indexes = [data["block_index"] for name, data in hooks.events if name == "content_block:end"]
    assert indexes == [0, 1, 2]
    assert strict.refusals == []


async def test_names_of_tools_are_made_fit_and_mapped_back(
    strict: AnthropicServer, hooks: Any
) -> None:
    tools = [ToolSpec(name="mcp.server/look", parameters={})]
    provider = mounted(strict, hooks, default_model=MODEL)
    request = ChatRequest(messages=REQUEST.messages, tools=tools, tool_choice="mcp.server/look")
    await provider.complete(request)
    body = strict.requests[0].body
    [tool] = body["tools"]
    assert body["tool_choice"] == {"type": "tool", "name": tool["name"]}
    strict.answers = [Answer(Call(tool["name"], {}))]

    response = await provider.complete(request)
    await provider.close()

    assert [call.name for call in response.tool_calls or ()] == ["mcp.server/look"]
    ends = [data["block"] for name, data in hooks.events if name == "content_block:end"]
    assert [block["name"] for block in ends if block["type"] == "tool_call"] == ["mcp.server/look"]
    assert ends[-1]["raw"]["name"] == tool["name"]
    assert strict.refusals == []


async def test_a_tool_with_a_type_of_its_own_is_the_services_own(strict: AnthropicServer) -> None:
    tool = ToolSpec.model_validate(
        {"name": "code_execution", "type": "code_execution_20250825", "parameters": {}}
    )
    body = (await sent(strict, REQUEST.model_copy(update={"tools": [tool]}))).body
    mark = {"type": "ephemeral"}
    assert body["tools"] == [
        {"name": "code_execution", "type": "code_execution_20250825", "cache_control": mark}
    ]


async def test_while_a_model_is_overloaded_another_one_is_asked(
    strict: AnthropicServer, hooks: Any, tmp_path: Path
) -> None:
    state = tmp_path / "overload.json"
    config: dict[str, Any] = {
        "default_model": "claude-opus-5", "fallback_on_overload": True, "fallback_model": "haiku",
        "fallback_cooldown": 1_000, "fallback_state_path": str(state),
    }  # fmt: skip
    strict.faults = [Fault(status=529)]
    provider = mounted(strict, hooks, **config)
    response = await provider.complete(REQUEST)
    await provider.complete(REQUEST)
    await provider.close()
    restarted = mounted(strict, **config)
    await restarted.complete(REQUEST)
    await restarted.close()

    asked = [request.body["model"] for request in strict.requests]
    assert asked == ["claude-opus-5", *["claude-haiku-4-5"] * 3]
    assert response.degradation is not None
    assert response.degradation.actual == "`claude-haiku-4-5`"
    told = [data for name, data in hooks.events if name == "provider:fallback"]
    about = {
        "provider": "anthropic",
        "model": "claude-opus-5",
        "fallback_model": "claude-haiku-4-5",
    }
    assert told == [{**about, "reason": reason} for reason in ("overloaded", "still overloaded")]


@pytest.mark.parametrize("named", ["", None])
def test_without_the_name_of_another_model_it_is_the_default_one(named: str | None) -> None:
    settings = read_config({"api_key": "k", "fallback_model": named})
    assert settings is not None
    assert settings.fallback_model == "sonnet"


async def test_no_more_calls_than_allowed_run_at_once(strict: AnthropicServer, hooks: Any) -> None:
    strict.faults = [Fault(pause=0.05), None]
    provider = mounted(strict, hooks, default_model=MODEL, max_concurrent_requests=1)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(provider.complete, REQUEST)
    await provider.close()

    order = [name for name, _ in hooks.events if name in {"provider:concurrency", "llm:response"}]
    assert order == ["provider:concurrency", "llm:response", "llm:response"]
    [told] = [data for name, data in hooks.events if name == "provider:concurrency"]
    assert told == {"provider": "anthropic", "model": MODEL, "limit": 1, "waiting": 1}


async def test_a_challenge_of_cloudflare_is_told_and_retryable(
    strict: AnthropicServer, hooks: Any
) -> None:
    strict.faults = [Fault(status=403, headers={"cf-mitigated": "challenge"})]
    provider = mounted(strict, hooks, default_model=MODEL)
    with pytest.raises(ProviderUnavailableError, match="answered with a challenge") as caught:
        await provider.complete(REQUEST)
    await provider.close()
    assert caught.value.retryable
    assert [data for name, data in hooks.events if name == "provider:cloudflare_challenge"] == [
        {"provider": "anthropic", "model": MODEL, "status_code": 403}
    ]


async def test_chunks_are_the_text_as_it_comes_and_then_the_response(
    strict: AnthropicServer, hooks: Any
) -> None:
    strict.answers = ["Hello there", "Hello there"]
    provider = mounted(strict, hooks, default_model=MODEL)
    pieces = [piece async for piece in provider.chunks(REQUEST)]
    whole = await provider.complete(REQUEST)
    await provider.close()

    assert "".join(map(text_of_piece, pieces)) == "Hello there"
    assert [type(piece) for piece in pieces].count(type(whole)) == 1
    assert getattr(pieces[-1], "content", None) == whole.content
    assert "content_blocks_emitted" not in (getattr(pieces[-1], "metadata", None) or {})
    assert (whole.metadata or {})["content_blocks_emitted"] is True


def test_no_provider_has_an_attribute_stream() -> None:
    assert not hasattr(AnthropicProvider, "stream")


def test_the_body_of_a_repeated_call_is_the_same_bytes(strict: AnthropicServer) -> None:
    from amplifier_providers.anthropic.wire_format import AnthropicFormat

    config = read_config({"api_key": "k"})
    assert config is not None
    encoder = AnthropicFormat(config)
    messages = [Message(role="user", content="a")]
    bodies: list[bytes] = []
    for number in range(4):
        bodies.append(encoder.encode(ChatRequest(messages=list(messages))).to_bytes())
        assert (
            bodies[-1] == AnthropicFormat(config).encode(ChatRequest(messages=messages)).to_bytes()
        )
        messages += [
            Message(role="assistant", content=f"b{number}"), Message(role="user", content="c"),
        ]  # fmt: skip
    settled = [json.loads(body)["messages"] for body in bodies]
    for one, next_one in pairwise(settled):
        assert one[:-1] == next_one[: len(one) - 1]


async def test_a_paused_turn_whose_continuation_fails_is_gone_on_with_again(
    strict: AnthropicServer, hooks: Any
) -> None:
    strict.answers = [Answer(Thinking("hm"), Text("I search."), stop="pause_turn"), "Found."]
    strict.faults = [None, Fault(status=503)]
    provider = mounted(strict, hooks, default_model=MODEL, max_retries=1, min_retry_delay=0)
    response = await provider.complete(REQUEST)
    await provider.close()
    assert getattr(response, "text", None) == "I search.Found."
    assert len(strict.requests) == 3


async def test_no_other_model_goes_on_with_a_text_that_was_yielded(strict: AnthropicServer) -> None:
    strict.faults = [Fault(error_after=4, kind="overloaded_error")]
    provider = mounted(strict, default_model="claude-opus-5", fallback_on_overload=True)
    strict.answers = [Answer(Text("One two three four five six seven."))]
    pieces: list[Any] = []

    async def read() -> None:
        async for piece in provider.chunks(REQUEST):
            pieces.append(piece)  # noqa: PERF401 -- what came before the error counts

    with pytest.raises(ProviderUnavailableError):
        await read()
    await provider.close()
    assert pieces
    assert len(strict.requests) == 1
