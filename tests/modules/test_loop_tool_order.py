"""The calls of a response: how many at the same time, in which order, and when `tool:start` comes."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
import sniffio

from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_modules.loops.settings import LoopSettings
from amplifier_providers.settings import SettingError, read_settings

TOOL_START = "tool:start"
TOOL_RESULT = "tool:result"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def loop(request):
    return request.param


def record(turn, *events):
    """Return the list to which each of these events, and each run of a tool, is added."""
    seen = []
    for event in events:
        turn.hook(event, lambda event, data: seen.append((event, data["tool_call_id"])))
    return seen


def numbered(*names):
    return [(str(1 + index), name, {}) for index, name in enumerate(names)]


def asyncio_runs():
    return sniffio.current_async_library() == "asyncio"


class Gate:
    """A tool that waits until it is let go, and knows how many of it run."""

    def __init__(self):
        self.running = 0
        self.most = 0
        self.total = 0
        self.go = anyio.Event()

    async def __call__(self, given):
        self.total += 1
        self.running += 1
        self.most = max(self.most, self.running)
        await self.go.wait()
        self.running -= 1
        return "done"


# Holds: sink-33
@pytest.mark.parametrize(("most", "expected"), [(1, 1), (3, 3), (None, 16), (-1, 40)])
async def test_so_many_calls_run_at_the_same_time(bench, say, valid, loop, most, expected):
    config = {} if most is None else {"max_parallel_tools": most}
    turn = bench(loop, say.calls(*numbered(*["wait"] * 40)), say.text("done"), config=config)
    gate = Gate()
    turn.tool("wait", gate)
    seen = record(turn, TOOL_PRE, TOOL_START)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(turn.run)
            await anyio.wait_all_tasks_blocked()
            assert gate.running == expected
            ids = [str(1 + index) for index in range(expected)]
            for event in (TOOL_PRE, TOOL_START):
                # Trio goes through tasks that can run in any order.
                found = [call for name, call in seen if name == event]
                assert (found if asyncio_runs() else sorted(found, key=int)) == ids
            gate.go.set()
    assert (gate.most, gate.total) == (expected, 40)
    history = await turn.history()
    valid(history)
    assert [each["tool_call_id"] for each in history if each["role"] == "tool"] == [
        str(1 + index) for index in range(40)
    ]


@pytest.mark.parametrize("value", [0, -2, "many", 1.5])
def test_a_limit_that_is_none_is_refused(value):
    with pytest.raises(SettingError, match="at least 1, or -1 for no limit"):
        read_settings(LoopSettings, {"max_parallel_tools": value}, "loop-basic")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_call_takes_the_place_of_one_that_has_ended(bench, say):
    turn = bench(
        "basic",
        say.calls(*numbered("wait", "quick", "quick", "quick")),
        say.text("done"),
        config={"max_parallel_tools": 2},
    )
    gate = Gate()
    turn.tool("wait", gate)
    turn.tool("quick", lambda given: "seen")
    seen = record(turn, TOOL_START, TOOL_POST)
    async with anyio.create_task_group() as group:
        group.start_soon(turn.run)
        await anyio.wait_all_tasks_blocked()
        gate.go.set()
    assert seen == [
        (TOOL_START, "1"), (TOOL_START, "2"), (TOOL_POST, "2"), (TOOL_START, "3"),
        (TOOL_POST, "3"), (TOOL_START, "4"), (TOOL_POST, "4"), (TOOL_POST, "1"),
    ]  # fmt: skip


# Holds: sink-33
async def test_an_exclusive_tool_runs_alone_in_its_place(bench, say, loop):
    calls = numbered("look", "look", "write", "look", "write", "write", "look")
    turn = bench(loop, say.calls(*calls), say.text("done"))
    running, together = [], []

    def tool(name):
        async def run(given):
            running.append(name)
            for _ in range(4):
                await anyio.lowlevel.checkpoint()
            together.append(sorted(running))
            running.remove(name)
            return "done"

        return run

    turn.tool("look", tool("look"))
    turn.tool("write", tool("write")).parallel = False
    with anyio.fail_after(10):
        await turn.run()
    assert together == [
        ["look", "look"], ["look"], ["write"], ["look"], ["write"], ["write"], ["look"],
    ]  # fmt: skip


# Holds: sink-34
async def test_a_tool_starts_when_it_is_judged_and_allowed_and_not_before(bench, say, loop):
    calls = numbered("look", "denied", "refused", "approved", "look")
    turn = bench(loop, say.calls(*calls), say.text("done"), config={"max_parallel_tools": 1})
    seen = record(turn, TOOL_PRE, TOOL_START, TOOL_POST, TOOL_ERROR)
    for name in ("look", "denied", "refused", "approved"):
        turn.tool(name, lambda given, name=name: seen.append(("execute", name)) or "done")

    async def judge(event, data):
        await anyio.lowlevel.checkpoint()
        seen.append(("judged", data["tool_call_id"]))
        if data["tool_name"] == "denied":
            return HookResult(action="deny", reason="no")
        if data["tool_name"] in {"refused", "approved"}:
            return HookResult(action="ask_user", approval_prompt=data["tool_name"])
        return None

    class Person:
        async def request_approval(self, prompt, *_):
            await anyio.lowlevel.checkpoint()
            seen.append(("asked", prompt))
            return "Allow" if prompt == "approved" else "Deny"

    turn.coordinator.approval_system = Person()
    turn.hook(TOOL_PRE, judge)
    await turn.run()
    assert seen == [
        (TOOL_PRE, "1"), ("judged", "1"), (TOOL_START, "1"), ("execute", "look"), (TOOL_POST, "1"),
        (TOOL_PRE, "2"), ("judged", "2"), (TOOL_ERROR, "2"),
        (TOOL_PRE, "3"), ("judged", "3"), ("asked", "refused"), (TOOL_ERROR, "3"),
        (TOOL_PRE, "4"), ("judged", "4"), ("asked", "approved"), (TOOL_START, "4"),
        ("execute", "approved"), (TOOL_POST, "4"),
        (TOOL_PRE, "5"), ("judged", "5"), (TOOL_START, "5"), ("execute", "look"), (TOOL_POST, "5"),
    ]  # fmt: skip


# Holds: sink-34
@pytest.mark.parametrize("refusal", ["denies", "fails"])
async def test_who_refuses_the_start_of_a_tool_keeps_it_from_running(bench, say, loop, refusal):
    turn = bench(loop, say.calls(*numbered("look", "write")), say.text("done"))
    seen = record(turn, TOOL_POST, TOOL_ERROR)
    for name in ("look", "write"):
        turn.tool(name, lambda given, name=name: seen.append(("execute", name)) or "done")

    def judge(event, data):
        if data["tool_name"] == "look":
            return None
        if refusal == "fails":
            raise OSError("the disk is full")
        return HookResult(action="deny", reason="the disk is full")

    turn.coordinator.hooks.register(TOOL_START, judge, fail_closed=True)
    await turn.run()
    assert sorted(seen) == [("execute", "look"), (TOOL_ERROR, "2"), (TOOL_POST, "1")]
    said = "the disk is full" if refusal == "denies" else "failed on `tool:start`"
    assert said in (await turn.context.get_messages())[-2]["content"]


async def test_each_call_that_ends_has_its_message_before_the_others_end(bench, say, loop):
    turn = bench(loop, say.calls(*numbered("wait", "quick", "lost")), say.text("done"))
    gate = Gate()
    turn.tool("wait", gate)
    turn.tool("quick", lambda given: "seen")
    ended = []

    def note(event, data):
        ended.append(data["message"])
        if len(ended) == 2:
            gate.go.set()

    turn.hook(TOOL_RESULT, note)
    await turn.run()
    assert ended[-1]["tool_call_id"] == "1"
    kept = [each for each in await turn.context.get_messages() if each["role"] == "tool"]
    shown = [{key: each[key] for key in each if key != "metadata"} for each in kept]
    assert sorted(ended, key=lambda each: each["tool_call_id"]) == shown


async def test_hooks_see_which_tool_only_reads(bench, say):
    turn = bench("basic", say.calls(*numbered("look", "write")), say.text("done"))
    turn.tool("look", lambda given: "seen").read_only = True
    turn.tool("write", lambda given: "done")
    await turn.run()
    found = {data["tool_name"]: data.get("read_only") for data in turn.data(TOOL_PRE)}
    assert found == {"look": True, "write": None}


async def test_a_tool_that_only_reads_leaves_no_doubt_when_it_is_ended(bench, say):
    turn = bench(
        "basic", say.calls(*numbered("look", "write")), say.text("done"),
        config={"tool_timeout": 0.01},
    )  # fmt: skip
    turn.tool("look", lambda given: anyio.sleep_forever()).read_only = True
    turn.tool("write", lambda given: anyio.sleep_forever())
    await turn.run()
    look, write = [each["content"] for each in await turn.history() if each["role"] == "tool"]
    assert look.endswith("the time limit of tools; it has changed nothing")
    assert write.endswith("the time limit of tools; its effects are unknown")
