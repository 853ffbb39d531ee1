"""`process_hook_result`: what a hook's result does to the context, the user and the loop."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from amplifier_core.approval import ASKED_CALL, ApprovalTimeoutError, AskedCall, Reply
from amplifier_core.models import ApprovalResponse, ContextInjection, HookResult


class Context:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)


class Approval:
    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, []

    async def request_approval(self, *question: Any) -> Any:
        self.asked.append(question)
        if isinstance(self.answer, BaseException):
            raise self.answer
        if callable(self.answer):
            await self.answer()
        return self.answer


class Display:
    def __init__(self) -> None:
        self.shown: list[tuple[str, ...]] = []

    async def show_message(self, *message: str) -> None:
        self.shown.append(message)


def coordinator_with(
    engine, context: Any = None, approval: Any = None, display: Any = None, **settings: Any
):
    owner = SimpleNamespace(session_id="s", parent_id=None, config={"session": settings})
    coordinator = engine.ModuleCoordinator(owner, approval, display)
    coordinator.mount_points["context"] = context
    return coordinator


async def test_durable_injections_enter_the_context_and_ephemeral_ones_stay_with_the_loop(engine):
    context = Context()
    coordinator = coordinator_with(engine, context)
    durable = ContextInjection(content="keep\x00 this", role="user", hook_name="h1", event="e1")
    ephemeral = ContextInjection(content="once", ephemeral=True, hook_name="h2", event="e1")
    result = HookResult(
        action="inject_context", context_injections=[durable, ephemeral], reason="kept"
    )

    left = await coordinator.process_hook_result(result, "e1", "caller")

    (message,) = context.messages
    stamp = message["metadata"].pop("timestamp")
    assert stamp.endswith("+00:00")
    assert message == {
        "role": "user",
        "content": "keep this",
        "metadata": {
            "source": "hook",
            "hook_name": "h1",
            "event": "e1",
            "requested_role": "user",
            "ephemeral": False,
            "persisted": True,
        },
    }
    assert left == HookResult(
        action="inject_context",
        context_injection="once",
        ephemeral=True,
        context_injections=[ephemeral],
        reason="kept",
    )
    assert coordinator._current_turn_injections == len("keep this") // 4 + len("once") // 4
    coordinator.reset_turn()
    assert coordinator._current_turn_injections == 0


async def test_a_scalar_injection_bears_the_names_of_the_call_and_leaves_nothing(engine):
    context = Context()
    coordinator = coordinator_with(engine, context)
    result = HookResult(action="inject_context", context_injection="text", user_message="hi")

    left = await coordinator.process_hook_result(result, "e", "hook")

    assert context.messages[0]["metadata"]["hook_name"] == "hook"
    assert context.messages[0]["metadata"]["event"] == "e"
    assert left == HookResult(action="continue", user_message="hi")
    assert left is not result


@pytest.mark.parametrize("context", [None, object()])
async def test_without_a_context_that_takes_messages_injections_are_charged_only(engine, context):
    coordinator = coordinator_with(engine, context)
    result = HookResult(action="inject_context", context_injection="12345678")
    assert (await coordinator.process_hook_result(result, "e")).action == "continue"
    assert coordinator._current_turn_injections == 2


async def test_one_item_over_the_size_limit_refuses_all_before_any_is_written(engine):
    context = Context()
    coordinator = coordinator_with(engine, context, injection_size_limit=5)
    items = [ContextInjection(content="short"), ContextInjection(content="too long")]
    result = HookResult(action="inject_context", context_injections=items)

    with pytest.raises(ValueError, match=r"^Context injection exceeds 5 characters$"):
        await coordinator.process_hook_result(result, "e")
    assert context.messages == []
    assert coordinator._current_turn_injections == 0


async def test_the_budget_of_a_turn_only_warns(engine, caplog):
    context = Context()
    coordinator = coordinator_with(engine, context, injection_budget_per_turn=1)
    result = HookResult(action="inject_context", context_injection="12345678")
    await coordinator.process_hook_result(result, "e", "greedy")
    assert len(context.messages) == 1
    assert "`greedy` exceeds the injection budget" in caplog.text


# Holds: differ-43
async def test_the_limit_of_a_turn_refuses_what_passes_it_until_the_next_turn(engine, caplog):
    context = Context()
    coordinator = coordinator_with(engine, context, injection_limit_per_turn=3)
    result = HookResult(action="inject_context", context_injection="12345678")
    await coordinator.process_hook_result(result, "e", "greedy")

    with pytest.raises(ValueError, match=r"^Context injections exceed 3 tokens in this turn$"):
        await coordinator.process_hook_result(result, "e", "greedy")

    assert len(context.messages) == 1
    assert coordinator._current_turn_injections == 2
    coordinator.reset_turn()
    await coordinator.process_hook_result(result, "e", "greedy")
    assert len(context.messages) == 2


async def test_each_item_that_passes_the_budget_is_warned_of(engine, caplog):
    coordinator = coordinator_with(engine, injection_budget_per_turn=2)
    items = [
        ContextInjection(content="1234", hook_name="first"),
        ContextInjection(content="12345678", hook_name="second"),
        ContextInjection(content="1234", hook_name="third", ephemeral=True),
    ]
    result = HookResult(action="inject_context", context_injections=items)

    with caplog.at_level(logging.WARNING, "amplifier_core.coordinator"):
        await coordinator.process_hook_result(result, "e", "caller")

    said = "exceeds the injection budget of the turn"
    assert [record.getMessage() for record in caplog.records] == [
        f"hook `second` {said}: 1 tokens used, 2 more, 2 allowed",
        f"hook `third` {said}: 3 tokens used, 1 more, 2 allowed",
    ]
    assert coordinator._current_turn_injections == 4


@pytest.mark.parametrize("ephemeral", [True, False])
async def test_what_only_looks_like_a_result_is_carried_out_too(engine, ephemeral):
    context = Context()
    coordinator = coordinator_with(engine, context)
    older = SimpleNamespace(
        action="inject_context",
        context_injection="text",
        context_injection_role="user",
        ephemeral=ephemeral,
        append_to_last_tool_result=False,
        suppress_output=False,
        user_message=None,
        user_message_level="info",
        reason="kept",
    )

    left = await coordinator.process_hook_result(older, "e", "h")

    kept = ContextInjection(content="text", role="user", ephemeral=True, hook_name="h", event="e")
    assert left == (
        HookResult(
            action="inject_context",
            context_injection="text",
            context_injection_role="user",
            ephemeral=True,
            context_injections=[kept],
            reason="kept",
        )
        if ephemeral
        else HookResult(action="continue", reason="kept")
    )
    assert [message["content"] for message in context.messages] == ["text"][: not ephemeral]


async def test_a_wish_not_to_show_the_output_is_logged(engine, caplog):
    coordinator = coordinator_with(engine)
    with caplog.at_level(logging.DEBUG, "amplifier_core.coordinator"):
        for result in (HookResult(), HookResult(action="modify", suppress_output=True)):
            assert await coordinator.process_hook_result(result, "e", "quiet") is result

    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", "hook `quiet` suppresses the output")
    ]


async def test_a_failing_context_is_the_callers_to_know(engine):
    class Broken:
        async def add_message(self, message: dict[str, Any]) -> None:
            raise OSError("disk full")

    coordinator = coordinator_with(engine, Broken())
    result = HookResult(action="inject_context", context_injection="text")
    with pytest.raises(OSError, match="disk full"):
        await coordinator.process_hook_result(result, "e")


# Holds: differ-46
async def test_the_users_message_is_shown_and_the_result_returned_as_it_is(engine):
    display = Display()
    coordinator = coordinator_with(engine, display=display)
    result = HookResult(action="deny", user_message="stop", user_message_level="warning")

    assert await coordinator.process_hook_result(result, "e", "guard") is result
    named = HookResult(user_message="hi", user_message_source="other")
    assert await coordinator.process_hook_result(named, "e", "guard") is named
    assert display.shown == [("stop", "warning", "hook:guard"), ("hi", "info", "hook:other")]


# Holds: differ-47
async def test_a_message_is_shown_when_the_texts_are_written(engine):
    order: list[str] = []
    context = SimpleNamespace(add_message=lambda message: order.append(message["content"]))
    display = SimpleNamespace(show_message=lambda text, *_: order.append(text))
    coordinator = coordinator_with(engine, context, display=display)
    result = HookResult(action="inject_context", context_injection="written", user_message="shown")

    await coordinator.process_hook_result(result, "e")

    assert order == ["written", "shown"]


async def test_a_failing_display_is_logged_and_ignored(engine, caplog):
    class Broken:
        def show_message(self, *_: str) -> None:
            raise OSError("no terminal")

    coordinator = coordinator_with(engine, display=Broken())
    result = HookResult(user_message="hi")
    assert await coordinator.process_hook_result(result, "e", "h") is result
    assert "the display failed to show a message of hook `h`" in caplog.text


@pytest.mark.parametrize("answer", ["Allow", "allow once", "ALLOW ALWAYS"])
async def test_a_grant_continues_and_the_question_arrives_whole(engine, answer):
    approval = Approval(answer)
    coordinator = coordinator_with(engine, approval=approval)
    result = HookResult(
        action="ask_user",
        approval_prompt="Run it?",
        approval_timeout=5.0,
        approval_default="allow",
        user_message="not shown",
    )
    assert await coordinator.process_hook_result(result, "e") == HookResult(action="continue")
    assert approval.asked == [("Run it?", ["Allow", "Deny"], 5.0, "allow")]


# Holds: differ-49
async def test_what_was_asked_about_goes_on_when_it_is_granted(engine):
    data = {"tool_input": {"path": "a.txt"}}
    result = HookResult(action="ask_user", data=data, reason="not kept")
    timeout = Approval(ApprovalTimeoutError())
    for approval in (Approval("Allow"), timeout):
        asked = result.model_copy(update={"approval_default": "allow"})
        coordinator = coordinator_with(engine, approval=approval)
        left = await coordinator.process_hook_result(asked, "e")
        assert left == HookResult(action="continue", data=data)
        assert left.data is asked.data

    denied = coordinator_with(engine, approval=Approval("Deny"))
    left = await denied.process_hook_result(result, "e")
    assert left == HookResult(action="deny", reason="User denied: Allow this operation?")


# Holds: differ-50
@pytest.mark.parametrize(
    ("options", "answer", "action"),
    [
        (["Yes", "No"], "Yes", "continue"),
        (["Yes", "No"], "No", "deny"),
        (["No", "Yes"], "No", "deny"),
        (["No", "Yes"], "Yes", "continue"),
        (["No", "✅ Yes"], "✅ yes", "continue"),
        (["Run it", "Leave it"], "Run it", "deny"),
        (["Run it", "Leave it"], "Leave it", "deny"),
        (["Run it", "Leave it"], "something else", "deny"),
        (["Allow", "Deny"], "yes", "deny"),
        (["Allow", "Deny"], "Deny", "deny"),
    ],
)
async def test_options_of_the_callers_own_can_be_granted(engine, options, answer, action):
    coordinator = coordinator_with(engine, approval=Approval(answer))
    result = HookResult(action="ask_user", approval_prompt="Go?", approval_options=options)
    left = await coordinator.process_hook_result(result, "e")
    assert left == HookResult(
        action=action, reason="User denied: Go?" if action == "deny" else None
    )


@pytest.mark.parametrize("error", [ApprovalTimeoutError(), TimeoutError("late")])
@pytest.mark.parametrize("default", ["allow", "deny"])
async def test_a_timeout_takes_the_default_and_is_warned_of(engine, caplog, error, default):
    coordinator = coordinator_with(engine, approval=Approval(error))
    result = HookResult(action="ask_user", approval_prompt="x" * 300, approval_default=default)
    left = await coordinator.process_hook_result(result, "e")
    if default == "allow":
        assert left == HookResult(action="continue")
    else:
        prompt = "x" * 200 + "...[truncated]"
        reason = f"Approval timeout - denied by default: {prompt}"
        assert left == HookResult(action="deny", reason=reason)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", f"approval for hook `unknown` timed out; using its default `{default}`")
    ]


@pytest.mark.parametrize("error", [ApprovalTimeoutError(), TimeoutError("late"), None])
async def test_the_call_that_is_asked_about_knows_that_nobody_answered(engine, error):
    answer = anyio.sleep_forever if error is None else error
    coordinator = coordinator_with(engine, approval=Approval(answer))
    # No hook can ask for this; it is how the kernel's own timer ends at once.
    result = HookResult(action="ask_user").model_copy(update={"approval_timeout": -1.0})
    asked = AskedCall("q", "wipe", {})
    token = ASKED_CALL.set(asked)
    try:
        await coordinator.process_hook_result(result, "tool:pre", "guard")
    finally:
        ASKED_CALL.reset(token)
    assert asked.reply == Reply(words="", is_late=True)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (ApprovalResponse(approved=False, reason=" too early "), "too early"),
        (ApprovalResponse(approved=False), ""),
        (ApprovalResponse(approved=True, reason="fine"), ""),
    ],
)
async def test_the_call_that_is_asked_about_knows_what_a_denial_says(engine, response, words):
    class Person:
        async def request_approval(self, request: Any) -> ApprovalResponse:
            return response

    coordinator = coordinator_with(engine, approval=Person())
    asked = AskedCall("q", "wipe", {})
    token = ASKED_CALL.set(asked)
    try:
        left = await coordinator.process_hook_result(HookResult(action="ask_user"), "tool:pre")
    finally:
        ASKED_CALL.reset(token)
    assert left.action == ("continue" if response.approved else "deny")
    assert asked.reply == Reply(words=words, is_late=False)


# Holds: differ-52
async def test_the_kernel_itself_ends_an_approval_that_does_not_answer(engine):
    coordinator = coordinator_with(engine, approval=Approval(anyio.sleep_forever))
    result = HookResult(action="ask_user", approval_prompt="Go?").model_copy(
        # The second of grace is part of the limit, so this one is over at once.
        update={"approval_timeout": -1.0}
    )
    left = await coordinator.process_hook_result(result, "e")
    assert left.reason == "Approval timeout - denied by default: Go?"


async def test_an_answer_that_was_not_offered_is_warned_of(engine, caplog):
    coordinator = coordinator_with(engine, approval=Approval("perhaps"))
    left = await coordinator.process_hook_result(HookResult(action="ask_user"), "e")
    assert left == HookResult(action="deny", reason="User denied: Allow this operation?")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            "the approval system answered `perhaps`, which is not one of `Allow`, `Deny`; denying",
        )
    ]


async def test_without_an_approval_system_a_question_denies(engine):
    result = HookResult(action="ask_user")
    left = await coordinator_with(engine).process_hook_result(result, "e")
    assert left == HookResult(action="deny", reason="No approval system available")


async def test_other_errors_and_answers_of_an_approval_system_are_the_callers_to_know(engine):
    result = HookResult(action="ask_user")
    with pytest.raises(OSError, match="gone"):
        await coordinator_with(engine, approval=Approval(OSError("gone"))).process_hook_result(
            result, "e"
        )
    with pytest.raises(TypeError, match="not `int`"):
        await coordinator_with(engine, approval=Approval(5)).process_hook_result(result, "e")


async def test_a_dict_is_no_result(engine):
    with pytest.raises(AttributeError):
        await engine.ModuleCoordinator().process_hook_result({"action": "deny"}, "e")
