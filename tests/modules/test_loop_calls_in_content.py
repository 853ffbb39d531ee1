"""Calls that a provider has as blocks of its answer alone, and answers that announce a call without one."""

from __future__ import annotations

import logging

import pytest

from amplifier_core.events import LLM_POST, PROVIDER_ERROR
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.message_models import (
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_modules.loops.streaming import StreamingLoop
from amplifier_providers.base import BaseProvider

BLOCK = ToolCallBlock(id="1", name="look", input={"x": 1})
CALLED = ChatResponse(content=[TextBlock(text="I look."), BLOCK], finish_reason="tool_use")
TWICE = CALLED.model_copy(
    update={"tool_calls": [ToolCall(id="1", name="look", arguments={"x": 1})]}
)
DONE = ChatResponse(content=[TextBlock(text="done")], finish_reason="end_turn")
HM = ThinkingBlock(thinking="hm")
ANNOUNCING = ("tool_use", "tool_calls", "function_call")


class Foreign:
    """A provider that keeps to the guide: `complete`, and calls in the content."""

    name = "foreign"

    def __init__(self, *answers):
        self.answers = list(answers)

    async def complete(self, request, **options):
        return self.answers.pop(0)


class Parsing(Foreign):
    def parse_tool_calls(self, response):
        return list(response.tool_calls or [])


class WithBase(BaseProvider):
    name = "foreign"

    def __init__(self, *answers):
        self.answers = list(answers)

    async def complete(self, request, **options):
        return self.answers.pop(0)


class InChunks(BaseProvider):
    name = "foreign"

    def __init__(self, *answers):
        self.answers = list(answers)

    async def chunks(self, request, **options):
        response = self.answers.pop(0)
        for block in response.content:
            if isinstance(block, TextBlock):
                yield block.text
        yield response


class InStream(Foreign):
    async def stream(self, request, *, tools, **options):
        yield self.answers.pop(0)


def seeing(bench, loop, provider, config=None):
    turn = bench(loop, config=config)
    turn.provider = provider
    turn.tool("look", lambda given: "seen")
    return turn


# Holds: sink-26
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("loop", ["basic", "streaming", "tagged"])
@pytest.mark.parametrize("kind", [Foreign, Parsing, WithBase, InChunks, InStream])
@pytest.mark.parametrize("first", [CALLED, TWICE], ids=["content alone", "both"])
async def test_a_call_in_the_content_runs_once(bench, kind, first, loop, early):
    config = {"execute_while_streaming": early}
    turn = seeing(bench, loop, kind(first, DONE), config)

    assert await turn.run("hi") == "done"
    assert turn.tools["look"].inputs == [{"x": 1}]
    assert await turn.history() == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_call", "id": "1", "name": "look", "input": {"x": 1}},
            ],
            "tool_calls": [{"id": "1", "tool": "look", "arguments": {"x": 1}}],
        },
        {"role": "tool", "tool_call_id": "1", "name": "look", "content": "seen"},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]


async def test_a_call_in_the_content_that_cannot_run_is_an_error_for_the_model(bench):
    broken = ToolCallBlock(id="1", name="look", input={}, error="the arguments are no JSON")
    turn = seeing(bench, "basic", Foreign(ChatResponse(content=[broken]), DONE))

    assert await turn.run() == "done"
    assert turn.tools["look"].inputs == []
    [result] = [each for each in await turn.history() if each["role"] == "tool"]
    assert result["is_error"]
    assert "the arguments are no JSON" in result["content"]


async def test_a_call_in_the_content_runs_beside_one_in_a_tag(bench):
    tag = '<tool>{"tool_name": "look", "arguments": {"x": 2}}</tool>'
    mixed = ChatResponse(content=[TextBlock(text=tag), BLOCK], finish_reason="tool_use")
    turn = seeing(bench, "tagged", Foreign(mixed, DONE))

    assert await turn.run() == "done"
    assert turn.tools["look"].inputs == [{"x": 2}, {"x": 1}]


