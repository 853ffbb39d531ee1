"""Answers that `max_tokens` cut off are gone on with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from responses_wire import (
    Answer,
    Hooks,
    Server,
    call,
    cut_off,
    message,
    reasoning,
    response,
    stream,
)

from amplifier_core.llm_errors import RateLimitError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.answers.pieces import text_of_piece
from amplifier_providers.openai import OpenAIProvider

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
CONTINUATION = "provider:incomplete_continuation"

Make = Callable[..., OpenAIProvider]


def part(number: int) -> Answer:
    cut = {**message(f"part {number} "), "status": "incomplete", "id": f"msg_{number}"}
    led = reasoning(item_id=f"rs_{number}")
    return Answer(stream(cut_off(led, cut, id=f"resp_{number}")))


async def test_an_answer_goes_on_until_it_is_whole(
    server: Server, make: Make, hooks: Hooks
) -> None:
    server.answers = [part(1), part(2), Answer.of(message("end", id="msg_3"), id="resp_3")]

    answer = await make().complete(REQUEST)

    assert (answer.finish_reason, getattr(answer, "text", None)) == (
        "end_turn",
        "part 1 part 2 end",
    )
    assert answer.usage is not None
    assert answer.usage.output_tokens == 36
    first, second, third = (body["input"] for body in server.bodies)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [(item["type"], item["id"]) for item in third[1:]] == [
        ("reasoning", "rs_1"),
        ("message", "msg_1"),
        ("reasoning", "rs_2"),
        ("message", "msg_2"),
    ]
    assert hooks.data(CONTINUATION) == [
        {
            "provider": "openai",
            "model": "gpt-5.5",
            "continuation": number,
            "max_continuations": 5,
        }
        for number in (1, 2)
    ]
    starts = [data["block_index"] for data in hooks.data("content_block:start")]
    assert starts == [0, 1, 2, 3, 4]
    assert (answer.metadata or {})["openai:response_id"] == "resp_3"


async def test_all_requests_of_an_answer_are_paid_for(server: Server, make: Make) -> None:
    provider = make(prices={"gpt": {"input": 1_000, "output": 2_000}})
    server.answers = [Answer.of(message("whole")), part(1), part(2), Answer.of(message("end"))]
    whole, continued = [(await provider.complete(REQUEST)).usage for _ in range(2)]
    assert whole is not None
    assert continued is not None
    assert whole.cost_usd is not None
    assert continued.cost_usd == 3 * whole.cost_usd
    assert provider.pricing.total == 4 * whole.cost_usd


@pytest.mark.parametrize("most", [0, 2, 5])
async def test_it_goes_on_so_often_and_no_oftener(server: Server, make: Make, most: int) -> None:
    server.answers = [part(number) for number in range(20)]
    answer = await make(max_continuations=most).complete(REQUEST)
    assert len(server.bodies) == most + 1
    assert answer.finish_reason == "max_tokens"
    assert (answer.metadata or {})["openai:incomplete_reason"] == "max_output_tokens"


@pytest.mark.parametrize(
    "cut",
    [
        cut_off(reasoning()),
        cut_off(reasoning(), call()),
        response(
            message("Hm"), status="incomplete", incomplete_details={"reason": "content_filter"}
        ),
        response(message("Hm")),
    ],
    ids=["only reasoning", "a whole call", "filtered", "whole"],
)
async def test_what_nothing_could_be_added_to_is_not_gone_on_with(
    server: Server, make: Make, cut: dict[str, object]
) -> None:
    server.answers = [Answer(stream(cut))]
    await make().complete(REQUEST)
    assert len(server.bodies) == 1


async def test_chunks_go_on_too(server: Server, make: Make) -> None:
    server.answers = [part(1), Answer.of(message("end"))]
    pieces = [piece async for piece in make().chunks(REQUEST)]
    assert "".join(map(text_of_piece, pieces)) == "part 1 end"


async def test_a_chain_goes_on_after_a_continued_answer(server: Server, make: Make) -> None:
    server.answers = [part(1), Answer.of(message("end"), id="resp_2"), Answer.of(message("Bye"))]
    provider = make(enable_state=True)
    answer = await provider.complete(REQUEST)
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    more = Message(role="user", content="more")
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, more]))
    assert server.bodies[-1]["previous_response_id"] == "resp_2"
    assert len(server.bodies[-1]["input"]) == 1


async def test_a_failure_in_the_middle_is_an_error(server: Server, make: Make) -> None:
    server.answers = [part(1), Answer.refused(429, "rate_limit_exceeded", "Slow down.")]
    with pytest.raises(RateLimitError):
        await make().complete(REQUEST)
