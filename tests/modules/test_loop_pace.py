"""Delays between model calls and between words, on a clock that jumps."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from amplifier_core.models import HookResult
from amplifier_providers.scripted import ScriptedProvider

sys.path.insert(0, str(Path(__file__).parent))
from virtual_time import BACKENDS

DELAYED = "orchestrator:rate_limit_delay"
DELTA = "content_block:delta"


@pytest.fixture(params=sorted(BACKENDS))
def anyio_backend(request):
    return BACKENDS[request.param]()


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


def slow(say, seconds, response):
    async def respond(request):
        await anyio.sleep(seconds)
        return response

    return respond


# Holds: agent-24
async def test_calls_start_no_closer_than_the_delay_in_whichever_turn(kind, bench, say):
    started = []
    turn = bench(kind, config={"min_delay_between_calls_ms": 60_000})

    def responding(seconds, response):
        async def respond(request):
            started.append(anyio.current_time())
            await anyio.sleep(seconds)
            return response

        return respond

    turn.provider.script = [
        responding(15, say.calls(("1", "look", {}))),
        responding(90, say.text("one")),
        responding(0, say.text("two")),
        responding(0, say.text("three")),
    ]
    turn.tool("look", lambda given: "seen")

    for _ in range(3):
        await turn.run()

    first = started[0]
    assert [time - first for time in started] == pytest.approx([0, 60, 150, 210])
    delays = turn.data(DELAYED)
    assert [data["delay_ms"] for data in delays] == pytest.approx([45_000, 60_000])
    assert [data["iteration"] for data in delays] == [2, 1]


async def test_the_delay_holds_for_all_models_of_a_loop_together(kind, bench):
    turn = bench(kind, config={"min_delay_between_calls_ms": 500, "models": {"fast": "second"}})
    turn.hook(
        "provider:request",
        lambda _event, data: HookResult(
            action="modify", data={**data, "role": "fast" if data["message_count"] > 1 else None}
        ),
    )
    loop = await turn.loop()
    providers = {name: ScriptedProvider(["done"]) for name in ("first", "second")}
    for prompt in ("a", "b"):
        await loop.execute(
            prompt, turn.context, providers, {}, turn.coordinator.hooks,
            coordinator=turn.coordinator,
        )  # fmt: skip

    assert [data["delay_ms"] for data in turn.data(DELAYED)] == pytest.approx([500])
    assert [len(each.requests) for each in providers.values()] == [1, 1]


# Holds: agent-24
@pytest.mark.parametrize("way", ["request_graceful", "request_immediate"])
async def test_a_cancellation_ends_the_wait_for_a_call_at_once(kind, bench, say, valid, way):
    hour = {"min_delay_between_calls_ms": 3_600_000}
    turn = bench(kind, say.calls(("1", "look", {})), say.text("never"), config=hour)
    turn.tool("look", lambda given: "seen")
    waits = anyio.Event()
    turn.hook(DELAYED, lambda *_: waits.set())

    async with anyio.create_task_group() as group:
        group.start_soon(turn.run)
        await waits.wait()
        await anyio.sleep(10)
        began = anyio.current_time()
        getattr(turn.token, way)()

    assert anyio.current_time() - began < 1
    assert len(turn.provider.requests) == 1
    assert turn.names().count("llm:pre") == turn.names().count("llm:post") == 1
    assert turn.data("cancel:completed") == [{"was_immediate": way == "request_immediate"}]
    valid(await turn.history())


async def test_words_come_one_by_one(bench, say):
    turn = bench("streaming", say.text("one two three"), config={"stream_delay": 5})
    times = []
    turn.hook(DELTA, lambda *_: times.append(anyio.current_time()))
    began = anyio.current_time()

    await turn.run()

    assert [time - began for time in times] == pytest.approx([0, 5, 10])
    assert [data["delta"] for data in turn.data(DELTA)] == ["one", " two", " three"]


async def test_a_loop_without_deltas_has_no_delay_between_words(bench, say):
    turn = bench("basic", say.text("one two three"), config={"stream_delay": 5})
    began = anyio.current_time()

    assert await turn.run() == "one two three"
    assert anyio.current_time() == began


async def test_a_graceful_cancellation_shows_the_rest_without_delay(bench, say):
    turn = bench("streaming", say.text("word " * 500), config={"stream_delay": 5})
    began = anyio.current_time()
    turn.hook(DELTA, lambda *_: turn.token.request_graceful())

    assert await turn.run() == "word " * 500
    assert anyio.current_time() == began
    assert len(turn.data(DELTA)) == 501


async def test_an_immediate_cancellation_ends_the_words_and_their_block(bench, say):
    turn = bench("streaming", say.text("one two three"), config={"stream_delay": 5})

    async with anyio.create_task_group() as group:
        group.start_soon(turn.run)
        await anyio.sleep(7)
        turn.token.request_immediate()

    place = {"block_type": "text", "block_index": 0}
    assert turn.data("content_block:end") == [
        {**place, "block": {"type": "text", "text": "one two"}, "aborted": True}
    ]
