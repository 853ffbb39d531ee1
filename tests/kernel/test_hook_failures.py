"""Handlers that raise, hang or answer nonsense, and what cannot be a handler."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult

sys.path.insert(0, str(Path(__file__).parent))
from hook_recorder import recorder, without_time


async def test_a_handler_that_raises_is_skipped_and_reported(engine, caplog):
    hooks, seen = engine.HookRegistry(), []

    async def fails(event: str, data: dict[str, Any]) -> None:
        raise ValueError("broken")

    def fails_at_once(event: str, data: dict[str, Any]) -> None:
        raise KeyError("at once")

    hooks.register("e", fails, name="later")
    hooks.register("e", fails_at_once, name="now")
    hooks.register("e", recorder(seen))

    with caplog.at_level(logging.ERROR, "amplifier_core.hooks"):
        result = await hooks.emit("e", {"k": 1})

    assert without_time(result) == HookResult(action="continue", data={"k": 1})
    assert len(seen) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "hook `later` failed on `e`; continuing",
        "hook `now` failed on `e`; continuing",
    ]


# Holds: differ-25
@pytest.mark.parametrize("plain", [True, False])
async def test_a_failure_denies_where_its_registration_fails_closed(engine, caplog, plain):
    hooks, seen = engine.HookRegistry(), []

    def fails_at_once(event: str, data: dict[str, Any]) -> None:
        raise ValueError("broken")

    async def fails(event: str, data: dict[str, Any]) -> None:
        raise ValueError("broken")

    handler = fails_at_once if plain else fails
    hooks.register("e", handler, name="guard", fail_closed=True)
    hooks.register("e", recorder(seen))

    result = await hooks.emit("e", {})

    assert result == HookResult(action="deny", reason="hook `guard` failed on `e`")
    assert seen == []
    assert caplog.records[0].getMessage() == "SECURITY: hook `guard` failed on `e`; denying"


@pytest.mark.parametrize("fail_closed", [True, False])
async def test_a_handler_over_its_own_time_has_failed(engine, caplog, fail_closed):
    import anyio

    hooks, seen = engine.HookRegistry(), []

    async def hangs(event: str, data: dict[str, Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("cancelled")

    hooks.register("e", hangs, name="slow", fail_closed=fail_closed, timeout=0)
    hooks.register("e", recorder(seen))

    result = await hooks.emit("e", {"k": 1})

    if fail_closed:
        reason = "hook `slow` timed out on `e`"
        assert result == HookResult(action="deny", reason=reason)
        assert seen == ["cancelled"]
    else:
        assert without_time(result) == HookResult(action="continue", data={"k": 1})
        assert [one if isinstance(one, str) else one[0] for one in seen] == ["cancelled", "e"]
    assert "hook `slow` timed out on `e`" in caplog.text


async def test_an_answer_within_its_time_counts(engine):
    hooks = engine.HookRegistry()
    hooks.register("e", recorder([], HookResult(action="deny", reason="no")), timeout=60)
    assert await hooks.emit("e", {}) == HookResult(action="deny", reason="no")


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration])
async def test_an_iteration_end_raised_by_a_plain_handler_forges_no_result(engine, caplog, error):
    hooks = engine.HookRegistry()

    def forges(event: str, data: dict[str, Any]) -> None:
        raise error(HookResult(action="deny", reason="forged"))

    hooks.register("e", forges)

    assert (await hooks.emit("e", {})).action == "continue"
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "deny",
        1,
        True,
        ["deny"],
        object(),
        {"action": "explode"},
        {"action": "deny", "reason": 5},
        HookResult(action="modify").model_copy(update={"data": "text"}),
        HookResult().model_copy(update={"action": None}),
    ],
)
async def test_an_answer_that_cannot_be_understood_denies(engine, caplog, answer):
    hooks = engine.HookRegistry()
    hooks.register("e", lambda *_: answer)

    result = await hooks.emit("e", {})

    assert result == HookResult(action="deny", reason="Hook handler returned invalid response")
    assert caplog.records[0].getMessage().startswith("SECURITY:")


# Holds: differ-18
async def test_callable_objects_bound_methods_and_awaitable_objects_are_handlers(engine):
    hooks, seen = engine.HookRegistry(), []

    class Later:
        def __await__(self):
            seen.append("awaited")
            yield from ()
            return HookResult(action="continue")

    class Handler:
        async def __call__(self, event: str, data: dict[str, Any]) -> None:
            seen.append("called")

        async def method(self, event: str, data: dict[str, Any]) -> None:
            seen.append("method")

        def plain(self, event: str, data: dict[str, Any]) -> Later:
            return Later()

    handler = Handler()
    for one in (handler, handler.method, handler.plain):
        hooks.register("e", one)

    assert (await hooks.emit("e", {})).action == "continue"
    assert seen == ["called", "method", "awaited"]


# Holds: differ-119
@pytest.mark.parametrize("register", ["register", "on"])
@pytest.mark.parametrize("handler", [None, HookResult(), "deny"])
def test_what_cannot_be_called_is_refused_as_a_handler(engine, register, handler):
    hooks = engine.HookRegistry()
    message = (
        f"the handler of `tool:pre` cannot be called, found `{type(handler).__name__}` "
        "(must be a function of the event and its data)"
    )

    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        getattr(hooks, register)("tool:pre", handler, name="nothing")

    assert hooks.list_handlers("tool:pre") == {"tool:pre": []}
