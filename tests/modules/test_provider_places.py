"""Calls that run at once are no more than allowed, come in their order, and lose no place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_providers.limits.endpoint import Endpoint
from amplifier_providers.limits.places import Place, Places
from amplifier_providers.wire.load import Load
from amplifier_providers.wire.settings import HttpSettings

BACKENDS = ["asyncio", "trio"]


async def silent(*_: Any) -> None:
    await anyio.lowlevel.checkpoint()


async def settle() -> None:
    for _ in range(10):
        await anyio.lowlevel.checkpoint()


steps = st.lists(
    st.one_of(
        st.just(("ask", 0)),
        st.tuples(st.just("leave"), st.integers(0, 9)),
        st.tuples(st.just("cancel"), st.integers(0, 9)),
        st.just(("settle", 0)),
    ),
    max_size=40,
)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(deadline=None)
@given(count=st.integers(1, 3), program=steps)
def test_places_are_given_in_order_and_none_is_lost(
    backend: str, count: int, program: list[tuple[str, int]]
) -> None:
    async def run() -> None:
        places = Places(count)
        asked: list[Place] = []
        cancelled: set[int] = set()
        inside: list[tuple[int, Place]] = []
        scopes: dict[int, anyio.CancelScope] = {}
        ended: list[int] = []

        async def call(number: int, place: Place) -> None:
            with scopes[number]:
                await place.wait_until_given()
                inside.append((number, place))
            ended.append(number)

        async with anyio.create_task_group() as group:
            for what, which in program:
                if what == "ask":
                    number, place = len(asked), places.ask()
                    asked.append(place)
                    scopes[number] = anyio.CancelScope()
                    group.start_soon(call, number, place)
                elif what == "leave" and inside:
                    _, place = inside.pop(which % len(inside))
                    place.leave()
                    place.leave()
                elif what == "cancel" and asked:
                    scopes[which % len(asked)].cancel()
                    cancelled.add(which % len(asked))
                else:
                    await settle()
                assert len(inside) <= count
                kept = [place.is_given for n, place in enumerate(asked) if n not in cancelled]
                assert kept == sorted(kept, reverse=True)
            while len(ended) < len(asked):
                await settle()
                if inside:
                    inside.pop(0)[1].leave()
            for _, place in inside:
                place.leave()
        whole = [places.ask() for _ in range(count)]
        assert all(place.is_given for place in whole)
        assert not places.ask().is_given

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_share_the_places(backend: str) -> None:
    load = Load("p", HttpSettings(max_concurrent_requests=2), Endpoint("e"), silent)
    lock, running, most, done = threading.Lock(), [0], [0], [0]

    async def call() -> None:
        place = await load.enter("m")
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        await settle()
        with lock:
            running[0] -= 1
            done[0] += 1
        place.leave()

    async def calls() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(call)

    threads = [threading.Thread(target=anyio.run, args=(calls,), kwargs={"backend": backend})
               for _ in range(4)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (most[0], done[0], running[0]) == (2, 80, 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_that_has_ended_keeps_no_place(backend: str) -> None:
    places = Places(1)
    first = places.ask()
    waits: list[Place] = []

    async def ask() -> None:
        waits.append(places.ask())

    anyio.run(ask, backend=backend)
    first.leave()
    assert places.ask().is_given


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("at", range(8))
def test_a_cancellation_at_any_await_gives_the_place_back(backend: str, at: int) -> None:
    limited = HttpSettings(max_concurrent_requests=1)
    headers = {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "1",
        "x-ratelimit-reset-requests": "30",
    }

    async def run() -> None:
        load = Load("p", limited, Endpoint("e"), silent, sleep=silent)
        await load.note(headers)
        held = await load.enter("m")
        entered: list[Place] = []

        async def call() -> None:
            entered.append(await load.enter("m"))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            leave_at: Callable[[int], bool] = lambda step: step == 2
            for step in range(at):
                await anyio.lowlevel.checkpoint()
                if leave_at(step):
                    held.leave()
            group.cancel_scope.cancel()
        held.leave()
        for place in entered:
            place.leave()
        with anyio.fail_after(10):
            (await load.enter("m")).leave()

    anyio.run(run, backend=backend)
