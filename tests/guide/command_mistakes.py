"""The mistakes of the guide with commands."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from mistakes import mistake, model

from amplifier_agent import Agent
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

JOB = {"tool": "bash", "arguments": {"command": "sleep 60", "run_in_background": True}}
FORWARD = {"tool": "bash_job", "arguments": {"action": "forward", "id": "job-1", "port": 8000}}


def told_last(*calls: dict[str, Any], **config: Any) -> str:
    """What the model is told of the last of its calls, where there is no sandbox."""
    scripted = model(*calls, "Done.")
    bash = {"module": "tool-bash", "config": config}
    with (
        TemporaryDirectory() as folder,
        patch.object(runners, "open_runner", lambda _confinement: UnconfinedRunner()),
    ):
        Agent(scripted, tools=[bash], directory=folder).run_sync("go")
    return str(scripted.requests[-1].messages[-1].content)


@mistake("files-and-commands", "a command where there is no sandbox and nobody can be asked")
def _() -> str:
    return told_last({"tool": "bash", "arguments": {"command": "make"}})


@mistake("files-and-commands", "a way out of the sandbox without a reason")
def _() -> str:
    return told_last({"tool": "bash", "arguments": {"command": "make", "sandbox": "none"}})


@mistake("files-and-commands", "more commands in the background than may run")
def _() -> str:
    return told_last(JOB, JOB, safety_profile="unrestricted", max_jobs=1)


@mistake("files-and-commands", "a job that is not there")
def _() -> str:
    call = {"tool": "bash_job", "arguments": {"action": "kill", "id": "job-3"}}
    return told_last(JOB, call, safety_profile="unrestricted")


@mistake("files-and-commands", "a forward of a port where there is no sandbox")
def _() -> str:
    return told_last(JOB, FORWARD, safety_profile="unrestricted")


@mistake("files-and-commands", "a forward of a port of a job that has ended")
def _() -> str:
    kill = {"tool": "bash_job", "arguments": {"action": "kill", "id": "job-1"}}
    return told_last(JOB, kill, FORWARD, safety_profile="unrestricted")


@mistake("files-and-commands", "a `safety_profile` that does not exist")
def _() -> str:
    return told_last(safety_profile="none")
