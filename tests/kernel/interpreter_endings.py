"""Ways in which a program can end while the kernel is in use: a script, run with their numbers.

Everything is left as it is: coroutines that wait, handlers that are registered, loops that are
open, threads that run. The endings run in the order of the numbers; the exit code must be 0.
"""

from __future__ import annotations

import asyncio
import atexit
import builtins
import contextlib
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import amplifier_core
from amplifier_core import AmplifierSession, CancellationToken, HookRegistry, ModuleCoordinator
from amplifier_core.models import HookResult

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}
hooks = HookRegistry()
kept: list[Any] = [hooks]
turns: list[str] = []


class Never:
    """An awaitable that never comes to its end."""

    def __await__(self) -> Any:
        while True:
            yield

    async def execute(self, prompt: str, **_: Any) -> None:
        turns.append(prompt)
        await self

    async def request_approval(self, *_: Any) -> None:
        await self


class Modules:
    """A loader whose modules are all the same: they never come to their end."""

    async def load(self, module_id: str, *_: Any, **__: Any) -> Any:
        slot = {"loop": "orchestrator"}.get(module_id, module_id)
        return lambda coordinator: coordinator.mount(slot, Never())

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...


async def waits(event: str, data: dict[str, Any]) -> None:
    await asyncio.Event().wait()


def begin(coroutine: Any) -> None:
    """Run a coroutine to its first suspension and keep it so."""
    coroutine.send(None)
    kept.append(coroutine)


def begin_on_a_loop(awaitable: Awaitable[Any]) -> None:
    """Leave a task pending on a loop that is neither run on nor closed."""
    loop = asyncio.new_event_loop()
    kept.extend([loop, loop.create_task(awaitable)])
    loop.call_soon(loop.stop)
    loop.run_forever()


def coroutines_that_nobody_awaits() -> None:
    session, coordinator = AmplifierSession(PLAN), ModuleCoordinator()
    kept.extend([hooks.emit("e", {}), hooks.emit_and_collect("e", {}), session.initialize()])
    kept.extend([session.cleanup(), coordinator.cleanup(), CancellationToken().trigger_callbacks()])
    kept.append(coordinator.process_hook_result(HookResult(), "e", "n"))


def a_running_emit_on_an_open_loop() -> None:
    hooks.register("waits", waits)
    begin_on_a_loop(hooks.emit("waits", {}))


def a_collecting_emit_with_a_timeout() -> None:
    hooks.register("waits", waits, timeout=60)
    begin_on_a_loop(hooks.emit_and_collect("waits", {}, timeout=60))


def an_emit_suspended_by_hand() -> None:
    own = HookRegistry()
    own.register("e", lambda *_: Never())
    begin(own.emit("e", {}))


def a_turn_in_the_middle() -> None:
    async def turn() -> None:
        session = AmplifierSession(PLAN, loader=Modules())
        await session.initialize()
        await session.execute("go")

    begin_on_a_loop(turn())
    assert turns == ["go"]


def an_approval_that_nobody_gives() -> None:
    coordinator = ModuleCoordinator(approval_system=Never())
    result = HookResult(action="ask_user", approval_prompt="?")
    begin_on_a_loop(coordinator.process_hook_result(result, "e", "n"))


def a_cancellation_in_the_middle() -> None:
    token = CancellationToken()
    token.on_cancel(Never)
    token.register_child(token)
    kept.append(token)
    begin(token.trigger_callbacks())


def cycles_with_finalizers() -> None:
    class Holder:
        def __init__(self) -> None:
            self.hooks = hooks
            hooks.register("held", self)

        def __call__(self, event: str, data: dict[str, Any]) -> None: ...

        def __del__(self) -> None:
            self.hooks.list_handlers()

    session = AmplifierSession(PLAN)
    session.coordinator.hooks.register("e", lambda *_: session)
    session.itself = session
    kept.append(Holder())


def objects_that_outlive_the_modules() -> None:
    session = AmplifierSession(PLAN)
    session.coordinator.hooks.register("e", waits)
    sys.kept_to_the_end = session  # type: ignore[attr-defined]
    builtins.kept_to_the_end = hooks.emit("e", {})  # type: ignore[attr-defined]


def an_emit_in_a_finalizer() -> None:
    class Late:
        def __del__(self) -> None:
            with contextlib.suppress(Exception):
                hooks.emit("late", {"late": True}).send(None)

    hooks.register("late", lambda *_: None)
    builtins.late = Late()  # type: ignore[attr-defined]


