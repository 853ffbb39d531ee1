"""What services report, as responses have it: tokens with those of caches, whole texts, why it ended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from called_services import SERVICES
from deltas_read import streamed

from amplifier_testing.servers import Answer, Text
from amplifier_testing.servers import Usage as Reported
from arcllm import Message, Usage
from arcllm.step import Call, Step

QUESTION = Call([Message(role="user", content="hi")])
REPORTED = Reported(input=10, output=20, cache_read=300, cache_write=4_000)


async def complete(step: Step, call: Call) -> Any:
    return await step.complete(call)


ASKS = pytest.mark.parametrize("ask", [complete, streamed])


@ASKS
@pytest.mark.parametrize("name", ["anthropic", "openai", "openai_chat", "azure_openai"])
async def test_tokens_of_caches_are_named_and_part_of_the_input_and_the_total(
    name: str, ask: Any
) -> None:
    async with SERVICES[name].asking([Answer("Hello", usage=REPORTED)]) as (step, _):
        response = await ask(step, QUESTION)
    # Anthropic's own count of the input leaves out the caches.
    wrote = None if name == "openai_chat" else REPORTED.cache_write
    unread = response.usage.reasoning_tokens or None
    assert response.usage.model_copy(update={"reasoning_tokens": unread}) == Usage(
        input_tokens=4_310,
        output_tokens=20,
        total_tokens=4_330,
        cache_read_tokens=300,
        cache_write_tokens=wrote,
    )


# Holds: layer-15
@ASKS
@pytest.mark.parametrize("name", SERVICES)
async def test_raw_is_what_the_service_sent_and_survives_json(name: str, ask: Any) -> None:
    async with SERVICES[name].asking([Answer("Hello", usage=REPORTED)]) as (step, _):
        response = await ask(step, QUESTION)

    [block], [about] = response.raw["blocks"], response.raw["answers"]
    assert "Hello" in json.dumps(block)
    assert about["model"] == response.model
    assert about["usage"] is not None
    assert json.loads(json.dumps(response.raw)) == response.raw
    assert "raw" not in response.model_dump()


@ASKS
@pytest.mark.parametrize("name", ["anthropic", "openai"])
async def test_the_blocks_of_a_text_are_joined_without_anything_between_them(
    name: str, ask: Any
) -> None:
    async with SERVICES[name].asking([Answer(Text("One wor"), Text("d, two words."))]) as (step, _):
        response = await ask(step, QUESTION)
    assert response.content == "One word, two words."


@ASKS
@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "pause_turn", "pause_turn"),
        ("anthropic", "stop_sequence", "stop_sequence"),
        ("anthropic", "something_new", "something_new"),
        ("openai_chat", "content_filter", "content_filter"),
        ("openai_chat", "length", "max_tokens"),
        ("openai_chat", "something_new", "something_new"),
        ("openai", "max_output_tokens", "max_tokens"),
        ("openai", "content_filter", "content_filter"),
        ("ollama", "length", "max_tokens"),
        ("ollama", "something_new", "something_new"),
    ],
)
async def test_why_an_answer_ended_is_said_as_it_is(
    name: str, said: str, expected: str, ask: Any
) -> None:
    async with SERVICES[name].asking([Answer("Hello", stop=said)]) as (step, _):
        response = await ask(step, QUESTION)
    assert response.stop_reason == expected
