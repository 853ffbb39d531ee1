"""Servers that are as strict as the vendors refuse nothing that is sent."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import AmplifierSession
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.openai_chat import PRESETS, ChatSettings
from amplifier_providers.openai_chat.config import with_settings
from amplifier_providers.openai_chat.presets import OTHER
from amplifier_providers.openai_chat.wire_format import ChatFormat

servers: Any = pytest.importorskip("amplifier_testing.servers")
judge: Any = importlib.import_module("amplifier_testing.servers.chat").judge

MODEL = "gpt-4o"
STRICT = {
    None: "openai",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "openrouter": "openrouter",
    "vllm": "template",
    "lm-studio": "template",
    "llama-cpp": "template",
    "huggingface-tgi": "template",
    "huggingface": "openai",
    "groq": "openai",
    "xai": "openai",
    "together": "openai",
    "fireworks": "openai",
}
"""The strict server that stands for each service."""
PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}

TEXTS = st.text(max_size=4)
IDS = st.sampled_from(["1", "2", "a b", "", "call_" + "x" * 70])
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, TEXTS),
    st.builds(lambda each: {"type": "tool_call", "id": each, "name": "look", "input": {}}, IDS),
    st.just({"type": "image", "source": PNG}),
    st.just({"type": "server_tool_use", "id": "s", "name": "n", "input": {}}),
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool"]),
        "content": TEXTS | st.lists(BLOCKS, max_size=4),
    },
    optional={
        "tool_call_id": IDS,
        "metadata": st.sampled_from([{"provider": each} for each in ("anthropic", *PRESETS)]),
    },
)
WISHES = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.just(
            [
                ToolSpec(name="look", parameters={}),
                ToolSpec(name="a b", parameters={"anyOf": [{"type": "object"}]}),
            ]
        ),
        "tool_choice": st.sampled_from(["auto", "none", "any", "look", {"type": "any"}]),
        "stop": st.just(["a", " ", "b", "c", "d", "e"]),
        "temperature": st.sampled_from([0, 1]),
        "max_output_tokens": st.just(9),
        "response_format": st.sampled_from(
            [
                {"type": "json"},
                {"type": "json_schema", "json_schema": {"type": "object"}, "strict": False},
                {"type": "json_schema", "json_schema": {"type": "array"}},
            ]
        ),
    },
)


@pytest.mark.parametrize(("preset", "strict"), STRICT.items())
@given(history=st.lists(MESSAGES, max_size=8), wishes=WISHES)
def test_no_request_is_refused(
    preset: str | None, strict: str, history: list[dict[str, Any]], wishes: dict[str, Any]
) -> None:
    first = Message(role="user", content="hi")
    messages = [first, *(Message.model_validate(each) for each in history)]
    encoder = ChatFormat(PRESETS.get(preset or "", OTHER), ChatSettings(default_model=MODEL))
    body = encoder.encode(ChatRequest(messages=messages, **wishes)).body
    refusal = judge(body, preset=strict)
    assert refusal is None, refusal


def test_thinking_can_be_kept_from_a_model_that_refuses_it() -> None:
    thought = {"type": "thinking", "thinking": "Hm"}
    said = Message(
        role="assistant",
        content=[thought, {"type": "text", "text": "Hello"}],
        metadata={"provider": "deepseek", "requested_model": MODEL},
    )
    user = Message(role="user", content="hi")
    request = ChatRequest(messages=[user, said, user])
    for replay, is_refused in (("reasoning_content", True), ("none", False)):
        settings = ChatSettings(default_model=MODEL, thinking_replay=replay)
        encoder = ChatFormat(with_settings(PRESETS["deepseek"], settings), settings)
        refusal = judge(encoder.encode(request).body, preset="deepseek-reasoner")
        assert bool(refusal) is is_refused


@pytest.mark.parametrize("preset", [None, "mistral", "deepseek", "openrouter", "vllm"])
async def test_a_conversation_with_calls_and_thinking_is_accepted(preset: str | None) -> None:
    answer, call, thinking = servers.Answer, servers.Call, servers.Thinking
    said = [
        answer(thinking("Hm"), call("read_file", {"path": "a"}), call("read_file", {"path": "b"})),
        answer(thinking("So"), "Neither is there."),
        "Yes.",
    ]
    chat = importlib.import_module("amplifier_testing.servers.chat")
    with chat.ChatServer(said, preset=STRICT[preset], api_key="k") as server:
        config = {"preset": preset, "base_url": server.url, "api_key": "k", "default_model": MODEL}
        plan = {
            "session": {
                "orchestrator": {"module": "loop-streaming"},
                "context": {"module": "context-simple"},
                "strict": True,
            },
            "providers": [{"module": "provider-openai-chat", "config": config}],
            "tools": [{"module": "tool-filesystem"}],
        }
        async with AmplifierSession(plan) as session:
            assert await session.execute("Read a and b.") == "Neither is there."
            assert await session.execute("Sure?") == "Yes."
        assert server.refusals == []
        assert len(server.requests) == 3
