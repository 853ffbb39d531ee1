"""Tests of calls that are cancelled."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse
from amplifier_providers.answers.pieces import text_of_piece

from ..servers import Fault
from .base import KitBase, wait_until
from .bench import Bench
from .conversation import MIXED, essence_of, make_question, scripted_text
from .failing import fail, write_fault
from .stepping import Cancelled, cancelled_at

_MOST_CONNECTIONS = 2
"""Connections that one call after another leaves open: one to use again, one on its way out."""
_MOST_AWAITS = 2_000


class CancellationTests(KitBase):
    """What a call leaves behind that somebody cancels."""

    def test_a_call_can_be_cancelled_at_every_await(self, backend: str) -> None:
        """The cancellation comes out, the connection is closed, and the next call works."""

        async def check() -> None:
            async with self.bench() as bench:
                await _cancel_everywhere(
                    bench, "complete", lambda: bench.provider.complete(make_question())
                )

        self.run(check, backend)

    def test_chunks_can_be_cancelled_at_every_await(self, backend: str) -> None:
        """The same of who iterates over `chunks`."""

        async def check() -> None:
            async with self.bench() as bench:
                chunks = self.chunks_of(bench)

                async def all_of_them() -> ChatResponse | str:
                    pieces = [piece async for piece in chunks(make_question())]
                    last = pieces[-1] if pieces else None
                    if isinstance(last, ChatResponse):
                        return last
                    return "".join(map(text_of_piece, pieces))

                await _cancel_everywhere(bench, "chunks", all_of_them)

        self.run(check, backend)

    def test_chunks_can_be_left_at_every_piece(self, backend: str) -> None:
        """Who stops to iterate and closes the generator leaves no connection open."""

        async def check() -> None:
            async with self.bench() as bench:
                chunks = self.chunks_of(bench)
                for count in range(len(scripted_text(MIXED))):
                    bench.server.answers = [MIXED] * 3
                    pieces = chunks(make_question())
                    for _ in range(count):
                        if await anext(pieces, None) is None:
                            break
                    await pieces.aclose()
                    await _expect_few_connections(bench, f"`chunks` was left after {count} pieces")
                response = await bench.ask(MIXED)
                if not essence_of(response):
                    fail("after `chunks` was left the next call has no answer")

        self.run(check, backend)

    def test_a_call_that_waits_for_the_service_can_be_cancelled(self, backend: str) -> None:
        """Silence before or in an answer is no reason to stay: the connection is closed."""

        async def check() -> None:
            async with self.bench() as bench:
                await bench.ask(MIXED)
                for fault in (Fault(silent=True), Fault(stall=0), Fault(stall=300)):
                    bench.server.answers, bench.server.faults = [MIXED] * 3, [fault]
                    bench.server.requests.clear()
                    has_arrived = False
                    async with anyio.create_task_group() as group:
                        group.start_soon(bench.provider.complete, make_question())
                        has_arrived = await wait_until(lambda: bool(bench.server.requests))
                        await anyio.wait_all_tasks_blocked()
                        group.cancel_scope.cancel()
                    if not has_arrived:
                        fail("the request did not reach the service")
                    if not await wait_until(lambda: bench.server.connections == 0):
                        fail(
                            f"the connection of a cancelled call stays open ({write_fault(fault)})"
                        )
                    await bench.ask(MIXED)

        self.run(check, backend)


async def _cancel_everywhere(
    bench: Bench, name: str, call: Callable[[], Coroutine[Any, Any, object]]
) -> None:
    expected = essence_of(await bench.ask(MIXED))
    for at in range(1, _MOST_AWAITS):
        where = f"`{name}` was cancelled at its await {at}"
        bench.server.answers = [MIXED] * 3
        bench.hooks.events.clear()
        try:
            found = await cancelled_at(call(), at)
        except Cancelled:
            pass
        except Exception as error:
            raise AssertionError(
                f"{where} and raised `{type(error).__name__}: {error}`, not the cancellation"
            ) from error
        else:
            if isinstance(found, str):
                if found != scripted_text(MIXED):
                    fail(f"{where} and yielded the text {found!r}, not {scripted_text(MIXED)!r}")
            elif not isinstance(found, ChatResponse):
                fail(f"{where} and returned a `{type(found).__name__}`, not a `ChatResponse`")
            elif essence_of(found) != expected:
                fail(f"{where} and returned {essence_of(found)}")
            if at < 3:
                fail(f"`{name}` has {at - 1} awaits: nothing of it can be cancelled")
            return
        bench.expect_order(where)
        await _expect_few_connections(bench, where)
        after = await bench.ask_for_outcome(MIXED)
        if isinstance(after, LLMError):
            fail(f"after {where} the next call failed: {after!r}")
        if essence_of(after) != expected:
            fail(f"after {where} the next call returned {essence_of(after)}, not {expected}")


async def _expect_few_connections(bench: Bench, where: str) -> None:
    server = bench.server
    if not await wait_until(lambda: server.connections <= _MOST_CONNECTIONS):
        fail(f"{server.connections} connections are open after {where}")
