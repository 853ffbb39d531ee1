"""Thoughts that come though none are asked for: nobody sees them, and their service gets them back."""

from __future__ import annotations

from typing import Any

import pytest
from strict_services import LOOK, SERVICES, USER, body_of, request

from amplifier_core.message_models import ChatRequest, Message, RedactedThinkingBlock, ThinkingBlock
from amplifier_modules.loops.answers.response import assistant_message, calls_of
from amplifier_modules.loops.settings import LoopSettings
from amplifier_providers.requests.requested_thinking import requested_thinking
from amplifier_testing.servers import Answer, Call, RedactedThinking, Text, Thinking

THOUGHT = "Nobody should see this."
WITH_THOUGHTS = (
    "claude with a budget", "claude that adapts", "claude that always thinks", "gpt that can stop",
    "gpt that cannot stop", "azure", "azure of no known family", "groq", "openrouter", "deepseek",
    "mistral", "ollama at /v1",
)  # fmt: skip
"""Those whose servers send thoughts, whatever they were asked for."""


def script(*, hides: bool = False) -> list[Any]:
    hidden = [RedactedThinking()] if hides else []
    return [Answer(Thinking(THOUGHT), *hidden, Text("I look."), Call("look")), "It is red."]


async def turn(provider: Any) -> tuple[Any, Any]:
    """Ask twice, with the result of a call between; return the answers."""
    first = await provider.complete(request(tools=[LOOK]))
    calls = calls_of(provider, first)
    message = Message.model_validate(assistant_message(first, calls))
    results = [Message(role="tool", tool_call_id=call.id, content="red") for call in calls]
    asked = ChatRequest(messages=[USER, message, *results], tools=[LOOK])
    return first, await provider.complete(asked)


def thoughts_of(response: Any) -> list[str | None]:
    """Return the visibility of each thought of a response."""
    return [
        block.visibility
        for block in response.content
        if isinstance(block, ThinkingBlock | RedactedThinkingBlock)
    ]


@pytest.mark.parametrize("thinks", [None, True, False, "low", "none", {"budget_tokens": 0}])
@pytest.mark.parametrize("effort", [None, "", "none", "low"])
@pytest.mark.parametrize("is_on", [True, False])
def test_a_loop_hides_thoughts_where_its_settings_ask_for_none(
    thinks: Any, effort: str | None, is_on: bool
) -> None:
    given = {
        "extended_thinking": thinks,
        "reasoning_effort": effort,
        "thinking_mode_enabled": is_on,
    }
    settings = LoopSettings.model_validate(given)

    expected = requested_thinking({}, None, settings).is_off
    assert settings.must_hide_thoughts(object()) is expected


# Holds: provider-19
@pytest.mark.parametrize("name", WITH_THOUGHTS)
async def test_a_thought_that_comes_all_the_same_is_kept_from_hooks_and_sent_back(
    name: str, hooks: Any
) -> None:
    service = SERVICES[name]
    bodies = []
    for off in (True, False):
        hooks.events.clear()
        with service.server() as server:
            server.issued = type(server.issued)(b"equal in both runs")
            server.answers = script(hides=name.startswith("claude"))
            settings = {"extended_thinking": False} if off else {}
            provider = service.provider(server, {}, hooks, **settings)
            first, second = await turn(provider)
            await provider.close()
            assert server.refusals == []
            bodies.append(body_of(server))
        heard = repr(hooks.events)
        assert (THOUGHT in heard) is not off
        kinds = {kind for _, kind in hooks.blocks()}
        assert kinds - {"thinking", "redacted_thinking"} == {"text", "tool_call"}
        assert ("thinking" in kinds) is not off
        assert set(thoughts_of(first)) == ({"internal"} if off else {None})
        assert (THOUGHT in repr(first.content_blocks)) is not off
        assert THOUGHT not in str(first.text)
        assert second.text == "It is red."

    silent, usual = (_without_ids(body.get("messages", body.get("input"))[1:]) for body in bodies)
    if name == "gpt that can stop":
        # With the effort `none` its reasoning comes without what the service needs back.
        usual = [item["type"] for item in usual if item.get("type") != "reasoning"]
        silent = [item["type"] for item in silent]
    assert silent == usual


def _without_ids(value: Any) -> Any:
    """Leave out what the servers and our provider number by themselves."""
    if isinstance(value, dict):
        named = {"id", "call_id", "tool_call_id", "tool_use_id", "encrypted_content"}
        return {key: _without_ids(each) for key, each in value.items() if key not in named}
    return [_without_ids(each) for each in value] if isinstance(value, list) else value


# Holds: provider-19
@pytest.mark.parametrize("name", WITH_THOUGHTS)
async def test_chunks_have_no_thoughts_where_none_are_asked_for(name: str) -> None:
    service = SERVICES[name]
    found = {}
    for off in (True, False):
        with service.server() as server:
            server.answers = [Answer(Thinking(THOUGHT), Text("Hello"))]
            provider = service.provider(server, {"THINKING_MODE_ENABLED": "no" if off else "yes"})
            pieces = [piece async for piece in provider.chunks(request())]
            await provider.close()
        *chunks, response = pieces
        found[off] = {chunk.type for chunk in chunks}
        assert "".join(c.content for c in chunks if c.type == "message") == "Hello"
        assert set(thoughts_of(response)) == ({"internal"} if off else {None})

    assert found == {True: {"message"}, False: {"message", "thinking"}}


async def test_a_model_of_ollama_that_always_thinks_does_so_unseen(hooks: Any) -> None:
    service = SERVICES["ollama with levels"]
    with service.server() as server:
        server.answers = [Answer(Thinking(THOUGHT), Text("Hello"))]
        provider = service.provider(server, {"THINKING_MODE_ENABLED": "off"}, hooks)
        response = await provider.complete(request())
        await provider.close()
    assert {kind for _, kind in hooks.blocks()} == {"text"}
    assert (response.text, thoughts_of(response)) == ("Hello", ["internal"])


async def test_tags_that_a_model_thinks_in_are_thoughts_too(hooks: Any) -> None:
    service = SERVICES["groq"]
    with service.server() as server:
        server.answers = [f"<think>{THOUGHT}</think>Hello"]
        settings = {"thinking_tags": "think", "extended_thinking": False}
        provider = service.provider(server, {}, hooks, **settings)
        response = await provider.complete(request())
        await provider.close()
    assert [kind for _, kind in hooks.blocks()] == ["text"] * len(hooks.blocks())
    assert hooks.blocks()
    assert (response.text, thoughts_of(response)) == ("Hello", ["internal"])
