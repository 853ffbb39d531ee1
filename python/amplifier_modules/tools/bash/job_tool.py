"""The tool `bash_job`: looks after the commands in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import anyio
from pydantic import Field

from amplifier_core.models import ToolResult
from amplifier_modules.sandbox.command import LaunchError
from amplifier_modules.tools.blocking import (
    INVALID,
    Arguments,
    InvalidArgumentsError,
    build_schema,
    check_arguments,
    make_failure,
)

from .command_result import describe_end, describe_file
from .job import Job, JobInfo
from .jobs import Jobs, UnknownJobError
from .settings import MAX_SECONDS

_KILL_SECONDS = 5.0


class JobArguments(Arguments):
    """What the model says of a job."""

    action: Literal["wait", "output", "kill", "list"] = Field(
        description="`wait` until it ends, or `timeout`; `output` since it was last asked for;"
        " `kill` it; `list` all jobs."
    )
    id: str | None = Field(default=None, description="The job; not for `list`.")
    timeout: float | None = Field(
        default=None, gt=0, le=MAX_SECONDS, description="Seconds to `wait`, at most."
    )


class JobTool:
    """Waits for the jobs of `bash`, shows and ends them."""

    name = "bash_job"
    description = (
        "Look after a command that runs in the background. `wait`, `output` and `kill` return its"
        " `status` and the output that is new."
    )
    is_session_bound = True

    def __init__(
        self, jobs: Jobs, *, timeout: float, find_limit: Callable[[], float | None], max_bytes: int
    ) -> None:
        """Look after the jobs of a session.

        Args:
            jobs: The jobs.
            timeout: Seconds to wait where the call does not say so.
            find_limit: Returns the seconds that loops give to a call.
            max_bytes: Bytes of an error, at most.
        """
        self._jobs = jobs
        self._timeout = timeout
        self._find_limit = find_limit
        self._max_bytes = max_bytes
        self.input_schema = build_schema(JobArguments)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Do an action; an error of it is in the result."""
        try:
            arguments = check_arguments(JobArguments, input)
            if arguments.action == "list":
                jobs = self._jobs.list_jobs()
                return ToolResult(output={"jobs": [_describe_info(each) for each in jobs]})
            if arguments.id is None:
                raise InvalidArgumentsError(f"`id` is missing; `{arguments.action}` needs it")
            job = self._jobs.find(arguments.id)
            if arguments.action == "kill":
                job.run.kill()
                await _wait(job, _KILL_SECONDS)
            elif arguments.action == "wait":
                await _wait(job, self._limit(arguments.timeout))
            return ToolResult(output=_describe_job(job))
        except InvalidArgumentsError as error:
            return make_failure(str(error), INVALID, self._max_bytes)
        except UnknownJobError as error:
            return make_failure(str(error), type(error).__name__, self._max_bytes)

    def _limit(self, timeout: float | None) -> float:
        seconds = self._timeout if timeout is None else timeout
        limit = self._find_limit()
        return seconds if limit is None else min(seconds, max(limit - 1, limit / 2))


async def _wait(job: Job, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await job.ended.wait()


def _describe_job(job: Job) -> dict[str, Any]:
    """Return how a job is, and the output that is new."""
    # Before the output is taken: what comes meanwhile is asked for once more.
    info = job.describe()
    is_over = info.status != "running"
    described: dict[str, Any] = {"id": info.id, "status": info.status}
    if is_over:
        try:
            described |= describe_end(job.run)
        except LaunchError as error:
            described["error"] = str(error)
    taken = job.run.output.take(is_over=is_over)
    described |= {"seconds": round(info.seconds, 2), "output": taken.text}
    return {**described, **describe_file(taken)}


def _describe_info(info: JobInfo) -> dict[str, Any]:
    described: dict[str, Any] = {"id": info.id, "status": info.status, "command": info.command}
    if info.exit_code is not None:
        described["exit_code"] = info.exit_code
    return {**described, "seconds": round(info.seconds, 2)}
