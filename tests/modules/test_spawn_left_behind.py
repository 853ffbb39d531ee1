"""Sub-agents whose tools ignore their cancellation, on a clock that jumps."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, ScriptedProvider, ToolContext, tool
from amplifier_modules.spawn.tasks import GRACE_SECONDS, closing_seconds

sys.path.insert(0, str(Path(__file__).parent))
from virtual_time import BACKENDS


@pytest.fixture
def anyio_backend() -> Any:
    return BACKENDS["asyncio"]()


class Stubborn:
    """Tools that go deeper into sub-agents, down to one that ignores its cancellation."""

    def __init__(self, depth: int) -> None:
        self.begun = anyio.Event()
        self.told: list[tuple[float, str, int, str]] = []
        """The time, event, depth and status of each end."""
        calls = [{"tool": "deeper", "arguments": {"depth": each}} for each in range(depth)]
        self.model = ScriptedProvider([*calls, {"tool": "hang"}, "It did not end."])
        self.tools = [tool(self.deeper), tool(self.hang)]

    async def deeper(self, context: ToolContext, depth: int) -> str:
        """Have a sub-agent go deeper."""
        hooks = context.session.coordinator.hooks

        def note(event: str, data: dict[str, Any]) -> None:
            self.told.append((anyio.current_time(), event, depth, data.get("status", "")))

        for event in ("task:end", "tool:error", "tool:post"):
            hooks.register(event, note)
        spawn = context.session.coordinator.get_capability("session.spawn")
        return str((await spawn("go")).failure())

    async def hang(self) -> str:
        """Ignore cancellations for 100 seconds, but not one at every turn of the event loop."""
        until = anyio.current_time() + 100
        self.begun.set()
        for _ in range(1_000):
            with suppress(anyio.get_cancelled_exc_class()):
                await anyio.sleep(until - anyio.current_time())
        return "late"


# Holds: agent-51
@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_a_sub_agent_ends_in_its_turn_though_its_tool_has_to_be_left_behind(
    depth: int, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = Stubborn(depth)
    async with Agent(stubborn.model, tools=stubborn.tools).session() as session:
        results: list[Any] = []

        async def run() -> None:
            results.append(await session.run("go"))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await stubborn.begun.wait()
            session.cancel()
        assert (anyio.current_time(), results[0].status) == (2.0, "cancelled")
    assert stubborn.told == [
        end
        for level in reversed(range(depth))
        for end in ((2.0, "task:end", level, "cancelled"), (2.0, "tool:error", level, ""))
    ]
    left = "tool `hang` ignores its cancellation; it is left behind, and its result is ignored"
    assert [record.getMessage() for record in caplog.records] == [left]


async def test_a_sub_agent_has_as_long_to_end_as_those_below_it_need() -> None:
    stubborn = Stubborn(2)
    async with Agent(stubborn.model, tools=stubborn.tools).session() as session:
        spawn = session.session.coordinator.get_capability("session.spawn")
        task = await spawn("go", background=True)
        await stubborn.begun.wait()
        assert closing_seconds(session.session.coordinator) == 3 * GRACE_SECONDS
        spawn.cancel(task)
        result = await spawn.result(task)
        assert (anyio.current_time(), result.status) == (2.0, "cancelled")
        assert closing_seconds(session.session.coordinator) == 0


async def test_the_time_limit_of_a_tool_waits_for_its_sub_agents() -> None:
    stubborn = Stubborn(2)
    loop = {"module": "loop-basic", "config": {"tool_timeout": 30}}
    result = await Agent(stubborn.model, tools=stubborn.tools, loop=loop).run("go")
    assert (anyio.current_time(), result.text) == (32.0, "It did not end.")
    assert [(event, depth) for _, event, depth, _ in stubborn.told] == [
        ("task:end", 1), ("tool:error", 1), ("task:end", 0), ("tool:error", 0),
    ]  # fmt: skip
