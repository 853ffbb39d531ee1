"""What a person approved is what runs, and nothing else."""

from __future__ import annotations

import pytest

from amplifier_core.events import TOOL_ERROR, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_guard import ApprovalDenied
from amplifier_modules.loops.boundary.call_approval import CallQuestion


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


class Person:
    """Answers yes to everything, and remembers what it was."""

    def __init__(self, before_answer=lambda: None):
        self.asked = []
        self._before_answer = before_answer

    async def request_approval(self, prompt, *_options):
        self.asked.append(prompt)
        self._before_answer()
        return "Allow"


def asks(_event, data):
    return HookResult(action="ask_user", approval_prompt=f"Run {data['tool_input']}?")


def changes(value):
    def change(_event, data):
        return HookResult(action="modify", data={**data, "tool_input": value(data["tool_input"])})

    return change


def a_call(bench, say, person):
    turn = bench("basic", say.calls(("1", "look", {"x": 1})), say.text("done"))
    turn.coordinator.approval_system = person
    return turn, turn.tool("look", lambda given: "seen")


async def error_of(turn):
    [message] = [m for m in await turn.history() if m["role"] == "tool"]
    assert message["is_error"] is True
    assert message["content"] == "Denied by hook: " + turn.data(TOOL_ERROR)[0]["error"]["msg"]
    assert turn.data(TOOL_ERROR)[0]["error"]["type"] == "DeniedByHookError"
    return turn.data(TOOL_ERROR)[0]["error"]["msg"]


async def test_what_was_approved_runs(bench, say):
    turn, look = a_call(bench, say, person := Person())
    turn.hook(TOOL_PRE, asks)
    await turn.run()

    assert person.asked == ["Run {'x': 1}?"]
    assert look.inputs == [{"x": 1}]
    assert turn.data(TOOL_ERROR) == []


# Holds: sink-21
@pytest.mark.parametrize("order", [("change", "ask"), ("ask", "change")])
async def test_a_person_is_asked_once_about_the_arguments_as_hooks_left_them(bench, say, order):
    turn, look = a_call(bench, say, person := Person())
    hooks = {"ask": asks, "change": changes(lambda given: {"x": 2})}
    for name in order:
        turn.hook(TOOL_PRE, hooks[name])
    await turn.run()

    assert person.asked == ["Run {'x': 2}?"]
    assert look.inputs == [{"x": 2}]


async def test_arguments_that_hooks_keep_changing_are_never_approved(bench, say):
    turn, look = a_call(bench, say, person := Person())
    turn.hook(TOOL_PRE, asks)
    turn.hook(TOOL_PRE, changes(lambda given: {"x": given["x"] + 1}))
    await turn.run()

    assert (person.asked, look.inputs) == ([], [])
    assert "keep changing the arguments" in await error_of(turn)


# Holds: sink-25
async def test_arguments_that_a_hook_changes_while_the_person_thinks_do_not_run(bench, say):
    held = {"x": 1}
    turn, look = a_call(bench, say, person := Person(lambda: held.update(x=666)))

    def asks_and_holds(_event, data):
        return asks(_event, data).model_copy(update={"data": {**data, "tool_input": held}})

    turn.hook(TOOL_PRE, asks_and_holds)
    await turn.run()

    assert person.asked == ["Run {'x': 1}?"]
    assert look.inputs == []
    assert await error_of(turn) == "this is not what was approved; ask again"


async def test_arguments_that_a_hook_still_holds_do_not_change_in_the_tool(bench, say):
    held = {"x": 1}
    turn, _ = a_call(bench, say, Person())
    seen = []

    def look(given):
        held.update(x=666)
        seen.append(dict(given))
        return "seen"

    turn.tool("look", look)
    turn.hook(
        TOOL_PRE,
        lambda e, data: asks(e, data).model_copy(update={"data": {**data, "tool_input": held}}),
    )
    await turn.run()

    assert seen == [{"x": 1}]


async def test_a_yes_to_a_prompt_goes_on_with_what_hooks_made_of_it(bench, say):
    turn = bench("basic", say.text("done"))
    turn.coordinator.approval_system = Person()
    turn.hook("prompt:submit", lambda _e, data: {"action": "modify", "data": {"prompt": "clean"}})
    turn.hook("prompt:submit", lambda _e, data: HookResult(action="ask_user"))
    await turn.run("dirty")

    assert (await turn.history())[0]["content"] == "clean"


async def test_a_change_is_not_lost_where_another_hook_injects(bench, say):
    turn = bench("basic", say.calls(("1", "look", {"x": 1})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    turn.hook(TOOL_PRE, changes(lambda given: {"x": 2}))
    turn.answer_hook(TOOL_PRE, action="inject_context", context_injection="hint", ephemeral=True)
    await turn.run()

    assert look.inputs == [{"x": 2}]


def test_nothing_is_confirmed_without_a_yes_and_nothing_twice():
    question = CallQuestion("look", {"x": 1})
    with pytest.raises(ApprovalDenied, match="was not approved"):
        question.confirm({"x": 1})
    question.grant()
    question.confirm({"x": 1})
    with pytest.raises(ApprovalDenied, match="used"):
        question.confirm({"x": 1})


def test_nobody_is_asked_about_arguments_without_an_end():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match=r"^`tool_input` is nested too deeply"):
        CallQuestion("look", {"x": deep})
