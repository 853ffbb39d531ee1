"""Goals from the front door: how one is set, what a result says of it, and what a stream tells."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from amplifier_agent import Agent, GoalOutcome, ScriptedProvider, Status, TextDelta
from amplifier_core.llm_errors import ConfigurationError

NO, YES = '{"reached": false, "reason": "no tests"}', '{"reached": true, "reason": "all there"}'


def agent(*script: Any, **config: Any) -> Agent[None]:
    loop = {"module": "loop-streaming", "config": {"goal_summary": False, **config}}
    return Agent(ScriptedProvider(script), loop=loop)


async def test_a_run_goes_on_until_its_goal_is_reached() -> None:
    result = await agent("one", NO, "two", YES).run("Go", goal="Tests pass")

    assert (result.text, result.status, result.model_calls) == ("two", "completed", 4)
    expected = GoalOutcome(goal="Tests pass", verdict="reached", reason="all there", rounds=2)
    assert result.goal == expected
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.to_dict()["goal"] == {
        "goal": "Tests pass", "verdict": "reached", "reason": "all there", "rounds": 2,
        "summary": None,
    }  # fmt: skip


def test_without_an_event_loop_too() -> None:
    result = agent("one", YES).run_sync("Go", goal="Tests pass")
    assert result.goal is not None
    assert result.goal.verdict == "reached"


async def test_a_goal_that_is_not_reached_is_a_limit_with_an_answer() -> None:
    result = await agent("one", NO, goal_max_rounds=1).run("Go", goal="Tests pass")

    reason = "the limit of 1 round, `goal_max_rounds`: no tests"
    assert (result.text, result.status) == ("one", "limit")
    assert result.reason == f"the goal was not reached: {reason}"
    assert result.goal == GoalOutcome(goal="Tests pass", verdict="capped", reason=reason, rounds=1)


async def test_without_a_goal_the_result_says_nothing_of_one() -> None:
    assert (await agent("one").run("Go")).goal is None


async def test_a_session_keeps_its_goal_until_it_is_reached() -> None:
    async with agent("one", NO, "two", YES, "three", goal_max_rounds=1).session() as s:
        s.goal = "Tests pass"
        assert (await s.run("Go")).status == "limit"
        assert s.goal == "Tests pass"
        assert (await s.run("Go on")).status == "completed"
        assert s.goal is None
        assert (await s.run("Thanks")).goal is None


async def test_a_goal_can_be_withdrawn() -> None:
    async with agent("one").session(goal="Tests pass") as s:
        assert s.goal == "Tests pass"
        s.goal = None
        assert (await s.run("Go")).goal is None


async def test_why_the_judge_stopped_is_not_why_the_answer_did() -> None:
    from amplifier_core.message_models import ChatResponse, TextBlock

    cut = ChatResponse(content=[TextBlock(text=YES)], finish_reason="max_tokens")
    result = await agent("one", cut).run("Go", goal="Tests pass")
    assert (result.status, result.stop_reason) == ("completed", "end_turn")


async def test_a_stream_tells_the_progress_and_not_what_the_judge_says() -> None:
    items = [each async for each in agent("one", NO, "two", YES).stream("Go", goal="Tests pass")]

    assert "".join(each.text for each in items if isinstance(each, TextDelta)) == "onetwo"
    assert [each.text for each in items if isinstance(each, Status)] == [
        "goal, round 1 of 10: not reached yet: no tests",
        "goal, round 2 of 10: reached: all there",
    ]


@pytest.mark.parametrize(("goal", "error"), [(3, TypeError), ("", ValueError), (" ", ValueError)])
async def test_a_goal_is_a_text(goal: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="`goal` is"):
        await agent("one").run("Go", goal=goal)
    with pytest.raises(error, match="`goal` is"):
        agent("one").stream("Go", goal=goal)
    with pytest.raises(error, match="`goal` is"):
        agent("one").session().goal = goal


class Foreign:
    """A loop that is not ours."""

    name = "foreign"

    async def execute(self, prompt: str, *_: Any, **__: Any) -> str:
        return prompt


async def test_a_loop_that_is_not_ours_pursues_none() -> None:
    expected = "the loop `foreign` pursues no goal; use one of ours"
    foreign = Agent(ScriptedProvider(["Hi"]), loop=Foreign())
    with pytest.raises(ConfigurationError, match=expected):
        await foreign.run("Go", goal="Tests pass")
    async with foreign.session() as s:
        with pytest.raises(ConfigurationError, match=expected):
            s.goal = "Tests pass"
        assert s.goal is None
