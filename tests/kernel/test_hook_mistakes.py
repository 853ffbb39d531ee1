"""Answers of hooks that say what has no effect, and handlers that no event can call."""

from __future__ import annotations

import functools
import logging
import pickle
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core._hook_result import UNKNOWN_KEYS, read_hook_result
from amplifier_core._kernel.answer_mistakes import refuse_mistakes
from amplifier_core.models import HookResult

HERE = __name__
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": (
        {"actoin": "deny"},
        "the unknown key `actoin` (did you mean `action`?)",
    ),
    "two": (
        {"action": "deny", "resaon": "no", "colour": 1},
        "the unknown key `resaon` (did you mean `reason`?) and the unknown key `colour`",
    ),
    "modify": ({"action": "modify"}, "`modify` and no `data`"),
    "inject": (
        {"action": "inject_context"},
        "`inject_context` and no text in `context_injection` or `context_injections`",
    ),
}


def answering(answer: Any) -> Any:
    def gate(event: str, data: dict[str, Any]) -> Any:
        return answer

    return gate


WHERE = f"{HERE}.answering.<locals>.gate"


# Holds: differ-24
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.integers(), max_size=5))
def test_a_result_remembers_the_keys_that_it_has_no_field_for_beside_all_that_it_says(extra):
    extra = {key: value for key, value in extra.items() if key not in HookResult.model_fields}
    plain = HookResult(action="deny", reason="no")
    for result in (
        HookResult(action="deny", reason="no", **extra),
        HookResult.model_validate({"action": "deny", "reason": "no", **extra}),
        read_hook_result({"action": "deny", "reason": "no", **extra}),
    ):
        assert result.__dict__.get(UNKNOWN_KEYS, ()) == tuple(extra)
        assert (result, repr(result), dict(result)) == (plain, repr(plain), dict(plain))
        assert result.model_dump_json() == plain.model_dump_json()
        assert pickle.dumps(result) == pickle.dumps(plain)
        assert pickle.loads(pickle.dumps(result)).__dict__ == plain.__dict__
        assert result.model_copy().__dict__ == result.__dict__


def outcome(make: Callable[..., HookResult], *args: Any, **fields: Any) -> Any:
    try:
        result = make(*args, **fields)
    except ValidationError as error:
        return str(error)
    return result.__dict__, result.model_fields_set, type(result)


@given(
    st.dictionaries(
        st.sampled_from([*HookResult.model_fields, "actoin", "self"]),
        st.sampled_from(["deny", "system", "5", 5, 1.5, None, True, [], [{"content": "x"}], {}]),
        max_size=4,
    )
)
def test_a_result_is_the_same_however_it_is_made(fields):
    made = outcome(HookResult, **fields)
    assert made == outcome(HookResult.model_validate, fields)
    assert made == outcome(read_hook_result, fields)


def test_a_subclass_with_further_fields_or_aliases_has_no_unknown_keys():
    class Wider(HookResult):
        note: str = ""

    class Open(HookResult, extra="allow"):
        pass

    assert UNKNOWN_KEYS not in Wider(note="x").__dict__
    assert Wider(note="x", nite="x").__dict__[UNKNOWN_KEYS] == ("nite",)
    assert UNKNOWN_KEYS not in Open(note="x").__dict__


# Holds: differ-23
@pytest.mark.parametrize("form", ["result", "dict"])
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_strict_session_refuses_a_step_whose_judge_answers_with_a_mistake(
    engine, mistake, form, caplog
):
    fields, words = MISTAKES[mistake]
    hooks = engine.HookRegistry()
    refuse_mistakes(hooks)
    answer = fields if form == "dict" else HookResult(**fields)
    hooks.register("tool:pre", answering(answer), name="gate")
    hooks.register("tool:pre", answering(HookResult(action="continue")), priority=1)

    with caplog.at_level(logging.ERROR, "amplifier_core.hooks"):
        decided = await hooks.emit("tool:pre", {"tool_name": "wipe"})

    said = f"hook `gate` (`{WHERE}`) answered `tool:pre` with {words}"
    assert decided == HookResult(action="deny", reason=said)
    assert caplog.messages == [f"SECURITY: {said}; denying"]