def emits_at_exit() -> None:
    hooks.register("exit", lambda event, data: kept.append(data))
    atexit.register(lambda: asyncio.run(hooks.emit("exit", {})))
    atexit.register(lambda: asyncio.run(AmplifierSession(PLAN).cleanup()))
    kept.append(weakref.finalize(HookRegistry, lambda: hooks.emit("exit", {}).close()))


def a_thread_that_emits_on() -> None:
    async def work() -> None:
        for number in range(20):
            await hooks.emit("work", {"number": number})
            await asyncio.sleep(0.001)

    hooks.register("work", lambda *_: time.sleep(0))
    threading.Thread(target=lambda: asyncio.run(work())).start()


def a_pool_that_has_work_left() -> None:
    pool = ThreadPoolExecutor(2)
    hooks.register("pooled", lambda *_: time.sleep(0.001))
    kept.extend(pool.submit(lambda: asyncio.run(hooks.emit("pooled", {"a": 1}))) for _ in range(10))


def a_daemon_thread_with_an_idle_loop() -> None:
    def idle() -> None:
        loop = asyncio.new_event_loop()
        kept.append(loop.create_task(hooks.emit("waits", {})))
        loop.call_soon(begun.set)
        loop.run_forever()

    begun = threading.Event()
    hooks.register("waits", waits)
    threading.Thread(target=idle, daemon=True).start()
    begun.wait()


def daemon_threads_that_emit_on() -> None:
    own, begun = HookRegistry(), threading.Barrier(3)
    own.register("e", lambda *_: time.sleep(0))
    asyncio.run(own.emit("e", {}))  # a daemon thread that is ended while it imports holds a lock

    async def emit() -> None:
        begun.wait()
        while True:
            await own.emit("e", {})

    def work() -> None:
        with contextlib.suppress(RuntimeError):  # the kernel is refused to them at the end
            asyncio.run(emit())

    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()
    begun.wait()


def decoders_and_walks_in_the_middle() -> None:
    from amplifier_guard import PathPolicy
    from amplifier_stream import SseDecoder, StreamDecoder

    decoder, frames = StreamDecoder("anthropic"), SseDecoder()
    decoder.feed(b"event: message_start\ndata: {")
    frames.feed(b"data: half")
    policy = PathPolicy(tempfile.gettempdir())
    kept.extend([decoder, frames, policy])


def an_emit_under_trio() -> None:
    import trio

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hooks.emit, "trio", {})
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        kept.append(hooks.emit("trio", {}))

    async def sleeps(event: str, data: dict[str, Any]) -> None:
        await trio.sleep_forever()

    unregister = hooks.register("trio", sleeps)
    trio.run(run)
    unregister()


def an_exit_in_a_handler() -> None:
    hooks.register("leave", lambda *_: sys.exit(0))
    asyncio.run(hooks.emit("leave", {}))


def an_exit_among_other_tasks() -> None:
    async def leave(event: str, data: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        sys.exit(0)

    async def main() -> None:
        hooks.register("leave", leave)
        kept.append(asyncio.create_task(hooks.emit("waits", {})))
        await hooks.emit("leave", {})

    hooks.register("waits", waits)
    asyncio.run(main())


def an_exit_under_trio() -> None:
    import trio

    async def leave(event: str, data: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        sys.exit(0)

    hooks.register("leave", leave)
    trio.run(hooks.emit, "leave", {})


ENDINGS: list[Callable[[], None]] = [
    coroutines_that_nobody_awaits,
    a_running_emit_on_an_open_loop,
    a_collecting_emit_with_a_timeout,
    an_emit_suspended_by_hand,
    a_turn_in_the_middle,
    an_approval_that_nobody_gives,
    a_cancellation_in_the_middle,
    cycles_with_finalizers,
    objects_that_outlive_the_modules,
    an_emit_in_a_finalizer,
    emits_at_exit,
    a_thread_that_emits_on,
    a_pool_that_has_work_left,
    a_daemon_thread_with_an_idle_loop,
    daemon_threads_that_emit_on,
    decoders_and_walks_in_the_middle,
    an_emit_under_trio,
    an_exit_in_a_handler,
    an_exit_among_other_tasks,
    an_exit_under_trio,
]
"""What leaves the program by itself stands at the end: nothing runs behind it."""


if __name__ == "__main__":
    assert amplifier_core.RUST_AVAILABLE
    for number in sorted(map(int, sys.argv[1:])):
        ENDINGS[number]()
