"""Tool calls that do not fit their tool are named, and stay in the answer."""

from __future__ import annotations

import threading

import anyio
from fake_step import FakeStep, ask, response

from arcllm import Tool, ToolCall
from arcllm.layers.stack import build_stack
from arcllm.layers.tool_calls import ToolCallLayer

WEATHER = Tool(
    name="weather",
    description="The weather of a city",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 10}},
        "required": ["city"],
    },
)


def calling(*calls: tuple[str, str, dict]):
    made = [ToolCall(id=id, name=name, arguments=arguments) for id, name, arguments in calls]
    return response(tool_calls=made, stop_reason="tool_use")


async def test_calls_that_fit_are_not_mentioned():
    answer = calling(("1", "weather", {"city": "Rome"}), ("2", "weather", {"city": "X", "days": 3}))

    assert await ToolCallLayer(FakeStep([answer])).complete(ask(tools=[WEATHER])) == answer


# Holds: layer-8
async def test_calls_that_do_not_fit_are_named_by_their_id_and_stay():
    answer = calling(("1", "weather", {"city": "Rome"}), ("2", "weather", {"days": 30}))
    layer = ToolCallLayer(FakeStep([answer]))

    found = await layer.complete(ask(tools=[WEATHER]))

    assert found.tool_calls == answer.tool_calls
    assert list(found.metadata["invalid_tool_calls"]) == ["2"]
    why = found.metadata["invalid_tool_calls"]["2"]
    assert "city" in why
    assert why.endswith("correct the arguments and call `weather` again")


async def test_a_stream_names_them_in_its_response():
    layer = ToolCallLayer(FakeStep([calling(("1", "weather", {}))]))

    pieces = [piece async for piece in layer.stream(ask(tools=[WEATHER]))]

    assert list(pieces[-1].metadata["invalid_tool_calls"]) == ["1"]


async def test_a_tool_that_was_not_offered_is_named():
    layer = ToolCallLayer(FakeStep([calling(("1", "wether", {}))]))

    found = await layer.complete(ask(tools=[WEATHER]))

    problems = {"1": "unknown tool `wether` (tools: `weather`)"}
    assert found.metadata["invalid_tool_calls"] == problems


async def test_a_schema_that_cannot_be_used_lets_calls_pass_and_is_said_once(caplog):
    broken = Tool(name="weather", description="", parameters={"type": "nothing"})
    layer = ToolCallLayer(FakeStep([calling(("1", "weather", {}))]))

    for _ in range(2):
        found = await layer.complete(ask(tools=[broken]))
        assert found.metadata == {}

    assert len(caplog.records) == 1


async def test_every_stack_checks_the_calls():
    stack = build_stack(FakeStep([calling(("1", "weather", {}))]), {}, lambda name, model: None)

    found = await stack.complete(ask(tools=[WEATHER]))

    assert list(found.metadata["invalid_tool_calls"]) == ["1"]


def test_threads_with_different_tools_of_one_name_do_not_disturb_each_other():
    strict = WEATHER
    loose = Tool(name="weather", description="", parameters={"type": "object"})
    layer = ToolCallLayer(FakeStep([calling(("1", "weather", {}))]))
    wrong = []

    def ask_often(tool: Tool, *, is_invalid: bool) -> None:
        for _ in range(100):
            found = anyio.run(layer.complete, ask(tools=[tool]))
            if ("invalid_tool_calls" in found.metadata) != is_invalid:
                wrong.append(tool)

    threads = [
        threading.Thread(target=ask_often, args=(tool,), kwargs={"is_invalid": tool is strict})
        for tool in (strict, loose, strict, loose)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
