"""One step in several event loops and threads."""

from __future__ import annotations

import asyncio
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import anyio
import pytest
from called_services import SERVICES

from arcllm import LLMResponse, Message
from arcllm.providers.open import ProviderStep
from arcllm.step import Call

QUESTION = Call([Message(role="user", content="hi")])


async def asked_and_closed(step: ProviderStep) -> LLMResponse:
    try:
        return await step.complete(QUESTION)
    finally:
        await step.close()


# Holds: arcllm-13
@pytest.mark.parametrize("name", SERVICES)
def test_one_step_serves_one_event_loop_after_another(name: str) -> None:
    service = SERVICES[name]
    with service.server(["one", "two", "three"]) as server:
        step = service.open(server)
        found = [
            anyio.run(asked_and_closed, step, backend=backend)
            for backend in ("asyncio", "trio", "asyncio")
        ]
    assert [response.content for response in found] == ["one", "two", "three"]


# Holds: arcllm-13
def test_one_step_serves_several_threads_at_once() -> None:
    service, count, each = SERVICES["anthropic"], 6, 5
    barrier = Barrier(count)

    async def ask(step: ProviderStep) -> list[str | None]:
        barrier.wait()
        try:
            return [(await step.complete(QUESTION)).content for _ in range(each)]
        finally:
            await step.close()

    with service.server(["same"] * count * each) as server:
        step = service.open(server)
        backends = ["asyncio", "trio"] * (count // 2)
        with ThreadPoolExecutor(count) as pool:
            runs = [pool.submit(anyio.run, ask, step, backend=name) for name in backends]
            found = [run.result() for run in runs]
    assert found == [["same"] * each] * count
    assert len(server.requests) == count * each


def test_an_event_loop_that_ended_is_forgotten_though_nobody_closed() -> None:
    service = SERVICES["anthropic"]
    ended: list[weakref.ref[object]] = []

    async def ask(step: ProviderStep) -> None:
        ended.append(weakref.ref(asyncio.get_running_loop()))
        await step.complete(QUESTION)

    with service.server(["a"] * 4) as server:
        step = service.open(server)
        for _ in range(4):
            asyncio.run(ask(step))
        gc.collect()
        assert [loop() for loop in ended] == [None] * 4
        assert server.connections == 0
