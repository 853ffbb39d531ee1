"""A request to stop immediately ends what the turn awaits, whoever makes it and wherever."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from types import SimpleNamespace

import anyio
import anyio.lowlevel
import pytest

from amplifier_core import CancellationToken
from amplifier_core.cancellation import CancellationToken as PlainToken
from amplifier_core.events import TOOL_POST, TOOL_PRE
from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def by_task(token):
    token.request_immediate()


def by_thread(token):
    thread = threading.Thread(target=token.request_immediate)
    thread.start()
    thread.join()


def by_signal(token):
    before = signal.signal(signal.SIGUSR1, lambda *_: token.request_immediate())
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.fixture(params=[by_task, by_thread, by_signal])
def request_it(request):
    return request.param


def contents(history):
    return [message["content"] for message in history if message["role"] == "tool"]


def assert_cancelled(turn):
    assert turn.data("cancel:requested") == [{"immediate": True}]
    assert turn.data("cancel:completed") == [{"was_immediate": True}]
    assert turn.data("orchestrator:complete")[0]["status"] == "cancelled"
    assert turn.names()[-3:] == ["turn:end", "orchestrator:complete", "execution:end"]
    assert turn.token.running_tools == set()


async def answer_when_interrupted(turn, request_it=by_task):
    """Run a turn until it waits, have it stopped, and return its answer."""
    answers = []

    async def run():
        answers.append(await turn.run("hi"))
        if (task := find_asyncio_task()) is not None:
            assert task.cancelling() == 0
        await anyio.lowlevel.checkpoint()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            assert answers == []
            request_it(turn.token)
    return answers[0]


def find_asyncio_task():
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


async def forever(*_):
    await anyio.sleep_forever()


# Holds: sink-6
@pytest.mark.parametrize("kind", ["basic", "streaming"])
@pytest.mark.parametrize("count", [1, 2])
async def test_a_sleeping_tool_is_ended(kind, bench, say, valid, count, request_it):
    calls = [("1", "slow", {}), ("2", "quick", {})][:count]
    turn = bench(kind, say.calls(*calls, text="on it"))
    turn.tool("slow", forever)
    turn.tool("quick", lambda given: "seen")
    called = []
    turn.token.on_cancel(lambda: called.append(1))

    assert await answer_when_interrupted(turn, request_it) == "on it"
    history = await turn.history()
    valid(history)
    assert contents(history) == [INTERRUPTED.content, "seen"][:count]
    assert called == [1], "once, by the loop"
    assert_cancelled(turn)


# Holds: sink-6
async def test_a_waiting_model_call_is_ended(bench, request_it):
    turn = bench("basic", forever)
    assert await answer_when_interrupted(turn, request_it) == ""
    assert await turn.history() == [{"role": "user", "content": "hi"}]
    assert_cancelled(turn)


# Holds: sink-6
@pytest.mark.parametrize(
    ("event", "stored"),
    [
        ("execution:start", 0),
        ("prompt:submit", 0),
        ("llm:pre", 1),
        (TOOL_PRE, 4),
        (TOOL_POST, 4),
        ("prompt:complete", 5),
    ],
)
async def test_a_waiting_hook_is_ended(bench, say, valid, event, stored):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "seen")
    turn.hook(event, forever)
    answer = await answer_when_interrupted(turn)

    history = await turn.history()
    valid(history)
    assert len(history) == (4 if event == "prompt:complete" else stored)
    assert answer == ("done" if event == "prompt:complete" else "")
    expected = {TOOL_PRE: NOT_STARTED, TOOL_POST: INTERRUPTED}.get(event)
    assert expected is None or contents(history) == [expected.content]
    assert_cancelled(turn)


async def test_a_hook_that_waits_at_the_end_of_a_turn_is_ended(bench, say):
    turn = bench("basic", say.text("done"))
    turn.hook("turn:end", forever)
    assert await answer_when_interrupted(turn) == "done"
    assert turn.names()[-3:] == ["turn:end", "orchestrator:complete", "execution:end"]
    assert turn.data("execution:end") == [{"response": "done", "status": "completed"}]


# Holds: sink-6
async def test_a_waiting_approval_is_ended(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {})))
    look = turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="ask_user", approval_prompt="May it?", approval_timeout=3600)
    turn.coordinator.approval_system = SimpleNamespace(request_approval=forever)

    assert await answer_when_interrupted(turn) == ""
    assert look.inputs == []
    assert contents(await turn.history()) == [NOT_STARTED.content]
    assert_cancelled(turn)


@pytest.mark.parametrize("parent_class", [CancellationToken, PlainToken])
async def test_a_request_to_a_parent_reaches_the_turns_of_its_children(bench, parent_class):
    turn, parent = bench("basic", forever), parent_class()
    parent.register_child(turn.token)
    assert await answer_when_interrupted(turn, lambda _: parent.request_immediate()) == ""
    assert_cancelled(turn)


async def test_a_request_while_a_cancelled_turn_closes_changes_nothing(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})))
    turn.tool("look", lambda given: turn.token.request_graceful() and "seen")

    async def asks_for_more(event, data):
        turn.token.request_immediate()
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()

    turn.hook("cancel:requested", asks_for_more)
    assert await turn.run() == ""
    assert turn.data("cancel:requested") == [{"immediate": False}]
    assert contents(await turn.history()) == ["seen"]
    assert turn.names()[-1] == "execution:end"


async def test_a_context_that_stores_a_message_is_not_interrupted(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {})))
    turn.tool("look", lambda given: "seen")
    add_message = turn.context.add_message

    async def slowly(message):
        if message["role"] == "assistant":
            turn.token.request_immediate()
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        await add_message(message)

    turn.context.add_message = slowly
    assert await turn.run() == ""
    history = await turn.history()
    valid(history)
    assert contents(history) == [NOT_STARTED.content]
    assert_cancelled(turn)


async def test_the_next_turn_goes_on_after_a_reset(bench, say):
    turn = bench("basic", forever, say.text("again"))
    await answer_when_interrupted(turn)
    turn.token.reset()
    assert await turn.run() == "again"


# Holds: sink-7
@pytest.mark.parametrize("count", [1, 2])
async def test_a_tool_may_clean_up_undisturbed(bench, say, valid, count):
    turn = bench("basic", say.calls(*[("1", "slow", {}), ("2", "slow", {})][:count]))
    done = []

    async def cleans_up(given):
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=find_asyncio_task() is None):
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
            done.append(1)

    turn.tool("slow", cleans_up)
    assert await answer_when_interrupted(turn) == ""
    assert done == [1] * count
    assert contents(await turn.history()) == [INTERRUPTED.content] * count


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_result_of_a_tool_that_ends_in_time_is_used(bench, say, valid, count):
    turn = bench("basic", say.calls(*[("1", "slow", {}), ("2", "slow", {})][:count]))

    async def ends(given):
        with contextlib.suppress(asyncio.CancelledError):
            await anyio.sleep_forever()
        with anyio.move_on_after(0.001):
            await anyio.sleep_forever()
        return "whole"

    turn.tool("slow", ends)
    assert await answer_when_interrupted(turn) == ""
    valid(await turn.history())
    assert contents(await turn.history()) == ["whole"] * count
    assert_cancelled(turn)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_of_the_task_at_the_same_moment_is_not_lost(bench, is_first):
    turn = bench("basic", forever)
    task = asyncio.create_task(turn.run())
    await anyio.wait_all_tasks_blocked()
    if is_first:
        task.cancel()
    turn.token.request_immediate()
    if not is_first:
        asyncio.get_running_loop().call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert_cancelled(turn)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_turn_in_a_task_that_was_cancelled_before_ends_as_any_other(bench):
    turn, answers = bench("basic", forever), []

    async def run():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        answers.append(await turn.run())
        assert asyncio.current_task().cancelling() == 1

    task = asyncio.create_task(run())
    await anyio.wait_all_tasks_blocked()
    task.cancel()
    await anyio.wait_all_tasks_blocked()
    turn.token.request_immediate()
    await task
    assert answers == [""]


# Holds: sink-7
@pytest.mark.parametrize("what", ["provider", "hook"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_ignores_its_cancellation_is_left_behind_by_name(
    bench, monkeypatch, caplog, what
):
    monkeypatch.setattr("amplifier_modules.loops.boundary.cancellation.LEAVE_SECONDS", 0.01)
    go, over = asyncio.Event(), []

    async def stubborn(*_):
        while not go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await go.wait()
        over.append(what)

    turn = bench("basic", stubborn if what == "provider" else forever)
    if what == "hook":
        turn.hook("llm:pre", stubborn)
    assert await answer_when_interrupted(turn) == ""
    assert_cancelled(turn)
    name = {"provider": "provider `scripted`", "hook": "a hook of `llm:pre`"}[what]
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    rest = "ignores its cancellation; it is left behind, and its result is ignored"
    assert told == [f"{name} {rest}"]

    before = turn.names(), await turn.history()
    go.set()
    await anyio.wait_all_tasks_blocked()
    assert over == [what]
    assert (turn.names(), await turn.history()) == before
