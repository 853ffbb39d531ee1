"""Cancelled turns: nothing new is started, every stored call has a result, events say so."""

from __future__ import annotations

import anyio
import pytest

from amplifier_core.events import TOOL_POST, TOOL_PRE
from amplifier_core.llm_errors import AbortError
from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


def contents(history):
    return [message["content"] for message in history if message["role"] == "tool"]


def assert_cancelled(turn, *, was_immediate):
    assert turn.data("cancel:requested") == [{"immediate": was_immediate}]
    assert turn.data("cancel:completed") == [{"was_immediate": was_immediate}]
    assert turn.data("orchestrator:complete")[0]["status"] == "cancelled"
    assert turn.data("execution:end")[0]["status"] == "cancelled"
    assert turn.names()[-3:] == ["turn:end", "orchestrator:complete", "execution:end"]
    assert "prompt:complete" not in turn.names()
    assert turn.token.running_tools == set()


async def test_a_graceful_turn_ends_after_the_running_tools(kind, bench, say, valid):
    turn = bench(kind, say.calls(("1", "look", {}), text="looking"), say.text("never"))

    def look(given):
        turn.token.request_graceful()
        return "seen"

    turn.tool("look", look)

    assert await turn.run("hi") == "looking"
    assert len(turn.provider.requests) == 1
    history = await turn.history()
    valid(history)
    assert contents(history) == ["seen"]
    assert history[-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "The turn was cancelled before it was finished."}],
    }
    assert_cancelled(turn, was_immediate=False)


async def test_calls_of_a_response_that_came_too_late_are_not_started(kind, bench, say, valid):
    turn = bench(kind)

    def respond(request):
        turn.token.request_graceful()
        return say.calls(("1", "look", {}), ("2", "look", {}))

    turn.provider.script = [respond]
    look = turn.tool("look", lambda given: "seen")
    await turn.run()

    assert look.inputs == []
    assert turn.data(TOOL_PRE) == []
    history = await turn.history()
    valid(history)
    assert contents(history) == [NOT_STARTED.content] * 2
    assert_cancelled(turn, was_immediate=False)


async def test_an_answer_that_is_whole_is_an_answer(bench, say):
    turn = bench("basic")

    def respond(request):
        turn.token.request_graceful()
        return say.text("all done")

    turn.provider.script = [respond]

    assert await turn.run() == "all done"
    assert turn.data("orchestrator:complete")[0]["status"] == "success"


# Holds: failure-12
async def test_a_provider_that_gives_up_waiting_ends_a_cancelled_turn(bench, say):
    turn = bench("basic")

    def give_up(request):
        turn.token.request_graceful()
        raise AbortError("cancelled while waiting")

    turn.provider.script = [give_up]

    assert await turn.run() == ""
    assert_cancelled(turn, was_immediate=False)


async def test_a_provider_that_gives_up_by_itself_is_a_failure(bench, say):
    turn = bench("basic", AbortError("no reason"))

    with pytest.raises(AbortError):
        await turn.run()
    assert turn.data("execution:end")[0]["status"] == "error"


async def test_a_session_that_is_cancelled_already_calls_no_model(bench, say):
    turn = bench("basic", say.text("never"), say.text("again"))
    turn.token.request_graceful()

    assert await turn.run() == ""
    assert turn.provider.requests == []
    assert_cancelled(turn, was_immediate=False)

    turn.token.reset()
    assert await turn.run() == "never"


async def test_a_cancelled_task_leaves_a_valid_history(kind, bench, say, valid):
    turn = bench(kind, say.calls(("1", "quick", {}), ("2", "slow", {}), ("3", "slow", {})))
    turn.tool("quick", lambda given: "seen")
    started = []

    async def slow(given):
        started.append(1)
        await anyio.sleep_forever()

    turn.tool("slow", slow)
    is_cancelled = []

    async def run():
        try:
            await turn.run()
        except anyio.get_cancelled_exc_class():
            is_cancelled.append(True)
            raise

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        with anyio.fail_after(10):
            while len(started) < 2:
                await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert is_cancelled == [True]
    history = await turn.history()
    valid(history)
    assert contents(history) == ["seen", INTERRUPTED.content, INTERRUPTED.content]
    assert_cancelled(turn, was_immediate=True)


async def test_a_task_cancelled_in_the_model_call_says_so(kind, bench, valid):
    turn = bench(kind, lambda request: anyio.sleep_forever())

    with anyio.move_on_after(0.01) as scope:
        await turn.run("hi")

    assert scope.cancelled_caught
    assert await turn.history() == [{"role": "user", "content": "hi"}]
    assert_cancelled(turn, was_immediate=True)


async def test_callbacks_of_an_immediate_cancellation_interrupt_the_turn(kind, bench, say, valid):
    turn = bench(kind, say.calls(("1", "slow", {}), text="on it"))
    turn.tool("slow", lambda given: anyio.sleep_forever())
    called = []
    turn.token.on_cancel(lambda: called.append(1))
    answers = []

    async def run():
        answers.append(await turn.run())

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            while not turn.token.running_tools:
                await anyio.lowlevel.checkpoint()
            turn.token.request_immediate()
            await turn.token.trigger_callbacks()

    assert answers == ["on it"]
    assert called == [1, 1], "by the application and by the loop"
    history = await turn.history()
    valid(history)
    assert contents(history) == [INTERRUPTED.content]
    assert_cancelled(turn, was_immediate=True)


async def test_a_hook_that_cancels_before_the_tool_keeps_it_from_starting(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {})))
    look = turn.tool("look", lambda given: "seen")
    turn.hook(TOOL_PRE, lambda _e, _d: turn.token.request_graceful() and None)
    await turn.run()

    assert look.inputs == []
    assert contents(await turn.history()) == [NOT_STARTED.content]
    assert turn.data(TOOL_POST) == []


