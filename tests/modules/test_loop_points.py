"""The points of a turn: what hooks answer, what a coordinator does with it, what limits tools."""

from __future__ import annotations

import anyio
import pytest

from amplifier_core.events import PROMPT_SUBMIT
from amplifier_core.interruption import Interruption
from amplifier_core.models import HookResult
from amplifier_modules.loops.boundary.cancellation import (
    EXPIRED,
    await_contained,
)
from amplifier_modules.loops.boundary.hook_points import HookPoints

ANSWERS = {
    "plain": HookResult(),
    "with data": HookResult(data={"prompt": "hello"}),
    "with a message": HookResult(user_message="look at this"),
    "suppressed": HookResult(suppress_output=True),
    "denied": HookResult(action="deny", reason="no"),
    "with a reason": HookResult(reason="why not"),
}


def _never() -> bool:
    return False


# Holds: sink-30
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_coordinator_that_carries_out_results_itself_gets_each(bench, answer):
    turn, given = bench("basic"), []
    carry_out = turn.coordinator.process_hook_result

    async def mine(result, event, *rest):
        given.append((result.action, event))
        return await carry_out(result, event, *rest)

    turn.coordinator.process_hook_result = mine
    turn.hook(PROMPT_SUBMIT, lambda event, data: answer)
    points = HookPoints(turn.coordinator.hooks, turn.coordinator)

    verdict = await points.judge(PROMPT_SUBMIT, {"prompt": "hi"})

    assert given == [(answer.action, PROMPT_SUBMIT)]
    assert verdict.denied is (answer.action == "deny")


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_verdict_is_the_same_whoever_carries_out_the_result(bench, answer):
    verdicts = []
    for is_own in (False, True):
        turn = bench("basic")
        if is_own:
            turn.coordinator.process_hook_result = turn.coordinator.process_hook_result
        turn.hook(PROMPT_SUBMIT, lambda event, data: answer)
        points = HookPoints(turn.coordinator.hooks, turn.coordinator)
        found = await points.judge(PROMPT_SUBMIT, {"prompt": "hi"})
        data = {"prompt": (found.data or {}).get("prompt")}  # without the time
        verdicts.append((found.denied, found.reason, data))

    assert verdicts[0] == verdicts[1]


# Holds: sink-29
@pytest.mark.parametrize(("taken", "ended"), [(0.0, False), (4.0, False), (10.0, True)])
async def test_the_time_that_a_tool_takes_before_it_waits_counts(monkeypatch, taken, ended):
    now = Interruption.now
    # The tool has begun so long ago when it waits.
    monkeypatch.setattr(Interruption, "now", lambda self: now(self) - taken)

    async def tool():
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        return "found"

    returned = await await_contained(tool, _never, "tool `look`", 5.0)

    assert returned == (EXPIRED if ended else "found")


async def test_a_tool_that_waits_for_nothing_needs_no_limit():
    async def tool():
        return "found"

    assert await await_contained(tool, _never, "tool `look`", 1e-9) == "found"
