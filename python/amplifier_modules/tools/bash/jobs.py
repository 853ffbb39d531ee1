"""The jobs of one session."""

from __future__ import annotations

from contextlib import suppress

import anyio

from .command_run import CommandRun
from .job import Emit, Job, JobInfo

_MAX_ENDED = 50
"""Jobs that have ended and can still be asked for."""


class TooManyJobsError(ValueError):
    """As many commands run in the background as may."""


class UnknownJobError(LookupError):
    """A job that the session does not have."""


class Jobs:
    """Counts them, and finds them by their ids."""

    def __init__(self, most: int, emit: Emit) -> None:
        """Have at most `most` that run at the same time; `emit` emits their events."""
        self._most = most
        self._emit = emit
        self._jobs: dict[str, Job] = {}
        self._count = 0

    def check(self) -> None:
        """Look whether another one may begin.

        Raises:
            TooManyJobsError: Too many run.
        """
        running = [job.id for job in self._jobs.values() if not job.run.is_over]
        if len(running) >= self._most:
            raise TooManyJobsError(
                f"{len(running)} jobs run, and no more may: {', '.join(running)} (end one with"
                " `bash_job`)"
            )

    def add(self, run: CommandRun, over: anyio.Event) -> Job:
        """Return a new job that runs a command; it is not started.

        Args:
            run: The command.
            over: Set when it has ended.

        Raises:
            TooManyJobsError: Too many run.
        """
        self.check()
        self._count += 1
        job = Job(f"job-{self._count}", run, over, self._emit)
        ended = [each.id for each in self._jobs.values() if each.run.is_over]
        for id in ended[: max(0, len(ended) - _MAX_ENDED + 1)]:
            del self._jobs[id]
        self._jobs[job.id] = job
        return job

    def remove(self, job: Job) -> None:
        """Forget a job that was not started."""
        del self._jobs[job.id]

    def find(self, id: str) -> Job:
        """Return a job.

        Raises:
            UnknownJobError: There is none of this id.
        """
        if id in self._jobs:
            return self._jobs[id]
        listed = ", ".join(f"`{each}`" for each in self._jobs) or "none"
        raise UnknownJobError(f"no job `{id}` (there are: {listed})")

    def kill_job(self, id: str) -> bool:
        """End a job and all that it began; return whether it ran; returns at once.

        Raises:
            UnknownJobError: There is none of this id.
        """
        run = self.find(id).run
        was_running = not run.is_over
        run.kill()
        return was_running

    def list_jobs(self) -> list[JobInfo]:
        """Return all jobs as they are now, the newest last."""
        return [job.describe() for job in self._jobs.values()]

    async def finish(self, seconds: float) -> None:
        """Wait for the events of those that have ended, for a limited time."""
        with anyio.move_on_after(seconds, shield=True):
            for job in self._jobs.values():
                with suppress(RuntimeError):  # it was begun in another event loop
                    await job.ended.wait()
