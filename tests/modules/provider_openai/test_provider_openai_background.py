"""Answers made in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from responses_wire import Answer, Hooks, Server, message, reasoning, response

from amplifier_core.llm_errors import LLMTimeoutError, ProviderUnavailableError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.openai import OpenAIProvider

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
STATUS = "provider:background_status"

Make = Callable[..., OpenAIProvider]


def waiting(status: str) -> Answer:
    return Answer.json(response(status=status, usage=None))


DONE = Answer.json(response(reasoning(), message("Hello")))


async def test_an_answer_is_asked_for_until_it_is_there(
    server: Server, make: Make, hooks: Hooks
) -> None:
    statuses = ("queued", "queued", "in_progress")
    server.answers = [*map(waiting, statuses), DONE]

    answer = await make(background=True, poll_interval=0.001).complete(REQUEST)

    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/v1/responses"),
        *[("GET", "/v1/responses/resp_1")] * 3,
    ]
    body = server.bodies[0]
    assert (body["background"], body["store"], body["stream"]) == (True, True, False)
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert answer.usage is not None
    assert [data["status"] for data in hooks.data(STATUS)] == [
        "queued",
        "in_progress",
        "completed",
    ]
    assert hooks.data(STATUS)[0]["response_id"] == "resp_1"
    assert hooks.names().count("content_block:end") == 2


@pytest.mark.parametrize(
    ("config", "is_background"),
    [
        ({"default_model": "o3-deep-research"}, True),
        ({"default_model": "o4-mini-deep-research-2025-06-26"}, True),
        ({"default_model": "o3-deep-research", "background": False}, False),
        ({"default_model": "gpt-5.5"}, False),
    ],
)
async def test_slow_models_answer_in_the_background(
    server: Server, make: Make, config: dict[str, Any], is_background: bool
) -> None:
    server.answers = [DONE if is_background else Answer.of(message("Hello"))]
    await make(**config).complete(REQUEST)
    assert server.bodies[0].get("background", False) is is_background


async def test_an_answer_that_takes_too_long_is_cancelled(server: Server, make: Make) -> None:
    server.answers = [waiting("queued"), waiting("cancelled")]
    provider = make(background=True, background_timeout=1e-9, poll_interval=60.0)
    with pytest.raises(LLMTimeoutError, match="background_timeout"):
        await provider.complete(REQUEST)
    assert (server.asked[-1].method, server.asked[-1].path) == (
        "POST",
        "/v1/responses/resp_1/cancel",
    )


async def test_an_answer_that_nobody_waits_for_is_cancelled(
    server: Server, make: Make, hooks: Hooks
) -> None:
    server.answers = [waiting("queued"), waiting("cancelled")]
    with anyio.CancelScope() as scope:

        async def cancel(event: str, data: dict[str, Any]) -> None:
            if event == STATUS:
                scope.cancel()

        hooks.emit = cancel
        await make(background=True, poll_interval=600.0).complete(REQUEST)
    assert scope.cancelled_caught
    assert server.asked[-1].path == "/v1/responses/resp_1/cancel"


async def test_a_failure_of_one_look_is_not_the_end(
    server: Server, make: Make, hooks: Hooks
) -> None:
    later = Answer.refused(503, "server_error", "Later.")
    server.answers = [waiting("queued"), later, later, DONE]
    provider = make(background=True, poll_interval=0.001, max_retries=2, min_retry_delay=0.001)
    assert (await provider.complete(REQUEST)).finish_reason == "end_turn"
    told = hooks.data("provider:retry")
    assert [(data["attempt"], data["reason"]) for data in told] == [
        (1, "server error (503)"), (2, "server error (503)"),
    ]  # fmt: skip


async def test_an_answer_is_not_made_again_that_cannot_be_looked_at(
    server: Server, make: Make
) -> None:
    later = Answer.refused(503, "server_error", "Later.")
    server.answers = [waiting("queued"), later, later, waiting("cancelled")]
    provider = make(background=True, poll_interval=0.001, max_retries=1, min_retry_delay=0.001)
    with pytest.raises(ProviderUnavailableError, match=r"Later\.") as caught:
        await provider.complete(REQUEST)
    assert not caught.value.retryable
    assert [asked.method for asked in server.asked] == ["POST", "GET", "GET", "POST"]
    assert server.asked[-1].path == "/v1/responses/resp_1/cancel"


async def test_a_response_that_failed_is_an_error(server: Server, make: Make) -> None:
    failed = response(status="failed", error={"code": "server_error", "message": "It broke."})
    server.answers = [waiting("queued"), Answer.json(failed)]
    with pytest.raises(ProviderUnavailableError, match="It broke"):
        await make(background=True, poll_interval=0.001).complete(REQUEST)
