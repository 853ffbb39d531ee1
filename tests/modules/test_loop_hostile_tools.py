"""Whatever a tool does, its call has a result, the turn goes on, and the history is valid."""

from __future__ import annotations

import asyncio
import contextlib
import math
import tracemalloc
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock

import anyio
import anyio.lowlevel
import pytest

from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import ToolResult
from amplifier_modules.loops.tool_calls import INTERRUPTED
from amplifier_modules.tool.function_tool import tool

MEGABYTE = 1024 * 1024


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def loop(request):
    return request.param


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


class Leaving:
    """Ends the program when its text is asked for."""

    def __str__(self):
        raise SystemExit(3)


class LeavingError(Exception):
    def __str__(self):
        raise SystemExit(3)


class Fatal(BaseException):
    pass


def find_asyncio_task():
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def raising(error):
    async def run(given):
        await anyio.lowlevel.checkpoint()
        raise error

    return run


def raising_at_once(error):
    def run(given):
        raise error

    return run


def returning(make):
    async def run(given):
        await anyio.lowlevel.checkpoint()
        return ToolResult.model_construct(success=True, output=make(), error=None, content=None)

    return run


def returning_bare(make):
    async def run(given):
        return make()

    return run


def circular():
    found = {}
    found["itself"] = [found]
    return found


def cancel_own_task():
    """Cancel the task of the tool; in trio, the nursery that it runs in."""
    if (task := find_asyncio_task()) is not None:
        task.cancel()
    else:
        import trio

        trio.lowlevel.current_task().parent_nursery.cancel_scope.cancel()


async def cancels_itself(given):
    cancel_own_task()
    await anyio.sleep_forever()


async def cancels_itself_and_returns(given):
    cancel_own_task()
    return "whole"


async def cancels_itself_and_swallows_it(given):
    cancel_own_task()
    with contextlib.suppress(anyio.get_cancelled_exc_class()):
        await anyio.lowlevel.checkpoint()
    return "whole"


async def leaks_a_cancellation(given):
    """Await something that was cancelled."""
    if find_asyncio_task() is None:
        raise anyio.get_cancelled_exc_class()._create()
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


def raises_a_cancellation(given):
    if find_asyncio_task() is None:
        raise anyio.get_cancelled_exc_class()._create()
    raise asyncio.CancelledError


async def leaves_tasks_behind(given):
    async def forever():
        await anyio.sleep_forever()

    if find_asyncio_task() is not None:
        LEFT.append(asyncio.create_task(forever()))
    else:
        import trio

        trio.lowlevel.current_task().parent_nursery.start_soon(forever)
    return "whole"


LEFT: list[asyncio.Task] = []


async def yields_to_the_other_event_loop(given):
    if find_asyncio_task() is None:
        await asyncio.sleep(0)
        return "whole"
    import trio

    return await trio.lowlevel.wait_task_rescheduled(lambda _: None)


async def one():
    return 1


def generator():
    yield 1


async def async_generator():
    yield 1


class Odd:
    """An awaitable that awaits nothing."""

    def __await__(self):
        yield "nonsense"