@pytest.mark.parametrize(
    "event",
    [
        "prompt:submit",
        "provider:request",
        "tool:pre",
        "tool:post",
        "orchestrator:steering_submitted",
        "orchestrator:goal_progress",
    ],
)
async def test_each_judged_event_is_refused_in_a_strict_session(engine, event):
    hooks = engine.HookRegistry()
    refuse_mistakes(hooks)
    hooks.register(event, answering({"actoin": "deny"}))
    assert (await hooks.emit(event, {})).action == "deny"


async def test_an_event_that_nobody_judges_goes_on_in_a_strict_session(engine, caplog):
    hooks = engine.HookRegistry()
    refuse_mistakes(hooks)
    hooks.register("session:start", answering({"actoin": "deny"}))
    assert (await hooks.emit("session:start", {})).action == "continue"
    said = "the unknown key `actoin` (did you mean `action`?), which has no effect"
    assert caplog.messages == [f"hook `{WHERE}` answered `session:start` with {said}"]


# Holds: differ-23
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_other_sessions_log_each_mistake_of_a_handler_once_and_go_on(engine, mistake, caplog):
    fields, words = MISTAKES[mistake]
    hooks = engine.HookRegistry()
    hooks.register("tool:pre", answering(HookResult(**fields)), name="gate")
    hooks.register("tool:post", answering(HookResult(**fields)), name="other")
    expected = "deny" if fields.get("action") == "deny" else "continue"
    for event in ("tool:pre", "tool:post", "tool:pre", "tool:post"):
        assert (await hooks.emit(event, {})).action == expected
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            f"hook `{name}` (`{WHERE}`) answered `{event}` with {words}, which has no effect",
        )
        for name, event in (("gate", "tool:pre"), ("other", "tool:post"))
    ]


async def test_a_handler_that_is_no_function_is_named_by_its_class_or_by_what_it_calls(
    engine, caplog
):
    answer = HookResult(action="modify")
    hooks = engine.HookRegistry()
    gate = answering(answer)
    hooks.register("e", Mock(return_value=answer))
    hooks.register("e", functools.partial(lambda answer, event, data: gate(event, data), answer))
    await hooks.emit("e", {})
    names = ["unittest.mock.Mock", f"{HERE}.{THIS}.<locals>.<lambda>"]
    said = "answered `e` with `modify` and no `data`, which has no effect"
    assert caplog.messages == [f"hook `{name}` {said}" for name in names]


THIS = "test_a_handler_that_is_no_function_is_named_by_its_class_or_by_what_it_calls"


async def test_what_is_collected_warns_of_unknown_keys_too(engine, caplog):
    hooks = engine.HookRegistry()
    hooks.register("e", answering({"data": {"a": 1}, "rules": []}), name="gate")
    hooks.register("e", answering({"action": "modify"}), name="silent")
    for _ in range(2):
        assert await hooks.emit_and_collect("e", {}) == [{"a": 1}]
    assert caplog.messages == [
        f"hook `gate` (`{WHERE}`) answered `e` with the unknown key `rules`, which has no effect"
    ]


async def test_what_has_an_effect_is_no_mistake(engine, caplog):
    hooks = engine.HookRegistry()
    refuse_mistakes(hooks)
    for answer in (
        None,
        {},
        HookResult(),
        HookResult(action="modify", data={"a": 1}),
        HookResult(action="modify", data={}),
        HookResult(action="inject_context", context_injection=""),
        HookResult(action="inject_context", context_injection="text"),
    ):
        hooks.register("tool:pre", answering(answer))
    assert (await hooks.emit("tool:pre", {})).action == "inject_context"
    assert caplog.messages == []