async def test_a_context_that_waits_is_not_interrupted(bench, say, valid):
    turn = bench("basic", say.calls(("1", "slow", {}), ("2", "slow", {})))
    turn.tool("slow", lambda given: anyio.sleep_forever())
    add_message = turn.context.add_message

    async def slowly(message):
        await anyio.sleep(0.001)
        await add_message(message)

    turn.context.add_message = slowly
    with anyio.move_on_after(0.05):
        await turn.run()

    valid(await turn.history())
    assert contents(await turn.history()) == [INTERRUPTED.content] * 2


async def test_a_hanging_hook_cannot_hold_a_cancelled_turn(bench, monkeypatch):
    monkeypatch.setattr("amplifier_modules.loops.boundary.cancellation.GRACE_SECONDS", 0.01)
    turn = bench("basic", lambda request: anyio.sleep_forever())
    turn.hook("cancel:requested", lambda _e, _d: anyio.sleep_forever())

    with anyio.fail_after(10), anyio.move_on_after(0.01):
        await turn.run()


async def test_steering_messages_are_discarded_aloud(bench, say):
    turn = bench("streaming", say.calls(("1", "look", {})))

    def look(given):
        turn.coordinator.get_capability("session.steer")("faster")
        turn.token.request_graceful()
        return "seen"

    turn.tool("look", look)
    await turn.run()

    assert turn.data("orchestrator:steering_discarded") == [
        {"messages": ["faster"], "reason": "the turn was cancelled"}
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_natively_cancelled_task_leaves_a_valid_history(bench, say, valid):
    import asyncio

    turn = bench("basic", say.calls(("1", "slow", {}), ("2", "slow", {})))
    turn.tool("slow", lambda given: anyio.sleep_forever())
    task = asyncio.create_task(turn.run())
    await anyio.wait_all_tasks_blocked()
    assert len(turn.token.running_tools) == 2
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    valid(await turn.history())
    assert contents(await turn.history()) == [INTERRUPTED.content] * 2
    assert_cancelled(turn, was_immediate=True)


async def test_a_turn_closed_at_any_suspension_leaves_a_valid_history(bench, say, valid):
    for place in range(60):
        turn = bench("basic", say.calls(("1", "look", {}), ("2", "look", {})), say.text("done"))
        turn.tool("look", lambda given: anyio.lowlevel.checkpoint())

        async def pause(event, data):
            await anyio.lowlevel.checkpoint()

        for event in ("prompt:submit", "provider:request", TOOL_PRE, TOOL_POST, "llm:pre"):
            turn.hook(event, pause)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(turn.run)
                for _ in range(place):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        valid(await turn.history())
        assert turn.names() == [] or turn.names()[-1] == "execution:end"


class ThrownAt:
    """Awaits a coroutine and throws a cancellation into it at one of its suspensions."""

    def __init__(self, coroutine, place, error):
        self._steps = coroutine.__await__()
        self._place = place
        self._error = error
        self.was_thrown = False

    def __await__(self):
        value, count = None, 0
        while True:
            try:
                if count == self._place and not self.was_thrown:
                    self.was_thrown = True
                    step = self._steps.throw(self._error)
                else:
                    step = self._steps.send(value)
            except StopIteration as end:
                return end.value
            count += 1
            value = yield step


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_thrown_in_at_any_suspension_leaves_a_valid_history(bench, say, valid):
    import asyncio

    for place in range(1, 200):
        turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))

        async def look(given):
            await anyio.lowlevel.checkpoint()
            return "seen"

        turn.tool("look", look)

        async def pause(event, data):
            await anyio.lowlevel.checkpoint()

        for event in ("prompt:submit", "provider:request", TOOL_PRE, TOOL_POST, "llm:pre"):
            turn.hook(event, pause)
        thrown = ThrownAt(turn.run(), place, asyncio.CancelledError())
        try:
            await thrown
        except asyncio.CancelledError:
            assert turn.data("execution:end")[0]["status"] == "cancelled"
        valid(await turn.history())
        assert turn.names()[-1] == "execution:end"
        assert turn.token.running_tools == set()
        if not thrown.was_thrown:
            break
    assert place > 5


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("event", ["cancel:requested", "turn:end"])
async def test_a_turn_that_is_cancelled_again_while_it_closes_closes_all_the_same(
    bench, say, valid, event
):
    import asyncio

    async def again(*_):
        running.cancel()
        await anyio.lowlevel.checkpoint()
        await asyncio.sleep(3_600)

    turn = bench("basic", say.calls(("1", "look", {})))
    turn.tool("look", lambda given: running.cancel() or anyio.sleep_forever())
    turn.hook(event, again)

    running = asyncio.ensure_future(turn.run())
    with pytest.raises(asyncio.CancelledError):
        await running

    assert_cancelled(turn, was_immediate=True)
    valid(await turn.history())


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_model_call_whose_end_cannot_be_told_is_told_once(bench, monkeypatch):
    import asyncio

    def fail(self):
        raise RuntimeError("Attempted to exit cancel scope in a different task")

    async def wait(request):
        asyncio.current_task().cancel()
        await anyio.sleep_forever()

    monkeypatch.setattr(
        "amplifier_modules.loops.answers.blocks.OpenBlocks.ends_of_open_blocks", fail
    )
    turn = bench("basic", wait)

    with pytest.raises(RuntimeError):
        await turn.run()

    assert turn.data("llm:post") == []
    assert turn.data("provider:error") == []
