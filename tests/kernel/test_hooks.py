"""The hook registry: order, precedence, and what a handler may do."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from amplifier_core.models import ContextInjection, HookResult

sys.path.insert(0, str(Path(__file__).parent))
from hook_recorder import recorder, without_time


async def test_lower_priorities_run_first_and_equal_ones_in_order_of_registration(engine):
    hooks, order = engine.HookRegistry(), []
    for name, priority in [("late", 10), ("first", 0), ("second", 0), ("early", -5)]:
        hooks.register("tool:pre", lambda *_, name=name: order.append(name), priority, name)

    await hooks.emit("tool:pre", {})

    assert order == ["early", "first", "second", "late"]
    assert hooks.list_handlers("tool:pre") == {"tool:pre": order}


async def test_a_denial_stops_later_hooks(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks.register("tool:pre", recorder(seen, HookResult(action="deny", reason="no network")))
    hooks.register("tool:pre", recorder(seen), priority=10)

    result = await hooks.emit("tool:pre", {"tool": "web"})

    assert result == HookResult(action="deny", reason="no network")
    assert len(seen) == 1


async def test_a_modification_replaces_the_payload_of_later_hooks_and_of_the_result(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks.register("e", lambda *_: {"action": "modify", "data": {"only": 1}})
    hooks.register("e", recorder(seen))

    result = await hooks.emit("e", {"gone": True})

    assert seen == [("e", {"only": 1})]
    assert result == HookResult(action="continue", data={"only": 1})


async def test_the_first_question_wins_over_injections_and_later_questions(engine):
    hooks = engine.HookRegistry()
    first = HookResult(action="ask_user", approval_prompt="first?")
    hooks.register("e", lambda *_: HookResult(action="inject_context", context_injection="x"))
    hooks.register("e", lambda *_: first)
    hooks.register("e", lambda *_: HookResult(action="ask_user", approval_prompt="second?"))

    assert await hooks.emit("e", {}) == first


# Holds: differ-21
@pytest.mark.parametrize("action", ["inject_context", "ask_user"])
async def test_what_a_hook_changed_is_not_lost_when_another_injects_or_asks(engine, action):
    hooks, unchanged = engine.HookRegistry(), object()
    asked = HookResult(action=action, context_injection="look", approval_prompt="sure?")
    hooks.register("e", lambda *_: asked)
    assert (await hooks.emit("e", {"kept": unchanged})).data is None

    def changes(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "k": 2})

    hooks.register("e", changes)
    result = await hooks.emit("e", {"kept": unchanged, "k": 1})

    assert result.action == action
    assert asked.data is None
    result.data.pop("timestamp")
    assert result.data == {"kept": unchanged, "k": 2}


# Holds: differ-22
async def test_what_hooks_say_to_the_user_reaches_the_display(engine):
    shown: list[tuple[str, ...]] = []
    display = SimpleNamespace(show_message=lambda *message: shown.append(message))
    coordinator = engine.ModuleCoordinator(None, None, display)
    hooks = coordinator.hooks
    hooks.register("e", lambda *_: HookResult(user_message="saved"))
    hooks.register("e", lambda *_: {"user_message": "slow", "user_message_level": "warning"})

    await coordinator.process_hook_result(await hooks.emit("e", {}), "e", "loop")

    assert shown == [("saved\nslow", "warning", "hook:loop")]


@pytest.mark.parametrize("field", ["user_message", "suppress_output", "user_message_source"])
async def test_what_is_said_in_a_wrong_type_says_nothing(engine, field):
    hooks = engine.HookRegistry()
    odd = HookResult(user_message="kept").model_copy(update={field: object()})
    hooks.register("e", lambda *_: odd)

    said = "kept" if field != "user_message" else None
    assert without_time(await hooks.emit("e", {})) == HookResult(data={}, user_message=said)


async def test_injections_merge_in_order_and_cannot_forge_their_origin(engine):
    hooks = engine.HookRegistry()
    forged = ContextInjection(content="b", role="user", hook_name="kernel", event="fake")
    hooks.register(
        "e",
        lambda *_: HookResult(
            action="inject_context", context_injection="a", ephemeral=True, reason="dropped"
        ),
        name="one",
    )
    hooks.register(
        "e",
        lambda *_: HookResult(action="inject_context", context_injections=[forged]),
        name="two",
    )

    assert await hooks.emit("e", {}) == HookResult(
        action="inject_context",
        context_injection="a\n\nb",
        ephemeral=True,
        context_injections=[
            ContextInjection(content="a", ephemeral=True, hook_name="one", event="e"),
            ContextInjection(content="b", role="user", hook_name="two", event="e"),
        ],
    )


async def test_a_single_injection_keeps_the_other_fields_of_its_result(engine):
    hooks = engine.HookRegistry()
    answer = HookResult(action="inject_context", context_injection="", reason="kept", data={"k": 1})
    hooks.register("e", lambda *_: answer, name="only")

    assert await hooks.emit("e", {}) == answer.model_copy(
        update={"context_injections": [ContextInjection(content="", hook_name="only", event="e")]}
    )


async def test_handlers_emit_from_inside(engine):
    hooks, seen = engine.HookRegistry(), []

    async def outer(event: str, data: dict[str, Any]) -> None:
        inner = await hooks.emit("inner", {"from": event})
        seen.append(inner.data["from"])

    hooks.register("outer", outer)
    hooks.register("inner", recorder(seen))

    await hooks.emit("outer", {})

    assert [one if isinstance(one, str) else one[0] for one in seen] == ["inner", "outer"]


async def test_what_a_handler_registers_or_unregisters_counts_from_the_next_emit_on(engine):
    hooks, order = engine.HookRegistry(), []

    async def changes(event: str, data: dict[str, Any]) -> None:
        order.append("changes")
        hooks.register("e", lambda *_: order.append("new"), name="new")
        hooks.unregister("old")
        undo()

    undo = hooks.register("e", changes, name="changes")
    hooks.register("e", lambda *_: order.append("old"), name="old")

    await hooks.emit("e", {})
    assert order == ["changes", "old"]

    await hooks.emit("e", {})
    assert order == ["changes", "old", "new"]
    assert hooks.list_handlers() == {"e": ["new"]}


async def test_handlers_are_those_of_the_first_step_and_the_data_that_of_the_call(engine):
    hooks, seen = engine.HookRegistry(), []
    data = {"k": 1}
    pending = hooks.emit("e", data)
    hooks.register("e", recorder(seen))
    await pending
    assert len(seen) == 1

    pending = hooks.emit("e", data)
    data["k"] = 2
    await pending
    assert seen[1][1]["k"] == 1


# Holds: differ-19
async def test_a_handle_removes_its_own_registration_and_a_name_all_of_them(engine):
    hooks = engine.HookRegistry()
    first = hooks.register("a", print, name="same")
    hooks.register("b", print, name="same")
    hooks.register("b", print, name="other")

    assert repr(first) == "<unregister 'same'>"
    first()
    first()
    assert hooks.list_handlers() == {"a": [], "b": ["same", "other"]}

    hooks.unregister("same")
    hooks.unregister("unknown")
    assert hooks.list_handlers() == {"a": [], "b": ["other"]}
    assert hooks.list_handlers("nope") == {"nope": []}


async def test_events_carry_the_defaults_below_and_a_sortable_time_above(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks.register("e", recorder(seen))
    hooks.set_default_fields(session_id="s", parent_id=None)

    first = await hooks.emit("e", {"session_id": "mine", "timestamp": "forged"})
    second = await hooks.emit("e", {})

    assert [list(data) for _, data in seen] == [["session_id", "parent_id", "timestamp"]] * 2
    assert (seen[0][1]["session_id"], seen[1][1]["session_id"]) == ("mine", "s")
    assert first.data["timestamp"] < second.data["timestamp"]
    assert first.data["timestamp"].endswith("+00:00")

    hooks.set_default_fields(other=1)
    assert list((await hooks.emit("e", {})).data) == ["other", "timestamp"]


# Holds: differ-14
async def test_without_handlers_the_data_comes_back_as_it_is(engine):
    hooks = engine.HookRegistry()
    hooks.set_default_fields(session_id="s")
    data = {"nested": {5: (1, 2)}}

    result = await hooks.emit("e", data)

    assert result == HookResult(action="continue", data=data)
    assert result.data["nested"] is data["nested"]


@pytest.mark.parametrize("data", [None, "text", 5, [1, {"k": 2}]])
async def test_data_that_is_no_mapping_reaches_handlers_as_it_is(engine, data):
    hooks, seen = engine.HookRegistry(), []
    assert (await hooks.emit("e", data)).data == {}
    hooks.register("e", recorder(seen))

    assert (await hooks.emit("e", data)).data == {}
    assert seen == [("e", data)]


async def test_model_events_bear_the_id_of_their_request(engine):
    hooks, seen = engine.HookRegistry(), []
    for event in ("llm:request", "llm:response", "tool:pre"):
        hooks.register(event, recorder(seen))

    await hooks.emit("llm:request", {})
    await hooks.emit("tool:pre", {})
    await hooks.emit("llm:response", {})
    await hooks.emit("llm:response", {"request_id": "own"})

    request, tool, response, explicit = (data.get("request_id") for _, data in seen)
    assert request
    assert request == response
    assert tool is None
    assert explicit == "own"


@pytest.mark.parametrize("odd", ["", None, 5, ["id"]])
async def test_what_is_no_id_of_a_request_is_none(engine, odd):
    hooks, seen = engine.HookRegistry(), []
    request = await hooks.emit("llm:request", {"request_id": odd})
    hooks.register("provider:retry", recorder(seen))

    await hooks.emit("provider:retry", {"request_id": odd})
    response = await hooks.emit("llm:response", {})

    ids = [request.data["request_id"], seen[0][1]["request_id"], response.data["request_id"]]
    assert ids == [str(UUID(ids[0]))] * 3


# Holds: differ-15
async def test_emit_returns_a_native_coroutine_with_the_name_of_its_method(engine):
    hooks = engine.HookRegistry()
    coroutine = hooks.emit("e", {})

    assert inspect.iscoroutine(coroutine)
    assert coroutine.__qualname__ == f"{engine.HookRegistry.__name__}.emit"
    await coroutine
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        await coroutine


def test_a_coroutine_that_was_never_awaited_can_be_closed(engine):
    hooks = engine.HookRegistry()
    hooks.emit("e", {}).close()
    hooks.emit_and_collect("e", "text").close()


def test_registries_in_cycles_are_collected(engine):
    hooks = engine.HookRegistry()

    class Handler:
        def __init__(self, hooks: engine.HookRegistry) -> None:
            self.hooks = hooks

        def __call__(self, event: str, data: dict[str, Any]) -> None: ...

    handler = Handler(hooks)
    handler.undo = hooks.register("e", handler)
    handler.pending = hooks.emit("e", {"k": [1]})
    handler.pending.close()
    gone = weakref.ref(handler)
    del hooks, handler
    gc.collect()

    assert gone() is None


# Holds: differ-34
def test_registries_take_attributes_subclasses_and_weak_references(engine):
    class Own(engine.HookRegistry):
        pass

    hooks = Own()
    hooks.extra = 1
    assert weakref.ref(hooks)() is hooks
    assert hooks.extra == 1
    assert repr(hooks) == "<Own: 0 handlers on 0 events>"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((5, print), TypeError), (("e", print, 1.5), TypeError), (("e", print, 2**31), OverflowError)],
)
def test_a_wrong_registration_is_refused(engine, arguments, error):
    with pytest.raises(error):
        engine.HookRegistry().register(*arguments)
