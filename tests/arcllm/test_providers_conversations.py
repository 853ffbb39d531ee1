"""Conversations with tools, against servers that judge each request as strictly as the services."""

from __future__ import annotations

import json
from typing import Any

import pytest
from called_services import SERVICES
from deltas_read import streamed

from amplifier_testing.servers import Answer, Call, RedactedThinking, Thinking
from arcllm import (
    ArcLLMAPIError,
    LLMResponse,
    Message,
    TextBlock,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
)
from arcllm.step import Call as Asked
from arcllm.step import Step

LOOK = Tool(
    name="look",
    description="Looks at a file.",
    parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
)
THOUGHTS = ["First the one.", "Then the other two.", ""]


def rounds() -> list[Answer]:
    """Answers of three rounds: thinking and a call, two calls at once, and the end."""
    return [
        Answer(Thinking(THOUGHTS[0]), "Let me look. é😀", Call("look", {"at": "é/a.py"}, id="call1a2b3")),
        Answer(
            Thinking(THOUGHTS[1]),
            Call("look", {"at": "b"}, id="call2a2b3"),
            Call("look", {"at": "c"}, id="call3a2b3"),
        ),
        Answer("All three are there."),
    ]  # fmt: skip


async def completed(step: Step, call: Asked) -> LLMResponse:
    return await step.complete(call)


def by_hand(response: LLMResponse) -> Message:
    """Return the message that the seed's callers write themselves."""
    blocks: list[Any] = [TextBlock(text=response.content)] if response.content else []
    blocks += [
        ToolUseBlock(id=call.id, name=call.name, arguments=call.arguments)
        for call in response.tool_calls
    ]
    return Message(role="assistant", content=blocks)


def through_json(response: LLMResponse) -> Message:
    return Message.model_validate_json(response.message.model_dump_json())


def of_stored_response(response: LLMResponse) -> Message:
    return LLMResponse.model_validate_json(response.model_dump_json()).message


# Holds: arcllm-7
@pytest.mark.parametrize("ask", [completed, streamed])
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (name, kept)
        for name in SERVICES
        for kept in (through_json, of_stored_response, by_hand)
        if (name, kept) != ("deepseek", by_hand)  # it wants its thoughts back
    ],
)
async def test_a_loop_over_tools(name: str, kept: Any, ask: Any) -> None:
    service = SERVICES[name]
    messages = [
        Message(role="system", content=[TextBlock(text="You look at files.")]),
        Message(role="user", content="Look at all three."),
    ]
    options = {**service.options, "max_tokens": 8_000}
    found: list[LLMResponse] = []
    async with service.asking(rounds()) as (step, server):
        while not found or found[-1].tool_calls:
            response = await ask(step, Asked(messages, [LOOK], options))
            found.append(response)
            results = [
                ToolResultBlock(tool_use_id=call.id, content=f"found {call.arguments['at']}")
                for call in response.tool_calls
            ]
            messages.append(kept(response))
            if results:
                messages.append(Message(role="tool", content=list(results)))
    assert server.refusals == []
    assert len(server.requests) == 3
    assert [response.content for response in found] == [
        "Let me look. é😀", None, "All three are there.",
    ]  # fmt: skip
    assert [response.stop_reason for response in found] == ["tool_use", "tool_use", "end_turn"]
    said = [[call.arguments for call in response.tool_calls] for response in found]
    assert said == [[{"at": "é/a.py"}], [{"at": "b"}, {"at": "c"}], []]
    assert all(response.usage.total_tokens > 0 for response in found)
    assert all(response.metadata["provider"] == service.name for response in found)
    if service.replays and kept is not by_hand:
        assert [response.thinking or "" for response in found] == THOUGHTS
        sent = json.dumps(server.requests[-1].body, ensure_ascii=False)
        # What a service signed or encrypted came back, and was accepted.
        assert all(thought in sent for thought in THOUGHTS)


async def test_a_service_that_wants_its_thoughts_back_says_so() -> None:
    messages = [Message(role="user", content="Look.")]
    asked = {"reasoning_effort": "high"}
    async with SERVICES["deepseek"].asking(rounds()) as (step, _):
        response = await step.complete(Asked(messages, [LOOK], asked))
        (call,) = response.tool_calls
        result = ToolResultBlock(tool_use_id=call.id, content="ok")
        messages += [by_hand(response), Message(role="tool", content=[result])]
        with pytest.raises(ArcLLMAPIError, match="must be passed back to the API") as caught:
            await step.complete(Asked(messages, [LOOK], asked))
        assert (caught.value.status_code, caught.value.retryable) == (400, False)
        messages[1] = response.message
        assert (await step.complete(Asked(messages, [LOOK], asked))).tool_calls


# Holds: arcllm-9
@pytest.mark.parametrize("name", SERVICES)
async def test_a_result_without_its_call_is_left_out_and_a_degradation(name: str) -> None:
    orphan = ToolResultBlock(tool_use_id="call9x8y7", content="seen")
    messages = [
        Message(role="user", content="Look."),
        Message(role="tool", content=[orphan]),
        Message(role="user", content="Go on."),
    ]
    async with SERVICES[name].asking(["Done."]) as (step, server):
        response = await step.complete(Asked(messages, [LOOK], {"max_tokens": 8_000}))
        [request] = server.requests
    assert "call9x8y7" not in json.dumps(request.body)
    assert response.metadata["degradations"] == [
        {
            "requested": "results of the calls `call9x8y7`",
            "actual": "left out",
            "reason": "no call of the answer before them has the id",
        }
    ]


async def test_thoughts_that_nobody_can_read_come_back() -> None:
    hidden = [Thinking("Seen."), RedactedThinking("x"), "Let me look.", Call("look", {"at": "a"})]
    messages = [Message(role="user", content="Look.")]
    async with SERVICES["anthropic"].asking([Answer(*hidden), "Done."]) as (step, server):
        response = await step.complete(Asked(messages, [LOOK], {"reasoning_effort": "high"}))
        (call,) = response.tool_calls
        messages += [
            response.message,
            Message(role="tool", content=[ToolResultBlock(tool_use_id=call.id, content="ok")]),
        ]
        await step.complete(Asked(messages, [LOOK], {"reasoning_effort": "high"}))
    assert server.refusals == []
    kinds = [block["type"] for block in server.requests[-1].body["messages"][1]["content"]]
    assert kinds == ["thinking", "redacted_thinking", "text", "tool_use"]