HOSTILE = {
    "raises": (raising(ValueError("bad")), "ValueError: bad"),
    "raises SystemExit": (raising(SystemExit(3)), "`SystemExit`"),
    "raises GeneratorExit": (raising(GeneratorExit()), "`GeneratorExit`"),
    "raises BaseException": (raising(Fatal()), "`Fatal`"),
    "raises a group": (
        raising(BaseExceptionGroup("all", [SystemExit(1), ValueError()])),
        "`BaseExceptionGroup`",
    ),
    "raises SystemExit at once": (raising_at_once(SystemExit(3)), "`SystemExit`"),
    "raises GeneratorExit at once": (raising_at_once(GeneratorExit()), "`GeneratorExit`"),
    "raises StopIteration": (raising(StopIteration()), "StopIteration"),
    "raises StopAsyncIteration": (raising(StopAsyncIteration()), "StopAsyncIteration"),
    "raises RecursionError": (raising(RecursionError("deep")), "RecursionError: deep"),
    "raises MemoryError": (raising(MemoryError()), "MemoryError"),
    "raises an error without text": (raising(LeavingError()), "LeavingError"),
    "raises a long error": (raising(ValueError("x" * MEGABYTE)), "more characters"),
    "raises a cancellation": (raises_a_cancellation, "ancelled"),
    "leaks a cancellation": (leaks_a_cancellation, "ancelled"),
    "cancels itself": (cancels_itself, "ancelled"),
    "cancels itself and returns": (cancels_itself_and_returns, None),
    "cancels itself and swallows it": (cancels_itself_and_swallows_it, None),
    "leaves tasks behind": (leaves_tasks_behind, None),
    "yields to the other event loop": (yields_to_the_other_event_loop, "failed"),
    "awaits nonsense": (returning_bare(lambda: Odd()), "await it"),
    "returns None": (returning_bare(lambda: None), None),
    "returns NaN": (returning(lambda: math.nan), None),
    "returns NaN in JSON": (returning(lambda: {"a": math.nan}), None),
    "returns bytes": (returning(lambda: b"\xff\xfe"), None),
    "returns lone surrogates": (returning(lambda: "a\ud800b"), None),
    "returns lone surrogates in JSON": (returning(lambda: {"\ud800": ["\udfff"]}), None),
    "returns what has no text": (returning(Unprintable), "no text"),
    "returns what ends the program": (returning(Leaving), "`SystemExit`"),
    "returns an object": (returning_bare(lambda: SimpleNamespace(output="seen")), None),
    "returns a circle": (returning(circular), "ircular"),
    "returns a set": (returning(lambda: {"a": {1, 2}}), "set"),
    "returns depth": (returning(lambda: nested(3000)), "RecursionError"),
    "returns a coroutine": (returning_bare(lambda: one()), "returned a `coroutine`"),
    "puts out a coroutine": (returning(lambda: one()), "returned a `coroutine`"),
    "returns a generator": (returning(lambda: generator()), "returned a `generator`"),
    "returns an async generator": (
        returning_bare(lambda: async_generator()),
        "returned a `async_generator`",
    ),
    "returns a mock": (returning_bare(Mock), None),
    "returns a magic mock": (returning_bare(MagicMock), "returned a `MagicMock`"),
    "returns blocks that are none": (
        returning_bare(lambda: SimpleNamespace(content=[1])),
        "failed",
    ),
}  # fmt: skip
"""A tool, and what its result says if that is an error; None if it is a result."""


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


# Holds: sink-31
@pytest.mark.parametrize("limit", [None, 3600.0])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_tool_ends_its_own_call_alone(bench, say, valid, loop, name, count, limit):
    function, told = HOSTILE[name]
    calls = [("1", "hostile", {}), ("2", "look", {}), ("3", "look", {}), ("4", "look", {})][:count]
    config = {"tool_timeout": limit} if limit else None
    turn = bench(loop, say.calls(*calls), say.text("done"), say.text("again"), config=config)
    turn.tool("hostile", function)

    async def look(given):
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return "seen"

    turn.tool("look", look)
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    history = await turn.history()
    valid(history)
    first, *others = [message for message in history if message["role"] == "tool"]
    assert [message["content"] for message in others] == ["seen"] * (count - 1)
    assert first.get("is_error", False) == (told is not None), first
    assert told is None or told in first["content"]
    for message in history:
        str(message).encode()
    assert_paired(turn, count)
    assert turn.token.running_tools == set()
    assert await turn.run() == "again"
    if (task := find_asyncio_task()) is not None:
        assert task.cancelling() == 0
    for left in LEFT:
        left.cancel()
    LEFT.clear()


