"""Requests of `provider-openai`: what each setting and each option does on the wire."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from responses_wire import Answer, Server, message

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.openai import OpenAIProvider

Make = Callable[..., OpenAIProvider]

PARAMETERS = {"type": "object", "properties": {"at": {"type": "integer"}}}
LOOK = ToolSpec(name="look", description="Looks.", parameters=PARAMETERS)


def request(**fields: Any) -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content="hi")], **fields)


async def sent(
    server: Server, provider: OpenAIProvider, asked: ChatRequest | None = None, **options: Any
) -> tuple[dict[str, Any], list[str]]:
    """The body of a request, and what could not be done as it asked."""
    server.answers = [Answer.of(message("Hello"))]
    response = await provider.complete(asked or request(), **options)
    metadata = response.metadata or {}
    found = metadata.get("degradations") or [response.degradation and dict(response.degradation)]
    return server.bodies[-1], [each["requested"] for each in found if each]


async def test_a_request_says_what_is_needed_and_nothing_else(server: Server, make: Make) -> None:
    body, degraded = await sent(server, make())

    assert body == {
        "model": "gpt-5.5",
        "store": False,
        "max_output_tokens": 4_096,
        "reasoning": {"summary": "detailed"},
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_retention": "24h",
        "stream": True,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
    }
    assert degraded == []


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"default_model": "gpt-5.2"}, {"model": "gpt-5.2"}),
        ({"max_tokens": 9_000}, {"max_output_tokens": 9_000}),
        ({"max_tokens": 3}, {"max_output_tokens": 16}),
        ({"reasoning_effort": "high"}, {"reasoning": {"effort": "high", "summary": "detailed"}}),
        ({"reasoning": "low"}, {"reasoning": {"effort": "low", "summary": "detailed"}}),
        (
            {"reasoning": "low", "reasoning_effort": "high"},
            {"reasoning": {"effort": "low", "summary": "detailed"}},
        ),
        ({"reasoning_summary": "concise"}, {"reasoning": {"summary": "concise"}}),
        ({"reasoning_summary": "none"}, {"reasoning": None}),
        ({"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}, "include": None}),
        ({"reasoning_effort": "none", "temperature": 0.2}, {"temperature": 0.2}),
        ({"default_model": "gpt-4.1", "temperature": 0.2}, {"temperature": 0.2, "reasoning": None}),
        ({"temperature": 0.2}, {"reasoning": {"effort": "none"}, "temperature": 0.2}),
        ({"truncation": "auto"}, {"truncation": "auto"}),
        ({"enable_state": True}, {"store": True}),
        ({"enable_response_chaining": True}, {"store": True}),
        ({"enable_state": True, "enable_response_chaining": False}, {"store": True}),
        ({"prompt_cache_key": "mine"}, {"prompt_cache_key": "mine"}),
        ({"prompt_cache_retention": "in_memory"}, {"prompt_cache_retention": "in_memory"}),
        ({"prompt_cache_retention": ""}, {"prompt_cache_retention": None}),
        ({"default_model": "gpt-4o"}, {"prompt_cache_retention": None}),
        ({"safety_identifier": "user-1"}, {"safety_identifier": "user-1"}),
        ({"tools": [{"type": "web_search"}]}, {"tools": [{"type": "web_search"}]}),
    ],
)
async def test_each_setting_is_seen_on_the_wire(
    server: Server, make: Make, config: dict[str, Any], wanted: dict[str, Any]
) -> None:
    body, _ = await sent(server, make(**config))
    assert {key: body.get(key) for key in wanted} == wanted


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"model": "gpt-4.1"}, {"model": "gpt-4.1", "reasoning": None}),
        ({"max_tokens": 99}, {"max_output_tokens": 99}),
        ({"reasoning": "high"}, {"reasoning": {"effort": "high", "summary": "detailed"}}),
        (
            {"reasoning": {"effort": "low", "summary": "auto"}},
            {"reasoning": {"effort": "low", "summary": "auto"}},
        ),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low", "summary": "detailed"}}),
        ({"extended_thinking": False}, {"reasoning": {"effort": "none"}}),
        (
            {"extended_thinking": True},
            {"reasoning": {"effort": "medium", "summary": "detailed"}},
        ),
        ({"extended_thinking": False, "temperature": 1.0}, {"temperature": 1.0}),
        ({"truncation": "auto"}, {"truncation": "auto"}),
        ({"prompt_cache_key": "k"}, {"prompt_cache_key": "k"}),
        ({"previous_response_id": "resp_0"}, {"previous_response_id": None}),
    ],
)
async def test_the_options_of_a_call_override_the_settings(
    server: Server, make: Make, options: dict[str, Any], wanted: dict[str, Any]
) -> None:
    provider = make(reasoning_effort=None, max_tokens=5_000)
    body, _ = await sent(server, provider, **options)
    assert {key: body.get(key) for key in wanted} == wanted


async def test_the_effort_is_also_an_attribute(server: Server, make: Make) -> None:
    provider = make(reasoning_effort="low")
    assert provider.reasoning == "low"
    provider.reasoning = "high"
    body, _ = await sent(server, provider)
    assert body["reasoning"]["effort"] == "high"
    body, _ = await sent(server, provider, request(reasoning_effort="medium"))
    assert body["reasoning"]["effort"] == "medium"


@pytest.mark.parametrize(
    ("model", "asked", "effort", "degraded"),
    [
        ("gpt-5", "none", "minimal", True),
        ("gpt-5", "xhigh", "high", True),
        ("gpt-5.1", "minimal", "low", True),
        ("gpt-5.2", "max", "xhigh", True),
        ("gpt-5-pro", "low", "high", True),
        ("o3", "minimal", "low", True),
        ("gpt-5.5", "xhigh", "xhigh", False),
        ("somebodys-model", "extreme", "extreme", False),
    ],
)
async def test_an_effort_that_the_model_lacks_becomes_the_nearest(
    server: Server, make: Make, model: str, asked: str, effort: str, degraded: bool
) -> None:
    body, said = await sent(server, make(default_model=model, reasoning_effort=asked))
    assert body["reasoning"]["effort"] == effort
    assert said == ([f"reasoning effort `{asked}`"] if degraded else [])


async def test_what_a_model_cannot_do_is_told(server: Server, make: Make) -> None:
    asked = request(
        temperature=0.5, top_p=0.9, stop=["END"], max_output_tokens=999_999, reasoning_effort="low"
    )
    _, of_thinker = await sent(server, make(), asked)
    _, of_other = await sent(server, make(default_model="gpt-4.1"), asked)

    assert of_thinker == [
        "999,999 tokens", "a temperature of 0.5", "a `top_p` of 0.9", "stop texts",
    ]  # fmt: skip
    assert of_other == ["999,999 tokens", "reasoning", "stop texts"]


async def test_the_conversation_names_its_cache(server: Server, make: Make) -> None:
    body, _ = await sent(server, make(), request(conversation_id="conversation 7"))
    assert body["prompt_cache_key"] == "conversation 7"
    body, _ = await sent(server, make(), request(conversation_id="c" * 65))
    assert len(body["prompt_cache_key"]) == 64


async def test_without_streaming_an_answer_arrives_whole(
    server: Server, make: Make, hooks: Any
) -> None:
    from responses_wire import response

    server.answers = [Answer.json(response(message("Hello")))]
    answer = await make(use_streaming=False).complete(request())

    assert server.bodies[0]["stream"] is False
    assert server.asked[0].headers["accept"] == "application/json"
    assert [block.type for block in answer.content] == ["text"]
    assert "content_block:end" in hooks.names()


async def test_raw_shows_what_is_sent_and_what_came_back(
    server: Server, make: Make, hooks: Any
) -> None:
    body, _ = await sent(server, make(raw=True))

    assert hooks.data("llm:request")[0]["raw"] == body
    assert hooks.data("llm:response")[0]["raw"] == [message("Hello")]


async def test_tools_become_functions_that_are_not_strict_unless_asked(
    server: Server, make: Make
) -> None:
    strict = ToolSpec.model_validate({**LOOK.model_dump(), "name": "see", "strict": True})
    long = ToolSpec(name="mcp.server/tool", parameters={})
    body, _ = await sent(server, make(), request(tools=[LOOK, strict, long]))

    closed = {**PARAMETERS, "required": ["at"], "additionalProperties": False}
    assert [(tool["name"], tool["strict"]) for tool in body["tools"][:2]] == [
        ("look", False),
        ("see", True),
    ]
    assert body["tools"][0]["parameters"] == PARAMETERS
    assert body["tools"][1]["parameters"] == closed
    assert body["tools"][2]["name"].startswith("mcp_server_tool_")
    assert body["parallel_tool_calls"] is True


async def test_calls_can_be_limited_to_one_at_a_time(server: Server, make: Make) -> None:
    asked = request(tools=[LOOK])
    body, _ = await sent(server, make(parallel_tool_calls=False), asked)
    assert body["parallel_tool_calls"] is False
    body, _ = await sent(server, make(), asked, parallel_tool_calls=False)
    assert body["parallel_tool_calls"] is False


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("required", "required"),
        ("look", {"type": "function", "name": "look"}),
        ({"type": "tool", "name": "look"}, {"type": "function", "name": "look"}),
        (
            {"type": "function", "function": {"name": "look"}},
            {"type": "function", "name": "look"},
        ),
        ({"type": "any"}, "required"),
        ("web_search", {"type": "web_search"}),
        ({"type": "web_search"}, {"type": "web_search"}),
        ("patch", {"type": "custom", "name": "patch"}),
    ],
)
async def test_a_tool_choice_means_the_same_in_each_of_its_forms(
    server: Server, make: Make, choice: Any, wanted: Any
) -> None:
    custom = ToolSpec.model_validate({"name": "patch", "parameters": {}, "type": "custom"})
    provider = make(tools=[{"type": "web_search"}])
    asked = request(tools=[LOOK, custom], tool_choice=choice)
    body, _ = await sent(server, provider, asked)
    assert body.get("tool_choice") == wanted


async def test_an_unknown_tool_choice_is_refused(make: Make) -> None:
    with pytest.raises(InvalidRequestError, match="unknown tool choice `see`"):
        await make().complete(request(tools=[LOOK], tool_choice="see"))


async def test_tools_of_the_service_are_passed_through_with_their_results(
    server: Server, make: Make
) -> None:
    given = [
        {
            "name": "web_search",
            "parameters": {},
            "type": "web_search",
            "search_context_size": "low",
        },
        {"name": "files", "parameters": {}, "type": "file_search", "vector_store_ids": ["vs_1"]},
        {
            "name": "patch",
            "description": "Patches.",
            "parameters": {},
            "type": "custom",
            "format": {"type": "text"},
        },
    ]
    tools = [ToolSpec.model_validate(tool) for tool in given]
    provider = make(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}])
    body, _ = await sent(server, provider, request(tools=tools))

    assert body["tools"] == [
        {"type": "web_search", "search_context_size": "low"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "custom", "name": "patch", "description": "Patches.", "format": {"type": "text"}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]
    assert set(body["include"]) == {
        "web_search_call.action.sources",
        "file_search_call.results",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
    }


async def test_the_beginning_of_requests_stays_the_same_byte_by_byte(
    server: Server, make: Make
) -> None:
    provider = make()
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="hi")]
    bodies: list[str] = []
    for turn in range(4):
        asked = ChatRequest(messages=messages, tools=[LOOK])
        server.answers = [Answer.of(message(f"Answer {turn}"))]
        response = await provider.complete(asked)
        bodies.append(json.dumps(server.bodies[-1]["input"])[:-1])
        messages = [
            *messages,
            Message(role="assistant", content=response.content, metadata=response.metadata),
            Message(role="user", content=f"go on {turn}"),
        ]
    for before, after in itertools.pairwise(bodies):
        assert after.startswith(before)
    assert {body["instructions"] for body in server.bodies} == {"Be brief."}
