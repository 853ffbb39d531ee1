"""How many calls one answer may have: further ones are refused to the model by name."""

from __future__ import annotations

import pytest

from amplifier_core.message_models import ChatResponse, ToolCall
from amplifier_providers.base import BaseProvider
from amplifier_stream import ChunkCall, StreamChunk


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def refusal(name, most):
    return (
        f"Error: `{name}` was not run: an answer can have at most {most} tool calls; call it again"
        " in your next answer if you still need it"
    )


def look(turn):
    return turn.tool("look", lambda given: f"seen {given['x']}")


async def results(turn):
    return [each["content"] for each in await turn.history() if each["role"] == "tool"]


# Holds: sink-38
@pytest.mark.parametrize("loop", ["basic", "streaming"])
async def test_calls_past_the_limit_are_answered_with_an_error_each(bench, say, valid, loop):
    calls = [(str(x), "look", {"x": x}) for x in range(5)]
    turn = bench(loop, say.calls(*calls), say.text("done"), config={"max_calls_per_answer": 3})
    tool = look(turn)
    assert await turn.run() == "done"
    assert sorted(given["x"] for given in tool.inputs) == [0, 1, 2]
    assert await results(turn) == ["seen 0", "seen 1", "seen 2", *[refusal("look", 3)] * 2]
    assert sorted(data["tool_call_id"] for data in turn.data("tool:error")) == ["3", "4"]
    assert len(turn.data("tool:pre")) == 3
    valid(await turn.history())


async def test_the_usual_limit_is_128(bench, say, valid):
    calls = [(str(x), "look", {"x": x}) for x in range(130)]
    turn = bench("basic", say.calls(*calls), say.text("done"))
    tool = look(turn)
    assert await turn.run() == "done"
    assert len(tool.inputs) == 128
    assert (await results(turn))[128:] == [refusal("look", 128)] * 2
    valid(await turn.history())


# Holds: sink-38
async def test_far_more_calls_are_left_out_of_the_history(bench, valid):
    calls = [ToolCall(id=str(x), name="look", arguments={"x": x}) for x in range(100)]
    response = ChatResponse(content=[], tool_calls=calls)
    turn = bench("basic", response, ChatResponse(content=[]), config={"max_calls_per_answer": 2})
    tool = look(turn)
    await turn.run()
    assert len(tool.inputs) == 2
    assert len(await results(turn)) == 18
    valid(await turn.history())


class Endless(BaseProvider):
    """Yields native calls in chunks, and then an answer."""

    name = "endless"

    def __init__(self, count):
        self.counts = [count]

    async def chunks(self, request, **options):
        if not self.counts:
            yield "done"
            return
        for index in range(self.counts.pop()):
            call = ChunkCall(index, f"id{index}", "look")
            yield StreamChunk(f'{{"x": {index}}}', type="tool_call", call=call)
        yield StreamChunk(finished=True)


@pytest.mark.parametrize("early", [False, True])
async def test_calls_of_chunks_are_limited(bench, valid, early):
    config = {"max_calls_per_answer": 2, "execute_while_streaming": early}
    turn = bench("streaming", config=config)
    turn.provider = Endless(60)
    tool = look(turn)
    assert await turn.run() == "done"
    assert sorted(given["x"] for given in tool.inputs) == [0, 1]
    assert await results(turn) == ["seen 0", "seen 1", *[refusal("look", 2)] * 16]
    valid(await turn.history())


@pytest.mark.parametrize("early", [False, True])
async def test_calls_in_tags_are_limited(bench, say, valid, early):
    written = "".join(
        f'<tool>{{"tool_name": "look", "arguments": {{"x": {x}}}}}</tool>' for x in range(60)
    )
    config = {"max_calls_per_answer": 2, "execute_while_streaming": early}
    turn = bench("tagged", say.text(written), say.text("done"), config=config)
    tool = look(turn)
    assert await turn.run() == "done"
    assert sorted(given["x"] for given in tool.inputs) == [0, 1]
    assert len(await results(turn)) == 18
    valid(await turn.history())
