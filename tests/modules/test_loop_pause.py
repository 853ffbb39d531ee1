"""A paused turn waits before its next model call or tool, until it is resumed or cancelled."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

PAUSED, RESUMED = "orchestrator:paused", "orchestrator:resumed"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


class Paused:
    """A turn that waits in a pause."""

    answer = None
    scope = None


@asynccontextmanager
async def paused_turn(turn):
    """Run a turn in a task of its own; within, it waits in a pause."""
    paused, waits = Paused(), anyio.Event()
    turn.hook(PAUSED, lambda *_: waits.set())

    async def run():
        with anyio.CancelScope() as paused.scope:
            paused.answer = await turn.run()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await waits.wait()
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            yield paused


async def test_a_pause_while_idle_holds_the_next_turn_before_its_model_call(kind, bench, say):
    turn = bench(kind, say.text("done"))
    loop = await turn.loop()
    loop.pause()
    loop.pause()

    async with paused_turn(turn) as paused:
        assert turn.provider.requests == []
        turn.coordinator.get_capability("session.resume")()
        loop.resume()

    assert paused.answer == "done"
    assert turn.data(PAUSED) == [{"before": "model_call", "iteration": 0}]
    [resumed] = turn.data(RESUMED)
    assert resumed.pop("seconds") >= 0
    assert resumed == {"before": "model_call", "iteration": 0}


# Holds: agent-22
async def test_running_tools_end_and_nothing_new_begins(kind, bench, say):
    turn = bench(kind, say.calls(("1", "alone", {}), ("2", "alone", {})), say.text("done"))
    loop = await turn.loop()
    pause = turn.coordinator.get_capability("session.pause")
    turn.tool("alone", lambda given: pause() or "seen").parallel = False

    async with paused_turn(turn) as paused:
        assert turn.names().count("tool:post") == 1
        assert turn.names().count("tool:pre") == 1
        loop.resume()
        while turn.names().count(PAUSED) < 2:
            await anyio.lowlevel.checkpoint()
        assert turn.names().count("tool:post") == 2
        assert len(turn.provider.requests) == 1
        loop.resume()

    assert paused.answer == "done"
    assert turn.data(PAUSED) == [
        {"before": "tools", "iteration": 1},
        {"before": "model_call", "iteration": 1},
    ]


async def test_a_message_that_came_during_the_pause_is_read_after_it(kind, bench, say):
    turn = bench(kind, say.text("done"))
    loop = await turn.loop()
    loop.pause()

    async with paused_turn(turn):
        loop.steer("and this")
        assert turn.data("orchestrator:steering_injected") == []
        loop.resume()

    assert [m.content for m in turn.provider.requests[0].messages] == ["go", "and this"]


async def test_another_thread_can_resume(kind, bench, say):
    turn = bench(kind, say.text("done"))
    loop = await turn.loop()
    loop.pause()

    async with paused_turn(turn) as paused:
        thread = threading.Thread(target=loop.resume)
        thread.start()
        thread.join()

    assert paused.answer == "done"


# Holds: agent-22
@pytest.mark.parametrize("way", ["request_graceful", "request_immediate"])
async def test_a_cancellation_ends_a_pause_at_once(kind, bench, say, valid, way):
    turn = bench(kind, say.calls(("1", "look", {})), say.text("done"))
    loop = await turn.loop()
    turn.tool("look", lambda given: loop.pause() or "seen")

    async with paused_turn(turn):
        getattr(turn.token, way)()

    assert turn.data("cancel:completed") == [{"was_immediate": way == "request_immediate"}]
    assert turn.data(RESUMED) == []
    valid(await turn.history())
    turn.token.reset()
    loop.resume()
    assert await turn.run() == "done"


async def test_a_pause_ends_with_the_seconds_of_the_budget(kind, bench, say):
    turn = bench(kind, say.text("done"), config={"budget": {"seconds": 0.05}})
    loop = await turn.loop()
    loop.pause()

    async with paused_turn(turn):
        pass

    [complete] = turn.data("orchestrator:complete")
    assert (complete["status"], complete["reason"]) == (
        "incomplete",
        "the budget of 0.05 s is used up",
    )
    assert turn.provider.requests == []


async def test_a_scope_around_a_paused_turn_can_be_cancelled(kind, bench, say):
    turn = bench(kind, say.text("done"))
    loop = await turn.loop()
    loop.pause()

    async with paused_turn(turn) as paused:
        paused.scope.cancel()

    assert turn.data("orchestrator:complete")[0]["status"] == "cancelled"
    loop.resume()
    assert await turn.run() == "done"
