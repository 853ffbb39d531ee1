"""For one conversation our providers send what the official SDKs send, but for differences with names."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers import anthropic as ours_anthropic
from amplifier_providers import openai as ours_openai
from amplifier_providers import openai_chat as ours_chat
from amplifier_testing.servers import AnthropicServer, ChatServer, ResponsesServer

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJRU5E"
    "rkJggg=="
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"at": {"type": "string"}},
    "required": ["at"],
}
ARGUMENTS = {"at": "a"}
REQUEST = ChatRequest(
    messages=[
        Message(role="system", content="Be brief."),
        Message.model_validate(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    },
                ],
            }
        ),
        Message.model_validate(
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_call", "id": "call_1", "name": "look", "input": ARGUMENTS},
                    {"type": "tool_call", "id": "call_2", "name": "look", "input": ARGUMENTS},
                ],
            }
        ),
        Message(role="tool", tool_call_id="call_1", content="red"),
        Message(role="tool", tool_call_id="call_2", content="blue"),
        Message(role="user", content="And now?"),
    ],
    tools=[ToolSpec(name="look", description="Looks.", parameters=SCHEMA)],
    max_output_tokens=500,
    tool_choice="auto",
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Place:
    """Where a provider is mounted."""

    hooks = None
    provider: Any = None

    async def mount(self, point: str, provider: Any, name: str | None = None) -> None:
        self.provider = provider


async def sent_by_us(module: Any, server: Any, **config: Any) -> dict[str, Any]:
    place = Place()
    await module.mount(place, {"api_key": "k", "base_url": server.url, **config})
    await place.provider.complete(REQUEST)
    await place.provider.close()
    return server.requests[-1].body


def differences(ours: Any, theirs: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Where two JSON values differ: each place with our value and theirs; None where it is absent."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in sorted({*ours, *theirs}):
            found |= differences(ours.get(key), theirs.get(key), f"{path}.{key}".lstrip("."))
        return found
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        found = {}
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            found |= differences(one, other, f"{path}[{index}]")
        return found
    return {} if ours == theirs else {path: (ours, theirs)}


# Holds: provider-28
async def test_the_messages_api_gets_what_its_sdk_sends() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    uses = [
        {"type": "tool_use", "id": f"call_{number}", "name": "look", "input": ARGUMENTS}
        for number in (1, 2)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"call_{number}", "content": output}
        for number, output in ((1, "red"), (2, "blue"))
    ]
    with AnthropicServer() as server:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url) as client:
            arguments: Any = {
                "model": "claude-opus-5",
                "max_tokens": 500,
                "system": "Be brief.",
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What is this?"},
                            {"type": "image", "source": image},
                        ],
                    },
                    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, *uses]},
                    {"role": "user", "content": [*results, {"type": "text", "text": "And now?"}]},
                ],
                "tools": [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}],
                "tool_choice": {"type": "auto"},
            }
            async with client.messages.stream(**arguments) as stream:
                await stream.get_final_message()
        theirs = server.requests[-1].body
        ours = await sent_by_us(
            ours_anthropic, server, default_model="claude-opus-5", thinking_type="disabled"
        )
        assert server.refusals == []

    mark = {"type": "ephemeral"}
    assert differences(ours, theirs) == {
        # Marks for the cache of the API, and the system prompt as a block that can carry one.
        "messages[2].content[2].cache_control": (mark, None),
        "tools[0].cache_control": (mark, None),
        "system": ([{"type": "text", "text": "Be brief.", "cache_control": mark}], "Be brief."),
    }


# Holds: provider-28
async def test_the_responses_api_gets_what_its_sdk_sends() -> None:
    calls = [
        {
            "type": "function_call",
            "call_id": f"call_{number}",
            "name": "look",
            "arguments": json.dumps(ARGUMENTS, separators=(",", ":")),
        }
        for number in (1, 2)
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"call_{number}", "output": output}
        for number, output in ((1, "red"), (2, "blue"))
    ]
    with ResponsesServer() as server:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url) as client:
            arguments: Any = {
                "model": "gpt-4.1",
                "max_output_tokens": 500,
                "instructions": "Be brief.",
                "input": [
                    {
                        "type": "message",
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "What is this?"},
                            {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
                        ],
                    },
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "I look."}],
                    },
                    *calls,
                    *outputs,
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "And now?"}],
                    },
                ],
                "tools": [
                    {
                        "type": "function",
                        "name": "look",
                        "description": "Looks.",
                        "parameters": SCHEMA,
                        "strict": False,
                    }
                ],
                "tool_choice": "auto",
                "store": False,
            }
            async with client.responses.stream(**arguments) as stream:
                await stream.get_final_response()
        theirs = server.requests[-1].body
        ours = await sent_by_us(ours_openai, server, default_model="gpt-4.1")
        assert server.refusals == []

    assert differences(ours, theirs) == {
        # Said although the API means it anyway, or the other way round.
        "input[0].content[1].detail": ("auto", None),
        "input[0].type": (None, "message"),
        "input[6].type": (None, "message"),
        "parallel_tool_calls": (True, None),
        # How long the API keeps its cache of the beginning.
        "prompt_cache_retention": ("24h", None),
    }


# Holds: provider-28
async def test_chat_completions_get_what_the_sdk_sends() -> None:
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": "look",
                "arguments": json.dumps(ARGUMENTS, separators=(",", ":")),
            },
        }
        for number in (1, 2)
    ]
    results = [
        {"role": "tool", "tool_call_id": f"call_{number}", "content": output}
        for number, output in ((1, "red"), (2, "blue"))
    ]
    with ChatServer() as server:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url) as client:
            url = f"data:image/png;base64,{PIXEL}"
            arguments: Any = {
                "model": "gpt-4.1",
                "max_completion_tokens": 500,
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What is this?"},
                            {"type": "image_url", "image_url": {"url": url}},
                        ],
                    },
                    {"role": "assistant", "content": "I look.", "tool_calls": calls},
                    *results,
                    {"role": "user", "content": "And now?"},
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA},
                    }
                ],
                "tool_choice": "auto",
                "stream_options": {"include_usage": True},
            }
            async with client.chat.completions.stream(**arguments) as stream:
                await stream.get_final_completion()
        theirs = server.requests[-1].body
        ours = await sent_by_us(ours_chat, server, default_model="gpt-4.1")
        assert server.refusals == []

    assert differences(ours, theirs) == {
        # The older name, which all compatible servers know.
        "max_completion_tokens": (None, 500),
        "max_tokens": (500, None),
    }
