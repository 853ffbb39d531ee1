"""Arguments: wrong ones are refused where they are given, right ones are kept as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, hook, tool


@tool
def add(a: int) -> int:
    """Add one."""
    return a + 1


class Nameless(BaseProvider):
    """A provider that lacks what it is mounted as."""


class WrongSystem:
    def request_approval(self, prompt: str, options: list[str]) -> str:
        raise NotImplementedError


def observe(_event: str, _data: Any) -> None:
    """Do nothing."""


AGENT: Any = Agent("demo")
WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Agent("demo", approvals=3), TypeError, "`approvals` is a `int`"),
    (lambda: Agent("demo", approvals="ask"), ValueError, 'the only text is `"wait"`'),
    (lambda: Agent("demo", approvals=WrongSystem()), TypeError, "takes neither"),
    (lambda: Agent("demo", directory=3), TypeError, "`directory` is a `int`"),
    (lambda: Agent("demo", plan={"tools": "a"}), TypeError, '`plan["tools"]` is a `str`'),
    (lambda: Agent("demo", plan={"session": "a"}), TypeError, '`plan["session"]` is a `str`'),
    (lambda: Agent(Nameless()), TypeError, "`Nameless` has no `name`"),
    (lambda: AGENT.session(messages="hello"), TypeError, "`messages` is a `str`"),
    (lambda: AGENT.session(messages=[{"role": "user"}, "hi"]), TypeError, "message 1 is a `str`"),
    (lambda: AGENT.session(session_id=3), TypeError, "`session_id` is a `int`"),
    (lambda: AGENT.stream(3), TypeError, "`prompt` is a `int`"),
    (lambda: AGENT.stream("a", budget=3), TypeError, "`budget` is a `int`"),
    (lambda: AGENT.stream("a", messages="hello"), TypeError, "`messages` is a `str`"),
    (lambda: AGENT.as_tool("two words", "d"), ValueError, "cannot be the name of a tool"),
    (lambda: AGENT.as_tool(3, "d"), TypeError, "the name of a tool is a `int`"),
    (lambda: AGENT.as_tool("a", None), TypeError, "the description of a tool is a `NoneType`"),
    (lambda: tool(add, needs_approval="yes"), TypeError, "`needs_approval` of a tool is a `str`"),
    (lambda: tool(add, parallel=0), TypeError, "`parallel` of a tool is a `int`"),
    (lambda: tool(add, read_only="yes"), TypeError, "`read_only` of a tool is a `str`"),
    (lambda: tool(add, timeout="1"), TypeError, "`timeout` of a tool is a `str`"),
    (lambda: tool(add, timeout=float("nan")), ValueError, "`timeout` of a tool is `nan`"),
    (lambda: tool(add, name=3), TypeError, "the name of a tool is a `int`"),
    (lambda: tool(add, name=""), ValueError, "`` cannot be the name of a tool"),
    (lambda: tool(add, description=3), TypeError, "the description of a tool is a `int`"),
    (lambda: hook("tool:pre", priority="1"), TypeError, "`priority` of a hook is a `str`"),
    (lambda: hook("tool:pre", fail_closed="no"), TypeError, "`fail_closed` of a hook is a `str`"),
    (lambda: hook("tool:pre", timeout=0), ValueError, "`timeout` of a hook is `0`"),
    (lambda: hook("*", fail_closed=False), ValueError, '`"*"` only observes'),
    (lambda: ScriptedProvider([], delay="1"), TypeError, "`delay` is a `str`"),
    (lambda: ScriptedProvider([], delay=-1), ValueError, "`delay` is `-1`"),
]  # fmt: skip


# Holds: agent-6
@pytest.mark.parametrize(("give", "error", "message"), WRONG)
def test_what_cannot_be_used_is_refused_where_it_is_given(
    give: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        give()
    assert message in str(caught.value)


@pytest.mark.parametrize("wrong", [{"prompt": 3}, {"prompt": "a", "budget": 3}])
async def test_what_a_turn_cannot_use_is_refused_before_it_begins(wrong: dict[str, Any]) -> None:
    model = ScriptedProvider(["a"])
    with pytest.raises(TypeError, match="is a `int`"):
        await Agent(model).run(**wrong)
    assert model.requests == []


async def test_an_agent_never_changes_whatever_becomes_of_what_it_was_given() -> None:
    entry: dict[str, Any] = {"module": "tool-search", "config": {}}
    tools: list[Any] = [add, entry]
    plan: dict[str, Any] = {"hooks": []}
    agent = Agent(ScriptedProvider(["a"], repeat=True), tools=tools, plan=plan)
    before = agent.plan
    tools.append(3)
    entry["config"]["rooot"] = "."
    plan["hooks"].append("hooks-none")
    agent.plan["tools"].clear()
    for each in (agent, agent.replace(budget=Budget()).replace(budget=None)):
        assert each.plan == before
        assert (await each.run("hi")).text == "a"


@pytest.mark.parametrize(
    "use",
    [
        lambda agent: agent.stream("hi"),
        lambda agent: agent.run_sync("hi"),
        lambda agent: agent.as_tool("ask", "Asks."),
    ],
)
def test_questions_that_wait_need_a_session(use: Callable[[Any], object]) -> None:
    with pytest.raises(ValueError, match="needs a session, by which questions are answered"):
        use(Agent(ScriptedProvider(["a"]), approvals="wait"))
