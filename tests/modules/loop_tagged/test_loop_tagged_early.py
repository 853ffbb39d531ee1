"""`execute_while_streaming`: a call runs when it is complete, while the rest of the answer arrives."""

from __future__ import annotations

import anyio
import pytest
from tagged_answers import LOOK, Pieces

from amplifier_stream import ChunkCall, StreamChunk

WITHDRAWN = StreamChunk(block_index=0, dropped=True)


def native(id, x):
    """A native call that is complete in one chunk."""
    arguments = {"x": x}
    block = {"type": "tool_call", "id": id, "name": "look", "arguments": arguments}
    return StreamChunk(type="tool_call", call=ChunkCall(0, id, "look", block))


SECOND = LOOK.replace('"x": 1', '"x": 2')


def early(bench, loop, *answers, **config):
    if loop != "tagged":
        config["tool_tags"] = True
    turn = bench(loop, config={"execute_while_streaming": True, **config})
    turn.provider = Pieces(*answers)
    return turn


@pytest.mark.parametrize("loop", ["basic", "streaming", "tagged"])
async def test_a_call_runs_before_the_answer_ends(bench, valid, loop):
    ran = anyio.Event()
    turn = early(bench, loop, ["So. ", LOOK, ran.wait, " And ", SECOND, "."], ["Done."])
    ran_with: list[int] = []

    def look(given):
        ran_with.append(given["x"])
        ran.set()
        return f"seen {given['x']}"

    turn.tool("look", look)
    with anyio.fail_after(5):
        assert await turn.run("go") == "Done."

    assert ran_with == [1, 2]
    history = await turn.history()
    assert [each["role"] for each in history] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [each["content"] for each in history if each["role"] == "tool"] == ["seen 1", "seen 2"]
    calls = [each["id"] for each in history[1]["tool_calls"]]
    assert [each["tool_call_id"] for each in history if each["role"] == "tool"] == calls
    valid(history)


@pytest.mark.parametrize("loop", ["streaming", "tagged"])
async def test_an_answer_that_fails_later_undoes_nothing_that_ran(bench, valid, loop):
    ran = anyio.Event()
    turn = early(bench, loop, ["So. ", LOOK, ran.wait, "And", ValueError("broken")])
    ran_with: list[int] = []

    def look(given):
        ran_with.append(given["x"])
        ran.set()
        return "seen"

    turn.tool("look", look)
    with anyio.fail_after(5), pytest.raises(ValueError, match="broken"):
        await turn.run("go")

    assert ran_with == [1]
    history = await turn.history()
    asked = history[1]
    assert [block["type"] for block in asked["content"]] == ["text", "tool_call"]
    assert asked["content"][0]["text"] == "So. And"
    assert [(each["role"], each["content"]) for each in history[2:]] == [("tool", "seen")]
    valid(history)


async def test_a_call_that_ran_early_does_not_run_again(bench, valid):
    turn = early(bench, "tagged", [LOOK, " and that is all"], ["Done."])
    ran_with: list[int] = []
    turn.tool("look", lambda given: ran_with.append(given["x"]) or "seen")
    assert await turn.run("go") == "Done."
    assert ran_with == [1]
    valid(await turn.history())


async def test_without_the_setting_a_call_waits_for_the_whole_answer(bench):
    turn = bench("tagged")
    order: list[str] = []

    async def mark():
        order.append("rest")

    turn.provider = Pieces([LOOK, mark, "."], ["Done."])
    turn.tool("look", lambda given: order.append("look") or "seen")
    await turn.run("go")
    assert order == ["rest", "look"]


def judging(bench, loop, is_early, pieces):
    """A turn whose first call is judged until all of its answer has come, and its tool."""
    turn = bench(loop, config={"execute_while_streaming": is_early})
    whole = anyio.Event()

    async def end():
        await anyio.wait_all_tasks_blocked()
        whole.set()

    async def judge(event, data):
        if data["tool_input"]["x"] == 1:
            await whole.wait()

    turn.hook("tool:pre", judge)
    turn.provider = Pieces([*pieces, end, StreamChunk(finished=True)], ["done"])
    return turn, turn.tool("look", lambda given: "seen")


# Holds: sink-37
@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize("loop", ["streaming", "tagged"])
async def test_no_native_call_of_an_answer_that_starts_again_runs(bench, valid, loop, is_early):
    withdrawn = StreamChunk(type="tool_call", call=ChunkCall(0), dropped=True)
    answer = [native("a", 1), anyio.wait_all_tasks_blocked, withdrawn, native("b", 2)]
    turn, tool = judging(bench, loop, is_early, answer)
    assert await turn.run() == "done"
    assert tool.inputs == [{"x": 2}]
    history = await turn.history()
    assert [each["id"] for each in history[1]["tool_calls"]] == ["b"]
    valid(history)


@pytest.mark.parametrize("is_early", [False, True])
async def test_no_call_in_tags_of_an_answer_that_starts_again_runs(bench, valid, is_early):
    first, again = (StreamChunk(each, block_index=0) for each in (LOOK, SECOND))
    answer = [first, anyio.wait_all_tasks_blocked, WITHDRAWN, again]
    turn, tool = judging(bench, "tagged", is_early, answer)
    assert await turn.run() == "done"
    assert tool.inputs == [{"x": 2}]
    valid(await turn.history())


async def test_a_call_that_already_ran_keeps_its_result_when_the_answer_starts_again(bench, valid):
    ran = anyio.Event()
    first, again = (StreamChunk(each, block_index=0) for each in (LOOK, SECOND))
    answer = [first, ran.wait, WITHDRAWN, again, StreamChunk(finished=True)]
    turn = early(bench, "tagged", answer, ["done"])
    tool = turn.tool("look", lambda given: ran.set() or f"seen {given['x']}")
    with anyio.fail_after(5):
        assert await turn.run() == "done"
    assert tool.inputs == [{"x": 1}, {"x": 2}]
    history = await turn.history()
    assert [each["content"] for each in history if each["role"] == "tool"] == ["seen 2", "seen 1"]
    valid(history)
