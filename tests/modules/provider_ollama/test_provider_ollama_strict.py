"""A server that is as strict as Ollama refuses nothing that is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import AmplifierSession
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.ollama import read_config
from amplifier_providers.ollama.completions import CompletionsFormat
from amplifier_providers.ollama.models import ModelFacts
from amplifier_providers.ollama.wire_format import OllamaFormat
from amplifier_testing.servers import Answer, Call, OllamaServer, Thinking
from amplifier_testing.servers.ollama import completions, judge
from amplifier_testing.servers.ollama.models import MODELS

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
CHATTING = [model for model in MODELS if "completion" in model.capabilities]
CALLING = [model for model in CHATTING if "tools" in model.capabilities]

TEXTS = st.text(max_size=4)
IDS = st.sampled_from(["1", "2", "a b", "", "call_" + "x" * 70])
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, TEXTS),
    st.builds(lambda each: {"type": "tool_call", "id": each, "name": "look", "input": {}}, IDS),
    st.builds(lambda each: {"type": "tool_call", "id": each, "name": "a b", "input": {}}, IDS),
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
        "metadata": st.sampled_from([{"provider": each} for each in ("anthropic", "ollama")]),
    },
)
WISHES = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.just(
            [
                ToolSpec(name="look", parameters={}),
                ToolSpec(name="a b", parameters={"properties": {"a": True}}),
            ]
        ),
        "tool_choice": st.sampled_from(["auto", "none", "any", "look", {"type": "any"}]),
        "stop": st.just(["a", " ", "b", "c", "d", "e"]),
        "temperature": st.sampled_from([0, 1]),
        "max_output_tokens": st.just(9),
        "reasoning_effort": st.sampled_from(["none", "low", "xhigh"]),
        "response_format": st.sampled_from(
            [
                {"type": "json"},
                {"type": "json_schema", "json_schema": {"type": "object"}, "strict": False},
                {"type": "json_schema", "json_schema": {"type": "array"}},
            ]
        ),
    },
)


@pytest.mark.parametrize("api", ["native", "openai"])
@given(
    history=st.lists(MESSAGES, max_size=8),
    wishes=WISHES,
    model=st.sampled_from(CHATTING),
    thinks=st.sampled_from([None, True, False]),
)
def test_no_request_is_refused(
    api: str, history: list[dict[str, Any]], wishes: dict[str, Any], model: Any, thinks: bool | None
) -> None:
    if model not in CALLING:
        wishes.pop("tools", None)
    first = Message(role="user", content="hi")
    messages = [first, *(Message.model_validate(each) for each in history)]
    config = read_config({"default_model": model.name, "enable_thinking": thinks, "api": api}, {})
    facts = ModelFacts.of(model.shown)
    make = OllamaFormat if api == "native" else CompletionsFormat
    body = make(config, lambda name: facts).encode(ChatRequest(messages=messages, **wishes)).body
    refusal = judge(body) if api == "native" else completions.judge(body, MODELS)
    assert refusal is None, refusal


@pytest.mark.parametrize("api", ["native", "openai"])
async def test_a_conversation_with_calls_and_thinking_is_accepted(api: str) -> None:
    said = [
        Answer(Thinking("Hm"), Call("read_file", {"path": "a"}), Call("read_file", {"path": "b"})),
        Answer(Thinking("So"), "Neither is there."),
        "Yes.",
    ]
    with OllamaServer(said, api_key="k") as server:
        config = {
            "host": server.url, "api_key": "k", "default_model": "qwen3:8b", "api": api,
            "enable_thinking": True,
        }  # fmt: skip
        plan = {
            "session": {
                "orchestrator": {"module": "loop-streaming"},
                "context": {"module": "context-simple"},
                "strict": True,
            },
            "providers": [{"module": "provider-ollama", "config": config}],
            "tools": [{"module": "tool-filesystem"}],
        }
        async with AmplifierSession(plan) as session:
            assert await session.execute("Read a and b.") == "Neither is there."
            assert await session.execute("Sure?") == "Yes."
        assert server.refusals == []
        assert len(server.requests) == 3


async def test_a_model_without_tools_calls_them_as_tags_in_a_session() -> None:
    said = ['<tool>{"name": "read_file", "arguments": {"path": "a"}}</tool>', "It is not there."]
    with OllamaServer(said) as server:
        config = {"host": server.url, "default_model": "phi"}
        plan = {
            "session": {
                "orchestrator": {"module": "loop-basic"},
                "context": {"module": "context-simple"},
            },
            "providers": [{"module": "provider-ollama", "config": config}],
            "tools": [{"module": "tool-filesystem"}],
        }
        async with AmplifierSession(plan) as session:
            assert await session.execute("Read a.") == "It is not there."
        assert server.refusals == []
        assert all("tools" not in seen.body for seen in server.requests)
        assert "read_file" in server.requests[0].raw.decode()
        assert len(server.requests) == 2
