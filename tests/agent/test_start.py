"""What is wrong with an agent is told at the start, in one list."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import (
    Agent,
    Budget,
    ScriptedProvider,
    ToolContext,
    hook,
    tool,
)
from amplifier_core.llm_errors import ConfigurationError


class Cart:
    def __init__(self) -> None:
        self.items: list[str] = []


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


# Holds: agent-5
async def test_all_that_is_wrong_at_the_start_is_one_error() -> None:
    @tool(needs_approval=True)
    def put(context: ToolContext[Cart], item: str) -> str:
        return item

    with pytest.raises(ConfigurationError) as caught:
        await Agent(ScriptedProvider(["a"]), tools=[put]).run("buy", state="cart")
    assert str(caught.value) == (
        "tool `put` needs a `state` of type `Cart`, found `str`; tool `put` needs approval, and"
        " nobody can be asked: give `approvals=`"
    )


# Holds: agent-5
async def test_what_is_wrong_with_the_plan_and_with_the_objects_is_one_list() -> None:
    @tool(needs_approval=True)
    def put(context: ToolContext[Cart], item: str) -> str:
        return item

    @hook("tool_pre")
    def judge(_event: str, _data: dict[str, Any]) -> None: ...

    search = {"module": "tool-search", "config": {"rooot": "."}}
    model = ScriptedProvider(["a"])
    agent = Agent(
        model, tools=[put, add, add, search], hooks=[judge, "hooks-gaurd"], budget=Budget(cost=1)
    )
    with pytest.raises(ConfigurationError, match="the agent has 7 mistakes: ") as caught:
        await agent.run("buy")
    mistakes: Any = getattr(caught.value, "mistakes", ())
    words = ["hooks-gaurd", "rooot", "tool_pre", "two tools", "state", "approval", "cost"]
    assert all(word in mistake for word, mistake in zip(words, mistakes, strict=True))
    assert model.requests == []


async def test_an_agent_without_a_provider_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigurationError, match="no provider is mounted: give `model=`"):
        await Agent(plan={}).run("hi")


@pytest.mark.parametrize(
    ("state_type", "right", "wrong"),
    [
        (Cart | None, [Cart(), None], [3]),
        (int | str, [3, "a"], [None, Cart()]),
        (dict[str, int], [{}], [[]]),
        (list[int] | None, [[], None], [{}]),
        (Any, [3, None], []),
        (object, [3, None], []),
        (None, [None], [3]),
    ],
)
async def test_a_state_is_checked_by_each_type_that_can_be(
    state_type: Any, right: list[object], wrong: list[object]
) -> None:
    def look(context: Any) -> str:
        return "seen"

    look.__annotations__["context"] = ToolContext[state_type]
    agent = Agent(ScriptedProvider(["a"], repeat=True), tools=[look])
    for state in right:
        assert (await agent.run("hi", state=state)).text == "a"
    for state in wrong:
        with pytest.raises(ConfigurationError, match="tool `look` needs a `state` of type"):
            await agent.run("hi", state=state)


# Holds: agent-5
async def test_a_plan_with_mistakes_raises_them_as_one_configuration_error() -> None:
    agent = Agent("demo", tools=["tool-serch"], hooks=[{"module": "hooks-gaurd"}])
    with pytest.raises(ConfigurationError) as caught:
        await agent.run("hi")
    assert "did you mean `tool-search`?" in str(caught.value)
    assert "did you mean `hooks-guard`?" in str(caught.value)


async def test_a_hook_for_an_event_that_nobody_emits_is_a_mistake() -> None:
    @hook("tool_pre")
    def late(_event: str, _data: dict[str, Any]) -> None: ...

    with pytest.raises(ConfigurationError) as caught:
        await Agent(ScriptedProvider(["a"]), hooks=[late]).run("hi")
    assert str(caught.value) == (
        "the mount plan has a mistake: the handler `late` is registered for `tool_pre`, which"
        " nothing emits; did you mean `tool:pre`?"
    )
