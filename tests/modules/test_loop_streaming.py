"""What `loop-streaming` does beyond `loop-basic`: deltas, streams, steering, pace."""

from __future__ import annotations

from unittest.mock import AsyncMock, MagicMock

import pytest

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult
from amplifier_modules.loops.answers import agent_events
from amplifier_modules.loops.steering import CAPACITY, SteeringQueueFull
from amplifier_providers.base import BaseProvider


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


class DisplayedResponse(ChatResponse):
    """A response as providers make them, with blocks for displays."""

    content_blocks: list | None = None


async def test_blocks_that_the_provider_emitted_are_not_emitted_again(bench, say):
    emitted = {"content_blocks_emitted": True, "id": "m1"}
    turn = bench("streaming", say.text("hello", metadata=emitted))
    await turn.run()

    assert turn.data(CONTENT_BLOCK_START) == []
    assert turn.data(CONTENT_BLOCK_END) == []
    stored = (await turn.context.get_messages())[-1]["metadata"]
    assert stored["id"] == "m1"
    assert "content_blocks_emitted" not in stored


async def test_each_block_has_start_deltas_and_end(bench):
    response = DisplayedResponse(
        content=[
            TextBlock(text="let me look"),
            ToolCallBlock(id="1", name="look", input={"x": 1}),
        ],
        content_blocks=[
            ThinkingContent(text="hmm"),
            TextContent(text="let me look"),
            ToolCallContent(id="1", name="look", arguments={"x": 1}),
        ],
    )
    turn = bench("streaming", response, ChatResponse(content=[]))
    await turn.run()

    blocks = [data for name, data in turn.events if name.startswith("content_block:")]
    shape = [
        (data["block_type"], data["block_index"], data.get("delta", data.get("partial_json")))
        for data in blocks
    ]
    assert shape == [
        ("thinking", 0, None), ("thinking", 0, "hmm"), ("thinking", 0, None),
        ("text", 1, None), ("text", 1, "let me look"), ("text", 1, None),
        ("tool_call", 2, None), ("tool_call", 2, '{"x": 1}'), ("tool_call", 2, None),
    ]  # fmt: skip
    assert turn.data(CONTENT_BLOCK_END)[2]["block"] == {
        "type": "tool_call",
        "id": "1",
        "name": "look",
        "arguments": {"x": 1},
        "input": {"x": 1},
    }


async def test_with_a_delay_an_answer_comes_word_by_word(bench, say):
    text = " two  words\nand more "
    turn = bench("streaming", say.text(text), config={"stream_delay": 0.0001})
    await turn.run()

    deltas = [data["delta"] for data in turn.data(CONTENT_BLOCK_DELTA)]
    assert deltas == [" two", "  words", "\nand", " more", " "]


