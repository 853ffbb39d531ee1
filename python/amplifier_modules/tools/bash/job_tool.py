"""The tool `bash_job`: looks after the commands in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from amplifier_core.models import ToolResult
from amplifier_modules.sandbox.command import ForwardError, LaunchError
from amplifier_modules.tools.blocking import (
    INVALID,
    Arguments,
    InvalidArgumentsError,
    build_schema,
    check_arguments,
    make_failure,
)
from amplifier_modules.tools.secret_files import is_call_approved

from .bash_tool import NotApprovedError
from .command_result import describe_end, describe_file
from .job import Job, JobInfo
from .jobs import Jobs, UnknownJobError
from .settings import MAX_SECONDS

_KILL_SECONDS = 5.0


class JobArguments(Arguments):
    """What the model says of a job."""

    action: Literal["wait", "output", "kill", "list", "forward"] = Field(
        description="`wait` until it ends, or `timeout`; `output` since it was last asked for;"
        " `kill` it; `list` all jobs; `forward` a `port` that it listens at, so that a person"
        " reaches it, who is asked."
    )
    id: str | None = Field(default=None, description="The job; not for `list`.")
    timeout: float | None = Field(
        default=None, gt=0, le=MAX_SECONDS, description="Seconds to `wait`, at most."
    )
    port: int | None = Field(
        default=None, ge=1, le=65_535, description="With `forward`: where it listens."
    )


class JobTool:
    """Waits for the jobs of `bash`, shows and ends them."""

    name = "bash_job"
    description = (
        "Look after a command that runs in the background. `wait`, `output` and `kill` return its"
        " `status` and the output that is new; `listens_on` has the ports of a server."
    )
    is_session_bound = True
    acts_in_session = True

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

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: a port of a job is to be reached from outside."""
        try:
            arguments = check_arguments(JobArguments, dict(input))
            if arguments.action != "forward":
                return False
            self._find(arguments).check_forward(_read_port(arguments))
        except (InvalidArgumentsError, UnknownJobError, ForwardError):
            return False  # the call itself says so
        return True

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Do an action; an error of it is in the result."""
        try:
            arguments = check_arguments(JobArguments, input)
            if arguments.action == "list":
                jobs = self._jobs.list_jobs()
                return ToolResult(output={"jobs": [_describe_info(each) for each in jobs]})
            job = self._find(arguments)
            if arguments.action == "forward":
                return ToolResult(output=await _forward_port(job, _read_port(arguments), self.name))
            if arguments.action == "kill":
                job.run.kill()
                await _wait(job, _KILL_SECONDS)
            elif arguments.action == "wait":
                await _wait(job, self._limit(arguments.timeout))
            described = _describe_job(job)
            if ports := await anyio.to_thread.run_sync(job.run.list_ports):
                described["listens_on"] = ports
            return ToolResult(output=described)
        except InvalidArgumentsError as error:
            return make_failure(str(error), INVALID, self._max_bytes)
        except (ForwardError, NotApprovedError, UnknownJobError) as error:
            return make_failure(str(error), type(error).__name__, self._max_bytes)

    def _find(self, arguments: JobArguments) -> Job:
        if arguments.id is None:
            raise InvalidArgumentsError(f"`id` is missing; `{arguments.action}` needs it")
        return self._jobs.find(arguments.id)

    def _limit(self, timeout: float | None) -> float:
        seconds = self._timeout if timeout is None else timeout
        limit = self._find_limit()
        return seconds if limit is None else min(seconds, max(limit - 1, limit / 2))


def _read_port(arguments: JobArguments) -> int:
    if arguments.port is None:
        raise InvalidArgumentsError("`port` is missing; `forward` needs it")
    return arguments.port


async def _forward_port(job: Job, port: int, tool: str) -> dict[str, Any]:
    """Forward a port, and return where a person reaches it."""
    job.check_forward(port)
    if not is_call_approved(tool):
        raise NotApprovedError(
            "the port was not forwarded: a person must agree to it, and nobody has"
        )
    forward = await anyio.to_thread.run_sync(job.forward_port, port)
    described = {"id": job.id, "port": port, "url": f"http://127.0.0.1:{forward.port}/"}
    if not await anyio.to_thread.run_sync(forward.is_answered):
        described["note"] = f"nothing listens at port {port} of the job yet"
    return described


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