def assert_paired(turn, count):
    """Check that each call that was judged has exactly one end."""
    began = [data["tool_call_id"] for data in turn.data(TOOL_PRE)]
    ended = [data["tool_call_id"] for event in (TOOL_POST, TOOL_ERROR) for data in turn.data(event)]
    assert sorted(began) == sorted(ended) == [str(1 + index) for index in range(count)]


@pytest.mark.parametrize("count", [1, 4])
async def test_a_tool_that_hangs_is_ended_at_its_limit(bench, say, valid, loop, count):
    calls = [(str(1 + index), "hang", {}) for index in range(count)]
    turn = bench(loop, say.calls(*calls), say.text("done"), config={"tool_timeout": 0.01})
    turn.tool("hang", lambda given: anyio.sleep_forever())
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    valid(await turn.history())
    assert [data["error"]["type"] for data in turn.data(TOOL_ERROR)] == ["ToolTimeoutError"] * count
    assert_paired(turn, count)


@pytest.mark.parametrize("count", [1, 4])
async def test_a_turn_whose_tool_hangs_without_a_limit_can_be_ended(bench, say, valid, loop, count):
    calls = [("1", "hang", {}), ("2", "look", {}), ("3", "look", {}), ("4", "look", {})][:count]
    turn = bench(loop, say.calls(*calls), say.text("again"))
    turn.tool("hang", lambda given: anyio.sleep_forever())
    turn.tool("look", lambda given: "seen")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(turn.run)
            await anyio.wait_all_tasks_blocked()
            turn.token.request_immediate()
    history = await turn.history()
    valid(history)
    contents = [message["content"] for message in history if message["role"] == "tool"]
    assert contents == [INTERRUPTED.content, "seen", "seen", "seen"][:count]
    turn.token.reset()
    assert await turn.run() == "again"


@pytest.mark.parametrize("count", [1, 4])
async def test_a_tool_that_swallows_its_time_limit_has_ended_in_time(bench, say, valid, count):
    async def swallows(given):
        with contextlib.suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return "whole"

    calls = [(str(1 + index), "hang", {}) for index in range(count)]
    turn = bench("basic", say.calls(*calls), say.text("done"), config={"tool_timeout": 0.01})
    turn.tool("hang", swallows)
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    valid(await turn.history())
    assert_paired(turn, count)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Fatal()])
async def test_a_plain_function_ends_nothing_but_its_call(bench, say, valid, error):
    @tool
    def leave() -> str:
        """Leave."""
        raise error

    turn = bench("basic", say.calls(("1", "leave", {}), ("2", "leave", {})), say.text("done"))
    turn.tools["leave"] = leave
    assert await turn.run() == "done"
    history = await turn.history()
    valid(history)
    contents = [message["content"] for message in history if message["role"] == "tool"]
    kind = type(error).__name__
    told = f"it raised `{kind}`; its call was ended, and its effects are unknown"
    assert contents == [f"Error: tool `leave` failed: ToolExitError: {told}"] * 2
    assert_paired(turn, 2)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("when", [TOOL_PRE, "tool:start", "running", TOOL_POST])