class StreamProvider:
    """A provider with a `stream` method."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.tools = []

    async def stream(self, request, tools):
        self.tools.append([tool.name for tool in tools])
        for piece in self.answers.pop(0):
            yield piece


async def test_a_stream_is_shown_as_it_comes_and_its_calls_are_run(bench):
    calls = [{"id": "1", "name": "look", "arguments": {"x": 1}}]
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    turn = bench("streaming")
    turn.provider = StreamProvider(
        [{"content": "let "}, {"content": "me"}, {"tool_calls": calls}],
        ["do", "ne", {"usage": usage, "finish_reason": "end_turn"}],
    )
    look = turn.tool("look", lambda given: "seen")

    assert await turn.run() == "done"
    assert look.inputs == [{"x": 1}]
    assert turn.provider.tools == [["look"], ["look"]]
    texts = [data for data in turn.data(CONTENT_BLOCK_DELTA) if data["block_type"] == "text"]
    assert [data["delta"] for data in texts] == ["let ", "me", "do", "ne"]
    assert turn.data(CONTENT_BLOCK_END)[-1]["block"] == {"type": "text", "text": "done"}
    last = turn.data("llm:post")[1]
    assert (last["usage"]["total_tokens"], last["finish_reason"]) == (3, "end_turn")


async def test_a_stream_may_end_in_a_whole_response(bench):
    response = ChatResponse(content=[TextBlock(text="done")], metadata={"id": "m1"})
    turn = bench("streaming")
    turn.provider = StreamProvider(["do", "ne", response])

    assert await turn.run() == "done"
    assert len(turn.data(CONTENT_BLOCK_START)) == 1
    assert (await turn.context.get_messages())[-1]["metadata"]["id"] == "m1"


async def test_the_calls_of_a_stream_are_blocks_too(bench):
    calls = [{"id": "1", "name": "look", "arguments": {"x": 1}}]
    turn = bench("streaming")
    turn.provider = StreamProvider(
        ["Look: ", {"tool_calls": calls}], [{"tool_calls": calls}], ["done"]
    )
    turn.tool("look", lambda given: "seen")
    await turn.run()

    blocks = [(data["block_index"], data["block"]) for data in turn.data(CONTENT_BLOCK_END)]
    call = {
        "type": "tool_call",
        "id": "1",
        "name": "look",
        "input": {"x": 1},
        "arguments": {"x": 1},
    }
    assert blocks == [
        (0, {"type": "text", "text": "Look: "}),
        (1, call),
        (0, call),
        (0, {"type": "text", "text": "done"}),
    ]


async def test_the_end_of_a_streamed_text_has_what_the_response_knows_of_it(bench):
    whole = DisplayedResponse(
        content=[TextBlock(text="done")],
        content_blocks=[
            TextContent(text="done", raw={"n": 1}),
            ThinkingContent(text="hm", raw={"n": 2}),
        ],
    )
    turn = bench("streaming")
    turn.provider = StreamProvider(["do", "ne", whole])
    await turn.run()

    assert [data["block"] for data in turn.data(CONTENT_BLOCK_END)] == [
        {"type": "text", "text": "done", "raw": {"n": 1}},
        {"type": "thinking", "text": "hm", "thinking": "hm", "raw": {"n": 2}},
    ]


async def test_a_provider_that_answers_to_any_name_is_asked_by_complete(bench, say):
    turn = bench("streaming")
    turn.provider = MagicMock(spec=BaseProvider, priority=100, tool_tags=None)
    turn.provider.complete = AsyncMock(return_value=say.text("done"))

    assert await turn.run() == "done"
    turn.provider.complete.assert_awaited_once()


async def test_calls_of_a_stream_that_cannot_be_run_say_why(bench):
    calls = [ToolCall(id="1", name="look", arguments={}, error="not JSON")]
    turn = bench("streaming")
    turn.provider = StreamProvider([{"tool_calls": calls}], ["done"])
    look = turn.tool("look", lambda given: "seen")
    await turn.run()

    assert look.inputs == []
    assert "not JSON" in (await turn.history())[2]["content"]


async def test_a_user_can_steer_a_running_turn(bench, say, valid):
    turn = bench("streaming", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: turn.coordinator.get_capability("session.steer")("be brief"))
    await turn.run("go")

    history = await turn.history()
    valid(history)
    assert [message["role"] for message in history] == [
        "user", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    assert history[3]["content"] == "be brief"
    assert turn.data("orchestrator:steering_injected") == [{"content": "be brief", "iteration": 2}]


async def test_hooks_may_change_or_deny_what_a_user_steers_with(bench, say, valid):
    turn = bench("streaming", say.calls(("1", "look", {})), say.text("done"))

    def look(given):
        for text in ("keep", "change", "deny"):
            turn.coordinator.get_capability("session.steer")(text)
        return "seen"

    def judge(_event, data):
        return {
            "keep": None,
            "change": HookResult(action="modify", data={**data, "prompt": "changed"}),
            "deny": HookResult(action="deny", reason="not that"),
        }[data["prompt"]]

    turn.tool("look", look)
    turn.hook("orchestrator:steering_submitted", judge)
    await turn.run()

    history = await turn.history()
    valid(history)
    steered = [message["content"] for message in history if message["role"] == "user"]
    assert steered[1:] == ["keep", "changed"]
    denied = {"messages": ["deny"], "reason": "not that"}
    assert turn.data("orchestrator:steering_discarded") == [denied]


async def test_steering_while_the_last_answer_is_written_is_answered(bench, say):
    turn = bench("streaming")

    def respond(request):
        turn.coordinator.get_capability("session.steer")("one more thing")
        return say.text("done")

    turn.provider.script = [respond, say.text("and that")]

    assert await turn.run() == "and that"
    assert len(turn.provider.requests) == 2


async def test_the_steering_queue_is_bounded_and_wants_text(bench):
    turn = bench("streaming")
    steer = (await turn.loop()).steer

    with pytest.raises(ValueError, match="empty"):
        steer("  ")
    for number in range(CAPACITY):
        steer(str(number))
    with pytest.raises(SteeringQueueFull, match="100 steering messages are waiting"):
        steer("too much")


async def test_an_hour_between_calls_is_waited_only_between_calls(bench, say):
    turn = bench("streaming", say.text("one"), config={"min_delay_between_calls_ms": 3_600_000})

    assert await turn.run() == "one"


@pytest.mark.parametrize("kind", ["basic", "streaming"])
async def test_the_module_says_which_events_it_adds(bench, kind):
    turn = bench(kind)
    await turn.loop()

    assert await turn.coordinator.collect_contributions("observability.events") == [
        [
            "context:message",
            "context:replaced",
            "budget:warning",
            "approval:timeout",
            "tool:start",
            "tool:progress",
            "tool:result",
            "agent:recoverable_error",
            "orchestrator:rate_limit_delay",
            "orchestrator:steering_submitted",
            "orchestrator:steering_injected",
            "orchestrator:steering_discarded",
            "orchestrator:goal_progress",
            "orchestrator:paused",
            "orchestrator:resumed",
            "task:start",
            "task:end",
            *agent_events.EVENTS,
        ]
    ]
