"""The progress of tools: from any tool and thread, at most 30 events a second, the last one always."""

from __future__ import annotations

import itertools
import threading

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_modules.loops.boundary.call_context import MAX_REPORTS_PER_SECOND, Progress
from amplifier_modules.loops.boundary.hook_points import HookPoints
from amplifier_modules.tool.context import ToolContext
from amplifier_modules.tool.function_tool import tool
from amplifier_providers.running.run_sync import caller_into_loop

TOOL_PROGRESS = "tool:progress"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def watch(turn):
    """Return the list of what is reported, and of the ends of calls."""
    seen = []

    def note(event, data):
        seen.append((data["tool_call_id"], data["message"], data["fraction"]))

    turn.hook(TOOL_PROGRESS, note)
    for event in (TOOL_POST, TOOL_ERROR):
        turn.hook(event, lambda event, data: seen.append((data["tool_call_id"], event)))
    return seen


class Clock:
    """Time that passes when somebody waits for it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        until = self.now + seconds
        while self.now < until:
            await anyio.lowlevel.checkpoint()


class Starter:
    """Runs functions in a task group."""

    def __init__(self, group):
        self._group = group
        self.call_soon = caller_into_loop()

    def start(self, function, on_end):
        async def run():
            await function()
            on_end()

        self._group.start_soon(run)


# Holds: sink-35
@pytest.mark.parametrize("steps", [1, 30, 300, 3000])
async def test_at_most_thirty_events_a_second_and_the_last_report_always(bench, steps):
    turn, clock, times = bench("basic"), Clock(), []
    turn.hook(TOOL_PROGRESS, lambda event, data: times.append((clock.now, data["message"])))
    about = {"tool_name": "look", "tool_call_id": "1", "parallel_group_id": "g"}
    points = HookPoints(turn.coordinator.hooks, turn.coordinator)
    seconds = 3
    async with anyio.create_task_group() as group:
        progress = Progress(points, about, Starter(group), clock, clock.sleep)
        for step in range(steps):
            progress.report({"message": str(step), "fraction": step / steps})
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            clock.now += seconds / steps
        await progress.finish()
    messages = [int(message) for _, message in times]
    assert messages == sorted(set(messages))
    assert messages[0] == 0
    assert messages[-1] == steps - 1
    assert len(times) <= seconds * MAX_REPORTS_PER_SECOND + 2
    assert steps > 30 or len(times) == steps
    gaps = [after - before for (before, _), (after, _) in itertools.pairwise(times[:-1])]
    assert all(gap >= 1 / MAX_REPORTS_PER_SECOND - 1e-9 for gap in gaps)
    progress.report({"message": "late", "fraction": None})
    await anyio.lowlevel.checkpoint()
    assert times[-1][1] == str(steps - 1)


@pytest.mark.parametrize("loop", ["basic", "streaming"])
async def test_a_tool_that_knows_its_coordinator_alone_reports(bench, say, loop):
    calls = say.calls(("1", "look", {}), ("2", "look", {}))
    turn = bench(loop, calls, say.text("done"))
    both = anyio.Event()

    async def look(given):
        report = turn.coordinator.get_capability("tool.progress")
        call = ToolContext.current().call_id
        report(f"looking for {call}", 0.5)
        if call == "1":
            await both.wait()
        both.set()
        report("found")
        return "seen"

    turn.tool("look", look)
    seen = watch(turn)
    await turn.run()
    for call in ("1", "2"):
        *reports, end = [each for each in seen if each[0] == call]
        assert reports[-1] == (call, "found", None)
        assert end == (call, TOOL_POST)


async def test_a_report_is_emitted_while_the_tool_runs(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    shown = anyio.Event()
    turn.hook(TOOL_PROGRESS, lambda event, data: shown.set())

    async def look(given):
        ToolContext.current().progress("looking")
        with anyio.fail_after(10):
            await shown.wait()
        return "seen"

    turn.tool("look", look)
    await turn.run()
    assert shown.is_set()


async def test_threads_report(bench, say):
    turn = bench("basic", say.calls(("1", "look", {}), ("2", "count", {})), say.text("done"))

    @tool
    def look(context: ToolContext) -> str:
        """Look."""
        other = threading.Thread(target=context.progress, args=("from a thread of its own", 1))
        context.progress("half", 0.5)
        other.start()
        other.join()
        return "seen"

    @tool
    def count() -> str:
        """Count."""
        for number in range(1000):
            ToolContext.current().progress(str(number))
        return "counted"

    turn.tools |= {"look": look, "count": count}
    seen = watch(turn)
    await turn.run()
    *_, last, end = [each for each in seen if each[0] == "1"]
    assert (last, end) == (("1", "from a thread of its own", 1), ("1", TOOL_POST))
    *_, last, end = [each for each in seen if each[0] == "2"]
    assert (last, end) == (("2", "999", None), ("2", TOOL_POST))


async def test_a_tool_that_fails_has_reported_before_its_error(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))

    async def look(given):
        ToolContext.current().progress("nearly", 0.9)
        raise ValueError("bad")

    turn.tool("look", look)
    seen = watch(turn)
    await turn.run()
    assert seen == [("1", "nearly", 0.9), ("1", TOOL_ERROR)]


@pytest.mark.parametrize(
    ("report", "error"),
    [
        (("half", 50), "ValueError: `fraction` is 50 (must be from 0 to 1, or None)"),
        (("half", float("nan")), "ValueError: `fraction` is nan (must be from 0 to 1, or None)"),
        ((b"half",), "TypeError: `message` is a `bytes` (must be text)"),
    ],
)
async def test_a_report_that_cannot_be_shown_is_refused(bench, say, report, error):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: ToolContext.current().progress(*report))
    await turn.run()
    message = next(each for each in await turn.history() if each["role"] == "tool")
    assert message["content"] == f"Error: tool `look` failed: {error}"


async def test_without_a_call_there_is_nothing_to_report(bench, say):
    turn = bench("basic", say.text("done"))
    await turn.run()
    with pytest.raises(LookupError, match="no tool call runs here"):
        turn.coordinator.get_capability("tool.progress")("half", 0.5)


async def test_a_hook_that_waits_at_a_report_is_ended_with_the_turn(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))

    async def wait(event, data):
        await anyio.sleep_forever()

    async def look(given):
        ToolContext.current().progress("looking")
        return "seen"

    turn.tool("look", look)
    turn.hook(TOOL_PROGRESS, wait)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(turn.run)
            await anyio.wait_all_tasks_blocked()
            turn.token.request_immediate()
    valid(await turn.history())