def test_a_base_provider_finds_the_calls_of_the_content():
    calls = BaseProvider().parse_tool_calls(CALLED)

    assert calls == [ToolCall(id="1", name="look", arguments={"x": 1})]
    assert BaseProvider().parse_tool_calls(TWICE) == calls
    assert BaseProvider().parse_tool_calls(DONE) == []


# Holds: sink-27
@pytest.mark.parametrize(
    "content", [[], [HM], [TextBlock(text=" \n")]], ids=["none", "hm", "blank"]
)
@pytest.mark.parametrize("loop", ["basic", "streaming", "tagged"])
@pytest.mark.parametrize("reason", ANNOUNCING)
async def test_a_call_that_is_announced_and_missing_is_an_error(bench, reason, loop, content):
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    empty = ChatResponse(content=content, finish_reason=reason, usage=usage)
    turn = seeing(bench, loop, Foreign(empty, DONE))

    with pytest.raises(InvalidToolCallError) as caught:
        await turn.run()

    said = str(caught.value)
    assert caught.value.provider == "scripted"
    assert f"provider `scripted` ended its answer with the finish reason `{reason}`" in said
    assert "neither a call nor text" in said
    assert "`ToolCallBlock`" in said
    [failed] = turn.data(PROVIDER_ERROR)
    assert (failed["provider"], failed["error"]["type"]) == ("scripted", "InvalidToolCallError")
    # The call itself was answered, and is paid for.
    assert [(data["status"], data["usage"]["total_tokens"]) for data in turn.data(LLM_POST)] == [
        ("ok", 3)
    ]


# Holds: sink-27
@pytest.mark.parametrize("loop", ["basic", "streaming", "tagged"])
async def test_a_call_that_is_announced_beside_a_plain_answer_is_one_warning(bench, loop, caplog):
    plain = ChatResponse(content=[TextBlock(text="It is 4.")], finish_reason="tool_calls")
    turn = seeing(bench, loop, Foreign(plain, plain))

    with caplog.at_level(logging.WARNING):
        assert [await turn.run(), await turn.run()] == ["It is 4.", "It is 4."]

    said = [record.getMessage() for record in caplog.records if "announces" in record.getMessage()]
    warning = (
        "provider `scripted` announces a call by the finish reason `tool_calls`, but its answer has"
        " none and is taken as a plain one (calls must be in `tool_calls` or as `ToolCallBlock`s in"
        " `content`)"
    )
    assert said == [warning]


@pytest.mark.parametrize(
    "answer",
    [
        CALLED,
        ChatResponse(
            content=[TextBlock(text='<tool>{"tool_name": "look", "arguments": {"x": 1}}</tool>')],
            finish_reason="tool_use",
        ),
        ChatResponse(content=[], finish_reason="end_turn"),
        ChatResponse(content=[HM], finish_reason="max_tokens"),
    ],
    ids=["a block", "a tag", "nothing announced", "cut"],
)
async def test_an_answer_that_has_what_it_announces_is_no_problem(bench, answer, caplog):
    turn = seeing(bench, "tagged", Foreign(answer, DONE))

    with caplog.at_level(logging.WARNING):
        await turn.run()

    assert not [r for r in caplog.records if "finish reason" in r.getMessage()]
    assert turn.data(PROVIDER_ERROR) == []


async def test_a_loop_that_is_used_for_two_providers_warns_of_each(bench, caplog):
    plain = ChatResponse(content=[TextBlock(text="4")], finish_reason="tool_use")
    turn = bench("streaming")
    loop = StreamingLoop()
    for name in ("one", "two", "one"):
        await loop.execute("hi", turn.context, {name: Foreign(plain)}, {}, turn.coordinator.hooks)

    said = [r.getMessage().split("`")[1] for r in caplog.records if "announces" in r.getMessage()]
    assert said == ["one", "two"]
