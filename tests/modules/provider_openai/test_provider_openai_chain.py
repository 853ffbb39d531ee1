"""Chains of stored responses: what is sent, and when a chain ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from responses_wire import Answer, Hooks, Server, call, message

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import openai
from amplifier_providers.openai import OpenAIProvider

Make = Callable[..., OpenAIProvider]

INVALIDATED = "provider:response_chain_invalidated"
SYSTEM = Message(role="system", content="Be brief.")
LOST = Answer.refused(
    400, "previous_response_not_found", "Previous response with id 'resp_1' not found."
)


def user(text: str = "hi") -> Message:
    return Message(role="user", content=text)


async def asked(
    server: Server, provider: OpenAIProvider, messages: list[Message], *answers: Answer
) -> tuple[list[Message], dict[str, Any]]:
    """Send a history; return it with the answer, and the last body."""
    server.answers = list(answers) or [Answer.of(message("Hello"), id=f"resp_{len(messages)}")]
    answer = await provider.complete(ChatRequest(messages=messages))
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    return [*messages, said], server.bodies[-1]


async def test_a_chain_sends_what_is_new_and_the_instructions(server: Server, make: Make) -> None:
    provider = make(enable_state=True)
    history, first = await asked(server, provider, [SYSTEM, user()])
    history, second = await asked(server, provider, [*history, user("more")])
    _, third = await asked(server, provider, [*history, user("and more")])

    assert "previous_response_id" not in first
    assert second["previous_response_id"] == "resp_2"
    assert third["previous_response_id"] == "resp_4"
    assert [len(body["input"]) for body in (first, second, third)] == [1, 1, 1]
    assert third["input"][0]["content"][0]["text"] == "and more"
    assert {body["instructions"] for body in (first, second, third)} == {"Be brief."}


async def test_results_of_tools_go_on_with_the_chain(server: Server, make: Make) -> None:
    provider = make(enable_response_chaining=True)
    history, _ = await asked(server, provider, [user()], Answer.of(call(), id="resp_9"))
    result = Message(role="tool", tool_call_id="call_1", content="seen")
    _, body = await asked(server, provider, [*history, result])
    assert body["previous_response_id"] == "resp_9"
    assert body["input"] == [
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"}
    ]


@pytest.mark.parametrize(
    "config",
    [{}, {"enable_state": True, "enable_response_chaining": False}],
    ids=["stateless", "stored only"],
)
async def test_without_a_chain_everything_is_sent(
    server: Server, make: Make, config: dict[str, Any]
) -> None:
    provider = make(**config)
    history, _ = await asked(server, provider, [user()])
    _, body = await asked(server, provider, [*history, user("more")])
    assert "previous_response_id" not in body
    assert len(body["input"]) == 3


async def test_a_chain_goes_on_after_a_restart(server: Server, make: Make) -> None:
    history, _ = await asked(server, make(enable_state=True), [user()])
    stored = [Message.model_validate_json(each.model_dump_json()) for each in history]
    _, body = await asked(server, make(enable_state=True), [*stored, user("more")])
    assert body["previous_response_id"] == "resp_1"


async def test_what_hooks_add_for_one_request_does_not_end_a_chain(
    server: Server, make: Make
) -> None:
    provider = make(enable_state=True)
    server.answers = [Answer.of(message("Hello"), id="resp_7")]
    answer = await provider.complete(ChatRequest(messages=[user(), user("(It is late.)")]))
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    _, body = await asked(server, provider, [user(), said, user("more")])
    assert body["previous_response_id"] == "resp_7"


# Holds: provider-29
async def test_a_lost_response_is_replaced_by_everything_once(
    server: Server, make: Make, hooks: Hooks
) -> None:
    provider = make(enable_state=True)
    history, _ = await asked(server, provider, [user()])
    history = [*history, user("more")]
    answer = Answer.of(message("Still here"), id="resp_9")
    history, body = await asked(server, provider, history, LOST, answer)

    assert [each.get("previous_response_id") for each in server.bodies] == [None, "resp_1", None]
    assert len(body["input"]) == 3
    assert hooks.data(INVALIDATED) == [
        {
            "provider": "openai",
            "model": "gpt-5.5",
            "response_id": "resp_1",
            "reason": "the service does not have the response any more",
        }
    ]
    _, after = await asked(server, provider, [*history, user("again")])
    assert after["previous_response_id"] == "resp_9"


async def test_a_refusal_of_everything_is_no_loop(server: Server, make: Make) -> None:
    provider = make(enable_state=True)
    history, _ = await asked(server, provider, [user()])
    with pytest.raises(InvalidRequestError):
        await asked(server, provider, [*history, user("more")], LOST, LOST)
    assert len(server.bodies) == 3


# Holds: provider-29
async def test_a_changed_history_ends_the_chain(server: Server, make: Make, hooks: Hooks) -> None:
    provider = make(enable_state=True)
    history, _ = await asked(server, provider, [user("a"), user("b")])
    history, _ = await asked(server, provider, [*history, user("c")])
    shorter = [user("(in short: a, b)"), *history[2:], user("d")]
    after, body = await asked(server, provider, shorter)

    assert "previous_response_id" not in body
    assert len(body["input"]) == 5
    assert [data["reason"] for data in hooks.data(INVALIDATED)] == ["the history was changed"]
    _, body = await asked(server, provider, [*after, user("e")])
    assert body["previous_response_id"] == f"resp_{len(shorter)}"


async def test_an_answer_of_somebody_else_ends_the_chain(server: Server, make: Make) -> None:
    provider = make(enable_state=True)
    history, _ = await asked(server, provider, [user()])
    other = Message(role="assistant", content="Mine.", metadata={"provider": "anthropic"})
    _, body = await asked(server, provider, [*history, user("more"), other, user("and more")])
    assert "previous_response_id" not in body
    assert len(body["input"]) == 5


# Holds: provider-29
@pytest.mark.parametrize(
    "event", ["context:pre_compact", "context:post_compact", "context:compaction"]
)
async def test_a_compaction_ends_the_chain(server: Server, event: str) -> None:
    coordinator = ModuleCoordinator()
    config = {"api_key": "k", "base_url": f"{server.url}/v1", "enable_state": True}
    close = await openai.mount(coordinator, config)
    assert close is not None
    provider: OpenAIProvider = coordinator.get("providers")["openai"]
    told: list[dict[str, Any]] = []
    coordinator.hooks.register(INVALIDATED, lambda _, data: told.append(data))
    history, _ = await asked(server, provider, [user()])

    await coordinator.hooks.emit(event, {})
    history, body = await asked(server, provider, [*history, user("more")])
    assert "previous_response_id" not in body
    assert [data["reason"] for data in told] == ["the history was compacted"]

    _, body = await asked(server, provider, [*history, user("and more")])
    assert body["previous_response_id"] == "resp_3"
    await close()
    assert coordinator.hooks.list_handlers(event)[event] == []
