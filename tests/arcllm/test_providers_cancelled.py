"""Calls that are cancelled, and streams that are left: no connection stays open."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest
from called_services import SERVICES
from deltas_read import streamed

from amplifier_testing.kit.base import wait_until
from amplifier_testing.kit.conversation import MIXED
from amplifier_testing.kit.stepping import Cancelled, cancelled_at
from amplifier_testing.servers import Fault
from arcllm import LLMResponse, Message, Tool
from arcllm.step import Call, Step

AT = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
MOST_AWAITS = 2_000
IDLE_CONNECTIONS = 2
"""Connections that one call after another leaves open: one to use again, one on its way out."""
SOME = ["anthropic", "openai", "openai_chat", "ollama", "azure_openai"]

Ask = Callable[[Step], Coroutine[Any, Any, LLMResponse]]


def question() -> Call:
    tools = [Tool(name="look", description="Looks at a file.", parameters=AT)]
    return Call([Message(role="user", content="Look.")], tools)


async def complete(step: Step) -> LLMResponse:
    return await step.complete(question())


async def stream(step: Step) -> LLMResponse:
    return await streamed(step, question())


def said(response: LLMResponse) -> Any:
    return response.model_dump(exclude={"metadata", "opaque"})


# Holds: arcllm-11
@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize("name", SOME)
async def test_a_call_can_be_cancelled_at_every_await(name: str, ask: Ask) -> None:
    async with SERVICES[name].asking([MIXED]) as (step, server):
        expected = said(await ask(step))
        for at in range(1, MOST_AWAITS):
            server.answers = [MIXED] * 3  # the request that is cancelled may still arrive
            try:
                found = await cancelled_at(ask(step), at)
            except Cancelled:
                assert await wait_until(lambda: server.connections <= IDLE_CONNECTIONS), at
                assert said(await ask(step)) == expected
            else:
                assert said(found) == expected
                assert at > 2
                return
    pytest.fail("the call never came to its end")


@pytest.mark.parametrize("fault", [Fault(silent=True), Fault(stall=0), Fault(stall=300)])
@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize("name", SOME)
async def test_a_call_that_waits_for_the_service_can_be_cancelled(
    name: str, ask: Ask, fault: Fault
) -> None:
    async with SERVICES[name].asking([MIXED] * 2, faults=[fault]) as (step, server):
        async with anyio.create_task_group() as group:
            group.start_soon(ask, step)
            assert await wait_until(lambda: bool(server.requests))
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        assert await wait_until(lambda: server.connections == 0)
        assert (await ask(step)).tool_calls


# Holds: arcllm-11
@pytest.mark.parametrize("name", SOME)
async def test_a_stream_can_be_left_at_every_piece(name: str) -> None:
    async with SERVICES[name].asking([MIXED]) as (step, server):
        count = len([piece async for piece in step.stream(question())])
        assert count > 5
        for taken in range(count):
            server.answers = [MIXED] * 3
            pieces = step.stream(question())
            for _ in range(taken):
                await anext(pieces)
            await pieces.aclose()
            assert await wait_until(lambda: server.connections <= IDLE_CONNECTIONS), taken
        server.answers = [MIXED] * 3
        assert (await step.complete(question())).tool_calls


async def test_a_stream_that_is_left_in_the_middle_closes_its_connection_at_once() -> None:
    fault = Fault(stall=900)  # the server says nothing more, and waits until the client goes
    async with SERVICES["anthropic"].asking([MIXED], faults=[fault]) as (step, server):
        pieces = step.stream(question())
        await anext(pieces)
        assert server.connections == 1
        await pieces.aclose()
        assert await wait_until(lambda: server.connections == 0)


async def test_a_closed_step_has_no_connections_and_opens_new_ones() -> None:
    async with SERVICES["anthropic"].asking(["one", "two"]) as (step, server):
        await step.complete(question())
        assert server.connections == 1
        await step.close()
        await step.close()
        assert await wait_until(lambda: server.connections == 0)
        assert (await step.complete(question())).content == "two"


async def test_a_step_that_was_never_asked_can_be_closed() -> None:
    async with SERVICES["openai"].asking() as (step, server):
        await step.close()
        assert server.requests == []
