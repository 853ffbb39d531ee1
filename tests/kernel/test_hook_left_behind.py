"""Handlers with a time limit: what ignores its cancellation is left behind, and the emit goes on."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import subprocess
import sys
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core._kernel import timeout
from amplifier_core.models import HookResult

ENDS = ["never", "returns", "raises", "exits", "cancels", "group"]
"""What a handler does that has ignored its cancellation, once it is let go."""


class Stubborn:
    """A handler that ignores its cancellation so many times, then waits to be let go."""

    def __init__(self, ignored: int, end: str) -> None:
        self.ignored, self.end = ignored, end
        self.heard = 0
        self.go = asyncio.Event()
        self.is_over = asyncio.Event()

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        try:
            while self.heard < self.ignored:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.heard += 1
                    if self.end != "never":
                        break
            await self.go.wait()
            if self.end == "raises":
                raise ValueError("late")
            if self.end == "exits":
                raise SystemExit(3)
            if self.end == "cancels":
                raise asyncio.CancelledError
            if self.end == "group":
                raise BaseExceptionGroup("late", [KeyboardInterrupt()])
            return HookResult(action="deny", reason="late")
        finally:
            self.is_over.set()


class Told(logging.Handler):
    """Notes what the hooks' logger says."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())

    def __enter__(self) -> list[str]:
        logging.getLogger("amplifier_core.hooks").addHandler(self)
        return self.texts

    def __exit__(self, *_: object) -> None:
        logging.getLogger("amplifier_core.hooks").removeHandler(self)


async def let_go(stubborn: Stubborn) -> list[Any]:
    """Let a handler end that was left behind; return what the loop complains about."""
    unexpected: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda *found: unexpected.append(found))
    if stubborn.end != "never":
        stubborn.go.set()
        await asyncio.wait_for(stubborn.is_over.wait(), 60)
        await asyncio.sleep(0)
    gc.collect()
    return unexpected


def ignored_until(end: str) -> Stubborn:
    return Stubborn(1_000_000 if end == "never" else 1, end)


# Holds: differ-28, differ-29
@given(end=st.sampled_from(ENDS), fails_closed=st.booleans(), collects=st.booleans())
def test_what_ignores_its_cancellation_is_left_behind(engine, end, fails_closed, collects):
    async def turn() -> None:
        hooks, seen, stubborn = engine.HookRegistry(), [], ignored_until(end)
        hooks.register("e", stubborn, name="stubborn", timeout=0.001, fail_closed=fails_closed)
        hooks.register("e", lambda *_: seen.append("next"))
        with Told() as told:
            if collects:
                assert await hooks.emit_and_collect("e", {}, timeout=0.001) == []
            else:
                result = await hooks.emit("e", {})
                assert result.action == ("deny" if fails_closed else "continue")
        assert seen == ([] if fails_closed and not collects else ["next"])
        about = "hook `stubborn` on `e` did not end within 0.001 s and ignores its cancellation"
        assert told[0] == f"{about}; it is left behind, and its result is ignored"
        assert len(told) == 2  # and that it timed out
        assert await let_go(stubborn) == []

    asyncio.run(asyncio.wait_for(turn(), 120))


# Holds: differ-28
@given(end=st.sampled_from(ENDS), fails_closed=st.booleans())
def test_a_cancelled_emit_ends_whatever_its_handler_ignores(engine, end, fails_closed):
    async def turn() -> None:
        hooks, stubborn = engine.HookRegistry(), ignored_until(end)
        hooks.register("e", stubborn, name="stubborn", timeout=3600, fail_closed=fails_closed)
        task = asyncio.create_task(hooks.emit("e", {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with Told() as told, pytest.raises(asyncio.CancelledError):
            await task
        about = "hook `stubborn` on `e` ignores the cancellation of its caller"
        assert told == [f"{about}; it is left behind, and its result is ignored"]
        assert await let_go(stubborn) == []

    asyncio.run(asyncio.wait_for(turn(), 120))


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_scope_of_anyio_ends_an_emit_whose_handler_ignores_it(engine):
    hooks, stubborn = engine.HookRegistry(), ignored_until("never")
    hooks.register("e", stubborn, name="stubborn", timeout=3600)
    with Told() as told, anyio.move_on_after(0.001) as scope:
        await hooks.emit("e", {})
    assert scope.cancelled_caught
    assert len(told) == 1


# Holds: differ-29
async def test_an_approval_that_ignores_its_cancellation_is_left_behind(engine, monkeypatch):
    import amplifier_core._kernel.hook_effects as effects

    if not timeout._is_asyncio():
        pytest.skip("trio leaves nothing behind")
    monkeypatch.setattr(effects, "APPROVAL_GRACE_SECONDS", 0.0)

    class Approval:
        async def request_approval(self, *_: Any) -> str:
            return str(await ignored_until("never")("e", {}))

    coordinator = engine.ModuleCoordinator(
        type("S", (), {"session_id": "s", "parent_id": None, "config": {"session": {}}})(),
        approval_system=Approval(),
    )
    asks = HookResult(action="ask_user", approval_timeout=0.001, approval_default="deny")
    with Told() as told:
        result = await coordinator.process_hook_result(asks, "e", "gate")
    assert result.action == "deny"
    assert told[0].startswith("the approval for hook `gate` did not end within")


async def test_a_handler_that_obeys_its_time_limit_is_not_left_behind(engine):
    hooks, seen = engine.HookRegistry(), []

    async def cleans_up(event: str, data: dict[str, Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("cleaned up")

    hooks.register("e", cleans_up, name="slow", timeout=0)
    with Told() as told:
        await hooks.emit("e", {})
    assert seen == ["cleaned up"]
    assert told == ["hook `slow` timed out on `e`; continuing"]


@pytest.mark.parametrize(
    "error", [ValueError, asyncio.CancelledError, KeyboardInterrupt, SystemExit]
)
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_what_a_limited_handler_raises_is_judged_as_without_a_limit(engine, error):
    hooks = engine.HookRegistry()

    async def raises(event: str, data: dict[str, Any]) -> None:
        raise error("out")

    hooks.register("e", raises, timeout=60)
    if error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error, match="out"):
            await hooks.emit("e", {})
    else:
        assert (await hooks.emit("e", {})).action == "continue"


# Holds: differ-30
async def test_a_limited_handler_shares_the_context_of_its_caller(engine):
    hooks, seen = engine.HookRegistry(), []
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    async def sets(event: str, data: dict[str, Any]) -> None:
        seen.append(variable.get())
        await anyio.lowlevel.checkpoint()
        variable.set("by handler")

    hooks.register("e", sets, timeout=60)
    variable.set("by caller")
    await hooks.emit("e", {})
    assert seen == ["by caller"]
    assert variable.get() == "by handler"


def test_a_program_ends_without_what_was_left_behind():
    program = """
import asyncio, logging
from amplifier_core import HookRegistry
logging.disable()

async def never(event, data):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

async def main():
    hooks = HookRegistry()
    hooks.register("e", never, timeout=0.001)
    print((await hooks.emit("e", {})).action)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "continue\n", "")
