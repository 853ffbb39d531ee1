"""What ends a command with all that it began: its call, its time, its session; and who hears of it.

Each command holds a pipe open with everything that it begins: that is closed when all have ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

HOLDING = "exec 8> end; (sleep 1000; echo child) & echo output; echo ready > begun; sleep 1000"


@pytest.fixture
def end(tmp_path: Path) -> Iterator[int]:
    """The reading end of the pipe that a command holds."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    os.mkfifo(project / "end")
    os.mkfifo(project / "begun")
    reading = os.open(project / "end", os.O_RDONLY | os.O_NONBLOCK)
    yield reading
    os.close(reading)


async def closed(end: int) -> bool:
    with anyio.fail_after(20):
        await anyio.wait_readable(end)
    return os.read(end, 1) == b""


# Holds: sandbox-44
async def test_a_call_that_is_cancelled_ends_its_command(
    tools: Any, started: Any, tmp_path: Path, end: int
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(tools.run, HOLDING)
        await started(tmp_path / "project/begun")
        group.cancel_scope.cancel()
    assert await closed(end)
    assert (await tools.run("echo again"))["output"] == "again\n"


# Holds: sandbox-44
async def test_a_call_that_is_cancelled_while_it_waits_runs_nothing(
    tools: Any, started: Any, tmp_path: Path, end: int
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(tools.run, HOLDING)
        await started(tmp_path / "project/begun")
        with anyio.move_on_after(0.01):
            await tools.run("touch ran")
        group.cancel_scope.cancel()
    assert await closed(end)
    assert (await tools.run("ls"))["output"] == "begun\nend\n"


# Holds: sandbox-44
async def test_the_end_of_a_session_ends_its_commands(
    mount: Any, started: Any, tmp_path: Path, end: int
) -> None:
    tools = await mount(safety_profile="unrestricted")
    results: list[Any] = []

    async def run() -> None:
        results.append(await tools.run(HOLDING))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await started(tmp_path / "project/begun")
        await tools.coordinator.cleanup()
    assert await closed(end)
    assert results == [{"output": "output\n", "killed": True, "sandbox": "none"}]


# Holds: sandbox-44
async def test_what_a_command_leaves_running_ends_with_it(tools: Any, end: int) -> None:
    result = await tools.run("exec 8> end; (sleep 1000) & nohup sleep 1000 & echo left")
    assert result == {"output": "left\n", "exit_code": 0, "sandbox": "none"}
    assert await closed(end)


# Holds: sandbox-44
async def test_at_its_time_limit_all_that_a_command_began_ends_and_its_output_is_there(
    tools: Any, end: int
) -> None:
    result = await tools.run("exec 8> end; echo begun; sleep 1000 & sleep 1000", timeout=0.25)
    assert result == {"output": "begun\n", "timed_out": True, "sandbox": "none"}
    assert await closed(end)


async def test_what_left_the_group_of_a_command_keeps_nobody_waiting(
    tools: Any, started: Any, tmp_path: Path, end: int
) -> None:
    # A pipe of its own says when it has left the group.
    os.mkfifo(tmp_path / "project/away")
    command = (
        "setsid bash -c 'echo away > away; echo $$ > pid; while :; do echo flood; done'"
        " & read < away; while [ ! -s pid ]; do :; done"
    )
    result = await tools.run(command)
    assert (result["exit_code"], result["sandbox"]) == (0, "none")
    await tools.run("kill -KILL $(cat pid)")
