"""A command in the background."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeAlias

import anyio

from amplifier_core import world
from amplifier_modules.running.background import start_task
from amplifier_modules.sandbox.command import Forward, ForwardError

from .command_run import CommandRun

logger = logging.getLogger(__name__)

JobStatus: TypeAlias = Literal["running", "exited", "killed", "timed_out", "failed"]
"""`killed` is what any signal ended, `failed` what could not be run."""

JOB_START = "job:start"
"""Event: a command begins in the background."""
JOB_END = "job:end"
"""Event: a command in the background has ended."""

Emit: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True)
class JobInfo:
    """A job as it is listed."""

    id: str
    command: str
    status: JobStatus
    seconds: float
    """How long it runs, or ran."""
    exit_code: int | None
    """None while it runs, and where it did not exit."""
    begun: float
    """When it began, in seconds since the epoch."""
    last_line: str
    """The last line of its output that is not empty."""


class Job:
    """A command that runs on while its session works; its beginning and its end are events."""

    def __init__(self, id: str, run: CommandRun, over: anyio.Event, emit: Emit) -> None:
        """Prepare a job.

        Args:
            id: Its name for the model.
            run: The command.
            over: Set when that has ended.
            emit: Emits an event of the session.
        """
        self.id = id
        self.run = run
        self.ended = anyio.Event()
        """Set when it has ended and its event was emitted."""
        self._begun = world.time()
        self._over = over
        self._emit = emit
        self._forwarding = Lock()
        self._forwards: dict[int, Forward] = {}

    async def start(self, start: Callable[[CommandRun], object]) -> None:
        """Emit `job:start`, start the command, and go on while it runs."""
        await self._emit(JOB_START, {"job_id": self.id, "command": self.run.command.text})
        start(self.run)
        # In no context: what is set for the call that starts it is none of its end.
        Context().run(start_task, self._watch)

    def describe(self) -> JobInfo:
        """Return it as it is now."""
        ending = self.run.ending
        code = None if ending is None else ending.exit_code
        return JobInfo(
            self.id,
            self.run.command.text,
            self._find_status(),
            self.run.count_seconds(),
            code,
            self._begun,
            self.run.output.find_last_line(),
        )

    def check_forward(self, port: int) -> None:
        """Look whether a port can be forwarded.

        Raises:
            ForwardError: It cannot, or need not.
        """
        if self.run.is_over:
            raise ForwardError(f"port {port} cannot be forwarded: job `{self.id}` has ended")
        self.run.runner.check_forward(port)

    def forward_port(self, port: int) -> Forward:
        """Return what passes connections on to a port, until the job ends; blocks.

        Raises:
            ForwardError: None can be made, or need be.
        """
        with self._forwarding:
            if port not in self._forwards:
                self.check_forward(port)
                forward = self._forwards[port] = self.run.runner.forward_port(port)
                self.run.close_at_end(forward.close)
            return self._forwards[port]

    def _find_status(self) -> JobStatus:
        ending = self.run.ending
        if not self.run.is_over:
            return "running"
        if ending is None:
            return "failed"
        if ending.timed_out:
            return "timed_out"
        return "killed" if self.run.is_killed or ending.exit_code is None else "exited"

    async def _watch(self) -> None:
        try:
            await self._over.wait()
            info = self.describe()
            data = {
                "job_id": info.id,
                "command": info.command,
                "status": info.status,
                "exit_code": info.exit_code,
            }
            await self._emit(JOB_END, data)
        except Exception:
            # Raised here, it would end all of trio's tasks.
            logger.exception("the end of job `%s` is not emitted", self.id)
        finally:
            self.ended.set()
