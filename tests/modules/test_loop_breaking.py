"""Tools that end the turn: which do, when, and whose output is the answer."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock, MagicMock

import anyio
import pytest

from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.tool.function_tool import tool


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def breaking(turn: Any, name: str, function: Any, says: Any = True) -> Any:
    made = turn.tool(name, function)
    made.is_loop_breaking = says
    return made


async def results(turn: Any) -> list[str]:
    return [each["content"] for each in await turn.history() if each["role"] == "tool"]


async def test_its_output_is_the_answer_and_is_stored(kind, bench, say, valid):
    turn = bench(kind, say.calls(("1", "finish", {"x": 1}), text="so"), say.text("never"))
    breaking(turn, "finish", lambda _given: "all done")

    assert await turn.run("hi") == "all done"
    assert len(turn.provider.requests) == 1
    assert turn.data("orchestrator:complete")[0]["status"] == "success"
    history = await turn.history()
    valid(history)
    assert history[-1] == {
        "role": "assistant", "content": [{"type": "text", "text": "all done"}]
    }  # fmt: skip


# Holds: agent-28
async def test_all_calls_of_the_answer_run_and_the_first_that_ends_the_turn_is_the_answer(
    kind, bench, say, valid
):
    calls = ("1", "look", {}), ("2", "slow", {}), ("3", "quick", {}), ("4", "fail", {})
    turn = bench(kind, say.calls(*calls))
    is_over = anyio.Event()

    async def slow(_given: dict[str, Any]) -> str:
        await is_over.wait()
        return "the answer"

    def quick(_given: dict[str, Any]) -> str:
        is_over.set()
        return "later in the order, earlier in time"

    def fail(_given: dict[str, Any]) -> str:
        raise ValueError("broken")

    turn.tool("look", lambda _given: "seen")
    breaking(turn, "slow", slow)
    breaking(turn, "quick", quick)
    breaking(turn, "fail", fail)

    assert await turn.run("hi") == "the answer"
    assert await results(turn) == [
        "seen",
        "the answer",
        "later in the order, earlier in time",
        "Error: tool `fail` failed: ValueError: broken",
    ]
    valid(await turn.history())


async def test_a_method_decides_by_the_arguments_of_each_call(kind, bench, say):
    script = [say.calls((str(x), "move", {"x": x})) for x in (1, 2, 3)]
    turn = bench(kind, *script, say.text("never"))
    breaking(turn, "move", lambda given: f"at {given['x']}", lambda given: given["x"] == 2)

    assert await turn.run("hi") == "at 2"
    assert len(turn.provider.requests) == 2


async def test_the_method_sees_the_arguments_that_run_and_cannot_change_them(bench, say):
    turn = bench("basic", say.calls(("1", "move", {"x": 1})))
    seen: list[Any] = []

    def says(given: dict[str, Any]) -> bool:
        seen.append(dict(given))
        given.clear()
        return True

    move = breaking(turn, "move", lambda given: "done", says)
    data = {"tool_input": {"x": 5}}
    turn.hook("tool:pre", lambda _event, old: HookResult(action="modify", data={**old, **data}))

    assert await turn.run("hi") == "done"
    assert (seen, move.inputs) == ([{"x": 5}], [{"x": 5}])


async def unfit(_given: dict[str, Any]) -> bool:
    return True


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (lambda given: given["y"], "KeyError: 'y'"),
        (lambda _given: "yes", "`is_loop_breaking` of `move` returned a `str` (must be a bool)"),
        (unfit, "`is_loop_breaking` of `move` returned a `coroutine` (must be a bool)"),
    ],
)
async def test_a_method_that_fails_is_an_error_result_and_the_tool_does_not_run(
    says, told, bench, say, valid
):
    turn = bench("basic", say.calls(("1", "move", {"x": 1})), say.text("sorry"))
    move = breaking(turn, "move", lambda _given: "done", says)

    assert await turn.run("hi") == "sorry"
    assert move.inputs == []
    [result] = await results(turn)
    assert told in result
    valid(await turn.history())


# Holds: agent-28
@pytest.mark.parametrize("how", ["raises", "unsuccessful", "denied", "withheld"])
async def test_a_call_without_success_does_not_end_the_turn(how, bench, say):
    turn = bench("basic", say.calls(("1", "finish", {})), say.text("went on"))

    def finish(_given: dict[str, Any]) -> Any:
        if how == "raises":
            raise ValueError("broken")
        return ToolResult(success=how != "unsuccessful", output="out")

    breaking(turn, "finish", finish)
    if how in {"denied", "withheld"}:
        turn.answer_hook(f"tool:{'pre' if how == 'denied' else 'post'}", action="deny", reason="no")

    assert await turn.run("hi") == "went on"


async def test_a_tool_that_is_a_mock_does_not_end_the_turn(bench, say):
    turn = bench("basic", say.calls(("1", "mock", {})), say.text("went on"))
    turn.tools["mock"] = MagicMock(
        input_schema={}, parallel=True, execute=AsyncMock(return_value=ToolResult(output="x"))
    )
    assert await turn.run("hi") == "went on"


@pytest.mark.parametrize("ends", [True, lambda given: given["text"] == "bye"])
async def test_a_function_can_be_such_a_tool(ends, bench, say):
    @tool(is_loop_breaking=ends)
    async def part(text: str) -> str:
        return text

    turn = bench("basic", say.calls(("1", "part", {"text": "bye"})))
    turn.tools["part"] = part
    assert await turn.run("hi") == "bye"


@pytest.mark.parametrize("ends", ["yes", 1, None, MagicMock()])
def test_what_is_neither_a_bool_nor_a_function_is_refused(ends: Any) -> None:
    with pytest.raises(TypeError, match="must be true, false or a function"):
        tool(is_loop_breaking=ends)(lambda: "")
