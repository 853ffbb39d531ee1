"""What a stored session has used of its budgets stays used, to the last digit and only once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, Budget, tool

sys.path.insert(0, str(Path(__file__).parent))

from stories import COST, StoryModel, read_states, store_in


def talk(folder: Path, *script: Any, **options: Any) -> Agent[None]:
    model = StoryModel(script, folder, None)
    return Agent(model, store=store_in(folder), **options)


def crash_before(folder: Path, copy: Path, script: list[Any], call: int) -> list[Any]:
    """Return a script that copies the store before this call of a model."""

    def crash(request: Any) -> Any:
        shutil.copytree(folder, copy)
        return script[call]

    return [*script[:call], crash, *script[call + 1 :]]


@tool(idempotent=True)
def look(place: str) -> str:
    """Look."""
    return f"{place} seen"


# Holds: store-13
async def test_a_shared_budget_is_used_as_far_as_its_turns_have_used_it(tmp_path: Path) -> None:
    first = Budget(cost=1, model_calls=10).shared()
    async with talk(tmp_path, "a", "b", budget=first).session(session_id="chat") as session:
        await session.run("one")
        await session.run("two")
    second = Budget(cost=2, model_calls=3).shared()
    agent = talk(tmp_path, "c", "d", budget=second)
    for _ in range(2):
        async with agent.session(session_id="chat") as session:
            # Opened again in the same process, the session has used no more.
            assert second.used.cost == first.used.cost == 2 * COST
            assert (second.used.model_calls, second.used.tokens) == (2, first.used.tokens)
    async with agent.session(session_id="chat") as session:
        await session.run("three")
        async with await session.fork() as fork:
            assert second.used.cost == 3 * COST
            result = await fork.run("four")
    assert (result.status, result.reason) == (
        "limit",
        "the shared budget of 3 model calls is used up",
    )
    third = Budget(cost=1).shared()
    async with talk(tmp_path, budget=third).session(session_id="chat"):
        assert third.used.cost == 3 * COST


async def test_a_budget_that_only_one_turn_shares_is_its_own(tmp_path: Path) -> None:
    of_turn = Budget(cost=1).shared()
    async with talk(tmp_path, "a").session(session_id="chat") as session:
        await session.run("one", budget=of_turn)
    assert of_turn.used.cost == COST
    of_agent = Budget(cost=1).shared()
    async with talk(tmp_path, budget=of_agent).session(session_id="chat"):
        assert of_agent.used.cost == 0


async def test_a_turn_that_goes_on_draws_on_the_shared_budget_once(tmp_path: Path) -> None:
    script = [{"tool": "look", "arguments": {"place": "a"}, "id": "c1"}, "Done."]
    script = crash_before(tmp_path / "now", tmp_path / "crashed", script, 1)
    options = {"tools": [look]}
    shared = Budget(cost=1).shared()
    async with talk(tmp_path / "now", *script, budget=shared, **options).session(
        session_id="chat"
    ) as session:
        await session.run("Look.")
    again = Budget(cost=1).shared()
    async with talk(tmp_path / "crashed", "Done.", budget=again, **options).session(
        session_id="chat"
    ) as session:
        assert (again.used.cost, again.used.tool_calls) == (COST, 1)
        await session.resume_turn()
        assert again.used.cost == shared.used.cost == 2 * COST
    last = Budget(cost=1).shared()
    async with talk(tmp_path / "crashed", budget=last, **options).session(session_id="chat"):
        assert last.used.cost == 2 * COST


# Holds: store-13
async def test_a_turn_that_goes_on_has_the_limits_it_began_with(tmp_path: Path) -> None:
    look_again = {"tool": "look", "arguments": {"place": "a"}}
    script: list[Any] = [{**look_again, "id": "c1"}, {**look_again, "id": "c2"}, "Done."]
    script = crash_before(tmp_path / "now", tmp_path / "crashed", script, 1)
    async with talk(tmp_path / "now", *script, tools=[look]).session(session_id="chat") as session:
        result = await session.run("Look.", budget=Budget(tool_calls=1))
    assert result.reason == "the budget of 1 tool call is used up"
    shutil.copytree(tmp_path / "crashed", tmp_path / "again")
    rest = [{**look_again, "id": "c2"}, "Done."]
    async with talk(tmp_path / "crashed", *rest, tools=[look]).session(
        session_id="chat"
    ) as session:
        assert (await session.resume_turn()).reason == result.reason
    async with talk(tmp_path / "again", *rest, tools=[look]).session(session_id="chat") as session:
        assert (await session.resume_turn(budget=Budget(tool_calls=2))).status == "completed"


async def test_a_call_that_is_made_again_counts_once(tmp_path: Path) -> None:
    now, crashed = tmp_path / "now", tmp_path / "crashed"

    @tool(idempotent=True)
    def ask() -> str:
        """Ask."""
        if not crashed.exists():
            shutil.copytree(now, crashed)
        return "asked"

    script: list[Any] = [{"tool": "ask", "arguments": {}, "id": "c1"}, "Done."]
    options: dict[str, Any] = {"tools": [ask], "budget": Budget(tool_calls=1)}
    async with talk(now, *script, **options).session(session_id="chat") as session:
        await session.run("Ask.")
    async with talk(crashed, "Done.", **options).session(session_id="chat") as session:
        result = await session.resume_turn()
    assert (result.text, result.messages[2]["content"]) == ("Done.", "asked")
    states = [(await read_states(folder))["state:spending"] for folder in (now, crashed)]
    assert [each["tool_calls"] for each in states] == [1, 1]


# Holds: store-13, approval-44
@pytest.mark.parametrize("call", [2, 3])
async def test_what_a_sub_agent_used_is_used_after_a_crash_of_both(
    tmp_path: Path, call: int
) -> None:
    now, crashed = tmp_path / "now", tmp_path / "crashed"
    script: list[Any] = [
        {"tool": "task", "arguments": {"prompt": "Look."}, "id": "c1"},
        {"tool": "look", "arguments": {"place": "a"}, "id": "c2"},
        "Found.",
        "Done.",
    ]
    options: dict[str, Any] = {"tools": ["tool-task", look], "budget": Budget(cost=COST * 4)}
    model = crash_before(now, crashed, script, call)
    async with talk(now, *model, **options).session(session_id="chat") as session:
        await session.run("Find it.")
    state = (await read_states(crashed))["state:spending"]
    assert (state["model_calls"], state["tool_calls"], state["cost"]) == (call, 2, str(COST * call))
    async with talk(crashed, *script[call:], **options).session(session_id="chat") as session:
        result = await session.resume_turn()
    assert (result.text, result.messages[2]["content"]) == (
        "Done.",
        '{"id": "task-1", "answer": "Found."}',
    )
    state = (await read_states(crashed))["state:spending"]
    assert (state["model_calls"], state["tool_calls"], state["cost"]) == (4, 2, str(COST * 4))


async def test_the_time_of_a_turn_counts_on(tmp_path: Path) -> None:
    script = [{"tool": "look", "arguments": {"place": "a"}, "id": "c1"}, "Done."]
    script = crash_before(tmp_path / "now", tmp_path / "crashed", script, 1)
    async with talk(tmp_path / "now", *script, tools=[look], budget=Budget(seconds=60)).session(
        session_id="chat"
    ) as session:
        await session.run("Look.")
    before = (await read_states(tmp_path / "crashed"))["state:spending"]["seconds"]
    async with talk(tmp_path / "crashed", "Done.", tools=[look]).session(
        session_id="chat"
    ) as session:
        assert (await session.resume_turn()).status == "completed"
    after = (await read_states(tmp_path / "crashed"))["state:spending"]
    assert 0 < before < after["seconds"]
    assert after["limits"]["seconds"] == 60
