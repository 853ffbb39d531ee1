"""A tool that runs too long is ended, and the model is told."""

from __future__ import annotations

import anyio
import pytest

from amplifier_core.events import TOOL_ERROR
from amplifier_modules.loops.basic import BasicLoop
from amplifier_modules.loops.loop import longest_tool


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


# Holds: sink-28
@pytest.mark.parametrize("source", ["config", "guard"])
async def test_a_tool_that_never_ends_is_ended_and_the_turn_goes_on(bench, say, source):
    config = {"tool_timeout": 0.01} if source == "config" else None
    calls = say.calls(("1", "hang", {}), ("2", "look", {}))
    turn = bench("basic", calls, say.text("done"), config=config)
    if source == "guard":
        turn.coordinator.register_capability("guard.tool_timeout", 0.01)
    cancelled = []

    async def hang(given):
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    turn.tool("hang", hang)
    turn.tool("look", lambda given: "seen")

    assert await turn.run() == "done"
    text = "tool `hang` was ended after 0.01 s, the time limit of tools; its effects are unknown"
    contents = [message["content"] for message in await turn.history() if message["role"] == "tool"]
    assert contents == [f"Error: {text}", "seen"]
    [failure] = turn.data(TOOL_ERROR)
    assert failure["error"] == {"type": "ToolTimeoutError", "msg": text}
    assert cancelled == [True]
    assert turn.token.running_tools == set()


async def test_a_timeout_of_the_tools_own_is_its_own(bench, say):
    def fail(given):
        raise TimeoutError("no answer from the disk")

    turn = bench(
        "basic", say.calls(("1", "fail", {})), say.text("done"), config={"tool_timeout": 9}
    )
    turn.tool("fail", fail)
    await turn.run()

    error = {"type": "TimeoutError", "msg": "no answer from the disk"}
    assert turn.data(TOOL_ERROR)[0]["error"] == error


@pytest.mark.parametrize(
    ("configured", "allowed", "limit"),
    [
        (None, None, None),
        (5.0, None, 5.0),
        (None, 7, 7.0),
        (5.0, 7, 5.0),
        (9.0, 7, 7.0),
        (5.0, "soon", 5.0),
        (5.0, 0, 5.0),
        (None, True, None),
    ],
)
async def test_the_shorter_limit_holds(bench, configured, allowed, limit):
    coordinator = bench("basic").coordinator
    if allowed is not None:
        coordinator.register_capability("guard.tool_timeout", allowed)

    assert longest_tool(configured, coordinator) == limit
    assert longest_tool(configured, None) == configured


@pytest.mark.parametrize("value", ["fast", -1, True, float("inf")])
def test_a_limit_that_is_no_time_is_refused(value):
    with pytest.raises(ValueError, match="`tool_timeout` is"):
        BasicLoop({"tool_timeout": value})
