"""Jobs: commands in the background, of one session and no longer than that."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_modules.sandbox.command import Ending, LaunchError
from amplifier_modules.tools import bash
from amplifier_modules.tools.bash import JobInfo

HOLDING = "exec 9<>{pipe}; echo $$ > pid; echo ready > {pipe}.begun; read -u 9; echo over"


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].startswith(" Z")


def read_file(path: str) -> bytes:
    return Path(path).read_bytes()


async def hold(tools: Any, started: Any, tmp_path: Path, name: str = "pipe") -> int:
    """Begin a job that waits for a line in a pipe; return the id of its shell."""
    pipe = tmp_path / name
    os.mkfifo(pipe)
    os.mkfifo(f"{pipe}.begun")
    await tools.run(HOLDING.format(pipe=pipe), run_in_background=True)
    assert await started(Path(f"{pipe}.begun")) == "ready"
    return int((tmp_path / "project/pid").read_text())


# Holds: sandbox-48
async def test_a_job_runs_on_and_is_asked_for(tools: Any, started: Any, tmp_path: Path) -> None:
    command = HOLDING.format(pipe=tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.begun")
    begun = await tools.run(command, run_in_background=True)
    assert begun == {"id": "job-1", "status": "running", "sandbox": "none"}
    await started(tmp_path / "pipe.begun")
    assert await tools.ask("output", id="job-1") == {
        "id": "job-1", "status": "running", "output": "",
    }  # fmt: skip
    assert await tools.ask("wait", id="job-1", timeout=0.01) == {
        "id": "job-1", "status": "running", "output": "",
    }  # fmt: skip
    (tmp_path / "pipe").write_text("go\n")
    assert await tools.ask("wait", id="job-1") == {
        "id": "job-1", "status": "exited", "exit_code": 0, "output": "over\n",
    }  # fmt: skip
    assert (await tools.ask("output", id="job-1"))["output"] == ""
    assert tools.events == [
        ("job:start", {"job_id": "job-1", "command": command}),
        (
            "job:end",
            {"job_id": "job-1", "command": command, "status": "exited", "exit_code": 0},
        ),
    ]


# Holds: sandbox-48
async def test_a_job_is_killed_with_what_it_began(tools: Any, started: Any, tmp_path: Path) -> None:
    shell = await hold(tools, started, tmp_path)
    assert await tools.ask("kill", id="job-1") == {
        "id": "job-1", "status": "killed", "killed": True, "output": "",
    }  # fmt: skip
    assert not is_alive(shell)
    assert (await tools.ask("kill", id="job-1"))["status"] == "killed"


async def test_jobs_are_listed_to_the_model_and_to_the_program(
    tools: Any, started: Any, tmp_path: Path
) -> None:
    assert await tools.ask("list") == {"jobs": []}
    await tools.run("exit 3", run_in_background=True)
    await tools.ask("wait", id="job-1")
    await hold(tools, started, tmp_path)
    command = HOLDING.format(pipe=tmp_path / "pipe")
    assert await tools.ask("list") == {
        "jobs": [
            {"id": "job-1", "status": "exited", "command": "exit 3", "exit_code": 3},
            {"id": "job-2", "status": "running", "command": command},
        ]
    }
    listed: list[JobInfo] = tools.coordinator.get_capability("bash.jobs")()
    assert [(each.id, each.status, each.exit_code) for each in listed] == [
        ("job-1", "exited", 3),
        ("job-2", "running", None),
    ]


# Holds: sandbox-48
async def test_no_more_jobs_run_than_may(mount: Any, started: Any, tmp_path: Path) -> None:
    tools = await mount(safety_profile="unrestricted", max_jobs=1)
    await hold(tools, started, tmp_path)
    message = "1 jobs run, and no more may: job-1 (end one with `bash_job`)"
    assert await tools.run("true", run_in_background=True) == ("TooManyJobsError", message)
    await tools.ask("kill", id="job-1")
    assert (await tools.run("true", run_in_background=True))["id"] == "job-2"


# Holds: sandbox-48
async def test_jobs_end_with_their_session(mount: Any, started: Any, tmp_path: Path) -> None:
    tools = await mount(safety_profile="unrestricted")
    shell = await hold(tools, started, tmp_path)
    await tools.coordinator.cleanup()
    assert not is_alive(shell)
    assert [event for event, _ in tools.events] == ["job:start", "job:end"]


# Holds: sandbox-48
async def test_jobs_end_with_a_session_that_is_dropped(started: Any, tmp_path: Path) -> None:
    coordinator = ModuleCoordinator()
    await bash.mount(coordinator, {"root": str(tmp_path), "safety_profile": "unrestricted"})
    os.mkfifo(tmp_path / "end")
    os.mkfifo(tmp_path / "begun")
    end = os.open(tmp_path / "end", os.O_RDONLY | os.O_NONBLOCK)
    try:
        tool = coordinator.get("tools")["bash"]
        command = "exec 8> end; echo ready > begun; sleep 1000"
        await tool.execute({"command": command, "run_in_background": True})
        await started(tmp_path / "begun")
        del tool, coordinator
        gc.collect()
        # The pipe has an end when nobody holds it any more.
        with anyio.fail_after(20):
            await anyio.wait_readable(end)
        assert os.read(end, 1) == b""
    finally:
        os.close(end)


async def test_a_job_has_no_time_limit_of_its_own_unless_one_is_given(
    mount: Any, scripted: Any
) -> None:
    runner = scripted(Ending(None, 9, timed_out=True))
    tools = await mount(runner, timeout=1)
    await tools.run("a", run_in_background=True)
    await tools.run("b", run_in_background=True, timeout=5)
    assert (await tools.ask("wait", id="job-2")) == {
        "id": "job-2", "status": "timed_out", "timed_out": True, "output": "",
    }  # fmt: skip
    await tools.ask("wait", id="job-1")
    limits = {command.text: command.timeout for command in runner.commands}
    assert limits == {"a": None, "b": 5}


async def test_a_job_that_cannot_be_started_has_failed(mount: Any, scripted: Any) -> None:
    tools = await mount(scripted(LaunchError("no room")))
    await tools.run("a", run_in_background=True)
    assert await tools.ask("wait", id="job-1") == {
        "id": "job-1", "status": "failed", "error": "no room", "output": "",
    }  # fmt: skip


async def test_a_long_output_of_a_job_is_bounded_each_time(mount: Any) -> None:
    tools = await mount(safety_profile="unrestricted", max_output_bytes=1024)
    await tools.run("seq 1000", run_in_background=True)
    result = await tools.ask("wait", id="job-1")
    assert "bytes are left out here …]" in result["output"]
    whole = "".join(f"{number}\n" for number in range(1, 1001))
    assert read_file(result["output_file"]) == whole.encode()


@pytest.mark.parametrize(
    ("input", "error"),
    [
        (
            {"action": "wait"},
            ("invalid_arguments", "`id` is missing; `wait` needs it"),
        ),
        (
            {"action": "kill", "id": "job-7"},
            ("UnknownJobError", "no job `job-7` (there are: none)"),
        ),
    ],
)
async def test_a_job_that_is_not_there_is_refused(
    tools: Any, input: dict[str, Any], error: tuple[str, str]
) -> None:
    result = await tools.job.execute(input)
    assert (result.error["type"], result.error["message"]) == error
