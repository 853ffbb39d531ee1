"""Steering: each message comes into the history once or is told as discarded, with both loops."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from random import Random

import anyio
import anyio.lowlevel
import pytest
import sniffio

from amplifier_core.models import HookResult
from amplifier_modules.loops.steering import CAPACITY, SteeringQueueFull

INJECTED = "orchestrator:steering_injected"
DISCARDED = "orchestrator:steering_discarded"
SUBMITTED = "orchestrator:steering_submitted"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


class Cancellable:
    """A turn that can be cancelled from within, once: its task under asyncio, else its scope."""

    async def run(self, turn):
        self.is_over = False
        with anyio.CancelScope() as scope:
            self._cancel = scope.cancel
            if sniffio.current_async_library() == "asyncio":
                task = asyncio.create_task(turn.run())
                self._cancel = task.cancel
                await asyncio.wait([task])
            else:
                await turn.run()

    def cancel(self):
        if not self.is_over:
            self.is_over = True
            self._cancel()


async def test_messages_wait_in_their_order_for_the_next_model_call(kind, bench, say):
    turn = bench(kind, say.calls(("1", "look", {})), say.text("done"))
    await turn.loop()
    steer = turn.coordinator.get_capability("session.steer")

    def look(given):
        steer("first")
        steer("second")
        return "seen"

    turn.tool("look", look)

    assert await turn.run() == "done"
    assert [m.content for m in turn.provider.requests[1].messages[-2:]] == ["first", "second"]
    assert turn.data(INJECTED) == [
        {"content": "first", "iteration": 2},
        {"content": "second", "iteration": 2},
    ]


async def test_a_turn_that_was_about_to_end_goes_on_for_a_message(kind, bench, say):
    turn = bench(kind)
    loop = await turn.loop()

    def respond(request):
        loop.steer("and this")
        return say.text("one")

    turn.provider.script = [respond, say.text("two")]

    assert await turn.run() == "two"
    roles = [message["role"] for message in await turn.history()]
    assert roles == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_message_is_refused(kind, bench, text):
    loop = await bench(kind).loop()

    with pytest.raises(ValueError, match="the steering message is empty"):
        loop.steer(text)


async def test_what_is_no_text_is_refused(kind, bench):
    loop = await bench(kind).loop()

    with pytest.raises(TypeError, match=r"is of type `int` \(must be a str\)"):
        loop.steer(1)


async def test_more_than_fit_are_refused_from_however_many_threads(kind, bench):
    loop = await bench(kind).loop()
    refused = Counter[str]()

    def steer():
        for _ in range(CAPACITY):
            try:
                loop.steer("x")
            except SteeringQueueFull as error:
                refused[str(error)] += 1

    threads = [threading.Thread(target=steer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(loop.steering) == CAPACITY
    assert refused == {"100 steering messages are waiting (the most that can)": 3 * CAPACITY}


async def test_what_no_turn_has_read_is_discarded_when_the_session_ends(kind, bench, caplog):
    turn = bench(kind)
    loop = await turn.loop()
    loop.steer("never read")

    with caplog.at_level(logging.WARNING):
        await turn.coordinator.cleanup()

    assert turn.data(DISCARDED) == [{"messages": ["never read"], "reason": "the session ended"}]
    assert "1 steering messages discarded: the session ended" in caplog.text


# Holds: agent-21
@pytest.mark.parametrize("seed", range(8))
async def test_each_message_is_in_the_history_once_or_told_as_discarded(kind, bench, say, seed):
    """Threads steer while turns run, hooks wait and deny, and turns are cancelled in all ways."""
    random = Random(seed)
    turn = bench(kind)
    loop = await turn.loop()
    sent: list[str] = []
    cancellable = Cancellable()

    async def wait(*_):
        for _ in range(random.choice((0, 1, 2))):
            await anyio.lowlevel.checkpoint()

    async def look(given):
        await wait()
        if random.random() < 0.15:
            turn.token.request_graceful()
        elif random.random() < 0.15:
            turn.token.request_immediate()
        elif random.random() < 0.15:
            cancellable.cancel()
        await wait()
        return "seen"

    async def judge(event, data):
        await wait()
        if random.random() < 0.1:
            cancellable.cancel()
            await wait()
        return HookResult(action="deny", reason="no") if random.random() < 0.2 else HookResult()

    turn.tool("look", look)
    turn.hook(SUBMITTED, judge)
    turn.hook(INJECTED, wait)
    turn.hook(DISCARDED, wait)
    is_over = threading.Event()

    def steer(name):
        for number in range(40):
            text = f"{name}{number}"
            try:
                loop.steer(text)
            except SteeringQueueFull:
                continue
            sent.append(text)
            if is_over.wait(0.0002):
                return

    threads = [threading.Thread(target=steer, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    try:
        for number in range(4):
            calls = [say.calls((f"{number}-{n}", "look", {})) for n in range(3)]
            turn.provider.script = [*calls, *[say.text("done")] * 200]
            await cancellable.run(turn)
            turn.token.reset()
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    await turn.coordinator.cleanup()

    said = [m["content"] for m in await turn.history() if m["role"] == "user"]
    discarded = [text for data in turn.data(DISCARDED) for text in data["messages"]]
    read = Counter(text for text in said if text != "go")
    assert set(read.values()) <= {1}
    assert not read.keys() & set(discarded)
    assert read.keys() | set(discarded) == set(sent)