async def test_what_an_observer_answers_is_no_mistake(engine, caplog):
    hooks = engine.HookRegistry()
    refuse_mistakes(hooks)
    hooks.observe(answering({"actoin": "deny"}))
    assert (await hooks.emit("tool:pre", {})).action == "continue"
    assert caplog.messages == []


def right(event: str, data: dict[str, Any]) -> None: ...
def with_defaults(event: str = "", data: Any = None, *, more: int = 1) -> None: ...
def of_any(*args: Any) -> None: ...
def of_rest(event: str, *rest: Any, **named: Any) -> None: ...
def of_three(first: int, event: str, data: Any) -> None: ...


@functools.wraps(right)
def wrapping(*args: Any, **named: Any) -> None: ...


class Judge:
    def __call__(self, event: str, data: Any) -> None: ...
    def method(self, event: str, data: Any) -> None: ...
    async def later(self, event: str, data: Any) -> None: ...
    @classmethod
    def of_class(cls, event: str, data: Any) -> None: ...
    @staticmethod
    def of_nothing(event: str, data: Any) -> None: ...
    def of_data(self, data: Any) -> None: ...


class Needy:
    def __call__(self, data: Any) -> None: ...


RIGHT = [
    right, with_defaults, of_any, of_rest, wrapping, lambda event, data, found=1: None,
    functools.partial(of_three, 1), functools.partial(with_defaults, more=2),
    Judge(), Judge().method, Judge().later, Judge().of_class, Judge.of_class, Judge.of_nothing,
    Mock(), AsyncMock(), MagicMock(), AsyncMock(spec=right), print, max, dict.update,
    functools.lru_cache(right),
]  # fmt: skip


def of_one(data: Any) -> None: ...
def of_named(event: str, *, data: Any) -> None: ...
def of_named_more(event: str, data: Any, *, more: int) -> None: ...
def of_nothing() -> None: ...


@functools.wraps(right)
def wrapping_one(data: Any) -> None: ...


WRONG = {
    "of_one": (of_one, "(data: 'Any') -> 'None'"),
    "of_nothing": (of_nothing, "() -> 'None'"),
    "of_three": (of_three, "(first: 'int', event: 'str', data: 'Any') -> 'None'"),
    "of_named": (of_named, "(event: 'str', *, data: 'Any') -> 'None'"),
    "of_named_more": (of_named_more, "(event: 'str', data: 'Any', *, more: 'int') -> 'None'"),
    "right": (wrapping_one, "(data: 'dict[str, Any]') -> 'None'"),
    "Judge.of_data": (Judge().of_data, "(data: 'Any') -> 'None'"),
    "Judge.method": (Judge.method, "(self, event: 'str', data: 'Any') -> 'None'"),
    "Needy": (Needy(), "(data: 'Any') -> 'None'"),
}


# Holds: differ-119
@pytest.mark.parametrize("handler", RIGHT)
def test_whatever_can_be_called_with_an_event_and_its_data_can_be_registered(engine, handler):
    hooks = engine.HookRegistry()
    for register in (hooks.register, hooks.on):
        register("e", handler)()
    hooks.observe(handler)()
    assert hooks.list_handlers("e") == {"e": []}


# Holds: differ-119
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_called_with_an_event_and_its_data_cannot_be_registered(engine, name):
    handler, signature = WRONG[name]
    hooks = engine.HookRegistry()
    for where, register in {
        "`e`": lambda: hooks.register("e", handler),
        "`f`": lambda: hooks.on("f", handler),
        "every event": lambda: hooks.observe(handler),
    }.items():
        with pytest.raises(TypeError) as raised:
            register()
        assert str(raised.value) == (
            f"the handler `{HERE}.{name}` of {where} takes `{signature}` (must be a function of"
            " the event and its data, such as `def handle(event, data)`)"
        )
    assert hooks.list_handlers() == {}