async def test_a_call_that_another_one_cancels_has_an_error(bench, say, valid, when):
    turn = bench("basic", say.calls(("1", "hit", {}), ("2", "wait", {})), say.text("done"))
    before = asyncio.all_tasks()
    waits = asyncio.Event()

    async def hit(given):
        await waits.wait()
        for task in asyncio.all_tasks() - {*before, asyncio.current_task()}:
            task.cancel()
        return "hit"

    async def wait(given):
        if when == "running":
            waits.set()
            await asyncio.Event().wait()
        return "seen"

    async def pause(event, data):
        if data["tool_name"] == "wait":
            waits.set()
            await asyncio.Event().wait()

    turn.tool("hit", hit)
    turn.tool("wait", wait)
    if when != "running":
        turn.hook(when, pause)
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    history = await turn.history()
    valid(history)
    first, second = [message["content"] for message in history if message["role"] == "tool"]
    assert first == "hit"
    assert "ToolExitError" in second
    if when != TOOL_POST:  # else hooks have seen a result that the model does not get
        assert_paired(turn, 2)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_calls_that_are_cancelled_before_they_begin_have_an_error(bench, say, valid):
    calls = [(str(1 + index), "hit", {}) for index in range(4)]
    turn = bench("basic", say.calls(*calls), say.text("done"))
    before = asyncio.all_tasks()

    async def hit(event, data):
        await anyio.lowlevel.checkpoint()
        for task in asyncio.all_tasks() - {*before, asyncio.current_task()}:
            task.cancel()

    turn.tool("hit", lambda given: "hit")
    turn.hook(TOOL_PRE, hit)
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    history = await turn.history()
    valid(history)
    contents = [message["content"] for message in history if message["role"] == "tool"]
    told = "it was cancelled; its call was ended, and it was not run"
    assert contents == ["hit", *[f"Error: tool `hit` failed: ToolExitError: {told}"] * 3]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("count", [1, 4])
async def test_a_tool_that_cancels_the_turn_ends_the_turn_not_the_session(
    bench, say, valid, loop, count
):
    """Nothing tells it from a program that cancels its own turn."""
    calls = [(str(1 + index), "hit", {}) for index in range(count)]
    turn = bench(loop, say.calls(*calls), say.text("again"))
    running = asyncio.create_task(turn.run())

    async def hit(given):
        running.cancel()
        await anyio.sleep_forever()

    turn.tool("hit", hit)
    with pytest.raises(asyncio.CancelledError):
        await running
    history = await turn.history()
    valid(history)
    assert turn.data("execution:end")[-1]["status"] == "cancelled"
    assert turn.token.running_tools == set()
    assert await turn.run() == "again"


@pytest.mark.parametrize("anyio_backend", ["trio"])
@pytest.mark.parametrize("count", [1, 4])
async def test_a_tool_that_cancels_the_nursery_of_its_round_ends_its_calls_alone(
    bench, say, valid, loop, count
):
    import trio

    async def hit(given):
        call = trio.lowlevel.current_task().parent_nursery.parent_task
        call.parent_nursery.cancel_scope.cancel()
        await anyio.sleep_forever()

    calls = [(str(1 + index), "hit", {}) for index in range(count)]
    turn = bench(loop, say.calls(*calls), say.text("done"))
    turn.tool("hit", hit)
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    history = await turn.history()
    valid(history)
    contents = [message["content"] for message in history if message["role"] == "tool"]
    assert all("ToolExitError" in content for content in contents)
    assert_paired(turn, count)


# Holds: sink-32
@pytest.mark.parametrize("character", ["x", "\N{SNOWMAN}"])
async def test_fifty_megabytes_are_cut_without_several_copies(bench, say, valid, character):
    size = 50 * MEGABYTE // len(character.encode())
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    text = character * size
    turn.tool("look", lambda given: ToolResult(output=text))
    tracemalloc.start()
    try:
        assert await turn.run() == "done"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    message = next(each for each in await turn.history() if each["role"] == "tool")
    assert len(message["content"].encode()) <= 8 * MEGABYTE
    assert message["content"].endswith(
        "more bytes were cut: `max_result_bytes` of the loop is 8,388,608]"
    )
    assert peak < 75 * MEGABYTE, "less than two copies"


@pytest.mark.parametrize("output", [["x" * MEGABYTE] * 50, b"x" * 50 * MEGABYTE])
async def test_other_large_outputs_are_cut_as_text(bench, say, output):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: ToolResult(output=output))
    assert await turn.run() == "done"
    message = next(each for each in await turn.history() if each["role"] == "tool")
    assert len(message["content"].encode()) <= 8 * MEGABYTE
    assert "bytes" in message["content"][-90:]
