"""The provider with fixed answers."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import AmplifierSession, ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.validation.behavioral import ProviderBehaviorTests
from amplifier_providers.mock import MockProvider, mount


def asking(content: Any, role: Any = "user") -> ChatRequest:
    return ChatRequest(messages=[Message(role=role, content=content)])


async def texts(provider: MockProvider, count: int) -> list[str]:
    responses = [await provider.complete(asking("hi")) for _ in range(count)]
    return [response.content[0].text for response in responses]


async def test_the_answers_come_in_turn_and_the_first_one_is_the_second() -> None:
    assert await texts(MockProvider(["a", "b", "c"]), 4) == ["b", "c", "a", "b"]
    assert await texts(MockProvider(["a"]), 2) == ["a", "a"]
    assert len(set(await texts(MockProvider(), 3))) == 3


@pytest.mark.parametrize("content", ["Read it.", "please READ", [{"type": "text", "text": "read"}]])
async def test_a_message_that_says_read_is_answered_with_a_call(content: Any) -> None:
    provider = MockProvider(["a", "b"])
    response = await provider.complete(asking(content))
    [call] = provider.parse_tool_calls(response)
    assert (call.id, call.name, call.arguments) == ("mock_1", "read", {"path": "test.txt"})
    assert response.finish_reason == "tool_use"
    [text] = await texts(provider, 1)
    assert text == "a"  # a call counts as an answer


@pytest.mark.parametrize(
    "request_", [asking("read", "tool"), asking("read", "assistant"), ChatRequest(messages=[])]
)
async def test_what_others_say_is_no_reason_for_a_call(request_: ChatRequest) -> None:
    response = await MockProvider(["a"]).complete(request_)
    assert response.tool_calls is None


async def test_it_runs_in_a_session_from_a_plan() -> None:
    plan = {
        "session": {
            "orchestrator": {"module": "loop-basic"},
            "context": {"module": "context-simple"},
            "strict": True,
        },
        "providers": [{"module": "provider-mock", "config": {"responses": ["a", "b"]}}],
    }
    async with AmplifierSession(plan) as session:
        assert [await session.execute("hi") for _ in range(2)] == ["b", "a"]


async def test_without_answers_there_is_nothing_to_mount() -> None:
    with pytest.raises(ConfigurationError, match="`responses`"):
        await mount(ModuleCoordinator(), {"responses": []})
    with pytest.raises(ValueError, match="`responses` is empty"):
        MockProvider([])


@pytest.mark.parametrize(
    "name", [name for name in vars(ProviderBehaviorTests) if name.startswith("test_")]
)
async def test_it_behaves_like_every_provider(name: str) -> None:
    await getattr(ProviderBehaviorTests(), name)(MockProvider())
