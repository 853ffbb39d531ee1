"""Calls of a loaded model that are cancelled, with and without layers: no connection stays open."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from called_services import SERVICES

from amplifier_testing.kit.base import wait_until
from amplifier_testing.kit.stepping import Cancelled, cancelled_at
from amplifier_testing.servers import AnthropicServer, Fault
from arcllm import Model, clear_cache

MOST_AWAITS = 2_000
IDLE_CONNECTIONS = 2
"""Connections that one call after another leaves open: one to use again, one on its way out."""
ANSWER = [1, 2, 3]
LAYERS: dict[str, Any] = {
    "retry": True, "rate_limit": {"requests_per_minute": 1_000_000}, "telemetry": True,
    "audit": True, "security": True, "fallback": {"chain": ["anthropic:claude-haiku-4-5"]},
}  # fmt: skip


async def complete(model: Model) -> Any:
    return (await model.complete("Count.")).content


async def stream(model: Model) -> Any:
    async with model.stream("Count.") as pieces:
        async for _ in pieces:
            pass
    assert pieces.response is not None
    return pieces.response.content


async def output(model: Model) -> Any:
    return (await model.complete("Count.", output=list[int])).output


async def output_stream(model: Model) -> Any:
    async with model.stream("Count.", output=list[int]) as pieces:
        async for _ in pieces:
            pass
    assert pieces.response is not None
    return pieces.response.output


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCLLM_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    clear_cache()


@pytest.mark.parametrize("layers", [{}, LAYERS], ids=["bare", "layers"])
@pytest.mark.parametrize("ask", [complete, stream, output, output_stream])
async def test_a_call_of_a_model_can_be_cancelled_at_every_await(
    ask: Callable[[Model], Coroutine[Any, Any, Any]], layers: dict[str, Any]
) -> None:
    said = json.dumps(ANSWER)
    expected = said if ask in (complete, stream) else ANSWER
    with AnthropicServer(api_key="sk-a-very-secret-key") as server:
        async with SERVICES["anthropic"].load(server, **layers) as model:
            for at in range(1, MOST_AWAITS):
                server.answers = [said] * 8  # requests that are cancelled may still arrive
                try:
                    found = await cancelled_at(ask(model), at)
                except Cancelled:
                    assert await wait_until(lambda: server.connections <= IDLE_CONNECTIONS), at
                    assert await ask(model) == expected
                else:
                    assert found == expected
                    assert at > 2
                    return
    pytest.fail("the call never came to its end")


@pytest.mark.parametrize("fault", [Fault(silent=True), Fault(stall=0), Fault(stall=300)])
@pytest.mark.parametrize("layers", [{}, LAYERS], ids=["bare", "layers"])
async def test_a_batch_that_is_cancelled_leaves_no_connection(
    layers: dict[str, Any], fault: Fault
) -> None:
    with AnthropicServer(faults=[fault] * 5, api_key="sk-a-very-secret-key") as server:
        async with SERVICES["anthropic"].load(server, **layers) as model:
            async with anyio.create_task_group() as group:
                group.start_soon(model.batch, ["Count."] * 5)
                assert await wait_until(lambda: len(server.requests) == 5)
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()
            assert await wait_until(lambda: server.connections <= IDLE_CONNECTIONS)
            server.answers = ["again"] * 8  # requests that were cancelled may still arrive
            assert (await model.complete("Count.")).content == "again"
        assert await wait_until(lambda: server.connections == 0)
